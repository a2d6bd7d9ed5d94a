"""The process that does the jobs: ``python -m hitsndiffs.show.web.worker``.

It reads lines, each a job as JSON, and writes lines of JSON: the progress of the job, its result or
what went wrong, and that it is over. A job has limits on memory, and ends when the server does.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import warnings
from pathlib import Path
from typing import IO, Any, TextIO

from hitsndiffs.data.progress import Watch, watched, working
from hitsndiffs.errors import InputError, lacks_memory
from hitsndiffs.show.web import tasks
from hitsndiffs.show.web.settings import size

__all__ = ["main"]

#: Minimum seconds between two progress messages.
PACE = 0.15
#: Maximum bytes of a file that the job writes.
LARGEST_FILE = 2 << 30


def main() -> None:
    """Do jobs until the server ends, each in a fork, which may die and need import nothing.

    Where the system has no forks, the process does one job and ends.
    """
    asked = os.fdopen(os.dup(0), "rb", buffering=0)
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what a library prints is no message
    _load()
    told.write("\n")  # ready
    told.flush()
    while line := asked.readline():
        child = os.fork() if hasattr(os, "fork") else 0
        if child == 0:
            job = json.loads(line)
            threading.Thread(target=_end_with_the_server, args=[asked], daemon=True).start()
            _send(told, _done(job, Reporting(told, job["task"]["kind"])))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        _send(told, {"over": os.waitstatus_to_exitcode(status)})


def _load() -> None:
    """Import what every job needs, before there is one."""
    import polars  # noqa: F401

    from hitsndiffs.engines import numpy  # noqa: F401
    from hitsndiffs.methods import auto  # noqa: F401
    from hitsndiffs.reading import reader  # noqa: F401
    from hitsndiffs.results import comparison, ranking  # noqa: F401
    from hitsndiffs.show import report
    from hitsndiffs.show.templating import environment

    del report
    for name in ("page/outcome.html", "report/report.html"):
        environment().get_template(name)


def _done(job: dict[str, Any], watch: Reporting) -> dict[str, Any]:
    """Do the job; return the last message."""
    task, folder = job["task"], Path(job["task"]["folder"])
    try:
        _limit(job["memory"], job["time"])
        with watched(watch), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"result": tasks.KINDS[task["kind"]].work(task, watch)}
    except InputError as error:
        return _failed(_without(str(error), folder))
    except BaseException as error:
        if lacks_memory(error):
            return _failed(
                f"This needs more memory than {size(job['memory'])}, which is the limit of this "
                "page; try a smaller file, or hnd rank on a command line, which has no limit."
            )
        if isinstance(error, OSError):
            return _failed(f"The work could not be finished ({error.strerror or error}).")
        what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return _failed(_without(what, folder), fault=True)


class Reporting(Watch):
    """Reports progress to the server, but not too often."""

    def __init__(self, told: TextIO, kind: str) -> None:
        super().__init__()
        self.told = told
        self.names = tasks.KINDS[kind].stages
        self.number = 0
        self.last = 0.0

    def stage(self, number: int) -> Any:
        """Begin a stage."""
        self.number, self.last = number, 0.0
        return working(self.names[number])

    def changed(self) -> None:
        """Report how far the job is."""
        now = time.monotonic()
        if now - self.last < PACE:
            return
        self.last = now
        counted = next((stage for stage in self.stages if stage.total), None)
        message = {
            "stage": self.number,
            "line": self.line().removeprefix(self.names[self.number]).lstrip(": ,"),
            "done": 0 if counted is None else counted.done,
            "total": 0 if counted is None else counted.total,
        }
        _send(self.told, message)


def _send(told: TextIO, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the server no longer listens
        told.write(json.dumps(message) + "\n")
        told.flush()


def _failed(sentence: str, *, fault: bool = False) -> dict[str, Any]:
    return {"error": sentence, "fault": fault}


def _without(sentence: str, folder: Path) -> str:
    """Remove the server's folder from a sentence."""
    return sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), "the files")


def _end_with_the_server(asked: IO[bytes]) -> None:
    asked.read(1)
    os._exit(1)


def _limit(memory: int, seconds: float) -> None:
    """Limit memory, processor time and the size of files, where the system can.

    The limit is on data (``RLIMIT_DATA``), not on address space, of which libraries reserve far
    more than they use.
    """
    try:
        import resource
    except ImportError:  # Windows: only the time limit applies
        return
    wanted = {
        "RLIMIT_DATA": int(memory),
        "RLIMIT_CPU": int(seconds * 4) + 10,  # several threads spend it at once
        "RLIMIT_FSIZE": LARGEST_FILE,
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, hard))


if __name__ == "__main__":
    main()
