"""Change encoded answers: rename and merge options, leave out users and items, join files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding.long import Factor, assemble_long
from hitsndiffs.data.encoding.option_book import in_order
from hitsndiffs.data.encoding.result import Encoded, Place, label_array
from hitsndiffs.data.layouts import choosers_in_codes, choosers_in_rows
from hitsndiffs.data.words import shortened
from hitsndiffs.errors import InputError

__all__ = [
    "answer_of",
    "choosers",
    "joined",
    "relabelled",
    "triples",
    "with_items",
    "with_users",
    "without_unused",
]

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


def choosers(encoded: Encoded) -> npt.NDArray[np.int64]:
    """Return how many users chose each option."""
    if encoded.rows is not None:
        return choosers_in_rows(encoded.rows, len(encoded.option_labels))
    assert encoded.codes is not None
    return choosers_in_codes(encoded.codes, encoded.item_starts)


def relabelled(encoded: Encoded, labels: Sequence[Sequence[str | None]]) -> Encoded:
    """Give the options of each item new labels; equal ones are merged, None means no answer."""
    starts = encoded.item_starts
    n_options = len(encoded.option_labels)
    new_number = np.full(n_options, -1, dtype=np.int64)
    new_labels: list[str] = []
    sizes = []
    for first, own in zip(starts[:-1].tolist(), labels, strict=True):
        distinct = list(dict.fromkeys(label for label in own if label is not None))
        order = in_order(distinct)
        place = {distinct[k]: rank for rank, k in enumerate(order)}
        for k, label in enumerate(own):
            if label is not None:
                new_number[first + k] = len(new_labels) + place[label]
        new_labels += [distinct[k] for k in order]
        sizes.append(len(distinct))
    if np.array_equal(new_number, np.arange(n_options)):
        return replace(encoded, option_labels=label_array(new_labels))
    every = np.ones(len(sizes), dtype=bool)
    return without_unused(_renumbered(encoded, every, new_number, label_array(new_labels), sizes))


def _renumbered(
    encoded: Encoded,
    items: Bools,
    numbers: npt.NDArray[np.int64],
    labels: npt.NDArray[Any],
    sizes: npt.ArrayLike,
) -> Encoded:
    """Keep some items, and give each option its new number (-1 for no answer).

    ``labels`` are those of the new options, and ``sizes`` says how many each kept item has. The
    items stay in order, so rows stay sorted by item.
    """
    old, starts = encoded.item_starts, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    changed = replace(encoded, items=encoded.items[items], option_labels=labels, item_starts=starts)
    if encoded.rows is not None:
        indptr, options = encoded.rows
        mapped = numbers[options]
        keep = mapped >= 0
        ends = np.concatenate([[0], np.cumsum(keep)])
        rows = ends[indptr].astype(np.int64), mapped[keep].astype(np.int32)
        return replace(changed, rows=rows)
    assert encoded.codes is not None
    codes = encoded.codes[items]
    missing = np.iinfo(codes.dtype).max
    for row, item, first in zip(codes, np.flatnonzero(items), starts[:-1], strict=True):
        own = numbers[old[item] : old[item + 1]]
        within = np.where(own < 0, missing, own - first)
        if not np.array_equal(within, np.arange(len(own))):
            table = np.append(within, missing).astype(codes.dtype)
            row[:] = np.take(table, row, mode="clip")
    return replace(changed, codes=codes)


def without_unused(encoded: Encoded) -> Encoded:
    """Leave out options that nobody chose, and items that nobody answered."""
    used = choosers(encoded) > 0
    if used.all() and (np.diff(encoded.item_starts) > 0).all():
        return encoded
    answered = np.array([used[a:b].any() for a, b in pairwise(encoded.item_starts)], dtype=bool)
    return _kept(encoded, answered, used)


def with_items(encoded: Encoded, keep: Bools) -> Encoded:
    """Keep only some items."""
    if keep.all():
        return encoded
    return _kept(encoded, keep, np.repeat(keep, np.diff(encoded.item_starts)))


def _kept(encoded: Encoded, items: Bools, used: Bools) -> Encoded:
    """Keep some items, and some of their options."""
    numbers = np.where(used, np.cumsum(used) - 1, -1)
    sizes = np.array([used[a:b].sum() for a, b in pairwise(encoded.item_starts)], dtype=np.int64)
    return _renumbered(encoded, items, numbers, encoded.option_labels[used], sizes[items])


def with_users(encoded: Encoded, keep: Bools) -> Encoded:
    """Keep only some users; options that only the others chose are dropped."""
    if keep.all():
        return encoded
    changed = replace(encoded, users=encoded.users[keep])
    if encoded.rows is not None:
        indptr, options = encoded.rows
        lengths = np.diff(indptr)
        ends = np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64)
        changed = replace(changed, rows=(ends, options[np.repeat(keep, lengths)]))
    else:
        assert encoded.codes is not None
        changed = replace(changed, codes=np.ascontiguousarray(encoded.codes[:, keep]))
    return without_unused(changed)


def answer_of(encoded: Encoded, user: int) -> dict[Any, Any]:
    """Return one user's answers by label: item → option."""
    items, starts = encoded.items.tolist(), encoded.item_starts
    if encoded.rows is not None:
        indptr, options = encoded.rows
        chosen = options[indptr[user] : indptr[user + 1]]
        owner = np.searchsorted(starts, chosen, side="right") - 1
        return {
            items[i]: encoded.option_labels[k]
            for i, k in zip(owner.tolist(), chosen.tolist(), strict=True)
        }
    assert encoded.codes is not None
    own = encoded.codes[:, user]
    missing = np.iinfo(own.dtype).max
    return {
        items[i]: encoded.option_labels[int(starts[i]) + int(own[i])]
        for i in np.flatnonzero(own != missing).tolist()
    }


