"""Tables held as rows of text: spreadsheets, and texts with rows above the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hitsndiffs.data.labels import Place
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.sheet import Table
from hitsndiffs.reading.tables.file_table import Columns, FileTable, unique_names

__all__ = ["GridTable"]


class GridTable(FileTable):
    """A small table; its rows are called ``"line"`` or ``"row"`` (``unit``)."""

    def __init__(self, table: Table, name: str, unit: str) -> None:
        super().__init__()
        self.is_small = True
        self.has_header = any(table.header)
        self.above = table.above
        self._lines = table.lines
        self.place = Place(name, unit, self._line_of, by_position=False)
        header = _with_names_above(table) if self.has_header else table.header
        width = len(header)
        if not table.rows:
            raise InputError(
                f"{name}: there is a header and nothing below it; add one row per user "
                "(or per answer)."
            )
        if self.has_header:
            self.names = unique_names(header, self.notes)
        else:
            self.names = [f"column-{k}" for k in range(1, width + 1)]
            self.notes.append("There is no header: the first row holds answers.")
        self.sample = table.rows
        self.n_rows = len(table.rows)

    def _line_of(self, row: int) -> int:
        return self._lines[row] if row < len(self._lines) else row + 1

    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Columns]]:
        """Yield all columns at once."""
        del labels, scanned
        places = {name: place for place, name in enumerate(self.names)}
        wanted = self.names if columns is None else columns
        yield 0, {name: [row[places[name]] for row in self.sample] for name in wanted}

    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists."""
        for row in self.sample:
            yield list(row)


def _with_names_above(table: Table) -> list[str]:
    """Fill blank column names from a header row further up (tables with users in columns)."""
    header = list(table.header)
    blanks = [k for k, name in enumerate(header) if not name]
    if not blanks:
        return header
    for above in reversed(table.above):
        names = [cell.strip() for cell in above]
        if sum(1 for name in names if name) >= 2 and all(
            k < len(names) and names[k] for k in blanks if k < len(names) and k < 20
        ):
            return [
                names[k] if not name and k < len(names) else name for k, name in enumerate(header)
            ]
    return header
