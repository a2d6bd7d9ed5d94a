"""Work in separate processes: started, watched, limited, cancelled."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from hitsndiffs.data.progress import duration
from hitsndiffs.show.web.settings import Settings, size

__all__ = ["Busy", "Job", "Workers"]

State = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Modules that all work needs, loaded once in the process that the workers are forked from.
PRELOADED = (
    "polars",
    "jinja2",
    "vl_convert",
    "scipy.sparse.linalg",
    "hitsndiffs.engines.numpy",
    "hitsndiffs.methods",
    "hitsndiffs.reading.reader",
    "hitsndiffs.results.comparison",
    "hitsndiffs.results.tables",
    "hitsndiffs.show.report",
    "hitsndiffs.show.web.tasks",
    "hitsndiffs.show.web.templates_ready",
)
#: Seconds between two checks of a process.
LOOK = 0.1
#: Maximum bytes of a message from a process.
LARGEST_MESSAGE = 64_000_000


class Busy(Exception):
    """Too much work is waiting, or no more visits can be kept."""


@dataclass
class Job:
    """One piece of work, and its progress."""

    task: dict[str, Any]
    state: State = "waiting"
    stage: int = 0
    line: str = ""
    done: int = 0
    total: int = 0
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    is_fault: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether the work has ended."""
        return self.state not in ("waiting", "running")

    def finish(self, state: State, error: str = "", is_fault: bool = False) -> None:
        """End the work; only the first call counts."""
        if not self.is_over:
            self.error, self.is_fault = error, is_fault
            self.state = state


class Workers:
    """A few processes at a time; further work waits its turn."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._open: list[Job] = []
        self._threads = ThreadPoolExecutor(settings.workers, thread_name_prefix="hnd-job")
        self._forks = "forkserver" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if self._forks else "spawn")
        if self._forks:
            self._context.set_forkserver_preload(list(PRELOADED))

    def prepare(self) -> None:
        """Start the process to fork from, which takes seconds, before the first visitor waits."""
        if self._forks:
            from multiprocessing import forkserver

            forkserver.ensure_running()

    def start(self, task: dict[str, Any]) -> Job:
        """Start a piece of work, or let it wait its turn."""
        job = Job(task)
        with self._lock:
            if sum(j.state == "waiting" for j in self._open) >= self.settings.max_waiting:
                raise Busy
            self._open.append(job)
        self._threads.submit(self._run, job)
        return job

    def before(self, job: Job) -> int:
        """Return how many pieces of work wait before this one."""
        with self._lock:
            waiting = [j for j in self._open if j.state == "waiting"]
        return waiting.index(job) if job in waiting else 0

    def cancel(self, job: Job | None) -> None:
        """Stop a piece of work; do nothing if it is over."""
        if job is not None and not job.is_over:
            job.stop.set()
            if job.state == "waiting":
                job.finish("cancelled")

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            jobs = list(self._open)
        for job in jobs:
            self.cancel(job)
        self._threads.shutdown(wait=True, cancel_futures=True)

    # -- in a thread ------------------------------------------------------------------------

    def _run(self, job: Job) -> None:
        try:
            if not job.stop.is_set():
                self._watch(job)
        except Exception as error:  # a thread must not fail silently
            job.finish("failed", f"{type(error).__name__} while the work was started.", True)
        finally:
            if not job.is_over:
                job.finish("cancelled")
            with self._lock:
                self._open.remove(job)

    def _watch(self, job: Job) -> None:
        from hitsndiffs.show.web.worker import work

        ours, theirs = self._context.Pipe()
        limits = {"memory": self.settings.memory_limit, "time": self.settings.time_limit}
        process = self._context.Process(target=work, args=(theirs, job.task, limits))
        job.state = "running"
        process.start()
        theirs.close()
        try:
            self._listen(job, ours, process)
        finally:
            _end(process)
            ours.close()

    def _listen(self, job: Job, connection: Any, process: Any) -> None:
        """Take the messages of a process; its time counts from here, as the first start is slow."""
        limit = self.settings.time_limit
        until = time.monotonic() + limit
        while not job.is_over:
            if job.stop.is_set():
                job.finish("cancelled")
            elif time.monotonic() > until:
                job.finish(
                    "failed",
                    f"This took longer than {duration(limit)}, which is the limit of this page; "
                    "try the method majority, or a smaller file, or hnd rank on a command line, "
                    "which has no limit.",
                )
            elif connection.poll(LOOK):
                try:
                    _take(job, json.loads(connection.recv_bytes(LARGEST_MESSAGE)))
                except (EOFError, OSError):
                    process.join(5)
                    job.finish("failed", self._died(process.exitcode))
            elif not process.is_alive() and not connection.poll():
                job.finish("failed", self._died(process.exitcode))

    def _died(self, code: int | None) -> str:
        return (
            f"The work stopped without a result (code {code}). Either the file is damaged, or it "
            f"needs more memory than {size(self.settings.memory_limit)}, which is the limit of "
            "this page."
        )


def _take(job: Job, message: dict[str, Any]) -> None:
    if "error" in message:
        job.finish("failed", message["error"], message["fault"])
    elif "result" in message:
        job.result = message["result"]
        job.finish("done")
    else:
        job.stage, job.line = message["stage"], message["line"]
        job.done, job.total = message["done"], message["total"]


def _end(process: Any) -> None:
    """Make sure that a process and everything it started are gone."""
    process.join(0.5)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.is_alive():
        process.kill()
    process.join(5)
    process.close()
