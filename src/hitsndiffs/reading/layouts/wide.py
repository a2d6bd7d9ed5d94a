"""One row per user: what each column is, by one score from its cells, its place and its name.

Columns are items if they share their answers, are numbered, ask a question, or have points beside
them; cells of another kind, one text in all rows, and names such as "total" speak against it. What
speaks neither clearly for an item nor against it is a question to the caller.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import permutations

import numpy as np

from hitsndiffs.data.names import ROLES, recognise
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.reading.accord import Accord, accord_of
from hitsndiffs.reading.exports.base import Refusal, Role
from hitsndiffs.reading.layouts.columns import FEW, MANY, Profile, Profiles, same_value
from hitsndiffs.reading.layouts.layout import (
    ASKED,
    REASONS,
    ROLE_OF_KIND,
    SAID,
    Hypothesis,
    WideRoles,
)
from hitsndiffs.reading.layouts.scored import points_of_answers
from hitsndiffs.reading.layouts.users import NAMELESS, Users
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.vocabulary import RATERS, tokens

__all__ = ["Wide", "direction", "leans", "names_people"]

#: A column with this much evidence is an item; with one less, it is a question.
ITEM = 3
#: A column shares the answers of others if this share of its cells are answers there.
SHARED = 0.9
#: What the answers of the main items are: those that so large a share of them have.
COMMON = 0.25
#: Agreement of so little is chance; so much more the other way tells which way the table stands.
NONE, CLEAR = 0.02, 0.05
#: In fewer cells, agreement is chance.
CELLS = 40
#: A table is looked at for its direction up to this many rows and columns.
SIDE = 300
Evidence = list[tuple[int, str]]
SERIES = "named in a series"
BESIDE = "it stands beside the items and is not named like them"
REMARK = "the same text in many columns, and nobody's answer to the others"
UNLIKE = "neither named nor answered like the items"


def direction(columns: Sequence[Profile]) -> Accord:
    """Return the agreement within columns (as items) and within rows (as users)."""
    step = max(1, len(columns) // SIDE)
    index: dict[str, int] = {"": 0}
    rows, places, texts = [], [], []
    for place, column in enumerate(columns[::step][:SIDE]):
        cells = column.cells[:SIDE]
        of_text = {t: index.setdefault(same_value(t), len(index)) for t in dict.fromkeys(cells)}
        own = np.array([of_text[cell] for cell in cells], dtype=np.int64)
        (filled,) = np.nonzero(own)
        rows.append(filled)
        places.append(np.full(len(filled), place))
        texts.append(own[filled])
    if not texts:
        return Accord(0.0, 0.0)
    return accord_of(np.concatenate(rows), np.concatenate(places), np.concatenate(texts))


class Wide(Users):
    """The table as one row per user: its users, its items, and what the other columns are."""

    def __init__(
        self, profiles: Profiles, options: ReadingOptions, *, one_of: bool = False
    ) -> None:
        super().__init__(profiles, options)
        self.one_of = one_of
        #: Columns that may or may not be items.
        self.doubtful: list[str] = []
        self.key: dict[str, str] = {}
        self.key_from = "the columns of points"
        #: Items that share their answers, that are named in a series, that have columns of points.
        self.core: set[str] = set()
        self.series: set[str] = set()
        self.paid: set[str] = set()
        #: How much of the evidence holds for the table and the turned table alike.
        self.sharing = 0
        self._find_items()

    # -- items ----------------------------------------------------------------------------------

    def _find_items(self) -> None:
        rest = [name for name in self.names if name not in self.users]
        for name in rest if self.asked is not None else self.dropped:
            if name in self.dropped:
                self._put(name, "unused", "left out as asked (drop)")
            elif self.asked is not None and name in self.asked:
                self._put(name, "item", ASKED)
            else:
                role = ROLE_OF_KIND.get(self.all[name].kind, "unused")
                self._put(name, role, "not among the items asked for")
        if self.asked is not None:
            return
        rest = [name for name in rest if name not in self.found]
        for name in rest[MANY:]:
            self.series |= {name} if self.all[name].series else set()
        self._find_points(rest[:MANY])
        rest = [name for name in rest if name not in self.found]
        self._find_core(rest[:MANY])
        self._find_series(rest)
        rest = [name for name in rest if name not in self.found]
        main = self.core | self.series | self.paid
        self.strong = len(main) >= FEW
        places = [self.all[n].place for n in self.series or main if self.all[n].said is None]
        places = places or [self.all[n].place for n in main]
        self.span = range(min(places), max(places) + 1) if self.strong else range(0)
        if len(main) * 2 < len(self.span):
            self.span = range(0)  # most of what stands there is something else
        varied = [
            own.place for own in self.all.of(rest[:MANY])
            if own.kind == "choice" and own.distinct > 1
        ]  # fmt: skip
        self.choices = range(min(varied, default=0), max(varied, default=-1) + 1)
        self.numbered = any(not self.all[n].asks for n in self.series)
        self.shapes = Counter(f(n) for n in main for f in (_shape, _question))
        if not self.has_header:
            self.shapes.clear()
        self.leads = len(self.series) >= 8 and len(self.series) * 2 > len(main)
        for number, name in enumerate(rest):
            if number >= MANY:
                self._put(name, "item" if name in self.series else "unused", SERIES)
            else:
                self._decide(self.all[name])
        self.doubtful += self._ticks()
        self.doubtful += self._numbers_beside_words()

    def _ticks(self) -> list[str]:
        """Return columns of one question that hold one text or nothing."""
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for name, column in self.found.items() if self.has_header else ():
            own = self.all[name]
            if own.distinct == 1 and own.filled < len(own.cells) and own.said is None and (
                column.role in ("item", "constant", "unused")
            ):  # fmt: skip
                groups[_question(name)].append(name)
        alike = Counter(map(_question, self.found))
        found = (own for of, own in groups.items() if len(own) > 1 and len(own) * 2 > alike[of])
        return next(found, [])

    def _numbers_beside_words(self) -> list[str]:
        """Return items of numbers each of which stands right behind a column of words.

        They may be points, or how sure people are, and the rows may be too few to tell. Columns
        named like items are left aside.
        """
        named = self.series | self.paid
        items = [
            self.all[n] for n in self.names
            if n in self.found and self.found[n].role == "item" and n not in named
        ]  # fmt: skip
        numbers = [own for own in items if own.is_numeric and not own.asks]
        before = [self.all[self.names[own.place - 1]] for own in numbers if own.place]
        words = sum(own.filled > 0 and not own.is_numeric for own in before)
        return [own.name for own in numbers] if FEW <= len(numbers) == words else []

    def _asks_too(self, own: Profile) -> bool:
        """Whether a column beside the items speaks of a question, and its cells are choices."""
        word = not {*ROLES["item"]}.isdisjoint(tokens(own.name))
        return (
            self.has_header and own.is_choice and own.distinct > 1 and own.said is None
            and (word or "?" in own.name)
        )  # fmt: skip

    def _decide(self, own: Profile) -> None:
        """Give a column its role."""
        evidence = self._evidence(own)
        score = sum(weight for weight, _ in evidence)
        if score >= ITEM:
            self._put(own.name, "item", max(evidence)[1])
        elif own.said is not None:
            role: Role = "unused" if own.said == "row" else own.said
            self._put(own.name, role, f"named like {SAID[own.said]}")
        elif own.is_constant:
            self._put(own.name, "constant", "it has the same text in all rows")
        elif own.kind in REASONS:
            self._put(own.name, ROLE_OF_KIND[own.kind], REASONS[own.kind])
        else:
            self._put(own.name, "unused", BESIDE if own.name in self.core else UNLIKE)
        left_out = self.found[own.name].role == "unused" and own.name not in self.about
        if (score == ITEM - 1 and own.distinct > 1) or (left_out and self._asks_too(own)):
            self.doubtful.append(own.name)

    def _evidence(self, own: Profile) -> Evidence:
        """Return what speaks for an item (3 is enough) and against it."""
        found: Evidence = []
        few = own.is_choice or self._may_be_choice(own)
        beside = {*self.names[max(0, own.place - 1) : own.place + 2]} & self.core
        near = len(beside) > 1 and not own.is_numeric and not self.numbered
        within = own.place in self.span or near
        alike = max(self.shapes[_shape(own.name)], self.shapes[_question(own.name)]) >= FEW
        if own.name in self.series:
            found.append((4, SERIES))
        elif own.asks and few:
            found.append((4, "its name is a question"))
        elif alike:
            found.append((1, "it is named like the items"))
        elif self.numbered and own.name not in self.paid:
            found.append((-3 if self.leads and not within else -1, BESIDE))
        if own.name in self.paid:
            found.append((4, "its points stand beside it"))
        if own.name in self.about:
            found.append((-6, f"it is about {shortened(self.about[own.name], 30)!r}"))
        elif own.name in self.about.values():
            found.append((1, "other columns are about it"))
        if own.name in self.core:
            weight = 2 if own.is_numeric else 3
            found.append((weight, "its cells are answers to the other items"))
        if not self.strong:
            found.append((2, "its cells are answers that repeat"))
        if within:
            found.append((2, "it stands between the items"))
        unasked = own.kind == "empty" and (not self.strong or alike)
        unasked &= NAMELESS.fullmatch(own.name) is None
        if own.kind == "choice" or unasked:
            found.append((1, "its cells are a few answers"))
        elif not few:
            found.append((-3, REASONS[own.kind]))
        counts = own.said in ("row", "attempt") and not own.is_numeric  # words are no numbers
        if own.said is not None and own.name not in self.series and not counts:
            weight = -6 if own.said == "key" else -4 if own.is_numeric else -2
            found.append((weight, f"named like {SAID[own.said]}"))
        elif own.name in self.all.named("user", wide=True) and self.users:
            found.append((-3, "named like the users"))
        if own.name in self.remarks:
            found.append((-6, REMARK))
        elif own.is_constant and not (
            alike or self.one_of or any(map(self.given.__getitem__, own.values))
            or (not self.strong and own.place in self.choices)
        ):  # fmt: skip
            found.append((-2, "it has the same text in all rows"))
        if own.name in self.keyless:
            found.append((-6, "the key has no answer to it"))
        return found

    @cached_property
    def about(self) -> dict[str, str]:
        """The columns that are named after another one, as several are: Q1 [Score], Points - Q1."""
        names = {*self.names[:MANY]} if self.has_header else set()
        found: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for name in names:
            for k in range(1, len(name)):
                before, after = name[:k].strip(), name[k:].strip()
                if not any(map(str.isalpha, after if before in names else before)):
                    continue  # the same name once more
                if not name[k].isalnum() and before in names:
                    found["…" + after][name] = before
                if not name[k - 1].isalnum() and after in names:
                    found[before + "…"][name] = after
        groups = [own for own in found.values() if len(own) >= FEW]
        return {name: of for own in groups for name, of in own.items()}

    @cached_property
    def keyless(self) -> set[str]:
        """The few columns to which the row of the key has no answer."""
        choices = [own for own in self.all.of(self.names[:MANY]) if own.is_choice]
        for row in self.all.keys[:1]:
            blank = {own.name for own in choices if not "".join(row[own.place :][:1]).strip()}
            if len(blank) * 5 <= len(choices):
                return blank
        return set()

    def _may_be_choice(self, own: Profile) -> bool:
        few = 1 < own.distinct <= 8 and own.distinct * 3 <= own.filled
        return (own.is_choice and own.distinct <= 30) or (
            own.kind in ("score", "measure", "time") and few
        )

    def _find_core(self, names: list[str]) -> None:
        """Find the columns that share their answers: the same few texts in most of them."""
        choices = [self.all[n] for n in names if self._may_be_choice(self.all[n])]
        stock: Counter[str] = Counter()
        alone: Counter[str] = Counter()
        for own in choices:
            (alone if own.is_constant else stock).update(own.values.keys())
        self.given = stock
        varied = sum(not own.is_constant for own in choices)
        enough = varied > 1 and not self.one_of
        self.remarks = {
            own.name for own in choices if enough and own.is_constant
            and all(not stock[t] and alone[t] >= max(FEW, varied / 2) for t in own.values)
        }  # fmt: skip
        need = 3 if len(choices) > FEW else 2
        sharing = [own for own in choices if _share(own, stock, need) >= SHARED]
        used: Counter[str] = Counter()
        for own in sharing:
            used.update(own.values.keys())
        most = max(2, COMMON * len(sharing))
        self.core = {own.name for own in sharing if _share(own, used, most) >= SHARED}
        self.stock = Counter({text: n for text, n in used.items() if n >= most})

    def _find_series(self, names: list[str]) -> None:
        """Find the series of columns, q1, q2, …, whose cells are choices, and their keys."""
        rest = set(names)
        taken: list[dict[str, list[str]]] = []
        constant: list[dict[str, list[str]]] = []
        for stem, numbers in self.all.series.items():
            own = {k: kept for k, of in numbers.items() if (kept := [n for n in of if n in rest])}
            word = stem == "q" or bool(recognise("item", [stem]))
            said = self.all[next(iter(own.values()))[0]].said if own else None
            if stem.isdigit() or len(own) < (2 if word else FEW) or (
                said not in (None, "identity", "key")
            ):  # fmt: skip
                continue
            if names_people(next(iter(own.values()))[0]) or not (stem or _counts_up(list(own))):
                continue
            profiles = [self.all[n] for of in list(own.values())[:MANY] for n in of]
            if {p.name for p in profiles} <= self.remarks:
                continue
            fixed = sum(p.distinct < 2 for p in profiles)
            if len(self.all.rows) >= 5 and fixed * 5 >= len(profiles) * 4 and any(
                p.is_constant for p in profiles
            ):  # fmt: skip
                constant.append(own)
            elif said != "key" and self._are_choices(profiles):
                taken.append(own)
        answered = {
            v for own in taken for of in own.values() for n in of for v in self.all[n].values
        }
        for own in constant:
            answers = next((of for of in taken if of.keys() == own.keys()), None)
            if answers is not None and self._is_key(own, answers):
                self._take_key(own, answers)
            elif all(self.all[n].said != "key" for of in own.values() for n in of):
                texts = {v for of in own.values() for n in of for v in self.all[n].values}
                if not taken or texts & answered:
                    taken.append(own)
        for own in self._without_parallel(taken):
            self.series |= {name for of in own.values() for name in of}
        asking = {n for n in names[:MANY] if self.all[n].asks and self._may_be_choice(self.all[n])}
        if len(asking) >= FEW and not self.series:
            self.series = asking
        if len(self.series) >= FEW:  # answers are what the items of a series share
            used = Counter(v for n in self.series & {*names[:MANY]} for v in self.all[n].values)
            self.core = {n for n in self.core if _share(self.all[n], used, 1) >= SHARED}

    def _without_parallel(self, taken: list[dict[str, list[str]]]) -> list[dict[str, list[str]]]:
        """Of two series with the same numbers and other cells, keep the one that is answers."""
        kept = list(taken)
        for one, two in permutations(taken, 2):
            columns = [[self.all[n] for of in own.values() for n in of] for own in (one, two)]
            stocks = [{v for own in each for v in own.values} for each in columns]
            others = len(two) < FEW or not two.keys() <= one.keys()
            if others or stocks[0] & stocks[1] or max(map(len, stocks)) > 12:
                continue
            gain = [own.items - own.users for own in map(direction, columns)]
            if min(gain) > CLEAR or (gain[0] > gain[1] and max(gain) <= CLEAR):
                self.doubtful += [own.name for own in columns[1]]
            elif gain[0] > gain[1]:
                kept = [own for own in kept if own is not two]
                for column in columns[1]:
                    self._put(column.name, "unused", "it goes with another series, the answers")
        return kept

    def _are_choices(self, profiles: list[Profile]) -> bool:
        fits = sum(
            p.kind == "empty" or _share(p, self.stock, 1) >= SHARED or p.kind == "choice"
            or (p.kind in ("time", "measure", "score") and p.distinct * 2 <= p.filled)
            for p in profiles
        )  # fmt: skip
        empty = sum(p.kind == "empty" for p in profiles)
        some = empty * 2 <= len(profiles) or (empty == len(profiles) and bool(self.users))
        return fits * 3 >= len(profiles) * 2 and some

    def _is_key(self, own: dict[str, list[str]], answers: dict[str, list[str]]) -> bool:
        """Whether columns with one text each hold answers to the items of the same numbers."""
        pairs = [(self.all[own[k][0]], self.all[answers[k][0]]) for k in own]
        told = [(key, item) for key, item in pairs if key.filled and item.filled]
        return sum({*key.values} <= {*item.values} for key, item in told) * 5 >= len(told) * 4

    def _take_key(self, own: dict[str, list[str]], answers: dict[str, list[str]]) -> None:
        """Take columns with one text each, numbered like the items, as their right answers."""
        for number, names in own.items():
            for name in names:
                self._put(name, "key", "the same text in all rows, numbered like an item")
                item = self.all[answers[number][0]]
                (right,) = list(self.all[name].content.counts)[:1] or [""]
                if same_value(right) in item.values:
                    self.key[item.name] = right
        self.key_from = "columns numbered like the items"

    def _find_points(self, names: list[str]) -> None:
        """Find the columns that hold the points for the answers of others, and the key they imply.

        Such columns have points where the other one has one certain answer, and nowhere else.
        """
        cells = {n: self.all[n].cells for n in names if self.all[n].distinct <= 30}
        points, key = points_of_answers(cells)
        for name, answers in points.items():
            self._put(name, "points", f"its cells are the points of {shortened(answers, 40)!r}")
        self.paid = {*points.values()} - {*points}
        self.key = self.key or key

    # -- the result -----------------------------------------------------------------------------

    @property
    def items(self) -> list[str]:
        """The columns of answers, in order."""
        kept = ("item", "constant") if self.one_of and self.asked is None else ("item",)
        return [n for n in self.names if n in self.found and self.found[n].role in kept]

    def roles(self) -> WideRoles:
        """Return the role of every column."""
        columns = [self.found[n] for n in self.names if n in self.found]
        return WideRoles(columns, self.users, self.items, self.notes, self.key, self.key_from)

    def weigh(self) -> Hypothesis:
        """Return what speaks for one row per user."""
        found = Hypothesis("one row per user", choose="layout wide")
        items = self.items
        if self.asked is not None:
            found.add(8, "the items are given")
            return found
        found.add({"": 0, "first": 2}.get(self.users_why, 3), "a column names the users")
        if self.users_why == "first" and (
            recognise("item", self.users) or self.all[self.users[0]].names_items
        ):
            found.add(-6, f"each row is an item ({self.users[0]!r})")
        if items and sum(map(names_people, items)) * 2 > len(items):
            found.add(-3, f"the columns are named like people ({items[0]!r}, …)")
        series = [n for n in items if n in self.series and not self.all[n].asks]
        core = [n for n in items if n in self.core]
        paid = len(self.paid) >= max(FEW, len(items) / 2)
        if paid:
            found.add(3, f"{len(self.paid)} columns stand beside their points")
        asking = [n for n in items if self.asks(n)]
        by_questions = len(asking) * 2 > len(items) and (len(asking) > 1 or bool(self.users))
        if series:
            alike = sum(n in self.core for n in series) * 2 >= len(series)
            asked = any((self.all[n].series or ("",))[0] in ("q", "question") for n in series)
            found.add(3 if alike or asked else 1, f"{len(series)} numbered columns hold choices")
        self.sharing = -found.score
        if len(core) >= FEW or (core and len(core) == len(items)):
            found.add(2, f"{len(core)} columns share their answers")
        self.sharing += found.score
        if len(asking) * 2 > len(items):
            found.add(2, "the columns are named like questions")
        matrix = len(core) == len(self.names) or (
            len(core) >= FEW and len(core) * 5 >= len(self.names) * 4
        )
        matrix |= not self.has_header and FEW < len(items) == len(self.names)
        if matrix:
            found.add(1 if self.has_header else 2, "all columns hold the same answers")
            self.sharing += 2
        lean = direction([self.all[n] for n in items])
        if len(items) * len(self.all.rows) >= CELLS:
            why = f"agreement {lean.items:.2f} in columns, {lean.users:.2f} in rows"
            found.add(min(2, leans(lean.items, lean.users)), why)
        numbers = all(self.all[n].is_numeric for n in items)
        unclear = [
            c for c in self.found.values()
            if c.reason == UNLIKE and (numbers or not self.all[c.name].is_numeric)
        ]  # fmt: skip
        beside = len(self.users) + len(self.tries) + len(self.remarks) + len(self.paid)
        others = len(self.names) - beside
        if not series and not by_questions and len(items) * 2 < others:
            found.add(-3, "most columns are something else than answers")
        own = {n for n in self.users if self.all[n].plain != "id"}
        plainly = own & {*self.all.named("user", wide=True)} or self.users_why == "parts"
        if len(items) < FEW and not (series or by_questions or paid or matrix or plainly):
            found.add(-1, f"only {count(len(items), 'column')} may hold answers")
        if len(unclear) > len(items):
            found.add(-2, f"{len(unclear)} more columns hold choices unlike the items")
        named = [n for n in self.all.named("user") if not self.all[n].names_rows]
        rows = len(self.all.rows)
        repeated = [
            n for n in named if n not in self.users and 1 < self.all[n].distinct * 2 <= rows
        ]
        who = zip(*(self.all[n].cells for n in self.users), strict=True)
        n_users = len({row for row in who if any(row)}) if self.users else rows
        if (repeated and not self.users) or (n_users * 2 <= rows > FEW and not self.tries):
            found.add(-4, f"{listed(repeated[:1] or self.users)} has the same users in many rows")
        found.refusal = self._questions_differ()
        told = bool(self.users) or bool(series) or matrix or by_questions or paid
        known = len(items) + len(self.users) + len(self.tries) + len(self.remarks)
        alone = self.users_why in ("named", "given", "parts") and known == len(self.names)
        found.possible = (
            told
            and bool(items)
            and bool(series or len(core) * 2 >= len(items) or by_questions or alone or paid)
        )
        return found

    def _questions_differ(self) -> Refusal | None:
        """Return what to say if the right answers differ from user to user."""
        keys = [own for own in self.all.of(self.names[:MANY]) if own.said == "key" and own.series]
        varied = [own.name for own in keys if own.distinct > 1 and own.name not in self.users]
        if len(varied) < 2 or len(varied) * 2 <= len(keys):
            return None
        return Refusal(
            f"a table in which users were asked different questions (the right answers in "
            f"{listed(varied, most=2)} differ from row to row)",
            "read the rows of each form by themselves, or write one row per answer (user, item, "
            "option); if the questions are the same, name the items",
        )

    def asks(self, name: str) -> bool:
        """Whether a column is named like a question: in words, or q and a number."""
        own = self.all[name]
        if own.asks or own.plain in ("q", "question"):
            return True
        stem = "" if own.series is None else own.series[0]
        return stem == "q" or bool(recognise("item", [stem]))


def leans(this: float, other: float) -> int:
    """Weigh which way the answers agree: in items, not in users.

    Examples
    --------
    >>> leans(0.3, 0.0), leans(0.0, 0.3), leans(0.3, 0.25)
    (3, -3, 0)
    """
    more = min(1.0, max(this, other) / CLEAR - 0.5)
    if min(this, other) > NONE or more <= 0:
        return 0
    return round(3 * more) if this > other else -round(3 * more)


def names_people(name: str) -> bool:
    """Whether a numbered name is that of a person: student 3, rater_2, output of model 1.

    Examples
    --------
    >>> names_people("outputs_student-03"), names_people("Student answer 3"), names_people("Q3")
    (True, False, False)
    """
    words = [word.rstrip("0123456789") for word in tokens(name)]
    words = [word for word in words if word]
    return bool(words) and (words[-1] in RATERS or bool(recognise("user", words[-1:])))


def _shape(name: str) -> str:
    """Return what names of items have in common.

    Examples
    --------
    >>> _shape("Q12") == _shape("Q3"), _shape("4. Why?") == _shape("17. When?")
    (True, True)
    """
    return re.sub(r"\d+", "9", (re.match(r"\d+[:.)]\s", name) or [name])[0])


def _question(name: str) -> str:
    """Return a name without its last word: that of the question of which it is an option."""
    return re.split(r"[^\W_]*\W*$", name)[0] or name


def _counts_up(numbers: Sequence[str]) -> bool:
    """Whether bare numbers are those of questions: they count up; ids are further apart."""
    values = [int(number) for number in numbers]
    return max(values) - min(values) < 3 * len(values)


def _share(own: Profile, known: Counter[str], least: float) -> float:
    """Return which share of a column's cells are answers that so many columns have."""
    values = own.values
    return sum(n for text, n in values.items() if known[text] >= least) / max(1, values.total())
