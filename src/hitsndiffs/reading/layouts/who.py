"""Find the column, or columns, that name the users of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.data.encoding.names import find_column, recognise
from hitsndiffs.data.encoding.users import further_names, recognised_user
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Column, Role
from hitsndiffs.reading.layouts.content import ColumnContent, look_at
from hitsndiffs.reading.layouts.header import looks_like_ids
from hitsndiffs.reading.patterns import match_names
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES, plain

__all__ = ["UserFinder"]


class UserFinder:
    """Holds the columns of a table, and finds those that name the users."""

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
        #: Whether some columns are named in a series: q1, q2, q3, ….
        self.has_series = False

    def cells(self, name: str) -> list[str]:
        """Return the cells of a column, one per row; blank for rows that end before it."""
        place = self.places[name]
        return [row[place] if place < len(row) else "" for row in self.sample]

    def content(self, name: str) -> ColumnContent:
        """Return what the cells of a column hold."""
        if name not in self.contents:
            self.contents[name] = look_at(self.cells(name))
        return self.contents[name]

    def _put(self, name: str, role: Role, reason: str) -> None:
        self.found[name] = Column(name, role, reason, self.places[name])

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
        if any(self._names_rows(n) for n in filled):
            return self._take_user(filled)
        parts = self._name_parts()
        if parts:
            for name in parts:
                self._put(name, "user", "a part of the user's name")
            self.notes.append(f"The users' names are joined from {listed(parts)}.")
            return parts
        best = self._best_repeated(filled) if filled else None
        if best is not None:
            return self._take_user([best])
        mail = [n for n in self.names if n not in self._not_users() and self._is_mail(n)]
        if mail:
            return self._take_user(mail[:1])
        return self._first_column() or self._nameless_column()

    def _not_users(self) -> set[str]:
        return self.dropped | (self.asked or set())

    def _is_mail(self, name: str) -> bool:
        return self.content(name).kind == "mail" and self._names_rows(name)

    def _names_rows(self, name: str) -> bool:
        content = self.content(name)
        return content.all_different and content.n_filled >= 0.9 * content.n_rows

    def _best_repeated(self, filled: list[str]) -> str | None:
        """Return a column of names, some of which repeat; not one with the same name everywhere."""
        for name in filled:
            content = self.content(name)
            if len(content.counts) * 2 > content.n_filled or content.n_filled <= 3:
                return name
        name = filled[0]
        if len(self.content(name).counts) == 1 < len(self.sample):
            self._put(name, "identity", "all rows have the same name in it")
            self.notes.append(
                f"The column {name!r} has the same value in all rows: it does not name the users."
            )
            return None
        return name

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

    def _name_parts(self) -> list[str]:
        """Return the columns of first and last names, if both exist."""
        first = [n for n in self.names if plain(n) in FIRST_NAMES and self.content(n).n_filled]
        last = [n for n in self.names if plain(n) in LAST_NAMES and self.content(n).n_filled]
        if not first or not last or first[0] == last[0]:
            return []
        return [first[0], last[0]]

    def _first_column(self) -> list[str]:
        first = self.names[0]
        if len(self.names) == 1 or first in self._not_users():
            return []
        content = self.content(first)
        cells = [row[0] for row in self.sample if row]
        nameless = re.fullmatch(r"column-1|Unnamed: 0|index|", first, re.IGNORECASE)
        counts_rows = nameless is not None and content.is_number
        whole = content.is_number and not any(set(text) & set(",.eE") for text in content.counts)
        if content.kind in ("time", "score", "link") or (content.kind == "measure" and not whole):
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

    def _nameless_column(self) -> list[str]:
        """Return a column without a name, beside the first one, that holds ids."""
        for name in self.names[1:3]:
            cells, place = self.cells(name), self.places[name]
            rows = [[*row[place:], *row[:place]] for row in self.sample]
            nameless = re.fullmatch(r"column-[23]|Unnamed: [12]", name)
            if nameless and name not in self._not_users() and looks_like_ids(cells, rows):
                self._put(name, "user", "it has no name, and its cells are all different")
                self.notes.append(f"Took {name!r}, which has no name, as the user column.")
                return [name]
        return []
