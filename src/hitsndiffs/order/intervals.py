"""Sets that are intervals of one order: the PQ-tree of all orders that keep them together.

If one perfect order is known, nothing has to be reduced. Two intervals *overlap* when they share
places and neither contains the other. A chain of overlapping intervals can only be reversed as a
whole: it is a Q-node, with the intervals' ends as cuts. Every other interval, and every piece
between two cuts, is a P-node.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Ints
from hitsndiffs.order.pqtree.tree import PQTree

__all__ = ["count_orders", "tree_of_intervals"]

Ends = tuple[int, int]

#: Orders are not counted if there are more distinct options than this.
COUNTED_UP_TO = 100_000


def count_orders(
    first: npt.ArrayLike, last: npt.ArrayLike, n_users: int, *, up_to: int = COUNTED_UP_TO
) -> int | None:
    """Count the perfect orders of the distinct answer sheets, given one of them.

    ``first`` and ``last`` are the places of each option's first and last chooser in it. The result
    is ``None`` if there are more than ``up_to`` distinct options.

    >>> count_orders([0, 1, 2], [1, 2, 3], 4)  # a chain
    2
    >>> count_orders([0, 2], [1, 3], 4)  # two pairs of users with equal answers
    2
    >>> count_orders([0, 1, 2], [0, 1, 2], 3)  # three users who share nothing
    6
    """
    low, high = np.asarray(first, dtype=np.int64), np.asarray(last, dtype=np.int64) + 1
    # users with equal answers count as one: the only cuts are at the ends of the options
    cuts = np.unique(np.concatenate([[0, n_users], low, high]))
    low, high, pieces = np.searchsorted(cuts, low), np.searchsorted(cuts, high), len(cuts) - 1
    if len(_distinct(low, high, pieces)) > up_to:
        return None
    return tree_of_intervals(low, high - 1, pieces).n_orders()


def tree_of_intervals(first: Ints, last: Ints, places: int) -> PQTree:
    """Make the PQ-tree of the intervals from ``first`` to ``last``.

    Examples
    --------
    >>> print(tree_of_intervals(np.array([0, 1, 4]), np.array([2, 3, 5]), 6))
    {[0 {1 2} 3] {4 5}}
    """
    if places < 2:
        return PQTree(places)
    form: list[tuple[str, int]] = []
    place = 0
    for (low, _), (children, turning) in _nodes(_distinct(first, last + 1, places), places).items():
        form += [("leaf", leaf) for leaf in range(place, low)]
        form.append(("Q" if turning else "P", children))
        place = low
    form += [("leaf", leaf) for leaf in range(place, places)]
    return PQTree.of(form, places)


def _distinct(low: Ints, high: Ints, places: int) -> Ints:
    """The distinct sets that keep something together, one row each: begin and end."""
    ends = np.unique(low * (places + 1) + high)
    low, high = np.divmod(ends, places + 1)
    kept = (high - low > 1) & (high - low < places)
    found: Ints = np.stack([low[kept], high[kept]], axis=1)
    return found


def _nodes(ends: Ints, places: int) -> dict[Ends, tuple[int, bool]]:
    """The nodes of the tree, parents first: number of children, and whether it is a Q-node."""
    sets: dict[Ends, bool] = {(0, places): False} if places > 1 else {}
    lows, highs = ends[:, 0].tolist(), ends[:, 1].tolist()
    for part in _overlapping(ends):
        low, high = min(lows[k] for k in part), max(highs[k] for k in part)
        sets[low, high] = sets.get((low, high), False) or len(part) > 1
        if len(part) > 1:
            cuts = sorted({lows[k] for k in part} | {highs[k] for k in part})
            for between in pairwise(cuts):
                if between[1] - between[0] > 1:
                    sets.setdefault(between, False)
    inside: dict[Ends, list[int]] = {}  # how many sets lie directly in each, and their places
    above: list[Ends] = []
    for one in sorted(sets, key=lambda ends: (ends[0], -ends[1])):
        while above and above[-1][1] <= one[0]:
            above.pop()
        if above:
            inside[above[-1]][0] += 1
            inside[above[-1]][1] += one[1] - one[0]
        above.append(one)
        inside[one] = [0, 0]
    return {
        one: (n_sets + one[1] - one[0] - held, sets[one]) for one, (n_sets, held) in inside.items()
    }


def _overlapping(ends: Ints) -> Iterator[list[int]]:
    """Chains of overlapping sets, found from left to right with a stack.

    Sets that begin earlier are further down. When a set ends, all sets above it that are still
    open overlap it.
    """
    low, high = ends.T
    n = len(ends)
    # at the same place, ends come before beginnings, inner ends and outer beginnings first
    events = np.lexsort(
        (
            np.concatenate([-high, -low]),
            np.concatenate([np.ones(n), np.zeros(n)]),
            np.concatenate([low, high]),
        )
    )
    rank = [0] * n  # by the beginning
    lowest: list[int] = []  # for each part with open sets: the rank of its first set,
    parts: list[list[int]] = []  # its sets,
    n_open: list[int] = []  # and how many of them are open
    begun = 0
    for event in events.tolist():
        if event < n:
            rank[event] = begun
            lowest.append(begun)
            parts.append([event])
            n_open.append(1)
            begun += 1
            continue
        place = bisect_right(lowest, rank[event - n]) - 1
        for above in parts[place + 1 :]:
            parts[place] += above
        n_open[place:] = [sum(n_open[place:]) - 1]
        del lowest[place + 1 :], parts[place + 1 :]
        if not n_open[place]:
            lowest.pop()
            n_open.pop()
            yield parts.pop()
