"""Read CSV and TSV into columns, a chunk at a time."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.source import ByteStream, Chunk, even_newlines, line_chunks
from hitsndiffs.reading.layouts.below import first_line_below, most_cells
from hitsndiffs.reading.layouts.header import has_header
from hitsndiffs.reading.tables.chunk_bytes import (
    after_line,
    even_rows,
    leading_zeros,
    record_lines,
    well_quoted,
    without_blank_lines,
)
from hitsndiffs.reading.tables.file_table import Columns, FileTable, unique_names
from hitsndiffs.reading.tables.tokens import Scanned, TokenScanner

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DelimitedTable"]

_HEAD_CELLS = 50_000
_CSV_ROWS = 20_000
_MOST_CATEGORIES = 200


class DelimitedTable(FileTable):
    """A CSV or TSV file; whether the first row holds names is detected if ``header`` is None."""

    def __init__(self, stream: ByteStream, separator: str, header: bool | None) -> None:
        super().__init__()
        self._sizes = stream.sizes
        self._n_bytes = None if stream.path is None else stream.path.stat().st_size
        self._starts: list[int] = []
        self._lines: list[int | npt.NDArray[np.int64]] = []
        self.place = Place(stream.name, "line", self._line_of, by_position=False)
        self._chunks = _without_mark(line_chunks(stream, quotes=True))
        first = self._first_chunk()
        self._separator = separator
        rows, ends = self._head_rows(first)
        if not rows:
            raise InputError(
                f"{stream.name}: the file holds nothing but blank lines; it should hold a table "
                "of answers."
            )
        self.has_header = has_header(rows[0], rows[1:]) if header is None else header
        self._width = len(rows[0])
        if self.has_header:
            self.names = self._header_names(rows)
            self.sample = rows[1:]
            cut = after_line(first.data, ends[0] - first.first_line + 1)
            self._first = Chunk(first.data[cut:], ends[0] + 1)
        else:
            self.names = [f"column-{k}" for k in range(1, self._width + 1)]
            self.sample = rows
            self._first = first
            self.notes.append("There is no header: the first row holds answers.")
        if not self.sample:
            raise InputError(
                f"{stream.name}: there is a header and nothing below it; add one row per user "
                "(or per answer)."
            )
        self.is_small = len(self._first.data) < self._sizes.small
        if self.is_small and self.has_header:
            self._cut_remarks()
        self._plan: dict[str, Any] = {}

    # -- the first rows ---------------------------------------------------------------------

    def _first_chunk(self) -> Chunk:
        """Return the first lines without leading blank ones, and more than a header if possible."""
        data, first_line = b"", 1
        for chunk in self._chunks:
            data += chunk.data
            body = data.lstrip(b" \n")
            first_line += data.count(b"\n", 0, len(data) - len(body))
            data = body
            if 0 <= body.find(b"\n") < len(body.rstrip()):
                break
        return Chunk(data, first_line)

    def _head_rows(self, chunk: Chunk) -> tuple[list[list[str]], list[int]]:
        """Return the first rows as text, and the line on which each ends."""
        head = self._sizes.head  # usually holds enough cells
        if len(chunk.data) > head:
            ends = even_newlines(chunk.data[:head])
            part = Chunk(chunk.data[: int(ends[-1]) + 1 if len(ends) else 0], chunk.first_line)
            try:
                rows, lines, enough = self._first_rows(part)
            except InputError:  # the cut may have caused it
                enough = False
            if enough:
                return rows, lines
        rows, lines, _ = self._first_rows(chunk)
        return rows, lines

    def _first_rows(self, chunk: Chunk) -> tuple[list[list[str]], list[int], bool]:
        """Return the rows, the lines on which they end, and whether they are enough."""
        rows, ends = [], []
        n_cells = 0
        for _, end, row in self._records(chunk, check=False):
            rows.append(row)
            ends.append(end)
            n_cells += len(row)
            if len(rows) > 20 and n_cells > _HEAD_CELLS:
                return rows, ends, True
        return rows, ends, False

    def _header_names(self, rows: list[list[str]]) -> list[str]:
        names = [name.strip() for name in rows[0]]
        widths = {len(row) for row in rows[1:]}
        if len(widths) == 1:
            (width,) = widths
            if width == len(names) + 1:
                names = self._with_one_more(names, rows[1:])
            elif width < len(names) and not any(names[width:]):
                names = names[:width]  # the header ends in separators; the rows do not
        self._width = len(names)
        return unique_names(names, self.notes)

    def _with_one_more(self, names: list[str], rows: list[list[str]]) -> list[str]:
        """Name a column that the header lacks: the first (R's row names) or the last."""
        if all(not row[-1].strip() for row in rows):
            return [*names, ""]  # every row ends in a separator
        if any(not row[0].strip() for row in rows) or len({row[0] for row in rows}) < len(rows):
            return names  # neither: the rows are refused
        self.notes.append("The first column has no name in the header.")
        return ["", *names]

    def _cut_remarks(self) -> None:
        """Leave out the remarks below a small table."""
        data = b"".join(chunk.data for chunk in self._all_chunks())
        self._first = Chunk(data, self._first.first_line)
        last = data.rstrip(b" \n").rpartition(b"\n")[2].decode()
        cells = last.split(self._separator)
        if '"' not in last and len(cells) > most_cells(self._width) and any(map(str.strip, cells)):
            return  # the table goes on to the end; there is no need to parse it for that
        rows = list(self._records(self._first, check=False))
        line = first_line_below(rows, self._width)
        if line is None:
            return
        below = [" ".join(row).strip() for begin, _, row in rows if begin >= line and any(row)]
        self.sample = [row for begin, _, row in rows if begin < line]
        cut = after_line(self._first.data, line - self._first.first_line)
        self._first = Chunk(self._first.data[:cut], self._first.first_line)
        lines = count(len(below), "line")
        self.notes.append(f"Left out {lines} of text below the table: {listed(below, most=2)}.")

    # -- all rows ---------------------------------------------------------------------------

    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Columns | Scanned]]:
        """Yield each piece of the file: the number of its first row, and its columns."""
        wanted = list(self.names if columns is None else columns)
        if self.is_small:
            table = dict(zip(self.names, zip(*self.records(), strict=True), strict=True))
            yield 0, {name: list(table[name]) for name in wanted}
            return
        first_row = 0
        for chunk, found in self._scanned(wanted, labels) if scanned else self._unscanned():
            if found is not None:
                self._mark_rows(first_row, chunk.first_line)
                yield first_row, found
                first_row += len(found)
                continue
            self._make_plan(wanted, labels)
            for frame, lines in self._frames(chunk, wanted):
                if frame.height == 0:
                    continue
                self._mark_rows(first_row, lines)
                yield first_row, {series.name: series for series in frame.iter_columns()}
                first_row += frame.height

    def _mark_rows(self, first_row: int, lines: int | npt.NDArray[np.int64]) -> None:
        """Remember the lines of the rows from this one on."""
        self._starts.append(first_row)
        self._lines.append(lines)

    def _unscanned(self) -> Iterator[tuple[Chunk, None]]:
        return ((chunk, None) for chunk in self._all_chunks())

    def _scanned(
        self, wanted: Sequence[str], labels: Sequence[str]
    ) -> Iterator[tuple[Chunk, Scanned | None]]:
        """Scan the chunks with the compiled kernels if they are available and worth loading."""
        size = self._n_bytes
        if size is None:  # packed, or a pipe: a full chunk may be the beginning of much more
            is_full = len(self._first.data) > self._sizes.chunk // 2
            size = (10 if is_full else 1) * len(self._first.data)
        if size < self._sizes.scanned:
            return self._unscanned()
        items = [name for name in wanted if name not in labels]
        try:
            scanner = TokenScanner(
                self.names, items, next(iter(labels), None), self._separator, self._sizes
            )
        except ImportError:
            return self._unscanned()
        return scanner.scan_all(self._all_chunks()) if scanner.fits else self._unscanned()

    def records(self) -> Iterator[list[str]]:
        """Yield the rows as lists of text."""
        row = 0
        for chunk in self._all_chunks():
            for begin, _, record in self._records(chunk):
                self._mark_rows(row, begin)
                row += 1
                yield record

    def _all_chunks(self) -> Iterator[Chunk]:
        yield self._first
        yield from self._chunks

    def _line_of(self, row: int) -> int:
        piece = bisect_right(self._starts, row) - 1
        if piece < 0:
            return row + 1
        lines = self._lines[piece]
        within = row - self._starts[piece]
        return lines + within if isinstance(lines, int) else int(lines[within])

    # -- one chunk with Polars --------------------------------------------------------------

    def _make_plan(self, wanted: list[str], labels: Sequence[str]) -> None:
        """Choose how to parse each column: as small numbers, known texts, or any text."""
        if self._plan:
            return
        import polars as pl

        for place, name in enumerate(self.names):
            self._plan[name] = pl.String
            if name not in wanted or name in labels:
                continue
            cells = {row[place] for row in self.sample if place < len(row)}
            if all(cell == "" or cell.removeprefix("-").isdecimal() for cell in cells):
                self._plan[name] = pl.Int16
            elif len(cells) < _MOST_CATEGORIES:
                self._plan[name] = pl.Enum([*sorted(cells - {""}), ""])

    def _frames(
        self, chunk: Chunk, wanted: list[str]
    ) -> Iterator[tuple[pl.DataFrame, int | npt.NDArray[np.int64]]]:
        frame = None
        lines: int | npt.NDArray[np.int64] = chunk.first_line
        # Polars accepts misplaced quotation marks; the csv module refuses them.
        if self._width > 1 and well_quoted(chunk.data, self._separator):
            frame = self._parse(chunk.data, wanted)
            if frame is None and b'"' not in chunk.data:
                data, lines = without_blank_lines(chunk)
                frame = self._parse(data, wanted) if len(data) < len(chunk.data) else None
        if frame is None:
            yield from self._frames_by_csv(chunk, wanted)
            return
        if b'"' in chunk.data:
            lines = record_lines(chunk)
        yield frame, lines

    def _parse(self, data: bytes, wanted: list[str]) -> pl.DataFrame | None:
        """Parse with Polars; None if the rows differ in width or cannot be parsed."""
        import polars as pl

        if not data:
            return pl.DataFrame({name: [] for name in wanted})
        plan = self._plan
        if pl.Int16 in plan.values() and leading_zeros(data, self._separator):
            plan = {name: pl.String if dtype == pl.Int16 else dtype for name, dtype in plan.items()}
        frame = self._read(data, wanted, plan)
        if frame is None:
            frame = self._read(data, wanted, dict.fromkeys(self.names, pl.String))
            if frame is not None:
                self._mend_plan(frame)
        if frame is None or not even_rows(data, self._separator, self._width, frame.height):
            return None
        return frame

    def _read(self, data: bytes, wanted: list[str], plan: dict[str, Any]) -> pl.DataFrame | None:
        import polars as pl

        places = [self.names.index(name) for name in wanted] if len(wanted) < self._width else None
        try:
            return pl.read_csv(
                data, has_header=False, schema=plan, separator=self._separator, columns=places
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None

    def _mend_plan(self, frame: pl.DataFrame) -> None:
        """Adapt the plan to a chunk that did not fit it."""
        import polars as pl

        for name in frame.columns:
            dtype, column = self._plan[name], frame[name]
            if dtype == pl.String:
                continue
            if dtype == pl.Int16:
                numbers = column.cast(pl.Int16, strict=False)
                if numbers.null_count() == column.null_count():
                    continue
            known = set(dtype.categories) if isinstance(dtype, pl.Enum) else {""}
            known |= set(column.unique().drop_nulls())
            few = len(known) < _MOST_CATEGORIES
            self._plan[name] = pl.Enum(sorted(known)) if few else pl.String

    # -- one chunk with the csv module: slow, but it locates errors -------------------------

    def _records(self, chunk: Chunk, *, check: bool = True) -> Iterator[tuple[int, int, list[str]]]:
        """Yield each row that is not blank, with the lines on which it begins and ends."""
        text = io.StringIO(chunk.data.decode(), newline="")
        reader = csv.reader(text, delimiter=self._separator, strict=True)
        begin = chunk.first_line
        try:
            for row in reader:
                end = chunk.first_line + reader.line_num - 1
                blank = len(row) <= 1 and not "".join(row).strip()
                if check and not blank and len(row) != self._width:
                    self._refuse_ragged(row, begin)
                if not blank:
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

    def _refuse_ragged(self, row: list[str], line: int) -> None:
        what = "the header" if self.has_header else "the first row"
        near = self.names[min(len(row), self._width) - 1]
        if len(row) < self._width:
            where = f"nothing follows column {near!r}"
            advice = "leave the cells of missing answers empty, but keep their separators"
        else:
            where = f"there is more after column {near!r}"
            advice = "put cells that hold a separator in quotation marks"
        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
        raise InputError(
            f"{self.place.source}, line {line}: {cells} where {what} has {self._width} "
            f"({where}); {advice}."
        )

    def _frames_by_csv(
        self, chunk: Chunk, wanted: list[str]
    ) -> Iterator[tuple[pl.DataFrame, npt.NDArray[np.int64]]]:
        rows: list[list[str]] = []
        lines: list[int] = []
        for begin, _, row in self._records(chunk):
            rows.append(row)
            lines.append(begin)
            if len(rows) == _CSV_ROWS:
                yield self._text_frame(rows, wanted), np.array(lines)
                rows, lines = [], []
        if rows:
            yield self._text_frame(rows, wanted), np.array(lines)

    def _text_frame(self, rows: list[list[str]], wanted: list[str]) -> pl.DataFrame:
        import polars as pl

        columns = dict(zip(self.names, zip(*rows, strict=True), strict=True))
        texts = dict.fromkeys(wanted, pl.String)
        return pl.DataFrame({name: columns[name] for name in wanted}, schema=texts)


def _without_mark(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Strip the byte order mark that some programs write."""
    for number, chunk in enumerate(chunks):
        if number == 0 and chunk.data.startswith(b"\xef\xbb\xbf"):
            chunk = Chunk(chunk.data[3:], chunk.first_line)
        yield chunk
