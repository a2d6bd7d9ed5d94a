"""The exact order of users who are spread over workers, with nothing user-sized at the client.

Every part sorts its own values and sends a sample to the client, which cuts the range into buckets.
Each value goes to its bucket's worker (equal values meet there), which computes what depends on the
order, and the answers go back to where the users are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import getitem
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Ints, Words

__all__ = [
    "Buckets",
    "byte_counts",
    "chain_ends",
    "crossed",
    "found_at",
    "how_many_buckets",
    "levelled",
    "meet_across",
]

#: Values that each part sends to the client, to cut the range.
SAMPLED = 64
#: Minimum and maximum number of buckets: every part sends something to each, in a task.
FEWEST_BUCKETS, MOST_BUCKETS = 4, 64
#: About this many users per bucket, within these limits: a worker sorts them in a second.
IN_BUCKET = 10_000_000
#: Dask assumes that tasks with this name are quick, and runs them where their data are.
QUICK = "split-shuffle"


@dataclass(frozen=True)
class Sorted:
    """A part's values in order, cut into buckets."""

    values: Array
    order: Array
    cuts: Array

    def __sizeof__(self) -> int:
        """The size, so that the scheduler does not think that moving it is cheap."""
        return self.values.nbytes + self.order.nbytes

    def bucket(self, number: int) -> Array:
        """The part's values in a bucket, so that nothing more travels."""
        return self.values[self.cuts[number] : self.cuts[number + 1]]


def sampled(values: Array) -> Array:
    """Some of a part's values in order, evenly spaced by rank."""
    ordered = np.sort(values)
    return ordered[np.linspace(0, len(ordered) - 1, min(SAMPLED, len(ordered))).astype(np.int64)]


def splitters(samples: list[Array], buckets: int) -> Array:
    """Values that cut the range into buckets of about equal size."""
    some = np.sort(np.concatenate(samples))
    places = np.arange(1, buckets) * len(some) // buckets
    return np.unique(some[places])


def sort_and_cut(values: Array, edges: Array) -> Sorted:
    """Sort a part, and find where its buckets begin (a bucket begins with its edge)."""
    order = np.argsort(values)
    ordered = values[order]
    inner = np.searchsorted(ordered, edges, side="left")
    return Sorted(ordered, order, np.concatenate([[0], inner, [len(ordered)]]))


def bucket_sizes(part: Sorted) -> Array:
    """How many values the part has in each bucket."""
    return np.diff(part.cuts)


def act_on(act: Callable[..., Array], more: tuple[Any, ...], *pieces: Array) -> list[Array]:
    """Call ``act`` on a bucket's sorted values; return its answers part by part."""
    values = np.concatenate(pieces)
    order = np.argsort(values, kind="stable")  # faster, as the pieces are sorted already
    answers = act(values[order], *more)
    back = np.empty(answers.shape, dtype=answers.dtype)
    back[order] = answers
    return np.split(back, np.cumsum([len(piece) for piece in pieces])[:-1])


def brought_back(home: Any, part: Sorted, *answered: Array) -> Array:  # noqa: ARG001
    """A part's answers from all buckets, in the order of its users.

    ``home`` is the part itself: because of its size, the scheduler runs this where the users are.
    """
    answers = np.concatenate(answered)
    back = np.empty(answers.shape, dtype=answers.dtype)
    back[part.order] = answers
    return back


@dataclass(frozen=True)
class Buckets:
    """The users' values sorted into buckets, on the workers.

    Attributes
    ----------
    parts
        Each part's values in order (futures).
    pieces
        For each part, its values in each bucket (futures).
    below, above
        How many values are below each bucket, and above it.
    """

    parts: list[Any]
    pieces: list[list[Any]]
    below: Ints
    above: Ints

    @classmethod
    def of(cls, data: Any, blocks: list[Any]) -> Buckets:
        """Sort some blocks of an engine's user array."""
        some = data.each(sampled, blocks)
        buckets = how_many_buckets(data.n_users, len(blocks), data.users_in_bucket)
        edges = splitters([values for values in some if len(values)], buckets)
        parts = data.calls(sort_and_cut, blocks, repeat(edges))
        sizes = np.sum(data.each(bucket_sizes, parts), axis=0)
        pieces = crossed(data.calls, Sorted.bucket, parts, len(sizes))
        upto = np.cumsum(sizes)
        return cls(parts, pieces, upto - sizes, upto[-1] - upto)

    def answered(
        self, data: Any, act: Callable[..., Any], more: list[tuple[Any, ...]], keys: list[Any]
    ) -> list[Any]:
        """The answers of ``act`` for every value of each bucket, back with the users."""
        found = data.calls(act_on, repeat(act), more, *self.pieces)
        back = crossed(data.calls, getitem, found, len(self.parts))
        return list(data.calls(brought_back, data.parts, self.parts, *back, keys=keys))


