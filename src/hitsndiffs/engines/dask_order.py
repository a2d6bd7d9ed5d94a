"""An order of users who are spread over workers, exactly, with nothing user-sized at the client.

Every part sorts its own values. Some of them, sent to the client, cut the range into as many
buckets as there are parts. Each value goes to its bucket's worker (equal values meet there), which
finds what depends on the order, and the answers go back to where the users are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Chain", "chain_ends", "levelled", "meet_across"]

Array = npt.NDArray[Any]
#: Values of each part that the client sees, to cut the range.
SAMPLED = 64


@dataclass(frozen=True)
class Sorted:
    """A part's values in order, cut into buckets."""

    values: Array
    order: Array
    cuts: Array

    def bucket(self, number: int) -> Array:
        """The part's values in a bucket."""
        return self.values[self.cuts[number] : self.cuts[number + 1]]


def sampled(values: Array) -> Array:
    """Some evenly spaced values of a part, in order."""
    ordered = np.sort(values)
    return ordered[np.linspace(0, len(ordered) - 1, min(SAMPLED, len(ordered))).astype(np.int64)]


def splitters(samples: list[Array], buckets: int) -> Array:
    """Values that cut the range into buckets of about equal size."""
    some = np.sort(np.concatenate(samples))
    places = np.arange(1, buckets) * len(some) // buckets
    return np.unique(some[places])


def sort_and_cut(values: Array, edges: Array) -> Sorted:
    """Sort a part, and find where its buckets begin (a bucket begins with its edge)."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    inner = np.searchsorted(ordered, edges, side="left")
    return Sorted(ordered, order, np.concatenate([[0], inner, [len(ordered)]]))


def bucket_sizes(part: Sorted) -> Array:
    """How many values the part has in each bucket."""
    return np.diff(part.cuts)


def in_bucket(number: int, *parts: Sorted) -> list[Array]:
    """The values of one bucket, part by part."""
    return [part.bucket(number) for part in parts]


def act_on(
    act: Callable[..., Array], number: int, *parts_and_more: Any, n_parts: int
) -> list[Array]:
    """Let ``act`` see a bucket's values in order; its answers go back part by part."""
    pieces = [part.bucket(number) for part in parts_and_more[:n_parts]]
    values = np.concatenate(pieces)
    order = np.argsort(values, kind="stable")
    answers = act(values[order], *parts_and_more[n_parts:])
    back = np.empty(answers.shape, dtype=answers.dtype)
    back[order] = answers
    return np.split(back, np.cumsum([len(piece) for piece in pieces])[:-1])


def brought_back(part: Sorted, number: int, *buckets: list[Array]) -> Array:
    """A part's answers from all buckets, in the order of its users."""
    answers = np.concatenate([bucket[number] for bucket in buckets])
    back = np.empty(answers.shape, dtype=answers.dtype)
    back[part.order] = answers
    return back


# -- levels: values that differ by no more than a limit, in a chain --------------------------------


@dataclass(frozen=True)
class Chain:
    """What a bucket tells of its ends: where chains may go on into its neighbours.

    Attributes
    ----------
    size
        Values in the bucket.
    low, high
        Its smallest and its largest value.
    low_size, low_sum, high_size, high_sum
        Of the lowest and of the highest chain: how many values, and their sum.
    """

    size: int
    low: float = np.nan
    high: float = np.nan
    low_size: int = 0
    low_sum: float = 0.0
    high_size: int = 0
    high_sum: float = 0.0


def chain_ends(values: Array, limit: float) -> Chain:
    """The ends of a bucket's values, which are in order."""
    if not len(values):
        return Chain(0)
    breaks = np.flatnonzero(np.diff(values) > limit)
    first = int(breaks[0]) + 1 if len(breaks) else len(values)
    last = len(values) - (int(breaks[-1]) + 1 if len(breaks) else 0)
    return Chain(
        len(values), float(values[0]), float(values[-1]),
        first, float(values[:first].sum()), last, float(values[len(values) - last :].sum()),
    )  # fmt: skip


