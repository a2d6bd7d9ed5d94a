"""What the bytes of a chunk of delimited text tell before they are parsed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.reading.files.source import Chunk, even_newlines

__all__ = [
    "after_line",
    "even_rows",
    "leading_zeros",
    "record_lines",
    "well_quoted",
    "without_blank_lines",
]


def after_line(data: bytes, n_lines: int) -> int:
    """Return the offset just after this many lines."""
    place = 0
    for _ in range(n_lines):
        place = data.find(b"\n", place) + 1
        if place == 0:
            return len(data)
    return place


def without_blank_lines(chunk: Chunk) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the lines that are not blank, and their numbers."""
    lines = chunk.data.split(b"\n")
    kept = [k for k, line in enumerate(lines) if line.strip(b" ")]
    return b"\n".join([lines[k] for k in kept]), np.array(kept, dtype=np.int64) + chunk.first_line


def record_lines(chunk: Chunk) -> npt.NDArray[np.int64]:
    """Return the line on which each row begins; cells may hold line ends."""
    ends = even_newlines(chunk.data)
    newlines = np.flatnonzero(np.frombuffer(chunk.data, dtype=np.uint8) == ord("\n"))
    return chunk.first_line + np.concatenate([[0], np.searchsorted(newlines, ends) + 1])


def well_quoted(data: bytes, separator: str) -> bool:
    r"""Whether quotation marks enclose whole cells only, and are all closed.

    Examples
    --------
    >>> [well_quoted(cells, ",") for cells in (b'"a ""b"" c",d', b'a"b"c,d', b'"a"b,c', b'"a,b')]
    [True, False, False, False]
    """
    if b'"' not in data:
        return True
    characters = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero(characters == ord('"'))
    if len(marks) % 2:
        return False
    edge = np.zeros(256, dtype=bool)
    edge[[ord(separator), ord("\n"), ord('"')]] = True
    opening, closing = marks[0::2], marks[1::2]
    before = edge[characters[opening - 1]] | (opening == 0)
    after = edge[characters[(closing + 1) % len(data)]] | (closing == len(data) - 1)
    return bool(before.all() and after.all())


def even_rows(data: bytes, separator: str, width: int, n_rows: int) -> bool:
    r"""Whether there are exactly ``n_rows`` rows, each with ``width`` cells.

    Examples
    --------
    >>> even_rows(b'a,b\n"c,d",e\n', ",", 2, 2), even_rows(b"a,b,c\nd\n", ",", 2, 2)
    (True, False)
    """
    characters = np.frombuffer(data, dtype=np.uint8)
    marks = characters == ord(separator)
    ends = characters == ord("\n")
    if b'"' in data:
        outside = np.bitwise_xor.accumulate((characters == ord('"')).view(np.uint8)) == 0
        marks &= outside
        ends &= outside
    places = np.flatnonzero(ends)
    if not data.endswith(b"\n"):
        places = np.append(places, len(data) - 1)
    if len(places) != n_rows:
        return False
    counted = np.cumsum(marks, dtype=np.int32)[places]
    return bool((np.diff(counted, prepend=np.int32(0)) == width - 1).all())


def leading_zeros(data: bytes, separator: str, size: int = 1 << 18) -> bool:
    r"""Whether any cell begins with a zero and another digit, and so must be read as text.

    Examples
    --------
    >>> leading_zeros(b"a,10,0\n", ","), leading_zeros(b"a,007,0\n", ",")
    (False, True)
    """
    characters = np.frombuffer(data, dtype=np.uint8)
    zero = np.uint8(ord("0"))
    if len(characters) > 1 and characters[0] == zero and 48 <= characters[1] <= 57:
        return True
    for first in range(0, len(characters), size):
        part = characters[first : first + size + 2]
        found = part[1:-1] == zero
        found &= (part[2:] - zero) < 10
        before = part[:-2]
        found &= (before < zero) | (before == ord(separator))
        if found.any():
            return True
    return False
