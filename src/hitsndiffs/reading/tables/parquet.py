"""Read Parquet a few columns at a time, so a file may be larger than memory."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.encoding.result import Place
from hitsndiffs.data.encoding.series import as_plain
from hitsndiffs.data.encoding.wide import check_item_names
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.source import ByteStream
from hitsndiffs.reading.quiet import without_panics
from hitsndiffs.reading.tables.file_table import Columns, FileTable
from hitsndiffs.reading.tables.trial import Trial

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SAMPLE", "ParquetTable", "decoding", "parquet_frame", "texts_of"]

#: How many cells are held as Polars columns at a time.
_CELLS = 4_000_000
SAMPLE = 1000


class ParquetTable(FileTable):
    """A Parquet file."""

    def __init__(self, stream: ByteStream, head: pl.DataFrame | None = None) -> None:
        import polars as pl

        super().__init__()
        self.place = Place(stream.name, "row", by_position=False)
        self._path = stream.path
        self._bytes = stream.read() if stream.path is None else b""
        self._check_magic(stream)
        self._trial = Trial(self._bytes if self._path is None else self._path)
        self._try([])
        with decoding(stream.name):
            self._raw_names = list(pl.read_parquet_schema(self._source()))
            rows = pl.scan_parquet(self._source()).select(pl.len()).collect()
        self.n_rows = int(rows.item())
        if head is None:
            head = self._read(self._raw_names, n_rows=SAMPLE)
        nested = [name for name in head.columns if head[name].dtype.is_nested()]
        if nested and len(nested) + 1 < len(head.columns):
            self.notes.append(f"Left out {listed(nested)}: its cells are lists or records.")
            self._raw_names = [name for name in self._raw_names if name not in nested]
            head = head.drop(nested)
        self.names = [name.strip() for name in self._raw_names]
        check_item_names(self.names, self.place)
        if self.n_rows == 0:
            raise InputError(
                f"{stream.name}: the file has {len(self.names)} columns and no rows; add one row "
                "per user (or per answer)."
            )
        self.sample = texts_of(head)

    def _check_magic(self, stream: ByteStream) -> None:
        start = self._bytes[:4] if self._path is None else stream.peek(4)
        if start != b"PAR1":
            raise InputError(
                f"{stream.name}: this is not a Parquet file (it does not begin with PAR1); "
                "name its format if it is one of csv, tsv and jsonl."
            )
        if self._end() != b"PAR1":
            raise damaged(stream.name, "it does not end with PAR1")

    def _end(self) -> bytes:
        if self._path is None:
            return self._bytes[-4:]
        with self._path.open("rb") as file:
            file.seek(-4, io.SEEK_END)
            return file.read()

    def _source(self) -> Any:
        return self._path if self._path is not None else io.BytesIO(self._bytes)

    def _read(self, names: Sequence[str], n_rows: int | None = None) -> pl.DataFrame:
        import polars as pl

        self._try(names, n_rows)
        with decoding(self.place.source):
            return pl.read_parquet(self._source(), columns=list(names), n_rows=n_rows)

    def _try(self, names: Sequence[str], n_rows: int | None = None) -> None:
        """Decode in another process first, as a damaged file may crash the one that decodes it."""
        refusal = self._trial.refusal(names, n_rows)
        if refusal is not None:
            raise damaged(self.place.source, refusal)

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
            coming = deque(reader.submit(self._read, [raw[n] for n in part]) for part in parts[:1])
            for names, following in zip(parts, [*parts[1:], []], strict=True):
                frame = coming.popleft().result()
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


def parquet_frame(stream: ByteStream, most: int | None = None) -> pl.DataFrame:
    """Return all rows of a Parquet file, or the first ``most``."""
    import polars as pl

    given = stream.path if stream.path is not None else stream.read()
    source: Any = io.BytesIO(given) if isinstance(given, bytes) else given
    refusal = Trial(given).refusal(None, most)
    if refusal is not None:
        raise damaged(stream.name, refusal)
    with decoding(stream.name):
        return pl.read_parquet(source, n_rows=most)


@contextmanager
def decoding(name: str) -> Iterator[None]:
    """Say in one sentence why a Parquet file cannot be decoded."""
    import polars as pl

    try:
        with without_panics():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(name, error) from None


def damaged(name: str, error: object) -> InputError:
    """Return the error for a Parquet file that cannot be read."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")[:200]
    return InputError(
        f"{name}: the Parquet file is damaged or cut short ({reason}); copy or write it again."
    )
