"""The cleaning that all sources share: rows that are no people, spellings, free text, the key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.cells import normalise
from hitsndiffs.data.groups import groups_in_words
from hitsndiffs.data.known_key import KnownKey
from hitsndiffs.data.labels import Place, check_sizes
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.spelling import same_option, same_text
from hitsndiffs.data.words import Detail, count, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.accord import accord
from hitsndiffs.reading.exports.base import Column, LeftOut
from hitsndiffs.reading.fold import Folding, fold_item, is_blank_word, odd_options
from hitsndiffs.reading.layouts.rows import BOTTOM, TOP
from hitsndiffs.reading.patterns import match_names
from hitsndiffs.reading.plain import PlainReading
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.streams import RawKey, option_label
from hitsndiffs.reading.vocabulary import (
    is_gold_user,
    is_key_name,
    is_summary_name,
    may_name_keys,
)

__all__ = ["clean"]

#: Up to this many users, rows named like a key are looked for everywhere, else near the edges.
_MANY_USERS = 100_000
#: A row is not a person if at least ``_STRANGE`` of its answers are unique while the median share
#: is at most ``_USUAL``. Smaller tables are not checked, and nothing is left out if there are more
#: than ``_MOST_STRANGE`` such rows.
_FEW_USERS, _FEW_ITEMS = 8, 4
_STRANGE, _USUAL, _MOST_STRANGE = 0.9, 0.2, 12
#: An item with at least this many answers, more than this share different, is free text; fewer
#: will do if they are long on average, or if the question asks for remarks.
_SOME, _DIFFERENT, _LONG_TEXT = 10, 0.8, 80
_REMARK = re.compile(
    r"\b(?:comments?|feedback|suggestions?|remarks?|anything else|kommentare?|anmerkungen|"
    r"commentaires?|comentarios?|sugerencias|commenti|opmerkingen)\b",
    re.IGNORECASE,
)
#: With fewer options than this, all answers may differ by chance.
_ENOUGH = 20
#: From so many answers on, agreement within items and users says something.
_ENOUGH_ANSWERS = 400


def clean(
    plan: Plan,
    responses: Responses,
    key: RawKey,
    name: str,
    *,
    reading: PlainReading | None = None,
    titles: Mapping[str, str] | None = None,
) -> Responses:
    """Do what all sources share, and write it into the plan.

    Parameters
    ----------
    plan
        The plan; what is left out, folded or assumed is added to it.
    responses
        All answers, as they stand in the source.
    key
        The right answers, as they stand there.
    name
        How messages call the source.
    reading
        For a plain table: its layout, and the row that the caller named as the key.
    titles
        The wording of items.
    """
    own = _Cleaning(plan, responses, key, name)
    options = plan.options
    layout = plan.layout if reading is None else reading.layout.name
    key_user = None if reading is None else reading.key_user
    roles = None if reading is None else reading.layout.roles
    if layout in ("wide", "long", "several", "export"):
        if layout == "wide" and options.items is None and key_user is None:
            own.leave_out_strangers()
        own.leave_out_named_rows(key_user, layout)
        if roles is not None and not roles.users:
            own.leave_out_silent_rows()
    if layout != "wide":  # the items of a wide table are already those asked for
        own.choose_items()
    own.fold()
    if options.items is None:
        own.leave_out_free_text()
    own.check(layout)
    return own.finish(titles)


class _Cleaning:
    """The answers on their way through the steps."""

    def __init__(self, plan: Plan, responses: Responses, key: RawKey, name: str) -> None:
        self.plan, self.options, self.name = plan, plan.options, name
        self.r, self.key = responses, key
        self.said: list[str] = []

    def leave_out(self, rows: Any, what: str, reason: str) -> None:
        """Leave out some rows, all of the same kind."""
        keep = np.ones(self.r.n_users, dtype=bool)
        keep[rows] = False
        self.plan.left_out.append(LeftOut(int((~keep).sum()), what, reason))
        self.r = self.r.select(users=keep)

    def row(self, user: int) -> str:
        """Return what messages call a row."""
        return f"row {shortened(str(self.r.users[user]), 40)!r}"

    # -- rows that are no people ------------------------------------------------------------

    def leave_out_strangers(self) -> None:
        """Leave out rows whose texts nobody else gave to any item: names, weights, statistics."""
        r = self.r
        if r.n_users < _FEW_USERS or r.n_items < _FEW_ITEMS:
            return
        answered, alone = r.answers_per_user, _lonely(r)
        share, some = alone / np.maximum(answered, 1), answered > 0
        strange = (share >= _STRANGE) & (answered >= max(_FEW_ITEMS, r.n_items / 2))
        if not 0 < strange.sum() <= _MOST_STRANGE or some.sum() < _FEW_USERS:
            return
        counts = r.choosers_per_option
        common = np.add.reduceat(counts > 1, r.item_starts[:-1])  # options that several chose
        if np.median(share[some]) > _USUAL or np.median(common) < 2:
            return
        used: Counter[str] = Counter()
        for text, n in zip(r.option_labels.tolist(), counts.tolist(), strict=True):
            used[str(text)] += n
        reason = (
            "nobody else gave such answers: names, weights or statistics, not a person (kept where "
            "items are named)"
        )
        for user in reversed(np.flatnonzero(strange).tolist()):
            label = str(r.users[user])
            own = Counter(map(str, r.answers_of(user).values()))
            foreign = sum(n for text, n in own.items() if used[text] == n)
            named = is_summary_name(label) or (is_key_name(label) and _fits_others(r, user))
            absent = all(map(is_blank_word, own)) and not is_blank_word(label)
            if not named and not absent and foreign >= _STRANGE * own.total():
                self.leave_out([user], self.row(user), reason)

    def leave_out_named_rows(self, key_user: int | None, layout: str) -> None:
        """Leave out rows named like a key or an average, and keep the key.

        ``key_user`` is the row that the caller named as the key.
        """
        r, labels = self.r, self.r.users
        near_edge = {*range(min(TOP, r.n_users)), *range(max(0, r.n_users - BOTTOM), r.n_users)}
        sought = range(r.n_users) if r.n_users <= _MANY_USERS else sorted(near_edge)
        named = sought if may_name_keys("\n".join([str(labels[k]) for k in sought])) else ()
        gold = [k for k in named if layout != "wide" and self.is_gold(k)]
        named = [k for k in named if k in gold or is_key_name(str(labels[k]))]
        summing = [k for k in sorted(near_edge) if is_summary_name(str(labels[k]))]
        answered = r.answers_per_user
        keys = [k for k in named if answered[k] and _fits_others(r, k)]
        keys = keys if key_user is None else [key_user]
        if keys and len(keys) == r.n_users - 1:
            (user,) = {*range(r.n_users)} - {*keys}
            one, key = (shortened(str(labels[k]), 40) for k in (user, keys[0]))
            raise InputError(
                f"{self.name}: only one user was found ({one!r}) beside the key ({key!r}), and a "
                "ranking compares at least two; give the answers of the others, too, in the same "
                "table or in files of their own."
            )
        if summing:
            strange = (_lonely(r) >= 0.6 * answered) & (answered >= 3)
            summing = [k for k in summing if k not in keys and (strange[k] or not answered[k])]
            for user in summing:
                what = LeftOut(1, self.row(user), "it sums up the others")
                self.plan.left_out.append(what)
        keys = keys if len(keys) < r.n_users else []
        if keys:
            where = self.row(keys[0])
            right = {str(i): str(o) for i, o in r.answers_of(keys[0]).items()}
            self.key = RawKey(right, where)
            reason = "it holds the key" if key_user is None else "given as key_row"
            what = LeftOut(1, where, reason)
            if len(keys) > 1:
                reason = (
                    "the first one is kept as the key; read forms with other questions one by one"
                )
                what = LeftOut(len(keys), f"key rows ({where}, …)", reason)
            self.plan.left_out.append(what)
        if keys or summing:
            self.r = r.select(users=~np.isin(np.arange(r.n_users), [*keys, *summing]))

    def is_gold(self, user: int) -> bool:
        """Whether a user is called gold, unlike the others, and answered at least as they did."""
        label, answered = str(self.r.users[user]), self.r.answers_per_user
        if "gold" not in label.casefold() or answered[user] < np.median(answered):
            return False
        others = [str(own) for k, own in enumerate(self.r.users.tolist()) if k != user]
        return is_gold_user(label, others)

    def leave_out_silent_rows(self) -> None:
        """Leave out rows without answers; no column names them."""
        silent = self.r.answers_per_user == 0
        if silent.any() and (~silent).sum() > 1:
            self.leave_out(silent, "rows without an answer", "no column names their users")

    # -- items and options ------------------------------------------------------------------

    def choose_items(self) -> None:
        """Keep the items that the caller named."""
        names = [str(item) for item in self.r.items.tolist()]
        kept = {*names}
        if self.options.items:
            kept &= match_names(self.options.items, names, "items")
        if self.options.drop:
            kept -= match_names(self.options.drop, names, "drop")
        self.drop_items([k for k, n in enumerate(names) if n not in kept], "left out as asked")

    def drop_items(self, places: list[int], reason: str, role: Any = "unused") -> list[str]:
        """Leave out items, by their places, and return their names."""
        gone = [str(item) for item in self.r.items[places].tolist()]
        if places:
            known = {*gone}
            self.plan.columns = [c for c in self.plan.columns if c.name not in known]
            self.plan.columns += [Column(name, role, reason) for name in gone]
            self.r = self.r.select(items=~np.isin(np.arange(self.r.n_items), places))
        return gone

    def fold(self) -> None:
        """Take spellings of one answer together, and words for no answer out."""
        r, merge = self.r, self.options.fold
        labels = [str(label) for label in r.option_labels.tolist()]
        blanks = self.options.blanks
        words = None if blanks is None else frozenset(same_text(word) for word in blanks)
        stocks = [tuple(labels[a:b]) for a, b in pairwise(r.item_starts.tolist())]
        # most items need no folding: check each distinct set of labels once
        plain = {
            stock: fold_item(stock, [1] * len(stock), Folding(), words, merge=merge) == [*stock]
            for stock in {*stocks}
        }
        if not all(plain.values()):
            counts = r.choosers_per_option.tolist()
            common: Counter[str] = Counter()
            for label, n in zip(labels, counts, strict=True):
                common[label] += n
            found = Folding()
            new = [
                stock if plain[stock] else
                fold_item(stock, counts[first:], found, words, common, merge=merge)
                for stock, first in zip(stocks, r.item_starts.tolist(), strict=False)
            ]  # fmt: skip
            if found.merged or found.blanks:
                self.r = r.relabel(new)
                self.plan.answers += found.sentences()
        if blanks is None:
            self.plan.answers += odd_options(self.r)

    def leave_out_free_text(self) -> None:
        """Leave out items that were answered in words of one's own."""
        r = self.r
        sizes, answered = np.diff(r.item_starts), r.answers_per_item
        places: list[int] = []
        candidates = np.flatnonzero((sizes > _DIFFERENT * answered) & (answered >= 3)).tolist()
        labels = [str(label) for label in r.option_labels.tolist()] if candidates else []
        used = Counter(labels)
        for k in candidates:
            own = labels[r.item_starts[k] : r.item_starts[k + 1]]
            enough = answered[k] >= _SOME or sum(map(len, own)) > _LONG_TEXT * len(own)
            shared = sum(used[label] > 1 for label in own)
            if shared * 2 < len(own) and (enough or _REMARK.search(str(r.items[k]))):
                places.append(k)
        if places and len(places) == r.n_items:
            raise InputError(
                f"{self.name}: hardly any two answers to an item are alike: this is free text (or "
                "numbers), not choices; export the options that people chose."
            )
        gone = self.drop_items(places, "free text: hardly any two answers alike", "comment")
        if gone:
            self.said.append(
                f"Left out {listed(gone, most=3)}: free text, hardly any two answers are alike "
                "(name them as items to keep them)."
            )

    def check(self, layout: str) -> None:
        """Refuse data that cannot be ranked, or that were guessed to be answers and are none."""
        r = self.r
        check_sizes(Place(self.name), r.users, r.n_items)
        sizes, choosers = np.diff(r.item_starts), r.choosers_per_option
        shared = np.add.reduceat(choosers > 1, r.item_starts[:-1]) > 0
        if ((sizes > 1) & shared).any():
            return
        guessed = layout not in ("export", "wide") and not self.options.tells_columns
        guessed = guessed and (r.n_responses >= _SOME or layout == "several")
        many = r.n_options >= _ENOUGH
        if (sizes == 1).all():
            what = "everybody gave the same answer to every item, so nothing tells the users apart"
            refused, noted = guessed and r.n_users > 1, True
        elif not shared.any():
            what = "no two users gave the same answer to any item, so nothing links them"
            refused, noted = guessed or (many and self.options.items is None), many
        else:
            what = "users either all gave the same answer to an item or all different ones"
            refused, noted = guessed and r.answers_per_item.max() >= _FEW_ITEMS, False
        if refused:
            raise InputError(
                f"{self.name}: read as it looks, {what}; are these numbers, free text or other "
                "columns? Name those that hold the answers (items, or user, item and option), or "
                "export the options that people chose."
            )
        if noted:
            self.said.append(Detail(f"{what[0].upper()}{what[1:]}."))

    # -- the end ----------------------------------------------------------------------------

    def matched_key(self) -> KnownKey | None:
        """Match the right answers with the options that were kept."""
        r, raw = self.r, self.key
        labels = [str(label) for label in r.option_labels.tolist()]
        right: dict[Any, str] = {}
        unchosen = 0
        for item, (first, last) in zip(r.items.tolist(), pairwise(r.item_starts), strict=True):
            text = option_label(raw.options.get(str(item), ""))
            own = labels[first:last]
            if text and (text in own or normalise(text) is not None):
                chosen = same_option(text, own)
                unchosen += chosen is None
                right[item] = chosen or text
        if unchosen < len(right):
            if unchosen:
                self.said.append(
                    f"Nobody chose the right answer to {count(unchosen, 'item')}, going by the key "
                    "in the file."
                )
            return KnownKey(right, raw.source, unchosen)
        if right:
            self.said.append(f"The key in {raw.source} fits none of the answers, and is not used.")
        return None

    def finish(self, titles: Mapping[str, str] | None) -> Responses:
        """Write into the plan what is known now, and return the responses."""
        plan, r, key = self.plan, self.r, self.matched_key()
        plan.columns.sort(key=lambda column: column.position)
        plan.key = "" if key is None else key.source
        plan.notes += [*plan.answers, *self.said, *map(_row_note, plan.left_out)]
        if r.groups is not None:
            plan.notes.append(groups_in_words(self.options.group, r.groups, r.users.tolist()))
        if r.n_responses >= _ENOUGH_ANSWERS:
            plan.accord = accord(r)
        plan.users, plan.items = r.n_users, r.n_items
        known = {i: text for i, text in (titles or {}).items() if i in {*r.items.tolist()}}
        return r._changed(notes=tuple(dict.fromkeys(plan.notes)), key=key, titles=known)


