"""The order of user arrays on a GPU.

Sorting the numbers of users by 64-bit values costs eight passes over both. Here they are sorted by
32 bits, the place of the value between the smallest and the largest, which is half the passes over
less; values that share these bits are few and are put in order afterwards. The library's sort is
used where they are many.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from hitsndiffs.engines.cupy_launch import cover, launch

__all__ = ["in_order", "levels"]

Array = Any  # a cupy.ndarray


def in_order(x: Array) -> tuple[Array, Array]:
    """The users from the lowest value to the highest, and the values in that order."""
    low, high = float(x.min()), float(x.max())
    if not 0 < high - low < np.inf:
        order = cp.argsort(x)
        return order, x[order]
    count = np.int64(len(x))
    per_value = np.float64((2**32 - 1) / (high - low))
    scale = np.float64(low), per_value
    cells = cp.empty(len(x), dtype=cp.uint32)
    launch("cells", (cover(len(x)),), (x, count, *scale, cells))
    order = cp.argsort(cells)
    ordered, many = x[order], cp.zeros(1, dtype=cp.int32)
    launch("sort_runs", (cover(len(x)),), (ordered, order, count, *scale, many))
    if int(many[0]):
        order = cp.argsort(x)
        ordered = x[order]
    return order, ordered


def levels(x: Array, limit: float) -> tuple[Array, Array]:
    """Values in a chain get the middle of its ends; the same, and the same in order."""
    x = cp.ascontiguousarray(x, dtype=cp.float64)
    order, ordered = in_order(x)
    found, middles = cp.empty_like(x), cp.empty_like(x)
    many = cp.zeros(1, dtype=cp.int32)
    launch(
        "chain_middles",
        (cover(len(x)),),
        (ordered, order, np.int64(len(x)), np.float64(limit), found, middles, many),
    )
    if not int(many[0]):
        return found, middles
    apart, end = cp.diff(ordered) > limit, cp.ones(1, dtype=bool)
    begins = cp.concatenate([end, apart])
    ends = (ordered[begins] + ordered[cp.concatenate([apart, end])]) / 2
    middles = ends[cp.cumsum(begins) - 1]
    found[order] = middles
    return found, middles
