"""JSON as a table: records (one per answer, or one per user), nested values, lists of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.labels import Place
from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.jsontext import DEEPEST, load, parsed
from hitsndiffs.reading.files.source import line_chunks, transcoded
from hitsndiffs.reading.tables.frames import fits_in_rows, texts_of
from hitsndiffs.reading.tables.nested import ANSWERS, flat_table, is_nested, table_of_lists
from hitsndiffs.reading.tables.table import Columns, Table, enough_rows

if TYPE_CHECKING:
    import polars as pl

    from hitsndiffs.reading.files.documents import FileDocument

__all__ = ["json_table"]

#: So many lines become records at a time: short ones take far more memory as records than as bytes.
MOST_LINES = 200_000

#: Some records, and the numbers of the lines (or elements) where they stand.
Piece = tuple[Sequence[int], list[Any]]


def json_table(document: FileDocument, stack: ExitStack) -> tuple[Table, str]:
    """Open a file of JSON, and say whether it holds records (``"jsonl"``) or more (``"json"``)."""
    name, notes = document.name, list[str]()
    found = None
    if is_nested(document.sample.records, document.kind):
        value = document.data() if document.kind == "json" else list(document.records())
        try:
            found, notes = flat_table(value)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    elif document.kind == "json" and not document.sample.objects:
        found = table_of_lists(document.data())
    if found is None:
        return _table_of_records(document, stack), "jsonl"
    lines = found.lines
    return Table.of_rows(found.header, found.rows, name, "record", lines=lines, notes=notes), "json"


def _table_of_records(document: FileDocument, stack: ExitStack) -> Table:
    records = _Records(document, stack)
    frames = records.frames()
    first = next(frames, None)
    if first is None:
        raise InputError(f"{document.name}: there are no records; nothing can be read.")
    names = list(first.columns)
    if fits_in_rows(first, document.settings.sizes):
        second = next(frames, None)
        if second is None:
            return Table(records.place, names, texts_of(first), notes=records.notes)
        frames = chain([second], frames)

    def read(wanted: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        del labels
        row = 0
        for frame in chain([first], frames):
            new = frame.columns if len(wanted) == len(names) else ()  # all columns are wanted
            yield row, {name: _column(frame, name) for name in dict.fromkeys([*wanted, *new])}
            row += frame.height

    head = texts_of(first.head(enough_rows(len(names))))
    return Table(records.place, names, head, read, notes=records.notes)


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column, which some pieces of the file may lack."""
    import polars as pl

    if name in frame.columns:
        return frame[name]
    return pl.repeat(None, frame.height, dtype=pl.String, eager=True)


