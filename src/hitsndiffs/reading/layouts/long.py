"""One row per answer: which columns hold the users, the items, the answers and the key.

Two columns (or three, two of which count together) cross: hardly a pair of them repeats, although
chance would repeat it. Another one is fixed by neither: the answers. They agree within items, not
within users; that tells the two apart. Names are a hint.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from hitsndiffs.data.frames import long_columns
from hitsndiffs.data.names import ROLES
from hitsndiffs.data.words import Detail
from hitsndiffs.errors import InputError
from hitsndiffs.reading.accord import agree, hits, pairs
from hitsndiffs.reading.exports.base import Column, Refusal
from hitsndiffs.reading.layouts.columns import (
    FIXED,
    Numbers,
    Profile,
    Profiles,
    fixed_share,
    same_value,
)
from hitsndiffs.reading.layouts.layout import Hypothesis, Layout
from hitsndiffs.reading.patterns import named_together
from hitsndiffs.reading.tables.table import joined_name
from hitsndiffs.reading.vocabulary import ANSWERS, FLAGS

__all__ = ["weigh_long"]

#: Fewer rows do not tell which columns cross.
ENOUGH = 8
#: Chance would repeat so many pairs, and at most this share of them does.
TELLING, REPEATED = 10, 0.1
#: Two columns that count as one leave so many pairs unique.
UNIQUE = 0.95
#: So many columns of labels are tried, and so many where two together may be the users or items.
MOST, MOST_PARTS = 24, 7
#: Agreement within items tells, and more of it than within users.
SOME, CLEAR = 0.02, 0.05
#: So large a share of the answers is to items that others answered too.
TOLD = 0.5
#: Answers are given in so large a share of the rows, and differ in at most this one.
GIVEN, DIFFERENT = 0.3, 0.5
#: What a fitting name, and a telling word in a name, add to the agreement.
NAMED, HINT = 0.3, 0.1
#: Wider tables are not looked at.
WIDEST = 300
#: What names neither users nor items, and what nobody chooses as an answer.
_NO_LABELS = ("points", "time", "comment", "status", "key", "attempt")
_NO_ANSWERS = ("points", "time", "status", "row", "attempt")
_HARDLY = ("comment", "identity", "key", *_NO_ANSWERS)
_NO_ANSWER_KINDS = ("time", "mail", "link", "counter", "score", "record", "different")

Given = dict[str, str | None]


@dataclass
class _Side:
    """The users, or the items: one column, or two together."""

    parts: list[Profile]

    @cached_property
    def numbers(self) -> Numbers:
        """The cells as numbers."""
        numbers = self.parts[0].numbers
        for own in self.parts[1:]:
            numbers = np.unique(numbers * own.width + own.numbers, return_inverse=True)[1]
        return numbers

    @cached_property
    def width(self) -> int:
        """How many different ones there are."""
        return self.parts[0].width if len(self.parts) == 1 else int(self.numbers.max()) + 1

    @cached_property
    def chance(self) -> float:
        """How often two rows have the same by chance."""
        shares = np.bincount(self.numbers) / max(1, len(self.numbers))
        return float(shares @ shares)

    @property
    def name(self) -> str:
        return joined_name([own.name for own in self.parts])

    def fixes(self, other: Profile) -> bool:
        """Whether each value goes with a single value of a column."""
        return fixed_share(self.numbers, other) > FIXED


@dataclass
class _Triple:
    """Columns of users, items and answers, and how well they fit.

    ``sided`` is how many of users and items have their own names, less those with the other's.
    """

    users: _Side
    items: _Side
    answers: Profile
    within_items: float
    within_users: float
    named: int
    sided: int
    rank: float

    @property
    def gain(self) -> float:
        return self.within_items - self.within_users

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(own.name for own in (*self.users.parts, *self.items.parts))

    def given(self, answers: Profile) -> Numbers:
        """The items and their answers as one."""
        return self.items.numbers * answers.width + answers.numbers


def weigh_long(profiles: Profiles, given: Given, *, asked: bool = False) -> Hypothesis:
    """Return what speaks for one row per answer."""
    return _Long(profiles, given).weigh(asked)


class _Long:
    def __init__(self, profiles: Profiles, given: Given) -> None:
        self.all, self.n = profiles, len(profiles.rows)
        #: The columns that the caller named as the user together: first+last, model+run.
        user = given["user"]
        together = [] if user is None else named_together(user, profiles.names)
        known = len(together) > 1 and {*together} <= {*profiles.names}
        self.together = together if known else []
        self.given = {**given, "user": together[0]} if known else given
        self.names: dict[str, list[str]] = {
            role: [str(self.given[role])] if self.given[role] else profiles.named(role)
            for role in ("user", "item", "option")
        }

    def weigh(self, asked: bool) -> Hypothesis:
        found = Hypothesis("one row per answer", choose="layout long", possible=False)
        told = asked or bool(self.given["item"] or self.given["option"])
        if told:
            found.add(8, "asked for")
            found.possible = True
            found.make = lambda: self._by_name("asked for (layout)" if asked else NAMED_SO)
        if len(self.all) > WIDEST or len(self.all) < 3:
            return found
        named = self._named()
        best, rivals = self._search()
        if named:
            found.add(4, "columns are named like users, items and answers, and they repeat")
            found.make = lambda: self._by_name(NAMED_SO)
        if best is not None:
            found.add(3, f"{best.users.name!r} and {best.items.name!r} cross")
            found.add(
                2 if best.gain > CLEAR else 1 if best.gain > SOME else 0,
                f"the answers agree within {best.items.name!r} ({best.within_items:.2f}), not "
                f"within {best.users.name!r} ({best.within_users:.2f})",
            )
            found.choose = (
                f"user {best.users.name!r}, item {best.items.name!r}, option {best.answers.name!r}"
            )
            if not told and not (named and self._holds(best)):
                found.make = lambda: self._ask(best, rivals) if rivals else self._found(best)
        elif not named and ((self.names["user"] and self.names["item"]) or self.crossing):
            points = self._points()
            if points:
                found.add(8, f"{points!r} holds points, and no column holds answers")
                found.refusal = Refusal(
                    f"a table of points ({points!r}) per user and item, without answers",
                    "export the answers that each person chose, or name the column if these are "
                    "choices",
                )
        found.possible |= found.make is not None or found.refusal is not None
        return found

    def _points(self) -> str | None:
        """Return a column of points per user and item, if users have several rows."""
        users = [self.all[n] for n in self.names["user"]]
        if users and users[0].distinct * 2 > users[0].filled:
            return None
        own = (self.all[name] for name in self.all.names if name not in self.names["item"])
        return next((p.name for p in own if p.said == "points" or "correct" in p.words), None)

    # -- by name --------------------------------------------------------------------------------

    def _named(self) -> tuple[Profile, Profile, Profile] | None:
        """Return columns named like users, items and answers, if users or items repeat."""
        if not all(self.names.values()):
            return None
        user, item = (self.all[str(self.names[role][0])] for role in ("user", "item"))
        option = [n for n in self.names["option"] if n not in (user.name, item.name)]
        repeat = len(self.all) == 3 or user.distinct < user.filled or item.distinct < item.filled
        return (user, item, self.all[option[0]]) if option and user is not item and repeat else None

    def _holds(self, best: _Triple) -> bool:
        """Whether the named columns hold against the best ones by content."""
        named = self._named()
        assert named is not None
        user, item, option = named
        if best.users.parts[0] is user and item in best.items.parts and best.answers is option:
            return True
        own = self._measure(_Side([user]), _Side([item]), option)
        fixed = item.fixes(option) or user.fixes(option)
        if fixed or own is None or best.gain > own.gain + CLEAR:
            return False
        sides = self._told_apart(user, item, option)
        return self._crosses(*sides) or len(sides[0].parts) > 1

    def _by_name(self, why: str) -> Layout:
        """Return the layout that names and the caller decide."""
        table, given = self.all.table, dict(self.given)
        if not table.has_header and not any(given.values()):
            if len(table.names) < 3:
                raise InputError(
                    f"{table.place.source}: a long table needs three columns (user, item, option); "
                    f"this one has {len(table.names)}."
                )
            given = dict(zip(("user", "item", "option"), table.names, strict=False))
            table.notes.append("Took the first three columns as user, item and option.")
        self._refuse_offered()
        chosen = long_columns(table.names, given, table.place, [])
        user, item, option = (self.all[name] for name in chosen)
        users, items = _Side([user]), _Side([item])
        if self.together:
            users = _Side([self.all[name] for name in self.together])
        elif user.has_name:
            users, items = self._told_apart(
                user, item, option, runs=not given["user"], more=not given["item"]
            )
        key = self._key(items, option)
        used = {own.name for own in (*users.parts[1:], *([] if key is None else [key]))}
        long_columns([n for n in table.names if n not in used], given, table.place, table.notes)
        if key is not None:
            table.notes.append(f"{key.name!r} is taken as the key.")
        if len(users.parts) > 1 and not self.together:
            table.notes.append(
                f"Each {user.name!r} answered each item more than once; every {users.name!r} "
                "counts as a user."
            )
        return self._layout(users, items, option, key, why)

    def _refuse_offered(self) -> None:
        """Refuse a table with one row per option that was offered, chosen or not."""
        named = self._named()
        if named is None or self.given["option"] is not None:
            return
        user, item, offered = named
        one = self._unique(_Side([user]), _Side([item]))
        each = self._unique(_Side([user]), _Side([item, offered]))
        for flag in self.names["option"]:
            flags = {text.casefold() for text in self.all[flag].content.counts} <= FLAGS
            if flags and flag != offered.name and one <= DIFFERENT and each >= UNIQUE:
                raise Refusal(
                    f"a table with one row per option ({offered.name!r}), where {flag!r} says "
                    "whether it was chosen",
                    "keep the rows of the options that were chosen",
                )

    def _told_apart(
        self, user: Profile, item: Profile, option: Profile, *, runs: bool = True, more: bool = True
    ) -> tuple[_Side, _Side]:
        """Add the column that tells repeated pairs of user and item apart, if there is one.

        It is a part of the item if answers agree within both together more than within either;
        otherwise it may number the runs of a user.
        """
        users, items = _Side([user]), _Side([item])
        if self.n < ENOUGH or self._crosses(users, items):
            return users, items
        beside = [own for own in self._labels() if own not in (user, item, option)]
        for other in beside[:MOST] if more else ():
            if self._crosses(users, _Side([other])) and other.fixes(item):
                return users, _Side([other])
        for other in beside[:MOST]:
            both = _Side(sorted((item, other), key=lambda own: own.place))
            is_item = self._is_joined(both, option)
            if more and is_item and self._unique(users, both) >= UNIQUE:
                return users, both
            run = _Side([user, other])
            full = run.width * item.distinct <= 2 * self.n and 3 * run.width <= self.n
            if runs and full and not is_item and not other.fixes(item) and (
                self._unique(users, items) <= DIFFERENT and self._unique(run, items) >= UNIQUE
            ):  # fmt: skip
                return run, items
        return users, items

    # -- by content -----------------------------------------------------------------------------

    def _labels(self) -> list[Profile]:
        """Return the columns that may name users or items, those named so first."""
        wanted = [*self.names["user"], *self.names["item"]]
        labels = [
            own for own in self.all.of(self.all.names)
            if own.is_label
            and (own.said not in _NO_LABELS or own.name in wanted or "trial" in own.words)
        ]  # fmt: skip
        people = {*ROLES["user"]}
        return sorted(
            labels, key=lambda own: (own.name not in wanted, not own.words & people, own.place)
        )

    def _search(self) -> tuple[_Triple | None, list[_Triple]]:
        """Return the best columns, and those that fit as well."""
        self.crossing = False
        if self.n < ENOUGH:
            return None, []
        labels = _without_twins(self._crossing(self._labels()))
        single = [_Side([own]) for own in labels[:MOST]]
        found = [own for sides in permutations(single, 2) for own in self._answered(*sides)]
        if not found:
            some = _without_twins(self._labels())[:MOST_PARTS]
            for one, first, second in permutations(some, 3):
                if first.place < second.place:
                    alone, both = _Side([one]), _Side([first, second])
                    found += self._answered(alone, both) + self._answered(both, alone)
        # Right and wrong agree within users as within items: there names decide.
        found = [
            own for own in found
            if own.named >= 2 or (own.rank > 0 and (own.gain > 0 or own.sided > 0))
        ]  # fmt: skip
        found = [*self._not_derived(found)]
        if not found:
            return None, []
        found.sort(key=lambda own: -own.rank)
        best = found[0]
        rivals = [
            own for own in found[1:]
            if (best.named == 0 or (own.columns == best.columns and own.users is best.users))
            and own.rank > best.rank - CLEAR and own.named >= best.named
            and not (own.items is best.items and _fixes(own.given(best.answers), own.answers))
        ]  # fmt: skip
        return best, rivals

    def _answered(self, users: _Side, items: _Side) -> list[_Triple]:
        """Return the columns that may hold answers: fixed neither by the user nor by the item."""
        if not self._crosses(users, items):
            return []
        self.crossing = True
        found = []
        for own in self._answer_columns:
            if own in users.parts or own in items.parts or users.fixes(own) or items.fixes(own):
                continue
            triple = self._measure(users, items, own)
            if triple is None:
                continue
            joined = [side for side in (users, items) if len(side.parts) > 1]
            if all(self._is_joined(side, own) for side in joined):
                found.append(triple)
        return found

    @cached_property
    def _answer_columns(self) -> list[Profile]:
        """The columns that may hold answers, as far as their own cells and names tell."""
        found = []
        for own in self.all.of(self.all.names):
            told = own.name in self.names["option"]
            if own.distinct < 2 or own.distinct > DIFFERENT * self.n or own.filled < GIVEN * self.n:
                continue
            if own.kind in _NO_ANSWER_KINDS or (own.kind == "text" and not told):
                continue
            if own.kind == "measure" and own.distinct * 3 > own.filled:
                continue
            if "correct" in own.words or (
                own.said in _NO_ANSWERS and not told and not own.words & ANSWERS
            ):  # fmt: skip
                continue
            found.append(own)
        return found

    def _not_derived(self, found: Sequence[_Triple]) -> Iterator[_Triple]:
        """Leave out answers that say whether others are right, or repeat them."""
        groups: defaultdict[frozenset[str], list[_Triple]] = defaultdict(list)
        for own in found:
            groups[own.columns].append(own)
        for group in groups.values():
            for own in group:
                if not any(self._follows(own, other) for other in group):
                    yield own

    @staticmethod
    def _follows(own: _Triple, other: _Triple) -> bool:
        if own.answers is other.answers or own.named > other.named:
            return False
        if not _fixes(other.given(other.answers), own.answers):
            return False
        back = _fixes(other.given(own.answers), other.answers)
        return not back or (own.items is other.items and own.answers.place > other.answers.place)

    def _crosses(self, users: _Side, items: _Side) -> bool:
        """Whether hardly a pair of user and item repeats, although chance would repeat it."""
        chance = users.chance * items.chance
        if self._repeats(users.width * items.width, chance):
            return False
        _, counts = pairs(users.numbers, items.numbers)
        repeated = float((counts * (counts - 1) / 2).sum())
        if repeated > REPEATED * self.n * (self.n - 1) / 2 * chance:
            return False
        return not any(
            user.fixes(item) or item.fixes(user) for user in users.parts for item in items.parts
        )

    def _repeats(self, most: float, chance: float) -> bool:
        """Whether rows with at most so many different pairs repeat too many, however they fall.

        ``chance`` is how often two rows have the same pair by chance, at most.
        """
        too_many = self.n / most - 1 > REPEATED * (self.n - 1) * chance
        return too_many or self.n * (self.n - 1) / 2 * chance < TELLING

    def _crossing(self, labels: list[Profile]) -> list[Profile]:
        """Return the columns that may cross another one, by the numbers of their values."""
        return [
            own for own in labels
            if not all(
                self._repeats(own.width * other.width, own.chance * other.chance)
                for other in labels if other is not own
            )
        ]  # fmt: skip

    def _unique(self, users: _Side, items: _Side) -> float:
        """Return which share of the pairs of user and item is different."""
        return len(pairs(users.numbers, items.numbers)[1]) / max(1, self.n)

    def _is_joined(self, side: _Side, answers: Profile) -> bool:
        """Whether answers agree within both columns together more than within either."""
        both = agree(side.numbers, answers.numbers)
        return all(agree(own.numbers, answers.numbers) < 0.7 * both for own in side.parts)

    def _measure(self, users: _Side, items: _Side, answers: Profile) -> _Triple | None:
        full = answers.is_filled
        item, own = items.numbers[full], answers.numbers[full]
        sizes = np.bincount(item)
        if not len(own) or sizes[sizes > 1].sum() < TOLD * len(item):
            return None  # hardly anybody answered what another one did
        inside, alike = agree(item, own), agree(users.numbers[full], own)
        fits, other = (
            sum(
                any(own.name in self.names[role] for own in side.parts)
                for role, side in (("user", one), ("item", two))
            )
            for one, two in ((users, items), (items, users))
        )
        named = fits + (answers.name in self.names["option"])
        told = bool(answers.words & ANSWERS)
        rank = (inside - alike) * float(full.mean()) + NAMED * (named - other)
        rank += HINT * told - 2 * HINT * (answers.said in _HARDLY and not told)
        return _Triple(users, items, answers, inside, alike, named, fits - other, rank)

    def _key(self, items: _Side, answers: Profile) -> Profile | None:
        """Return the column with one answer per item: named like a key, or else right often."""
        best: tuple[float, Profile] | None = None
        for own in self.all.of(self.all.names):
            told = own.said == "key"
            if own in (*items.parts, answers) or own.said not in (None, "key"):
                continue
            if own.words & {"majority", "consensus", "offered"}:
                continue
            if fixed_share(items.numbers, own) <= (0.9 if told else FIXED):
                continue
            named = told or own.name in self.all.named("answer")
            known = sum(n for text, n in own.values.items() if text in answers.values)
            if (own.distinct < 2 and not named) or known < (0.5 if named else 0.8) * own.filled:
                continue
            both = own.is_filled & answers.is_filled
            mine, given = (
                [same_value(c) for c, full in zip(column.cells, both, strict=True) if full]
                for column in (own, answers)
            )
            sure = hits(mine, given) + (1.0 if told else 0.2 if named else 0.0)
            if sure > 0.1 and (best is None or sure > best[0]):
                best = (sure, own)
        return None if best is None else best[1]

    # -- layouts --------------------------------------------------------------------------------

    def _found(self, best: _Triple) -> Layout:
        self._refuse_offered()
        key = self._key(best.items, best.answers)
        self.all.table.notes.append(
            Detail(
                f"There is one answer per row: {best.users.name!r} is taken as the user, "
                f"{best.items.name!r} as the item and {best.answers.name!r} as the answer"
                f"{f', {key.name!r} as the key' if key else ''}."
            )
        )
        return self._layout(best.users, best.items, best.answers, key, "users and items cross")

    def _ask(self, best: _Triple, rivals: list[_Triple]) -> Layout:
        ways = [
            f"--user {own.users.name!r} --item {own.items.name!r} --option {own.answers.name!r}"
            for own in (best, rivals[0])
        ]
        raise Refusal(
            f"a table with one row per answer ({best.users.name!r}, {best.items.name!r}), in which "
            "more than one set of columns may be meant",
            f"say which, with {ways[0]} or with {ways[1]}",
        )

    def _layout(
        self, users: _Side, items: _Side, answers: Profile, key: Profile | None, why: str
    ) -> Layout:
        columns = []
        for own in self.all.of(self.all.names):
            if own in users.parts:
                columns.append(Column(own.name, "user", "the user of each row", own.place))
            elif own in items.parts:
                columns.append(Column(own.name, "item", "the item of each row", own.place))
            elif own is answers:
                columns.append(Column(own.name, "answers", "the answers of each row", own.place))
            elif own is key:
                right = "the right answer of each row's item"
                columns.append(Column(own.name, "key", right, own.place))
            else:
                columns.append(Column(own.name, "unused", "not needed", own.place))
        both = next((side.parts for side in (users, items) if len(side.parts) > 1), [])
        return Layout(
            "long", why, columns, long=(users.name, items.name, answers.name),
            key=None if key is None else key.name, parts=[own.name for own in both],
        )  # fmt: skip


NAMED_SO = "there are columns of users, items and answers"


def _fixes(group: Numbers, other: Profile) -> bool:
    """Whether each value of a group goes with a single value of a column."""
    return fixed_share(group, other) > FIXED


def _without_twins(labels: Sequence[Profile]) -> list[Profile]:
    """Keep one of several columns that name the same things: the id and the name of a user."""
    kept: list[Profile] = []
    for own in labels:
        if not any(k.distinct == own.distinct and k.fixes(own) and own.fixes(k) for k in kept):
            kept.append(own)
    return kept
