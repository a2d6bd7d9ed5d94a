"""Jobs: reading, ranking and comparing, one at a time, each in a process of its own.

A helper that has imported everything waits for tasks, and forks a process for each where the system
can: it starts at once, and may die. Tasks and what is told of them are lines of JSON: nothing in
them can run code in the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from hitsndiffs.data.processes import python_module
from hitsndiffs.data.progress import Watch, duration, watched, working
from hitsndiffs.errors import InputError, lacks_memory
from hitsndiffs.show.web.settings import Settings, size

__all__ = ["Job", "Jobs", "main"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Minimum seconds between two progress messages, and maximum bytes of a message.
PACE, LARGEST_MESSAGE = 0.15, 64_000_000
#: Maximum bytes of a file that a job writes.
LARGEST_FILE = 2 << 30
#: Progress of a job that waits for its turn.
NOT_BEGUN = {"stage": 0, "line": "It is your turn next.", "done": 0, "total": 0}
#: What a job needs, imported before there is one.
NEEDED = (
    "polars",
    "hitsndiffs.engines.numpy",
    "hitsndiffs.methods.auto",
    "hitsndiffs.reading.reader",
    "hitsndiffs.results.comparison",
    "hitsndiffs.results.ranking",
    "hitsndiffs.show.report",
)


@dataclass
class Job:
    """One job, and its progress."""

    task: dict[str, Any]
    state: State = "waiting"
    progress: dict[str, Any] = field(default_factory=lambda: dict(NOT_BEGUN))
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    is_fault: bool = False
    running: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")

    def fail(self, error: str, *, fault: bool = False) -> None:
        """End it with a sentence, if it is not over."""
        if not self.is_over:
            self.state, self.error, self.is_fault = "failed", error, fault

    def stop(self) -> None:
        """Begin to stop it, if it is not over."""
        if not self.is_over:
            self.state = "cancelled"
            if self.running is not None:
                self.running.cancel()

    async def cancel(self) -> None:
        """Stop it, and wait until its process is gone."""
        self.stop()
        if self.running is not None:
            await asyncio.wait([self.running])

    def hear(self, message: dict[str, Any]) -> None:
        """Take what the process tells."""
        if "error" in message:
            self.fail(message["error"], fault=message["fault"])
        elif "result" in message:
            self.result, self.state = message["result"], "done"
        else:
            self.progress = message


class Jobs:
    """Does jobs in the order in which they come.

    Parameters
    ----------
    settings
        With the limits of a job.
    module
        What runs as the helper.
    """

    def __init__(self, settings: Settings, module: str = __name__) -> None:
        self.settings, self.module = settings, module
        self._helper: Process | None = None
        self._is_ready = False
        self._turn = asyncio.Lock()

    async def prepare(self) -> Process:
        """Start the helper, unless there is one."""
        if self._helper is None or self._helper.returncode is not None:
            self._is_ready = False
            command, environment = python_module(self.module)
            self._helper = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=LARGEST_MESSAGE,
                start_new_session=True,
            )
        return self._helper

    async def close(self) -> None:
        """End the helper, and everything that it started."""
        helper, self._helper = self._helper, None
        if helper is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                helper.kill() if sys.platform == "win32" else os.killpg(helper.pid, signal.SIGKILL)
            await helper.communicate()

    def start(self, task: dict[str, Any]) -> Job:
        """Start a job, or let it wait its turn."""
        job = Job(task)
        job.running = asyncio.create_task(self._run(job))
        return job

    async def _run(self, job: Job) -> None:
        async with self._turn:
            job.state, job.progress["line"], is_whole = "running", "", False
            try:
                is_whole = await self._attend(job)
            except TimeoutError:
                limit = duration(self.settings.time_limit)
                job.fail(
                    f"This took longer than {limit}, which is the limit of this page; try "
                    "the method majority, or a smaller file, or hnd rank on a command line, which "
                    "has no limit."
                )
            except OSError as error:
                job.fail(f"The work could not be started ({error.strerror}).")
            finally:
                if not is_whole:
                    await self.close()
                    await self.prepare()
            job.fail(
                "The work stopped without a result. Either the file is damaged, or it needs more "
                f"memory than {size(self.settings.memory_limit)}, which is the limit of this page."
            )

    async def _attend(self, job: Job) -> bool:
        """Send a job to the helper and hear of it; return whether the helper can do another one."""
        helper = await self.prepare()
        assert helper.stdin is not None
        assert helper.stdout is not None
        memory, seconds = self.settings.memory_limit, self.settings.time_limit
        task = {**job.task, "memory": memory, "seconds": seconds}
        if not self._is_ready:
            self._is_ready = bool(await helper.stdout.readline())
        with contextlib.suppress(ValueError, ConnectionError):  # too long a line, or it died
            helper.stdin.write(json.dumps(task).encode() + b"\n")
            async with asyncio.timeout(seconds):
                while line := await helper.stdout.readline():
                    message = json.loads(line)
                    if "ready" in message:
                        return True
                    job.hear(message)
        return False


# -- in the helper --------------------------------------------------------------------------------


def main(kinds: Mapping[str, Any] | None = None) -> None:
    """Wait for tasks, and do each in a process of its own.

    Parameters
    ----------
    kinds
        What jobs there are, if not the usual ones.
    """
    from hitsndiffs.show.templating import environment
    from hitsndiffs.show.web import tasks

    for name in NEEDED:
        importlib.import_module(name)
    kinds = tasks.KINDS if kinds is None else kinds
    for template in ("page/outcome.html", "report/report.html"):
        environment().get_template(template)
    told = os.fdopen(os.dup(1), "wb")
    _tell(told, {"ready": True})
    while line := sys.stdin.buffer.readline():
        task = json.loads(line)
        child = os.fork() if hasattr(os, "fork") else 0
        if child == 0:
            _do(task, kinds[task["kind"]], told)
            os._exit(0)
        os.waitpid(child, 0)
        _tell(told, {"ready": True})


def _do(task: dict[str, Any], kind: Any, told: BinaryIO) -> None:
    """Do a job, and tell how it went."""
    server, nothing = os.dup(0), os.open(os.devnull, os.O_RDWR)
    threading.Thread(target=_end_with_the_server, args=[server], daemon=True).start()
    for stream in range(3):  # what a library prints is no message
        os.dup2(nothing, stream)
    folder, memory = Path(task["folder"]), task["memory"]
    said, fault = "", False
    try:
        _limit(memory, task["seconds"])
        reporting = Reporting(told, kind.stages)
        with watched(reporting), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _tell(told, {"result": kind.work(task, reporting)})
    except InputError as error:
        said = str(error)
    except BaseException as error:
        if lacks_memory(error):
            said = (
                f"This needs more memory than {size(memory)}, which is the limit of this page; "
                "try a smaller file, or hnd rank on a command line, which has no limit."
            )
        elif isinstance(error, OSError):
            said = f"The work could not be finished ({error.strerror or error})."
        else:
            fault, said = True, " ".join(f"{type(error).__name__}: {error}".split())[:300]
    # the folder is the server's business
    said = said.replace(f"{folder}{os.sep}", "").replace(str(folder), "the files")
    if said:
        _tell(told, {"error": said, "fault": fault})


class Reporting(Watch):
    """Reports progress to the server, but not too often."""

    def __init__(self, told: BinaryIO, names: tuple[str, ...]) -> None:
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
        done, total = (0, 0) if counted is None else (counted.done, counted.total)
        line = self.line().removeprefix(self.names[self.number]).lstrip(": ,")
        _tell(self.told, {"stage": self.number, "line": line, "done": done, "total": total})


def _tell(told: BinaryIO, message: dict[str, Any]) -> None:
    told.write(json.dumps(message).encode() + b"\n")
    told.flush()


def _end_with_the_server(server: int) -> None:
    """Wait until the server is gone, and end with everything that was started."""
    os.read(server, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
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
    bounds = {"DATA": memory, "FSIZE": LARGEST_FILE, "CORE": 0}
    bounds["CPU"] = int(seconds * 4) + 10  # several threads spend it at once
    for name, bound in bounds.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            resource.setrlimit(kind, (bound if hard < 0 else min(bound, hard), hard))


if __name__ == "__main__":
    main()
