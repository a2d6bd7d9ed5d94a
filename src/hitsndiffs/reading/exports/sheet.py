"""Tables on their way to a stream of answers: their columns, and the people in their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hitsndiffs.data.encoding.names import find_column
from hitsndiffs.reading.exports.base import (
    Choices,
    Column,
    Converter,
    Document,
    Role,
    Stream,
)
from hitsndiffs.reading.exports.common import as_text, objects, unique
from hitsndiffs.reading.layouts.extra_rows import row_names
from hitsndiffs.reading.vocabulary import (
    FIRST_NAMES,
    LAST_NAMES,
    bare_names,
    folded,
    is_key_name,
    plain,
)

__all__ = ["Sheet", "Table", "by_table", "cell_at"]


@dataclass
class Table:
    """A whole table without blank lines; cells are text and rows are as wide as the header.

    Parameters
    ----------
    header
        The names as written, by position (names may repeat).
    rows
        The rows below the header.
    above
        The rows above the header.
    lines
        The line (or the row of the sheet, from 1) where each row begins.
    """

    header: list[str]
    rows: list[list[str]]
    above: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The header without the suffixes that data-frame libraries add to repeated names."""
        return bare_names(self.header)

    def find(self, *names: str) -> int | None:
        """Return the index of the first name found as a column, ignoring case."""
        header = [folded(name) for name in self.header]
        return next((header.index(folded(n)) for n in names if folded(n) in header), None)

    def cells(self, place: int) -> list[str]:
        """Return the cells of a column."""
        return [row[place] for row in self.rows]


@dataclass
class Sheet(Table):
    """A table that a converter reads: the file's name, what the caller said, the stream to fill."""

    name: str = ""
    choices: Choices = field(default_factory=Choices)
    stream: Stream = field(default_factory=Stream)

    # -- columns --------------------------------------------------------------------------------

    def set_role(self, places: Iterable[int], role: Role, reason: str) -> None:
        """Record the role of some columns."""
        self.stream.columns += [Column(self.header[k], role, reason, k) for k in places]

    def rest_unused(self, reason: str) -> None:
        """Record the columns that have no role yet as unused."""
        known = {column.position for column in self.stream.columns}
        self.set_role([k for k in range(len(self.header)) if k not in known], "unused", reason)

    def _given(self, named: str | None, argument: str) -> list[int]:
        """Return the indices of the columns that the caller named (``"a+b"`` for two)."""
        if named is None:
            return []
        header = self.header
        names = [named] if named in header or "+" not in named else named.split("+")
        return [
            header.index(find_column(name.strip(), header, where="the file", argument=argument))
            for name in names
        ]

    # -- rows -----------------------------------------------------------------------------------

    def keep_rows(self, rows: list[list[str]], what: str, reason: str) -> None:
        """Keep some of the rows, and say what the others are and why they are left out."""
        if len(rows) < len(self.rows):
            self.stream.leave_out(len(self.rows) - len(rows), what, reason)
        self.rows = rows

    def given_items(self) -> list[str]:
        """Return the item of each row from the columns that the caller named; empty without any."""
        places = self._given(self.choices.item, "item")
        return [" ".join(row[k].strip() for k in places) for row in self.rows] if places else []

    def persons(self, places: Sequence[int]) -> list[str]:
        """Return the person of each row, from all columns that identify people.

        Two rows belong to the same person if all these columns agree. The label is the name if
        names are unique, else the first column that is unique, else all columns joined. A row where
        they are all blank counts as a separate person. The caller may name the columns (``user``).
        Without any column, each row is a person, named by its number.

        Examples
        --------
        >>> header, ada = ["Last name", "First name", "ID"], ["Bird", "Ada", "7"]
        >>> Sheet(header, [ada, ["Cole", "Bob", "8"], ada]).persons([0, 1, 2])
        ['Ada Bird', 'Bob Cole', 'Ada Bird']
        >>> Sheet(header, [ada, ["Bird", "Ada", "8"]]).persons([0, 1, 2])
        ['7', '8']
        """
        asked = self._given(self.choices.user, "user")
        places = asked or places
        if not places:
            return [str(k) for k in range(1, len(self.rows) + 1)]
        names = [plain(self.header[place]) for place in places]
        raw = [tuple([row[place] for place in places]) for row in self.rows]
        stripped = {who: tuple(map(str.strip, who)) for who in set(raw)}
        identities = [stripped[who] for who in raw]
        if not all(any(who) for who in identities):
            identities = [
                who if any(who) else (f"unnamed row {k}", *who[1:])
                for k, who in enumerate(identities, start=1)
            ]
        found = list(dict.fromkeys(identities))
        given = [k for k, name in enumerate(names) if name in FIRST_NAMES]
        family = [k for k, name in enumerate(names) if name in LAST_NAMES and k not in given[:1]]
        parts = [*given[:1], *family[:1]] if given and family else []
        every = list(range(len(places)))
        single = [[k] for k in every if k not in parts]
        for label in [every] if asked else [parts, *single, every]:
            labels = [" ".join(filter(None, (who[k] for k in label))) for who in found]
            if all(labels) and len(set(labels)) == len(labels):
                break
        else:
            labels = unique(text or "unnamed" for text in labels)
        names_of = dict(zip(found, labels, strict=True))
        return [names_of[who] for who in identities]

    def use_key_row(self, places: Sequence[int], who: Sequence[str]) -> None:
        """Take the answers of a row named like a key as the key: teachers send the form as «KEY».

        ``places`` are the columns that say who answered.
        """
        stream = self.stream
        labels = row_names({self.header[k]: self.cells(k) for k in places}).values()
        named = {who[k]: text for own in labels for k, text in enumerate(own) if is_key_name(text)}
        if len(named) != 1 or len(set(who)) < 3:
            return
        own = [k for k, person in enumerate(stream.persons) if person in named]
        right = {stream.items[k]: stream.answers[k] for k in own if stream.answers[k]}
        others = [k for k, person in enumerate(stream.persons) if person not in named]
        shared = {(stream.items[k], stream.answers[k]) for k in others}
        if sum(pair in shared for pair in right.items()) * 2 <= len(right):
            return  # nobody chose the same: it is not a key to these answers
        for name in ("persons", "attempts", "items", "answers", "points", "possible", "statuses"):
            setattr(stream, name, [getattr(stream, name)[k] for k in others])
        stream.keys = [right.get(item) for item in stream.items]
        stream.key_from = f"row {next(iter(named.values()))!r}"
        stream.leave_out(1, stream.key_from, "it holds the key")


def by_table(
    fill: Callable[[Sheet], None], *, key_from: str = "", records: bool = False
) -> Converter:
    """Return a converter that reads a file as one table, whose stream ``fill`` fills.

    With ``records``, JSON records (or lists of them) are rows too, with a column per key.
    """

    def convert(document: Document, choices: Choices) -> Stream:
        as_rows = records and document.kind in ("json", "jsonl")
        table = _table_of_records(document) if as_rows else document.table()
        stream = Stream(key_from=key_from)
        fill(Sheet(**vars(table), name=document.name, choices=choices, stream=stream))
        return stream

    return convert


def _table_of_records(document: Document) -> Table:
    rows = [row for record in document.records() for row in objects(record)]
    header = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[as_text(row.get(key)) for key in header] for row in rows]
    return Table([str(key) for key in header], cells, lines=list(range(1, len(cells) + 1)))


def cell_at(row: Sequence[str], place: int | None) -> str:
    """Return a stripped cell of a row; blank if there is no such column (None)."""
    return "" if place is None else row[place].strip()
