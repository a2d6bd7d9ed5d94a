"""The last steps of every reading: rows that are no users, folding, blanks, free text, the key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hitsndiffs.data.encoding.names import listed, shortened
from hitsndiffs.data.encoding.options import normalise
from hitsndiffs.data.encoding.result import Encoded, check_sizes
from hitsndiffs.data.encoding.result import Place
from hitsndiffs.data.known_key import KnownKey
from hitsndiffs.errors import InputError
from hitsndiffs.reading.change import (
    answer_of,
    choosers,
    relabelled,
    with_items,
    with_users,
    without_unused,
)
from hitsndiffs.reading.fold import Folding, fold_item, same_text
from hitsndiffs.reading.formats.base import Column, LeftOut
from hitsndiffs.reading.roles import match_names
from hitsndiffs.reading.streams import RawKey
from hitsndiffs.reading.words import is_key_name, is_summary_name

__all__ = ["Finished", "finish"]

#: Rows that sum up the others are sought among so many at the top and at the bottom.
_TOP, _BOTTOM = 3, 8
#: An item with so many answers of which nearly all differ is free text.
_SOME, _DIFFERENT = 10, 0.8
_LONG_TEXT = 80


@dataclass
class Finished:
    """What is read, and what is to be said about it."""

    encoded: Encoded
    key: KnownKey | None
    left_out: list[LeftOut] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def finish(
    encoded: Encoded,
    raw_key: RawKey,
    *,
    name: str,
    rows_may_be_special: bool,
    key_user: int | None = None,
    items: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    blanks: Sequence[str] | None = None,
    keep_all: bool = False,
) -> Finished:
    """Do what is common to all formats.

    Parameters
    ----------
    encoded
        The answers as they were written.
    raw_key
        Right answers, as they were written.
    name
        Of the file, for messages.
    rows_may_be_special
        Whether a row may be a key or an average (tables with one row per user).
    key_user
        The row that the caller named as the key.
    items, drop
        Patterns of the items to be kept and left out, where that is still to be done.
    blanks
        Words that are no answer.
    keep_all
        Whether free text is kept (the caller named the items).
    """
    done = Finished(encoded, None)
    if rows_may_be_special:
        raw_key = _special_rows(done, raw_key, key_user)
    _choose_items(done, items, drop)
    _fold(done, blanks)
    if not keep_all and items is None:
        _without_free_text(done, name)
    _check(done, name)
    done.key = _matched_key(done, raw_key, name)
    return done


# -- rows that are no users -------------------------------------------------------------------


def _special_rows(done: Finished, raw_key: RawKey, key_user: int | None) -> RawKey:
    encoded = done.encoded
    n_users = len(encoded.users)
    labels = encoded.users
    drop = np.zeros(n_users, dtype=bool)
    alone = _lonely(encoded)
    answered = _answered(encoded)
    near_edge = {*range(min(_TOP, n_users)), *range(max(0, n_users - _BOTTOM), n_users)}
    keys: list[int] = [] if key_user is None else [key_user]
    if key_user is None and n_users <= 100_000:
        named = [k for k, label in enumerate(labels.tolist()) if is_key_name(str(label))]
        keys = [k for k in named if answered[k] and alone[k] <= 0.5 * answered[k]]
    for user in near_edge - set(keys):
        label = str(labels[user])
        strange = alone[user] >= 0.6 * answered[user] and answered[user] >= 3
        if is_summary_name(label) and (strange or not answered[user]):
            drop[user] = True
            done.left_out.append(LeftOut(1, f"row {shortened(label, 40)!r}", "it sums up the others"))
    if keys and len(keys) < n_users - 1:
        drop[keys] = True
        where = f"row {shortened(str(labels[keys[0]]), 40)!r}"
        raw_key = RawKey(
            {str(i): str(o) for i, o in answer_of(encoded, keys[0]).items()}, where
        )
        done.left_out.append(
            LeftOut(len(keys), where, "it holds the key" if key_user is None else "given as key_row")
        )
        if len(keys) > 1:
            done.notes.append("There are several key rows; the first one is kept as the key.")
    if drop.any():
        done.encoded = with_users(encoded, ~drop)
    return raw_key


def _answered(encoded: Encoded) -> np.ndarray[Any, Any]:
    if encoded.rows is not None:
        return np.diff(encoded.rows[0])
    assert encoded.codes is not None
    missing = np.iinfo(encoded.codes.dtype).max
    counts = np.zeros(encoded.codes.shape[1], dtype=np.int64)
    for row in encoded.codes:
        counts += row != missing
    return counts


def _lonely(encoded: Encoded) -> np.ndarray[Any, Any]:
    """Return for each user how many of the answers nobody else gave."""
    single = choosers(encoded) == 1
    if encoded.rows is not None:
        indptr, options = encoded.rows
        ends = np.concatenate([[0], np.cumsum(single[options])])
        return np.diff(ends[indptr])
    assert encoded.codes is not None
    counts = np.zeros(encoded.codes.shape[1], dtype=np.int64)
    starts = encoded.item_starts
    for row, first, last in zip(encoded.codes, starts[:-1], starts[1:], strict=True):
        if single[first:last].any():
            table = np.append(single[first:last], False)
            counts += np.take(table, row, mode="clip")
    return counts


# -- items and options ------------------------------------------------------------------------


def _choose_items(
    done: Finished, items: Sequence[str] | None, drop: Sequence[str] | None
) -> None:
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
        done.encoded = with_items(done.encoded, keep)


def _fold(done: Finished, blanks: Sequence[str] | None) -> None:
    encoded = done.encoded
    starts = encoded.item_starts.tolist()
    labels = [str(label) for label in encoded.option_labels.tolist()]
    counts = choosers(encoded).tolist()
    words = None if blanks is None else frozenset(same_text(word) for word in blanks)
    common: Counter[str] = Counter()
    for label, count in zip(labels, counts, strict=True):
        common[label] += count
    # most items need no folding: look at each different stock of labels once
    found = Folding()
    plain: dict[tuple[str, ...], bool] = {}
    new: list[list[str | None]] = []
    for first, last in zip(starts[:-1], starts[1:], strict=True):
        own = labels[first:last]
        stock = tuple(own)
        if plain.get(stock):
            new.append(list(own))
            continue
        folded = fold_item(own, counts[first:last], found, words, common)
        plain[stock] = folded == own
        new.append(folded)
    if found.merged or found.blanks:
        done.encoded = relabelled(encoded, new)
        done.answers += found.sentences()


def _without_free_text(done: Finished, name: str) -> None:
    encoded = done.encoded
    if not len(encoded.items):
        return
    counts = choosers(encoded)
    starts = encoded.item_starts.tolist()
    labels = encoded.option_labels.tolist()
    used: Counter[str] = Counter(map(str, labels))
    keep = np.ones(len(encoded.items), dtype=bool)
    for k, (first, last) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        n, answered = last - first, int(counts[first:last].sum())
        if n <= _DIFFERENT * answered or answered < 3:
            continue
        own = [str(label) for label in labels[first:last]]
        shared = sum(used[label] > 1 for label in own)
        length = sum(map(len, own)) / n
        if shared * 2 < n and (answered >= _SOME and n > _DIFFERENT * answered or length > _LONG_TEXT):
            keep[k] = False
    if keep.all():
        return
    gone = [str(item) for item in encoded.items[~keep].tolist()]
    if not keep.any():
        raise InputError(
            f"{name}: hardly any two answers to an item are alike: this is free text (or numbers), "
            "not choices; export the options that people chose."
        )
    done.columns += [Column(item, "comment", "free text: hardly any two answers alike") for item in gone]
    done.notes.append(
        f"Left out {listed(gone, most=3)}: free text, hardly any two answers are alike (keep with "
        "items=)."
    )
    done.encoded = with_items(encoded, keep)


def _check(done: Finished, name: str) -> None:
    """Refuse what no ranking can be made from."""
    done.encoded = encoded = without_unused(done.encoded)
    check_sizes(Place(name), encoded.users, len(encoded.items))
    counts = choosers(encoded)
    sizes = np.diff(encoded.item_starts)
    if len(encoded.users) > 2 and (counts == 1).all() and len(counts) > len(sizes):
        raise InputError(
            f"{name}: no two users gave the same answer to any item, so nothing links them; are "
            "these numbers or free text? Export the options that people chose."
        )
    if (sizes == 1).all() and len(sizes):
        done.notes.append(
            "Everybody gave the same answer to every item: nothing tells the users apart."
        )


# -- the key ----------------------------------------------------------------------------------


def _matched_key(done: Finished, raw: RawKey, name: str) -> KnownKey | None:
    """Match right answers with the options as they are kept."""
    encoded = done.encoded
    if not raw.options:
        return None
    starts, labels = encoded.item_starts.tolist(), encoded.option_labels.tolist()
    key: dict[Any, Any] = {}
    unchosen = 0
    for place, item in enumerate(encoded.items.tolist()):
        if str(item) not in raw.options:
            continue
        option = normalise(raw.options[str(item)])
        if option is None:
            continue
        own = [str(label) for label in labels[starts[place] : starts[place + 1]]]
        text = str(option)
        if text not in own:
            same = [label for label in own if same_text(label) == same_text(text)]
            unchosen += not same
            text = same[0] if same else text
        key[item] = text
    if not key or unchosen == len(key):
        if key:
            done.notes.append(
                f"The key in {raw.source} fits none of the answers, and is not used."
            )
        return None
    if unchosen:
        items = "1 item" if unchosen == 1 else f"{unchosen:,} items"
        done.notes.append(f"Nobody chose the right answer to {items}, going by the key in the file.")
    return KnownKey(key, raw.source, unchosen)


def with_notes(encoded: Encoded, notes: Sequence[str]) -> Encoded:
    """Return the same with other notes."""
    return replace(encoded, notes=tuple(dict.fromkeys(notes)))
