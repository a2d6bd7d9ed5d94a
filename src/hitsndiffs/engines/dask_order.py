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
import numpy.typing as npt

from hitsndiffs.engines import sorting

__all__ = ["Buckets", "Chain", "chain_ends", "levelled", "meet_across"]

Array = npt.NDArray[Any]
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
    below
        How many values are below each bucket.
    """

    parts: list[Any]
    pieces: list[list[Any]]
    below: npt.NDArray[np.int64]

    @classmethod
    def of(cls, data: Any, blocks: list[Any]) -> Buckets:
        """Sort some blocks of an engine's user array."""
        some = data.each(sampled, blocks)
        buckets = how_many_buckets(data.n_users, len(blocks), data.users_in_bucket)
        edges = splitters([values for values in some if len(values)], buckets)
        parts = data.calls(sort_and_cut, blocks, repeat(edges))
        sizes = np.sum(data.each(bucket_sizes, parts), axis=0)
        pieces = crossed(data.calls, Sorted.bucket, parts, len(sizes))
        return cls(parts, pieces, np.cumsum(sizes) - sizes)

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


@dataclass(frozen=True)
class Chain:
    """The ends of a bucket, where chains may continue into its neighbours.

    Attributes
    ----------
    size
        Number of values in the bucket.
    low, high
        Its smallest and its largest value.
    low_size, low_end
        The number of values in the lowest chain, and the highest of them.
    high_begin
        The lowest value of the highest chain.
    """

    size: int
    low: float = np.nan
    high: float = np.nan
    low_size: int = 0
    low_end: float = np.nan
    high_begin: float = np.nan


def chain_ends(values: Array, limit: float) -> Chain:
    """The ends of a bucket's sorted values."""
    if not len(values):
        return Chain(0)
    breaks = np.flatnonzero(np.diff(values) > limit)
    first = int(breaks[0]) + 1 if len(breaks) else len(values)
    last = int(breaks[-1]) + 1 if len(breaks) else 0
    return Chain(
        len(values), float(values[0]), float(values[-1]),
        first, float(values[first - 1]), float(values[last]),
    )  # fmt: skip


@dataclass
class Joined:
    """A chain that may span several buckets.

    Attributes
    ----------
    low, high
        Its ends.
    above
        How many values are above it.
    """

    low: float
    high: float
    above: int


@dataclass(frozen=True)
class Ends:
    """What a bucket must know: how many values are above it, and its lowest and highest chains."""

    above: int
    lowest: Joined | None = None
    highest: Joined | None = None


def ends_of(limit: float, *pieces: Array) -> Chain:
    """The ends of a bucket's values."""
    return chain_ends(np.sort(np.concatenate(pieces)), limit)


def meet_across(chains: list[Chain], limit: float) -> list[Ends]:
    """Join chains that continue from one bucket to the next (buckets in order, lowest first)."""
    above = sum(chain.size for chain in chains)
    found: list[Ends] = []
    last: Joined | None = None
    for chain in chains:
        above -= chain.size
        if not chain.size:
            found.append(Ends(above))
            continue
        lowest = Joined(chain.low, chain.low_end, above + chain.size - chain.low_size)
        if last is not None and chain.low - last.high <= limit:
            last.high, last.above = lowest.high, lowest.above
            lowest = last
        whole = chain.low_size == chain.size
        last = lowest if whole else Joined(chain.high_begin, chain.high, above)
        found.append(Ends(above, lowest, last))
    return found


def levelled(values: Array, ends: Ends, limit: float) -> Array:
    """Each value's rank (1 for the highest, ties share the best) and its level's midpoint."""
    if not len(values):
        return np.zeros((0, 2))
    apart = np.diff(values) > limit
    level = np.concatenate([[0], np.cumsum(apart)])
    lows = values[np.concatenate([[True], apart])]
    highs = values[np.concatenate([apart, [True]])]
    above = ends.above + len(values) - np.cumsum(np.bincount(level))
    assert ends.lowest is not None
    assert ends.highest is not None
    for place, chain in ((0, ends.lowest), (-1, ends.highest)):
        lows[place], highs[place], above[place] = chain.low, chain.high, chain.above
    return np.stack([1.0 + above[level], ((lows + highs) / 2)[level]], axis=1)


def average_ranks(values: Array, below: int) -> Array:
    """Places from 1, lowest first; equal values share their mean place."""
    return below + sorting.average_ranks(values)


# -- the value at one place ----------------------------------------------------------------------

#: A part sends up to this many values to the client; if it has more, a sample of about this many.
FEW, SEEN = 2_000, 1_000


def found_at(each: Callable[..., Any], blocks: list[Any], places: list[int]) -> list[float]:
    """The values at some places in sorted order, lowest first; ``each`` is the engine's method.

    A sample gives two values around the place; the values between them are looked at next.
    """
    ranges, found = dict.fromkeys(places, (-np.inf, np.inf)), {}
    while ranges:
        looked = each(between, blocks, repeat(list(ranges.values())))
        edges = {}
        for place, *parts in zip(list(ranges), *looked, strict=True):
            below, inside = (sum(part[n] for part in parts) for n in (0, 1))
            some = np.sort(np.concatenate([part[2] for part in parts]))
            if len(some) == inside:
                found[place] = some[place - below]
                del ranges[place]
                continue
            middle, margin = len(some) * (place - below) / inside, 2 + 3 * np.sqrt(len(some))
            ends = np.clip([middle - margin, middle + margin], 0, len(some) - 1).astype(int)
            edges[place] = some[ends]
        if not edges:
            break
        total = np.sum(each(below_and_at, blocks, repeat(list(edges.values()))), axis=0)
        for (place, (lower, upper)), (less, upto) in zip(edges.items(), total, strict=True):
            low, high = ranges[place]
            if less[0] <= place < upto[0] or less[1] <= place < upto[1]:
                found[place] = lower if place < upto[0] else upper
                del ranges[place]
            elif place < less[0]:
                ranges[place] = low, np.nextafter(lower, -np.inf)
            elif place < less[1]:
                ranges[place] = np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf)
            else:
                ranges[place] = np.nextafter(upper, np.inf), high
    return [float(found[place]) for place in places]


def between(values: Array, ranges: list[tuple[float, float]]) -> list[tuple[int, int, Array]]:
    """For each range: how many values are below it, how many in it, and these or a sample."""
    found = []
    for low, high in ranges:
        inside = values[(values >= low) & (values <= high)]
        step = 1 if len(inside) <= FEW else len(inside) // SEEN
        found.append((int((values < low).sum()), len(inside), inside[::step]))
    return found


def below_and_at(values: Array, edges: list[Array]) -> Array:
    """For each pair of edges: how many values are below each edge, and how many not above it."""
    return np.array([[[(values < e).sum() for e in pair], [(values <= e).sum() for e in pair]]
                     for pair in edges])  # fmt: skip


# -- joining the parts' results ----------------------------------------------------------------


def added(*sums: Any) -> Any:
    """Add up sums over options, and side sums if they come in pairs with these."""
    if isinstance(sums[0], tuple):
        return tuple(added(*each) for each in zip(*sums, strict=True))
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return total


def largest(*sizes: float) -> float:
    """The largest of some sizes; NaN if one is NaN."""
    return float(np.max(sizes))


def extreme_ends(*ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """The smallest of the smallest and the largest of the largest positions."""
    lows, highs = zip(*ends, strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)
