"""Tables with all answers of a user in one cell: ``ABDCA``, ``A B D C A`` or ``["A", "B"]``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hitsndiffs.data.words import shortened
from hitsndiffs.reading.exports.common import as_text, literal
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["with_answers_apart"]

#: So many rows are needed, and so many answers in each.
_FEWEST_ROWS, _FEWEST = 5, 5
#: Marks in a string of answers; a blank, a point or a star is no answer.
_MARKS = re.compile(r"[A-Ja-jTtFfVvXxNn1-9 .*?#_-]+")
_BETWEEN = re.compile(r"[\s,;|/]")
#: Strings of more different marks are names or numbers.
_MOST_MARKS, _MOST_DIGITS = 9, 6
_BLANKS = " .*?#_-"


def _listed(text: str) -> list[str] | None:
    """Split ``["A", "B", null]``."""
    found = literal(text) if text[:1] in "[(" else None
    if not isinstance(found, (list, tuple)) or any(isinstance(x, (list, dict)) for x in found):
        return None
    return [as_text(one).strip() for one in found]


def _separated(text: str) -> list[str] | None:
    """Split ``A,B,,D``; answers are short."""
    between = set(_BETWEEN.findall(text))
    if len(between) != 1:
        return None
    parts = [part.strip() for part in text.split(next(iter(between)))]
    return parts if all(len(part) <= 2 for part in parts) else None


def _in_a_row(text: str) -> list[str] | None:
    """Split ``ABDCA``."""
    return list(text) if _MARKS.fullmatch(text) else None


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


def _length(cells: Sequence[str], way: Callable[[str], list[str] | None]) -> int:
    """Return how many answers every cell holds; 0 if they do not all hold the same number."""
    texts = [cell.strip("\r\n") for cell in cells if cell.strip()]
    if len(texts) < max(_FEWEST_ROWS, 0.9 * len(cells)) or len(set(texts)) < 3:
        return 0
    found = [way(text) for text in texts]
    lengths = {0 if parts is None else len(parts) for parts in found}
    if len(lengths) > 1 or max(lengths) < _FEWEST:
        return 0
    if all(len(set(parts)) == len(parts) for parts in found if parts):
        return 0  # several choices, none of them twice
    marks = {mark for parts in found if parts for mark in parts} - {"", *_BLANKS}
    if way is _in_a_row and all(mark.isdecimal() for mark in marks):
        few = len(marks) <= _MOST_DIGITS and len(texts) >= 10 and max(lengths) >= 8
        return max(lengths) if few else 0  # else the number of a student
    return max(lengths) if 1 < len(marks) <= _MOST_MARKS else 0


def _apart(table: Table, place: int, way: Callable[[str], list[str] | None]) -> Table:
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
