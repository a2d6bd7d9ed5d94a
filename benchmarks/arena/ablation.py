"""What each term and number of the core buys: ``python -m benchmarks.arena.ablation``.

Every term is switched off, and every number moved down and up, one at a time; the table shows what
that does to the mean Spearman with the true shares of right answers, on real sets and on kinds of
structures. Large sets are left out. With ``--page docs/arena.md`` the table is written there.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena import real
from benchmarks.arena.cases import Case
from benchmarks.arena.measuring import true_shares
from benchmarks.arena.stories import written
from benchmarks.arena.structures import structure
from benchmarks.arena.summary import number, table
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.core.method import LatentKey
from hitsndiffs.methods.core.settings import DEFAULT, Settings
from hitsndiffs.results.metrics import accuracy

__all__ = ["changes", "scored"]

#: Larger sets take long and tell little: they come out alike whatever is changed.
MOST_ANSWERS = 15_000
#: Kinds of structures in which terms of the model show.
KINDS = ("exam", "letters", "runs and letters", "crowd", "true or false", "marks", "ceiling")
#: How far numbers are moved.
DOWN, UP = 0.25, 4.0
#: A set that changes by more than this counts as better or worse.
CHANGED = 0.05
BEGIN = "<!-- ablation: written by python -m benchmarks.arena.ablation --page docs/arena.md -->"
END = "<!-- ablation: end -->"


def changes() -> dict[str, Settings]:
    """All settings that differ from the default in one thing, by what was changed."""
    made = {"as it is": DEFAULT}
    for field in fields(Settings):
        value: Any = getattr(DEFAULT, field.name)
        if isinstance(value, bool):
            made[f"no {field.name}"] = replace(DEFAULT, **{field.name: False})
            continue
        for factor in (DOWN, UP):
            moved = value * factor
            if isinstance(value, int):
                moved = max(round(moved), 1)
            made[f"{field.name} {moved:g} ({value:g})"] = replace(DEFAULT, **{field.name: moved})
    return made


def cases(runs: int) -> dict[str, Case]:
    """Real sets of a moderate size, and structures."""
    found = {}
    for name in real.present():
        case = real.load(name)
        if case.responses.n_responses <= MOST_ANSWERS:
            found[name] = case
    for kind in KINDS:
        for seed in range(runs):
            found[f"{kind} {seed}"] = structure(kind, seed)
    return found


def scored(settings: Settings, sets: dict[str, Case]) -> dict[str, float]:
    """Spearman with the true shares on every set."""
    made = type("Changed", (LatentKey,), {"settings": settings})
    found = {}
    for name, case in sets.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = made()._fit(open_engine(case.responses))
        found[name] = accuracy(true_shares(case), fit.scores)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the table if a page is given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.ablation")
    parser.add_argument("--runs", type=int, default=3, help="data sets of each kind (3)")
    parser.add_argument("--only", default="", help="only changes whose name contains this")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    given = parser.parse_args(arguments)
    sets = cases(given.runs)
    base = scored(DEFAULT, sets)
    rows = []
    for name, settings in changes().items():
        if given.only not in name and name != "as it is":
            continue
        found = base if settings is DEFAULT else scored(settings, sets)
        moved = np.array([found[each] - base[each] for each in sets])
        rows.append(
            [
                name,
                number(float(np.nanmean([*found.values()]))),
                f"{np.nanmean(moved):+.3f}",
                str(int((moved > CHANGED).sum())),
                str(int((moved < -CHANGED).sum())),
            ]
        )
        print(" | ".join(rows[-1]), flush=True)
    rows[1:] = sorted(rows[1:], key=lambda row: float(row[2]))
    made = table(["change", "mean Spearman", "difference", "sets better", "worse"], rows)
    about = (
        f"{len(sets)} sets (real ones of up to {MOST_ANSWERS:,} answers, and {given.runs} of each "
        f"of {len(KINDS)} kinds); *better* and *worse*: by more than {CHANGED}."
    )
    if given.page:
        text = f"## What each part of the core buys\n\n{about}\n\n{made}"
        page = written(given.page.read_text(encoding="utf-8"), text, BEGIN, END)
        given.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
