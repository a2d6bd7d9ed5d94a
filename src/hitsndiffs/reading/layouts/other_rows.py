"""Rows that are no answers of a person, told by their cells: second headers, unfinished attempts.

What their cells are differs from what all other rows have in the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from hitsndiffs.data.words import count
from hitsndiffs.reading.fold import is_blank_word
from hitsndiffs.reading.layouts.columns import Profile
from hitsndiffs.reading.layouts.content import ColumnContent, look_at
from hitsndiffs.reading.layouts.extra_rows import TOP
from hitsndiffs.reading.tables.table import Table

__all__ = ["without_other_rows"]

#: With fewer rows below, their cells do not tell what a column holds.
FEW = 5
#: So many rows tell what a column holds.
ENOUGH = 200
#: Wider tables are looked at in so many columns.
WIDEST = 1000
#: Unfinished attempts are at most this share of the rows.
SOME = 0.25
#: Kinds of cells that a text does not fit.
_PLAIN_KINDS = ("time", "mail", "link", "score", "measure", "counter")


def without_other_rows(table: Table) -> Table:
    """Return the table without second headers and without attempts that were not handed in."""
    if not table.is_small or not table.has_header or len(table.sample) < FEW:
        return table
    drop: dict[int, str] = {}
    headers = _second_headers(table.sample[:ENOUGH], len(table.names))
    drop |= dict.fromkeys(headers, "of a second header")
    if not headers:
        drop |= dict.fromkeys(_unfinished(table), "without an end and without points: not finished")
    if not drop:
        return table
    kept = table.without_rows(drop)
    for why in dict.fromkeys(drop.values()):
        rows = [row for row, own in drop.items() if own == why]
        kept.notes.append(f"Left out {count(len(rows), 'row')} {why} ({table.place.rows(rows)}).")
    return kept


def _second_headers(rows: Sequence[list[str]], width: int) -> list[int]:
    """Return which of the first rows hold names, ids or texts of the columns.

    No cell of them recurs below, and words stand where all other rows have times or numbers.
    """
    top = min(TOP, len(rows) - FEW)
    columns = [[row[k].strip() for row in rows if k < len(row)] for k in range(min(width, WIDEST))]
    columns = [cells for cells in columns if len(cells) == len(rows)]
    contents = [look_at(cells[TOP:]) for cells in columns]
    found = []
    for row in range(top):
        cells = [(cells[row], own) for cells, own in zip(columns, contents, strict=True)]
        filled = [(cell, own) for cell, own in cells if cell and own.n_filled]
        strange = sum(_is_strange(cell, own) for cell, own in filled)
        again = sum(cell in own.counts for cell, own in filled)
        if strange < 2 or again * 10 > len(filled) or len(filled) * 2 < len(columns):
            break
        found.append(row)
    return found


def _is_strange(cell: str, below: ColumnContent) -> bool:
    """Whether a cell is a text where all others are numbers, times or addresses."""
    if is_blank_word(cell):
        return False
    plain = below.kind in _PLAIN_KINDS or below.is_number
    return (
        plain
        and look_at([cell]).kind in ("choice", "text", "different", "record")
        and not (ColumnContent(1, 1, look_at([cell]).counts, "choice").is_number)
    )


def _unfinished(table: Table) -> list[int]:
    """Return the rows that have neither a time nor points where nearly all others have both."""
    profiles = [
        Profile(name, k, [row[k] if k < len(row) else "" for row in table.sample], has_name=True)
        for k, name in enumerate(table.names[:WIDEST])
    ]
    if not any(own.said == "points" for own in profiles):
        return []
    n = len(table.sample)
    blank: dict[str, list[set[int]]] = {"time": [], "points": []}
    for own in profiles:
        role = own.said if own.said in blank else "time" if own.kind == "time" else None
        if role is None:
            continue
        rows = {k for k, cell in enumerate(own.cells) if not cell or is_blank_word(cell)}
        if len(rows) <= SOME * n:
            blank[role].append(rows)
    if not blank["points"] or not blank["time"]:
        return []
    pointless = set.intersection(*blank["points"])
    return sorted(row for row in pointless if any(row in rows for rows in blank["time"]))
