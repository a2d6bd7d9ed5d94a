"""What the decoder of .xls does not tell: cells with a formula without a value, and with an error.

An .xls is a small file system (OLE) with one stream of records: a kind, a length, the content. Both
come from Microsoft's own description ([MS-CFB], [MS-XLS]).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from itertools import islice

__all__ = ["cells_without_value"]

_FORMULA, _BOOLEAN_OR_ERROR, _BEGIN, _SHEET, _LOCKED = 0x0006, 0x0205, 0x0809, 0x0085, 0x002F
#: Sectors with these numbers and above end a chain.
_END = 0xFFFFFFF0
_ENTRY = 128
#: Shorter streams are kept in a stream of small sectors.
_SMALL, _SMALL_SECTOR = 4096, 64
#: The result of a formula that is no number: what it is instead.
_NO_NUMBER, _ERROR, _EMPTY = b"\xff\xff", 2, 3


def cells_without_value(data: bytes) -> dict[str, tuple[int, int]]:
    """Return for each sheet how many formulas have no value, and how many cells hold an error.

    A workbook that cannot be followed (it is damaged, or locked) has no entries.
    """
    found: dict[str, Counter[str]] = {}
    try:
        names: dict[int, str] = {}
        sheet = ""
        for place, kind, content in _records(_workbook(data)):
            if kind == _LOCKED:
                return {}
            if kind == _SHEET:
                name = content[8 : 8 + content[6] * (1 + (content[7] & 1))]
                text = name.decode("utf-16-le" if content[7] & 1 else "latin-1")
                names[struct.unpack_from("<I", content)[0]] = text
            elif kind == _BEGIN and place in names:
                sheet = names[place]
            elif kind == _BOOLEAN_OR_ERROR and content[7]:
                found.setdefault(sheet, Counter())["error"] += 1
            elif kind == _FORMULA and content[12:14] == _NO_NUMBER:
                what = {_ERROR: "error", _EMPTY: "empty"}.get(content[6], "")
                found.setdefault(sheet, Counter())[what] += 1
    except (struct.error, IndexError, ValueError):
        return {}
    return {name: (counts["empty"], counts["error"]) for name, counts in found.items()}


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the place, kind and content of every record."""
    place = 0
    while place + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, place)
        yield place, kind, stream[place + 4 : place + 4 + length]
        place += 4 + length


def _workbook(data: bytes) -> bytes:
    """Return the stream of the workbook."""
    size = 1 << struct.unpack_from("<H", data, 30)[0]

    def sector(number: int) -> bytes:
        return data[(number + 1) * size : (number + 2) * size]

    def numbers(piece: bytes) -> list[int]:
        return list(struct.unpack(f"<{len(piece) // 4}I", piece))

    def chain(first: int, following: list[int]) -> list[int]:
        found: list[int] = []
        while first < _END and len(found) <= len(following):
            found.append(first)
            first = following[first]
        return found

    tables = numbers(data[76:512])
    more, n_more = struct.unpack_from("<II", data, 68)
    for _ in range(min(n_more, len(data) // size)):
        *own, more = numbers(sector(more))
        tables += own
    most = len(data) // size + 1
    there = (table for table in tables[:most] if table < _END)
    following = list(islice((n for table in there for n in numbers(sector(table))), most))

    def content(first: int) -> bytes:
        return b"".join(map(sector, chain(first, following)))

    directory = content(struct.unpack_from("<I", data, 48)[0])
    streams: dict[str, tuple[int, int]] = {}
    for place in range(0, len(directory), _ENTRY):
        entry = directory[place : place + _ENTRY]
        name = entry[: max(struct.unpack_from("<H", entry, 64)[0] - 2, 0)].decode("utf-16-le")
        streams[name] = struct.unpack_from("<II", entry, 116)
    first, length = streams.get("Workbook", streams.get("Book", (_END, 0)))
    if length >= _SMALL:
        return content(first)[:length]
    small = content(streams["Root Entry"][0]) if "Root Entry" in streams else b""
    next_small = numbers(content(struct.unpack_from("<I", data, 60)[0]))
    pieces = (small[n * _SMALL_SECTOR : (n + 1) * _SMALL_SECTOR] for n in chain(first, next_small))
    return b"".join(pieces)[:length]
