"""Tables that Polars holds or reads column by column: frames in memory, Parquet files.

Parquet is read a few columns at a time, so a file may be larger than memory. A damaged file can
make the decoder end its process, so that another one tries it first
(:mod:`hitsndiffs.reading.decoder`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.decoder import CELLS, Died, try_parquet
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.files.source import ByteStream
from hitsndiffs.reading.quiet import without_panics
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.table import Columns, Table, as_texts, enough_rows, unique_names

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "decoding", "fits_in_rows", "frame_table", "parquet_frame", "parquet_table", "texts_of",
]  # fmt: skip

#: Rows of a Parquet file that are looked at to see what the columns hold.
SAMPLE = 1000
#: Bytes that a cell takes on the way to codes (a byte for its code, and its share of a column).
_CELL = 2
#: Bytes that a cell that is no text has, with a separator, in a file of text.
_NUMBER = 2


def frame_table(
    frame: pl.DataFrame,
    name: str,
    *,
    names: Sequence[str] | None = None,
    n_rows: int | None = None,
    read: Callable[[list[str]], pl.DataFrame] | None = None,
    titles: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    sizes: Sizes = DEFAULT,
) -> Table:
    """Return the table of a frame in memory, or in a file that is read a few columns at a time.

    Parameters
    ----------
    frame
        The frame; in a file, its first rows.
    name
        The name of the file.
    names
        The names of the columns, if they are not those of the frame.
    n_rows, read
        How many rows the file has, and what returns all rows of some columns.
    titles, notes
        The wording of columns, by name, and what was assumed.
    sizes
        Which tables are small.

    Examples
    --------
    >>> import polars as pl
    >>> frame_table(pl.DataFrame({"user": ["a"], "q1": [3]}), "a.sav").sample
    [['a', '3']]
    """
    n_rows = frame.height if n_rows is None else n_rows
    read = read or frame.select
    said = list(notes)
    named = dict(zip(frame.columns, names or frame.columns, strict=True))
    nested = [column for column in frame.columns if frame[column].dtype.is_nested()]
    if nested and len(nested) + 1 >= len(frame.columns):
        raise InputError(
            f"{name}: column {named[nested[0]]!r} holds lists or records instead of single values; "
            "write one answer per cell."
        )
    if nested:
        gone = [named.pop(column) for column in nested]
        said.append(f"Left out {listed(gone)}: its cells are lists or records.")
    raw = list(named)
    frame = frame.select(raw)
    names = unique_names([column.strip() for column in named.values()], said)
    if n_rows == 0:
        raise InputError(
            f"{name}: the file has {len(names)} columns and no rows; add one row per user (or per "
            "answer)."
        )
    place = Place(name, "row", by_position=False)
    if fits_in_rows(frame, sizes, n_rows):
        whole = frame if frame.height == n_rows else read(raw)
        return Table(place, names, texts_of(whole), titles=titles, notes=said)
    raw_of = dict(zip(names, raw, strict=True))
    step = max(1, CELLS // n_rows)

    def columns(wanted: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        del labels
        parts = [wanted[first : first + step] for first in range(0, len(wanted), step)]
        with ThreadPoolExecutor(1, thread_name_prefix="hitsndiffs") as reader:
            # The next columns are read while these are coded.
            coming = [reader.submit(read, [raw_of[n] for n in part]) for part in parts[:1]]
            for own, following in zip(parts, [*parts[1:], []], strict=True):
                found = coming.pop().result()
                if following:
                    coming.append(reader.submit(read, [raw_of[n] for n in following]))
                yield 0, {n: found[raw_of[n]] for n in own}

    head = texts_of(frame.head(min(SAMPLE, enough_rows(len(names)))))
    return Table(place, names, head, columns, titles=titles, notes=said)


def fits_in_rows(frame: pl.DataFrame, sizes: Sizes, n_rows: int | None = None) -> bool:
    """Whether a table, or one that begins so, is so small that it is held as rows of text."""
    import polars.selectors as cs

    texts = frame.select(cs.string())
    size = texts.estimated_size() + _NUMBER * frame.height * (frame.width - texts.width)
    return size * (1 if n_rows is None else n_rows / max(frame.height, 1)) < sizes.small


def texts_of(frame: pl.DataFrame) -> list[list[str]]:
    """Return rows of text; cells that hold lists or records are blank."""
    columns = [
        [""] * frame.height if column.dtype.is_nested() else as_texts(column)
        for column in frame.iter_columns()
    ]
    return [list(row) for row in zip(*columns, strict=True)]


# -- Parquet ----------------------------------------------------------------------------------


def parquet_table(stream: ByteStream, head: pl.DataFrame | None = None) -> Table:
    """Open a Parquet file; ``head`` are its first rows, if they are known."""
    import polars as pl

    given, name = _tried(stream), stream.name

    def read(columns: list[str] | None, n_rows: int | None = None) -> pl.DataFrame:
        with decoding(name):
            return pl.read_parquet(_source(given), columns=columns, n_rows=n_rows)

    with decoding(name):
        n_rows = int(pl.scan_parquet(_source(given)).select(pl.len()).collect().item())
    head = read(None, SAMPLE) if head is None else head
    if n_rows * len(head.columns) * _CELL > stream.sizes.memory:
        raise too_large(name, stream.sizes.memory)
    return frame_table(head, name, n_rows=n_rows, read=read, sizes=stream.sizes)


def parquet_frame(stream: ByteStream, most: int | None = None) -> pl.DataFrame:
    """Return all rows of a Parquet file, or the first ``most``."""
    import polars as pl

    given = _tried(stream)
    with decoding(stream.name):
        return pl.read_parquet(_source(given), n_rows=most)


def _tried(stream: ByteStream) -> Any:
    """Return the path or the bytes of a Parquet file that another process could decode."""
    given = _checked(stream)
    data = given if isinstance(given, bytes) else [str(path) for path in _listed(given)]
    known = hash(data) if isinstance(data, bytes) else tuple(map(_state, data))
    if known not in _sound:
        try:
            try_parquet(data, stream.sizes.memory, stream.sizes.held)
        except Died as died:
            raise damaged(stream.name, died) from None
        _sound[known] = None
        if len(_sound) > _MOST_KNOWN:
            del _sound[next(iter(_sound))]
    return given


#: Files that were tried, and how many of them are remembered.
_sound: dict[Hashable, None] = {}
_MOST_KNOWN = 20_000


def _state(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


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
