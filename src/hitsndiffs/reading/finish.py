"""The last steps of reading: rows that are not users, folding, blanks, free text, the key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from hitsndiffs.data.cells import normalise
from hitsndiffs.data.known_key import KnownKey
from hitsndiffs.data.labels import Place, check_sizes
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.spelling import same_option, same_text
from hitsndiffs.data.words import Detail, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column, LeftOut
from hitsndiffs.reading.fold import Folding, fold_item, is_blank_word
from hitsndiffs.reading.layouts.extra_rows import BOTTOM, TOP
from hitsndiffs.reading.odd_options import odd_option_note
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import match_names
from hitsndiffs.reading.streams import RawKey, option_label
from hitsndiffs.reading.vocabulary import is_key_name, is_summary_name, may_name_keys

__all__ = ["Finished", "finish"]

#: Up to this many users, rows named like a key are looked for everywhere, else near the edges.
_MANY_USERS = 100_000
#: A row is not a person if at least ``_STRANGE`` of its answers are unique while the median share
#: is at most ``_USUAL``. Smaller or larger tables are not checked, and nothing is left out if there
#: are more than ``_MOST_STRANGE`` such rows.
_FEW_USERS, _FEW_ITEMS, _MANY_CELLS = 8, 4, 5_000_000
_STRANGE, _USUAL, _MOST_STRANGE = 0.9, 0.2, 12
#: An item with at least this many answers, more than this share different, is free text.
_SOME, _DIFFERENT = 10, 0.8
_LONG_TEXT = 80
#: Questions that ask for remarks; fewer answers tell that they are free text.
_REMARK = re.compile(
    r"\b(?:comments?|feedback|suggestions?|remarks?|anything else|kommentare?|anmerkungen|"
    r"commentaires?|comentarios?|sugerencias|commenti|opmerkingen)\b",
    re.IGNORECASE,
)
#: With fewer options than this, all answers may differ by chance.
_ENOUGH = 20


@dataclass
class Finished:
    """What was read, and what to say about it."""

    encoded: Responses
    key: KnownKey | None
    left_out: list[LeftOut] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def finish(
    encoded: Responses,
    raw_key: RawKey,
    *,
    options: ReadingOptions,
    name: str,
    layout: str,
    key_user: int | None = None,
    users_are_named: bool = True,
) -> Finished:
    """Do the steps that all formats share.

    Among the users of ``"wide"``, ``"long"`` or ``"several"`` tables there may be a key or an
    average; ``key_user`` is the row that the caller named as the key. The items of a wide table are
    already those asked for. Unless ``users_are_named``, rows without an answer are dropped.
    """
    done = Finished(encoded, None)
    keep_all = options.items is not None
    if layout in ("wide", "long", "several"):
        if layout == "wide" and not keep_all and key_user is None:
            _drop_strangers(done)
        raw_key = _special_rows(done, name, raw_key, key_user, users_are_named)
    if layout != "wide":
        _choose_items(done, options.items, options.drop)
    _fold(done, options.fold, options.blanks)
    if options.blanks is None:
        done.answers += odd_option_note(done.encoded)
    if not keep_all:
        _without_free_text(done, name)
    _check(
        done,
        name,
        keep_all,
        layout not in ("export", "wide") and not options.tells_columns,
        layout == "several",
    )
    done.key = _matched_key(done, raw_key)
    return done


# -- rows that are not users ------------------------------------------------------------------


def _special_rows(
    done: Finished, name: str, raw_key: RawKey, key_user: int | None, has_names: bool
) -> RawKey:
    encoded = done.encoded
    n_users = len(encoded.users)
    labels = encoded.users
    drop = np.zeros(n_users, dtype=bool)
    near_edge = {*range(min(TOP, n_users)), *range(max(0, n_users - BOTTOM), n_users)}
    sought = range(n_users) if n_users <= _MANY_USERS else sorted(near_edge)
    named = sought if may_name_keys("\n".join([str(labels[k]) for k in sought])) else ()
    named = [k for k in named if is_key_name(str(labels[k]))]
    summing = [k for k in sorted(near_edge) if is_summary_name(str(labels[k]))]
    keys: list[int] = [] if key_user is None else [key_user]
    if named or summing:
        alone, answered = _lonely(encoded), encoded.answers_per_user
        if key_user is None:
            keys = [k for k in named if answered[k] and _fits_others(encoded, k)]
        for user in summing:
            label = shortened(str(labels[user]), 40)
            strange = alone[user] >= 0.6 * answered[user] and answered[user] >= 3
            if user not in keys and (strange or not answered[user]):
                drop[user] = True
                done.left_out.append(LeftOut(1, f"row {label!r}", "it sums up the others"))
    if keys and len(keys) == n_users - 1:
        user, key = (shortened(str(labels[k]), 40) for k in (*{*range(n_users)} - {*keys}, keys[0]))
        raise InputError(
            f"{name}: only one user was found ({user!r}) beside the key ({key!r}), and a ranking "
            "compares at least two; give the answers of the others, too, in the same table or in "
            "files of their own."
        )
    if keys and len(keys) < n_users:
        drop[keys] = True
        where = f"row {shortened(str(labels[keys[0]]), 40)!r}"
        raw_key = RawKey({str(i): str(o) for i, o in encoded.answers_of(keys[0]).items()}, where)
        reason = "it holds the key" if key_user is None else "given as key_row"
        rows = LeftOut(1, where, reason)
        if len(keys) > 1:
            reason = "the first one is kept as the key; read forms with other questions one by one"
            rows = LeftOut(len(keys), f"key rows ({where}, …)", reason)
        done.left_out.append(rows)
    blank = np.zeros(n_users, dtype=bool) if has_names else encoded.answers_per_user == 0
    if blank.any() and n_users - int(blank.sum()) > 1:
        drop |= blank
        done.left_out.append(
            LeftOut(int(blank.sum()), "rows without an answer", "no column names their users")
        )
    if drop.any():
        done.encoded = encoded.select(users=~drop)
    return raw_key


def _drop_strangers(done: Finished) -> None:
    """Leave out rows whose texts nobody else gave to any item: names, weights, statistics."""
    encoded = done.encoded
    n_users, n_items = len(encoded.users), len(encoded.items)
    if n_users < _FEW_USERS or n_items < _FEW_ITEMS or n_users * n_items > _MANY_CELLS:
        return
    answered, alone = encoded.answers_per_user, _lonely(encoded)
    share = alone / np.maximum(answered, 1)
    strange = (share >= _STRANGE) & (answered >= max(_FEW_ITEMS, n_items / 2))
    some = answered > 0
    if not strange.any() or strange.sum() > _MOST_STRANGE or some.sum() < _FEW_USERS:
        return
    counts = encoded.choosers_per_option
    common = np.add.reduceat(counts > 1, encoded.item_starts[:-1])  # options that several chose
    if np.median(share[some]) > _USUAL or np.median(common) < 2:
        return
    used: Counter[str] = Counter()
    for text, n in zip(encoded.option_labels.tolist(), counts.tolist(), strict=True):
        used[str(text)] += n
    for user in np.flatnonzero(strange).tolist():
        label = str(encoded.users[user])
        own = Counter(map(str, encoded.answers_of(user).values()))
        foreign = sum(n for text, n in own.items() if used[text] == n)
        named = is_summary_name(label) or (is_key_name(label) and _fits_others(encoded, user))
        absent = all(map(is_blank_word, own)) and not is_blank_word(label)
        strange[user] = not named and not absent and foreign >= _STRANGE * own.total()
    if not strange.any():
        return
    for user in np.flatnonzero(strange).tolist():
        label = shortened(str(encoded.users[user]), 40)
        reason = "nobody else gave such answers: names, weights or statistics, not a person"
        done.left_out.append(LeftOut(1, f"row {label!r}", f"{reason} (kept where items are named)"))
    done.encoded = encoded.select(users=~strange)


def _lonely(encoded: Responses) -> np.ndarray[Any, Any]:
    """Return for each user the number of answers that nobody else gave."""
    single = encoded.choosers_per_option == 1
    if not encoded.is_dense:
        indptr, options = encoded.rows
        ends = np.concatenate([[0], np.cumsum(single[options])])
        return np.diff(ends[indptr])
    counts = np.zeros(encoded.codes.shape[1], dtype=np.int64)
    starts = encoded.item_starts
    for row, first, last in zip(encoded.codes, starts[:-1], starts[1:], strict=True):
        if single[first:last].any():
            table = np.append(single[first:last], False)
            counts += np.take(table, row, mode="clip")
    return counts


def _fits_others(encoded: Responses, user: int) -> bool:
    """Whether others gave at least half of a user's answers too, ignoring case."""
    own = encoded.answers_of(user)
    counts = encoded.choosers_per_option.tolist()
    labels = [str(label) for label in encoded.option_labels.tolist()]
    fits = 0
    for item, (first, last) in zip(
        encoded.items.tolist(), pairwise(encoded.item_starts.tolist()), strict=True
    ):
        if item in own:
            text = same_text(str(own[item]))
            same = [k for k in range(first, last) if same_text(labels[k]) == text]
            fits += sum(counts[k] for k in same) > 1
    return fits * 2 >= len(own)


