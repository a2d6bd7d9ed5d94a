"""Read Parquet a few columns at a time, so a file may be larger than memory.

A damaged file can make a decoder crash its process. The page reads in a process that may die;
elsewhere the caller's own process decodes: trying every file in another one first would cost a
second decoding and 0.4 s (measured in version 0.2, which did so).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.files.source import ByteStream
from hitsndiffs.reading.quiet import without_panics
from hitsndiffs.reading.tables.frames import SAMPLE, FrameTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ParquetTable", "decoding", "parquet_frame"]

#: Bytes that a cell takes on the way to codes (a byte for its code, and its share of a column).
_CELL = 2


class ParquetTable(FrameTable):
    """A Parquet file; ``head`` are its first rows, if they are known."""

    def __init__(self, stream: ByteStream, head: pl.DataFrame | None = None) -> None:
        import polars as pl

        given = _checked(stream)
        name = stream.name

        def read(columns: list[str] | None, n_rows: int | None = None) -> pl.DataFrame:
            with decoding(name):
                return pl.read_parquet(_source(given), columns=columns, n_rows=n_rows)

        with decoding(name):
            n_rows = int(pl.scan_parquet(_source(given)).select(pl.len()).collect().item())
        head = read(None, SAMPLE) if head is None else head
        if n_rows * len(head.columns) * _CELL > stream.sizes.memory:
            raise too_large(name, stream.sizes.memory)
        super().__init__(name, head, n_rows, read)


def parquet_frame(stream: ByteStream, most: int | None = None) -> pl.DataFrame:
    """Return all rows of a Parquet file, or the first ``most``."""
    import polars as pl

    given = _checked(stream)
    with decoding(stream.name):
        return pl.read_parquet(_source(given), n_rows=most)


def _checked(stream: ByteStream) -> Any:
    """Return the path or the bytes of a file that begins and ends as Parquet does."""
    if stream.path is None:
        data = stream.read_within()
        start, end = data[:4], data[-4:]
    elif isinstance(stream.path, list):  # files that have been looked at
        return stream.path
    else:
        with stream.path.open("rb") as file:
            start = file.read(4)
            file.seek(-4, io.SEEK_END)
            end = file.read()
    if start != b"PAR1":
        raise InputError(
            f"{stream.name}: this is not a Parquet file (it does not begin with PAR1); "
            "name its format if it is one of csv, tsv and jsonl."
        )
    if end != b"PAR1":
        raise damaged(stream.name, "it does not end with PAR1")
    return data if stream.path is None else stream.path


def _source(given: Any) -> Any:
    return io.BytesIO(given) if isinstance(given, bytes) else given


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
