"""Find the column, or the columns, that name the users: by their cells, their place and names."""

from __future__ import annotations

import re
from functools import cached_property

from hitsndiffs.data.frames import further_names, recognised_user
from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Column, Role
from hitsndiffs.reading.layouts.columns import FEW, MANY, Profile, Profiles
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import match_names, named_together
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES

__all__ = ["NAMELESS", "Users"]

#: A column names the users with this much evidence.
USER = 3
#: Names that tables get when their columns have none.
NAMELESS = re.compile(r"column-\d+'*|Unnamed: \d+|Column\d+|index|", re.IGNORECASE)


class Users:
    """The columns of a table with one row per user, and those of them that name the users."""

    def __init__(self, profiles: Profiles, options: ReadingOptions) -> None:
        self.all, self.names, self.has_header = profiles, profiles.names, profiles.has_header
        self.notes: list[str] = []
        self.found: dict[str, Column] = {}
        self.asked = match_names(options.items, self.names, "items") if options.items else None
        self.dropped = match_names(options.drop, self.names, "drop") if options.drop else set()
        self.users_why = ""
        self.users = self._given_users(options.user) if options.user else self._find_users()

    def _put(self, name: str, role: Role, reason: str) -> None:
        self.found[name] = Column(name, role, reason, self.all[name].place)

    def _given_users(self, given: str) -> list[str]:
        where = self.all.table.place.source
        users = [
            str(find_column(name, self.names, where=where, argument="user"))
            for name in named_together(given, self.names)
        ]
        for name in users:
            self._put(name, "user", "given as user")
        self.users_why = "given"
        return users

    def _find_users(self) -> list[str]:
        """Return the column (or first and last name) that most speaks for naming the users."""
        kept = self.dropped | (self.asked or set())
        named = {n: k for k, n in enumerate(self.all.named("user", wide=True)) if n not in kept}
        scores: dict[str, float] = {}
        for name in [n for n in self.names[:MANY] if n not in kept]:
            scores[name] = self._names_users(self.all[name], named.get(name))
        alone = [name for name, score in scores.items() if USER - 1 <= score < USER]
        if len(alone) == 1 and alone[0] not in named:
            scores[alone[0]] = USER
        best = max(scores, key=lambda name: scores[name], default="")
        parts = self._name_parts(kept)
        if parts and scores[best] < USER + 0.5:
            for name in parts:
                self._put(name, "user", "a part of the user's name")
            self.notes.append(f"The users' names are joined from {listed(parts)}.")
            self.users_why = "parts"
            return parts
        if not best or scores[best] < USER:
            for name in named:
                if self.all[name].is_constant:
                    self._put(name, "identity", "all rows have the same name in it")
                    self.notes.append(
                        f"The column {name!r} has the same value in all rows: it does not name "
                        "the users."
                    )
            return []
        if best not in named and self.all[best].kind != "mail":
            return self._first(best)
        recognised_user([best], lambda _: True, self.notes)
        self._put(best, "user", "named like a user column")
        self.users_why = "named"
        for other in further_names(best, self.names, self._is_alias, self.notes, kept=kept):
            self._put(other, "identity", "it also names the users")
        return [best]

    def _is_alias(self, name: str) -> bool:
        own = self.all[name]
        return own.content.all_different and own.filled > 2

    def _names_users(self, own: Profile, named: int | None) -> float:
        """Return how much speaks for a column that names the users; 3 is enough."""
        slips = own.filled - own.distinct
        unique = own.filled >= 0.9 * len(own.cells) and slips * 20 <= own.filled
        if named is not None:
            if own.is_constant or (own.distinct * 2 <= own.filled and own.is_marks):
                return 0
            score = 2 - named / 1000
            repeats = own.distinct * 2 > own.filled or own.filled <= FEW
            return score + (2 if unique else 1 if repeats or self.tries else 0)
        whole = not own.is_numeric or not any(set(t) & set(",.eE") for t in own.content.counts)
        if own.kind == "mail":
            return 3 if unique or own.distinct * 2 > own.filled else 0
        if own.kind in ("time", "score", "link", "record") or not whole or slips:
            return 0
        if own.said not in (None, "identity", "row") or max(map(len, own.cells)) >= 40:
            return 0
        if own.filled < 0.9 * len(own.cells) or len(own.cells) < 2 or len(self.names) < 2:
            return 0
        nameless = bool(NAMELESS.fullmatch(own.name)) and self.has_header and own.place < 3
        first = nameless and own.place == 0  # names of rows, as R and pandas write them
        score = 2 + (own.place == 0 or nameless) + 0.1 * (not own.is_numeric)
        fits = score >= USER or (self.has_header and not own.is_numeric and own.filled >= 5)
        return score if first or (fits and self._are_ids(own)) else 0

    def _are_ids(self, own: Profile) -> bool:
        """Whether few of a column's cells are answers in other columns."""
        others = {
            value for other in self.all.of(self.names[:MANY]) if other is not own
            for value in other.values
        }  # fmt: skip
        strange = sum(value not in others for value in own.values)
        counts_up = own.kind == "counter"
        return bool(others) and (strange * 2 > own.filled or (strange > 0 and counts_up))

    @cached_property
    def tries(self) -> list[str]:
        """The columns that number attempts."""
        return [n for n in self.names[:MANY] if self.all[n].said == "attempt"]

    def _name_parts(self, kept: set[str]) -> list[str]:
        """Return the columns of first and last names, if both exist."""
        names = [n for n in self.names[:MANY] if n not in kept and self.all[n].filled]
        parts = [
            [n for n in names if self.all[n].plain in own] for own in (FIRST_NAMES, LAST_NAMES)
        ]
        return [parts[0][0], parts[1][0]] if all(parts) and parts[0][0] != parts[1][0] else []

    def _first(self, name: str) -> list[str]:
        self._put(name, "user", "all its cells are different, and are not answers")
        self.users_why = "first"
        if NAMELESS.fullmatch(name) and self.has_header:
            self.notes.append("Took the first column, which has no name, as the user column.")
        else:
            turned = " (if the rows are items, turn the table round: transpose)"
            self.notes.append(
                f"Took the first column ({name!r}) as the user column: its values are all "
                f"different and are not answers{turned if recognise('item', [name]) else ''}."
            )
        return [name]
