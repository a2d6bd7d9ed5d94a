"""The exact order of users who are spread over workers, with nothing user-sized at the client.

Every part sorts its own values and sends a sample to the client, which cuts the range into buckets.
Each value goes to its bucket's worker (equal values meet there), which computes what depends on the
order, and the answers go back to where the users are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from operator import getitem
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Ints

__all__ = [
    "Buckets",
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

#: A part sends up to this many values to the client; if it has more, a sample of about this many.
FEW, SEEN = 2_000, 1_000


def found_at(each: Callable[..., Any], blocks: list[Any], places: list[int]) -> list[float]:
    """The values at some places in sorted order, lowest first; ``each`` is the engine's method.

    A sample gives two values around the place; the values between them are looked at next.
    """
    inside = dict.fromkeys(places, (-np.inf, np.inf))  # the place is there, or at one of the ends
    asked, found = dict(inside), {}
    while asked:
        looked = each(between, blocks, repeat(set(asked.values())))
        for place, (low, high) in list(asked.items()):
            parts = [part[low, high] for part in looked]
            less, upto_low, below_high, upto = sum(counts for counts, _ in parts).tolist()
            some = np.sort(np.concatenate([values for _, values in parts]))
            if less <= place < upto_low or below_high <= place < upto:
                found[place] = low if place < upto_low else high
            elif place < less:
                asked[place] = inside[place] = inside[place][0], low
            elif place >= upto:
                asked[place] = inside[place] = high, inside[place][1]
            elif len(some) == below_high - upto_low:
                found[place] = some[place - upto_low]
            else:
                inside[place] = low, high
                middle = len(some) * (place - upto_low) / (below_high - upto_low)
                margin = 2 + 3 * np.sqrt(len(some))
                ends = np.clip([middle - margin, middle + margin], 0, len(some) - 1).astype(int)
                asked[place] = tuple(some[ends].tolist())
        asked = {place: ends for place, ends in asked.items() if place not in found}
    return [float(found[place]) for place in places]


def between(values: Array, ranges: set[tuple[float, float]]) -> dict[Any, tuple[Array, Array]]:
    """For each range: how many values are below its ends and up to them; and those inside.

    Of many values inside, there is a sample.
    """
    found = {}
    for low, high in ranges:
        ends = [values < low, values <= low, values < high, values <= high]
        inside = values[ends[1] < ends[2]]
        step = 1 if len(inside) <= FEW else len(inside) // SEEN
        found[low, high] = np.array([np.count_nonzero(end) for end in ends]), inside[::step]
    return found