# -- items and options ------------------------------------------------------------------------


def _choose_items(done: Finished, items: Sequence[str] | None, drop: Sequence[str] | None) -> None:
    names = [str(item) for item in done.encoded.items.tolist()]
    keep = np.ones(len(names), dtype=bool)
    if items:
        wanted = match_names(items, names, "items")
        keep &= np.array([name in wanted for name in names])
    if drop:
        unwanted = match_names(drop, names, "drop")
        keep &= np.array([name not in unwanted for name in names])
    if not keep.all():
        done.columns += [
            Column(name, "unused", "left out as asked")
            for name, kept in zip(names, keep.tolist(), strict=True)
            if not kept
        ]
        done.encoded = done.encoded.select(items=keep)


def _fold(done: Finished, fold: bool, blanks: Sequence[str] | None) -> None:
    encoded = done.encoded
    starts = encoded.item_starts.tolist()
    labels = [str(label) for label in encoded.option_labels.tolist()]
    words = None if blanks is None else frozenset(same_text(word) for word in blanks)
    stocks = [tuple(labels[a:b]) for a, b in pairwise(starts)]
    # most items need no folding: check each distinct set of labels once
    plain = {
        stock: fold_item(stock, [1] * len(stock), Folding(), words, merge=fold) == list(stock)
        for stock in set(stocks)
    }
    if all(plain.values()):
        return
    counts = encoded.choosers_per_option.tolist()
    common: Counter[str] = Counter()
    for label, count in zip(labels, counts, strict=True):
        common[label] += count
    found = Folding()
    new: list[list[str | None]] = []
    for stock, first in zip(stocks, starts, strict=False):
        if plain[stock]:
            new.append(list(stock))
            continue
        own = counts[first : first + len(stock)]
        new.append(fold_item(stock, own, found, words, common, merge=fold))
    if found.merged or found.blanks:
        done.encoded = encoded.relabel(new)
        done.answers += found.sentences()


