"""Work on many threads: plain threads around kernels that release the interpreter's lock."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

from hitsndiffs.errors import InputError

__all__ = ["Run", "available_cores", "check_threads", "limited_threads"]

#: The limits in force, latest last.
_limits: list[int] = []


def available_cores() -> int:
    """Number of cores this process may use.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return min([cores, *_limits[-1:]])


def check_threads(threads: int | None) -> None:
    """Refuse a number of threads that makes no sense."""
    if threads is not None and threads < 1:
        raise InputError(f"threads must be at least 1; got {threads}.")


@contextmanager
def limited_threads(most: int | None) -> Iterator[None]:
    """Use at most this many threads for reading, ranking and inside Polars.

    Polars creates its threads when it is loaded; if it is loaded already, they stay as they are.

    Examples
    --------
    >>> with limited_threads(1):
    ...     available_cores()
    1
    """
    check_threads(most)
    if most is None:
        yield
        return
    if "polars" not in sys.modules:
        os.environ["POLARS_MAX_THREADS"] = str(most)
    _limits.append(most)
    try:
        yield
    finally:
        _limits.pop()


class Run:
    """Run numbered pieces of work on some threads, the caller's among them.

    Which thread takes which piece varies, so each piece must write to its own place: results then
    do not depend on it.

    Examples
    --------
    >>> squares = [0] * 5
    >>> def work(piece):
    ...     squares[piece] = piece**2
    >>> Run(threads=2)(5, work)
    >>> squares
    [0, 1, 4, 9, 16]
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __call__(self, pieces: int, work: Callable[[int], None]) -> None:
        """Call ``work`` with every number below ``pieces``."""
        helpers = min(self.threads, pieces) - 1
        numbers = itertools.count()

        def take() -> None:
            while (piece := next(numbers)) < pieces:
                work(piece)

        pool = _pool(os.getpid(), self.threads) if helpers > 0 else None
        waiting = [pool.submit(take) for _ in range(helpers)] if pool else []
        try:
            take()
        finally:
            for each in waiting:
                each.result()

    def split(self, length: int, work: Callable[[int, int], None], least: int = 256) -> None:
        """Call ``work(first, last)`` on pieces of a range, none much shorter than ``least``."""
        pieces = max(1, min(4 * self.threads, length // least))
        bounds = [length * piece // pieces for piece in range(pieces + 1)]
        self(pieces, lambda piece: work(bounds[piece], bounds[piece + 1]))


@lru_cache(maxsize=4)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:  # noqa: ARG001 - threads die in a fork
    return ThreadPoolExecutor(threads, thread_name_prefix="hitsndiffs")
