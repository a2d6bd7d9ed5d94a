"""Find the column, or the columns, that name the users of a table."""

from __future__ import annotations

import re

from hitsndiffs.data.frames import further_names, recognised_user
from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Column, Role
from hitsndiffs.reading.layouts.columns import MANY, Profiles
from hitsndiffs.reading.layouts.header import looks_like_ids
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import match_names, named_together
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES

__all__ = ["NAMELESS", "Users"]

#: Names that tables get when their columns have none.
NAMELESS = re.compile(r"column-\d+'*|Unnamed: \d+|Column\d+|index|", re.IGNORECASE)


class Users:
    """The columns of a table with one row per user, and those of them that name the users."""

    def __init__(self, profiles: Profiles, options: ReadingOptions) -> None:
        self.all = profiles
        self.names = profiles.names
        self.has_header = profiles.has_header
        self.where = profiles.table.place.source
        self.notes: list[str] = []
        self.found: dict[str, Column] = {}
        names = self.names
        self.asked = match_names(options.items, names, "items") if options.items else None
        self.dropped = match_names(options.drop, names, "drop") if options.drop else set()
        self.users_why = ""
        self.users = self._users(options.user)

    def _put(self, name: str, role: Role, reason: str) -> None:
        self.found[name] = Column(name, role, reason, self.all[name].place)

    def _users(self, given: str | None) -> list[str]:
        if given is not None:
            users = [
                str(find_column(name, self.names, where=self.where, argument="user"))
                for name in named_together(given, self.names)
            ]
            for name in users:
                self._put(name, "user", "given as user")
            self.users_why = "given"
            return users
        if not self.has_header:
            return self._first_column()
        kept = self.dropped | (self.asked or set())
        fitting = [n for n in self.all.named("user", wide=True) if n not in kept]
        filled = [n for n in fitting if self.all[n].filled and not self._is_item_like(n)]
        if any(self._names_rows(n) for n in filled):
            return self._take_user(filled)
        parts = self._name_parts()
        if parts:
            for name in parts:
                self._put(name, "user", "a part of the user's name")
            self.notes.append(f"The users' names are joined from {listed(parts)}.")
            self.users_why = "parts"
            return parts
        best = self._best_repeated(filled) if filled else None
        if best is not None:
            return self._take_user([best])
        mail = [
            n for n in self.names[:MANY]
            if n not in kept
            and self.all[n].kind == "mail"
            and (self._names_rows(n) or self.all[n].distinct * 2 > self.all[n].filled)
        ]  # fmt: skip
        if mail:
            return self._take_user(mail[:1])
        return self._first_column() or self._nameless_column() or self._identity()

    def _is_item_like(self, name: str) -> bool:
        """Whether a column named like a user holds single letters or digits: answers."""
        counts = self.all[name].content.counts
        repeat = self.all[name].distinct * 2 <= self.all[name].filled
        return repeat and all(len(text) == 1 for text in counts)

    def _names_rows(self, name: str) -> bool:
        """Whether a column has another value in every row, but for one or the other slip."""
        profile = self.all[name]
        if profile.names_rows:
            return True
        slips = profile.filled - profile.distinct
        return profile.filled >= 0.9 * len(profile.cells) and 0 < slips * 20 <= profile.filled

    def _best_repeated(self, filled: list[str]) -> str | None:
        """Return a column of names, some of which repeat; not one with the same name everywhere."""
        for name in filled:
            profile = self.all[name]
            if profile.distinct * 2 > profile.filled or profile.filled <= 3:
                return name
        name = filled[0]
        if self.all[name].distinct == 1 < len(self.all.rows):
            self._put(name, "identity", "all rows have the same name in it")
            self.notes.append(
                f"The column {name!r} has the same value in all rows: it does not name the users."
            )
            return None
        return name if any(self.all[n].said == "attempt" for n in self.names[:MANY]) else None

    def _take_user(self, fitting: list[str]) -> list[str]:
        name = str(recognised_user(fitting, self._names_rows, self.notes))
        self._put(name, "user", "named like a user column")
        self.users_why = "named"
        kept = self.dropped | (self.asked or set())
        for other in further_names(name, self.names, self._is_alias, self.notes, kept=kept):
            self._put(other, "identity", "it also names the users")
        return [name]

    def _is_alias(self, name: str) -> bool:
        profile = self.all[name]
        return profile.content.all_different and profile.filled > 2

    def _name_parts(self) -> list[str]:
        """Return the columns of first and last names, if both exist."""
        names = self.names[:MANY]
        first = [n for n in names if self.all[n].plain in FIRST_NAMES and self.all[n].filled]
        last = [n for n in names if self.all[n].plain in LAST_NAMES and self.all[n].filled]
        if not first or not last or first[0] == last[0]:
            return []
        return [first[0], last[0]]

    def _first_column(self) -> list[str]:
        if len(self.names) <= 1:
            return []
        first = self.names[0]
        if first in self.dropped | (self.asked or set()):
            return []
        profile = self.all[first]
        nameless = NAMELESS.fullmatch(first) is not None
        counts_rows = nameless and profile.is_numeric
        whole = profile.is_numeric and not any(set(t) & set(",.eE") for t in profile.content.counts)
        if profile.kind in ("time", "score", "link") or (profile.kind == "measure" and not whole):
            return []
        unique = profile.content.all_different and profile.filled == len(profile.cells)
        if not unique or not (counts_rows or looks_like_ids(profile.cells, self.all.rows)):
            return []
        self._put(first, "user", "the first column, all different, and not answers")
        self.users_why = "first"
        if counts_rows and self.has_header:
            self.notes.append("Took the first column, which has no name, as the user column.")
        else:
            turned = " (if the rows are items, turn the table round: transpose)"
            self.notes.append(
                f"Took the first column ({first!r}) as the user column: its values are all "
                f"different and are not answers{turned if recognise('item', [first]) else ''}."
            )
        return [first]

    def _nameless_column(self) -> list[str]:
        """Return a column without a name, beside the first one, that holds ids."""
        for name in self.names[1:3]:
            cells, place = self.all[name].cells, self.all[name].place
            rows = [[*row[place:], *row[:place]] for row in self.all.rows]
            if NAMELESS.fullmatch(name) and name not in self.dropped and looks_like_ids(
                cells, rows
            ):  # fmt: skip
                self._put(name, "user", "it has no name, and its cells are all different")
                self.users_why = "first"
                self.notes.append(f"Took {name!r}, which has no name, as the user column.")
                return [name]
        return []

    def _identity(self) -> list[str]:
        """Return the one column that has another text in every row: ids, wherever they stand."""
        ids = [
            n for n in self.names[:MANY]
            if self.all[n].names_rows and len(self.all.rows) >= 5
            and n not in self.dropped | (self.asked or set())
            and self.all[n].said in (None, "identity")
            and self.all[n].kind in ("different", "choice", "text")
            and not self.all[n].is_numeric
            and max(map(len, self.all[n].cells)) < 40
        ]  # fmt: skip
        if len(ids) != 1:
            return []
        self._put(ids[0], "user", "the only column in which all cells are different")
        self.users_why = "first"
        self.notes.append(f"Took {ids[0]!r} as the user column: all its cells are different.")
        return ids
