"""Files cut into pieces for the workers of a Dask cluster to read.

A piece is some rows of one file: a callable that is sent to a worker and reads them there. It
knows its file and its rows, so error messages can name them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

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
        import polars as pl

        texts = dict.fromkeys(self.columns, pl.String)
        _, lines = self._lines()
        frame = plain_frame(b"\n".join(lines), texts, self.separator)
        if frame is None:
            filled = [line for line in lines if line.strip()]
            frame = plain_frame(b"\n".join(filled), texts, self.separator)
        if frame is None:
            self._refuse()
        return frame.select(self.names)

    @property
    def place(self) -> Place:
        """How messages name the rows of this piece."""
        return Place(self.path, "line", self._line_of, by_position=False)

    def _lines(self) -> tuple[int, list[bytes]]:
        """Return where the piece starts, and its lines."""
        with open_path(Path(self.path)) as file:
            file.seek(self.first - 1)
            file.readline()  # the rest of a line that begins earlier
            start = file.tell()
            data = file.read(max(0, self.last - start))
            data += file.readline() if data and not data.endswith(b"\n") else b""
        return start, data.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")

    def _line_of(self, row: int) -> int:
        start, lines = self._lines()
        with open_path(Path(self.path)) as file:
            before = file.read(start).count(b"\n")
        filled = [number for number, line in enumerate(lines, start=1) if line.strip()]
        return before + (filled[row] if row < len(filled) else row + 1)

    def _refuse(self) -> NoReturn:
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
