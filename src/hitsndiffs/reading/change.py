"""Change encoded answers: rename and merge options, leave out users and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding.option_book import in_order
from hitsndiffs.data.encoding.result import Encoded, label_array
from hitsndiffs.data.layouts import choosers_in_codes, choosers_in_rows

__all__ = ["answer_of", "choosers", "relabelled", "with_items", "with_users", "without_unused"]

Bools = npt.NDArray[np.bool_]


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