def _without_free_text(done: Finished, name: str) -> None:
    encoded = done.encoded
    starts = encoded.item_starts.tolist()
    labels = [str(label) for label in encoded.option_labels.tolist()]
    keep = np.ones(len(encoded.items), dtype=bool)
    asked = {k for k, item in enumerate(encoded.items.tolist()) if _REMARK.search(str(item))}
    strange = [
        k
        for k, (a, b) in enumerate(pairwise(starts))
        if b - a > _DIFFERENT * _SOME
        or sum(map(len, labels[a:b])) > _LONG_TEXT * (b - a)
        or k in asked
    ]
    if not strange:
        return
    counts = encoded.choosers_per_option
    used: Counter[str] = Counter(labels)
    for k in strange:
        first, last = starts[k], starts[k + 1]
        n, answered = last - first, int(counts[first:last].sum())
        if n <= _DIFFERENT * answered or answered < 3:
            continue
        own = labels[first:last]
        shared = sum(used[label] > 1 for label in own)
        length = sum(map(len, own)) / n
        if shared * 2 < n and (answered >= _SOME or length > _LONG_TEXT or k in asked):
            keep[k] = False
    if keep.all():
        return
    gone = [str(item) for item in encoded.items[~keep].tolist()]
    if not keep.any():
        raise InputError(
            f"{name}: hardly any two answers to an item are alike: this is free text (or numbers), "
            "not choices; export the options that people chose."
        )
    done.columns += [
        Column(item, "comment", "free text: hardly any two answers alike") for item in gone
    ]
    done.notes.append(
        f"Left out {listed(gone, most=3)}: free text, hardly any two answers are alike (name "
        "them as items to keep them)."
    )
    done.encoded = encoded.select(items=keep)