class _Records:
    """The records of a file, as frames of text, and the lines where they stand."""

    def __init__(self, document: FileDocument, stack: ExitStack) -> None:
        is_whole = document.kind == "json"  # a value may stand on several lines: none is a record
        unit = "record" if is_whole else "line"
        self.place = Place(document.name, unit, self._line_of, by_position=False)
        self.notes: list[str] = []
        self._pieces = _of_value(document) if is_whole else _of_lines(document, stack)
        self._lines: list[tuple[int, Any]] = []
        #: Members that are lists or records (the options of a question); None until checked.
        self._nested: list[str] | None = None

    def _line_of(self, row: int) -> int:
        for first_row, lines in reversed(self._lines):
            if row >= first_row:
                return int(lines[row - first_row])
        return row + 1

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the records, piece by piece."""
        row = 0
        for numbers, records in self._pieces:
            frame = self._frame_of(numbers, records)
            if not frame.columns:
                raise InputError(
                    f"{self.place.source}: the records are empty; write them as "
                    '{"user": "a", "item": "q1", "option": "B"}.'
                )
            self._lines.append((row, np.array(numbers)))
            row += frame.height
            yield frame

    def _frame_of(self, numbers: Sequence[int], records: list[Any]) -> pl.DataFrame:
        import polars as pl

        frame = _uniform(records, self._nested or [])
        if frame is not None:
            return frame
        if self._nested is None:
            self._nested = _always_nested(records)
            if self._nested:
                self.notes.append(f"Left out {listed(self._nested)}: lists or records.")
        columns: dict[str, list[str | None]] = {}
        for k, record in enumerate(records):
            where = f"{self.place.source}, {self.place.unit} {numbers[k]}"
            if not isinstance(record, dict):
                raise InputError(
                    f'{where}: expected a record, got {_what(record)}; write {{"name": value, …}}.'
                )
            for name, value in _flat(record, where).items():
                if name in self._nested:
                    continue
                cells = columns.setdefault(_whole(name), [None] * len(records))
                cells[k] = _text(value, where, name)
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _of_value(document: FileDocument) -> Iterator[Piece]:
    value = document.data()
    loaded = value if isinstance(value, list) else [value]
    if loaded:
        yield range(1, len(loaded) + 1), loaded


def _of_lines(document: FileDocument, stack: ExitStack) -> Iterator[Piece]:
    stream = transcoded(stack.enter_context(document.stream()), document.encoding)
    for number, chunk in enumerate(line_chunks(stream, quotes=False)):
        data = chunk.data.removeprefix(b"\xef\xbb\xbf") if number == 0 else chunk.data
        lines = data.split(b"\n")
        for first in range(0, len(lines), MOST_LINES):
            part = lines[first : first + MOST_LINES]
            kept = [k for k, line in enumerate(part) if line.strip()]
            if not kept:
                continue
            own = part if len(kept) == len(part) else [part[k] for k in kept]
            numbers = (np.array(kept) + (chunk.first_line + first)).tolist()
            records = _parsed(own)
            if records is None:  # find the line at fault
                pairs = zip(numbers, own, strict=True)
                records = [load(line.decode(), document.name, k) for k, line in pairs]
            yield numbers, records


def _parsed(lines: list[bytes]) -> list[Any] | None:
    """Parse many lines at once; None if one of them is wrong, or may repeat a name.

    Polars is quicker, but writes booleans and large numbers differently from chunk to chunk.
    """
    together = b"[" + b",".join(lines) + b"]"
    is_flat = together.count(b"{") + together.count(b"[") == len(lines) + 1
    if not is_flat and any(line.count(b"{") + line.count(b"[") > DEEPEST for line in lines):
        return None
    try:
        records: list[Any] = parsed(together.decode(), "")
    except (ValueError, RecursionError):
        return None
    return records if len(records) == len(lines) else None


def _uniform(records: list[Any], left_out: list[str]) -> pl.DataFrame | None:
    """Return records that all have the same members, with single values; else None."""
    import polars as pl

    names = list(records[0]) if isinstance(records[0], dict) else []
    if not names or {*map(type, records)} != {dict} or {*map(len, records)} != {len(names)}:
        return None
    columns = []
    for name in names:
        if name in left_out:
            continue
        try:
            values = [record[name] for record in records]
        except KeyError:
            return None
        kinds = set(map(type, values))
        if not kinds <= {str, int, bool, float, type(None)}:
            return None
        if not kinds <= {str, type(None)}:
            values = [_text(value, "", name) for value in values]
        try:
            columns.append(pl.Series(_whole(name), values, dtype=pl.String))
        except UnicodeEncodeError:  # lone surrogates
            return None
    return pl.DataFrame(columns)


def _always_nested(found: list[Any]) -> list[str]:
    """Return the members that always hold lists or records, if at least three others do not."""
    records = [record for record in found if isinstance(record, dict)]
    members: dict[str, list[bool]] = {}
    for record in records:
        for name, value in record.items():
            if value is not None:
                members.setdefault(name, []).append(isinstance(value, (list, dict)))
    answers = {name for name in ANSWERS if any(isinstance(r.get(name), dict) for r in records)}
    nested = [name for name, own in members.items() if all(own) and name not in answers]
    return nested if len(members) - len(nested) > 2 else []


def _flat(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a record with its nested answers moved up beside the user."""
    nested = [name for name in ANSWERS if isinstance(record.get(name), dict)]
    if not nested:
        return record
    users = recognise("user", [name for name in record if name != nested[0]], wide=True)
    if not users:
        raise InputError(
            f"{where}: the record holds {nested[0]!r} but nothing that names the user; expected a "
            "member such as 'subject_id' or 'user'."
        )
    return {**record[nested[0]], users[0]: record[users[0]]}


def _text(value: Any, where: str, name: str) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, (dict, list)):
        raise InputError(
            f"{where}, member {shortened(name)!r}: expected a single value, got "
            f"{_what(value)}; write one answer per member."
        )
    return _whole(str(value))


def _whole(text: str) -> str:
    """Replace lone surrogates, which only JSON can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else shortened(f"{value!r}")
