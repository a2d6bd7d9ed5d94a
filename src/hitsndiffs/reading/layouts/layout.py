"""How a plain table is read, and how strongly its columns speak for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Column, Refusal, Role

__all__ = [
    "ASKED",
    "REASONS",
    "ROLE_OF_KIND",
    "SAID",
    "Hypothesis",
    "Layout",
    "WideRoles",
    "left_out_note",
]

#: Reason of columns that the caller named as items.
ASKED = "asked for (items)"
#: Why a column is no item, by the kind of its cells, and the role that it has then.
REASONS = {
    "time": "its cells are times",
    "mail": "its cells are e-mail addresses",
    "link": "its cells are addresses",
    "score": "its cells are points or percentages",
    "counter": "it counts the rows",
    "measure": "its cells are numbers that hardly repeat, not choices",
    "different": "no two cells are alike",
    "text": "its cells are free text: hardly any two are alike",
    "empty": "it is empty",
    "record": "its cells are records",
}
ROLE_OF_KIND: dict[str, Role] = {
    "time": "time",
    "mail": "identity",
    "link": "unused",
    "score": "points",
    "counter": "unused",
    "measure": "points",
    "different": "identity",
    "text": "comment",
    "empty": "unused",
    "record": "unused",
}
#: What a name says, in words.
SAID = {
    "points": "points",
    "time": "a time",
    "status": "a status",
    "comment": "a comment",
    "attempt": "the number of an attempt",
    "identity": "something about the person",
    "row": "a row number",
    "key": "a key",
}
#: So many columns beside the answers are searched for the names of key rows and averages.
LABELS = 12


@dataclass
class WideRoles:
    """The columns of a table with one row per user: those of users and items, and all others."""

    columns: list[Column]
    users: list[str]
    items: list[str]
    notes: list[str] = field(default_factory=list)
    #: Right answers that stand in columns of their own, or follow from columns of points.
    key: dict[str, str] = field(default_factory=dict)
    #: Where the key comes from, in words.
    key_from: str = "the columns of points"

    @property
    def labels(self) -> list[str]:
        """Columns beside the answers, one of which may mark a row as a key or an average."""
        beside = ("identity", "unused", "constant", "points", "comment")
        return [c.name for c in self.left_out if c.role in beside][:LABELS]

    @property
    def asked(self) -> bool:
        """Whether the caller named the items."""
        return any(c.reason == ASKED for c in self.columns)

    @property
    def attempt(self) -> str | None:
        """The column with the number of the attempt."""
        return next((c.name for c in self.columns if c.role == "attempt"), None)

    @property
    def constant(self) -> list[str]:
        """The columns with one text in all rows that is not an answer to another item."""
        return [c.name for c in self.columns if c.role == "constant"]

    @property
    def left_out(self) -> list[Column]:
        """The columns that are neither items nor user names."""
        taken = {*self.users, *self.items}
        return [c for c in self.columns if c.name not in taken]


@dataclass
class Layout:
    """How a plain table is read.

    Parameters
    ----------
    name
        ``"wide"``, ``"long"`` or ``"transposed"``.
    why
        The reason.
    columns
        What each column is.
    roles
        The roles of a wide table.
    long
        The columns of users, items and options of a long table.
    item, users
        For a transposed table, the column of the items and those of the users.
    key
        The column that holds the key, if any (long and transposed).
    group
        The column of the users' groups, if any.
    parts
        The columns whose cells together name the items (or the users) of a long table, if not a
        single one does.
    scores
        How strongly the columns speak for each way to read the table, with the reasons.
    """

    name: str
    why: str
    columns: list[Column] = field(default_factory=list)
    roles: WideRoles | None = None
    long: tuple[str, str, str] | None = None
    item: str | None = None
    users: list[str] = field(default_factory=list)
    key: str | None = None
    group: str | None = None
    parts: list[str] = field(default_factory=list)
    scores: list[str] = field(default_factory=list)


@dataclass
class Hypothesis:
    """One way to read a table, and what speaks for and against it.

    A piece of evidence has a weight from -4 to 4: 3 and more settle the matter unless something
    else speaks up, 1 is a hint.

    Parameters
    ----------
    title
        The way in words: ``"one row per user"``.
    make
        Returns the layout.
    refusal
        What the table is instead, if it is no table of answers.
    choose
        The options that choose this way: ``layout="wide"``.
    possible
        Whether there is enough to read the table this way at all.
    """

    title: str
    make: Callable[[], Layout] | None = None
    refusal: Refusal | None = None
    choose: str = ""
    possible: bool = True
    evidence: list[tuple[int, str]] = field(default_factory=list)

    def add(self, weight: int, why: str) -> None:
        """Add a piece of evidence; one without weight is not kept."""
        if weight:
            self.evidence.append((weight, why))

    @property
    def score(self) -> int:
        """The sum of all evidence."""
        return sum(weight for weight, _ in self.evidence)

    def __str__(self) -> str:
        told = "; ".join(f"{why} ({weight:+d})" for weight, why in self.evidence)
        return f"{self.title}: {self.score}" + (f" – {told}" if told else "")


def left_out_note(columns: Sequence[Column]) -> str:
    """Return the note on columns that are left out, grouped by role."""
    groups: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        groups[column.role].append(column.name)
    said = "; ".join(f"{listed(names, most=3)} ({role})" for role, names in groups.items())
    return f"Left out {said}."
