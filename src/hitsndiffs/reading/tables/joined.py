"""A table with one more column, joined from others: items numbered anew in every test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hitsndiffs.reading.tables.file_table import FileTable, as_texts

__all__ = ["JoinedTable", "joined_name"]


def joined_name(parts: Sequence[str]) -> str:
    """Return the name of a column that is joined from others.

    Examples
    --------
    >>> joined_name(["task", "doc_id"])
    'task + doc_id'
    """
    return " + ".join(parts)


class JoinedTable(FileTable):
    """A table and one more column: the cells of some columns of a row, with ``/`` between them."""

    def __init__(self, table: FileTable, parts: Sequence[str]) -> None:
        super().__init__()
        self.has_header, self.is_small = table.has_header, table.is_small
        self.notes, self.place, self.n_rows = table.notes, table.place, table.n_rows
        self.names = [*table.names, joined_name(parts)]
        places = [table.names.index(name) for name in parts]
        self.sample = [
            [*row, _joined([row[k] for k in places])]
            for row in table.sample
            if len(row) == len(table.names)
        ]
        self._table, self._parts, self._places = table, list(parts), places

    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield pieces of the table, each with the number of its first row."""
        del scanned
        wanted = self.names if columns is None else columns
        own = [n for n in self._table.names if n in wanted or n in self._parts]
        kept = [*(n for n in labels if n in own), *(n for n in self._parts if n not in labels)]
        for first, pieces in self._table.blocks(kept, own):
            parts = [as_texts(pieces[name]) for name in self._parts]
            cells = {name: pieces[name] for name in wanted if name in pieces}
            names = [_joined(row) for row in zip(*parts, strict=True)]
            cells[self.names[-1]] = names if self.is_small else _series(names)
            yield first, cells

    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists."""
        for row in self._table.records():
            yield [*row, _joined([str(row[k]) for k in self._places])]


def _series(names: list[str]) -> Any:
    """Return a column of one of several pieces."""
    import polars as pl

    return pl.Series(names, dtype=pl.String)


def _joined(cells: Sequence[str]) -> str:
    """Return the cells as one name; nothing if one of them is blank."""
    stripped = [cell.strip() for cell in cells]
    return "/".join(stripped) if all(stripped) else ""
