"""Write files completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from hitsndiffs.errors import InputError

__all__ = [
    "Writer",
    "bytes_writer",
    "is_device",
    "same_place",
    "text_writer",
    "write_folder",
    "write_whole",
]

#: A function that fills a file; it is given the file, open for bytes.
Writer = Callable[[IO[bytes]], object]

#: Names of unfinished files; those left by killed runs are removed after a day.
_PART = re.compile(r"\.hnd-[0-9a-f]{32}\.part")
_DAY = 86_400.0
#: A chain of this many links is taken to be a loop.
_LINKS = 40


def write_whole(files: Mapping[Path, Writer]) -> None:
    """Write some files: each next to its target first, then moved into place once all are complete.

    An existing file keeps its mode. A link made by this user (or root) is followed; anybody else's
    is refused. Two names for one file are refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "greeting.txt"
    ...     write_whole({path: text_writer("hello")})
    ...     path.read_text()
    'hello'
    """
    paths = list(files)
    for number, path in enumerate(paths):
        for other in paths[:number]:
            if same_place(path, other):
                raise InputError(f"{other} and {path} are the same file; give two different files.")
    parts: list[tuple[Path, Path, Path]] = []  # requested path, target, unfinished file
    done: list[str] = []
    try:
        for path in sorted(paths, key=is_device):  # devices last: output there cannot be undone
            with _told(path, done):
                if is_device(path):
                    _fill(os.open(path, os.O_WRONLY), files[path], durable=False)
                    done.append(str(path))
                    continue
                place, part = _place_and_part(path)
                parts.append((path, place, part))
                _fill(_new_file(part, place), files[path])
        for path, place, part in parts:
            with _told(path, done):
                os.replace(part, place)
                done.append(str(path))
    finally:
        for _, _, part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def write_folder(path: Path, fill: Callable[[Path], object]) -> None:
    """Write a new folder: ``fill`` makes it next to its target; it is moved there once complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "letters"
    ...     write_folder(path, lambda new: (new.mkdir(), (new / "a.txt").write_text("a")))
    ...     [file.name for file in path.iterdir()]
    ['a.txt']
    """
    with _told(path, ()):
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path} already exists; give a new or empty folder.")
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}; make it first.")
        place, part = _place_and_part(path)
        try:
            fill(part)
            os.replace(part, place)  # this replaces an empty folder
        finally:
            shutil.rmtree(part, ignore_errors=True)


def text_writer(text: str) -> Writer:
    """A writer of a text, as UTF-8."""
    return bytes_writer(text.encode("utf-8", "backslashreplace"))


def bytes_writer(content: bytes) -> Writer:
    """A writer of some bytes."""
    return lambda file: file.write(content)


def is_device(path: Path) -> bool:
    """Whether a path can be written to but is not a regular file (``/dev/stdout``)."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def same_place(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names mean the same file, by any spelling or link; never for devices.

    >>> same_place("ranking.csv", "./ranking.csv"), same_place("ranking.csv", "key.csv")
    (True, False)
    """
    if is_device(Path(one)):
        return False
    with contextlib.suppress(OSError):
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


class _Part(io.RawIOBase):
    """A file that writes every byte, or keeps the error, whichever library writes into it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.fault: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        length = len(rest)
        while len(rest):
            try:
                rest = rest[os.write(self._number, rest) :]
            except OSError as fault:
                self.fault = fault
                raise
        return length


def _fill(number: int, write: Writer, *, durable: bool = True) -> None:
    """Write into an open file, and close it."""
    part = _Part(number)
    try:
        try:
            write(part)  # type: ignore[arg-type]
        finally:
            if part.fault is not None:  # a library may have raised another error in its place
                raise part.fault from None
        if durable:
            os.fsync(number)
    finally:
        os.close(number)


def _new_file(part: Path, place: Path) -> int:
    """Make a new file, with the mode of the file it will replace."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        there = os.stat(place)
    except FileNotFoundError:
        return os.open(part, flags, 0o666)  # minus the umask
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "the file that is there is write-protected")
    number = os.open(part, flags, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(number, stat.S_IMODE(there.st_mode) & 0o777)
    return number


def _place_and_part(path: Path) -> tuple[Path, Path]:
    """Return where a file goes (or the target of this user's link), and an unfinished file there.

    What this user's killed runs left there more than a day ago is removed.
    """
    trusted = {0, os.geteuid()} if hasattr(os, "geteuid") else None
    for _ in range(_LINKS):
        if not path.is_symlink():
            break
        if trusted is not None and os.lstat(path).st_uid not in trusted:
            raise InputError(
                f"{path} is a link that belongs to another user; give a file of your own."
            )
        path = path.parent / os.readlink(path)
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    folder = Path(os.path.realpath(path.parent))
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            found = entry.lstat() if _PART.fullmatch(entry.name) else None
            if found is None or found.st_mtime >= time.time() - _DAY:
                continue
            if trusted is None or found.st_uid == os.geteuid():
                if stat.S_ISDIR(found.st_mode):
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink()
    return folder / path.name, folder / f".hnd-{secrets.token_hex(16)}.part"


@contextlib.contextmanager
def _told(path: Path, done: Sequence[str]) -> Iterator[None]:
    """Turn an ``OSError`` about a file into an :class:`InputError` that says what went wrong."""
    try:
        yield
    except OSError as error:
        before = f" Written before that: {', '.join(done)}." if done else ""
        raise InputError(f"{path}: {_reason(error)}.{before}") from error


def _reason(error: OSError) -> str:
    kept = "what was there is unchanged"
    number = error.errno
    if number in (errno.ENOSPC, getattr(errno, "EDQUOT", None), errno.EFBIG):
        return f"the disk is full or the file would exceed a size limit; {kept}"
    if number == errno.EPIPE:
        return "the program reading this pipe has closed it; nothing more was written"
    if number == errno.ELOOP:
        return "this is a link that leads back to itself; name another file"
    said = error.strerror or str(error)
    return f"cannot be written ({said}); {kept}"
