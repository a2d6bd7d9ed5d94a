"""Tell what each column of a wide table is, from its cells and its name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hitsndiffs.data.words import shortened
from hitsndiffs.reading.exports.base import Column, Role
from hitsndiffs.reading.layouts.content import ColumnContent
from hitsndiffs.reading.layouts.extra_rows import named_rows
from hitsndiffs.reading.layouts.scored import points_of_answers
from hitsndiffs.reading.layouts.who import UserFinder
from hitsndiffs.reading.vocabulary import plain, role_of_name, tokens

__all__ = ["WideRoles", "wide_roles"]

_NUMBERED = re.compile(
    r"^(?P<stem>.*?)[\s_\-.#:(\[]*0*(?P<number>\d{1,6})(?P<part>[a-z]?)[)\]\s:.]*$", re.DOTALL
)
#: A column is an item if at least this share of its cells are answers to other items.
_FITS = 0.9
#: Only this many columns are searched for the names of key rows and averages.
_LABELS = 12
#: Columns before a series of at least this many items are not items, if most items are in it.
_SERIES = 8
#: A question has at most so many options.
_FEW_TEXTS = 8
#: Past this many columns, those named in a series are items, whatever their cells.
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
_ASKED = "asked for (items)"
#: Columns of numbers with these names count answers.
_COUNTED = frozenset(
    ("correct", "incorrect", "right", "wrong", "unattempted", "attempted", "skipped", "omitted",
     "blank", "blanks", "unanswered", "answered", "richtig", "falsch", "correctas", "incorrectas",
     "aciertos", "errores", "justes", "fausses", "corrette", "errate", "goed", "fout", "doğru",
     "yanlış", "boş", "верно", "неверно")
)  # fmt: skip
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
    """What was found: the user columns, the items, and the role of every column with the reason."""

    columns: list[Column]
    users: list[str]
    items: list[str]
    notes: list[str] = field(default_factory=list)
    #: Right answers inferred from columns of points.
    key: dict[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> list[str]:
        """Columns beside the answers, one of which may mark a row as a key or an average."""
        beside = ("identity", "unused", "constant", "points", "comment")
        return [c.name for c in self.left_out if c.role in beside][:_LABELS]

    @property
    def asked(self) -> bool:
        """Whether the caller named the items."""
        return any(c.reason == _ASKED for c in self.columns)

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


def wide_roles(
    names: Sequence[str],
    sample: Sequence[Sequence[str]],
    *,
    has_header: bool = True,
    user: str | None = None,
    items: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    where: str = "the table",
    one_of: bool = False,
) -> WideRoles:
    """Find the role of each column of a wide table, from its name and its first rows.

    Several columns for the user are joined with ``+``; ``items`` and ``drop`` are patterns. If it
    is ``one_of`` several files, columns with one text in all rows are kept as items, as other files
    may have other answers there.

    Examples
    --------
    >>> rows = [["ann", "2024-01-02", "A", "B", "7"], ["bob", "2024-01-03", "C", "B", "6"]]
    >>> found = wide_roles(["student", "Date", "q1", "q2", "Score"], rows)
    >>> found.users, found.items
    (['student'], ['q1', 'q2'])
    """
    labels = {
        name: [row[k] if k < len(row) else "" for row in sample]
        for k, name in enumerate(names[:_LABELS])
    }
    special = named_rows(labels)
    if special and len(special) + 1 < len(sample):
        sample = [row for k, row in enumerate(sample) if k not in special]
    found = _Finder(list(names), sample, has_header, user, items, drop, where).find()
    if one_of and found.constant:
        taken = {*found.items, *found.constant}
        found.items = [name for name in names if name in taken]
    return found


class _Finder(UserFinder):
    def find(self) -> WideRoles:
        users = self._users()
        rest = [n for n in self.names if n not in users]
        for name in rest:
            if name in self.dropped:
                self._put(name, "unused", "left out as asked (drop)")
            elif self.asked is not None:
                if name in self.asked:
                    self._put(name, "item", _ASKED)
                else:
                    role = _ROLE_OF_KIND.get(self.content(name).kind, "unused")
                    self._put(name, role, "not among the items asked for")
        if self.asked is None:
            self._find_items([n for n in rest if n not in self.found])
        key = self._points() if self.asked is None else {}
        items = [n for n in self.names if n in self.found and self.found[n].role == "item"]
        columns = [self.found[n] for n in self.names if n in self.found]
        return WideRoles(columns, users, items, self.notes, key)

    # -- which columns are items ----------------------------------------------------------------

    def _find_items(self, names: list[str]) -> None:
        stock = self._stock(names)
        family = self._family(names)
        self.has_series = bool(family)
        candidates: list[str] = []
        for number, name in enumerate(names):
            in_family = name in family
            if (number >= _MANY and in_family) or self._may_be_item(name, stock, in_family):
                candidates.append(name)
        core = {name for name in candidates if name in family}
        vocabulary = self._vocabulary([n for n in candidates if not core or n in core])
        strict = len(core) >= 3 and len(core) * 4 >= len(candidates)
        series = len(core) >= _SERIES and len(core) * 2 > len(candidates)
        first = min((self.places[name] for name in core), default=0) if series else 0
        for name in candidates:
            if name in core or not core:
                reason = (
                    "named in a series" if name in core else "its cells are answers that repeat"
                )
                self._put(name, "item", reason)
            elif self.places[name] < first and not name.rstrip().endswith("?"):
                self._put(name, "unused", "it stands before the items and is not named like them")
            elif self._fits(name, vocabulary):
                self._put(name, "item", "its cells are answers to the other items")
            elif strict:
                self._put(name, "unused", "neither named nor answered like the items")
            else:
                self._put(name, "item", "its cells are answers that repeat")
        self._constants()

    def _stock(self, names: list[str]) -> Counter[str]:
        """Return the answers, each with the number of columns in which it occurs."""
        stock: Counter[str] = Counter()
        for name in names[:_MANY]:
            content = self.content(name)
            if content.kind == "choice" and len(content.counts) <= 30:
                stock.update(content.counts.keys())
        return stock

    def _family(self, names: list[str]) -> set[str]:
        """Return the columns that are named in a series: q1, q2, q3, …."""
        stems: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        if not self.has_header:
            return set()
        plain_stems: dict[str, str] = {}
        for name in names:
            match = _NUMBERED.match(name) if len(name) < 60 else None
            repeated = re.fullmatch(r"(.*) \(\d+\)", name, re.DOTALL) if name[-1:] == ")" else None
            if match and not (repeated and repeated[1] in self.places):
                stem = match["stem"]
                if stem not in plain_stems:
                    plain_stems[stem] = plain(stem)
                stems[plain_stems[stem]][match["number"]].add(name)
        found: set[str] = set()
        for stem, numbers in stems.items():
            if len(numbers) < 3 or role_of_name(stem) not in (None, "identity"):
                continue  # a person has one form or class: Form 1, Form 2, … are items
            found |= {name for own in numbers.values() for name in own}
            found |= {name for name in names if stem and plain(name) == stem}  # q, q2, q3, …
        return found

    def _may_be_item(self, name: str, stock: Counter[str], in_family: bool) -> bool:
        """Whether a column may be an item; if not, give it another role."""
        content = self.content(name)
        kind = content.kind
        said = role_of_name(name) if self.has_header else None
        if kind == "empty" and (said is None or said == "key"):
            if re.fullmatch(r"column-\d+'*|Unnamed: \d+|Column\d+", name):
                self._put(name, "unused", "it has neither a name nor cells")
                return False
            return True  # nobody in the sample answered; the reader says so at the end
        if said == "key":
            self._put(name, "key", "named like a key")
            return False
        if said in ("points", "time") and (
            content.is_number or kind in ("time", "score", "measure")
        ):
            self._put(name, said, f"named like {said}, and its cells are numbers")
            return False
        if self.has_header and "id" in tokens(name) and len(content.counts) == 1:
            self._put(name, "unused", "named like an id, and all its cells are the same")
            return False
        if self.has_header and plain(name) in _COUNTED and content.is_number and kind != "empty":
            self._put(name, "points", "named like a count, and its cells are numbers")
            return False
        if said == "points" and not in_family and self.has_series:
            self._put(name, said, "named like points, beside a series of items")
            return False
        fits = self._in_stock(name, stock)
        if kind == "choice" and fits and said not in ("attempt", "status", "row", "identity"):
            return True
        if said is not None and (not in_family or kind != "choice"):
            self._put(name, "unused" if said == "row" else said, f"named like {_SAID[said]}")
            return False
        keep = in_family and kind not in ("mail", "link", "different", "text")
        keep = keep or (name.rstrip().endswith("?") and self._has_few(content))
        keep = keep or (fits and kind not in ("time", "mail", "link", "counter"))
        if kind != "choice" and not keep:
            self._put(name, _ROLE_OF_KIND[kind], _REASONS[kind])
            return False
        return True

    def _has_few(self, content: ColumnContent) -> bool:
        """Whether a column holds a few texts, each of them several times: 1/2, 25%, 3:30."""
        return 1 < len(content.counts) <= _FEW_TEXTS and len(content.counts) * 3 <= content.n_filled

    def _in_stock(self, name: str, stock: Counter[str]) -> bool:
        """Whether nearly all cells of a column are answers to at least two other items."""
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

    def _points(self) -> dict[str, str]:
        """Leave out columns that hold the points for others; return the key they imply."""
        items = [n for n in self.names if n in self.found and self.found[n].role == "item"]
        if len(items) > _MANY:
            return {}
        points, key = points_of_answers(items, self.cells)
        if not points:  # columns that are named like points may tell the key
            named = [n for n in self.names if n in self.found and self.found[n].role == "points"]
            both = sorted((*items, *named), key=self.places.__getitem__)
            known = points_of_answers(both, self.cells)[1] if len(named) > 1 else {}
            return {name: answer for name, answer in known.items() if name in items}
        for name, answers in points.items():
            self._put(name, "points", f"its cells are the points of {shortened(answers, 40)!r}")
        return key

    def _constants(self) -> None:
        """Leave out columns with one text in all rows, unless it is an answer to another item."""
        items = [c.name for c in self.found.values() if c.role == "item"]
        used: Counter[str] = Counter()
        for name in items[:_MANY]:
            used.update(self.content(name).counts.keys())
        if len(items) > _MANY:
            return
        varied = [self.places[n] for n in items if len(self.content(n).counts) > 1]
        stems = Counter(_stem(name) for name in items)
        for name in items:
            content = self.content(name)
            if len(content.counts) != 1 or content.n_filled < 3:
                continue
            (value,) = content.counts
            within = bool(varied) and varied[0] < self.places[name] < varied[-1]
            alike = self.has_header and stems[_stem(name)] * 4 >= len(items)
            if not varied:
                alike = bool(self._family(items)) or len(value) == 1
            if used[value] < 2 and not within and not alike:
                self._put(name, "constant", "it has the same text in all rows")


def _stem(name: str) -> str:
    """Return the letters with which a name begins; items are often named alike."""
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
