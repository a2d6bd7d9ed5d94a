"""Other Python processes: for decoders that may die, and for many files at a time.

A folder of data comes from other people, and a file ``signal.py`` in it must not be run. Python
puts the current folder first among the places that ``python -c`` and ``python -m`` import from, and
so do the processes that :mod:`multiprocessing` and Dask start. None of these does so here.

A pool of :mod:`multiprocessing` would either fork a process that has threads (Polars) or run the
caller's script a second time; a :class:`Helper` does neither.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from hitsndiffs.data.pool import available_cores
from hitsndiffs.errors import InputError, lacks_memory

__all__ = ["Died", "Helper", "decoded", "in_processes", "python_module", "safe_path"]

#: Python heeds this variable when it starts, and hands it on to what it starts itself.
SAFE_PATH = "PYTHONSAFEPATH"
#: Seconds of a processor for one call, and seconds without one after which the process ends.
PATIENCE, IDLE = 300, 60.0
#: Seconds without any work after which a process counts as dead: where memory runs out in one of
#: its threads, the others may wait for that one for ever.
STALLED = 5.0


@contextmanager
def safe_path() -> Iterator[None]:
    """Within this context, a started Python imports nothing from the current folder.

    Examples
    --------
    >>> import subprocess
    >>> with safe_path():
    ...     done = subprocess.run([sys.executable, "-c", "import sys; print('' in sys.path)"],
    ...                           capture_output=True, text=True)
    >>> done.stdout.strip()
    'False'
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before


def python_module(name: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and environment to run a module of this package in another process.

    That process imports from the same places as this one, not from its current folder.
    """
    folders = [folder for folder in sys.path if folder]
    environment = {**os.environ, SAFE_PATH: "1", "PYTHONPATH": os.pathsep.join(folders)}
    return [sys.executable, "-P", "-m", name], environment


class Died(Exception):
    """The other process ended, or had to be ended, while it worked."""

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self.room = room

    def __str__(self) -> str:
        return f"decoding it crashes, or takes more than {self.room / 2**20:,.0f} MiB"


class Helper:
    """A process that calls functions of this package; it is started when it is first needed.

    It ends with this process, or when nothing was asked of it for a minute.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._sent: Any = None
        self._rest: threading.Timer | None = None

    def call(self, function: Callable[..., Any], data: Any, *more: Any, room: int = 0) -> Any:
        """Call a function there, and return what it returns or raise what it raises.

        Parameters
        ----------
        function
            A function at the top of a module of this package.
        data, more
            Its arguments; ``data`` is sent only once if it is the same object again.
        room
            How many bytes it may take (0: any number). :class:`Died` says that it took more.
        """
        with self._lock:
            child = self._started()
            given = None if self._sent is data else (data,)
            name = function.__module__, function.__qualname__
            answer = None
            try:
                answer = self._exchange(child, (name, given, more, room))
            finally:  # after an interrupt, say, what comes next would be no answer to us
                if answer is None:
                    self._end()
            if answer is None:
                raise Died(room)
            self._sent = data
            self._rest = threading.Timer(IDLE, self.end)
            self._rest.daemon = True
            self._rest.start()
        result, error = answer
        if error is not None:
            raise error
        return result

    def _started(self) -> subprocess.Popen[bytes]:
        if self._rest is not None:
            self._rest.cancel()
        if self._child is None or self._owner != os.getpid() or self._child.poll() is not None:
            self._end()
            command, environment = python_module(__name__)
            self._child = subprocess.Popen(
                command,
                env={**environment, "POLARS_MAX_THREADS": str(available_cores())},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._owner = os.getpid()
        return self._child

    @staticmethod
    def _exchange(child: subprocess.Popen[bytes], request: tuple[Any, ...]) -> Any:
        """Return the result and the error of a call; None if the process ended."""
        assert child.stdin is not None
        assert child.stdout is not None
        over = threading.Event()
        threading.Thread(target=_end_if_stalled, args=(child, over), daemon=True).start()
        try:
            pickle.dump(request, child.stdin, protocol=5)
            child.stdin.flush()
            return pickle.load(child.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        finally:
            over.set()

    def end(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        child, self._child, self._sent = self._child, None, None
        if child is not None and self._owner == os.getpid():  # else it belongs to who forked us
            child.kill()
            with child:  # closes the pipes, and waits
                pass
        elif child is not None:
            child.returncode = 0


def _end_if_stalled(child: subprocess.Popen[bytes], over: threading.Event) -> None:
    """End a process that uses no processor for a while (where the system tells), until ``over``."""
    spent, since = "", time.monotonic()
    while not over.wait(0.5):
        try:
            told = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        if " ".join(told[11:13]) != spent:
            spent, since = " ".join(told[11:13]), time.monotonic()
        elif time.monotonic() - since > STALLED:
            child.kill()
            return


#: Decodes files whose decoders may end the process that they run in.
decoder = Helper()
atexit.register(decoder.end)

#: Bytes that decoding may always take, and bytes more for each byte of the file. A dense sheet of
#: 5,000,000 cells (20 MB) takes 21 for each.
ROOM, ROOM_PER_BYTE = 640 << 20, 32


def decoded(function: Callable[..., Any], data: bytes, *more: Any, limit: int) -> Any:
    """Let the other process decode a file, in at most ``limit`` bytes.

    Raises :class:`RuntimeError` with what the decoder says, or :class:`Died`.
    """
    return decoder.call(function, data, *more, room=min(limit, ROOM + ROOM_PER_BYTE * len(data)))


def in_processes(function: Callable[[Any], Any], tasks: Sequence[Any], n: int) -> list[Any]:
    """Call a function of this package on each task, in several processes; keep the order.

    Examples
    --------
    >>> from hitsndiffs.reading.streams import set_label
    >>> in_processes(set_label, [["B", "A"], ["C"]], 2)
    ['A; B', 'C']
    """
    helpers = [Helper() for _ in range(n)]

    def work(k: int) -> list[Any]:
        return [helpers[k].call(function, task) for task in tasks[k::n]]

    results: list[Any] = [None] * len(tasks)
    try:
        with ThreadPoolExecutor(n) as pool:
            for k, share in enumerate(pool.map(work, range(n))):
                results[k::n] = share
    finally:
        for helper in helpers:
            helper.end()
    return results


# -- in the other process ---------------------------------------------------------------------


def _serve(asked: BinaryIO, told: BinaryIO) -> None:
    """Answer calls until there are no more."""
    data: Any = None
    while True:
        try:
            (module, name), given, more, room = pickle.load(asked)
        except EOFError:
            return
        data = data if given is None else given[0]
        try:
            function = getattr(importlib.import_module(module), name)
            if room:
                _limit(room)
            answer = pickle.dumps((function(data, *more), None), protocol=5)
        except BaseException as error:
            answer = pickle.dumps((None, _plain(error, room)))
        told.write(answer)
        told.flush()


def _plain(error: BaseException, room: int) -> Exception:
    """Return an error that can be sent: one of this package, or its first line."""
    if isinstance(error, InputError):
        return error
    if lacks_memory(error):
        return Died(room)
    found = RuntimeError(str(error).strip().partition("\n")[0].rstrip(".")[:200])
    found.add_note(traceback.format_exc()[-2000:])
    return found


def _limit(room: int) -> None:
    """Let the next call take this much memory, and so much time."""
    try:
        import resource
    except ImportError:  # Windows
        return
    import polars  # noqa: F401  (what the library itself takes does not count)

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
    _serve(sys.stdin.buffer, told)


if __name__ == "__main__":
    from hitsndiffs.data import processes  # what is sent belongs to that module, not to this run

    processes._main()
