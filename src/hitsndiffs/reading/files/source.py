"""Byte streams from paths, standard input and file objects; unpacked, and cut at line ends."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.words import shortened, suggestion
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large, zstandard
from hitsndiffs.reading.files.foreign import START, no_text, refuse_foreign
from hitsndiffs.reading.sizes import DEFAULT, Sizes

__all__ = [
    "ByteStream",
    "Chunk",
    "NotUtf8",
    "count_byte",
    "even_newlines",
    "line_chunks",
    "no_source",
    "open_path",
    "open_stream",
    "transcoded",
]

#: A quoted cell longer than this is taken for a quotation mark that was never closed.
_LONGEST_QUOTE = 64 << 20

#: Bytes asked for at once where all are wanted.
_PIECE = 1 << 20

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class NotUtf8(InputError):
    """Text that is not UTF-8, found far from its beginning."""


class ByteStream:
    """Bytes that can be read once, with lookahead.

    ``read`` returns up to the given number of bytes (or characters), and nothing at the end. There
    is a ``path`` if the file can be opened again.
    """

    def __init__(
        self,
        read: Callable[[int], Any],
        name: str,
        path: Path | None = None,
        sizes: Sizes = DEFAULT,
    ) -> None:
        self._read = read
        self._held = b""
        self.name = name
        self.path = path
        self.sizes = sizes

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        while len(self._held) < size and (more := self._next(size - len(self._held))):
            self._held += more
        return self._held[:size]

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes, fewer at the end."""
        parts, self._held = [self._held[:size]], self._held[size:]
        missing = size - len(parts[0])
        while missing > 0 and (more := self._next(missing)):
            parts.append(more)
            missing -= len(more)
        parts = [part for part in parts if part]
        return parts[0] if len(parts) == 1 else b"".join(parts)  # usually copies nothing

    def read_within(self) -> bytes:
        """Return all the rest; refuse more than may be held at once."""
        parts, size = [self._held], len(self._held)
        self._held = b""
        while more := self._next(_PIECE):  # one read of the limit would ask for all of it at once
            parts.append(more)
            size += len(more)
            if size > self.sizes.held:
                raise too_large(self.name, self.sizes.held)
        return b"".join(parts)

    def _next(self, size: int) -> bytes:
        try:
            data = self._read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{self.name}: the gzip data are damaged or cut short ({_reason(error)}); "
                "copy or pack the file again."
            ) from None
        except UnicodeDecodeError:
            raise InputError(f"{self.name}: the text is not UTF-8; save it as UTF-8.") from None
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read ({_reason(error)}).") from None
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            raise InputError(
                f"{self.name}: the zstd data are damaged or cut short; copy or pack it again."
            ) from None
        return _utf8(data) if isinstance(data, str) else data


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a lone surrogate has no bytes


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.rstrip(".").lower()


@contextmanager
def open_stream(
    source: Any, *, name: str | None = None, path: Path | None = None, sizes: Sizes = DEFAULT
) -> Iterator[ByteStream]:
    """Open a path, ``"-"`` (standard input) or a file object; unpack gzip and zstd on the fly.

    ``name`` and ``path`` are those of a file object that stands for a file.
    """
    opened: Any = None
    if isinstance(source, str) and source == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed; name a file, or pipe one in.")
        stream = ByteStream(sys.stdin.buffer.read, "standard input", sizes=sizes)
    elif hasattr(source, "read"):
        opened = source if name is not None else None
        own = getattr(source, "name", None)
        name = name or (own if isinstance(own, str) else "the file object")
        stream = ByteStream(source.read, name, path, sizes)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source))
        opened = open_path(path)
        stream = ByteStream(opened.read, path.name, path, sizes)
    else:
        raise no_source(source)
    try:
        yield _unpacked(stream)
    finally:
        if opened is not None:
            opened.close()


def no_source(source: object) -> InputError:
    """Return the error for an object that is not something to read."""
    return InputError(
        "a path, '-' for standard input, or a file object was expected; "
        f"got {type(source).__name__}. A table in memory goes to Responses.from_wide() "
        "or Responses.from_long()."
    )


def open_path(path: Path) -> io.BufferedReader:
    """Open a file, or say why it cannot be opened."""
    try:
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = suggestion(path.name, names)
        raise InputError(f"{shortened(str(path), 300)!r}: there is no such file{near}.") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a folder; name one file in it.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shortened(str(path))!r} cannot be opened ({_reason(error)}).") from None


