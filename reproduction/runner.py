"""Run cells in several processes, resumably, showing the time left on a terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing import active_children, get_context

from reproduction.cells import ABH_UP_TO, Cell, Rank, Values, compute
from reproduction.contestants import CONTESTANTS, contestant
from reproduction.figures import Figure
from reproduction.real import WHERE_FROM, data_folder
from reproduction.store import Store
from reproduction.values import paper_value

__all__ = ["Outcome", "Work", "run_cells", "run_work"]

#: Numerical libraries get one thread per worker process, because the processes share the cores.
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)


#: A method is timed only while it is expected to take at most this many seconds; the paper's limit
#: is 1000.
TIME_LIMIT = 20.0
#: A method that took more seconds than this is timed on one data set of that size only.
ONCE_FROM = 4.0


@dataclass
class Outcome:
    """How a run of cells went."""

    computed: int = 0
    kept: int = 0
    interrupted: bool = False
    without_data: bool = False
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


#: A cell and the methods to run on it; a cell and its values, or why there are none.
Work = tuple[Cell, list[str]]
Answer = tuple[Cell, Values | str | None]


def run_cells(
    figures: Sequence[Figure],
    store: Store,
    *,
    runs: int,
    seed: int,
    jobs: int,
    methods: Sequence[str] | None = None,
    points: int | None = None,
    time_limit: float = TIME_LIMIT,
    rank: Rank | None = None,
) -> Outcome:
    """Compute the cells that are not in the store yet.

    Parameters
    ----------
    figures
        Which figures.
    store
        Holds finished cells; new ones are added to it.
    runs
        Runs per cell of a figure for which the paper has 10; others scale in proportion.
    seed
        Seed for all data.
    jobs
        Number of processes; timings are always taken one at a time.
    methods
        Only these (default: each figure's own).
    points
        At most this many points per figure.
    time_limit
        A method is not timed on larger data if it would take more seconds than this.
    rank
        Replaces :func:`hitsndiffs.rank`; then everything runs in this process.
    """
    outcome = Outcome()
    work: list[Work] = []
    timed: list[Work] = []
    for figure in figures:
        if figure.kind == "real" and data_folder() is None:
            outcome.without_data = True
            outcome.notes.append(f"The real data sets are left out. {WHERE_FROM}")
            continue
        for cell in _cells(figure, runs, seed, points):
            wanted = _wanted(cell, methods)
            missing = [name for name in wanted if name not in store.done(cell)]
            outcome.kept += int(len(missing) < len(wanted))
            if missing:
                (timed if figure.kind == "scalability" else work).append((cell, missing))
    run_work(work, store, outcome, jobs=jobs, timed=timed, time_limit=time_limit, rank=rank)
    return outcome


def run_work(
    work: list[Work],
    store: Store,
    outcome: Outcome,
    *,
    jobs: int,
    timed: Sequence[Work] = (),
    time_limit: float = TIME_LIMIT,
    rank: Rank | None = None,
) -> None:
    """Compute cells and store them; Ctrl-C stops, and finished cells stay stored."""
    try:
        with _progress(sum(_weight(cell) for cell, _ in [*work, *timed])) as advance:
            for cell, answer in chain(
                _side_by_side(work, jobs, rank), _one_by_one(timed, store, time_limit, rank)
            ):
                if isinstance(answer, str):
                    told = f"{cell.figure} at {cell.x}, run {cell.run}: {answer}"
                    outcome.failures.append(told)
                elif answer is not None:
                    store.add(cell, answer)
                    outcome.computed += 1
                advance(_weight(cell))
    except KeyboardInterrupt:
        outcome.interrupted = True


def _cells(figure: Figure, runs: int, seed: int, points: int | None) -> Iterator[Cell]:
    for place in figure.places(points):
        for run in range(figure.runs(runs)):
            yield Cell(figure.name, place, run, seed)


def _wanted(cell: Cell, methods: Sequence[str] | None) -> list[str]:
    """The methods of a cell: the figure's, or those asked for; other rankings join any of them."""
    figure = cell.spec
    ranks = figure.kind in ("accuracy", "simulated", "real")
    chosen = [
        name
        for name in (figure.methods if methods is None or figure.kind == "beta" else methods)
        if name in figure.methods or (ranks and name not in CONTESTANTS)
    ]
    if figure.kind == "rounds" and cell.x > ABH_UP_TO:
        chosen = [name for name in chosen if name != "abh/power"]
    # The GRM-estimator is slow on many items; the paper has no value there either.
    slow = ("grm", "grm-levels")
    return [name for name in chosen if name not in slow or _paper_has(cell)]


def _paper_has(cell: Cell) -> bool:
    panel = cell.spec.panels[0]
    return paper_value(cell.figure, panel, "grm", cell.place) is not None


def _side_by_side(work: list[Work], jobs: int, rank: Rank | None) -> Iterator[Answer]:
    """Compute cells in several processes, in any order."""
    if jobs == 1 or rank is not None or len(work) < 2:
        for cell, names in work:
            yield cell, _attempt(cell, names, rank)
        return
    with _one_thread_each(), _pool(jobs) as pool:
        waiting = {pool.submit(_attempt, cell, names): cell for cell, names in work}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes, which end at once if the work is interrupted."""
    others = set(active_children())
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_leave_interrupts)
    try:
        yield pool
    except BaseException:
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one_by_one(
    timed: Sequence[Work], store: Store, time_limit: float, rank: Rank | None
) -> Iterator[Answer]:
    """Take timings one at a time, in one process with one thread; None where all take too long.

    What is timed next depends on the timings in the store.
    """
    if not timed:
        return
    with _one_thread_each(), _pool(1) as pool:
        for cell, names in timed:
            affordable = [name for name in names if _affordable(cell, name, store, time_limit)]
            if not affordable:
                yield cell, None
            elif rank is not None:
                yield cell, _attempt(cell, affordable, rank)
            else:
                yield cell, pool.submit(_attempt, cell, affordable).result()


def _affordable(cell: Cell, method: str, store: Store, time_limit: float) -> bool:
    """Whether a timing is expected to stay within the limit, judging by earlier ones."""
    earlier = [
        values.get("seconds", {}).get(method)
        for run, values in store.runs(cell.spec, cell.place, cell.seed)
        if run < cell.run
    ]
    if any(seconds is not None and seconds > ONCE_FROM for seconds in earlier):
        return False
    for place in range(cell.place - 1, -1, -1):
        tried = [
            values["seconds"][method]
            for _, values in store.runs(cell.spec, place, cell.seed)
            if method in values.get("seconds", {})
        ]
        if tried:
            took = [seconds for seconds in tried if seconds is not None]
            power = contestant(method).growth if cell.spec.varies == "users" else 1.0
            growth = (cell.x / cell.spec.x[place]) ** power
            return bool(took) and min(took) * growth <= time_limit
        if any(True for _ in store.runs(cell.spec, place, cell.seed)):
            return False  # it was left out there already
    return True


def _attempt(cell: Cell, methods: Sequence[str], rank: Rank | None = None) -> Values | str:
    """Compute a cell, or return the error message so that the other cells go on."""
    try:
        return compute(cell, methods, rank)
    except Exception as error:
        if rank is not None:
            raise
        return f"{type(error).__name__}: {error}"


def _weight(cell: Cell) -> float:
    """Rough time of a cell, relative to others."""
    figure = cell.spec
    size = cell.x if figure.varies in ("users", "items") or figure.kind == "simulated" else 100
    return 1.0 + float(size) / 100.0


def _leave_interrupts() -> None:
    """Ignore Ctrl-C, which the parent process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _progress(total: float) -> Iterator[Callable[[float], None]]:
    """A progress bar with the time left, only on a terminal."""
    if not sys.stderr.isatty() or total == 0:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = ("cells", BarColumn(), TaskProgressColumn(), "time left", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("cells", total=total)
        yield lambda amount: bar.advance(task, amount)
