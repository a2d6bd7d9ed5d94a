"""What a format sees of a file: its beginning, by which it is recognised, and all that is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.text_rows import padded
from hitsndiffs.reading.vocabulary import bare_names, folded

if TYPE_CHECKING:
    from hitsndiffs.reading.exports.sheet import Table

__all__ = [
    "MOST_COLUMNS",
    "ROLES",
    "Choices",
    "Column",
    "Document",
    "Kind",
    "LeftOut",
    "Refusal",
    "Role",
    "Sample",
    "Sign",
    "Status",
    "has_index",
]

Kind = Literal["table", "sheets", "json", "jsonl", "parquet", "stats", "folder", "archive", "text"]
Status = Literal["answered", "blank", "not shown", "unreadable"]
Role = Literal[
    "user",
    "item",
    "answers",
    "group",
    "points",
    "key",
    "time",
    "identity",
    "comment",
    "constant",
    "attempt",
    "status",
    "unused",
]
ROLES: tuple[str, ...] = Role.__args__  # type: ignore[attr-defined]


class Refusal(InputError):
    """The file is recognised but cannot be ranked.

    Parameters
    ----------
    what
        What the file is, as a phrase: "a Moodle «Grades» report: points only, no answers".
    instead
        What to do instead: "download the «Responses» report instead".

    Examples
    --------
    >>> str(Refusal("an item analysis: one row per question", "export the answers of each person"))
    'this is an item analysis: one row per question; export the answers of each person.'
    """

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"this is {what}; {instead}.")
        self.what = what
        self.instead = instead

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what, self.instead)


# -- what recognition sees ---------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """The beginning of a file: all that a :class:`Sign` sees.

    Parameters
    ----------
    kind
        ``"table"`` (delimited text), ``"sheets"`` (a spreadsheet), ``"json"`` (one value),
        ``"jsonl"`` (one value per line), ``"parquet"``, ``"folder"``, ``"archive"`` (a zip) or
        ``"text"`` (anything else, XML for example).
    header
        Tables, sheets, Parquet: the column names as written, by position.
    rows
        The first rows below the header, all cells as text.
    sheets
        The names of all sheets; header and rows come from the first (or the chosen) one.
    records
        JSON: the first elements of a list, or the single object. JSONL: the first lines.
    members
        Folders and archives: the paths of the members, with ``/`` as separator.
    text
        Other texts: the beginning.
    """

    kind: Kind
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    sheets: tuple[str, ...] = ()
    records: tuple[Any, ...] = ()
    members: tuple[str, ...] = ()
    text: str = ""

    @property
    def is_table(self) -> bool:
        """Whether it is delimited text, a spreadsheet or Parquet."""
        return self.kind in ("table", "sheets", "parquet")

    @property
    def is_json(self) -> bool:
        """Whether it is JSON, one value or one per line."""
        return self.kind in ("json", "jsonl")

    @cached_property
    def without_index(self) -> Sample:
        """The same without the numbers of rows that data-frame libraries write first."""
        if not has_index(self.header, self.rows):
            return self
        return replace(self, header=self.header[1:], rows=tuple(row[1:] for row in self.rows))

    @cached_property
    def names(self) -> list[str]:
        """The header without the suffixes that data-frame libraries add to repeated names."""
        return bare_names(self.header)

    @cached_property
    def lines(self) -> str:
        """The names of the columns in lower case with single blanks, a line each."""
        return "\n".join(map(folded, self.header))

    @cached_property
    def full_rows(self) -> list[list[str]]:
        """The first rows, all as wide as the header."""
        return padded([list(row) for row in self.rows], len(self.header))

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """The first records that are objects, or the objects in the first list."""
        first = self.records[0] if self.records else None
        inside = first if isinstance(first, list) else self.records
        return [record for record in inside if isinstance(record, dict)]

    @property
    def first(self) -> dict[str, Any]:
        """The first record, if it is an object; otherwise an empty one."""
        return next(iter(self.objects), {})


def has_index(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column has no name of its own, and numbers the rows."""
    if not header or not re.fullmatch(r"(?:Unnamed: 0(?:\.\d+)?|column_1)?", header[0].strip()):
        return False
    numbers = [row[0].strip().removesuffix(".0") if row else "" for row in rows]
    return len(header) > 1 and any(
        numbers == [str(k) for k in range(first, first + len(rows))] for first in (0, 1)
    )


class Document(Protocol):
    """One file (or folder, or archive) that a converter reads."""

    @property
    def name(self) -> str:
        """The name of the file, without the path."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that contain it, outermost first, as far as they are known."""

    @property
    def kind(self) -> Kind:
        """See :class:`Sample`."""

    @property
    def sample(self) -> Sample:
        """The beginning of the file."""

    def table(self, sheet: str | None = None) -> Table:
        """Return the whole table, for tables, sheets and Parquet."""

    def records(self) -> Iterator[Any]:
        """Yield all records of JSONL, all elements of a JSON list, or all rows of Parquet."""

    def data(self) -> Any:
        """Return the whole value of a JSON file (bare NaN is allowed)."""

    def text(self) -> str:
        """Return the whole text."""

    def member(self, name: str) -> Document | None:
        """Return one member of a folder or an archive, or None if it does not exist."""

    def beside(self, pattern: str) -> list[Document]:
        """Return the files in the same folder (or archive) that match a pattern (``*.json``)."""


# -- what converters produce -------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """The role that a column is given, and why."""

    name: str
    role: Role
    reason: str
    position: int = -1


@dataclass(frozen=True)
class LeftOut:
    """Rows that are left out: how many, what they are, and why."""

    count: int
    what: str
    reason: str

    def is_like(self, other: LeftOut) -> bool:
        """Whether the other rows are left out for the same reason."""
        return (self.what, self.reason) == (other.what, other.reason)


@dataclass(frozen=True)
class Choices:
    """What the caller said about the file; None means that the format finds it out."""

    user: str | None = None
    item: str | None = None
    option: str | None = None
    sheet: str | None = None


#: A table with more columns than this is not searched for names.
MOST_COLUMNS = 5000


@dataclass(frozen=True)
class Sign:
    """What the beginning of a file shows if it has a format: all of what is named here.

    Parameters
    ----------
    because
        In words, as a phrase that follows "because": "each row is an annotation".
    columns
        A table has a column for each of these patterns; case and extra blanks do not matter.
    without
        No column has a name that matches this pattern.
    fields
        A record of JSON has all these names.
    holds
        What names alone do not tell. It uses nothing but the sample, and never fails.

    Examples
    --------
    >>> sign = Sign("workers judge hits", columns=("hitid", "answer.*"))
    >>> [sign.fits(Sample("table", names)) for names in (("HITId", "Answer.x"), ("HITId",))]
    [True, False]
    """

    because: str
    columns: tuple[str, ...] = ()
    without: str = ""
    fields: tuple[str, ...] = ()
    holds: Callable[[Sample], bool] | None = None

    def fits(self, sample: Sample) -> bool:
        """Whether a file that begins so has the format."""
        if self.fields and not any(record.keys() >= {*self.fields} for record in sample.objects):
            return False
        if self.columns and not (sample.is_table and 0 < len(sample.header) <= MOST_COLUMNS):
            return False
        return (
            all(_matches(pattern, sample.lines) for pattern in self.columns)
            and not (self.without and _matches(self.without, sample.lines))
            and (self.holds is None or self.holds(sample))
        )


@lru_cache
def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(f"^(?:{pattern})$", re.MULTILINE)


def _matches(pattern: str, lines: str) -> bool:
    return _line(pattern).search(lines) is not None
