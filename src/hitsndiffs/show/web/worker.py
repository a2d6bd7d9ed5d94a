"""One piece of work for the page, in a separate process: read, rank, compare.

The process talks to the server through a pipe, in JSON, and leaves its files in the folder of the
visit. Its memory is limited, and it ends when the server does.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hitsndiffs.data.progress import Watch, watched, working
from hitsndiffs.errors import InputError, lacks_memory

__all__ = ["STAGES", "work"]

#: The stages of each kind of work, as the visitor sees them.
STAGES = {
    "plan": ("Looking into the file",),
    "rank": ("Reading the file", "Ranking", "Drawing the report"),
    "compare": ("Reading the file", "Trying every method", "Drawing the comparison"),
    "api": ("Reading the file", "Ranking"),
}
#: Minimum seconds between two progress messages.
PACE = 0.15
#: Maximum bytes of a file that the work writes.
LARGEST_FILE = 2 << 30


def work(connection: Any, task: dict[str, Any], limits: dict[str, float]) -> None:
    """Do a piece of work, and tell the server how it ended.

    Parameters
    ----------
    connection
        The pipe to the server.
    task
        ``kind`` (one of ``STAGES``), ``folder``, ``files``, and what the kind needs.
    limits
        ``memory`` in bytes, ``time`` in seconds.
    """
    folder = Path(task["folder"])
    _alone(connection)
    try:
        _limited(limits)
        reporting = Reporting(connection, STAGES[task["kind"]])
        with watched(reporting), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = _kinds()[task["kind"]](task, reporting)
        _send(connection, {"result": result})
    except InputError as error:
        _fail(connection, _without(str(error), folder))
    except BaseException as error:
        if lacks_memory(error):
            _fail(connection, _too_large(limits))
        elif isinstance(error, OSError):
            _fail(connection, f"The work could not be finished ({error.strerror or error}).")
        else:
            what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            _fail(connection, _without(what, folder), fault=True)


class Reporting(Watch):
    """Reports progress to the server, but not too often."""

    def __init__(self, connection: Any, stages: tuple[str, ...]) -> None:
        super().__init__()
        self.connection = connection
        self.names = stages
        self.number = 0
        self.last = 0.0

    def stage(self, number: int) -> Any:
        """Begin a stage."""
        self.number, self.last = number, 0.0
        return working(self.names[number])

    def changed(self) -> None:
        """Report how far the work is."""
        now = time.monotonic()
        if now - self.last < PACE:
            return
        self.last = now
        counted = next((stage for stage in self.stages if stage.total), None)
        _send(
            self.connection,
            {
                "stage": self.number,
                "line": self.line().removeprefix(self.names[self.number]).lstrip(": ,"),
                "done": 0 if counted is None else counted.done,
                "total": 0 if counted is None else counted.total,
            },
        )


def _send(connection: Any, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the server no longer listens
        connection.send_bytes(json.dumps(message).encode())


def _fail(connection: Any, sentence: str, *, fault: bool = False) -> None:
    _send(connection, {"error": sentence, "fault": fault})


def _too_large(limits: dict[str, float]) -> str:
    from hitsndiffs.show.web.settings import size

    return (
        f"This needs more memory than {size(limits['memory'])}, which is the limit of this page; "
        "try a smaller file, or hnd rank on a command line, which has no limit."
    )


def _without(sentence: str, folder: Path) -> str:
    """Remove the server's folder from a sentence."""
    return sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), "the files")


def _alone(connection: Any) -> None:
    """Become a process group without a terminal, which ends when the server does."""
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)

    def wait_for_the_end() -> None:
        with contextlib.suppress(EOFError, OSError):
            connection.recv_bytes()
        os._exit(1)

    threading.Thread(target=wait_for_the_end, daemon=True).start()


def _limited(limits: dict[str, float]) -> None:
    """Limit memory, processor time and the size of files, where the system can.

    The limit is on data (``RLIMIT_DATA``), not on address space: V8 draws the charts, reserves far
    more address space than it uses, and does not start under ``RLIMIT_AS``.
    """
    try:
        import resource
    except ImportError:  # Windows: only the time limit applies
        return
    seconds = int(limits["time"] * 4) + 10  # several threads spend it at once
    wanted = {
        "RLIMIT_DATA": int(limits["memory"]),
        "RLIMIT_CPU": seconds,
        "RLIMIT_FSIZE": LARGEST_FILE,
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, hard))


def _kinds() -> dict[str, Callable[[dict[str, Any], Reporting], dict[str, Any]]]:
    from hitsndiffs.show.web import tasks

    return {
        "plan": tasks.look,
        "rank": tasks.rank_files,
        "compare": tasks.compare_files,
        "api": tasks.answer,
    }