def how_many_buckets(users: int, parts: int, in_bucket: int) -> int:
    """As many buckets as the users need, but no more than there are parts.

    >>> [how_many_buckets(users, 1000, IN_BUCKET) for users in (1000, 10**8, 10**10)]
    [4, 10, 64]
    """
    needed = max(FEWEST_BUCKETS, -(-users // in_bucket))
    return min(parts, needed, MOST_BUCKETS)


def crossed(
    calls: Callable[..., Any], act: Callable[..., Any], given: list[Any], count: int
) -> list[list[Any]]:
    """``act(one, number)`` for each of ``given`` and each number below ``count``: a list for each.

    This leads from parts to buckets, or back: each piece travels only to where it is needed.
    """
    numbers = list(range(count))
    made = calls(act, [one for one in given for _ in numbers], numbers * len(given), keys=QUICK)
    return [made[first : first + count] for first in range(0, len(made), count)]


# -- levels: chains of values whose gaps are at most a limit -------------------------------------


def chain_ends(limit: float, *pieces: Array) -> Array:
    """The lowest and the highest chain of a bucket, which may continue into its neighbours.

    For each of the two, a row: its lowest value, its highest value, and how many of the bucket's
    values are above it. An empty bucket has no rows.
    """
    values = np.sort(np.concatenate(pieces))
    if not len(values):
        return np.empty((0, 3))
    breaks = np.flatnonzero(np.diff(values) > limit) + 1
    first, last = (breaks[0], breaks[-1]) if len(breaks) else (len(values), 0)
    return np.array(
        [[values[0], values[first - 1], len(values) - first], [values[last], values[-1], 0]]
    )


def meet_across(ends: list[Array], above: Array, limit: float) -> list[Array]:
    """The same rows for the chains of all values (buckets in order, lowest first).

    ``above`` says how many values are above each bucket.
    """
    counts = [len(own) for own in ends]
    lows, highs, over = np.concatenate(ends).T
    apart = ~(lows[1:] - highs[:-1] <= limit)
    begins, stops = np.append(True, apart), np.append(apart, True)
    over = over + np.repeat(above, counts)
    chains = np.stack([lows[begins], highs[stops], over[stops]], axis=1)
    return np.split(chains[np.cumsum(begins) - 1], np.cumsum(counts)[:-1])


def levelled(values: Array, ends: Array, above: int, limit: float) -> Array:
    """Each value's rank (1 for the highest, ties share the best) and its level's midpoint.

    ``ends`` are the bucket's rows of :func:`meet_across`, ``above`` is for the whole bucket.
    """
    if not len(values):
        return np.zeros((0, 2))
    apart = np.diff(values) > limit
    level = np.concatenate([[0], np.cumsum(apart)])
    over = above + len(values) - np.cumsum(np.bincount(level))
    chains = np.stack([values[np.append(True, apart)], values[np.append(apart, True)], over])
    chains[:, [0, -1]] = ends.T
    lows, highs, over = chains
    found: Array = np.stack([1.0 + over, (lows + highs) / 2], axis=1)[level]
    return found


# -- the value at one place ----------------------------------------------------------------------
#
# As whole numbers of 64 bits in the order of the values, found byte by byte from the highest on.

_SIGN = np.uint64(2**63)


def keys_of(values: Array) -> Words:
    """Whole numbers in the order of some values."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def values_of(keys: Words) -> Array:
    """The values of some keys.

    >>> values_of(keys_of(np.array([-1.5, 0.0, 2.0]))).tolist()
    [-1.5, 0.0, 2.0]
    """
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


def byte_counts(_: Any, known: Words, byte: int, values: Array) -> Ints:
    """How often each byte follows in a part's keys that begin as the known ones do.

    One row of 256 counts for each of ``known``, whose lowest ``byte + 1`` bytes are open.
    """
    keys, counts = keys_of(values), np.zeros((len(known), 256), dtype=np.int64)
    for row, start in zip(counts, known, strict=True):
        own = keys if byte == 7 else keys[(keys ^ start) >> np.uint64(8 * byte + 8) == 0]
        row += np.bincount((own >> np.uint64(8 * byte)).astype(np.uint8), minlength=256)
    return counts


def found_at(counts: Callable[[Words, int], Ints], places: Sequence[int]) -> list[float]:
    """The values at some places in sorted order; ``counts(known, byte)`` is for all users."""
    left, known = np.array(places, dtype=np.int64), np.zeros(len(places), dtype=np.uint64)
    rows = np.arange(len(places))
    for byte in range(7, -1, -1):
        found = counts(known, byte)
        upto = found.cumsum(axis=1)
        following = (upto > left[:, None]).argmax(axis=1)
        left -= (upto - found)[rows, following]
        known |= following.astype(np.uint64) << np.uint64(8 * byte)
    return [float(value) for value in values_of(known)]
