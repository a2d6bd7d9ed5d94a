"""Recognise tables with one row per answer by their cells, whatever their columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from hitsndiffs.data.encoding.names import ROLES, recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.layouts.content import ColumnContent, look_at
from hitsndiffs.reading.tables.file_table import FileTable
from hitsndiffs.reading.vocabulary import plain, role_of_name, tokens

__all__ = ["Crossed", "crossed", "item_of_several"]

#: Wider tables, and tables with fewer rows, are not looked at.
_MOST_COLUMNS, _FEWEST_ROWS = 200, 8
#: A user answers an item once; so large a share of the pairs must be different.
_ONCE = 0.95
#: Answers to an item repeat: at most this share of the pairs of item and answer are different.
_REPEAT = 0.8
#: That no user has an item twice tells something if chance would make so many repeats.
_TELLING = 3
#: Without a name that tells, the evidence must be stronger, and few columns are tried.
_SURELY_ONCE, _SURELY_TELLING, _MOST_LABELS = 0.99, 20, 20
_JUDGES = {"reviewer", "expert", "doctor", "physician", "observer", "voter", "who", "system"}
#: Of more columns named after users (model-a prediction, model-b prediction, …), none names them.
_MOST_LONGER = 2
#: More words for answers; they are too common elsewhere to tell by themselves.
_ANSWERS = {
    *ROLES["option"],
    "code",
    "tag",
    "keypress",
    "key",
    "submission",
    "output",
    "decision",
    "diagnosis",
    "chose",
}
#: Columns that name an item together with another one.
_PARTS = (
    "dataset", "benchmark", "subset", "category", "topic", "section", "quiz", "test", "exam",
    "subject", "idx", "index", "id", "number", "no", "page", "qid",
)  # fmt: skip
_NO_ITEMS = ("time", "points", "comment", "status", "identity", "key")
_NO_ANSWERS = (*_NO_ITEMS, "attempt", "row")


@dataclass(frozen=True)
class Crossed:
    """The columns of a table with one row per answer."""

    user: str
    item: str
    option: str
    key: str | None


def crossed(table: FileTable) -> Crossed | None:
    """Find users and items that cross: both repeat, and hardly any pair of them does.

    Only tables in which the users repeat are looked at: they cannot have one row per user.
    """
    rows = [row for row in table.sample if len(row) == len(table.names)]
    if not table.has_header or not 3 <= len(table.names) <= _MOST_COLUMNS:
        return None
    return _Finder(table, rows).find() if len(rows) >= _FEWEST_ROWS else None


def item_of_several(table: FileTable, user: str | None) -> list[str]:
    """Return the column, or the two columns, that name the items so that users answer each once.

    Nothing is returned if the first column named like an item does so, or if no two do.
    """
    named = recognise("item", table.names)
    users = [user] if user else recognise("user", table.names)
    if not named or not users or named[0] == users[0]:
        return []
    cells = {n: table.cells_at(k) for k, n in enumerate(table.names)}
    own = cells[users[0]]
    if len(own) < _FEWEST_ROWS or _pairs(own, cells[named[0]]) >= _ONCE:
        return []
    # a column whose cells are all different numbers the rows
    beside = [n for n in table.names if plain(n) in _PARTS and len(set(cells[n])) < len(own)]
    parts = [n for n in (*named, *beside) if n != users[0]]
    for name in named:
        if _pairs(own, cells[name]) >= _ONCE:
            return [name]
    for one, two in combinations(dict.fromkeys(parts), 2):
        both = [f"{a}/{b}" for a, b in zip(cells[one], cells[two], strict=False)]
        if _pairs(own, both) >= _ONCE:
            return sorted((one, two), key=table.names.index)
    return []


class _Finder:
    def __init__(self, table: FileTable, rows: Sequence[Sequence[str]]) -> None:
        self.names = table.names
        self.rows = rows
        self.cells = {n: [row[k].strip() for row in rows] for k, n in enumerate(table.names)}
        self.contents: dict[str, ColumnContent] = {}

    def find(self) -> Crossed | None:
        users = self._users()
        for user in users or self._unnamed_users():
            items = [n for n in self.names if n != user and self._crosses(user, n)]
            for item in sorted(items, key=self._item_rank):
                option = self._option(user, item, items)
                if option is not None:
                    return Crossed(user, item, option, self._key(item, option))
            if items and not self._free(user, items[0], items):
                self._refuse_points(user, items)
            self._refuse_doubt(user, items)
        return None

    def _refuse_doubt(self, user: str, items: list[str]) -> None:
        """Refuse a table with one row per user and item in which several columns may be answers."""
        named = [n for n in items if recognise("item", [n])]
        if not named:
            return
        free = [n for n in self._free(user, named[0], items) if self.content(n).kind == "choice"]
        if len(free) > 1 and len({plain(n).rstrip("0123456789") for n in free}) == len(free):
            raise Refusal(
                f"a table with one row per answer ({user!r}, {named[0]!r}), in which several "
                f"columns may hold the answers ({listed(free, most=3)})",
                "name the one that does as the option",
            )

    def _refuse_points(self, user: str, items: list[str]) -> None:
        """Refuse a table with one row per user and item that holds points, but no answers."""
        points = [
            n
            for n in self.names
            if n not in (user, *items) and (role_of_name(n) == "points" or "correct" in tokens(n))
        ]
        if points:
            raise Refusal(
                f"a table of points ({points[0]!r}) per user and item, without answers",
                "export the answers that each person chose, or name the column if these are "
                "choices",
            )

    def content(self, name: str) -> ColumnContent:
        if name not in self.contents:
            self.contents[name] = look_at(self.cells[name])
        return self.contents[name]

    def _users(self) -> list[str]:
        """Return the columns named like users, in which every user has several rows."""
        fitting = recognise("user", self.names, wide=True)
        words = {*ROLES["user"]}
        longer = [n for n in self.names if 1 < len(tokens(n)) < 5 and words & {*tokens(n)}]
        fitting += longer if len(longer) <= _MOST_LONGER else []  # else a column per user
        return [
            name
            for name in dict.fromkeys(fitting)
            if 1 < len(self.content(name).counts) * 2 <= self.content(name).n_filled
        ]

    def _unnamed_users(self) -> list[str]:
        """Return a column of labels that must be users, as another one crosses it too well."""
        first = [*recognise("user", self.names, wide=True), self.names[0]]
        if any(self.content(n).all_different for n in first):
            return []  # it names the rows
        labels = [n for n in self.names if role_of_name(n) is None and not self._is_answer(n)]
        labels = [n for n in labels if 2 < len(self.content(n).counts) <= len(self.rows) / 2]
        for one, two in combinations(labels[:_MOST_LABELS], 2):
            by_chance = _repeats_by_chance(self.content(one), self.content(two))
            once = _pairs(self.cells[one], self.cells[two]) >= _SURELY_ONCE
            if by_chance >= _SURELY_TELLING and once:
                is_item = recognise("item", [one]) or {*tokens(two)} & _JUDGES
                return [two if is_item and not recognise("item", [two]) else one]
        return []

    def _is_answer(self, name: str) -> bool:
        words = {*tokens(name)}
        return bool(words & _ANSWERS) and not words & {*ROLES["item"]}

    def _crosses(self, user: str, name: str) -> bool:
        """Whether each user has hardly any value of a column twice, but others have it too."""
        content = self.content(name)
        if role_of_name(name) in _NO_ITEMS or content.kind in ("time", "score", "empty"):
            return False
        if role_of_name(name) == "attempt" and "trial" not in tokens(name):
            return False  # a user answers the same item again; a trial may be an item
        shared = 1 < len(content.counts) * 1.3 < content.n_filled
        filled = content.n_filled >= _ONCE * len(self.rows)
        if not shared or not filled or _pairs(self.cells[user], self.cells[name]) < _ONCE:
            return False
        return _repeats_by_chance(self.content(user), content) >= _TELLING

    def _item_rank(self, name: str) -> tuple[bool, int]:
        """Put the columns that fix the key first, then those with the best names."""
        keys = [n for n in self.names if role_of_name(n) == "key"]
        unsettled = any(not self._one_each(name, key) for key in keys)
        if recognise("item", [name]):
            return unsettled, 0
        words = {*tokens(name)}
        said = 1 if words & {*ROLES["item"]} else 2 if words & {"id", "text", "file"} else 3
        other = role_of_name(name) is not None or bool(words & _ANSWERS)
        return unsettled, said + 3 * other

    def _option(self, user: str, item: str, items: list[str]) -> str | None:
        """Return the column of answers: fixed neither by the item nor by the user."""
        free = self._free(user, item)
        named = [n for n in recognise("option", free) if self._repeats(item, n)]
        named += [n for n in free if _ANSWERS & {*tokens(n)} and self._repeats(item, n)]
        named = list(dict.fromkeys(named))
        if len({plain(n).rstrip("0123456789") for n in named}) < len(named):
            return None  # answer 1, answer 2, …: several items in a row
        choices = [n for n in free if self.content(n).kind == "choice" and n not in items]
        return named[0] if named else choices[0] if len(choices) == 1 else None

    def _free(self, user: str, item: str, taken: Sequence[str] = ()) -> list[str]:
        """Return the columns that may hold answers, and that neither item nor user fixes."""
        names = [n for n in self.names if n not in (user, item, *taken) and self._may_be_answers(n)]
        return [n for n in names if not self._one_each(item, n) and not self._one_each(user, n)]

    def _may_be_answers(self, name: str) -> bool:
        content = self.content(name)
        said = None if plain(name) in _ANSWERS else role_of_name(name)
        if said in _NO_ANSWERS or content.kind in ("time", "mail", "link", "score"):
            return False
        return "correct" not in tokens(name) and content.kind not in ("measure", "counter", "empty")

    def _repeats(self, item: str, name: str) -> bool:
        pairs = [p for p in zip(self.cells[item], self.cells[name], strict=True) if p[1]]
        return len(set(pairs)) <= _REPEAT * len(pairs)

    def _one_each(self, group: str, name: str) -> bool:
        """Whether a column has one value for each value of another one that repeats."""
        values: dict[str, set[str]] = {}
        for label, value in zip(self.cells[group], self.cells[name], strict=True):
            values.setdefault(label, set()).add(value)
        return all(len(own) == 1 for own in values.values())

    def _key(self, item: str, option: str) -> str | None:
        """Return a column with one answer for each item, named like a key or like answers."""
        given = {cell.casefold() for cell in self.cells[option]}
        for name in self.names:
            said = role_of_name(name) == "key" or "answer" in tokens(name)
            own = {cell.casefold() for cell in self.cells[name]} - {""}
            if name in (item, option) or not said or not own or len(own & given) * 2 < len(own):
                continue
            if self._one_each(item, name):
                return name
        return None


def _repeats_by_chance(one: ColumnContent, two: ColumnContent) -> float:
    """Return how many pairs of rows would agree in two columns that are independent."""
    n = max(one.n_filled, two.n_filled)
    shares = [sum((k / n) ** 2 for k in own.counts.values()) for own in (one, two)]
    return n * (n - 1) / 2 * shares[0] * shares[1]


def _pairs(one: Sequence[str], two: Sequence[str]) -> float:
    """Return which share of the pairs is different."""
    pairs = [pair for pair in zip(one, two, strict=False) if all(pair)]
    return len(set(pairs)) / len(pairs) if pairs else 0.0