def _unpacked(stream: ByteStream) -> ByteStream:
    start = stream.peek(START)
    if not start:
        raise InputError(f"{stream.name}: the file is empty; it should hold a table of answers.")
    refuse_foreign(start, stream.name)
    if start.startswith(_GZIP):
        packed: Any = gzip.GzipFile(fileobj=_Reader(stream), mode="rb")
    elif start.startswith(_ZSTD):
        unpacker = zstandard(stream.name).ZstdDecompressor()
        packed = unpacker.stream_reader(_Reader(stream), read_across_frames=True)
    else:
        return stream
    inner = ByteStream(packed.read, stream.name, sizes=stream.sizes)
    within = inner.peek(START)
    if not within:
        raise InputError(f"{stream.name}: the packed file is empty; nothing can be read.")
    refuse_foreign(within, stream.name)
    return inner


class _Reader(io.RawIOBase):
    """The part of the file interface that gzip and zstd need."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size if size >= 0 else _PIECE)

    def seekable(self) -> bool:
        return False


def transcoded(stream: ByteStream, encoding: str) -> ByteStream:
    """Return a stream of the same text as UTF-8."""
    if encoding in ("utf-8", "utf-8-sig", "ascii"):
        return stream
    decoder = codecs.getincrementaldecoder(encoding)()

    def read(size: int) -> bytes:
        while True:
            data = stream.read(max(size, 1 << 12))
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{stream.name}: the text is not {encoding} ({error.reason}); give another "
                    "encoding."
                ) from None
            if text or not data:
                return _utf8(text.removeprefix("\ufeff"))

    return ByteStream(read, stream.name, sizes=stream.sizes)


@dataclass
class Chunk:
    """Some whole lines of text."""

    data: bytes
    first_line: int


def line_chunks(stream: ByteStream, *, quotes: bool) -> Iterator[Chunk]:
    """Cut a text at line ends, not inside quotation marks if ``quotes``; check that it is UTF-8."""
    rest = b""
    first_line = 1
    while True:
        more = _read_lines(stream)
        if not more:
            break
        cut = _last_line_end(rest, more, quotes)
        if cut == 0:
            rest, more = b"", rest + more
            if len(more) < min(_LONGEST_QUOTE, stream.sizes.held):
                rest = more
                continue
            if b"\n" not in more:
                raise InputError(
                    f"{stream.name}, line {first_line}: the line goes on for more than "
                    f"{len(more) / 2**20:,.0f} MiB; this is not a table of answers."
                )
            cut = more.rfind(b"\n") + 1 or len(more)
        chunk = Chunk(b"".join((rest, memoryview(more)[:cut])), first_line)
        rest = more[cut:]
        _check_text(chunk, stream.name)
        yield chunk
        first_line += count_byte(chunk.data, b"\n")
    if rest:
        chunk = Chunk(rest, first_line)
        _check_text(chunk, stream.name)
        yield chunk


def _read_lines(stream: ByteStream) -> bytes:
    """Read the next part, with all line ends in Unix style."""
    more = stream.read(stream.sizes.chunk)
    if b"\r" not in more:
        return more
    if more.endswith(b"\r"):
        more += stream.read(1)
    return more.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _last_line_end(rest: bytes, more: bytes, quotes: bool) -> int:
    """Return where the last line ends in ``more``, outside quotation marks; 0 if none does."""
    cut = more.rfind(b"\n") + 1
    if not quotes or cut == 0 or (b'"' not in more and b'"' not in rest):
        return cut
    marks = count_byte(rest, b'"') + count_byte(memoryview(more)[:cut], b'"')
    if marks % 2 == 0:
        return cut
    ends = even_newlines(rest + more) - len(rest)
    return max(int(ends[-1]) + 1, 0) if len(ends) else 0


def count_byte(data: bytes | memoryview, byte: bytes, size: int = 1 << 17) -> int:
    """Count a byte that may be frequent, in pieces that fit in the cache."""
    characters = np.frombuffer(data, dtype=np.uint8)
    return sum(
        int(np.count_nonzero(characters[first : first + size] == byte[0]))
        for first in range(0, len(characters), size)
    )


def even_newlines(data: bytes) -> npt.NDArray[np.intp]:
    r"""Return the positions of line ends outside quotation marks.

    Examples
    --------
    >>> even_newlines(b'a\n"b\nc"\n').tolist()
    [1, 7]
    """
    characters = np.frombuffer(data, dtype=np.uint8)
    inside = np.bitwise_xor.accumulate((characters == ord('"')).view(np.uint8))
    return np.flatnonzero((characters == ord("\n")) & (inside == 0))


def _check_text(chunk: Chunk, name: str) -> None:
    data = chunk.data
    if b"\0" in data:
        line = chunk.first_line + data.count(b"\n", 0, data.index(b"\0"))
        raise no_text(name, line)
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = chunk.first_line + data.count(b"\n", 0, error.start)
        raise NotUtf8(
            f"{name}, line {line}: the text is not UTF-8 (byte 0x{data[error.start]:02X}); "
            "give its encoding, or save the file as UTF-8 (in Excel: «CSV UTF-8»)."
        ) from None
