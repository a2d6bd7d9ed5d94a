"""All answers of a user in one text: ``ABDCA``, ``A B D C A``, ``["A", "B"]``, ``S07  ABDCA``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hitsndiffs.data.words import count, shortened
from hitsndiffs.reading.exports.common import as_text, literal
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["fixed_width", "with_answers_apart"]

#: So many rows are needed, and so many answers in each.
_FEWEST_ROWS, _FEWEST = 5, 5
#: Marks of answers, and of no answer.
_ANSWERS = frozenset("ABCDEFGHIJabcdefghijTtFfVvXxNn123456789")
_BLANKS = frozenset(" .*?-_#")
#: Strings of more different marks (or digits) are names or numbers.
_MOST_MARKS, _MOST_DIGITS = 9, 6
#: Lines of fixed width are at most so long, and have no separator of another kind of table.
_LONGEST = 2000
_SEPARATORS = frozenset(",;\t|\"'")

Way = Callable[[str], list[str] | None]


def _listed(text: str) -> list[str] | None:
    """Split ``["A", "B", null]``."""
    found = literal(text) if text[:1] in "[(" else None
    if not isinstance(found, (list, tuple)) or any(isinstance(x, (list, dict)) for x in found):
        return None
    return [as_text(one).strip() for one in found]


def _separated(text: str) -> list[str] | None:
    """Split ``A,B,,D``; answers are short."""
    between = set(re.findall(r"[\s,;|/]", text))
    parts = [part.strip() for part in text.split(next(iter(between), None))]
    return parts if len(between) == 1 and all(len(part) <= 2 for part in parts) else None


def _in_a_row(text: str) -> list[str] | None:
    """Split ``ABDCA``."""
    return list(text) if text and {*text} <= _ANSWERS | _BLANKS else None


def with_answers_apart(table: Table, users: Sequence[str]) -> Table | None:
    """Return the table with a column per answer, if one column holds all answers of each row.

    The columns that name the ``users``, or are named like something else, do not.
    """
    if len(table.names) > 50:
        return None
    places = [k for k, n in enumerate(table.names) if n not in users and role_of_name(n) is None]
    for way in (_listed, _separated, _in_a_row):
        fitting = [k for k in places if _length(table.cells_at(k), way)]
        if len(fitting) == 1:
            return _apart(table, fitting[0], way)
    return None


def _length(cells: Sequence[str], way: Way) -> int:
    """Return how many answers every cell holds; 0 if they do not all hold the same number."""
    texts = [cell.strip("\r\n") for cell in cells if cell.strip()]
    if len(texts) < max(_FEWEST_ROWS, 0.9 * len(cells)) or len(set(texts)) < 3:
        return 0
    found = [way(text) or [] for text in texts]
    length = len(found[0])
    if length < _FEWEST or any(len(parts) != length for parts in found):
        return 0
    if all(len(set(parts)) == length for parts in found):
        return 0  # several choices, none of them twice
    marks = {mark for parts in found for mark in parts} - {"", *_BLANKS}
    if way is _in_a_row and all(map(str.isdecimal, marks)):
        few = len(marks) <= _MOST_DIGITS and len(texts) >= 10 and length >= 8
        return length if few else 0  # else the number of a student
    return length if 1 < len(marks) <= _MOST_MARKS else 0


def _apart(table: Table, place: int, way: Way) -> Table:
    rows = table.rows()
    lines = [table.place.line_of(k) for k in range(len(rows))]
    own = [way(row[place].strip("\r\n")) or [] for row in rows]
    n, name = max(map(len, own)), table.names[place]
    header = [*table.names[:place], *[f"{name} {k + 1}" for k in range(n)]]
    header += table.names[place + 1 :]
    above = way(name)
    if not table.has_header or (above is not None and len(above) == n):  # it holds answers too
        if above is not None and table.has_header:
            rows, lines, own = [list(table.names), *rows], [1, *lines], [above, *own]
        name, header = f"column {place + 1}", [""] * len(header)
    apart = [
        [*row[:place], *parts, *[""] * (n - len(parts)), *row[place + 1 :]]
        for row, parts in zip(rows, own, strict=True)
    ]
    grid = Table.of_rows(header, apart, table.place.source, "line", lines=lines)
    grid.notes.append(f"Took each cell of {shortened(name, 40)!r} as {n} answers, one per item.")
    return grid


def fixed_width(text: str, name: str) -> Table | None:
    """Return the table of lines that hold an id and, in the same places, one mark per answer.

    Examples
    --------
    >>> lines = [f"S{k:02} {'ABBCA'[k:]}{'ABBCA'[:k]}" for k in range(5)]
    >>> found = fixed_width(chr(10).join(lines), "a.txt")
    >>> found.names, found.sample[1]
    (['id', 'item-1', 'item-2', 'item-3', 'item-4', 'item-5'], ['S01', 'B', 'B', 'C', 'A', 'A'])
    """
    if _SEPARATORS & set(text[:10_000]):
        return None
    numbered = [(k, line) for k, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = [line for _, line in numbered]
    width = max(map(len, lines), default=0)
    if len(lines) < _FEWEST_ROWS or width > _LONGEST:
        return None
    places = [{line[k : k + 1] or " " for line in lines} for k in range(width)]
    start = width  # the answers begin behind the last place that is blank in all lines
    while start and places[start - 1] <= _ANSWERS | _BLANKS and places[start - 1] != {" "}:
        start -= 1
    if not start or places[start - 1] != {" "} or width - start < _FEWEST:
        return None
    ids = [line[:start].strip() for line in lines]
    used = set().union(*places[start:]) - _BLANKS
    short = sum(len(line.rstrip()) < start + _FEWEST for line in lines)
    if not all(ids) or len({*ids}) < len(ids) or not 1 < len(used) <= 10 or short * 10 > len(lines):
        return None
    header = ["id", *(f"item-{k}" for k in range(1, width - start + 1))]
    rows = [
        [own, *("" if mark in _BLANKS else mark for mark in line[start:].ljust(width - start))]
        for own, line in zip(ids, lines, strict=True)
    ]
    table = Table.of_rows(header, rows, name, "line", lines=[k for k, _ in numbered])
    table.notes.append(
        f"Each line is an id and {count(width - start, 'answer')} of one character each."
    )
    return table