# -- several files -----------------------------------------------------------------------------


def joined(parts: Sequence[tuple[Encoded, str]], notes: list[str]) -> Encoded:
    """Join the answers of several files; users and items with the same name are the same."""
    known: tuple[dict[str, int], ...] = ({}, {}, {})  # users, items, options
    for encoded, _ in parts:  # users without answers stay
        _in_one_index(
            known[0], encoded.users.tolist(), np.arange(len(encoded.users), dtype=np.int32)
        )
    numbers: tuple[list[Numbers], ...] = ([], [], [])
    for encoded, _ in parts:
        who, chosen = _answers(encoded)
        item = _owners(encoded)[chosen]
        labels = (encoded.users, encoded.items, encoded.option_labels)
        for index, found, own, of in zip(known, numbers, (who, item, chosen), labels, strict=True):
            found.append(_in_one_index(index, of.tolist(), own))
    factors = []
    for index, found in zip(known, numbers, strict=True):
        factors.append(Factor(list(index), np.concatenate(found)))
        found.clear()  # do not hold a hundred million numbers twice
    encoded = assemble_long(
        *factors,
        place=Place(f"{len(parts)} files", "answer", by_position=False),
        columns=("user", "item", "option"),
        duplicates="first",
        as_text=True,
        kind="file",
        notes=notes,
    )
    return replace(encoded, groups=_joined_groups(parts))


def _joined_groups(parts: Sequence[tuple[Encoded, str]]) -> dict[Any, Any] | None:
    """Return user → group over all files; refuse users with two groups."""
    told: dict[Any, tuple[Any, str]] = {}
    for encoded, name in parts:
        for user, group in (encoded.groups or {}).items():
            one, where = told.setdefault(user, (group, name))
            if one != group:
                raise InputError(
                    f"{where} and {name} have the user {shortened(str(user))!r} in two groups "
                    f"({shortened(one)!r} and {shortened(group)!r}); give each user one."
                )
    if all(encoded.groups is None for encoded, _ in parts):
        return None
    return {user: group for user, (group, _) in told.items()}


def _in_one_index(index: dict[str, int], labels: list[Any], numbers: Numbers) -> Numbers:
    """Renumber by one index for all files, adding labels as they appear; -1 means blank."""
    texts = [str(label).strip() for label in labels]
    if any(text and text not in index for text in texts):
        first = np.full(len(texts), len(numbers))
        first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # the last write wins
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(numbers))]
        for k in order.tolist():
            if texts[k]:
                index.setdefault(texts[k], len(index))
    return np.array([index.get(text, -1) for text in texts], dtype=np.int32)[numbers]


def _answers(encoded: Encoded) -> tuple[Numbers, Numbers]:
    """Return the user and the option of every answer, as numbers."""
    if encoded.rows is not None:
        indptr, chosen = encoded.rows
        return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr)), chosen
    assert encoded.codes is not None
    if not len(encoded.codes):  # nobody answered anything
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    missing = np.iinfo(encoded.codes.dtype).max
    who = [np.flatnonzero(row != missing).astype(np.int32) for row in encoded.codes]
    options = [
        row[own] + np.int32(start)
        for row, own, start in zip(encoded.codes, who, encoded.item_starts[:-1], strict=True)
    ]
    return np.concatenate(who), np.concatenate(options)


def _owners(encoded: Encoded) -> Numbers:
    """Return the item of every option."""
    sizes = np.diff(encoded.item_starts)
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def triples(encoded: Encoded) -> Iterable[tuple[str, str, str]]:
    """Yield the labels of user, item and option of every answer."""
    users, items, labels = (
        [str(label) for label in of.tolist()]
        for of in (encoded.users, encoded.items, encoded.option_labels)
    )
    who, chosen = _answers(encoded)
    item = _owners(encoded)[chosen]
    for u, i, option in zip(who.tolist(), item.tolist(), chosen.tolist(), strict=True):
        yield users[u], items[i], labels[option]
