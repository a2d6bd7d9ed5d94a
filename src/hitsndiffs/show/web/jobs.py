"""Jobs: reading, ranking and comparing, one at a time, in another process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass, field
from typing import Any, Literal

from hitsndiffs.data.processes import python_module
from hitsndiffs.data.progress import duration
from hitsndiffs.show.web.settings import Settings, size

__all__ = ["Job", "Jobs"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Maximum bytes of a message from a process.
LARGEST_MESSAGE = 64_000_000


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
    running: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state not in ("waiting", "running")

    def finish(self, state: State, error: str = "", *, fault: bool = False) -> None:
        """End it; only the first call counts."""
        if not self.is_over:
            self.state, self.error, self.is_fault = state, error, fault

    def cancel(self) -> None:
        """Stop it, if it is not over."""
        self.finish("cancelled")
        if self.running is not None:
            self.running.cancel()


class Jobs:
    """Does jobs in the order in which they come.

    The process is started beforehand, as it takes a second of imports. It runs no code from the
    folder in which the page was started.
    """

    #: The module that runs in the process.
    worker = "hitsndiffs.show.web.worker"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._turn = asyncio.Lock()
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._open: set[asyncio.Task[None]] = set()

    def prepare(self) -> None:
        """Start the process, if there is none."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._start_process())

    def start(self, task: dict[str, Any]) -> Job:
        """Start a job, or let it wait its turn."""
        job = Job(task)
        job.running = asyncio.create_task(self._run(job))
        self._open.add(job.running)
        job.running.add_done_callback(self._open.discard)
        return job

    async def close(self) -> None:
        """Stop everything."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._end_process()

    async def _start_process(self) -> asyncio.subprocess.Process:
        command, environment = python_module(self.worker)
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LARGEST_MESSAGE,
            start_new_session=True,
        )
        assert process.stdout is not None
        await process.stdout.readline()  # it is ready
        return process

    async def _end_process(self) -> None:
        """Make sure that the process and everything it started are gone."""
        if self._starting is None:
            return
        starting, self._starting = self._starting, None
        with contextlib.suppress(OSError):
            process = await starting
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            await process.wait()

    async def _run(self, job: Job) -> None:
        try:
            async with self._turn:
                self.prepare()
                assert self._starting is not None
                process = await asyncio.shield(self._starting)
                goes_on = False
                try:
                    job.state = "running"
                    goes_on = await self._talk(job, process)
                finally:
                    if not goes_on:
                        await asyncio.shield(self._end_process())
                        self.prepare()
        except asyncio.CancelledError:
            job.finish("cancelled")
        except OSError as error:
            self._starting = None
            job.finish("failed", f"The work could not be started ({error.strerror or error}).")

    async def _talk(self, job: Job, process: asyncio.subprocess.Process) -> bool:
        """Hand over the task, and take the messages; return whether the process can go on."""
        assert process.stdin is not None
        assert process.stdout is not None
        limit, memory = self.settings.time_limit, self.settings.memory_limit
        asked = {"task": job.task, "memory": memory, "time": limit}
        try:
            async with asyncio.timeout(limit):
                with contextlib.suppress(ConnectionError):
                    process.stdin.write(json.dumps(asked).encode() + b"\n")
                    await process.stdin.drain()
                while line := await process.stdout.readline():
                    message = json.loads(line)
                    if "over" in message:
                        job.finish("failed", _died(message["over"], memory))
                        return True
                    _take(job, message)
        except TimeoutError:
            job.finish(
                "failed",
                f"This took longer than {duration(limit)}, which is the limit of this page; "
                "try the method majority, or a smaller file, or hnd rank on a command line, "
                "which has no limit.",
            )
        except ValueError:
            job.finish("failed", "The result is too large for this page; use hnd rank instead.")
        job.finish("failed", _died(process.returncode, memory))
        return False


def _died(code: int | None, memory: int) -> str:
    return (
        f"The work stopped without a result (code {code}). Either the file is damaged, or it "
        f"needs more memory than {size(memory)}, which is the limit of this page."
    )


def _take(job: Job, message: dict[str, Any]) -> None:
    if "error" in message:
        job.finish("failed", message["error"], fault=message["fault"])
    elif "result" in message:
        job.result = message["result"]
        job.finish("done")
    else:
        job.stage, job.line = message["stage"], message["line"]
        job.done, job.total = message["done"], message["total"]
