"""What each term and number of the core buys: ``python -m benchmarks.arena.ablation``.

Every term is switched off, and every number moved down and up, one at a time; the table shows what
that does to the mean Spearman with the true shares of right answers, on real sets and on kinds of
structures. Large sets are left out. The table goes into the arena's page.
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena import real
from benchmarks.arena.measuring import case_of, true_shares
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.core.method import LatentKey
from hitsndiffs.methods.core.settings import DEFAULT, OFF, Settings
from hitsndiffs.results.metrics import accuracy

__all__ = ["changes", "kept", "scored"]

#: Larger sets take long and tell little: they come out alike whatever is changed.
MOST_ANSWERS = 15_000
#: Kinds of structures in which terms of the model show.
KINDS = ("exam", "letters", "runs and letters", "crowd", "true or false", "marks", "ceiling")
#: How far numbers are moved.
DOWN, UP = 0.25, 4.0
#: Terms that are left out by their variance.
TERMS = ("difficulty_variance", "slope_variance", "leaning_variance")
#: A set that changes by more than this counts as better or worse.
CHANGED = 0.05
HEADING = "## What each part of the core buys"
BEGIN = "<!-- ablation: written by python -m benchmarks.arena.ablation -->"
END = "<!-- ablation: end -->"


def changes() -> dict[str, Settings]:
    """All settings that differ from the default in one thing, by what was changed."""
    made = {"as it is": DEFAULT}
    for field in fields(Settings):
        value: Any = getattr(DEFAULT, field.name)
        if isinstance(value, bool):
            made[f"no {field.name}"] = replace(DEFAULT, **{field.name: False})
            continue
        if field.name in TERMS:
            term = field.name.removesuffix("_variance")
            made[f"no {term}"] = replace(DEFAULT, **{field.name: OFF})
        for factor in (DOWN, UP):
            moved = value * factor
            if isinstance(value, int):
                moved = max(round(moved), 1)
            made[f"{field.name} {moved:g} ({value:g})"] = replace(DEFAULT, **{field.name: moved})
    return made


def sets(runs: int) -> list[tuple[str, int]]:
    """Real sets of a moderate size, and structures: names and seeds."""
    found = [(f"real/{name}", 0) for name in real.present()]
    small = [each for each in found if case_of(*each).responses.n_responses <= MOST_ANSWERS]
    return [*small, *((f"structure/{kind}", seed) for kind in KINDS for seed in range(runs))]


def scored(change: str, data: str, seed: int) -> float:
    """Spearman with the true shares on one set, with one thing changed."""
    made = type("Changed", (LatentKey,), {"settings": _changes()[change]})
    case = case_of(data, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = made()._fit(open_engine(case.responses))
    return accuracy(true_shares(case), fit.scores)


_changes = cache(changes)


def kept(page: str) -> str:
    """The section as it is in a page (empty if there is none)."""
    return BEGIN + page.partition(BEGIN)[2].partition(END)[0] + END


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the table into the arena's page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.ablation")
    parser.add_argument("--runs", type=int, default=3, help="data sets of each kind (3)")
    parser.add_argument("--only", default="", help="only changes whose name contains this")
    parser.add_argument("--page", type=Path, default=Path("docs/arena.md"), help="the page")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    given = parser.parse_args(arguments)
    names = [name for name in changes() if given.only in name or name == "as it is"]
    cases = sets(given.runs)
    todo = [(name, *case) for case, name in product(cases, names)]
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        values = list(pool.map(scored, *zip(*todo, strict=True), chunksize=len(names)))
    found = dict(zip(todo, values, strict=True))
    rows = []
    for name in names:
        mine, base = (np.array([found[w, *case] for case in cases]) for w in (name, "as it is"))
        moved = mine - base
        rows.append(
            (
                name, f"{np.nanmean(mine):.3f}", f"{np.nanmean(moved):+.3f}",
                str(int((moved > CHANGED).sum())), str(int((moved < -CHANGED).sum())),
            )
        )  # fmt: skip
    rows[1:] = sorted(rows[1:], key=lambda row: float(row[2]))
    lines = [
        BEGIN, "", HEADING, "",
        "Every term switched off, and every number moved to a quarter and to four times. "
        f"{len(cases)} sets: real ones of up to {MOST_ANSWERS:,} answers, and {given.runs} of each "
        f"of {len(KINDS)} kinds of structures. *Better* and *worse*: sets that change by more than "
        f"{CHANGED}.", "",
        "| change | mean Spearman | difference | sets better | worse |",
        "|---|---:|---:|---:|---:|",
        *("| " + " | ".join(row) + " |" for row in rows), "", END,
    ]  # fmt: skip
    print("\n".join(lines))
    page = given.page.read_text(encoding="utf-8")
    given.page.write_text(page.replace(kept(page), "\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
