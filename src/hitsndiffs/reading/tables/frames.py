"""Tables that Polars holds or reads column by column: frames in memory, Parquet files.

Parquet is read a few columns at a time, so a file may be larger than memory. A damaged file can
make the decoder end its process, so that another one tries it first
(:mod:`hitsndiffs.data.processes`).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.labels import Place
from hitsndiffs.data.pool import available_cores
from hitsndiffs.data.processes import Died, decoder
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.table import Columns, Table, as_texts, enough_rows, unique_names

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Parquet",
    "decoding",
    "fits_in_rows",
    "frame_table",
    "no_parquet",
    "text_of_value",
    "texts_of",
]

#: Rows of a Parquet file that are looked at to see what the columns hold.
SAMPLE = 1000
#: How many cells of a Parquet file are decoded at a time.
CELLS = 4_000_000
#: Bytes that the threads of Polars reserve, all and each: it is not the file that takes them.
SPARE, SPARE_PER_CORE = 256 << 20, 32 << 20
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


def text_of_value(value: Any) -> str:
    """Return a value as a file would hold it, whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# -- Parquet ----------------------------------------------------------------------------------


class Parquet:
    """A Parquet file, or several with the same columns, tried before it is decoded here.

    Parquet is decoded ten times as fast as its texts can be sent from one process to another
    (100,000 × 50: 0.03 and 0.36 s), so that another process only tries it.

    Parameters
    ----------
    source
        The bytes, a path, or paths of files that have been tried.
    name
        How messages call it.
    """

    def __init__(self, source: bytes | Path | list[Path], name: str, sizes: Sizes) -> None:
        self._source, self._name, self._sizes = source, name, sizes
        if isinstance(source, list):
            return
        if isinstance(source, bytes):
            start, end = source[:4], source[-4:]
        else:
            with source.open("rb") as file:
                start = file.read(4)
                file.seek(-4, io.SEEK_END)
                end = file.read()
        if start != b"PAR1":
            raise no_parquet(name)
        if end != b"PAR1":
            raise damaged(name, "it does not end with PAR1")
        room = sizes.memory + SPARE + SPARE_PER_CORE * available_cores()
        try:
            decoder.call(try_parquet, source, sizes.held, room=room)
        except Died:
            raise damaged(name, Died(sizes.memory)) from None
        except RuntimeError as error:
            raise damaged(name, error) from None

    def read(self, columns: list[str] | None = None, n_rows: int | None = None) -> pl.DataFrame:
        """Return all rows, or the first ones, of some columns."""
        import polars as pl

        with decoding(self._name):
            return pl.read_parquet(_opened(self._source), columns=columns, n_rows=n_rows)

    @cached_property
    def head(self) -> pl.DataFrame:
        """The first rows."""
        return self.read(n_rows=SAMPLE)

    def table(self) -> Table:
        """Return the table."""
        import polars as pl

        n_rows = self.head.height
        if n_rows == SAMPLE:  # else these are all
            with decoding(self._name):
                n_rows = int(
                    pl.scan_parquet(_opened(self._source)).select(pl.len()).collect().item()
                )
        if n_rows * len(self.head.columns) * _CELL > self._sizes.memory:
            raise too_large(self._name, self._sizes.memory)
        return frame_table(self.head, self._name, n_rows=n_rows, read=self.read, sizes=self._sizes)


def _opened(source: bytes | Path | list[Path]) -> Any:
    return io.BytesIO(source) if isinstance(source, bytes) else source


def try_parquet(source: bytes | Path, most_text: int) -> None:
    """Decode everything, some columns at a time, and keep nothing (in another process)."""
    import polars as pl

    scanned = pl.scan_parquet(_opened(source))
    names = scanned.collect_schema().names()
    step = max(1, CELLS // max(scanned.select(pl.len()).collect().item(), 1))
    pl.read_parquet(_opened(source), n_rows=1)
    for first in range(0, len(names), step):
        frame = pl.read_parquet(_opened(source), columns=names[first : first + step])
        sums = frame.select(pl.col(pl.String).str.len_bytes().sum())
        text = sum(sums.row(0)) if sums.width else 0
        if text > most_text:
            raise MemoryError(f"its texts have more than {most_text / 2**20:,.0f} MiB")


@contextmanager
def decoding(name: str) -> Iterator[None]:
    """Say in one sentence why a Parquet file cannot be decoded."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(name, error) from None


def damaged(name: str, error: object) -> InputError:
    """Return the error for a Parquet file that cannot be read."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")[:200]
    return InputError(
        f"{name}: the Parquet file is damaged or cut short ({reason}); copy or write it again."
    )


def no_parquet(name: str) -> InputError:
    """Return the error for another file that is named or taken for Parquet."""
    return InputError(
        f"{name}: this is not a Parquet file (it does not begin with PAR1); "
        "name its format if it is one of csv, tsv and jsonl."
    )