@dataclass(frozen=True)
class Ends:
    """What a bucket is told of its end chains: all their values, also those in other buckets.

    Attributes
    ----------
    above
        How many values stand above the bucket.
    low_size, low_sum, low_above, high_size, high_sum, high_above
        Of the whole lowest and highest chain: values, sum, and how many values stand above.
    """

    above: int
    low_size: int
    low_sum: float
    low_above: int
    high_size: int
    high_sum: float
    high_above: int


def meet_across(chains: list[Chain], limit: float) -> list[Ends]:
    """Join the chains that go on from one bucket to the next (buckets in order, lowest first)."""
    total = sum(chain.size for chain in chains)
    below = 0
    #: [values, sum, highest place] of each joined chain, and which one each bucket's ends are in
    joined: list[list[float]] = []
    low_of, high_of = [-1] * len(chains), [-1] * len(chains)
    previous = None
    for number, chain in enumerate(chains):
        if not chain.size:
            continue
        goes_on = previous is not None and chain.low - chains[previous].high <= limit
        if goes_on:
            assert previous is not None
            low_of[number] = high_of[previous]
        else:
            joined.append([0, 0.0, 0])
            low_of[number] = len(joined) - 1
        mine = joined[low_of[number]]
        mine[0] += chain.low_size
        mine[1] += chain.low_sum
        mine[2] = below + chain.low_size
        if chain.low_size == chain.size:
            high_of[number] = low_of[number]
        else:
            joined.append([chain.high_size, chain.high_sum, below + chain.size])
            high_of[number] = len(joined) - 1
        below += chain.size
        previous = number
    found, below = [], 0
    for number, chain in enumerate(chains):
        below += chain.size
        if not chain.size:
            found.append(Ends(total - below, 0, 0.0, 0, 0, 0.0, 0))
            continue
        low, high = joined[low_of[number]], joined[high_of[number]]
        found.append(
            Ends(total - below, int(low[0]), low[1], total - int(low[2]),
                 int(high[0]), high[1], total - int(high[2]))
        )  # fmt: skip
    return found


def levelled(values: Array, ends: Ends, limit: float) -> Array:
    """Rank (1 for the highest, ties share the best) and mean of each value's level, as columns."""
    begins = np.concatenate([[True], np.diff(values) > limit]) if len(values) else np.zeros(0, bool)
    level = np.cumsum(begins) - 1
    sizes = np.bincount(level)
    sums = np.bincount(level, weights=values)
    above = ends.above + len(values) - np.cumsum(sizes)
    if len(sizes):
        sizes[0], sums[0], above[0] = ends.low_size, ends.low_sum, ends.low_above
        sizes[-1], sums[-1], above[-1] = ends.high_size, ends.high_sum, ends.high_above
    means = np.where(sizes > 1, sums / np.maximum(sizes, 1), values[np.flatnonzero(begins)])
    return np.stack([1.0 + above[level], means[level]], axis=1)


def average_ranks(values: Array, below: int) -> Array:
    """Places from 1 up, lowest first; equal values share the mean of theirs."""
    first = np.searchsorted(values, values, side="left")
    last = np.searchsorted(values, values, side="right")
    return below + (first + last + 1) / 2


def how_many(values: Array) -> Array:
    """How often each value occurs."""
    first = np.searchsorted(values, values, side="left")
    return np.asarray(np.searchsorted(values, values, side="right") - first, dtype=np.float64)


def value_at(values: list[Array], place: int) -> Any:
    """The value at a place of a bucket."""
    return np.sort(np.concatenate(values))[place]


# -- joining what parts found ------------------------------------------------------------------


def added(*sums: Any) -> Any:
    """Add up sums over options (pairs of sums and sums on the side: both)."""
    if isinstance(sums[0], tuple):
        return tuple(added(*each) for each in zip(*sums, strict=True))
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return total


def extreme_ends(*ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """The smallest of the smallest and the largest of the largest positions."""
    lows, highs = zip(*ends, strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)
