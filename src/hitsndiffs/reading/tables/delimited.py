"""Read CSV and TSV into columns, a chunk at a time; a small file is held as rows."""

from __future__ import annotations

import csv
import io
import itertools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.source import ByteStream, Chunk, line_chunks
from hitsndiffs.reading.layouts.below import first_line_below
from hitsndiffs.reading.layouts.header import has_header
from hitsndiffs.reading.tables.chunk_bytes import (
    after_line,
    even_rows,
    leading_zeros,
    record_lines,
    well_quoted,
    without_blank_lines,
)
from hitsndiffs.reading.tables.table import Columns, Table, enough_rows, unique_names
from hitsndiffs.reading.tables.tokens import TokenScanner

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_delimited", "delimited_table"]

_CSV_ROWS = 20_000
_MOST_CATEGORIES = 200

#: A row, with the lines on which it begins and ends.
Row = tuple[int, int, list[str]]
#: The line of each row, or of the first one.
Lines = int | npt.NDArray[np.int64]


def delimited_table(stream: ByteStream, separator: str, header: bool | None) -> Table:
    """Open a CSV or TSV file; whether the first row holds names is detected if not said."""
    text = _Delimited(stream, separator)
    rows = text.first_rows()
    if not rows:
        raise InputError(
            f"{stream.name}: the file holds nothing but blank lines; it should hold a table of "
            "answers."
        )
    cells = [row for _, _, row in rows]
    notes: list[str] = []
    text.has_header = has_header(cells[0], cells[1:]) if header is None else header
    if text.has_header:
        text.names = _header_names(cells, notes)
        text.drop_to(rows[0][1])
        del rows[0], cells[0]
    else:
        text.names = [f"column-{k}" for k in range(1, len(cells[0]) + 1)]
        notes.append("There is no header: the first row holds answers.")
    if not rows:
        raise InputError(
            f"{stream.name}: there is a header and nothing below it; add one row per user "
            "(or per answer)."
        )
    if text.is_small:
        if text.has_header:
            rows = _without_remarks(rows, len(text.names), notes)
        rows = list(text.checked(rows))
        text.mark_rows(0, np.array([begin for begin, _, _ in rows]))
        cells = [row for _, _, row in rows]
    text.sample = cells
    read = None if text.is_small else text.read
    return Table(text.place, text.names, cells, read, has_header=text.has_header, notes=notes)


def check_delimited(stream: ByteStream, separator: str) -> None:
    """Read a file that has a header, only for the error that it may raise."""
    text = _Delimited(stream, separator)
    text.names = text.first_rows()[0][2]
    for chunk in text.all_chunks():
        for _ in text.checked(text.records(chunk)):
            pass


def _header_names(rows: list[list[str]], notes: list[str]) -> list[str]:
    """Return the names in the header, the first of some rows, which may be one cell off."""
    names = [name.strip() for name in rows[0]]
    widths = {len(row) for row in rows[1:]}
    if len(widths) == 1:
        (width,) = widths
        if width == len(names) + 1:
            names = _with_one_more(names, rows[1:], notes)
        elif width < len(names) and not any(names[width:]):
            names = names[:width]  # the header ends in separators; the rows do not
    return unique_names(names, notes)


def _with_one_more(names: list[str], rows: list[list[str]], notes: list[str]) -> list[str]:
    """Name a column that the header lacks: the first (R's row names) or the last."""
    if all(not row[-1].strip() for row in rows):
        return [*names, ""]  # every row ends in a separator
    if any(not row[0].strip() for row in rows) or len({row[0] for row in rows}) < len(rows):
        return names  # neither: the rows are refused
    notes.append("The first column has no name in the header.")
    return ["", *names]


def _without_remarks(rows: list[Row], width: int, notes: list[str]) -> list[Row]:
    """Leave out the remarks below a small table."""
    line = first_line_below(rows, width)
    if line is None:
        return rows
    below = [" ".join(row).strip() for begin, _, row in rows if begin >= line and any(row)]
    lines = count(len(below), "line")
    notes.append(f"Left out {lines} of text below the table: {listed(below, most=2)}.")
    return [row for row in rows if row[0] < line]


