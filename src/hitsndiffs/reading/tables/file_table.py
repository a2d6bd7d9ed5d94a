"""What every table in a file offers: names, the first rows as text, and all rows in pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hitsndiffs.data.factor import text_of
from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.common import unique

__all__ = ["Columns", "FileTable", "as_texts", "unique_names"]

#: Columns of a piece of a file: Polars columns, or lists of text if the file is small.
Columns = dict[str, Any]


class FileTable(ABC):
    """A table in a file."""

    names: list[str]
    #: The first rows, as text.
    sample: list[list[str]]
    #: How messages name the rows.
    place: Place
    has_header: bool = True
    #: The wording of columns, by name, where the file tells it.
    titles: Mapping[str, str] = MappingProxyType({})
    #: None if the number of rows is not known in advance.
    n_rows: int | None = None
    #: Whether all rows come in one piece, as lists of text.
    is_small: bool = False

    def __init__(self) -> None:
        self.notes: list[str] = []

    def cells(self, name: str) -> list[str]:
        """Return the cells of a column in the first rows."""
        return self.cells_at(self.names.index(name)) if name in self.names else []

    def cells_at(self, place: int) -> list[str]:
        """Return the cells of the column at a place, in the first rows."""
        return [row[place] for row in self.sample if place < len(row)]

    @abstractmethod
    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield pieces of the table, each with the number of its first row.

        Parameters
        ----------
        labels
            Columns whose text is wanted unchanged.
        columns
            The columns wanted; all of them if not given.
        scanned
            Whether pieces may be :class:`hitsndiffs.reading.tables.tokens.Scanned` instead of
            :data:`Columns`, with the column in ``labels`` as the user.
        """

    @abstractmethod
    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists."""


def as_texts(piece: Any) -> list[str]:
    """Return a column of a piece as texts; blank where there is none."""
    return piece if isinstance(piece, list) else text_of(piece).fill_null("").to_list()


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
