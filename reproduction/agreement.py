"""Compare our numbers with the paper's: means, standard errors, and a verdict per cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reproduction.cells import BASE, Values
from reproduction.contestants import contestant
from reproduction.figures import Figure
from reproduction.store import Store
from reproduction.values import DATA, paper_value, paper_values

__all__ = ["AGREE_WITHIN", "Result", "exponent", "summarise", "verdict"]

#: Two values agree within this many standard errors (theirs and ours combined).
AGREE_WITHIN = 3.0
#: Deterministic figures (one run) agree within this.
EXACT = 1e-4
#: Lower bound on standard errors: stored values have six decimals.
STORED_ROUNDING = 1e-6
#: Numbers of rounds that differ by at most this agree, whatever their spread.
SAME_ROUNDS = 1.0
#: Standard error of a median relative to that of a mean.
OF_A_MEDIAN = np.sqrt(np.pi / 2)
#: Timings count if HnD-power took at most so many times its fastest on data of the size: its rounds
#: differ by a third, and the first call on 100,000 users takes four times as long, as memory is
#: handed out.
DISTURBED = 2.0
#: With fewer runs than this, a point's deviation is at least the pooled one of its line.
ENOUGH_RUNS = 10


@dataclass(frozen=True)
class Result:
    """One point of one line.

    Attributes
    ----------
    figure, panel, method, place, x
        Which point.
    value
        The mean over the runs (the median for timings and rounds).
    low, high
        The smallest and largest value of a run.
    deviation, error, runs
        Standard deviation over the runs (of the logarithms, for rounds), standard error of the
        value, and number of runs.
    paper
        The paper's value, or None.
    distance
        Ours minus theirs, in standard errors of the difference.
    verdict
        ``"agrees"``, ``"higher"``, ``"lower"``, or ``""`` if there is nothing to compare.
    """

    figure: str
    panel: str
    method: str
    place: int
    x: Any
    value: float
    deviation: float
    error: float
    runs: int
    low: float = float("nan")
    high: float = float("nan")
    paper: float | None = None
    distance: float | None = None
    verdict: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """The identity of the point."""
        return (self.figure, self.panel, self.method, self.place)


def summarise(
    figure: Figure, store: Store, *, seed: int, runs: int, methods: Sequence[str] | None = None
) -> list[Result]:
    """Return all points of a figure that have been computed, with verdicts.

    Further runs in the store than the runner was asked for do not count. ``methods`` leaves only
    these lines, and those that describe the data.
    """
    results = []
    for place, x in enumerate(figure.x):
        drawn: dict[tuple[str, str], list[float]] = {}
        found = [v for run, v in store.runs(figure, place, seed) if run < figure.runs(runs)]
        for values in _undisturbed(found) if figure.kind == "scalability" else found:
            for panel, of_methods in values.items():
                for method, value in of_methods.items():
                    if value is not None:
                        drawn.setdefault((panel, method), []).append(value)
        results += [
            _point(figure, panel, method, place, x, values)
            for (panel, method), values in drawn.items()
            if methods is None or method == DATA or method in methods
        ]
    if figure.kind == "real":
        results += _means_over_sets(figure, results)
    return _judged(figure, results)


def _undisturbed(found: list[Values]) -> list[Values]:
    """Timings without those during which the machine was busy, told by the one all are set beside.

    Its rounds are nearly the same on all data of a size.
    """
    seconds = [values["seconds"].get(BASE) for values in found]
    fastest = min((s for s in seconds if s is not None), default=0.0)
    return [v for v, s in zip(found, seconds, strict=True) if s is None or s <= DISTURBED * fastest]


def verdict(distance: float | None) -> str:
    """Say in one word whether two values agree.

    Examples
    --------
    >>> verdict(1.2), verdict(-7.0), verdict(None)
    ('agrees', 'lower', '')
    """
    if distance is None:
        return ""
    if abs(distance) <= AGREE_WITHIN:
        return "agrees"
    return "higher" if distance > 0 else "lower"


def exponent(points: Iterable[tuple[float, float]], least_x: float = 1000) -> float | None:
    """Fit ``y ∝ x^e`` to the larger points of a line; return None for fewer than three.

    Examples
    --------
    >>> round(exponent([(x, x**2.0) for x in (1000, 3200, 10000)]), 6)
    2.0
    """
    large = [(x, y) for x, y in points if x >= least_x]
    if len(large) < 3:
        return None
    x, y = np.log(np.array(large, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])


def _point(
    figure: Figure, panel: str, method: str, place: int, x: Any, values: list[float]
) -> Result:
    middle = np.median if figure.kind in ("scalability", "rounds") else np.mean
    spread = np.log(values) if figure.kind == "rounds" else values
    deviation = float(np.std(spread, ddof=1)) if len(values) > 1 else 0.0
    return Result(
        figure=figure.name,
        panel=panel,
        method=method,
        place=place,
        x=x,
        value=float(middle(values)),
        deviation=deviation,
        error=deviation / np.sqrt(len(values)),
        runs=len(values),
        low=min(values),
        high=max(values),
    )


def _means_over_sets(figure: Figure, results: list[Result]) -> list[Result]:
    """The mean of each method over all sets, if none is missing."""
    means = []
    for panel, method in dict.fromkeys((r.panel, r.method) for r in results):
        values = [r.value for r in results if (r.panel, r.method) == (panel, method)]
        if len(values) == len(figure.x):
            mean = [float(np.mean(values))]
            means.append(_point(figure, panel, method, len(values), "mean", mean))
    return means


def _judged(figure: Figure, results: list[Result]) -> list[Result]:
    """Add the paper's values and the verdicts."""
    judged = []
    for r in results:
        stored = contestant(r.method).paper or r.method
        theirs = paper_value(figure.beside or figure.name, r.panel, stored, r.place)
        r = replace(r, paper=theirs)
        if theirs is not None and r.panel != "seconds":  # another machine
            if r.panel == "iterations":
                distance = _rounds_apart(figure, r, theirs)
            else:
                distance = _distance(figure, r, theirs, results)
            r = replace(r, distance=distance, verdict=verdict(distance))
        judged.append(r)
    return judged


def _rounds_apart(figure: Figure, r: Result, theirs: float) -> float | None:
    """Medians of rounds on a logarithmic scale; one run alone has no standard error."""
    if abs(r.value - theirs) <= SAME_ROUNDS:
        return 0.0
    if r.runs < 2:
        return None
    error = OF_A_MEDIAN * r.deviation * np.sqrt(1 / r.runs + 1 / figure.paper_runs)
    return float(np.log(r.value / theirs) / max(float(error), STORED_ROUNDING))


def _distance(figure: Figure, r: Result, theirs: float, results: list[Result]) -> float | None:
    """Means in standard errors of the difference; one run alone has none."""
    difference = r.value - theirs
    if figure.paper_runs == 1:
        return AGREE_WITHIN * difference / EXACT
    if r.runs < 2:
        return None
    deviation = r.deviation
    if r.runs < ENOUGH_RUNS:
        line = [o.deviation for o in results if (o.panel, o.method) == (r.panel, r.method)]
        deviation = max(deviation, float(np.sqrt(np.mean(np.square(line)))))
    # Their deviation is assumed to equal ours, unless the paper states it.
    stored = contestant(r.method).paper or r.method
    told = paper_values()[figure.name].get("deviation", {}).get(stored)
    their_deviation = told[r.place] if told and told[r.place] is not None else deviation
    error = np.hypot(deviation / np.sqrt(r.runs), their_deviation / np.sqrt(figure.paper_runs))
    return difference / max(float(error), STORED_ROUNDING)
