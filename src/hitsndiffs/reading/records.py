"""JSON lines: a record per answer, a record per user, or a user with all responses."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.data.encoding.result import Place
from hitsndiffs.data.encoding.series import as_plain
from hitsndiffs.errors import InputError
from hitsndiffs.reading.source import ByteStream, Chunk, line_chunks

if TYPE_CHECKING:
    import polars as pl

    from hitsndiffs.reading.build import Columns

__all__ = ["RecordsTable"]

#: Names of the member that holds all answers of a user: ``{"subject_id": …, "responses": {…}}``.
_NESTED = ("responses", "answers", "response", "choices")
_SAMPLE = 200


class RecordsTable:
    """A file of JSON records; what it offers is that of :class:`DelimitedTable`.

    Parameters
    ----------
    stream
        The bytes.
    array
        Whether the file is one JSON array of records instead of a record per line.
    """

    def __init__(self, stream: ByteStream, *, array: bool = False) -> None:
        self.notes: list[str] = []
        self.n_rows: int | None = None
        self.has_header = True
        unit = "record" if array else "line"
        self.place = Place(stream.name, unit, self._line_of, by_position=False)
        self._lines: list[tuple[int, Any]] = []
        self._frames = self._all_frames(stream, array)
        self._held = next(self._frames, None)
        if self._held is None:
            raise InputError(f"{stream.name}: there are no records; nothing can be read.")
        self.names = list(self._held.columns)
        if not self.names:
            raise InputError(
                f"{stream.name}: the records are empty; write them as "
                '{"user": "a", "item": "q1", "option": "B"}.'
            )
        head = self._held.head(_SAMPLE)
        texts = [as_plain(column).to_list() for column in head.iter_columns()]
        self.sample = [
            ["" if cell is None else str(cell) for cell in row] for row in zip(*texts, strict=True)
        ]

    def blocks(
        self,
        labels: Sequence[str],
        columns: Sequence[str] | None = None,
        *,
        scanned: bool = False,
    ) -> Iterator[tuple[int, Columns]]:
        """Yield the number of the first row and the columns of each piece of the file."""
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
            if frame.height == 0:
                continue
            self._lines.append((row, lines))
            row += frame.height
            yield self._unnested(frame)

    def _line_frames(self, stream: ByteStream) -> Iterator[tuple[pl.DataFrame, Any]]:
        import polars as pl

        for number, chunk in enumerate(line_chunks(stream, quotes=False)):
            if number == 0 and chunk.data.startswith(b"\xef\xbb\xbf"):
                chunk = Chunk(chunk.data[3:], chunk.first_line)
            lines = chunk.data.split(b"\n")
            kept = np.array([k for k, line in enumerate(lines) if line.strip()], dtype=np.int64)
            if not len(kept):
                continue
            try:
                frame = pl.read_ndjson(chunk.data, infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                frame = None
            if frame is None or frame.height != len(kept) or not _is_plain(frame):
                frame = self._slowly([(chunk.first_line + k, lines[k]) for k in kept.tolist()])
            yield frame, kept + chunk.first_line

    def _slowly(self, lines: list[tuple[int, bytes]]) -> pl.DataFrame:
        """Parse line by line, which says where an error is."""
        records = []
        for number, line in lines:
            try:
                record = json.loads(line)
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
        data = stream.read()
        try:
            loaded = json.loads(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InputError(f"{stream.name}: the text is not UTF-8; save it as UTF-8.") from None
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{stream.name}: this is not valid JSON ({error}); give a list of records, or "
                "one record per line."
            ) from None
        if not isinstance(loaded, list):
            raise InputError(f"{stream.name}: a list of records was expected; got {_what(loaded)}.")
        yield self._from_records(list(enumerate(loaded, 1))), np.arange(1, len(loaded) + 1)

    def _from_records(self, records: list[tuple[int, Any]]) -> pl.DataFrame:
        import polars as pl

        columns: dict[str, list[str | None]] = {}
        for k, (number, record) in enumerate(records):
            where = f"{self.place.source}, {self.place.unit} {number}"
            if not isinstance(record, dict):
                raise InputError(
                    f"{where}: a record was expected, and {_what(record)} came; write "
                    '{"name": value, …}.'
                )
            for name, value in _flat(record).items():
                column = columns.setdefault(name, [None] * len(records))
                column[k] = _text(value, f"{where}, member {name!r}")
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def _unnested(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Bring the answers of a nested member up beside the user."""
        import polars as pl

        structs = [name for name in frame.columns if isinstance(frame[name].dtype, pl.Struct)]
        if not structs:
            return frame
        nested = structs[0]
        answers = frame[nested].struct.unnest()
        users = recognise("user", [n for n in frame.columns if n not in structs], wide=True)
        if not users:
            raise InputError(
                f"{self.place.source}: the records hold {nested!r} but nothing that names the "
                f"user; expected a member such as 'subject_id' or 'user'."
            )
        return pl.DataFrame([frame[users[0]], *(c for c in answers if c.name != users[0])])


def _is_plain(frame: pl.DataFrame) -> bool:
    """Whether Polars understood every member: single values, or one level of answers."""
    import polars as pl

    for dtype in frame.dtypes:
        if isinstance(dtype, pl.Struct):
            if any(field.dtype.is_nested() for field in dtype.fields):
                return False
        elif dtype.is_nested():
            return False
    return sum(isinstance(dtype, pl.Struct) for dtype in frame.dtypes) <= 1


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with its nested answers beside the user."""
    nested = [name for name in _NESTED if isinstance(record.get(name), dict)]
    if not nested:
        return record
    users = recognise("user", record, wide=True)
    own = {users[0]: record[users[0]]} if users else {}
    return {**record[nested[0]], **own}


def _text(value: Any, where: str) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (dict, list)):
        raise InputError(
            f"{where}: a single value was expected, and {_what(value)} came; write one answer per "
            "member."
        )
    return str(value)


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"{value!r}"
