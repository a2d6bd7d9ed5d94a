"""Tables of any origin: names, the first rows as text, and all rows in pieces."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from hitsndiffs.data.factor import text_of
from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.common import unique

__all__ = [
    "Columns",
    "Table",
    "as_texts",
    "column_names",
    "enough_rows",
    "joined_name",
    "nothing_below",
    "unique_names",
]

#: Columns of a piece of a table: lists of text if it is small, else Polars columns or factors.
Columns = dict[str, Any]
#: Yields pieces of a table, each with the number of its first row. It is given the columns wanted,
#: and those among them whose text is wanted unchanged.
Read = Callable[[Sequence[str], Sequence[str]], Iterator[tuple[int, Columns]]]

#: So many cells are looked at to see what the columns hold, and at least so many rows.
_CELLS, _ROWS = 100_000, 21


class Table:
    """A table in a file, a sheet, records or memory.

    A small table is held as ``rows`` of text. A larger one has the first ones, and ``read`` gives
    it in pieces: some rows, or some whole columns, at a time. ``place`` says how messages name the
    table and its rows, ``above`` holds the rows above the header, ``titles`` the wording of columns
    where the file tells it, and ``notes`` what was assumed.

    Examples
    --------
    >>> table = Table.of_rows(["user", "q1"], [["ann", "A"], ["bob", "B"]], "a.csv")
    >>> table.cells("q1"), list(table.blocks(columns=["user"]))
    (['A', 'B'], [(0, {'user': ['ann', 'bob']})])
    """

    def __init__(
        self,
        place: Place,
        names: Sequence[str],
        rows: Sequence[list[str]],
        read: Read | None = None,
        *,
        has_header: bool = True,
        above: Sequence[list[str]] = (),
        titles: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.place, self.names, self.has_header = place, list(names), has_header
        self.above, self.titles, self.notes = list(above), dict(titles or {}), list(notes)
        self.sample = list(rows[: enough_rows(len(self.names))])
        self._rows, self._read = rows, read

    @classmethod
    def of_rows(
        cls,
        header: Sequence[str],
        rows: Sequence[list[str]],
        name: str,
        unit: str = "row",
        *,
        above: Sequence[list[str]] = (),
        lines: Sequence[int] = (),
        notes: Sequence[str] = (),
    ) -> Table:
        """Return a table held as rows, whose numbers as users see them are ``lines``.

        Names may repeat in the ``header``; if it is blank, there is none.
        """
        said = list(notes)
        if not rows:
            raise nothing_below(header, name)
        names = column_names(_with_names_above(header, above), said)
        place = Place(name, unit, lambda row: lines[row] if row < len(lines) else row + 1, False)
        return cls(place, names, rows, has_header=any(header), above=above, notes=said)

    @property
    def is_small(self) -> bool:
        """Whether all rows come in one piece, as lists of text."""
        return self._read is None

    def cells(self, name: str) -> list[str]:
        """Return the cells of a column in the first rows."""
        return self.cells_at(self.names.index(name)) if name in self.names else []

    def cells_at(self, place: int) -> list[str]:
        """Return the cells of the column at a place, in the first rows."""
        return [row[place] for row in self.sample if place < len(row)]

    def blocks(
        self, labels: Sequence[str] = (), columns: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Columns]]:
        """Yield pieces of all or some columns, each with the number of its first row.

        The text of those in ``labels`` is unchanged.
        """
        wanted = self.names if columns is None else columns
        if self._read is not None:
            yield from self._read(wanted, labels)
            return
        places = {name: place for place, name in enumerate(self.names)}
        yield 0, {name: [row[places[name]] for row in self._rows] for name in wanted}

    def rows(self) -> list[list[str]]:
        """Return all rows as texts."""
        columns: dict[str, list[str]] = {name: [] for name in self.names}
        for _, piece in self.blocks(self.names):
            for name, cells in piece.items():
                columns[name] += as_texts(cells)
        return [list(row) for row in zip(*columns.values(), strict=True)]

    def without_rows(self, drop: Container[int]) -> Table:
        """Return a small table without some rows; messages number the others as before."""
        kept = [row for row in range(len(self._rows)) if row not in drop]
        made = copy(self)
        made._rows = [self._rows[row] for row in kept]
        made.sample = list(made._rows[: enough_rows(len(self.names))])
        line_of = self.place.line_of
        made.place = replace(
            self.place, line_of=lambda row: line_of(kept[row] if row < len(kept) else row)
        )
        made.notes = list(self.notes)
        return made

    def with_joined(self, parts: Sequence[str]) -> Table:
        """Return the table with one more column: the cells of some columns, with ``/`` between.

        Items that are numbered anew in every test are told apart by it.
        """
        name, places = joined_name(parts), [self.names.index(name) for name in parts]

        def with_cell(row: list[str]) -> list[str]:
            return [*row, _joined([row[k] for k in places])]

        def read(wanted: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[int, Columns]]:
            own = [n for n in self.names if n in wanted or n in parts]
            kept = [n for n in own if n in labels or n in parts]
            for first, piece in self.blocks(kept, own):
                rows = zip(*(as_texts(piece[n]) for n in parts), strict=True)
                cells = _as_column([_joined(row) for row in rows])
                yield first, {n: piece[n] for n in wanted if n in piece} | {name: cells}

        made = copy(self)
        made.names = [*self.names, name]
        made.sample = [with_cell(row) for row in self.sample if len(row) == len(self.names)]
        if self._read is None:
            made._rows = [with_cell(row) for row in self._rows]
        else:
            made._read = read
        return made


def enough_rows(width: int) -> int:
    """Return how many rows are looked at to see what the columns hold."""
    return max(_ROWS, _CELLS // max(1, width))


def nothing_below(header: Sequence[str], name: str) -> InputError:
    """Return the error for a table without rows."""
    cells = [cell.strip() for cell in header if cell.strip()]
    if len(cells) == 1:
        return InputError(
            f"{name}: the file holds nothing but {shortened(cells[0])!r}; it should hold a table "
            "of answers."
        )
    return InputError(
        f"{name}: there is a header and nothing below it; add one row per user (or per answer)."
    )


def as_texts(piece: Any) -> list[str]:
    """Return a column of a piece as texts; blank where there is none."""
    if isinstance(piece, list):
        return piece
    return ["" if text is None else text for text in text_of(piece).to_list()]


def _as_column(names: list[str]) -> Any:
    """Return texts as a column of one of several pieces."""
    import polars as pl

    return pl.Series(names, dtype=pl.String)


def joined_name(parts: Sequence[str]) -> str:
    """Return the name of a column that is joined from others.

    Examples
    --------
    >>> joined_name(["task", "doc_id"])
    'task + doc_id'
    """
    return " + ".join(parts)


def _joined(cells: Sequence[str]) -> str:
    """Return the cells as one name; nothing if one of them is blank."""
    stripped = [cell.strip() for cell in cells]
    return "/".join(stripped) if all(stripped) else ""


def column_names(header: Sequence[str], notes: list[str]) -> list[str]:
    """Return the names of the columns: those of the header, or numbers where it is blank."""
    if any(header):
        return unique_names(header, notes)
    notes.append("There is no header: the first row holds answers.")
    return [f"column-{k}" for k in range(1, len(header) + 1)]


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return unique names: the second ``A`` becomes ``A (2)``, and a note says so.

    Examples
    --------
    >>> unique_names(["A", "A", "", "A (2)"], [])
    ['A', 'A (3)', 'column-3', 'A (2)']
    """
    taken = {name for name in names if name}
    named = []
    for place, name in enumerate(names, start=1):
        if not name:
            name = f"column-{place}"
            while name in taken:
                name += "'"
        named.append(name)
    found = unique(named)
    repeated = list(dict.fromkeys(a for a, b in zip(named, found, strict=True) if a != b))
    if repeated:
        notes.append(
            f"Several columns are called {listed(repeated, most=3)}; they are told apart as "
            f"'{repeated[0]}', '{repeated[0]} (2)', …."
        )
    return found


def _with_names_above(header: Sequence[str], above: Sequence[list[str]]) -> Sequence[str]:
    """Fill blank column names from a header row further up (tables with users in columns)."""
    blanks = [k for k, name in enumerate(header) if not name]
    for row in reversed(above) if blanks and any(header) else ():
        names = [cell.strip() for cell in row]
        if sum(map(bool, names)) >= 2 and all(names[k] for k in blanks if k < min(len(names), 20)):
            return [
                names[k] if not name and k < len(names) else name for k, name in enumerate(header)
            ]
    return header
