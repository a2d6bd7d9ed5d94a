"""Read CSV and TSV into columns, a chunk at a time; a small file is held as rows."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.labels import Place
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.foreign import no_text
from hitsndiffs.reading.files.source import (
    ByteStream,
    Chunk,
    count_byte,
    even_newlines,
    line_chunks,
    transcoded,
)
from hitsndiffs.reading.files.text_rows import Row, rows_of_text
from hitsndiffs.reading.layouts.rows import first_line_below
from hitsndiffs.reading.tables.table import (
    Columns,
    Table,
    column_names,
    enough_rows,
    nothing_below,
)

if TYPE_CHECKING:
    import polars as pl

    from hitsndiffs.reading.files.documents import FileDocument

__all__ = ["check_delimited", "delimited_table", "plain_frame"]

_CSV_ROWS = 20_000
_MOST_CATEGORIES = 200

#: The line of each row, or of the first one.
Lines = int | npt.NDArray[np.int64]


def delimited_table(document: FileDocument, stack: ExitStack) -> Table:
    """Open a CSV or TSV file that begins with its header, or with its first row of cells."""
    shape, sizes = document.shape, document.settings.sizes
    is_small = document.is_whole and len(document.content()) < sizes.small
    text = None
    if is_small:
        if "\0" in document.text():
            raise no_text(document.name, document.text().partition("\0")[0].count("\n") + 1)
        rows = shape.rows()
        if shape.fault is not None:
            raise InputError(f"{document.name}, {shape.fault}")
    else:
        stream = transcoded(stack.enter_context(document.stream()), document.encoding)
        text = _Large(stream, shape.separator)
        rows = text.first_rows()
    rows = rows[next((k for k, (*_, row) in enumerate(rows) if "".join(row).strip()), 0) :]
    if not rows:
        raise InputError(
            f"{document.name}: the file holds nothing but blank lines; it should hold a table of "
            "answers."
        )
    notes: list[str] = []
    end, header = 0, [""] * len(rows[0][2])
    if document.header_place == 0:
        (_, end, _), header = rows[0], _header([row for *_, row in rows], notes)
        rows = rows[1:]
        if text is None:
            rows = _without_remarks(rows, len(header), notes)
    if not rows:
        raise nothing_below(header, document.name)
    cells = [row for *_, row in rows]
    if text is not None:
        names = column_names(header, notes)
        text.begin(names, any(header), end, cells)
        notes += shape.notes
        return Table(text.place, names, cells, text.read, has_header=any(header), notes=notes)
    for begin, _, row in rows:
        check_width(row, header, f"{document.name}, line {begin}")
    lines, notes = [begin for begin, *_ in rows], [*notes, *shape.notes]
    return Table.of_rows(header, cells, document.name, "line", lines=lines, notes=notes)


def check_delimited(stream: ByteStream, separator: str) -> None:
    """Read a file that has a header, only for the error that it may raise."""
    text = _Large(stream, separator)
    text.begin(text.first_rows()[0][2], True, 0, [])
    for chunk in text.all_chunks():
        for _ in text.checked(chunk):
            pass


def check_width(row: list[str], header: Sequence[str], where: str) -> None:
    """Refuse a row of another width than the header (blank if there is none)."""
    width = len(header)
    if len(row) == width:
        return
    what = "the header" if any(header) else "the first row"
    place = min(len(row), width)
    near = shortened(header[place - 1], 40) or f"column-{place}"
    if len(row) < width:
        which = f"nothing follows column {near!r}"
        advice = "leave the cells of missing answers empty, but keep their separators"
    else:
        which = f"there is more after column {near!r}"
        advice = "put cells that hold a separator in quotation marks"
    raise InputError(
        f"{where}: {count(len(row), 'cell')} where {what} has {width} ({which}); {advice}."
    )


def _header(rows: list[list[str]], notes: list[str]) -> list[str]:
    """Return the cells of the header, the first of some rows, which may be one cell off."""
    names = [name.strip() for name in rows[0]]
    widths = {len(row) for row in rows[1:]}
    if len(widths) == 1:
        (width,) = widths
        if width == len(names) + 1:
            names = _with_one_more(names, rows[1:], notes)
        elif width < len(names) and not any(names[width:]):
            names = names[:width]  # the header ends in separators; the rows do not
    return names


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


class _Large:
    """Delimited text in chunks, of which the first are held, and how they are parsed."""

    def __init__(self, stream: ByteStream, separator: str) -> None:
        self.sizes, self.separator = stream.sizes, separator
        self.names, self._header = list[str](), list[str]()
        self.place = Place(stream.name, "line", self._line_of, by_position=False)
        self._starts: list[int] = []
        self._lines: list[Lines] = []
        self._dtypes: dict[str, Any] = {}
        self._sample: list[list[str]] = []
        self._chunks = line_chunks(stream, quotes=True)
        self._held: list[Chunk] = []

    def first_rows(self) -> list[Row]:
        """Return as many rows as tell what the columns hold."""
        rows: list[Row] = []
        while len(rows) < 2 or sum(len(own.data) for own in self._held) < self.sizes.head:
            more = next(self._chunks, None)
            if more is None:
                break
            if not self._held:
                more.data = more.data.removeprefix(b"\xef\xbb\xbf")  # the mark of the byte order
            self._held.append(more)
            for row in self.records(more):
                rows.append(row)
                if len(rows) > enough_rows(len(rows[0][2])):
                    return rows
        return rows

    def begin(self, names: list[str], has_header: bool, drop: int, sample: list[list[str]]) -> None:
        """Take the names of the columns, and leave out the lines up to ``drop``."""
        self.names, self._sample = names, sample
        self._header = names if has_header else [""] * len(names)
        parts = [(own, _after_line(own.data, drop - own.first_line + 1)) for own in self._held]
        self._held = [
            Chunk(own.data[cut:], max(own.first_line, drop + 1))
            for own, cut in parts
            if cut < len(own.data)
        ]

    def all_chunks(self) -> Iterator[Chunk]:
        """Yield all chunks."""
        yield from self._held
        self._held = []
        yield from self._chunks

    # -- lines ------------------------------------------------------------------------------

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
        import polars as pl

        self._dtypes = {
            name: self._dtype(k) if name in wanted and name not in labels else pl.String
            for k, name in enumerate(self.names)
        }
        first_row = 0
        for chunk in self.all_chunks():
            for columns, lines in self._frames(chunk, wanted):
                height = max(map(len, columns.values()), default=0)
                if height:
                    self._starts.append(first_row)
                    self._lines.append(lines)
                    yield first_row, columns
                    first_row += height

    # -- one chunk with Polars --------------------------------------------------------------

    def _dtype(self, place: int) -> Any:
        """Choose how to parse a column: as one of the texts seen so far, or as any text."""
        import polars as pl

        cells = {row[place] for row in self._sample if place < len(row)}
        return pl.Enum(sorted({*cells, ""})) if len(cells) < _MOST_CATEGORIES else pl.String

    def _frames(self, chunk: Chunk, wanted: Sequence[str]) -> Iterator[tuple[Columns, Lines]]:
        frame = self._parse(chunk.data)
        lines: Lines = chunk.first_line
        if frame is None and b'"' not in chunk.data:
            data, lines = _without_blank_lines(chunk)
            frame = self._parse(data) if len(data) < len(chunk.data) else None
        if frame is None:
            yield from self._frames_by_csv(chunk, wanted)
            return
        if b'"' in chunk.data:
            lines = _record_lines(chunk)
        yield {name: frame[name] for name in wanted}, lines

    def _parse(self, data: bytes) -> pl.DataFrame | None:
        """Parse with Polars; None if the csv module has to."""
        import polars as pl

        frame = plain_frame(data, self._dtypes, self.separator)
        if frame is None and set(self._dtypes.values()) != {pl.String}:
            frame = plain_frame(data, dict.fromkeys(self.names, pl.String), self.separator)
            if frame is not None:
                self._dtypes = {n: _with_texts(own, frame[n]) for n, own in self._dtypes.items()}
        return frame

    # -- one chunk with the csv module: slow, but it locates errors -------------------------

    def _frames_by_csv(
        self, chunk: Chunk, wanted: Sequence[str]
    ) -> Iterator[tuple[Columns, Lines]]:
        import polars as pl

        rows = self.checked(chunk)
        while some := list(itertools.islice(rows, _CSV_ROWS)):
            begins, _, cells = zip(*some, strict=True)
            columns = dict(zip(self.names, zip(*cells, strict=True), strict=True))
            yield {n: pl.Series(n, columns[n], dtype=pl.String) for n in wanted}, np.array(begins)

    def records(self, chunk: Chunk) -> Iterator[Row]:
        """Yield the rows of a chunk."""
        rows = rows_of_text(chunk.data.decode(), self.separator, chunk.first_line, strict=True)
        try:
            yield from rows
        except InputError as fault:
            raise InputError(f"{self.place.source}, {fault}") from None

    def checked(self, chunk: Chunk) -> Iterator[Row]:
        """Yield the rows of a chunk; refuse one of another width."""
        for row in self.records(chunk):
            check_width(row[2], self._header, f"{self.place.source}, line {row[0]}")
            yield row


# -- what the bytes tell ----------------------------------------------------------------------


def plain_frame(data: bytes, dtypes: Mapping[str, Any], separator: str) -> pl.DataFrame | None:
    r"""Return lines as a frame, or None if a row has another width or a mark is out of place.

    Polars refuses rows that are too long and fills up those that are too short; if there are as
    many separators as there should be, none is too short. Polars also accepts misplaced quotation
    marks, which the csv module refuses.

    Examples
    --------
    >>> import polars as pl
    >>> texts = {"user": pl.String, "q1": pl.String}
    >>> plain_frame(b'ann,"A, B"\nbob,C\n', texts, ",").rows()
    [('ann', 'A, B'), ('bob', 'C')]
    >>> plain_frame(b"ann,A\nbob\n", texts, ","), plain_frame(b'ann,A"B\n', texts, ",")
    (None, None)
    """
    import polars as pl

    if not data:
        return pl.DataFrame(schema=dict(dtypes))
    if len(dtypes) < 2 or not _well_quoted(data, separator):
        return None
    try:
        frame = pl.read_csv(data, has_header=False, schema=dtypes, separator=separator)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    n_marks = frame.height * (len(dtypes) - 1)
    return frame if _count_outside(data, separator.encode()) == n_marks else None


def _with_texts(dtype: Any, column: pl.Series) -> Any:
    """Return a type that also holds the texts of a column."""
    import polars as pl

    if dtype == pl.String:
        return dtype
    known = {*dtype.categories, *column.unique().drop_nulls()}
    return pl.Enum(sorted(known)) if len(known) < _MOST_CATEGORIES else pl.String


def _count_outside(data: bytes, mark: bytes) -> int:
    """Count a separator outside quotation marks."""
    if b'"' not in data:
        return count_byte(data, mark)
    characters = np.frombuffer(data, dtype=np.uint8)
    inside = np.bitwise_xor.accumulate((characters == ord('"')).view(np.uint8))
    return int(np.count_nonzero((characters == ord(mark)) & (inside == 0)))


def _well_quoted(data: bytes, separator: str) -> bool:
    r"""Whether quotation marks enclose whole cells only, and are all closed.

    Examples
    --------
    >>> [_well_quoted(cells, ",") for cells in (b'"a ""b"" c",d', b'a"b"c,d', b'"a"b,c', b'"a,b')]
    [True, False, False, False]
    """
    if b'"' not in data:
        return True
    characters = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero(characters == ord('"'))
    if len(marks) % 2:
        return False
    edge = np.zeros(256, dtype=bool)
    edge[[ord(separator), ord("\n"), ord('"')]] = True
    opening, closing = marks[0::2], marks[1::2]
    before = edge[characters[opening - 1]] | (opening == 0)
    after = edge[characters[(closing + 1) % len(data)]] | (closing == len(data) - 1)
    return bool(before.all() and after.all())


def _after_line(data: bytes, n_lines: int) -> int:
    """Return the offset just after this many lines."""
    place = 0
    for _ in range(n_lines):
        place = data.find(b"\n", place) + 1
        if place == 0:
            return len(data)
    return place


def _without_blank_lines(chunk: Chunk) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the lines that are not blank, and their numbers."""
    lines = chunk.data.split(b"\n")
    kept = [k for k, line in enumerate(lines) if line.strip(b" ")]
    return b"\n".join([lines[k] for k in kept]), np.array(kept, dtype=np.int64) + chunk.first_line


def _record_lines(chunk: Chunk) -> npt.NDArray[np.int64]:
    """Return the line on which each row begins; cells may hold line ends."""
    ends = even_newlines(chunk.data)
    newlines = np.flatnonzero(np.frombuffer(chunk.data, dtype=np.uint8) == ord("\n"))
    return chunk.first_line + np.concatenate([[0], np.searchsorted(newlines, ends) + 1])