def _check(done: Finished, name: str, keep_all: bool, guessed: bool, several: bool) -> None:
    """Refuse data that cannot be ranked, or that were ``guessed`` to be answers and are none."""
    encoded = done.encoded
    check_sizes(Place(name), encoded.users, len(encoded.items))
    sizes = np.diff(encoded.item_starts)
    n_options = len(encoded.option_labels)
    if not encoded.is_dense:
        may_differ = encoded.n_responses == n_options
    else:  # a full table has at least a quarter of its cells answered
        may_differ = 4 * n_options >= len(encoded.users) * len(encoded.items)
    may_differ = may_differ and n_options > len(sizes) and n_options >= _ENOUGH
    if may_differ and (encoded.choosers_per_option == 1).all():
        what = "no two users gave the same answer to any item, so nothing links them"
        if not keep_all:
            raise InputError(
                f"{name}: {what}; are these numbers or free text? Export the options that people "
                "chose."
            )
        done.notes.append(f"{what[0].upper()}{what[1:]}.")
    choosers = encoded.choosers_per_option
    shared = np.add.reduceat(choosers > 1, encoded.item_starts[:-1]) > 0
    answered = np.add.reduceat(choosers, encoded.item_starts[:-1])
    guessed = guessed and (encoded.n_responses >= _SOME or several)
    if guessed and answered.max(initial=0) >= _FEW_ITEMS and not ((sizes > 1) & shared).any():
        raise InputError(
            f"{name}: read as it looks, users either all gave the same answer to an item or all "
            "different ones, so these are no answers; name the columns that hold them (items, or "
            "user, item and option)."
        )
    if (sizes == 1).all() and len(sizes):
        what = "everybody gave the same answer to every item, so nothing tells the users apart"
        if guessed and len(encoded.users) > 1:
            raise InputError(
                f"{name}: read as it looks, {what}; name the columns that hold the answers (items, "
                "or user, item and option)."
            )
        done.notes.append(Detail(f"{what[0].upper()}{what[1:]}."))


# -- the key ----------------------------------------------------------------------------------


def _matched_key(done: Finished, raw: RawKey) -> KnownKey | None:
    """Match the right answers with the options that were kept."""
    encoded = done.encoded
    if not raw.options:
        return None
    starts, labels = encoded.item_starts.tolist(), encoded.option_labels.tolist()
    key: dict[Any, Any] = {}
    unchosen = 0
    for place, item in enumerate(encoded.items.tolist()):
        if str(item) not in raw.options:
            continue
        text = option_label(raw.options[str(item)])
        own = [str(label) for label in labels[starts[place] : starts[place + 1]]]
        if not text or (text not in own and normalise(text) is None):
            continue
        chosen = same_option(text, own)
        unchosen += chosen is None
        key[item] = chosen or text
    if not key or unchosen == len(key):
        if key:
            done.notes.append(f"The key in {raw.source} fits none of the answers, and is not used.")
        return None
    if unchosen:
        items = "1 item" if unchosen == 1 else f"{unchosen:,} items"
        done.notes.append(
            f"Nobody chose the right answer to {items}, going by the key in the file."
        )
    return KnownKey(key, raw.source, unchosen)
