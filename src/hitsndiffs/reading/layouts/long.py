"""One row per answer: which columns hold the users, the items, the answers and the key.

Two columns cross: hardly a pair of them repeats, although chance would repeat it. A third is fixed
by neither: the answers. They agree within items, not within users; that tells the two apart. Names
decide where the cells do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from hitsndiffs.data.frames import long_columns
from hitsndiffs.data.names import ROLES
from hitsndiffs.data.words import Detail
from hitsndiffs.errors import InputError
from hitsndiffs.reading.accord import agree, pairs
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

#: Chance would repeat so many pairs, and at most this share of them does.
TELLING, REPEATED = 10, 0.1
#: So many columns of labels are tried, and so many where two together may name the items.
MOST, MOST_PARTS = 24, 7
#: Agreement within items tells, and more of it than within users.
SOME, CLEAR = 0.02, 0.05
#: So large a share of the answers is to items that others answered too.
TOLD = 0.5
#: Answers are given in so large a share of the rows, and differ in at most this one.
GIVEN, DIFFERENT = 0.3, 0.5
#: Wider tables are not looked at.
WIDEST = 300
#: What nobody chooses as an answer, and what names neither users nor items.
_NO_ANSWERS = ("points", "time", "status", "row", "attempt")
_HARDLY = (*_NO_ANSWERS, "comment", "identity", "key")
_NO_LABELS = ("points", "time", "comment", "status", "key", "attempt")


@dataclass
class _Triple:
    """Columns of users, items (one or two) and answers, and how well they fit."""

    user: Profile
    items: list[Profile]
    answers: Profile
    within_items: float
    within_users: float
    named: int
    rank: float

    @property
    def gain(self) -> float:
        return self.within_items - self.within_users


Given = dict[str, str | None]


def weigh_long(profiles: Profiles, given: Given, *, asked: bool = False) -> Hypothesis:
    """Return what speaks for one row per answer."""
    return _Long(profiles, given).weigh(asked)


class _Long:
    def __init__(self, profiles: Profiles, given: Given) -> None:
        self.all = profiles
        self.given = given
        #: The columns that the caller named as the user together: first+last, model+run.
        self.together = self._together()
        if self.together:
            self.given = {**given, "user": self.together[0]}
        self.names: dict[str, list[str]] = {
            role: [str(self.given[role])] if self.given[role] else profiles.named(role)
            for role in ("user", "item", "option")
        }
        self.n = len(profiles.rows)
        self._joints: dict[tuple[int, ...], tuple[Numbers, int, float]] = {}

    def _together(self) -> list[str]:
        user = self.given["user"]
        parts = [] if user is None else named_together(user, self.all.names)
        return parts if len(parts) > 1 and {*parts} <= {*self.all.names} else []

    def weigh(self, asked: bool) -> Hypothesis:
        found = Hypothesis("one row per answer", choose="layout long")
        found.possible = False
        told = any(self.given[role] for role in ("item", "option"))
        if asked or told:
            found.add(8, "asked for")
            found.possible = True
        if len(self.all) > WIDEST or len(self.all) < 3:
            if found.possible:
                found.make = lambda: self._by_name("asked for (layout)")
            return found
        named = self._all_named()
        best, rivals, crossing = self._search()
        if named:
            found.add(4, "columns are named like users, items and answers, and they repeat")
            found.possible = True
        if best is not None:
            found.add(3, f"{best.user.name!r} and {_name(best)!r} cross")
            found.add(
                2 if best.gain > CLEAR else 1 if best.gain > SOME else 0,
                f"the answers agree within {_name(best)!r} ({best.within_items:.2f}), not within "
                f"{best.user.name!r} ({best.within_users:.2f})",
            )
            found.possible = True
        elif crossing or (self.names["user"] and self.names["item"]):
            points = self._points()
            if points:
                found.add(8, f"{points!r} holds points, and no column holds answers")
                found.possible = True
                found.refusal = Refusal(
                    f"a table of points ({points!r}) per user and item, without answers",
                    "export the answers that each person chose, or name the column if these are "
                    "choices",
                )
                return found
        if found.possible:
            users = best.user.name if best else (self.names["user"] or ["?"])[0]
            items = best.items[0].name if best else (self.names["item"] or ["?"])[0]
            option = best.answers.name if best else (self.names["option"] or ["?"])[0]
            found.choose = f"user {users!r}, item {items!r}, option {option!r}"
        prefer_names = asked or told or (named and not self._overruled(best))
        if prefer_names or best is None:
            found.make = lambda: self._by_name(
                "there are columns of users, items and answers" if not asked else
                "asked for (layout)"
            )  # fmt: skip
        else:
            own = best
            if rivals:
                found.possible = True
                found.make = lambda: self._ask(own, rivals)
            else:
                found.make = lambda: self._found(own)
        return found

    def _points(self) -> str | None:
        """Return a column of points per user and item, if users have several rows."""
        users = [self.all[n] for n in self.names["user"]]
        if users and users[0].distinct * 2 > users[0].filled:
            return None
        for name in self.all.names:
            own = self.all[name]
            if (own.said == "points" or "correct" in own.words) and name not in self.names["item"]:
                return name
        return None

    # -- by name --------------------------------------------------------------------------------

    def _all_named(self) -> bool:
        """Whether columns are named like users, items and answers, and users or items repeat."""
        if not all(self.names.values()):
            return False
        user, item = (self.all[str(self.names[role][0])] for role in ("user", "item"))
        option = [n for n in self.names["option"] if n not in (user.name, item.name)]
        if user.name == item.name or not option:
            return False
        return len(self.all) == 3 or user.distinct < user.filled or item.distinct < item.filled

    def _overruled(self, best: _Triple | None) -> bool:
        """Whether the cells say plainly that other columns than the named ones are meant."""
        if best is None:
            return False
        user, item = (self.all[str(self.names[role][0])] for role in ("user", "item"))
        options = [n for n in self.names["option"] if n not in (user.name, item.name)]
        triple = (best.user.name, [p.name for p in best.items], best.answers.name)
        named = self._measure(user, [item], self.all[options[0]])
        if triple == (user.name, [item.name], options[0]):
            return False
        # the answers are fixed by the item, or agree no more in it than in the user
        fixed = item.fixes(self.all[options[0]]) or user.fixes(self.all[options[0]])
        if len(self._runs_of(user, item, self.all[options[0]])) > 1:
            return False
        crossed = self._crosses(user, [item]) > REPEATED
        return fixed or crossed or named is None or best.gain > named.gain + CLEAR

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
        self._refuse_offered(given)
        chosen = long_columns(table.names, given, table.place, [])
        user, item, option = (self.all[name] for name in chosen)
        parts, users = [item], [user]
        if not given["item"] and user.has_name:
            parts = self._parts_of(user, item, option)
        if self.together:
            users = [self.all[name] for name in self.together]
        elif not given["user"] and parts == [item]:
            users = self._runs_of(user, item, option)
        key = self._key(parts, option)
        used = {own.name for own in (*users[1:], *([] if key is None else [key]))}
        long_columns([n for n in table.names if n not in used], given, table.place, table.notes)
        if key is not None:
            table.notes.append(f"{key.name!r} is taken as the key.")
        if len(users) > 1 and not self.together:
            table.notes.append(
                f"Each {users[0].name!r} answered each item more than once; every "
                f"{joined_name([own.name for own in users])!r} counts as a user."
            )
        return self._layout(users, parts, option, key, why)

    def _parts_of(self, user: Profile, item: Profile, option: Profile) -> list[Profile]:
        """Return the item column, with another one if only both together name the items."""
        if self.n < 8 or self._crosses(user, [item]) <= REPEATED:
            return [item]
        beside = [
            self.all[n] for n in self.all.names
            if n not in (user.name, option.name, item.name)
            and self.all[n].is_label and self.all[n].said not in _NO_LABELS
        ]  # fmt: skip
        for other in beside[:MOST]:
            if self._crosses(user, [other]) <= REPEATED and other.fixes(item):
                return [other]
        for other in beside[:MOST]:
            both = sorted((item, other), key=lambda own: own.place)
            if self._pairs(user, both) >= 0.95 and self._is_joined(both, option):
                return both
        return [item]

    def _runs_of(self, user: Profile, item: Profile, option: Profile) -> list[Profile]:
        """Return the user column, with another one if it tells repeated runs of a user apart."""
        if self.n < 8 or self._pairs(user, [item]) > 0.5:
            return [user]
        for other in [self.all[n] for n in self.all.names][:MOST]:
            if other.name in (user.name, item.name, option.name) or not other.is_label:
                continue
            if other.said in _NO_LABELS or other.fixes(item):
                continue
            n_runs = self._as_one([user, other])[1]
            full = n_runs * item.distinct <= 2 * self.n and 3 * n_runs <= self.n
            once = self._pairs(item, [user, other]) >= 0.95
            if full and once and not self._is_joined([item, other], option):
                return [user, other]
        return [user]

    def _refuse_offered(self, given: Given) -> None:
        """Refuse a table with one row per option that was offered, chosen or not."""
        if given["option"] is not None or not self.all.has_header:
            return
        names = list(self.names["option"])
        if len(names) < 2 or not self.names["user"] or not self.names["item"]:
            return
        user, item = self.all[str(self.names["user"][0])], self.all[str(self.names["item"][0])]
        for flag in names[1:]:
            flags = {text.casefold() for text in self.all[flag].content.counts}
            offered = self.all[names[0]]
            share = self._pairs(user, [item])
            if flags <= FLAGS and share <= 0.5 and self._pairs(user, [item, offered]) > 0.95:
                raise Refusal(
                    f"a table with one row per option ({names[0]!r}), where {flag!r} says whether "
                    "it was chosen",
                    "keep the rows of the options that were chosen",
                )

    # -- by content -----------------------------------------------------------------------------

    def _search(self) -> tuple[_Triple | None, list[_Triple], bool]:
        """Return the best columns, those that fit as well, and whether any two columns cross."""
        if self.n < 8:
            return None, [], False
        labels = [self.all[n] for n in self.all.names]
        wanted = {name for own in self.names.values() for name in own}
        labels = [
            own for own in labels
            if own.is_label
            and (own.said not in _NO_LABELS or own.name in wanted or "trial" in own.words)
        ]  # fmt: skip
        people = {*ROLES["user"]}
        labels.sort(key=lambda own: (self._named(own) is None, not own.words & people, own.place))
        found: list[_Triple] = []
        crossing = False
        for user, item in permutations(_without_twins(self._crossing(labels), MOST), 2):
            if self._crosses(user, [item]) > REPEATED:
                continue
            crossing = True
            found += self._answers(user, [item])
        if not found:
            some = _without_twins(labels, MOST_PARTS)
            for first, second in combinations(some, 2):
                both = sorted((first, second), key=lambda own: own.place)
                for user in some:
                    if user in both or self._crosses(user, both) > REPEATED:
                        continue
                    found += [
                        own for own in self._answers(user, both)
                        if self._is_joined(both, own.answers)
                    ]  # fmt: skip
        found = [own for own in found if not any(self._flags(own, other) for other in found)]
        found = [own for own in found if own.gain > 0 or own.named >= 2]
        if not found:
            return None, [], crossing
        found.sort(key=lambda own: -own.rank)
        best = found[0]
        rivals = [
            own for own in found[1:]
            if (best.named == 0 or (own.user is best.user and own.items == best.items))
            and own.rank > best.rank - CLEAR and own.named >= best.named
            and not (own.items == best.items and self._same_choice(best, own))
        ]  # fmt: skip
        return best, rivals, crossing

    def _named(self, own: Profile) -> str | None:
        for role in ("user", "item"):
            if own.name in self.names[role]:
                return role
        return None

    def _crosses(self, user: Profile, items: list[Profile]) -> float:
        """Return how many pairs repeat, of those that chance would repeat; 9 if too few would."""
        item, width, chance = self._as_one(items)
        expected = self.n * (self.n - 1) / 2 * user.chance * chance
        if self._repeats(user.width * width, user.chance * chance):
            return 9.0
        _, counts = pairs(user.numbers, item)
        repeated = float((counts * (counts - 1) / 2).sum()) / expected
        if repeated <= REPEATED and any(user.fixes(own) or own.fixes(user) for own in items):
            return 9.0
        return repeated

    def _as_one(self, items: list[Profile]) -> tuple[Numbers, int, float]:
        """Return one or more columns as one: its numbers, how many there are, and their chance."""
        if len(items) == 1:
            return items[0].numbers, items[0].width, items[0].chance
        places = tuple(own.place for own in items)
        if places not in self._joints:
            item = _joined(items)
            shares = np.bincount(item) / len(item)
            self._joints[places] = item, len(shares), float(shares @ shares)
        return self._joints[places]

    def _repeats(self, most: Any, chance: Any) -> Any:
        """Whether rows with at most so many different pairs repeat too many, however they fall.

        ``chance`` is how often two rows have the same pair by chance, at most.
        """
        too_many = self.n / most - 1 > REPEATED * (self.n - 1) * chance
        return too_many | (self.n * (self.n - 1) / 2 * chance < TELLING)

    def _crossing(self, labels: list[Profile]) -> list[Profile]:
        """Return the columns that may cross another one, by the numbers of their values."""
        width = np.array([own.width for own in labels], dtype=float)
        chance = np.array([own.chance for own in labels])
        never = self._repeats(np.outer(width, width), np.outer(chance, chance))
        np.fill_diagonal(never, True)
        return [own for own, alone in zip(labels, never.all(axis=1), strict=True) if not alone]

    def _pairs(self, user: Profile, items: list[Profile]) -> float:
        """Return which share of the pairs of user and item is different."""
        return len(pairs(user.numbers, _joined(items))[1]) / max(1, self.n)

    def _is_joined(self, items: list[Profile], answers: Profile) -> bool:
        """Whether answers agree within both columns together more than within either."""
        both = agree(_joined(items), answers.numbers)
        return all(agree(own.numbers, answers.numbers) < 0.7 * both for own in items)

    def _measure(self, user: Profile, items: list[Profile], answers: Profile) -> _Triple | None:
        full = answers.is_filled
        if not full.any():
            return None
        item, own = _joined(items)[full], answers.numbers[full]
        sizes = np.bincount(item)
        if sizes[sizes > 1].sum() < TOLD * len(item):
            return None  # hardly anybody answered what another one did
        inside, alike = agree(item, own), agree(user.numbers[full], own)
        named = (
            (user.name in self.names["user"]) + any(p.name in self.names["item"] for p in items)
            + (answers.name in self.names["option"])
        )  # fmt: skip
        wrong = (user.name in self.names["item"]) + any(p.name in self.names["user"] for p in items)
        told = bool(answers.words & ANSWERS) * 0.1
        rank = (inside - alike) * float(full.mean()) + 0.3 * (named - wrong) + told
        rank -= 0.2 * (answers.said in _HARDLY and not told)
        return _Triple(user, items, answers, inside, alike, named, rank)

    def _answers(self, user: Profile, items: list[Profile]) -> list[_Triple]:
        """Return the columns that may hold answers: fixed neither by the user nor by the item."""
        found = []
        for own in (self.all[n] for n in self.all.names):
            if own is user or own in items or not 2 <= own.distinct <= DIFFERENT * self.n:
                continue
            if own.said in _NO_ANSWERS and not (
                own.name in self.names["option"] or own.words & ANSWERS
            ):  # fmt: skip
                continue
            if "correct" in own.words or own.kind in (
                "time", "mail", "link", "counter", "score", "record"
            ):  # fmt: skip
                continue
            if own.kind == "measure" and not self._belongs(own, items):
                continue
            if own.kind == "different" or own.filled < GIVEN * self.n or user.fixes(own):
                continue
            if _fixes(_joined(items), own):
                continue
            if own.kind == "text" and own.name not in self.names["option"]:
                continue
            triple = self._measure(user, items, own)
            if triple is not None:
                found.append(triple)
        return [own for own in found if not any(self._follows(own, other) for other in found)]

    def _belongs(self, own: Profile, items: list[Profile]) -> bool:
        """Whether the numbers of a column are those of options: each belongs to one item."""
        return len(items) == 1 and own.fixes(items[0]) and own.distinct * 3 <= own.filled

    def _follows(self, own: _Triple, other: _Triple) -> bool:
        """Whether a column says whether the answers of another one are right, or repeats them."""
        if own is other or own.named > other.named:
            return False
        item = _joined(own.items)
        width = int(other.answers.numbers.max()) + 1
        both = item * width + other.answers.numbers
        back = item * (int(own.answers.numbers.max()) + 1) + own.answers.numbers
        if not _fixes(both, own.answers):
            return False
        return not _fixes(back, other.answers) or own.answers.place > other.answers.place

    def _flags(self, own: _Triple, other: _Triple) -> bool:
        """Whether answers say which answers of users and items in exchanged roles are right."""
        exchanged = [own.user] == other.items and own.items == [other.user]
        if not exchanged or own.answers is other.answers or own.named > other.named:
            return False
        both = _joined(other.items) * other.answers.width + other.answers.numbers
        back = _joined(other.items) * own.answers.width + own.answers.numbers
        return _fixes(both, own.answers) and not _fixes(back, other.answers)

    def _same_choice(self, one: _Triple, two: _Triple) -> bool:
        item = _joined(one.items)
        both = item * one.answers.width + one.answers.numbers
        return _fixes(both, two.answers)

    def _key(self, items: list[Profile], answers: Profile) -> Profile | None:
        """Return the column with one answer per item: named like a key, or else right often."""
        item = _joined(items)
        best: tuple[float, Profile] | None = None
        for own in (self.all[n] for n in self.all.names):
            share = fixed_share(item, own)
            if own in (*items, answers) or share <= (0.9 if own.said == "key" else FIXED):
                continue
            if own.said not in (None, "key") or own.words & {"majority", "consensus", "offered"}:
                continue
            known = sum(n for text, n in own.values.items() if text in answers.values)
            named = own.said == "key" or own.name in self.all.named("answer")
            if (own.distinct < 2 and not named) or known < (0.5 if named else 0.8) * own.filled:
                continue
            both = own.is_filled & answers.is_filled
            mine = [same_value(c) for c, told in zip(own.cells, both, strict=True) if told]
            given = [same_value(c) for c, told in zip(answers.cells, both, strict=True) if told]
            hits = sum(a == b for a, b in zip(mine, given, strict=True)) / max(1, len(mine))
            shares = sum(
                (mine.count(v) / len(mine)) * (given.count(v) / len(given)) for v in set(mine)
            ) if mine else 1.0  # fmt: skip
            sure = hits - shares + (1.0 if own.said == "key" else 0.2 if named else 0.0)
            if sure > 0.1 and (best is None or sure > best[0]):
                best = (sure, own)
        return None if best is None else best[1]

    # -- layouts --------------------------------------------------------------------------------

    def _found(self, best: _Triple) -> Layout:
        self._refuse_offered(self.given)
        key = self._key(best.items, best.answers)
        name = _name(best)
        self.all.table.notes.append(
            Detail(
                f"There is one answer per row: {best.user.name!r} is taken as the user, {name!r} "
                f"as the item and {best.answers.name!r} as the answer"
                f"{f', {key.name!r} as the key' if key else ''}."
            )
        )
        return self._layout([best.user], best.items, best.answers, key, "users and items cross")

    def _ask(self, best: _Triple, rivals: list[_Triple]) -> Layout:
        ways = [
            f"--user {own.user.name!r} --item {own.items[0].name!r} --option {own.answers.name!r}"
            for own in (best, rivals[0])
        ]
        raise Refusal(
            f"a table with one row per answer ({best.user.name!r}, {_name(best)!r}), in which more "
            "than one set of columns may be meant",
            f"say which, with {ways[0]} or with {ways[1]}",
        )

    def _layout(
        self,
        users: list[Profile],
        items: list[Profile],
        answers: Profile,
        key: Profile | None,
        why: str,
    ) -> Layout:
        user, item = (joined_name([own.name for own in each]) for each in (users, items))
        chosen = (user, item, answers.name)
        columns = []
        for place, name in enumerate(self.all.names):
            if any(name == own.name for own in users):
                columns.append(Column(name, "user", "the user of each row", place))
            elif any(name == own.name for own in items):
                columns.append(Column(name, "item", "the item of each row", place))
            elif name == answers.name:
                columns.append(Column(name, "answers", "the answers of each row", place))
            elif key is not None and name == key.name:
                columns.append(Column(name, "key", "the right answer of each row's item", place))
            else:
                columns.append(Column(name, "unused", "not needed", place))
        parts = next(([own.name for own in each] for each in (users, items) if len(each) > 1), [])
        return Layout(
            "long", why, columns, long=chosen, key=None if key is None else key.name, parts=parts
        )


def _name(triple: _Triple) -> str:
    return joined_name([own.name for own in triple.items])


def _joined(items: list[Profile]) -> Numbers:
    """Return numbers for the cells of one column, or of several together."""
    numbers = items[0].numbers
    for own in items[1:]:
        numbers = numbers * (int(own.numbers.max()) + 1) + own.numbers
    return np.unique(numbers, return_inverse=True)[1] if len(items) > 1 else numbers


def _fixes(group: Numbers, other: Profile) -> bool:
    """Whether each value of a group goes with a single value of a column."""
    return fixed_share(group, other) > FIXED


def _without_twins(labels: list[Profile], most: int) -> list[Profile]:
    """Keep one of several columns that name the same things: the id and the name of a user."""
    kept: list[Profile] = []
    for own in labels:
        if len(kept) == most:
            break
        if not any(k.distinct == own.distinct and k.fixes(own) and own.fixes(k) for k in kept):
            kept.append(own)
    return kept
