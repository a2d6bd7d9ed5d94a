"""Figures over finished cells: means, paired differences, verdicts, and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.arena.measuring import CONTESTANTS, OURS
from benchmarks.arena.running import Cell

__all__ = [
    "RIGHT",
    "RIVALS",
    "SIMPLE",
    "TOLD",
    "Difference",
    "Results",
    "Verdict",
    "at_least",
    "no_worse",
    "number",
    "table",
]

#: The rivals, and those that are told the key.
TOLD = tuple(name for name, contestant in CONTESTANTS.items() if contestant.told is not None)
RIVALS = tuple(name for name in CONTESTANTS if name not in (*OURS, *TOLD))
#: The rivals that the default method is held against on every real set.
SIMPLE = ("hnd", "majority", "pooled-investment", "dawid-skene")
#: A ranking is right about axis and sign when its Spearman with the truth is above this.
RIGHT = 0.3
#: Twice the standard error of a mean is taken for its Monte-Carlo error.
ERRORS = 2.0


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, its standard error, and over how many pairs."""

    mean: float
    error: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:+.3f}" + (f" ± {self.error:.3f}" if self.n > 1 else "")


@dataclass(frozen=True)
class Verdict:
    """A target, what was found, and whether it is met."""

    target: str
    figure: str
    outcome: str


class Results:
    """The records of finished cells, asked for by contestant, data set and figure."""

    def __init__(self, records: Mapping[Cell, Mapping[str, Any]]) -> None:
        self._records = dict(records)
        self._seeds: dict[tuple[str, str], list[int]] = {}
        for contestant, data, seed in records:
            self._seeds.setdefault((contestant, data), []).append(seed)

    def records(self, contestant: str, data: str) -> dict[int, Mapping[str, Any]]:
        """Seed → record."""
        seeds = sorted(self._seeds.get((contestant, data), []))
        return {seed: self._records[contestant, data, seed] for seed in seeds}

    def values(self, contestant: str, data: str, figure: str) -> dict[int, float]:
        """Seed → figure, where there is one."""
        return {
            seed: record[figure]
            for seed, record in self.records(contestant, data).items()
            if figure in record
        }

    def mean(self, contestant: str, data: str | Iterable[str], figure: str) -> float:
        """Over the seeds, then over the data sets; NaN where one of these has none."""
        names = [data] if isinstance(data, str) else list(data)
        found = [list(self.values(contestant, name, figure).values()) for name in names]
        if not found or not all(found):
            return float("nan")
        return float(np.mean([np.mean(values) for values in found]))

    def difference(self, a: str, b: str, data: str, figure: str) -> Difference:
        """One contestant minus another on the same data sets, seed by seed."""
        x, y = self.values(a, data, figure), self.values(b, data, figure)
        pairs = np.array([x[seed] - y[seed] for seed in x if seed in y])
        if len(pairs) == 0:
            return Difference(float("nan"), float("nan"), 0)
        error = float(pairs.std(ddof=1) / np.sqrt(len(pairs))) if len(pairs) > 1 else float("nan")
        return Difference(float(pairs.mean()), error, len(pairs))

    def best(self, contestants: Iterable[str], data: str, figure: str) -> str | None:
        """The contestant with the highest mean."""
        means = {name: self.mean(name, data, figure) for name in contestants}
        known = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        return max(known, key=lambda name: known[name]) if known else None


def at_least(target: str, value: float, least: float, note: str = "") -> Verdict:
    """Whether a figure reaches a target."""
    outcome = "not run" if np.isnan(value) else "met" if value >= least else "**not met**"
    return Verdict(target, f"{number(value)}{note}", outcome)


def no_worse(
    target: str,
    differences: Mapping[str, Difference],
    *,
    allowed: float = 0.0,
    better: bool = False,
) -> Verdict:
    """Whether no difference is below zero by more than what is allowed.

    Below that by less than the Monte-Carlo error (two standard errors) counts as met within error.
    With ``better`` every difference must be above zero.
    """
    known = {name: d for name, d in differences.items() if d.n}
    if not known:
        return Verdict(target, "", "not run")
    worst = min(known, key=lambda name: known[name].mean)
    low = [name for name, d in known.items() if d.mean < -allowed or (better and d.mean <= 0)]
    lost = [name for name in low if not known[name].mean + ERRORS * known[name].error >= -allowed]
    outcome = "**not met**" if lost else "met within error" if low else "met"
    figure = f"lowest {known[worst]} ({worst})"
    if lost:
        figure += f"; fails on {len(lost)} of {len(known)}: {', '.join(lost)}"
    return Verdict(target, figure, outcome)


def number(value: float | None, digits: int = 3) -> str:
    """A figure for a table; a dash where there is none."""
    if value is None or np.isnan(value):
        return "–"
    return f"{value:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first stand to the right."""
    lines = [
        "| " + " | ".join(header) + " |",
        "|" + "|".join(["---", *["---:"] * (len(header) - 1)]) + "|",
    ]
    lines.extend("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(lines)
