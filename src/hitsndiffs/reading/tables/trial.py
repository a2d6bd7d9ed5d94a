"""Decode Parquet in another process first: a damaged file can crash the process that decodes it.

Corrupt numbers inside a page (the length of a run, say) can make a decoder ask for more memory than
there is. Compiled code then aborts, with nothing to catch. So each piece of a file is decoded in a
second process, which may die; pieces it survives are decoded here. One such process serves all
files of a program. It takes about 0.4 s to start, and every piece is decoded twice: a third more
processor time for reading (60 million cells: 0.27 s on top of 0.85 s). Reading only in that process
and passing the codes through shared memory takes as long. The process ends with the program, or
after a minute without work. A process that may die itself, such as the one in which the page reads
an upload, decodes directly.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from hitsndiffs.data.processes import python_module

__all__ = ["Trial", "die_if_need_be"]

#: Seconds without work after which the process ends.
IDLE = 60.0
#: Head of a request: the lengths of the question and of the bytes that follow.
LENGTHS = struct.Struct("<QQ")
#: The first line that the process writes.
READY = b"ready\n"
#: How many attempts before the file is blamed (an idle process may have just ended).
TRIES = 2


class Trial:
    """A Parquet file (or its bytes), tested piece by piece.

    Examples
    --------
    >>> import io, polars as pl
    >>> out = io.BytesIO()
    >>> pl.DataFrame({"user": ["a"], "q1": ["A"]}).write_parquet(out)
    >>> Trial(out.getvalue()).refusal(["q1"]) is None
    True
    """

    def __init__(self, source: Path | bytes) -> None:
        self.source = source

    def refusal(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> str | None:
        """Decode columns (default: all) in the other process; return the error, or None.

        With ``columns=[]`` only the footer of the file, with names and sizes, is read.
        """
        if _expendable.is_set():
            return None
        asked: dict[str, Any] = {"columns": None if columns is None else list(columns)}
        asked["n_rows"] = n_rows
        return _guard().ask(self, asked)


_expendable = threading.Event()


def die_if_need_be() -> None:
    """Let this process decode directly: the one that started it handles its death."""
    _expendable.set()


class Guard:
    """The other process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._holds: Trial | None = None
        self.owner = os.getpid()

    def ask(self, trial: Trial, asked: dict[str, Any]) -> str | None:
        """Return why not to decode here; ``None`` if there is no reason."""
        with self._lock:
            for _ in range(TRIES):
                process = self._running()
                if process is None:  # none can be started: decode without a trial
                    return None
                answer = self._answer(process, trial, asked)
                if answer is not None:
                    return str(answer["error"]) if "error" in answer else None
                self._end()
        return "decoding it crashes the program"

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        command, environment = python_module("hitsndiffs.reading.tables.trial")
        try:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        assert self._process.stdout is not None
        if self._process.stdout.readline() != READY:  # what was started is not this module
            self._end()
        return self._process

    def _answer(
        self, process: subprocess.Popen[bytes], trial: Trial, asked: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Ask; ``None`` if the process ended without an answer."""
        assert process.stdin is not None
        assert process.stdout is not None
        source, content = trial.source, b""
        if self._holds is not trial:
            asked = {**asked, "path": str(source.absolute()) if isinstance(source, Path) else None}
            content = source if isinstance(source, bytes) else b""
        words = json.dumps(asked).encode()
        try:
            process.stdin.write(LENGTHS.pack(len(words), len(content)) + words)
            process.stdin.write(content)
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            return None
        except BaseException:  # after an interrupt, the late answer must not be used
            self._end()
            raise
        if not line:
            return None
        self._holds = trial
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        process, self._process, self._holds = self._process, None, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


_made: list[Guard] = []
_making = threading.Lock()


def _guard() -> Guard:
    """Return the guard of this program (a forked process gets its own)."""
    with _making:
        if not _made or _made[-1].owner != os.getpid():
            _made[:] = [Guard()]
            atexit.register(_made[-1].close)
        return _made[-1]


# -- in the other process ---------------------------------------------------------------------


def _serve(requests: IO[bytes], answers: int) -> None:
    """Decode what is asked for, until there are no more requests."""
    source: Any = None
    os.write(answers, READY)
    while True:
        waiting = threading.Timer(IDLE, os._exit, (0,))
        waiting.daemon = True
        waiting.start()
        head = requests.read(LENGTHS.size)
        waiting.cancel()
        if len(head) < LENGTHS.size:
            return
        n_words, n_bytes = LENGTHS.unpack(head)
        asked = json.loads(requests.read(n_words))
        content = requests.read(n_bytes)
        if "path" in asked:
            source = content if asked["path"] is None else asked["path"]
        os.write(answers, json.dumps(_tried(source, asked)).encode() + b"\n")


def _tried(source: Any, asked: dict[str, Any]) -> dict[str, Any]:
    import io

    import polars as pl

    def given() -> Any:
        return io.BytesIO(source) if isinstance(source, bytes) else source

    columns, n_rows = asked["columns"], asked["n_rows"]
    try:
        if columns == []:
            pl.read_parquet_schema(given())
            pl.scan_parquet(given()).select(pl.len()).collect()
        else:
            pl.read_parquet(given(), columns=columns, n_rows=n_rows)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        return {"error": str(error).strip().partition("\n")[0][:500]}
    except MemoryError:
        return {"error": "it asks for more memory than there is"}
    return {}


def _bounded() -> None:
    """Take no more memory than the machine has."""
    try:
        import resource

        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, AttributeError, ValueError, OSError):
        return  # the system has no such limits


def main() -> None:
    """Serve one program, on standard input and output."""
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    _bounded()
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
