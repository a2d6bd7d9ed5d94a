"""One row per user: which columns name the users, which are items, and what the others are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.reading.accord import Accord, accord_of
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.layouts.columns import FEW, MANY, Profile, Profiles, same_value
from hitsndiffs.reading.layouts.doubt import foreign
from hitsndiffs.reading.layouts.layout import ASKED, Hypothesis, WideRoles
from hitsndiffs.reading.layouts.reasons import (
    BESIDE,
    GOES,
    KEYED,
    REASONS,
    REMARK,
    ROLE_OF_KIND,
    SAID,
    SERIES,
    UNLIKE,
)
from hitsndiffs.reading.layouts.scored import are_points, points_of_answers
from hitsndiffs.reading.layouts.users import NAMELESS, Users
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.vocabulary import (
    COUNTED,
    RATERS,
    role_of_name,
    tokens,
)

__all__ = ["Wide", "direction"]

#: Columns of one kind, such as ratings of confidence, have at most so many answers in all.
MOST_SHARED = 12
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


def direction(columns: Sequence[Profile]) -> Accord:
    """Return the agreement within columns (as items) and within rows (as users)."""
    step = max(1, len(columns) // SIDE)
    some = columns[::step][:SIDE]
    index: dict[str, int] = {"": 0}
    rows, places, texts = [], [], []
    for place, column in enumerate(some):
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
    """The table as one row per user."""

    def __init__(
        self, profiles: Profiles, options: ReadingOptions, *, one_of: bool = False
    ) -> None:
        super().__init__(profiles, options)
        self.one_of = one_of
        self.key: dict[str, str] = {}
        self.key_from = "the columns of points"
        #: Items that share their answers, and those that are named in a series.
        self.core: set[str] = set()
        self.series: set[str] = set()
        #: How much of the evidence holds for the table and the turned table alike.
        self.sharing = 0
        #: Items with columns of points.
        self.paid: set[str] = set()
        #: How many columns further their points stand.
        self.steps: set[int] = set()
        self._decide([name for name in self.names if name not in self.users])

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
            found.add(self._leans(lean), f"agreement {lean.items:.2f} in columns, "
                                         f"{lean.users:.2f} in rows")  # fmt: skip
        numbers = all(self.all[n].is_numeric for n in items)
        unclear = [
            c for c in self.found.values()
            if c.reason == UNLIKE and (numbers or not self.all[c.name].is_numeric)
        ]  # fmt: skip
        tries = [c.name for c in self.found.values() if c.role == "attempt"]
        remarks = [c for c in self.found.values() if c.reason == REMARK]
        others = len(self.names) - len(self.users) - len(tries) - len(remarks) - len(self.paid)
        if not series and not by_questions and len(items) * 2 < others:
            found.add(-3, "most columns are something else than answers")
        own = {n for n in self.users if self.all[n].plain != "id"}
        plainly = own & {*self.all.named("user", wide=True)} or self.users_why == "parts"
        if len(items) < FEW and not (series or by_questions or paid or matrix or plainly):
            found.add(-1, f"only {count(len(items), 'column')} may hold answers")
        if len(unclear) > len(items):
            found.add(-2, f"{len(unclear)} more columns hold choices unlike the items")
        named = [n for n in self.all.named("user") if not self.all[n].names_rows]
        repeated = [
            n for n in named if n not in self.users and 1 < self.all[n].distinct * 2 <= len(
                self.all.rows)
        ]  # fmt: skip
        who = zip(*(self.all[n].cells for n in self.users), strict=True)
        n_users = len({row for row in who if any(row)}) if self.users else len(self.all.rows)
        if (repeated and not self.users) or (n_users * 2 <= len(self.all.rows) > FEW and not tries):
            found.add(-4, f"{listed(repeated[:1] or self.users)} has the same users in many rows")
        found.refusal = self._questions_differ()
        told = bool(self.users) or bool(series) or matrix or by_questions or paid
        known = len(items) + len(self.users) + len(tries) + len(remarks)
        alone = self.users_why in ("named", "given", "parts") and known == len(self.names)
        found.possible = (
            told
            and bool(items)
            and bool(series or len(core) * 2 >= len(items) or by_questions or alone or paid)
        )
        return found

    def _questions_differ(self) -> Refusal | None:
        """Return what to say if the right answers differ from user to user."""
        keys = [self.all[c.name] for c in self.found.values() if c.reason == KEYED]
        varied = [own.name for own in keys if own.distinct > 1]
        if len(varied) * 2 <= len(keys):
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

    @staticmethod
    def _leans(accord: Accord) -> int:
        """Weigh which way the answers agree: in items, not in users."""
        more = min(1.0, max(accord.items, accord.users) / CLEAR - 0.5)
        if min(accord.items, accord.users) > NONE or more <= 0:
            return 0
        return round(2 * more) if accord.items > accord.users else -round(3 * more)

    # -- items ----------------------------------------------------------------------------------

    def _decide(self, rest: list[str]) -> None:
        for name in rest:
            if name in self.dropped:
                self._put(name, "unused", "left out as asked (drop)")
            elif self.asked is not None:
                if name in self.asked:
                    self._put(name, "item", ASKED)
                else:
                    role = ROLE_OF_KIND.get(self.all[name].kind, "unused")
                    self._put(name, role, "not among the items asked for")
        if self.asked is not None:
            return
        rest = [name for name in rest if name not in self.found]
        self._find_remarks(rest)
        rest = [name for name in rest if name not in self.found]
        self._find_core(rest[:MANY])
        self._find_series(rest)
        main = self.core | self.series
        strong = len(main) >= FEW
        places = [self.all[n].place for n in self.series or main if self.all[n].said is None]
        places = places or [self.all[n].place for n in main]
        span = (min(places), max(places)) if strong else (0, -1)
        inside = set(range(span[0], span[1] + 1))
        leads = len(self.series) >= 8 and len(self.series) * 2 > len(main)
        for number, name in enumerate(rest):
            if name in self.found:
                continue
            if number >= MANY:
                self._put(name, "item" if name in self.series else "unused", SERIES)
                continue
            self._place(self.all[name], strong, inside, leads)
        self._constants()
        self._points()
        self._numbers_among_texts()
        self._without_key()
        for name in foreign(self) if len(rest) <= MANY else ():
            said = self.all[name].said
            if said is not None and said != "row":
                self._put(name, said, f"named like {SAID[said]}")

    def _without_key(self) -> None:
        """Leave out columns to which the row of the key has no answer, if it has most others."""
        items = [n for n in self.items if self.all[n].filled]
        for row in self.all.keys[:1]:
            blank = [n for n in items if not row[self.all[n].place : self.all[n].place + 1]
                     or not row[self.all[n].place].strip()]  # fmt: skip
            if 0 < len(blank) * 5 <= len(items):
                for name in blank:
                    self._put(name, "unused", "the key has no answer to it")
                    self.core.discard(name)
                    self.series.discard(name)

    def _find_remarks(self, names: list[str]) -> None:
        """Find one text in columns beside all items, nobody's answer: it describes the items."""
        if self.one_of or len(names) > MANY:
            return
        alike: defaultdict[str, list[str]] = defaultdict(list)
        given: Counter[str] = Counter()
        varied = 0
        for own in self.all.of(names):
            if own.is_constant:
                alike[next(iter(own.values))].append(own.name)
            elif own.is_choice:
                varied += 1
                given.update(own.values.keys())
        for text, columns in alike.items():
            if varied > 1 and len(columns) >= max(FEW, varied / 2) and not given[text]:
                for name in columns:
                    self._put(name, "constant", REMARK)

    def _find_core(self, names: list[str]) -> None:
        """Find the columns that share their answers: the same few texts in most of them."""
        choices = [self.all[n] for n in names if self._may_be_choice(self.all[n])]
        stock: Counter[str] = Counter()
        for own in choices:
            stock.update(own.values.keys())
        need = 2 if len(choices) > FEW else 1
        sharing = [
            own for own in choices
            if _share(own, lambda text: stock[text] - 1 >= need) >= SHARED
        ]  # fmt: skip
        used: Counter[str] = Counter()
        for own in sharing:
            used.update(own.values.keys())
        most = max(2, COMMON * len(sharing))
        core = [own for own in sharing if _share(own, lambda text: used[text] >= most) >= SHARED]
        self.core = {own.name for own in core}
        self.is_numeric = bool(core) and all(own.is_numeric for own in core)
        self.stock = {text for text, n in used.items() if n >= most}

    def _may_be_choice(self, own: Profile) -> bool:
        few = 1 < own.distinct <= 8 and own.distinct * 3 <= own.filled
        return (own.is_choice and own.distinct <= 30) or (
            own.kind in ("score", "measure", "time") and few
        )

    def _find_series(self, names: list[str]) -> None:
        """Find the series of columns, q1, q2, …, whose cells are choices."""
        rest = set(names)
        taken: list[tuple[str, dict[str, list[str]]]] = []
        constant: list[tuple[str, dict[str, list[str]]]] = []
        for stem, numbers in self.all.series.items():
            own = {k: kept for k, of in numbers.items() if (kept := [n for n in of if n in rest])}
            said = role_of_name(stem)
            word = stem == "q" or bool(recognise("item", [stem]))
            if (
                stem.isdigit()
                or len(own) < (2 if word else FEW)
                or said not in (None, "identity", "key")
            ):
                continue
            if names_people(next(iter(own.values()))[0]) or not (stem or _counts_up(list(own))):
                continue
            profiles = [self.all[n] for of in list(own.values())[:MANY] for n in of]
            fixed = sum(p.is_constant or p.kind == "empty" for p in profiles)
            fixed *= any(p.is_constant for p in profiles)
            if len(self.all.rows) >= 5 and fixed * 5 >= len(profiles) * 4:
                constant.append((stem, own))
            elif said != "key" and self._are_choices(profiles):
                taken.append((stem, own))
        answered = {
            value for _, own in taken for of in list(own.values())[:MANY]
            for name in of for value in self.all[name].values
        }  # fmt: skip
        for stem, own in constant:
            answers = next((of for _, of in taken if of.keys() == own.keys()), None)
            if answers is not None and self._is_key(own, answers):
                self._take_key(own, answers)
            elif all(self.all[n].said != "key" for of in list(own.values())[:MANY] for n in of):
                texts = {v for of in own.values() for name in of for v in self.all[name].values}
                if not answered or texts & answered:
                    taken.append((stem, own))
        for _, own in self._without_parallel(taken):
            self.series |= {name for of in own.values() for name in of}
        for stem, _ in taken:
            self.series |= {n for n in names[:MANY] if stem and self.all[n].plain == stem}
        asking = {n for n in names[:MANY] if self.all[n].asks and self._may_be_choice(self.all[n])}
        if len(asking) >= FEW and not self.series:
            self.series = asking
        if len(self.series) >= FEW:  # answers are what the items of a series share
            used = {v for n in names[:MANY] if n in self.series for v in self.all[n].values}
            self.core = {
                n for n in self.core if _share(self.all[n], used.__contains__) >= SHARED
            }  # fmt: skip

    def _are_choices(self, profiles: list[Profile]) -> bool:
        fits = [self._fits_series(p) for p in profiles]
        empty = sum(p.kind == "empty" for p in profiles)
        some = empty * 2 <= len(fits) or (empty == len(fits) and bool(self.users))
        return sum(fits) * 3 >= len(fits) * 2 and some

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

    def _without_parallel(
        self, taken: list[tuple[str, dict[str, list[str]]]]
    ) -> list[tuple[str, dict[str, list[str]]]]:
        """Of two series with the same numbers and other cells, keep the one that is answers."""
        kept = list(taken)
        for one in taken:
            for two in taken:
                if (
                    one is two
                    or one not in kept
                    or two not in kept
                    or one[1].keys() != two[1].keys()
                ):
                    continue
                columns = [
                    [self.all[n] for of in own.values() for n in of] for _, own in (one, two)
                ]
                stocks = [{v for c in own for v in c.values} for own in columns]
                if stocks[0] & stocks[1] or max(map(len, stocks)) > MOST_SHARED:
                    continue
                lean = [direction(own) for own in columns]
                if lean[0].items - lean[0].users > lean[1].items - lean[1].users + CLEAR:
                    kept.remove(two)
                    for column in columns[1]:
                        self._put(column.name, "unused", f"{GOES} {one[0]!r}, the answers")
        return kept

    def _place(self, own: Profile, strong: bool, inside: set[int], leads: bool) -> None:
        """Give a column its role."""
        name, kind, said = own.name, own.kind, own.said
        within = own.place in inside
        if name in self.series and (self._fits_series(own) or not strong):
            self._put(name, "item", SERIES)
            return
        if kind == "empty" and (said is None or said == "key"):
            if NAMELESS.fullmatch(name):
                self._put(name, "unused", "it has neither a name nor cells")
            elif strong and (self.series or not within):
                self._put(name, "unused", "it is empty")
            else:
                self._put(name, "item", "it is empty")  # nobody in the sample answered
            return
        if own.plain in COUNTED and own.is_numeric and not within:
            self._put(name, "points", "named like a count, and its cells are numbers")
            return
        if own.asks and (self._may_be_choice(own) or own.is_choice):
            self._put(name, "item", "its name is a question")
            return
        if said == "key" and self._is_numbered_like_items(own):
            self._put(name, "key", KEYED)
            return
        if name in self.core and self._may_be_named(own, within):
            if leads and not within:
                self._put(name, "unused", BESIDE)
            else:
                self._put(name, "item", "its cells are answers to the other items")
            return
        words = own.is_choice and not own.is_numeric  # repeated words number no rows
        if (
            said is not None
            and not (within and own.is_choice and said in ("comment", "row"))
            and not (said == "row" and words)
        ):
            self._put(name, "unused" if said == "row" else said, f"named like {SAID[said]}")
            return
        if "id" in own.words and own.distinct == 1:
            self._put(name, "unused", "named like an id, and all its cells are the same")
            return
        if kind != "choice":
            self._put(name, ROLE_OF_KIND[kind], REASONS[kind])
        elif not strong:
            self._put(name, "item", "its cells are answers that repeat")
        elif within and not self._is_foreign_number(own):
            self._put(name, "item", "it stands between the items")
        elif own.is_constant:
            self._put(name, "constant", "it has the same text in all rows")
        else:
            self._put(name, "unused", UNLIKE)

    def _is_foreign_number(self, own: Profile) -> bool:
        """Whether a column holds numbers between items that hold none."""
        return own.is_numeric and not self.is_numeric

    def _is_numbered_like_items(self, own: Profile) -> bool:
        """Whether a numbered column stands beside an item with the same number."""
        items = {self.all[n].series for n in self.series if n != own.name} - {None}
        return own.series is not None and own.series[1] in {
            item[1] for item in items if item and item[0] != own.series[0]
        }

    def _fits_series(self, own: Profile) -> bool:
        if _share(own, self.stock.__contains__) >= SHARED:
            return True
        if own.kind in ("mail", "link", "different", "text", "counter"):
            return False
        return own.kind not in ("time", "measure", "score") or own.distinct * 2 <= own.filled

    def _may_be_named(self, own: Profile, within: bool) -> bool:
        """Whether the name of a column that shares the answers of others allows it to be an item.

        The cells overrule the name where they are plainly answers: texts that are no numbers, next
        to the other items.
        """
        said = own.said
        if said is None:
            return True
        beside = {self.names[k] for k in (own.place - 1, own.place + 1) if 0 <= k < len(self.names)}
        if self.is_numeric or own.is_numeric:
            return within and said in ("identity", "comment", "row") and beside <= self.core
        if self.series:
            return within
        return bool(beside & self.core) and own.distinct > 1

    def _constants(self) -> None:
        """Leave out columns with one text in all rows, unless it is an answer to another item."""
        items = [c.name for c in self.found.values() if c.role == "item"]
        if len(items) > MANY:
            return
        used: Counter[str] = Counter()
        for name in items:
            used.update(self.all[name].values.keys())
        varied = [self.all[n].place for n in items if self.all[n].distinct > 1]
        stems = Counter(_stem(name) for name in items)
        for name in items:
            own = self.all[name]
            if not own.is_constant:
                continue
            (value,) = own.values
            within = bool(varied) and varied[0] < own.place < varied[-1]
            alike = self.has_header and stems[_stem(name)] * 4 >= len(items)
            if not varied:
                alike = bool(self.series) or len(value) == 1
            if used[value] < 2 and not within and not alike:
                self._put(name, "constant", "it has the same text in all rows")

    def _points(self) -> None:
        """Leave out columns that hold the points for others; keep the key they imply."""
        items = self.items
        if len(items) > MANY:
            return
        beside = [  # columns named like points, or unlike the items, may be points as well
            n for n in self.names if n in self.found
            and (
                self.found[n].role in ("points", "constant")
                or self.found[n].reason in (UNLIKE, BESIDE)
                or self.found[n].reason.startswith(GOES)
            )
        ]  # fmt: skip
        both = sorted((*items, *beside), key=lambda name: self.all[name].place)
        among = (items, both) if beside else (items,)
        found = [points_of_answers(own, lambda name: self.all[name].cells) for own in among]
        points, key = max(found, key=lambda pair: len(pair[1]))
        paid = {own for own in points.values() if self.found[own].role == "item"}
        if len(paid) * 2 >= len({*points.values()}):  # the points say that these are answers too
            for own in {*points.values()} - paid:
                if self.found[own].reason == UNLIKE and not self.all[own].is_numeric:
                    self._put(own, "item", "its points stand beside it")
                    paid.add(own)
        self.paid = paid
        points = {name: own for name, own in points.items() if own in paid}
        key = {name: answer for name, answer in key.items() if name in paid}
        self.steps = {self.all[p].place - self.all[a].place for p, a in points.items()}
        for name, answers in points.items():
            self._put(name, "points", f"its cells are the points of {shortened(answers, 40)!r}")
            self.core.discard(name)
            self.series.discard(name)
        self.key = self.key or key

    def _numbers_among_texts(self) -> None:
        """Leave out 0 and one more number where the other items hold texts: these are points."""
        items = self.items
        if len(items) > MANY:
            return
        texts = [n for n in items if not self.all[n].is_numeric and self.all[n].filled]
        told = [n for n in self.names if n in self.found and self.found[n].role == "points"]
        numbers = [n for n in items if n not in texts and are_points(self.all[n].cells)]
        paying = Counter(_series_stem(self.all[n]) for n in told)
        numbers += [
            n for n in items
            if n not in (*texts, *numbers) and self.all[n].is_numeric and self.all[n].distinct < 2
            and self.all[n].series and paying[_series_stem(self.all[n])] > 1
        ]  # fmt: skip
        stems = {_series_stem(self.all[n]) for n in texts} - {None}
        numbers = [n for n in numbers if _series_stem(self.all[n]) not in stems]
        points = [n for n in (*numbers, *told) if are_points(self.all[n].cells)]
        one_each = len(texts) <= 2 * len(points) and len(numbers) <= 2 * len(texts)
        if len(texts) < FEW or not one_each or all(self.all[n].distinct < 2 for n in points):
            return
        for name in numbers:
            self._put(name, "points", "0 and one more number, among answers that are texts")
            self.core.discard(name)
            self.series.discard(name)
            if len(self.steps) == 1:  # where the others' answers stand, there are its answers
                place = self.all[name].place - next(iter(self.steps))
                beside = self.names[place] if 0 <= place < len(self.names) else name
                if beside in self.found and self.found[beside].reason == UNLIKE:
                    self._put(beside, "item", "its points stand beside it")


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


def _counts_up(numbers: Sequence[str]) -> bool:
    """Whether bare numbers are those of questions: they count up; ids are further apart."""
    values = [int(number) for number in numbers]
    return max(values) - min(values) < 3 * len(values)


def _share(own: Profile, known) -> float:  # type: ignore[no-untyped-def]
    """Return which share of a column's cells are known answers."""
    values = own.values
    return sum(n for text, n in values.items() if known(text)) / max(1, values.total())


def _series_stem(own: Profile) -> str | None:
    return None if own.series is None else own.series[0]


def _stem(name: str) -> str:
    """Return the letters with which a name begins; items are often named alike."""
    return (re.match(r"[^\W\d_]*", name) or [""])[0].casefold()
