"""Lines of progress: on a terminal, and in a notebook."""

from __future__ import annotations

import threading
import time
from typing import Any

from hitsndiffs.data.progress import Watch
from hitsndiffs.errors import printable

__all__ = ["NotebookWatch", "TerminalWatch"]

#: Work that ends within this many seconds shows nothing.
PATIENCE = 1.0
#: Seconds between two updates of the line.
PAUSE = 0.25


class TerminalWatch(Watch):
    """A line with a spinner on standard error, rewritten while the work goes on.

    Parameters
    ----------
    patience
        Seconds before the line appears.
    """

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
    """A line under the cell, rewritten when the work moves on and cleared at the end.

    Parameters
    ----------
    patience
        Seconds before the line appears.
    pause
        Seconds between two updates of the line.
    """

    def __init__(self, patience: float = PATIENCE, pause: float = PAUSE) -> None:
        super().__init__()
        self._pause = pause
        self._next = time.monotonic() + patience
        self._display: Any = None

    def changed(self) -> None:
        """Rewrite the line, unless it was written just now."""
        if not self.stages or time.monotonic() < self._next:
            return
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
