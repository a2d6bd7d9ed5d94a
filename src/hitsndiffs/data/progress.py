"""Progress of long work, reported to whoever watches.

Work reports where it is with :func:`working`, :func:`step` and :func:`tracked`. The watcher is a
:class:`Watch`: a line on a terminal, a line in a notebook, or a page's own. Without a watcher, all
this costs only one look at a context variable.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hitsndiffs.errors import printable

__all__ = [
    "NotebookWatch",
    "Stage",
    "TerminalWatch",
    "Watch",
    "duration",
    "step",
    "tracked",
    "watched",
    "working",
]

T = TypeVar("T")

#: The time left is estimated only after this many steps and this many seconds.
STEPS, SECONDS = 2, 1.0
#: Work that ends within this many seconds shows nothing; seconds between two updates of the line.
PATIENCE, PAUSE = 1.0, 0.25


@dataclass
class Stage:
    """One piece of work, and its step: how many are done, of how many (0: not counted)."""

    text: str
    step: str = ""
    done: int = 0
    total: int = 0
    since: float = field(default_factory=time.monotonic)

    def remaining(self, now: float | None = None) -> float | None:
        """Estimated seconds until the counted steps are done; ``None`` if unknown.

        >>> Stage("Fitting", "starts", done=2, total=6, since=0.0).remaining(now=10.0)
        20.0
        """
        elapsed = (time.monotonic() if now is None else now) - self.since
        if self.done < STEPS or self.done >= self.total or elapsed < SECONDS:
            return None
        return elapsed / self.done * (self.total - self.done)


class Watch:
    """A watcher of progress. Subclasses react to changes in :meth:`changed`."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def changed(self) -> None:
        """React to a change: a stage began, moved on or ended."""

    def close(self) -> None:
        """Clean up when the watched block is over, however it ended."""

    def line(self) -> str:
        """What is going on, in one line.

        >>> watch = Watch()
        >>> watch.stages = [Stage("Ranking", "trying starts", done=3, total=7)]
        >>> watch.line()
        'Ranking: trying starts, 3 of 7 done'
        """
        stages = list(self.stages)  # another thread may be at work
        if not stages:
            return ""
        texts = [stage.text for stage in stages]
        now = stages[-1].step  # outer stages have older steps
        parts = [": ".join(dict.fromkeys([*texts, now] if now else texts))]
        counted = next((stage for stage in stages if stage.total), None)
        if counted is not None:
            parts.append(f"{counted.done} of {counted.total} done")
            left = counted.remaining()
            if left is not None:
                more = "" if counted is stages[0] else " for this step"
                parts.append(f"about {duration(left)} left{more}")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """A duration as people say it.

    >>> duration(0.4), duration(42), duration(200), duration(9000)
    ('1 s', '42 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


_watch: ContextVar[Watch | None] = ContextVar("hitsndiffs_watch", default=None)


@contextmanager
def watched(watch: Watch | None) -> Iterator[None]:
    """Let a watcher follow the work of a block (``None``: no watcher).

    >>> class Printing(Watch):
    ...     def changed(self):
    ...         print(self.line())
    >>> with watched(Printing()), working("Counting"):
    ...     step("to three", 1, 3)
    Counting
    Counting: to three, 1 of 3 done
    <BLANKLINE>
    """
    before = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(before)
        if watch is not None:
            watch.close()


@contextmanager
def working(text: str, *, quiet: bool = False, told: bool = False) -> Iterator[None]:
    """Say what a block does.

    If there is no watcher yet, a line of progress is shown where somebody can see it: in a
    notebook, at Python's prompt, or for a command (``told``) on a terminal; not if ``quiet``.
    ``HITSNDIFFS_PROGRESS=off`` turns this off.
    """
    watch = _watch.get()
    if watch is None:
        opened = None if quiet else _find_watch(told)
        if opened is None:
            yield
            return
        with watched(opened), working(text):
            yield
        return
    stage = Stage(text)
    watch.stages.append(stage)
    watch.changed()
    try:
        yield
    finally:
        if stage in watch.stages:
            del watch.stages[watch.stages.index(stage) :]
        watch.changed()


def step(text: str, done: int = 0, total: int = 0) -> None:
    """Say which step of the work is under way, and how many are done, if they are counted."""
    watch = _watch.get()
    if watch is None or not watch.stages:
        return
    stage = watch.stages[-1]
    if (stage.step, stage.total) != (text, total):
        stage.since = time.monotonic()
    stage.step, stage.done, stage.total = text, done, total
    watch.changed()


def tracked(steps: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Iterate over some steps, and report each one.

    >>> list(tracked("abc", "spelling"))
    ['a', 'b', 'c']
    """
    if total is None:
        total = len(steps) if isinstance(steps, Sized) else 0
    for number, one in enumerate(steps):
        step(text, number, total)
        yield one
    step("")


# -- lines of progress ------------------------------------------------------------------------


class TerminalWatch(Watch):
    """A line with a spinner on standard error, rewritten while the work goes on."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__()
        self._patience = patience
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def changed(self) -> None:
        """Start the display thread at the first stage; afterwards it reads the stages itself."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()

    def _show(self) -> None:
        if self._over.wait(self._patience):
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        with console.status(Text(printable(self.line()))) as status:
            while not self._over.wait(PAUSE):
                line = Text(printable(self.line()), no_wrap=True)
                line.truncate(max(console.width - 3, 10), overflow="ellipsis")
                status.update(line)

    def close(self) -> None:
        """Remove the line."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()


class NotebookWatch(Watch):
    """A line under the cell, rewritten when the work moves on and cleared at the end."""

    def __init__(self, patience: float = PATIENCE, pause: float = PAUSE) -> None:
        super().__init__()
        self._pause, self._next = pause, time.monotonic() + patience
        self._display: Any = None

    def changed(self) -> None:
        """Rewrite the line, unless it was written just now."""
        if self.stages and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause
            self._write(self.line())

    def _write(self, line: str) -> None:
        from IPython import display

        show: Any = display.display
        bundle = {"text/plain": line}
        if self._display is None:
            self._display = show(bundle, raw=True, display_id=True)
        else:
            self._display.update(bundle, raw=True)

    def close(self) -> None:
        """Remove the line."""
        if self._display is not None:
            self._write("")


def _find_watch(told: bool) -> Watch | None:
    """Return a watcher that can show a line of progress here, or ``None``."""
    if os.environ.get("HITSNDIFFS_PROGRESS", "").lower() in ("off", "0", "no"):
        return None
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    if kernel is not None and hasattr(kernel, "kernel"):
        return NotebookWatch()
    is_seen = told or hasattr(sys, "ps1") or kernel is not None
    can_rewrite = sys.stderr is not None and sys.stderr.isatty()
    if is_seen and can_rewrite and os.environ.get("TERM", "dumb") != "dumb":
        return TerminalWatch()
    return None
