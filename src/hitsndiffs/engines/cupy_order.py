"""Levels of user arrays on a GPU: a chain of values with gaps of at most a limit becomes one value.

Reading and writing 100 million numbers at random places costs more than sorting them. So we sort
64-bit words, with a value (as a place between the smallest and the largest) in the upper bits and
the user in the lower bits, and write only to users who share a level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from hitsndiffs.engines.cupy_launch import cover, launch

__all__ = ["Levels", "histogram", "levels", "stepwise"]

Array = Any  # a cupy.ndarray

#: A limit must be at least this many steps of a word's value, to exceed rounding.
STEPS = 16


@dataclass(frozen=True)
class Levels:
    """Levelled values, and the order of the users.

    Attributes
    ----------
    values
        One per user; within a level, the midpoint of its ends.
    order
        Words whose lower bits hold the users, from the lowest value to the highest.
    bits
        How many bits hold the user.
    """

    values: Array
    order: Array
    bits: int

    def value_at(self, place: int) -> float:
        """The value at a place in sorted order, lowest first."""
        return float(self.values[int(self.order[place]) & ((1 << self.bits) - 1)])


def levels(x: Array, limit: float) -> Levels:
    """Give values in a chain the midpoint of its ends."""
    x = cp.ascontiguousarray(x, dtype=cp.float64)
    low, high = float(x.min()), float(x.max())
    bits = len(x).bit_length()
    step = (high - low) / (2.0 ** (64 - bits) - 1)
    if not 0 < step * STEPS <= limit < np.inf:
        return _by_sorting(x, limit)
    count, words = np.int64(len(x)), cp.empty(len(x), dtype=cp.uint64)
    launch(
        "words",
        (cover(len(x)),),
        (x, count, np.int32(bits), np.float64(low), np.float64(step), words),
    )
    words.sort()
    found, many = x.copy(), cp.zeros(1, dtype=cp.int32)
    launch(
        "chains",
        (cover(len(x)),),
        (words, x, count, np.int32(bits), np.uint64(limit / step), found, many),
    )
    if int(many[0]):  # some chain is too long for one thread
        return _by_sorting(x, limit)
    return Levels(found, words, bits)


def histogram(x: Array, edges: Any) -> Array:
    """How many values lie up to the first edge, from there up to the next, …, and beyond."""
    counts = cp.zeros(len(edges) + 1, dtype=cp.uint64)
    given = (x, np.int64(len(x)), np.int32(len(edges)), cp.asarray(edges, dtype=cp.float64))
    launch("histogram", (cover(len(x), most=2048),), (*given, counts))
    return counts


def stepwise(x: Array, edges: Any, values: Any, found: Array) -> None:
    """Write, for each ``x``, the value of the range between edges in which it lies."""
    given = (x, np.int64(len(x)), np.int32(len(edges)), cp.asarray(edges, dtype=cp.float64))
    launch("stepwise", (cover(len(x)),), (*given, cp.asarray(values, dtype=cp.float64), found))


def _by_sorting(x: Array, limit: float) -> Levels:
    """The same with CuPy's own functions."""
    order = cp.argsort(x)
    ordered = x[order]
    apart, end = cp.diff(ordered) > limit, cp.ones(1, dtype=bool)
    begins = cp.concatenate([end, apart])
    middles = (ordered[begins] + ordered[cp.concatenate([apart, end])]) / 2
    found = cp.empty_like(x)
    found[order] = middles[cp.cumsum(begins) - 1]
    return Levels(found, order, 62)
