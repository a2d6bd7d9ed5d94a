"""What the numbers say, in words: shares of agreeing cells, exponents, and why others differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hitsndiffs.experiments.comparison import Result, exponent
from hitsndiffs.experiments.contestants import contestant
from hitsndiffs.experiments.figures import FIGURES, RANKERS
from hitsndiffs.experiments.paper import DATA

__all__ = ["CHECKED", "Count", "cause", "certified", "counts", "exponents", "outliers", "share"]

#: The methods whose accuracy must be the paper's; the other two leave more open.
CHECKED = ("hnd", "abh", "hits", "investment", "pooled-investment", "true-answer")

All = Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class Count:
    """How many cells of a method agree with the paper."""

    method: str
    cells: int
    agree: int

    @property
    def share(self) -> float:
        """Agreeing cells over all."""
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
    """Count the agreeing accuracy cells of each method of the paper."""
    cells = accuracy_cells(results)
    found = []
    for method in RANKERS:
        own = [r for r in cells if r.method == method]
        if own:
            found.append(Count(method, len(own), sum(r.verdict == "agrees" for r in own)))
    return found


def share(results: All, methods: Sequence[str] = CHECKED) -> Count:
    """Count the agreeing accuracy cells of some methods together."""
    own = [one for one in counts(results) if one.method in methods]
    return Count("together", sum(one.cells for one in own), sum(one.agree for one in own))


def outliers(results: All) -> list[Result]:
    """All compared points, of any figure, that do not agree."""
    return [r for points in results.values() for r in points if r.verdict in ("higher", "lower")]


def certified(results: All) -> list[tuple[str, int, float]]:
    """For HnD and ABH: data sets of consistent answers, and the share that is certified."""
    points = [r for r in results.get("accuracy/c1p/items", ()) if r.panel == "certified"]
    found = []
    for method in ("hnd", "abh"):
        own = [r for r in points if r.method == method]
        sets = sum(r.runs for r in own)
        if sets:
            found.append((method, sets, sum(r.value * r.runs for r in own) / sets))
    return found


def exponents(results: All, figure: str = "scalability/users") -> list[tuple[str, float, int]]:
    """Fitted growth of each method's time, and the largest size that was timed."""
    points = results.get(figure, ())
    found = []
    for method in FIGURES[figure].methods:
        fitted = exponent(points, "seconds", method)
        if fitted is None:  # a variant that ends early: begin sooner
            fitted = exponent(points, "seconds", method, least_x=320)
        if fitted is not None:
            sizes = [r.x for r in points if r.panel == "seconds" and r.method == method]
            found.append((method, fitted, max(sizes)))
    return found


def cause(result: Result) -> str:
    """Say why a point differs from the paper, as far as it is known."""
    figure = FIGURES[result.figure]
    if result.method == "grm":
        if figure.model in ("bock", "samejima"):
            return (
                "The published code orders the options of these models with an argsort where "
                "ranks are needed, which understates the GRM-estimator; here they are ranked."
            )
        return "Another estimator of the same model (mirt instead of girth)."
    if result.method == "truthfinder":
        return "The published description leaves TruthFinder's starting values and damping open."
    if result.method == DATA:
        return "Mean over other random items and users; chance."
    return (
        "Chance is not ruled out: among some hundred comparisons a few lie beyond three standard "
        "errors, and the deviation itself is estimated from few runs."
    )


def label(method: str) -> str:
    """How a line is called in the report."""
    return "the data" if method == DATA else contestant(method).label
