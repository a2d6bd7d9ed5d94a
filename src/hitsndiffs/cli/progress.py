"""Signs of life on a terminal, and nothing at all anywhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["shown", "track", "working"]

T = TypeVar("T")

#: Work that ends within this many seconds needs no sign of life.
PATIENCE = 1.0


def shown(quiet: bool = False) -> bool:
    """Whether progress is shown: somebody is watching standard error, and wants to.

    >>> shown(quiet=True)
    False
    """
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Show a spinner with a text while a block runs, if it runs for more than a second.

    Examples
    --------
    >>> with working("Counting"):
    ...     sum(range(10))
    45
    """
    if not shown(quiet):
        yield
        return
    over, lock = threading.Event(), threading.Lock()

    def spin() -> None:
        if over.wait(PATIENCE):
            return
        from rich.console import Console

        with lock, Console(stderr=True).status(text):
            over.wait()

    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    try:
        yield
    finally:
        over.set()
        spinner.join()


def track(
    steps: Iterable[T], text: str, *, total: int | None = None, quiet: bool = False
) -> Iterator[T]:
    """Go through some steps, with a bar and the time left.

    Parameters
    ----------
    steps
        What to go through.
    text
        Stands before the bar.
    total
        The number of steps, where ``len(steps)`` does not tell it.
    quiet
        Whether to show nothing even on a terminal.

    Examples
    --------
    >>> list(track([1, 2, 3], "Counting"))
    [1, 2, 3]
    """
    if not shown(quiet):
        yield from steps
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        yield from bar.track(steps, total=total, description=text)