def _lonely(r: Responses) -> Ints:
    """Return for each user the number of answers that nobody else gave."""
    alone = r.choosers_per_option == 1
    counts = np.zeros(r.n_users, dtype=np.int64)
    if r.is_dense:
        for codes, first, last in zip(r.codes, r.item_starts, r.item_starts[1:], strict=False):
            if alone[first:last].any():
                counts += np.take(np.append(alone[first:last], False), codes, mode="clip")
        return counts
    indptr, options = r.rows
    return np.diff(np.concatenate([[0], np.cumsum(alone[options])])[indptr])


def _fits_others(r: Responses, user: int) -> bool:
    """Whether others gave at least half of a user's answers too, in whatever spelling."""
    _, chosen = r.some_rows(np.array([user]))
    fits = 0
    for option in chosen.tolist():
        item = r.option_items[option]
        own = range(*r.item_starts[item : item + 2].tolist())
        text = same_text(str(r.option_labels[option]))
        same = [k for k in own if same_text(str(r.option_labels[k])) == text]
        fits += int(r.choosers_per_option[same].sum()) > 1
    return fits * 2 >= len(chosen)


def _row_note(rows: LeftOut) -> str:
    """A row that was left out; :attr:`Plan.line` says it too."""
    n = "" if rows.count == 1 else f"{rows.count:,} "
    return Detail(f"Left out {n}{rows.what}: {rows.reason}.")
