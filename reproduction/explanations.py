"""What the numbers say: the share of cells that agree, and why the others differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitsndiffs.irt.recipes import DEFAULT_AMAX, DEFAULT_BMAX
from reproduction.agreement import Result, summarise
from reproduction.cells import Cell
from reproduction.contestants import contestant
from reproduction.figures import FIGURES, RANKERS
from reproduction.runner import Outcome, Work, run_work
from reproduction.store import Store
from reproduction.values import DATA, paper_value

__all__ = [
    "CHECKED",
    "Count",
    "cause",
    "counts",
    "label",
    "outliers",
    "perfect",
    "recheck",
    "share",
]

#: The methods whose accuracy must match the paper's, which specifies the other two less fully.
CHECKED = ("hnd", "abh", "hits", "investment", "pooled-investment", "true-answer")

All = Mapping[str, Sequence[Result]]

#: A second look takes this many times the runs, on data from another seed.
MORE_RUNS = 4
#: Points with fewer runs are not looked at again.
LEAST_RUNS = 5
OTHER_SEED = 1_000_003
#: The settings that the accuracy figures of a model share, except for the one each varies.
USUAL = {
    "items": 100,
    "users": 100,
    "options": 3,
    "amax": DEFAULT_AMAX,
    "bmax": DEFAULT_BMAX,
    "answer_probability": 1.0,
}


@dataclass(frozen=True)
class Count:
    """How many cells of a method agree with the paper."""

    method: str
    cells: int
    agree: int

    @property
    def share(self) -> float:
        """Fraction of the cells that agree."""
        return self.agree / self.cells if self.cells else float("nan")


def accuracy_cells(results: All) -> list[Result]:
    """The compared cells of the 19 accuracy figures."""
    return [
        r
        for name, points in results.items()
        if FIGURES[name].kind == "accuracy"
        for r in points
        if r.panel == "accuracy" and r.verdict
    ]


def counts(results: All) -> list[Count]:
    """Count the accuracy cells that agree, for each method of the paper."""
    cells = accuracy_cells(results)
    found = []
    for method in RANKERS:
        own = [r for r in cells if r.method == method]
        if own:
            found.append(Count(method, len(own), sum(r.verdict == "agrees" for r in own)))
    return found


def share(results: All, methods: Sequence[str] = CHECKED) -> Count:
    """Count the accuracy cells that agree, for some methods together."""
    own = [one for one in counts(results) if one.method in methods]
    return Count("together", sum(one.cells for one in own), sum(one.agree for one in own))


def outliers(results: All) -> list[Result]:
    """All compared points, in any figure, that do not agree."""
    return [
        r for name, points in results.items() for r in points if r.verdict in ("higher", "lower")
    ]


def perfect(results: All) -> list[tuple[str, int, int]]:
    """For each method: the number of consistent data sets, and on how many its order is perfect."""
    points = [r for r in results.get("accuracy/c1p/items", ()) if r.panel == "perfect"]
    found = []
    for method in RANKERS:
        own = [r for r in points if r.method == method]
        sets = sum(r.runs for r in own)
        if sets:
            found.append((method, sets, round(sum(r.value * r.runs for r in own))))
    return found


def recheck(
    results: All, store: Store, *, seed: int, runs: int, jobs: int, outcome: Outcome
) -> dict[tuple[str, str, str, int], Result]:
    """Look again at points that do not agree, with four times the runs and other data.

    Among hundreds of comparisons, some differ by chance; those agree the second time. Points with a
    known cause, or too few runs, are skipped.
    """
    doubtful = [
        r
        for r in outliers(results)
        if r.method not in ("grm", "grm-levels")
        and r.panel != "iterations"
        and FIGURES[r.figure].paper_runs > 1
        and r.runs >= LEAST_RUNS
    ]
    other = seed + OTHER_SEED
    work: list[Work] = []
    for r in doubtful:
        for run in range(FIGURES[r.figure].runs(MORE_RUNS * runs)):
            cell = Cell(r.figure, r.place, run, other)
            names = [] if r.method == DATA else [r.method]
            if r.method not in store.done(cell):
                work.append((cell, names))
    run_work(work, store, outcome, jobs=jobs)
    found = {}
    for name in dict.fromkeys(r.figure for r in doubtful):
        again = summarise(FIGURES[name], store, seed=other, runs=MORE_RUNS * runs)
        found.update({r.key: r for r in again})
    return {r.key: found[r.key] for r in doubtful if r.key in found}


def cause(result: Result, again: Result | None = None) -> str:
    """Say why a point differs from the paper, as far as known, also from a second look at it."""
    model = FIGURES[result.figure].model
    if result.panel == "iterations":
        return (
            "Rounds: with few users they vary from one data set to the next; ABH-power's always do."
        )
    if result.method == "grm-levels":
        return (
            "GRM-estimator with the published levels: wrong levels turn rankings upside down in "
            "some runs and not in others, so a mean of few runs says little; mirt and girth differ "
            "too."
        )
    if result.method == "grm" and model in ("bock", "samejima"):
        return (
            "GRM-estimator: the published levels are entries of an argsort, not ranks (for "
            'Samejima, of an argsort that includes the hidden "don\'t know"); here options are in '
            "order. That, not guessing, is why the paper's “works poorly” on Samejima's data."
        )
    if result.method == "grm" and FIGURES[result.figure].varies == "answer_probability":
        return (
            "GRM-estimator: the published code counts missing answers as one more, lowest level; "
            "here they are missing."
        )
    if result.method == "grm":
        return "GRM-estimator: mirt instead of girth."
    if again is None:
        return "Not looked at again:"
    if again.verdict == "agrees":
        return "Chance, as further runs on other data agree with the paper:"
    twins = twin_values(result)
    if twins and min(twins) <= again.value <= max(twins):
        return (
            "Chance in the paper's ten runs (its other figures have a point with the same setting, "
            "and ours lies within their values):"
        )
    if result.method == "abh":
        return (
            "ABH has rare runs far off (a reversed order, an axis of a few users), which move a "
            "mean by more than its standard error tells:"
        )
    return (
        "Further runs differ too: chance in the paper's own runs (two or three of 800 comparisons "
        "lie beyond three standard errors), or a cause not found:"
    )


def twin_values(result: Result) -> list[float]:
    """The paper's values of a method in all figures that contain the same settings."""
    figure = FIGURES[result.figure]
    if figure.kind != "accuracy" or result.x != USUAL.get(figure.varies):
        return []
    found = []
    for other in FIGURES.values():
        usual = USUAL.get(other.varies)
        if other.kind == "accuracy" and other.model == figure.model and usual in other.x:
            found.append(paper_value(other.name, result.panel, result.method, other.x.index(usual)))
    return [value for value in found if value is not None]


def label(method: str) -> str:
    """The name of a line in the report."""
    return "the data" if method == DATA else contestant(method).label
