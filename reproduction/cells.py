"""Compute one cell of a figure: draw the data, run the methods on them, measure.

A cell is (figure, point, run). Its data depend only on these and the seed, so all methods see the
same data, and the numbers depend neither on the order of work nor on the number of processes.
"""

from __future__ import annotations

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
from hitsndiffs.methods import HND
from hitsndiffs.order.perfect import is_consecutive
from hitsndiffs.results.metrics import accuracy, average_ranks
from hitsndiffs.spectral.solvers import fiedler, solve
from reproduction.contestants import BY_COUNT, PAPER_TOL, contestant
from reproduction.figures import ABSOLUTE, BETWEEN, FIGURES, FROM_ONE, PAIRS, SIGNED, Figure
from reproduction.published import displacement, grm_order, right_answers
from reproduction.timing import Clock
from reproduction.values import DATA

__all__ = ["Cell", "compute", "correlation"]

Vector = npt.NDArray[np.float64]
#: Panel → method → value, or None if a method has none.
Values = dict[str, dict[str, float | None]]
Rank = Callable[..., Any]

#: Timings are repeated up to so many seconds and times, and the shortest counts: the first of large
#: data takes up to four times as long, as memory is handed out.
REPEAT_FOR, REPEATS = 1.0, 5
#: Times are compared with this one's, on the same data and at the same time.
BASE = "hnd/power"
#: Rounds of ABH-power are counted up to this size; they are thousands there already.
ABH_UP_TO = 10_000


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
    """Compute a cell for some contestants; tests replace :func:`hitsndiffs.rank`."""
    if rank is None:
        from hitsndiffs.results.rank import rank as library_rank

        rank = library_rank
    with warnings.catch_warnings():
        # The paper's stopping rules are part of what is reproduced.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return COMPUTE[cell.spec.kind](cell, methods, rank)


def correlation(truth: npt.ArrayLike, scores: npt.ArrayLike) -> float | None:
    """:func:`hitsndiffs.accuracy`, with None instead of NaN, which JSON lacks.

    Examples
    --------
    >>> correlation([0.1, 0.2, 0.3], [5, 6, 9]), correlation([0.1, 0.2], [1, 1])
    (1.0, None)
    """
    value = accuracy(truth, scores)
    return None if np.isnan(value) else value


def _ranking(
    rank: Rank, name: str, data: Any, key: Any = None, sim: Simulation | None = None
) -> Any:
    """Rank with one contestant, giving it what it needs."""
    who = contestant(name)
    told: dict[str, Any] = {}
    if who.needs == "key":
        told = {"key": key}
    elif sim is not None and who.needs == "order":
        told = {"order": sim.order}
    elif sim is not None and who.needs == "levels":
        told = {"order": grm_order(sim)}
    return rank(data, method=who.method, **who.params, **told)


def _accuracies(cell: Cell, sim: Simulation, methods: Sequence[str], rank: Rank) -> Values:
    values: Values = {"accuracy": {}}
    for name in methods:
        if contestant(name).method == BY_COUNT:
            values["accuracy"][name] = correlation(sim.abilities, right_answers(sim))
            continue
        ranking = _ranking(rank, name, sim.responses, sim.key, sim)
        values["accuracy"][name] = correlation(sim.abilities, ranking.scores)
        if cell.spec.model == "c1p":
            scores = _axis(name, sim, cell.run)
            scores = np.asarray(ranking.scores) if scores is None else scores
            # Sorted by the scores alone, users with equal scores in random order.
            ties = np.random.default_rng(cell.stream().spawn(1)[0]).random(len(scores))
            perfect = is_consecutive(open_engine(sim.responses), np.lexsort((ties, scores)))
            values.setdefault("perfect", {})[name] = float(perfect)
    return values


def _axis(name: str, sim: Simulation, seed: int) -> Vector | None:
    """The axis of HnD and ABH before the library's PQ-tree, which could mend its order."""
    if name == "hnd":
        return solve(open_engine(sim.responses), "power", seed=seed, tol=PAPER_TOL).vector
    if name == "abh":
        return fiedler(open_engine(sim.responses), "direct", seed=seed).vector
    return None


