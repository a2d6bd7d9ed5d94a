"""One cell of a figure: draw the data, run the methods on them, measure.

A cell is (figure, point, run). Its data depend on these and the seed alone, so that all methods
see the same data and any order of work, on any number of processes, gives the same numbers.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.irt import Simulation, simulate, spaced_bock
from hitsndiffs.paper.contestants import contestant
from hitsndiffs.paper.figures import FIGURES, Figure
from hitsndiffs.paper.paper import DATA
from hitsndiffs.results.metrics import accuracy, average_ranks

__all__ = ["Cell", "compute", "correlation"]

Vector = npt.NDArray[np.float64]
#: Panel → method → value; None where a method has none.
Values = dict[str, dict[str, float | None]]
Rank = Callable[..., Any]

#: A method is left out of larger timings once it would take longer than this, in seconds.
TIME_LIMIT = 20.0
#: What takes longer than this is timed once.
ONCE_FROM = 4.0


@dataclass(frozen=True)
class Cell:
    """What to compute: one run of one point of one figure."""

    figure: str
    place: int
    run: int
    seed: int

    @property
    def spec(self) -> Figure:
        """The figure."""
        return FIGURES[self.figure]

    @property
    def x(self) -> Any:
        """The point."""
        return self.spec.x[self.place]

    def stream(self) -> np.random.SeedSequence:
        """The source of all randomness in the cell."""
        return np.random.SeedSequence(
            (self.seed, zlib.crc32(self.figure.encode()), self.place, self.run)
        )


def compute(cell: Cell, methods: Sequence[str], rank: Rank | None = None) -> Values:
    """Compute a cell for some methods.

    Parameters
    ----------
    cell
        Which.
    methods
        Names of contestants.
    rank
        Stands in for :func:`hitsndiffs.rank` (in tests).
    """
    if rank is None:
        from hitsndiffs.results.ranking import rank as library_rank

        rank = library_rank
    with warnings.catch_warnings():
        # The paper's own stopping rules are part of what is reproduced.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return COMPUTE[cell.spec.kind](cell, methods, rank)


def correlation(truth: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """:func:`hitsndiffs.accuracy`, with None (JSON has no NaN) where there is none.

    Examples
    --------
    >>> correlation([0.1, 0.2, 0.3], [5, 6, 9]), correlation([0.1, 0.2], [1, 1])
    (1.0, None)
    """
    value = accuracy(truth, scores)
    return None if np.isnan(value) else value


def _ranking(rank: Rank, name: str, data: Any, key: Any = None, order: Any = None) -> Any:
    """Rank with one contestant, told what it needs (the order is made only when asked for)."""
    who = contestant(name)
    told: dict[str, Any] = {}
    if who.needs == "key":
        told = {"key": key}
    elif who.needs == "order":
        told = {"order": order()}
    return rank(data, method=who.method, **who.params, **told)


def _accuracies(cell: Cell, sim: Simulation, methods: Sequence[str], rank: Rank) -> Values:
    values: Values = {"accuracy": {}}
    for name in methods:
        ranking = _ranking(rank, name, sim.responses, sim.key, lambda: sim.order)
        values["accuracy"][name] = correlation(sim.abilities, ranking.scores)
        if cell.spec.model == "c1p":
            values.setdefault("certified", {})[name] = float(ranking.consistent)
    return values


def _accuracy(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    spec = cell.spec
    sim = simulate(spec.model, seed=cell.stream(), **{spec.varies: cell.x})
    values = _accuracies(cell, sim, methods, rank)
    if spec.varies == "bmax":
        chances = sim.model.probabilities(sim.abilities)
        right = chances[:, np.arange(sim.model.n_items), sim.model.correct]
        values["mean_user_accuracy"] = {DATA: 100.0 * float(right.mean())}
    return values


def _simulated(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    sim = simulate(cell.spec.model, users=cell.x, seed=cell.stream())
    return _accuracies(cell, sim, methods, rank)


def _stability(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    sim = simulate(spaced_bock(discrimination=cell.x), ability="spaced", seed=cell.stream())
    values: Values = {panel: {} for panel in cell.spec.panels}
    for name in methods:
        scores = np.asarray(_ranking(rank, name, sim.responses).scores)
        values["accuracy"][name] = correlation(sim.abilities, scores)
        away = np.abs(average_ranks(scores) - average_ranks(sim.abilities))
        values["displacement"][name] = float(away.mean() / len(scores))
        # The largest eigenvector of U_diff (or βI - M) is the differences of neighbouring scores.
        steps = np.abs(np.diff(scores))
        size = float(np.linalg.norm(steps))
        values["variance"][name] = float(np.var(steps / size)) if size > 0 else None
    return values


def _scalability(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    sim = simulate(cell.spec.model, seed=cell.stream(), **{cell.spec.varies: cell.x})
    opened = open_engine(sim.responses)  # held, so that it is laid out once for all methods
    values: Values = {"seconds": {}, "iterations": {}}
    for name in methods:
        try:
            ranking, took = _timed(name, sim, rank)
            if cell.run == 0 and took < ONCE_FROM:  # loading and compiling is not its time
                ranking, took = _timed(name, sim, rank)
        except InputError:  # a variant that stores a matrix refuses large data
            values["seconds"][name] = None
            continue
        values["seconds"][name] = took
        if ranking.n_iterations > 0:
            values["iterations"][name] = float(ranking.n_iterations)
    del opened
    return values


def _timed(name: str, sim: Simulation, rank: Rank) -> tuple[Any, float]:
    begin = time.perf_counter()
    ranking = _ranking(rank, name, sim.responses, order=lambda: sim.order)
    return ranking, time.perf_counter() - begin


def _real(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    from hitsndiffs.paper.real import read_set

    data, key = read_set(cell.x)
    reference = _ranking(rank, "true-answer", data, key).scores
    found = {name: _ranking(rank, name, data, key) for name in methods}
    return {"accuracy": {name: correlation(reference, r.scores) for name, r in found.items()}}


def _beta(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:  # noqa: ARG001
    from hitsndiffs.paper.contestants import PAPER_TOL
    from hitsndiffs.spectral.operators import Laplacian
    from hitsndiffs.spectral.solvers import iterate

    first = Cell(cell.figure, 0, cell.run, cell.seed)  # the same data for every β
    sim = simulate(cell.spec.model, seed=first.stream())
    laplacian = Laplacian.of(open_engine(sim.responses))
    start = np.random.default_rng(first.stream()).standard_normal(len(laplacian.degrees) - 1)

    def rounds(multiple: float) -> int:
        beta = multiple * float(laplacian.degrees.max())

        def step(d: Vector) -> Vector:
            s = np.concatenate([[0.0], np.cumsum(d)])
            turned: Vector = beta * d - np.diff(laplacian(s))
            return turned

        return iterate(step, start, PAPER_TOL, 100_000)[2]

    return {"relative rounds": {"abh/power": rounds(cell.x) / rounds(first.x)}}


COMPUTE: dict[str, Callable[[Cell, Sequence[str], Rank], Values]] = {
    "accuracy": _accuracy,
    "simulated": _simulated,
    "stability": _stability,
    "scalability": _scalability,
    "real": _real,
    "beta": _beta,
}
