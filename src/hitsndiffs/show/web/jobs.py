"""Jobs: reading, ranking and comparing, one at a time, each in a process of its own.

Where the system can, the process is forked from one that has imported everything beforehand: it
starts at once, and may die. What it tells is JSON: nothing in it can run code in the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import multiprocessing.util
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

from hitsndiffs.data.processes import safe_path
from hitsndiffs.data.progress import Watch, duration, watched, working
from hitsndiffs.errors import InputError, lacks_memory
from hitsndiffs.show.web.settings import Settings, size

__all__ = ["Job", "Jobs", "do"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Minimum seconds between two progress messages, and maximum bytes of a message.
PACE, LARGEST_MESSAGE = 0.15, 64_000_000
#: Maximum bytes of a file that a job writes.
LARGEST_FILE = 2 << 30


@dataclass
class Job:
    """One job, and its progress."""

    task: dict[str, Any]
    state: State = "waiting"
    stage: int = 0
    line: str = ""
    done: int = 0
    total: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    is_fault: bool = False
    process: BaseProcess | None = None
    running: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")

    def finish(self, state: State, error: str = "", *, fault: bool = False) -> None:
        """End it; only the first call counts."""
        if not self.is_over:
            self.state, self.error, self.is_fault = state, error, fault
        if self.process is not None:
            _kill(self.process)

    async def cancel(self) -> None:
        """Stop it, if it is not over."""
        self.finish("cancelled")
        if self.running is not None:
            await asyncio.wait([self.running])

    def heard(self, message: dict[str, Any]) -> None:
        """Take what the process tells."""
        if "error" in message:
            self.finish("failed", message["error"], fault=message["fault"])
        elif "result" in message:
            self.result = message["result"]
            self.finish("done")
        else:
            self.stage, self.line = message["stage"], message["line"]
            self.done, self.total = message["done"], message["total"]


class Jobs:
    """Does jobs in the order in which they come."""

    def __init__(self, settings: Settings, work: Callable[..., None] | None = None) -> None:
        self.settings = settings
        self.work = work or do
        can_fork = "forkserver" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if can_fork else "spawn")
        self._turn = asyncio.Lock()

    def prepare(self) -> Path | None:
        """Import what every job needs, before there is one; return the folder that this takes."""
        if self._context.get_start_method() != "forkserver":
            return None
        self._context.set_forkserver_preload(["__main__", "hitsndiffs.show.web.needed"])
        with safe_path():
            forkserver.ensure_running()
        return Path(multiprocessing.util.get_temp_dir())

    def start(self, task: dict[str, Any]) -> Job:
        """Start a job, or let it wait its turn."""
        job = Job(task)
        job.running = asyncio.create_task(self._run(job))
        return job

    async def _run(self, job: Job) -> None:
        async with self._turn:
            if not job.is_over:
                await asyncio.to_thread(self._attend, job)

    def _attend(self, job: Job) -> None:
        """Start the process of a job, and hear it until it is over."""
        limit, memory = self.settings.time_limit, self.settings.memory_limit
        here, there = self._context.Pipe(duplex=False)
        try:
            process = self._context.Process(target=self.work, args=(job.task, memory, limit, there))
            with safe_path():
                process.start()
        except OSError as error:
            job.finish("failed", f"The work could not be started ({error.strerror}).")
            return
        finally:
            there.close()
        job.process, until = process, time.monotonic() + limit
        with here, contextlib.suppress(EOFError, OSError):
            while not job.is_over:
                job.state = "running"
                if here.poll(max(until - time.monotonic(), 0.0)):
                    job.heard(json.loads(here.recv_bytes(LARGEST_MESSAGE)))
                else:
                    job.finish(
                        "failed",
                        f"This took longer than {duration(limit)}, which is the limit of this "
                        "page; try the method majority, or a smaller file, or hnd rank on a "
                        "command line, which has no limit.",
                    )
        process.join(1)
        job.finish(
            "failed",
            f"The work stopped without a result (code {process.exitcode}). Either the file is "
            f"damaged, or it needs more memory than {size(memory)}, which is the limit of this "
            "page.",
        )
        process.join()


def _kill(process: BaseProcess) -> None:
    """Make sure that a process and everything it started are gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.pid is not None and process.is_alive() and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


# -- in the process -------------------------------------------------------------------------------


def do(task: dict[str, Any], memory: int, seconds: float, told: Connection) -> None:
    """Do a job, and tell how it went."""
    from hitsndiffs.show.web import tasks

    if hasattr(os, "setsid"):
        os.setsid()
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # what a library prints is no message
        os.dup2(nothing, stream)
    kind, folder = tasks.KINDS[task["kind"]], Path(task["folder"])
    told_last: dict[str, Any]
    try:
        _limit(memory, seconds)
        reporting = Reporting(told, kind.stages)
        with watched(reporting), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told_last = {"result": kind.work(task, reporting)}
    except InputError as error:
        told_last = _failed(_without(str(error), folder))
    except BaseException as error:
        if lacks_memory(error):
            told_last = _failed(
                f"This needs more memory than {size(memory)}, which is the limit of this page; "
                "try a smaller file, or hnd rank on a command line, which has no limit."
            )
        elif isinstance(error, OSError):
            told_last = _failed(f"The work could not be finished ({error.strerror or error}).")
        else:
            what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            told_last = _failed(_without(what, folder), fault=True)
    _tell(told, told_last)


class Reporting(Watch):
    """Reports progress to the server, but not too often."""

    def __init__(self, told: Connection, names: tuple[str, ...]) -> None:
        super().__init__()
        self.told, self.names = told, names
        self.number, self.last = 0, 0.0

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
        _tell(self.told, message)


def _tell(told: Connection, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # the server no longer listens
        told.send_bytes(json.dumps(message).encode())


def _failed(sentence: str, *, fault: bool = False) -> dict[str, Any]:
    return {"error": sentence, "fault": fault}


def _without(sentence: str, folder: Path) -> str:
    """Remove the server's folder from a sentence."""
    return sentence.replace(f"{folder}{os.sep}", "").replace(str(folder), "the files")


def _end_with_the_server() -> None:
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
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
