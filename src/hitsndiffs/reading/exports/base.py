"""What defines a format: how it is recognised, and the stream that its converter produces.

A format is one small file with a :class:`Format` in it, and one entry in
:data:`hitsndiffs.reading.exports.FORMATS`. The reader does everything else: bytes, text encodings,
separators, sheets, attempts, folding of answers, keys from points, the codes of
:class:`hitsndiffs.Responses`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
    "Converter",
    "Document",
    "Format",
    "Kind",
    "LeftOut",
    "Refusal",
    "Role",
    "Sample",
    "Sign",
    "Status",
    "Stream",
    "absent",
    "has_index",
    "number_attempts",
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
    """Whether the first column has no name of its own, and numbers the rows.

    Examples
    --------
    >>> has_index(["", "a"], [["0", "x"], ["1", "y"]]), has_index(["", "a"], [["Ann", "x"]])
    (True, False)
    """
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


#: The columns of a stream, one entry per answer.
_ENTRIES = (
    "persons", "attempts", "items", "answers", "points", "possible", "keys", "statuses",
)  # fmt: skip


@dataclass
class Stream:
    """What a converter produces: one entry per answer, in columns, and notes about the file.

    An answer is one text, a tuple of texts (a set), or None. Order within a set does not matter,
    because the reader sorts. Texts stay as in the file; the reader trims and folds them.

    Examples
    --------
    >>> stream = Stream()
    >>> stream.add("ann", "q1", "A", key="A")
    >>> stream.add("bob", "q1", ("C", "B"), key="A", points=0, possible=1)
    >>> stream.add("bob", "q2", None)
    >>> len(stream), stream.statuses
    (3, ['answered', 'answered', 'blank'])
    """

    persons: list[str] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    points: list[float | None] = field(default_factory=list)
    possible: list[float | None] = field(default_factory=list)
    keys: list[tuple[str, ...] | None] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    #: Sentences that state what was assumed.
    notes: list[str] = field(default_factory=list)
    #: Rows that do not count as a person's answers: averages, keys, previews, unfinished attempts.
    left_out: list[LeftOut] = field(default_factory=list)
    #: The role of each column of the file.
    columns: list[Column] = field(default_factory=list)
    #: The text of an item, where its name is a number or a code.
    titles: dict[str, str] = field(default_factory=dict)
    #: Where keys come from, as a phrase ("the columns «Right answer n»").
    key_from: str = ""
    #: Whether the file holds one user, who is named by the part of its path that differs.
    user_is_file: bool = False

    def add(
        self,
        person: str,
        item: str,
        answer: str | Iterable[str] | None,
        *,
        attempt: int = 1,
        points: float | None = None,
        possible: float | None = None,
        key: str | Iterable[str] | None = None,
        status: Status | None = None,
    ) -> None:
        """Add one answer; without an answer, the status defaults to "blank"."""
        answers = _as_set(answer)
        self.persons.append(person)
        self.attempts.append(attempt)
        self.items.append(item)
        self.answers.append(answers)
        self.points.append(points)
        self.possible.append(possible)
        self.keys.append(_as_set(key) or None)
        self.statuses.append(status or ("answered" if answers else "blank"))

    def leave_out(self, count: int, what: str, reason: str) -> None:
        """Record rows that are left out, together with others of that kind."""
        rows = LeftOut(count, what, reason)
        for k, own in enumerate(self.left_out):
            if own.is_like(rows):
                self.left_out[k] = LeftOut(own.count + count, what, reason)
                return
        self.left_out.append(rows)

    def keep(self, entries: Sequence[int]) -> None:
        """Keep some of the entries."""
        for name in _ENTRIES:
            setattr(self, name, [getattr(self, name)[k] for k in entries])

    def number_repeats(self) -> None:
        """Number repeated answers of a person to the same item as attempts, in order."""
        self.attempts = number_attempts(zip(self.persons, self.items, strict=True))

    def extend(self, other: Stream) -> None:
        """Append another stream (another file of the same test)."""
        for name in _ENTRIES:
            getattr(self, name).extend(getattr(other, name))
        self.notes.extend(note for note in other.notes if note not in self.notes)
        for rows in other.left_out:
            self.leave_out(rows.count, rows.what, rows.reason)
        known = {(column.name, column.position) for column in self.columns}
        self.columns.extend(c for c in other.columns if (c.name, c.position) not in known)
        self.titles = {**other.titles, **self.titles}
        if not self.key_from and any(key is not None for key in other.keys):
            self.key_from = other.key_from

    def __len__(self) -> int:
        return len(self.persons)


def number_attempts(keys: Iterable[Any]) -> list[int]:
    """Return for each row how often its key has occurred so far.

    Examples
    --------
    >>> number_attempts(["ann", "bob", "ann"])
    [1, 1, 2]
    """
    seen: Counter[Any] = Counter()
    numbers = []
    for key in keys:
        seen[key] += 1
        numbers.append(seen[key])
    return numbers


def _as_set(answer: str | Iterable[str] | None) -> tuple[str, ...]:
    if answer is None:
        return ()
    if isinstance(answer, str):
        return (answer,) if answer.strip() else ()
    return tuple(text for text in answer if text.strip())


#: Turns a document into a stream, given what the caller said.
Converter = Callable[[Document, Choices], Stream]

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


@dataclass(frozen=True)
class Format:
    """One export format.

    Parameters
    ----------
    name
        For ``--format``: ``"canvas"``, ``"lm-eval"``.
    title
        For people: ``"Canvas, Student Analysis (classic quizzes)"``.
    about
        One line: where it comes from, and in which files.
    signs
        How it is recognised: a file has the format if it shows one of these.
    convert
        Takes a document and returns the stream. May raise :class:`Refusal` (what the file is, and
        what to export instead).
    tried
        On which real files it was tried, as a phrase; blank where it was written from the
        documentation or the source code of the tool.
    """

    name: str
    title: str
    about: str
    signs: tuple[Sign, ...]
    convert: Converter
    tried: str = ""

    def recognise(self, sample: Sample) -> str | None:
        """Return why a sample has this format, as a phrase; None if it has not."""
        return next((sign.because for sign in self.signs if sign.fits(sample)), None)


def absent(what: str, columns: str) -> Refusal:
    """Return the refusal for a table that lacks the columns of a format."""
    return Refusal(f"not {what}: there is no {columns}", "omit the format so that it is detected")
