"""Tables that Polars holds or reads column by column: Parquet, files of statistics programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.encode import check_item_names
from hitsndiffs.data.factor import as_plain
from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.tables.file_table import Columns, FileTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SAMPLE", "FrameTable", "texts_of"]

#: How many cells are held as Polars columns at a time.
_CELLS = 4_000_000
#: Rows that are looked at to see what the columns hold.
SAMPLE = 1000


class FrameTable(FileTable):
    """A frame in memory, or in a file that is read a few columns at a time.

    Parameters
    ----------
    name
        The name of the file.
    head
        The first rows.
    n_rows
        How many rows there are in all.
    read
        Returns all rows of some columns.

    Examples
    --------
    >>> import polars as pl
    >>> FrameTable.of(pl.DataFrame({"user": ["a"], "q1": [3]}), "a.sav").sample
    [['a', '3']]
    """

    def __init__(
        self,
        name: str,
        head: pl.DataFrame,
        n_rows: int,
        read: Callable[[list[str]], pl.DataFrame],
    ) -> None:
        super().__init__()
        self.place = Place(name, "row", by_position=False)
        nested = [column for column in head.columns if head[column].dtype.is_nested()]
        if nested and len(nested) + 1 < len(head.columns):
            self.notes.append(f"Left out {listed(nested)}: its cells are lists or records.")
            head = head.drop(nested)
        self._read = read
        self._raw_names = list(head.columns)
        self.names = [column.strip() for column in head.columns]
        check_item_names(self.names, self.place)
        if n_rows == 0:
            raise InputError(
                f"{name}: the file has {len(self.names)} columns and no rows; add one row "
                "per user (or per answer)."
            )
        self.n_rows = n_rows
        self.sample = texts_of(head)

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str) -> FrameTable:
        """Return the table of a frame in memory."""
        return cls(name, frame.head(SAMPLE), frame.height, frame.select)

    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Columns]]:
        """Yield whole columns, as many at a time as fit; each piece begins at row 0."""
        del labels, scanned
        wanted = list(self.names if columns is None else columns)
        raw = dict(zip(self.names, self._raw_names, strict=True))
        step = max(1, _CELLS // max(self.n_rows or 0, 1))
        parts = [wanted[first : first + step] for first in range(0, len(wanted), step)]
        with ThreadPoolExecutor(1, thread_name_prefix="hitsndiffs") as reader:
            # The next columns are read while these are coded.
            coming = [reader.submit(self._read, [raw[n] for n in part]) for part in parts[:1]]
            for names, following in zip(parts, [*parts[1:], []], strict=True):
                frame = coming.pop().result()
                if following:
                    coming.append(reader.submit(self._read, [raw[name] for name in following]))
                yield 0, {name: frame[raw[name]] for name in names}

    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists."""
        for row in self._read(self._raw_names).iter_rows():
            yield list(row)


def texts_of(frame: pl.DataFrame) -> list[list[str]]:
    """Return rows of text; cells that hold lists or records are blank."""
    columns = [
        [None] * frame.height if column.dtype.is_nested() else as_plain(column).to_list()
        for column in frame.iter_columns()
    ]
    return [
        ["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)
    ]