def _accuracy(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    spec = cell.spec
    sim = simulate(spec.model, seed=cell.stream(), **{spec.varies: cell.x})
    values = _accuracies(cell, sim, methods, rank)
    if spec.varies == "answer_probability":
        pairs = simulate(spec.model, seed=cell.stream(), answer_probability=cell.x, missing="pairs")
        counted = ["true-answer-count"] if "true-answer" in methods else []
        values[PAIRS] = _accuracies(cell, pairs, [*methods, *counted], rank)["accuracy"]
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
    # The same users and items, answered a second time.
    again = simulate(
        spaced_bock(discrimination=cell.x), ability="spaced", seed=cell.stream().spawn(1)[0]
    )
    values: Values = {panel: {} for panel in cell.spec.panels}
    for name in methods:
        scores = np.asarray(_ranking(rank, name, sim.responses).scores)
        other = np.asarray(_ranking(rank, name, again.responses).scores)
        moved = np.abs(average_ranks(scores) - average_ranks(other))
        values[BETWEEN][name] = float(moved.mean() / len(scores))
        values["accuracy"][name] = correlation(sim.abilities, scores)
        values["displacement"][name] = displacement(scores)
        away = np.abs(average_ranks(scores) - average_ranks(sim.abilities))
        values[FROM_ONE][name] = float(away.mean() / len(scores))
        # The top eigenvector of U_diff (or βI - M) holds the differences of neighbouring scores.
        # The published code takes the variance of their absolute values.
        steps = np.diff(scores)
        size = float(np.linalg.norm(steps))
        values["variance"][name] = float(np.var(np.abs(steps) / size)) if size > 0 else None
        values[SIGNED][name] = float(np.var(steps / size)) if size > 0 else None
    return values


def _scalability(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    sim = simulate(cell.spec.model, seed=cell.stream(), **{cell.spec.varies: cell.x})
    clock = Clock(sim, cell.run, rank)
    fastest: dict[str, float | None] = {}
    spent = dict.fromkeys(methods, 0.0)
    for _ in range(REPEATS):  # in turns, so that all are timed on the same machine, busy or not
        for name in methods:
            if spent[name] > REPEAT_FOR:
                continue
            try:
                taken = clock.time(name)
            except InputError:  # full matrices that do not fit in memory
                fastest[name], spent[name] = None, np.inf
                continue
            fastest[name] = min(taken, fastest.get(name) or np.inf)
            spent[name] += taken
    values: Values = {"seconds": fastest, "ratio": {}}
    base = values["seconds"].get(BASE)
    if base:
        values["ratio"] = {
            name: seconds / base
            for name, seconds in values["seconds"].items()
            if seconds is not None
        }
    return values


def _rounds(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:  # noqa: ARG001
    """The rounds of power iterations, which are the same with full matrices and with sums."""
    sim = simulate(cell.spec.model, seed=cell.stream(), **{cell.spec.varies: cell.x})
    data = open_engine(sim.responses)
    rounds: dict[str, float | None] = {}
    for name in methods:
        of, solver = name.split("/")
        if of == "hnd":
            rounds[name] = solve(data, solver, seed=cell.run, tol=PAPER_TOL).iterations
        else:
            rounds[name] = fiedler(data, solver, seed=cell.run, tol=PAPER_TOL).iterations
    return {"iterations": rounds}


def _real(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:
    from reproduction.real import read_set

    data, key = read_set(cell.x)
    reference = _ranking(rank, "true-answer", data, key).scores
    found = {}
    for name in methods:
        if name == "hnd":
            # The published code starts from a ramp over the users as they stand in the file, and
            # stops so early that two users of English change places with another start.
            scores = HND(**contestant(name).params).without_key(open_engine(data)).scores
        else:
            scores = _ranking(rank, name, data, key).scores
        found[name] = correlation(reference, scores)
    # Two values are negative; the paper draws their absolute values.
    drawn = {name: None if value is None else abs(value) for name, value in found.items()}
    return {"accuracy": found, ABSOLUTE: drawn}


def _beta(cell: Cell, methods: Sequence[str], rank: Rank) -> Values:  # noqa: ARG001
    from hitsndiffs.spectral.operators import Laplacian
    from hitsndiffs.spectral.solvers import iterate

    first = Cell(cell.figure, 0, cell.run, cell.seed)  # the same data for every β
    sim = simulate(cell.spec.model, seed=first.stream())
    laplacian = Laplacian.of(open_engine(sim.responses))
    start = np.random.default_rng(first.stream()).uniform(size=len(laplacian.degrees) - 1)

    def rounds(multiple: float) -> int:
        beta = multiple * float(laplacian.degrees.max())

        def step(d: Vector) -> Vector:
            s = np.concatenate([[0.0], np.cumsum(d)])
            turned: Vector = beta * d - np.diff(laplacian(s))
            return turned

        return iterate(step, start, PAPER_TOL, 100_000).iterations

    return {"relative rounds": {"abh/power": rounds(cell.x) / rounds(first.x)}}


COMPUTE: dict[str, Callable[[Cell, Sequence[str], Rank], Values]] = {
    "accuracy": _accuracy,
    "simulated": _simulated,
    "stability": _stability,
    "scalability": _scalability,
    "rounds": _rounds,
    "real": _real,
    "beta": _beta,
}
