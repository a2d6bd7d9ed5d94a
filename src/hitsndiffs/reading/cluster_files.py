"""Files cut into pieces for the workers of a Dask cluster to read.

A piece is some rows of one file: a callable that is sent to a worker and reads them there. It
knows its file and its rows, so error messages can name them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from hitsndiffs.data.labels import Place
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.foreign import START, refuse_foreign
from hitsndiffs.reading.files.source import ByteStream, open_path
from hitsndiffs.reading.tables.delimited import check_delimited, plain_frame
from hitsndiffs.reading.tables.frames import decoding
from hitsndiffs.reading.tables.table import unique_names

__all__ = ["ParquetPieces", "TextPieces"]

#: Size of a piece: cells of a Parquet file, bytes of a text file.
CELLS, BYTES = 25_000_000, 64_000_000
#: How many rows are looked at to see what a column holds.
HEAD = 1000


@dataclass(frozen=True)
class ParquetRows:
    """Some rows and columns of a Parquet file, read as a Polars frame."""

    path: str
    first: int
    count: int
    names: list[str]

    def __call__(self) -> Any:
        import polars as pl

        with decoding(self.path):
            rows = pl.scan_parquet(self.path).select(self.names)
            return rows.slice(self.first, self.count).collect()

    @property
    def place(self) -> Place:
        """How messages name the rows of this piece."""
        return Place(self.path, "row", lambda row: self.first + row + 1, by_position=False)


class ParquetPieces:
    """Parquet files, cut into pieces.

    Dask's own frames use pandas and take three times as long.

    Parameters
    ----------
    files
        Paths that the workers can see too, in the order of the users.
    """

    def __init__(self, files: Sequence[str]) -> None:
        import pyarrow
        import pyarrow.parquet

        self.files, self.rows = list(files), []
        self.columns: list[str] = []
        self.notes: list[str] = []
        for text in self.files:
            # reading the footer finds a broken file before any work is done
            try:
                with pyarrow.parquet.ParquetFile(text) as file:
                    names, rows = file.schema_arrow.names, file.metadata.num_rows
            except (OSError, pyarrow.ArrowException) as error:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
                raise InputError(
                    f"{text} cannot be read as Parquet ({reason}); write it again, or take it out."
                ) from error
            self.columns = _same_columns(text, names, self.files[0], self.columns)
            self.rows.append(rows)

    def head(self, names: list[str]) -> Any:
        """Return the first rows of some columns."""
        return ParquetRows(self.files[0], 0, HEAD, names)()

    def pieces(self, names: list[str]) -> list[ParquetRows]:
        """Return the pieces for the workers to read, with some columns only."""
        most = max(1, CELLS // max(len(names), 1))
        found = []
        for text, rows in zip(self.files, self.rows, strict=True):
            cuts = _cuts(0, rows, -(-rows // most))
            found += [ParquetRows(text, a, b - a, names) for a, b in pairwise(cuts)]
        return found

    def to_frame(self, names: list[str]) -> Any:
        """Return some columns as a Dask frame, which can be reordered."""
        import dask.dataframe as dd

        return dd.read_parquet(self.files, columns=names, split_row_groups="adaptive")


@dataclass(frozen=True)
class TextRows:
    """Some lines of a CSV or TSV file, read as a Polars frame; all cells are text.

    Attributes
    ----------
    path, separator, columns
        The file, its separator, and all its columns.
    first, last
        Byte offsets: the piece holds the lines that begin in ``[first, last)``.
    names
        The columns wanted.
    """

    path: str
    separator: str
    columns: list[str]
    first: int
    last: int
    names: list[str]

    def __call__(self) -> Any:
        data = self._data()
        frame = self._by_polars(data)
        if frame is None:
            frame = self._by_csv(data)
        if frame is None:
            self._refuse()
        return frame

    @property
    def place(self) -> Place:
        """How messages name the rows of this piece."""
        return Place(self.path, "line", self._line_of, by_position=False)

    def _data(self) -> bytes:
        with open_path(Path(self.path)) as file:
            file.seek(self.first - 1)
            file.readline()  # the rest of a line that begins earlier
            start = file.tell()
            data = file.read(max(0, self.last - start))
            return data if data.endswith(b"\n") or not data else data + file.readline()

    def _by_polars(self, data: bytes) -> Any:
        """Return a frame; ``None`` if the rows are not plain, and the csv module must decide."""
        import polars as pl

        texts = dict.fromkeys(self.columns, pl.String)
        frame = plain_frame(data.replace(b"\r\n", b"\n"), texts, self.separator)
        return None if frame is None else frame.select(self.names)

    def _by_csv(self, data: bytes) -> Any:
        """Do the same row by row; ``None`` if a row is broken."""
        import polars as pl

        width = len(self.columns)
        try:
            rows = [row for _, row in self._records(data)]
        except (csv.Error, UnicodeError):
            return None
        if any(len(row) != width for row in rows):
            return None
        cells = dict(zip(self.columns, zip(*rows, strict=True), strict=True)) if rows else {}
        texts = dict.fromkeys(self.names, pl.String)
        return pl.DataFrame({name: cells.get(name, ()) for name in self.names}, schema=texts)

    def _records(self, data: bytes) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not blank, each with the line on which it ends (from 1)."""
        text = io.StringIO(data.decode(), newline="")
        reader = csv.reader(text, delimiter=self.separator, strict=True)
        for row in reader:
            if len(row) > 1 or "".join(row).strip():
                yield reader.line_num, row

    def _line_of(self, row: int) -> int:
        with open_path(Path(self.path)) as file:
            file.seek(self.first - 1)
            file.readline()
            start = file.tell()
            file.seek(0)
            before = file.read(start).count(b"\n")
        for number, (line, _) in enumerate(self._records(self._data())):
            if number == row:
                return before + line
        return before + row + 1

    def _refuse(self) -> None:
        """Say what is wrong and on which line, with the messages of the single-machine reader."""
        with open_path(Path(self.path)) as file:
            stream = ByteStream(file.read, self.path, Path(self.path))
            check_delimited(stream, self.separator)
        raise InputError(
            f"{self.path}: cells in quotation marks hold line ends, and the dask engine cuts texts "
            "at line ends; write the file as Parquet, or use the auto engine on one machine."
        )


