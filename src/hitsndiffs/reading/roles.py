"""What each column of a table with one row per user is, from its cells and its name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hitsndiffs.data.encoding.names import find_column, listed, recognise
from hitsndiffs.data.encoding.users import further_names, recognised_user
from hitsndiffs.reading.content import ColumnContent, look_at
from hitsndiffs.reading.formats.base import Column, Role
from hitsndiffs.reading.header import looks_like_ids
from hitsndiffs.reading.patterns import match_names
from hitsndiffs.reading.words import plain, role_of_name

__all__ = ["WideRoles", "wide_roles"]

_NUMBERED = re.compile(
    r"^(?P<stem>.*?)[\s_\-.#:(\[]*0*(?P<number>\d{1,6})(?P<part>[a-z]?)[)\]\s:.]*$", re.DOTALL
)
#: A column belongs to the items when so much of what stands in it are answers to other items.
_FITS = 0.9
_FIRST = (
    "firstname",
    "givenname",
    "forename",
    "vorname",
    "prénom",
    "nombre",
    "voornaam",
    "förnamn",
    "imię",
    "имя",
    "名",
    "nome",
)
_LAST = (
    "lastname",
    "surname",
    "familyname",
    "nachname",
    "nomdefamille",
    "apellido",
    "apellidos",
    "cognome",
    "apelido",
    "achternaam",
    "efternamn",
    "nazwisko",
    "фамилия",
    "姓",
)
#: Beyond so many columns only names and a shared stock of answers are looked at.
_MANY = 3000

_REASONS = {
    "time": "its cells are times",
    "mail": "its cells are e-mail addresses",
    "link": "its cells are addresses",
    "score": "its cells are points or percentages",
    "counter": "it counts the rows",
    "measure": "its cells are numbers that hardly repeat, not choices",
    "different": "no two cells are alike",
    "text": "its cells are free text: hardly any two are alike",
    "empty": "it is empty",
}
_ROLE_OF_KIND: dict[str, Role] = {
    "time": "time",
    "mail": "identity",
    "link": "unused",
    "score": "points",
    "counter": "unused",
    "measure": "points",
    "different": "identity",
    "text": "comment",
    "empty": "unused",
}


@dataclass
class WideRoles:
    """What was found: the columns that name the users, the items, and all columns with reasons."""

    columns: list[Column]
    users: list[str]
    items: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> list[Column]:
        """The columns that are neither items nor name the users."""
        return [c for c in self.columns if c.role != "item" and c.name not in self.users]


def wide_roles(
    names: Sequence[str],
    sample: Sequence[Sequence[str]],
    *,
    has_header: bool = True,
    user: str | None = None,
    items: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    where: str = "the table",
) -> WideRoles:
    """Find out what each column of a wide table is.

    Parameters
    ----------
    names, sample
        The columns, and the first rows as text.
    has_header
        Whether the names are the file's own.
    user
        The column that names the users (several with ``+`` between them).
    items, drop
        Patterns of the names that are items, and that are not.
    where
        The name of the file, for messages.

    Examples
    --------
    >>> rows = [["ann", "2024-01-02", "A", "B", "7"], ["bob", "2024-01-03", "C", "B", "6"]]
    >>> found = wide_roles(["student", "Date", "q1", "q2", "Score"], rows)
    >>> found.users, found.items
    (['student'], ['q1', 'q2'])
    """
    return _Finder(list(names), sample, has_header, user, items, drop, where).find()


class _Finder:
    def __init__(
        self,
        names: list[str],
        sample: Sequence[Sequence[str]],
        has_header: bool,
        user: str | None,
        items: Sequence[str] | None,
        drop: Sequence[str] | None,
        where: str,
    ) -> None:
        self.names = names
        self.sample = sample
        self.has_header = has_header
        self.where = where
        self.notes: list[str] = []
        self.found: dict[str, Column] = {}
        self.asked = match_names(items, names, "items") if items else None
        self.dropped = match_names(drop, names, "drop") if drop else set()
        self.user = user
        self.contents: dict[str, ColumnContent] = {}
        self.places = {name: place for place, name in enumerate(names)}

    def content(self, name: str) -> ColumnContent:
        if name not in self.contents:
            place = self.places[name]
            cells = [row[place] for row in self.sample if place < len(row)]
            self.contents[name] = look_at(cells)
        return self.contents[name]

    def find(self) -> WideRoles:
        users = self._users()
        rest = [n for n in self.names if n not in users]
        for name in rest:
            if name in self.dropped:
                self._put(name, "unused", "left out as asked (drop)")
            elif self.asked is not None:
                if name in self.asked:
                    self._put(name, "item", "asked for (items)")
                else:
                    self._put(name, self._guess_other(name), "not among the items asked for")
        if self.asked is None:
            self._find_items([n for n in rest if n not in self.found])
        items = [n for n in self.names if n in self.found and self.found[n].role == "item"]
        columns = [self.found[n] for n in self.names if n in self.found]
        return WideRoles(columns, users, items, self.notes)

    def _put(self, name: str, role: Role, reason: str) -> None:
        self.found[name] = Column(name, role, reason, self.places[name])

    def _guess_other(self, name: str) -> Role:
        kind = self.content(name).kind
        return _ROLE_OF_KIND.get(kind, "unused")

    # -- who ------------------------------------------------------------------------------------

    def _users(self) -> list[str]:
        if self.user is not None:
            chosen = [self.user]
            if self.user not in self.names and "+" in self.user:
                chosen = [part.strip() for part in self.user.split("+")]
            users = [
                str(find_column(name, self.names, where=self.where, argument="user"))
                for name in chosen
            ]
            for name in users:
                self._put(name, "user", "given as user")
            return users
        if not self.has_header:
            return self._first_column()
        fitting = [
            n for n in recognise("user", self.names, wide=True) if n not in self._not_users()
        ]
        filled = [n for n in fitting if self.content(n).n_filled]
        if filled:
            unique = any(self._names_rows(n) for n in filled)
            best = None if unique else self._best_repeated(filled)
            if unique or best is not None:
                return self._take_user(filled if best is None else [best])
        full = self._name_parts()
        if full:
            return full
        mail = [n for n in self.names if n not in self._not_users() and self._is_mail(n)]
        if mail:
            return self._take_user(mail[:1])
        return self._first_column()

    def _not_users(self) -> set[str]:
        return self.dropped | (self.asked or set())

    def _is_mail(self, name: str) -> bool:
        return self.content(name).kind == "mail" and self._names_rows(name)

    def _names_rows(self, name: str) -> bool:
        content = self.content(name)
        return content.all_different and content.n_filled >= 0.9 * content.n_rows

    def _best_repeated(self, filled: list[str]) -> str | None:
        """Return a column of names that repeat a little; not one with the same name everywhere."""
        parts = self._name_parts(look_only=True)
        for name in filled:
            content = self.content(name)
            if len(content.counts) * 2 > content.n_filled or content.n_filled <= 3:
                if not parts:
                    return name
            elif len(content.counts) > 1 and not parts and content.n_rows < 2 * len(content.counts):
                return name
        if filled and not parts and len(self.content(filled[0]).counts) == 1 < len(self.sample):
            name = filled[0]
            self._put(name, "identity", "all rows have the same name in it")
            self.notes.append(
                f"The column {name!r} has the same value in all rows: it does not name the users."
            )
            return None
        return filled[0] if filled and not parts else None

    def _take_user(self, fitting: list[str]) -> list[str]:
        name = str(recognised_user(fitting, self._names_rows, self.notes))
        self._put(name, "user", "named like a user column")
        kept = self._not_users()
        for other in further_names(name, self.names, self._is_alias, self.notes, kept=kept):
            self._put(other, "identity", "it also names the users")
        return [name]

    def _is_alias(self, name: str) -> bool:
        content = self.content(name)
        return content.all_different and content.n_filled > 2

    def _name_parts(self, look_only: bool = False) -> list[str]:
        """Return the columns of first and last names, where both are there."""
        first = [n for n in self.names if plain(n) in _FIRST and self.content(n).n_filled]
        last = [n for n in self.names if plain(n) in _LAST and self.content(n).n_filled]
        if not first or not last or first[0] == last[0]:
            return []
        users = [first[0], last[0]]
        if not look_only:
            for name in users:
                self._put(name, "user", "a part of the user's name")
            self.notes.append(f"The users' names are joined from {listed(users)}.")
        return users

    def _first_column(self) -> list[str]:
        first = self.names[0]
        if len(self.names) == 1 or first in self._not_users():
            return []
        content = self.content(first)
        cells = [row[0] for row in self.sample if row]
        nameless = re.fullmatch(r"column-1|Unnamed: 0|index|", first, re.IGNORECASE)
        counts_rows = nameless is not None and content.is_number
        if content.kind in ("time", "score", "measure", "link"):
            return []
        if (
            content.all_different
            and content.n_filled == content.n_rows
            and (counts_rows or looks_like_ids(cells, self.sample))
        ):
            self._put(first, "user", "the first column, all different, and not answers")
            if counts_rows and re.fullmatch(r"column-1|Unnamed: 0|index", first, re.IGNORECASE):
                self.notes.append("Took the first column, which has no name, as the user column.")
                return [first]
            turned = " (if the rows are items, turn the table round: transpose)"
            self.notes.append(
                f"Took the first column ({first!r}) as the user column: its values are all "
                f"different and are not answers{turned if recognise('item', [first]) else ''}."
            )
            return [first]
        return []

    # -- what -----------------------------------------------------------------------------------

    def _find_items(self, names: list[str]) -> None:
        stock = self._stock(names)
        family = self._family(names)
        candidates: list[str] = []
        for number, name in enumerate(names):
            in_family = name in family
            if (number >= _MANY and in_family) or self._by_name_or_cells(
                name, stock, in_family
            ) is None:
                candidates.append(name)
        core = {name for name in candidates if name in family}
        vocabulary = self._vocabulary([n for n in candidates if not core or n in core])
        strict = len(core) >= 3 and len(core) * 4 >= len(candidates)
        for name in candidates:
            if name in core or not core:
                reason = (
                    "named in a series" if name in core else "its cells are answers that repeat"
                )
                self._put(name, "item", reason)
            elif self._fits(name, vocabulary):
                self._put(name, "item", "its cells are answers to the other items")
            elif strict:
                self._put(name, "unused", "neither named nor answered like the items")
            else:
                self._put(name, "item", "its cells are answers that repeat")
        self._constants()

    def _stock(self, names: list[str]) -> Counter[str]:
        """Return the answers, with the number of columns in which each occurs."""
        stock: Counter[str] = Counter()
        for name in names[:_MANY]:
            content = self.content(name)
            if content.kind == "choice" and len(content.counts) <= 30:
                stock.update(content.values)
        return stock

    def _family(self, names: list[str]) -> set[str]:
        """Return the columns that are named in a series: q1, q2, q3, …."""
        stems: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        if not self.has_header:
            return set()
        for name in names:
            match = _NUMBERED.match(name) if len(name) < 60 else None
            repeated = re.fullmatch(r"(.*) \(\d+\)", name, re.DOTALL)
            if match and not (repeated and repeated[1] in self.places):
                stem = plain(match["stem"])
                stems[stem][match["number"]].add(name)
        found: set[str] = set()
        for stem, numbers in stems.items():
            if len(numbers) < 3 or role_of_name(stem) is not None:
                continue
            found |= {name for own in numbers.values() for name in own}
        return found

    def _by_name_or_cells(self, name: str, stock: Counter[str], in_family: bool) -> Role | None:
        """Put a column that is no item in its place; return None where it may be one."""
        content = self.content(name)
        kind = content.kind
        said = role_of_name(name) if self.has_header else None
        if kind == "empty" and (said is None or said == "key"):
            if re.fullmatch(r"column-\d+'*|Unnamed: \d+|Column\d+", name):
                self._put(name, "unused", "it has neither a name nor cells")
                return "unused"
            return None  # nobody answered, as far as was looked: the reader says so in the end
        if said == "key":
            self._put(name, "key", "named like a key")
            return "key"
        if said in ("points", "time") and (
            content.is_number or kind in ("time", "score", "measure")
        ):
            self._put(name, said, f"named like {said}, and its cells are numbers")  # type: ignore[arg-type]
            return said  # type: ignore[return-value]
        fits = self._in_stock(name, stock)
        if kind == "choice" and fits and said not in ("attempt", "status", "row", "identity"):
            return None
        if said in ("points", "time", "status", "comment", "attempt", "identity", "row"):
            role: Role = "unused" if said == "row" else said  # type: ignore[assignment]
            if not in_family or kind != "choice":
                self._put(name, role, f"named like {_SAID[said]}")
                return role
        keep = in_family and kind not in ("mail", "link", "different", "text")
        keep = keep or (fits and kind not in ("time", "mail", "link", "counter"))
        if kind != "choice" and not keep:
            self._put(name, _ROLE_OF_KIND[kind], _REASONS[kind])
            return _ROLE_OF_KIND[kind]
        return None

    def _in_stock(self, name: str, stock: Counter[str]) -> bool:
        """Whether what stands in a column are answers to at least two other items."""
        content = self.content(name)
        if not content.n_filled:
            return False
        own = len(content.counts) <= 30 and content.kind == "choice"
        there = sum(k for text, k in content.counts.items() if stock[text] - own >= 2)
        return there >= _FITS * content.n_filled

    def _vocabulary(self, names: list[str]) -> set[str]:
        return {value for name in names[:_MANY] for value in self.content(name).counts}

    def _fits(self, name: str, vocabulary: set[str]) -> bool:
        content = self.content(name)
        there = sum(k for text, k in content.counts.items() if text in vocabulary)
        return there >= _FITS * content.n_filled

    def _constants(self) -> None:
        """Leave out columns with one text in all rows, unless it is an answer to another item."""
        items = [c.name for c in self.found.values() if c.role == "item"]
        used: Counter[str] = Counter()
        for name in items[:_MANY]:
            used.update(self.content(name).values)
        if len(items) > _MANY:
            return
        varied = [self.places[n] for n in items if len(self.content(n).counts) > 1]
        stems = Counter(_stem(name) for name in items)
        for name in items:
            content = self.content(name)
            if len(content.counts) != 1 or content.n_filled < 3 or not varied:
                continue
            (value,) = content.counts
            within = varied[0] < self.places[name] < varied[-1]
            if used[value] < 2 and not within and stems[_stem(name)] * 4 < len(items):
                self._put(name, "constant", "it has the same text in all rows")


def _stem(name: str) -> str:
    """Return how a name begins; items are often named alike."""
    return (re.match(r"[^\W\d_]*", name) or [""])[0].casefold()


_SAID = {
    "points": "points",
    "time": "a time",
    "status": "a status",
    "comment": "a comment",
    "attempt": "the number of an attempt",
    "identity": "something about the person",
    "row": "a row number",
}
