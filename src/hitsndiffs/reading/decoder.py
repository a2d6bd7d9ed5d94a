"""Spreadsheets, Parquet and statistics files meet another process first, which may die.

Their decoders are compiled, and end the process where memory runs out: a stray cell in the last
corner of a sheet, or one wrong byte of a Parquet file, asks for more than any machine has. So they
run in a process with limits on memory and time. It is started once, is kept for the next file, and
ends with this process, or when nothing was asked of it for a minute.

Spreadsheets and statistics files are decoded there, and sent. Parquet is decoded ten times as fast
as its texts can be sent (100,000 × 50: 0.03 and 0.36 s), so that it is tried there and decoded
again here; where this process has no threads yet, a fork of it tries.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from hitsndiffs.data.pool import available_cores
from hitsndiffs.data.processes import python_module
from hitsndiffs.errors import InputError, lacks_memory

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Died", "decoded", "try_parquet"]

#: Seconds of a processor for one request, and seconds without one after which the process ends.
PATIENCE, IDLE = 300, 60.0
#: Seconds without any work after which a process counts as dead: where memory runs out in one of
#: its threads, the others may wait for that one for ever.
STALLED = 5.0
#: Bytes that decoding may always take, and bytes more for each byte of the file. A dense sheet of
#: 5,000,000 cells (20 MB) takes 21 for each.
ROOM, ROOM_PER_BYTE = 640 << 20, 32
#: Bytes that the threads of Polars reserve, all and each: it is not the file that takes them.
SPARE, SPARE_PER_CORE = 256 << 20, 32 << 20
#: How many cells of a Parquet file are decoded at a time.
CELLS = 4_000_000


class Died(Exception):
    """The process ended while it decoded a file."""

    def __init__(self, room: int) -> None:
        super().__init__(f"decoding it crashes, or takes more than {room / 2**20:,.0f} MiB")


def decoded(
    what: str, data: bytes, limit: int, **request: Any
) -> tuple[dict[str, Any], pl.DataFrame | None]:
    """Let the other process decode a file.

    Parameters
    ----------
    what
        A name of :data:`WORK`.
    data
        The bytes; they are sent once if they are the same object again.
    limit
        How many bytes it may take.
    request
        What else the function of that name takes.

    Returns
    -------
    dict, DataFrame or None
        What was found.
    """
    request |= {"what": what, "room": min(limit, ROOM + ROOM_PER_BYTE * len(data))}
    answer, frame = _process.ask(request, data)
    if "error" in answer:
        raise InputError(answer["error"])
    import polars as pl

    return answer, pl.read_ipc_stream(io.BytesIO(frame)) if frame else None


def try_parquet(data: bytes | list[str], limit: int, most_text: int) -> None:
    """Raise :class:`Died` where decoding a Parquet file ends a process or takes too much memory.

    Other faults of the file are told when it is read.
    """
    room = limit + SPARE + SPARE_PER_CORE * available_cores()
    if not _can_fork():
        try:
            answer, _ = _process.ask(
                {"what": "parquet", "room": room, "most_text": most_text}, data
            )
        except Died:
            raise Died(limit) from None
        if "error" in answer:
            raise Died(limit)
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, 2)
            _limit(room)
            _parquet(_Source(data), most_text)
            code = 0
        except BaseException as error:
            code = int(lacks_memory(error))
        finally:
            os._exit(code)
    watch, pause = _Watch(child), 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if watch.is_stalled():
            os.kill(child, 9)
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    if status != 0:
        raise Died(limit)


class _Watch:
    """Tells when a process does nothing any more."""

    def __init__(self, process: int) -> None:
        self._process, self._spent, self._since = process, "", time.monotonic()

    def is_stalled(self) -> bool:
        """Whether it has used no processor for a while (unknown where the system does not tell)."""
        try:
            told = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False
        if (spent := " ".join(told[11:13])) != self._spent:
            self._spent, self._since = spent, time.monotonic()
        return time.monotonic() - self._since > STALLED


def _can_fork() -> bool:
    """Whether a copy of this process would be whole: it has no other thread."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class _Process:
    """The other process, from this side."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._sent: bytes | list[str] | None = None

    def ask(self, request: dict[str, Any], data: bytes | list[str]) -> tuple[dict[str, Any], bytes]:
        """Send a request; return the answer and the frame in it."""
        with self._lock:
            for _ in range(2):
                child = self._started()
                try:
                    found = self._exchange(child, request, data)
                except BaseException:  # an interrupt, say: what comes next would be no answer to us
                    self.end()
                    raise
                if found is not None:
                    return found
                code = child.wait()
                self.end()
                if code != 0:  # else it was not needed for a while, and ended just now
                    break
            raise Died(request["room"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.end()
            command, environment = python_module(__name__)
            environment["POLARS_MAX_THREADS"] = str(available_cores())
            self._child = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._child

    def _exchange(
        self,
        child: subprocess.Popen[bytes],
        request: dict[str, Any],
        data: bytes | list[str],
    ) -> tuple[dict[str, Any], bytes] | None:
        """Return what the child answers; None if it ends."""
        assert child.stdin is not None
        assert child.stdout is not None
        if self._sent is not data:
            is_bytes = isinstance(data, bytes)
            request |= {"size": len(data)} if is_bytes else {"paths": data}
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            if "size" in request:
                child.stdin.write(data)  # type: ignore[arg-type]
            child.stdin.flush()
        except OSError:
            return None
        self._sent, over = data, threading.Event()
        threading.Thread(target=_kill_if_stalled, args=(child, over), daemon=True).start()
        try:
            line = child.stdout.readline()
            if not line.endswith(b"\n"):
                return None
            answer: dict[str, Any] = json.loads(line)
            return answer, child.stdout.read(answer.pop("size"))
        finally:
            over.set()

    def end(self) -> None:
        """End the process, if there is one."""
        child, self._child, self._sent = self._child, None, None
        if child is not None:
            child.kill()
            with child:  # closes the pipes, and waits
                pass

    def forget(self) -> None:
        """Leave the process to the one that started it: this is a fork."""
        if self._child is not None:
            self._child.returncode = 0
        self.__init__()  # type: ignore[misc]


def _kill_if_stalled(child: subprocess.Popen[bytes], over: threading.Event) -> None:
    """End a process that does nothing, until its work is over."""
    watch = _Watch(child.pid)
    while not over.wait(0.5):
        if watch.is_stalled():
            child.kill()
            return


_process = _Process()
atexit.register(_process.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.forget)


# -- in the other process ---------------------------------------------------------------------


class _Source:
    """The file at hand, and what was made of it."""

    def __init__(self, data: bytes | list[str]) -> None:
        self.data = data

    @cached_property
    def workbook(self) -> Any:
        import fastexcel

        return fastexcel.read_excel(self.data)

    @property
    def for_polars(self) -> Any:
        return io.BytesIO(self.data) if isinstance(self.data, bytes) else self.data


def _sheets(source: _Source) -> tuple[dict[str, Any], Any]:
    return {"sheets": [str(name) for name in source.workbook.sheet_names]}, None


def _sheet(source: _Source, sheet: str, most: int | None) -> tuple[dict[str, Any], Any]:
    loaded = source.workbook.load_sheet(sheet, header_row=None, dtypes="string", n_rows=most)
    return {}, loaded.to_polars()


def _parquet(source: _Source, most_text: int) -> tuple[dict[str, Any], Any]:
    """Decode everything, some columns at a time, and keep nothing; bound the texts."""
    import polars as pl

    with contextlib.suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        scanned = pl.scan_parquet(source.for_polars)
        names = scanned.collect_schema().names()
        step = max(1, CELLS // max(scanned.select(pl.len()).collect().item(), 1))
        pl.read_parquet(source.for_polars, n_rows=1)
        for first in range(0, len(names), step):
            frame = pl.read_parquet(source.for_polars, columns=names[first : first + step])
            sums = frame.select(pl.col(pl.String).str.len_bytes().sum())
            text = sum(sums.row(0)) if sums.width else 0
            if text > most_text:
                raise MemoryError(f"its texts have more than {most_text / 2**20:,.0f} MiB")
    return {}, None


def _statistics(source: _Source, function: str) -> tuple[dict[str, Any], Any]:
    import pyreadstat

    read = getattr(pyreadstat, function)
    frame, about = read(io.BytesIO(source.data), output_format="polars")  # type: ignore[arg-type]
    labels = {n: list(own.items()) for n, own in about.variable_value_labels.items()}
    return {"labels": labels, "titles": about.column_names_to_labels}, frame


WORK: dict[str, Callable[..., tuple[dict[str, Any], Any]]] = {
    "sheets": _sheets,
    "sheet": _sheet,
    "parquet": _parquet,
    "statistics": _statistics,
}


def _serve(asked: BinaryIO, told: BinaryIO) -> None:
    """Answer requests until there are no more."""
    source = _Source(b"")
    idle = _idle()
    while line := asked.readline():
        idle.cancel()
        request = json.loads(line)
        if "size" in request:
            source = _Source(asked.read(request.pop("size")))
        elif "paths" in request:
            source = _Source(request.pop("paths"))
        work = WORK[request.pop("what")]
        _limit(request.pop("room"))
        out = io.BytesIO()
        try:
            answer, frame = work(source, **request)
            if frame is not None:
                frame.write_ipc_stream(out)
        except BaseException as error:
            out.close()
            out = io.BytesIO()
            answer = {"error": str(error).strip().partition("\n")[0].rstrip(".")[:200]}
        size = out.getbuffer().nbytes
        told.write(json.dumps({**answer, "size": size}, default=str).encode() + b"\n")
        told.write(out.getbuffer())
        told.flush()
        idle = _idle()


def _idle() -> threading.Timer:
    """Start the time after which this process ends."""
    timer = threading.Timer(IDLE, os._exit, [0])
    timer.daemon = True
    timer.start()
    return timer


def _limit(room: int) -> None:
    """Let the next request take this much memory, and so much time."""
    try:
        import resource
    except ImportError:  # Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    bounds = {"RLIMIT_CORE": 0, "RLIMIT_CPU": int(used.ru_utime + used.ru_stime) + PATIENCE}
    try:
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
        bounds["RLIMIT_DATA"] = held + room
    except OSError:
        pass  # only Linux tells
    for name, bound in bounds.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (bound if hard < 0 else min(bound, hard), hard))


def _main() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    import fastexcel  # noqa: F401
    import polars as pl

    pl.Series(["loaded"]).to_list()
    _serve(sys.stdin.buffer, told)


if __name__ == "__main__":
    _main()