class TextPieces:
    """CSV or TSV files with a header, cut into pieces at line ends.

    Parameters
    ----------
    files
        Paths that the workers can see too, in the order of the users.
    separator
        The separator between cells.
    size
        Approximate bytes per piece.
    """

    def __init__(self, files: Sequence[str], separator: str, size: int = BYTES) -> None:
        self.files, self.separator, self.size = list(files), separator, size
        self.columns: list[str] = []
        self.notes: list[str] = []
        self.bounds: list[tuple[int, int]] = []
        for text in self.files:
            with open_path(Path(text)) as file:
                line = file.readline()
                refuse_foreign(line[:START], text)
                names = self._names(text, line)
                self.bounds.append((file.tell(), file.seek(0, io.SEEK_END)))
            self.columns = _same_columns(text, names, self.files[0], self.columns)
        self.columns = unique_names(self.columns, self.notes)

    def _names(self, text: str, line: bytes) -> list[str]:
        try:
            header = line.decode("utf-8-sig")
            names = next(csv.reader([header], delimiter=self.separator, strict=True), [])
        except (UnicodeError, csv.Error) as error:
            raise InputError(
                f"{text}, line 1: the header cannot be read ({error}); write the names of the "
                "columns there, as UTF-8."
            ) from None
        if not any(name.strip() for name in names):
            raise InputError(
                f"{text}, line 1: the header is blank; write the columns' names there."
            )
        return [name.strip() for name in names]

    def head(self, names: list[str]) -> Any:
        """Return the first rows of some columns."""
        first, last = self.bounds[0]
        return TextRows(
            self.files[0], self.separator, self.columns, first, min(last, first + 2**20), names
        )().head(HEAD)

    def pieces(self, names: list[str]) -> list[TextRows]:
        """Return the pieces for the workers to read, with some columns only."""
        found = []
        for text, (first, last) in zip(self.files, self.bounds, strict=True):
            cuts = _cuts(first, last, -(-(last - first) // self.size))
            found += [
                TextRows(text, self.separator, self.columns, a, b, names) for a, b in pairwise(cuts)
            ]
        return found

    def to_frame(self, names: list[str]) -> Any:
        """Return some columns as a Dask frame, which can be reordered."""
        import dask.dataframe as dd
        import polars as pl

        nothing = pl.DataFrame(schema=dict.fromkeys(names, pl.String)).to_pandas()
        return dd.from_map(_as_pandas, self.pieces(names), meta=nothing)


def _as_pandas(piece: TextRows) -> Any:
    return piece().to_pandas()


def _cuts(first: int, last: int, pieces: int) -> list[int]:
    """Return where pieces of about equal size begin and end."""
    return [first + (last - first) * n // max(pieces, 1) for n in range(pieces + 1)]


def _same_columns(text: str, names: list[str], first: str, wanted: list[str]) -> list[str]:
    if wanted and names != wanted:
        raise InputError(
            f"{text} has different columns from {first}: {_difference(names, wanted)}. Files that "
            "are ranked together need the same columns."
        )
    return names


def _difference(names: list[str], wanted: list[str]) -> str:
    more, fewer = sorted(set(names) - set(wanted)), sorted(set(wanted) - set(names))
    parts = [f"{', '.join(more[:3])} extra"] if more else []
    parts += [f"{', '.join(fewer[:3])} missing"] if fewer else []
    return " and ".join(parts) or "a different order"
