"""Read JSON records: one per answer, or one per user (flat or with nested answers)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.labels import Place
from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.jsontext import DEEPEST, check_depth
from hitsndiffs.reading.files.source import ByteStream, line_chunks
from hitsndiffs.reading.tables.file_table import Columns, FileTable
from hitsndiffs.reading.tables.frames import texts_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RecordsTable"]

#: Names of the member that holds all answers of one user: ``{"subject_id": …, "responses": {…}}``.
_NESTED = ("responses", "answers", "response", "choices")
_SAMPLE = 200


class RecordsTable(FileTable):
    """A file of JSON records: one ``array`` of them, or one per line."""

    def __init__(self, stream: ByteStream, *, array: bool = False) -> None:
        super().__init__()
        unit = "record" if array else "line"
        self.place = Place(stream.name, unit, self._line_of, by_position=False)
        self._lines: list[tuple[int, Any]] = []
        #: Members that are lists or records (the options of a question); None until checked.
        self._nested: list[str] | None = None
        self._frames = self._all_frames(stream, array)
        self._held = next(self._frames, None)
        if self._held is None:
            raise InputError(f"{stream.name}: there are no records; nothing can be read.")
        self.names = list(self._held.columns)
        self.sample = texts_of(self._held.head(_SAMPLE))

    def blocks(
        self, labels: Sequence[str], columns: Sequence[str] | None = None, *, scanned: bool = False
    ) -> Iterator[tuple[int, Columns]]:
        """Yield each piece of the file: the number of its first row, and its columns."""
        import polars as pl

        del labels, scanned
        first_row = 0
        frame, self._held = self._held, None
        while frame is not None:
            absent = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
            names = frame.columns if columns is None else columns
            yield first_row, {name: frame.get_column(name, default=absent) for name in names}
            first_row += frame.height
            frame = next(self._frames, None)

    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists, in the order of the names."""
        import polars as pl

        frames = [pl.DataFrame(columns) for _, columns in self.blocks([])]
        self.names = list(dict.fromkeys(name for frame in frames for name in frame.columns))
        for frame in frames:
            for row in frame.iter_rows(named=True):
                yield [row.get(name) for name in self.names]

    def _line_of(self, row: int) -> int:
        for first_row, lines in reversed(self._lines):
            if row >= first_row:
                return int(lines[row - first_row])
        return row + 1

    # -- frames -----------------------------------------------------------------------------

    def _all_frames(self, stream: ByteStream, array: bool) -> Iterator[pl.DataFrame]:
        row = 0
        pieces = self._array(stream) if array else self._line_frames(stream)
        for frame, lines in pieces:
            if not frame.columns:
                raise InputError(
                    f"{stream.name}: the records are empty; write them as "
                    '{"user": "a", "item": "q1", "option": "B"}.'
                )
            self._lines.append((row, lines))
            row += frame.height
            yield frame

    def _line_frames(self, stream: ByteStream) -> Iterator[tuple[pl.DataFrame, Any]]:
        for number, chunk in enumerate(line_chunks(stream, quotes=False)):
            data = chunk.data.removeprefix(b"\xef\xbb\xbf") if number == 0 else chunk.data
            lines = data.split(b"\n")
            kept = [k for k, line in enumerate(lines) if line.strip()]
            if not kept:
                continue
            numbers = np.array(kept, dtype=np.int64) + chunk.first_line
            is_flat = data.count(b"{") + data.count(b"[") == len(kept)
            records = self._at_once([lines[k] for k in kept], is_flat)
            if records is None:
                frame = self._slowly([(chunk.first_line + k, lines[k]) for k in kept])
            else:
                frame = self._from_records(list(zip(numbers.tolist(), records, strict=True)))
            yield frame, numbers

    def _at_once(self, lines: list[bytes], is_flat: bool) -> list[Any] | None:
        """Parse many lines at once; None if one of them is wrong.

        Polars is quicker, but writes booleans and large numbers differently from chunk to chunk.
        """
        if not is_flat and any(line.count(b"{") + line.count(b"[") > DEEPEST for line in lines):
            return None
        try:
            records: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
        except (ValueError, RecursionError):
            return None
        return records if len(records) == len(lines) else None

    def _slowly(self, lines: list[tuple[int, bytes]]) -> pl.DataFrame:
        """Parse line by line, to say where an error is."""
        records = []
        for number, line in lines:
            try:
                check_depth(line.decode(), f"{self.place.source}, line {number}")
                record = json.loads(line)
            except InputError:
                raise
            except (ValueError, RecursionError) as error:
                message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                at = f", column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
                raise InputError(
                    f"{self.place.source}, line {number}{at}: this is not valid JSON ({message}); "
                    'every line should be one record such as {"user": "a", "item": "q1", '
                    '"option": "B"}.'
                ) from None
            records.append((number, record))
        return self._from_records(records)

    def _array(self, stream: ByteStream) -> Iterator[tuple[pl.DataFrame, Any]]:
        data = stream.read_within()
        try:
            text = data.decode("utf-8-sig")
            check_depth(text, stream.name)
            loaded = json.loads(text)
        except UnicodeDecodeError:
            raise InputError(f"{stream.name}: the text is not UTF-8; save it as UTF-8.") from None
        except InputError:
            raise
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{stream.name}: this is not valid JSON ({error}); give a list of records, or "
                "one record per line."
            ) from None
        if not isinstance(loaded, list):
            raise InputError(f"{stream.name}: a list of records was expected; got {_what(loaded)}.")
        if loaded:
            yield self._from_records(list(enumerate(loaded, 1))), np.arange(1, len(loaded) + 1)

    def _from_records(self, records: list[tuple[int, Any]]) -> pl.DataFrame:
        import polars as pl

        own = [record for _, record in records]
        frame = _uniform(own, self._nested or [])
        if frame is not None:
            return frame
        if self._nested is None:
            self._nested = _always_nested(own)
            if self._nested:
                self.notes.append(f"Left out {listed(self._nested)}: lists or records.")
        columns: dict[str, list[str | None]] = {}
        for k, (number, record) in enumerate(records):
            where = f"{self.place.source}, {self.place.unit} {number}"
            if not isinstance(record, dict):
                raise InputError(
                    f'{where}: expected a record, got {_what(record)}; write {{"name": value, …}}.'
                )
            for name, value in _flat(record, where).items():
                if name in self._nested:
                    continue
                name = _whole(name)
                if name not in columns:
                    columns[name] = [None] * len(records)
                columns[name][k] = _text(value, where, name)
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _uniform(records: list[Any], left_out: list[str]) -> pl.DataFrame | None:
    """Return records that all have the same members, with single values; else None."""
    import polars as pl

    names = list(records[0]) if isinstance(records[0], dict) else []
    if not names or not all(type(r) is dict and len(r) == len(names) for r in records):
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
    answers = {name for name in _NESTED if any(isinstance(r.get(name), dict) for r in records)}
    nested = [name for name, own in members.items() if all(own) and name not in answers]
    return nested if len(members) - len(nested) > 2 else []


def _flat(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a record with its nested answers moved up beside the user."""
    nested = [name for name in _NESTED if isinstance(record.get(name), dict)]
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
    if isinstance(value, bool):
        return str(value)
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
