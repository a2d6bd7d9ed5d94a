"""Perfect orders: whether one exists, which one to take, and how many there are.

An order is *perfect* when the choosers of every option are neighbours in it. Three steps, so that
data without such an order (the usual ones) cost next to nothing:

1. A part of perfectly ordered data is perfectly ordered too. So a few hundred users who cannot be
   ordered settle it.
2. The options' ends cut a perfect order into at most ``2 × options + 1`` pieces, and all users
   of a piece gave the same answers. More different answer sheets: no perfect order.
3. Else the PQ-tree of the different sheets decides, for any pattern of missing answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hitsndiffs.order.answer_patterns import Sheets
from hitsndiffs.order.pqtree.tree import PQTree

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine

__all__ = ["PerfectOrder", "may_be_perfect", "perfect_order"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.int64]

#: About this many cells of the data are looked at first, of at least and at most so many users.
FIRST_CELLS, FEWEST_USERS, MOST_USERS = 200_000, 50, 2_000
#: With more different options than this, orders are not counted (the time is quadratic in them).
COUNTED_UP_TO = 4_000


@dataclass(frozen=True)
class PerfectOrder:
    """An order in which every option's choosers are neighbours.

    Attributes
    ----------
    order
        User numbers from one end to the other; users without answers are not in it.
    first, last
        For each option, the places of its first and last chooser in the order.
    level
        For each place of the order the number of its level: users on one level have the same
        answers, or can change places and nothing says who is better.
    """

    order: IntVector
    first: IntVector
    last: IntVector
    level: IntVector

    @cached_property
    def steps(self) -> Vector:
        """For each place, how many options began or ended on the way to it from the first place.

        Equal within a level, and higher on every later level.
        """
        places = len(self.order)
        changes = np.bincount(self.first, minlength=places + 1)
        changes += np.bincount(self.last + 1, minlength=places + 1)
        changes[0] = 0
        gone = np.cumsum(changes[:places]).astype(np.float64)
        begins = np.flatnonzero(np.diff(self.level, prepend=-1))
        return np.repeat(gone[begins], np.diff(np.append(begins, places)))

    @cached_property
    def n_orders(self) -> int | None:
        """How many perfect orders of the different answer sheets there are, with their reverses.

        2 means: this one only. None where the data are too large to count them.
        """
        return count_orders(self.first, self.last, len(self.order))


def may_be_perfect(data: Engine) -> bool:
    """Whether some of the users, taken from all over the data, have a perfect order.

    If they have none, neither have all. The cost does not grow with the number of users.
    """
    users = np.flatnonzero(data.answers_per_user)
    some = int(np.clip(FIRST_CELLS // max(data.n_items, 1), FEWEST_USERS, MOST_USERS))
    if len(users) > some:
        users = users[np.linspace(0, len(users) - 1, some).astype(np.int64)]
    return _tree(Sheets(data.subset(users)[0].responses())) is not None


def perfect_order(data: Engine, guide: Vector | None = None) -> PerfectOrder | None:
    """Find a perfect order, or None if there is none.

    Parameters
    ----------
    data
        Responses with any pattern of missing answers.
    guide
        A score per user: where several orders are perfect, the one that follows these scores best
        is taken. What can change places and has the same score shares a level.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> r = Responses.from_wide([["a", None], ["b", "x"], ["b", "y"], ["a", "x"]])
    >>> found = perfect_order(open_engine(r))
    >>> found.order.tolist() in ([0, 3, 1, 2], [2, 1, 3, 0]), found.n_orders
    (True, 2)
    >>> perfect_order(open_engine(Responses.from_wide([["a", "x"], ["b", "x"], ["b", "y"],
    ...                                                ["a", "y"]]))) is None
    True
    """
    users = np.flatnonzero(data.answers_per_user)
    sheet, number = np.unique(data.fingerprints()[users], return_inverse=True)
    if len(sheet) > 2 * data.n_options + 1:
        return None
    n_users = np.bincount(number)
    representatives = np.full(len(sheet), data.n_users, dtype=np.int64)
    np.minimum.at(representatives, number, users)
    sheets = Sheets(data.subset(representatives)[0].responses())
    tree = _tree(sheets)
    if tree is None:
        return None
    likes = np.zeros(len(sheet)) if guide is None else np.bincount(number, guide[users]) / n_users
    # Sheets are numbered by their first users; go back to the numbers by fingerprint.
    own = np.array([members[0] for members in sheets.members])
    arranged, tied = tree.arranged(likes[own], n_users[own])
    place = np.empty(len(sheet), dtype=np.int64)
    place[own[arranged]] = np.arange(len(sheet))
    level = np.cumsum(np.logical_not(tied)) - 1
    by_place = np.argsort(place[number], kind="stable")
    return _checked(data, users[by_place], level[place[number]][by_place])


def _checked(data: Engine, order: IntVector, level: IntVector) -> PerfectOrder | None:
    """The order with the ends of the options, if every option's choosers are neighbours in it."""
    positions = np.full(data.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    first, last = data.extremes(positions)
    if (last - first + 1 != data.choosers_per_option).any():
        return None
    return PerfectOrder(order, np.asarray(first), np.asarray(last), level)


def _tree(sheets: Sheets) -> PQTree | None:
    """The PQ-tree of the sheets; None as soon as an option does not fit."""
    tree = PQTree(len(sheets))
    for option in sheets.distinct:
        if not tree._reduce(sheets.choosers(option)):
            return None
    return tree


def count_orders(first: npt.ArrayLike, last: npt.ArrayLike, n_users: int) -> int | None:
    """Count the perfect orders of different answer sheets, going by one of them.

    Two options *overlap* when they share users and neither holds all of the other's. Options that
    overlap, one after the other, can only be turned round together: a Q-node of the PQ-tree, with
    their ends as cuts. A set of users that must stand together without this is a P-node.

    Parameters
    ----------
    first, last
        For each option, the places of its first and last chooser in a perfect order.
    n_users
        The number of places.

    Examples
    --------
    >>> count_orders([0, 1, 2], [1, 2, 3], 4)  # a chain
    2
    >>> count_orders([0, 2], [1, 3], 4)  # two pairs of users with equal answers
    2
    >>> count_orders([0, 1, 2], [0, 1, 2], 3)  # three users who share nothing
    6
    """
    low, high = np.asarray(first, dtype=np.int64), np.asarray(last, dtype=np.int64) + 1
    # users with equal answers are one: the ends of the options are all the cuts there are
    cuts = np.unique(np.concatenate([[0, n_users], low, high]))
    places = len(cuts) - 1
    ends = np.unique(
        np.stack([np.searchsorted(cuts, low), np.searchsorted(cuts, high)], axis=1), axis=0
    )
    ends = ends[(ends[:, 1] - ends[:, 0] > 1) & (ends[:, 1] - ends[:, 0] < places)]
    if len(ends) > COUNTED_UP_TO:
        return None
    sets, turning = _nested(ends, places)
    number = 1
    for size, children in _children(sets):
        number *= 2 if size in turning else math.factorial(children)
    return number


Ends = tuple[int, int]


def _nested(ends: IntVector, places: int) -> tuple[set[Ends], set[Ends]]:
    """The sets that must stand together in every order, and those that can only be turned round."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    low, high = ends.T
    overlap = (
        (low[:, None] < low[None, :])
        & (low[None, :] < high[:, None])
        & (high[:, None] < high[None, :])
    )
    part = connected_components(csr_matrix(overlap), directed=False)[1]
    sets: set[Ends] = {(0, places)} if places > 1 else set()
    turning: set[Ends] = set()
    for number in range(part.max(initial=-1) + 1):
        own = ends[part == number]
        whole = (int(own.min()), int(own.max()))
        sets.add(whole)
        if len(own) > 1:
            turning.add(whole)
            cuts = np.unique(own).tolist()
            sets.update((a, b) for a, b in pairwise(cuts) if b - a > 1)
    return sets, turning


def _children(sets: set[Ends]) -> list[tuple[Ends, int]]:
    """Each set with the number of the largest sets and single places inside it."""
    found: list[tuple[Ends, int]] = []
    open_: list[list[int]] = []  # first, end, children so far, covered so far

    def close() -> None:
        low, high, children, covered = open_.pop()
        found.append(((low, high), children + (high - low) - covered))

    for low, high in sorted(sets, key=lambda ends: (ends[0], -ends[1])):
        while open_ and open_[-1][1] <= low:
            close()
        if open_:
            open_[-1][2] += 1
            open_[-1][3] += high - low
        open_.append([low, high, 0, 0])
    while open_:
        close()
    return found