class _Delimited:
    """Delimited text: its chunks, of which the first are held, and how they are parsed."""

    def __init__(self, stream: ByteStream, separator: str) -> None:
        self.sizes = stream.sizes
        self.n_bytes = None if stream.path is None else stream.path.stat().st_size
        self.separator, self.names, self.has_header = separator, list[str](), True
        self.place = Place(stream.name, "line", self._line_of, by_position=False)
        self._starts: list[int] = []
        self._lines: list[Lines] = []
        self._dtypes: dict[str, Any] = {}
        self.sample: list[list[str]] = []
        self._chunks = line_chunks(stream, quotes=True)
        first = next(self._chunks)
        data = first.data.removeprefix(b"\xef\xbb\xbf")  # the mark of the order of bytes
        self._held = [Chunk(data, first.first_line)]
        self.is_small = len(data) < stream.sizes.small

    def first_rows(self) -> list[Row]:
        """Return all rows of a small file; else as many as tell what the columns hold."""
        rows: list[Row] = []
        for number in itertools.count():
            if number == len(self._held):
                size = sum(len(own.data) for own in self._held)
                is_enough = not self.is_small and len(rows) > 1 and size >= self.sizes.head
                more = None if is_enough else next(self._chunks, None)
                if more is None:
                    break
                self._held.append(more)
            for row in self.records(self._held[number]):
                rows.append(row)
                if not self.is_small and len(rows) > enough_rows(len(rows[0][2])):
                    return rows
        return rows

    def drop_to(self, line: int) -> None:
        """Leave out the lines up to this one."""
        parts = [(own, after_line(own.data, line - own.first_line + 1)) for own in self._held]
        self._held = [
            Chunk(own.data[cut:], max(own.first_line, line + 1))
            for own, cut in parts
            if cut < len(own.data)
        ]

    def all_chunks(self) -> Iterator[Chunk]:
        """Yield all chunks."""
        yield from self._held
        self._held = []
        yield from self._chunks

    # -- lines ------------------------------------------------------------------------------

    def mark_rows(self, first_row: int, lines: Lines) -> None:
        """Remember the lines of the rows from this one on."""
        self._starts.append(first_row)
        self._lines.append(lines)

    def _line_of(self, row: int) -> int:
        piece = bisect_right(self._starts, row) - 1
        if piece < 0:
            return row + 1
        lines = self._lines[piece]
        within = row - self._starts[piece]
        return lines + within if isinstance(lines, int) else int(lines[within])

    # -- pieces -----------------------------------------------------------------------------

    def read(self, wanted: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        """Yield each piece of the file: the number of its first row, and its columns."""
        first_row = 0
        for chunk, scanned in self._scanned(wanted, labels):
            pieces = (
                self._frames(chunk, wanted, labels)
                if scanned is None
                else iter([(scanned, chunk.first_line)])
            )
            for columns, lines in pieces:
                height = max(map(len, columns.values()), default=0)
                if height:
                    self.mark_rows(first_row, lines)
                    yield first_row, columns
                    first_row += height

    def _scanned(
        self, wanted: Sequence[str], labels: Sequence[str]
    ) -> Iterator[tuple[Chunk, Columns | None]]:
        """Scan the chunks with the compiled kernels if they are available and worth loading."""
        plain = ((chunk, None) for chunk in self.all_chunks())
        size = self.n_bytes
        if size is None:  # packed, or a pipe: a full chunk may be the beginning of much more
            held = sum(len(own.data) for own in self._held)
            size = (10 if held > self.sizes.chunk // 2 else 1) * held
        if size < self.sizes.scanned or len(labels) > 1:
            return plain
        items = [name for name in wanted if name not in labels]
        user = next(iter(labels), None)
        try:
            scanner = TokenScanner(self.names, items, user, self.separator, self.sizes)
        except ImportError:
            return plain
        return scanner.scan_all(self.all_chunks()) if scanner.fits else plain

    # -- one chunk with Polars --------------------------------------------------------------

    def _choose_dtypes(self, wanted: Sequence[str], labels: Sequence[str]) -> None:
        """Choose how to parse each column: as small numbers, known texts, or any text."""
        import polars as pl

        for place, name in enumerate(self.names):
            self._dtypes[name] = pl.String
            if name not in wanted or name in labels:
                continue
            cells = {row[place] for row in self.sample if place < len(row)}
            if all(cell == "" or cell.removeprefix("-").isdecimal() for cell in cells):
                self._dtypes[name] = pl.Int16
            elif len(cells) < _MOST_CATEGORIES:
                self._dtypes[name] = pl.Enum([*sorted(cells - {""}), ""])

    def _frames(
        self, chunk: Chunk, wanted: Sequence[str], labels: Sequence[str]
    ) -> Iterator[tuple[Columns, Lines]]:
        if not self._dtypes:
            self._choose_dtypes(wanted, labels)
        frame = None
        lines: Lines = chunk.first_line
        # Polars accepts misplaced quotation marks; the csv module refuses them.
        if len(self.names) > 1 and well_quoted(chunk.data, self.separator):
            frame = self._parse(chunk.data, wanted)
            if frame is None and b'"' not in chunk.data:
                data, lines = without_blank_lines(chunk)
                frame = self._parse(data, wanted) if len(data) < len(chunk.data) else None
        if frame is None:
            yield from self._frames_by_csv(chunk, wanted)
            return
        if b'"' in chunk.data:
            lines = record_lines(chunk)
        yield {series.name: series for series in frame.iter_columns()}, lines

    def _parse(self, data: bytes, wanted: Sequence[str]) -> pl.DataFrame | None:
        """Parse with Polars; None if the rows differ in width or cannot be parsed."""
        import polars as pl

        if not data:
            return pl.DataFrame({name: [] for name in wanted})
        dtypes = self._dtypes
        if pl.Int16 in dtypes.values() and leading_zeros(data, self.separator):
            dtypes = {n: pl.String if dtype == pl.Int16 else dtype for n, dtype in dtypes.items()}
        frame = self._parse_as(data, wanted, dtypes)
        if frame is None:
            frame = self._parse_as(data, wanted, dict.fromkeys(self.names, pl.String))
            if frame is not None:
                self._mend_dtypes(frame)
        if frame is None or not even_rows(data, self.separator, len(self.names), frame.height):
            return None
        return frame

    def _parse_as(
        self, data: bytes, wanted: Sequence[str], dtypes: dict[str, Any]
    ) -> pl.DataFrame | None:
        import polars as pl

        names = self.names
        places = [names.index(name) for name in wanted] if len(wanted) < len(names) else None
        try:
            return pl.read_csv(
                data, has_header=False, schema=dtypes, separator=self.separator, columns=places
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None

    def _mend_dtypes(self, frame: pl.DataFrame) -> None:
        """Adapt the types to a chunk that did not fit them."""
        import polars as pl

        for name in frame.columns:
            dtype, column = self._dtypes[name], frame[name]
            if dtype == pl.String:
                continue
            if dtype == pl.Int16:
                numbers = column.cast(pl.Int16, strict=False)
                if numbers.null_count() == column.null_count():
                    continue
            known = set(dtype.categories) if isinstance(dtype, pl.Enum) else {""}
            known |= set(column.unique().drop_nulls())
            few = len(known) < _MOST_CATEGORIES
            self._dtypes[name] = pl.Enum(sorted(known)) if few else pl.String

    # -- one chunk with the csv module: slow, but it locates errors -------------------------

    def _frames_by_csv(
        self, chunk: Chunk, wanted: Sequence[str]
    ) -> Iterator[tuple[Columns, Lines]]:
        import polars as pl

        rows = self.checked(self.records(chunk))
        while some := list(itertools.islice(rows, _CSV_ROWS)):
            begins, _, cells = zip(*some, strict=True)
            columns = dict(zip(self.names, zip(*cells, strict=True), strict=True))
            yield {n: pl.Series(n, columns[n], dtype=pl.String) for n in wanted}, np.array(begins)

    def records(self, chunk: Chunk) -> Iterator[Row]:
        """Yield each row that is not blank."""
        text = io.StringIO(chunk.data.decode(), newline="")
        reader = csv.reader(text, delimiter=self.separator, strict=True)
        begin = chunk.first_line
        try:
            for row in reader:
                end = chunk.first_line + reader.line_num - 1
                if len(row) > 1 or "".join(row).strip():
                    yield begin, end, row
                begin = end + 1
        except csv.Error as error:
            reason = (
                "a quotation mark is opened and never closed"
                if "end of data" in str(error) or "limit" in str(error)
                else "a quotation mark stands in the middle of a cell"
                if "expected after" in str(error)
                else str(error)
            )
            raise InputError(
                f"{self.place.source}, line {begin}: {reason}; write cells with quotation marks "
                'as "…" with every mark inside doubled.'
            ) from None

    def checked(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows; refuse one of another width."""
        width = len(self.names)
        for found in rows:
            if len(found[2]) != width:
                raise self._ragged(found[2], found[0])
            yield found

    def _ragged(self, row: list[str], line: int) -> InputError:
        width = len(self.names)
        what = "the header" if self.has_header else "the first row"
        near = self.names[min(len(row), width) - 1]
        if len(row) < width:
            where = f"nothing follows column {near!r}"
            advice = "leave the cells of missing answers empty, but keep their separators"
        else:
            where = f"there is more after column {near!r}"
            advice = "put cells that hold a separator in quotation marks"
        return InputError(
            f"{self.place.source}, line {line}: {count(len(row), 'cell')} where {what} has {width} "
            f"({where}); {advice}."
        )
