"""The two layouts of responses, dense codes and sparse rows: conversions and counts.

See :class:`hitsndiffs.Responses` for what they hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Ints

__all__ = [
    "Codes",
    "Rows",
    "answers_in_codes",
    "choosers_in_codes",
    "choosers_in_rows",
    "codes_of_answers",
    "codes_of_rows",
    "exchanged",
    "occurrences",
    "renumbered_codes",
    "renumbered_rows",
    "rows_of_answers",
    "rows_of_codes",
    "some_rows",
    "translated",
]

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Rows = tuple[Ints, npt.NDArray[np.int32]]

#: Answers handled at once.
ANSWERS_AT_ONCE = 4_000_000


def codes_of_answers(
    user: Array, option: Array, n_users: int, item_starts: Ints, option_items: Array
) -> Codes:
    """Dense codes of single answers: the number of the user and of the option of each."""
    widest = int(np.diff(item_starts).max(initial=0))
    if widest >= 65535:
        raise ValueError(f"an item with {widest} options has no dense codes")
    dtype = np.uint8 if widest < 255 else np.uint16
    codes = np.full((len(item_starts) - 1, n_users), np.iinfo(dtype).max, dtype=dtype)
    item = option_items[option]
    codes[item, user] = option - item_starts[item]
    return codes


def rows_of_answers(user: Array, option: Array, n_users: int, n_options: int) -> Rows:
    """Sparse rows of single answers: the number of the user and of the option of each."""
    keys = user.astype(np.int64) * n_options + option
    keys.sort()
    edges = np.arange(n_users + 1, dtype=np.int64) * n_options
    return np.searchsorted(keys, edges), (keys % max(n_options, 1)).astype(np.int32)


def codes_of_rows(rows: Rows, item_starts: Ints, option_items: Array) -> Codes:
    """Dense codes of the answers in sparse rows."""
    indptr, options = rows
    user = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return codes_of_answers(user, options, len(indptr) - 1, item_starts, option_items)


def some_rows(rows: Rows, users: npt.NDArray[np.integer[Any]]) -> Rows:
    """The rows of some users, in the order given."""
    indptr, options = rows
    counts = indptr[users + 1] - indptr[users]
    starts = np.zeros(len(users) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    take = np.repeat(indptr[users] - starts[:-1], counts) + np.arange(starts[-1])
    return starts, options[take]


def rows_of_codes(codes: Codes, item_starts: Ints, answers_per_user: Ints) -> Rows:
    """Sparse rows of the answers in dense codes."""
    n_items, n_users = codes.shape
    indptr = np.zeros(n_users + 1, dtype=np.int64)
    np.cumsum(answers_per_user, out=indptr[1:])
    options = np.empty(indptr[-1], dtype=np.int32)
    starts = item_starts[:-1].astype(np.int32)
    block = max(1, ANSWERS_AT_ONCE // max(n_items, 1))
    no_answer = np.iinfo(codes.dtype).max
    for first in range(0, n_users, block):
        part = np.ascontiguousarray(codes[:, first : first + block].T)
        answered = (part != no_answer).reshape(-1)
        numbers = np.add(part, starts, dtype=np.int32).reshape(-1)
        last = min(first + block, n_users)
        np.compress(answered, numbers, out=options[indptr[first] : indptr[last]])
    return indptr, options


def answers_in_codes(codes: Codes) -> Ints:
    """How many items each user answered."""
    n_items, n_users = codes.shape
    no_answer = np.iinfo(codes.dtype).max
    counts = np.zeros(n_users, dtype=np.int64)
    for first in range(0, n_items, 255):  # as many as a byte can count
        some = np.zeros(n_users, dtype=np.uint8)
        for column in codes[first : first + 255]:
            some += column != no_answer
        counts += some
    return counts


def choosers_in_codes(codes: Codes, item_starts: Ints) -> Ints:
    """How many users chose each option."""
    sizes = np.diff(item_starts).tolist()
    each = [occurrences(column, size) for column, size in zip(codes, sizes, strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *each])


def occurrences(codes: Array, n: int) -> Ints:
    """How often each of the first ``n`` codes occurs."""
    if n <= 16:  # faster than bincount, which widens its input
        return np.array([np.count_nonzero(codes == k) for k in range(n)], dtype=np.int64)
    return np.bincount(codes, minlength=n)[:n]


def choosers_in_rows(rows: Rows, n_options: int) -> Ints:
    """How many users chose each option."""
    options = rows[1]
    counts = np.zeros(n_options, dtype=np.int64)
    for first in range(0, len(options), ANSWERS_AT_ONCE):  # bincount widens its input
        counts += np.bincount(options[first : first + ANSWERS_AT_ONCE], minlength=n_options)
    return counts


# -- other numbers for the options ------------------------------------------------------------


def translated(codes: Array, table: Ints, *, out: Array) -> None:
    """Write the new codes of one item's answers; ``table`` holds them by old code, -1 for none."""
    missing = np.iinfo(out.dtype).max
    lookup = np.append(np.where(table < 0, missing, table), missing).astype(out.dtype)
    if codes.dtype == out.dtype and np.array_equal(table, np.arange(len(table))):
        out[:] = codes
    elif codes.dtype == np.uint8 and out.dtype == np.uint8:
        whole = np.full(256, missing, dtype=np.uint8)
        whole[: len(lookup)] = lookup
        out[:] = exchanged(codes, whole)
    else:
        np.take(lookup, codes, mode="clip", out=out)  # "no answer" is the last entry


def exchanged(codes: Array, table: Array) -> Array:
    """Return ``table[codes]``, all of them bytes: ten times as fast as indexing."""
    return np.frombuffer(codes.tobytes().translate(table.tobytes()), dtype=np.uint8)


def renumbered_codes(
    codes: Codes, numbers: Ints, starts: Ints, items: Ints, new_starts: Ints
) -> Codes:
    """Codes of some items, where option ``k`` gets the number ``numbers[k]`` (-1: no answer)."""
    new = np.empty((len(items), codes.shape[1]), dtype=codes.dtype)
    for target, item, first in zip(new, items.tolist(), new_starts.tolist(), strict=False):
        own = numbers[starts[item] : starts[item + 1]]
        within = np.where(own < 0, -1, own - first)
        if np.array_equal(within, np.arange(len(own))):
            target[:] = codes[item]
        else:
            translated(codes[item], within, out=target)
    return new


def renumbered_rows(rows: Rows, numbers: Ints) -> Rows:
    """Rows where option ``k`` gets the number ``numbers[k]`` (-1: no answer)."""
    indptr, options = rows
    moved = numbers[options]
    keep = moved >= 0
    ends = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
    return ends[indptr], moved[keep].astype(np.int32)
