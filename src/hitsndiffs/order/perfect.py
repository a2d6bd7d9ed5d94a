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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hitsndiffs.order.pqtree.tree import PQTree

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine

__all__ = ["PerfectOrder", "checked_order", "count_orders", "may_be_perfect", "perfect_order"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.int64]

#: A first look takes in this many users × options, of at least and at most this many users.
FIRST_CELLS, FEWEST_USERS, MOST_USERS = 200_000, 20, 200
#: Up to this many users × options, answers are asked for as whole sheets.
SHEET_CELLS = 10_000_000
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


def may_be_perfect(data: Engine, *, most_users: int = MOST_USERS) -> bool:
    """Whether some of the users, taken from all over the data, have a perfect order.

    If they have none, neither have all. The cost does not grow with the number of users.
    """
    some = int(np.clip(FIRST_CELLS // max(data.n_options, 1), FEWEST_USERS, most_users))
    n_users, users = data.n_users, None
    if not data.is_complete and not bool((answered := data.answers_per_user > 0).all()):
        users = np.flatnonzero(data.collect(answered))
        n_users = len(users)
    places = np.linspace(0, n_users - 1, min(some, n_users)).astype(np.int64)
    return _tree(data, places if users is None else users[places]) is not None


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
    >>> none = Responses.from_wide([["a", "x"], ["b", "x"], ["b", "y"], ["a", "y"]])
    >>> perfect_order(open_engine(none)) is None
    True
    """
    users = np.flatnonzero(data.collect(data.answers_per_user))
    marks = data.collect(data.fingerprints())[users]
    first_users, sheet = np.unique(marks, return_index=True, return_inverse=True)[1:]
    if len(first_users) > 2 * data.n_options + 1:
        return None
    tree = _tree(data, users[first_users])
    if tree is None:
        return None
    sizes = np.bincount(sheet)
    likes = np.zeros(len(sizes)) if guide is None else np.bincount(sheet, guide[users]) / sizes
    arranged, tied = tree.arranged(likes.tolist(), sizes.tolist())
    place = np.empty(len(sizes), dtype=np.int64)
    place[arranged] = np.arange(len(sizes))
    level = np.cumsum(np.logical_not(tied)) - 1
    by_place = np.argsort(place[sheet], kind="stable")
    return checked_order(data, users[by_place], level[place[sheet][by_place]])


def checked_order(
    data: Engine, order: IntVector, level: IntVector | None = None
) -> PerfectOrder | None:
    """An order of all users who answered as a perfect one, or None if it is not perfect."""
    positions = np.full(data.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    first, last = (np.asarray(ends, dtype=np.int64) for ends in data.extremes(positions))
    if (last - first + 1 != data.choosers_per_option).any():
        return None
    if level is None:  # users on one level lie between the same ends of options
        cuts = np.zeros(len(order) + 1, dtype=np.int64)
        cuts[first] = cuts[last + 1] = 1
        level = np.cumsum(cuts[:-1])
    return PerfectOrder(order, first, last, level)


def _tree(data: Engine, users: IntVector) -> PQTree | None:
    """The PQ-tree of some users; None as soon as an option does not fit."""
    options, leaves = _answers(data, users)
    sizes = np.bincount(options, minlength=data.n_options)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # Options with the same users are tried once: their users' random numbers have the same sum.
    numbers = np.random.default_rng(20240513).standard_normal(len(users))
    sums = np.bincount(options, weights=numbers[leaves], minlength=data.n_options)
    tested = np.flatnonzero((sizes > 1) & (sizes < len(users)))
    once = tested[np.sort(np.unique(sums[tested], return_index=True)[1])]
    tree = PQTree(len(users))
    for option in once.tolist():
        if not tree._reduce(leaves[starts[option] : starts[option + 1]].tolist()):
            return None
    return tree


def _answers(data: Engine, users: IntVector) -> tuple[IntVector, IntVector]:
    """The options that some users chose and who chose them (0, 1, …), option after option."""
    if len(users) * data.n_options <= SHEET_CELLS:
        options, who = np.nonzero(data.sheets(users))
        return options.astype(np.int64), who.astype(np.int64)
    part, left = data.subset(users)
    indptr, chosen = part.responses.rows
    who = np.repeat(np.arange(len(users)), np.diff(indptr))
    by_option = np.argsort(chosen, kind="stable")
    return left[chosen[by_option]], who[by_option]


def count_orders(
    first: npt.ArrayLike, last: npt.ArrayLike, n_users: int, *, up_to: int = COUNTED_UP_TO
) -> int | None:
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
    up_to
        With more different options than this, ``None`` comes back.

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
    if len(ends) > up_to:
        return None
    sets, turning = _nested(ends, places)
    number = 1
    for size, children in _children(sets):
        number *= 2 if size in turning else math.factorial(children)
    return number


Ends = tuple[int, int]


def _nested(ends: IntVector, places: int) -> tuple[set[Ends], set[Ends]]:
    """The sets that must stand together in every order, and those that can only be turned round."""
    sets: set[Ends] = {(0, places)} if places > 1 else set()
    turning: set[Ends] = set()
    for part in _overlapping(ends):
        own = ends[part]
        whole = (int(own.min()), int(own.max()))
        sets.add(whole)
        if len(own) > 1:
            turning.add(whole)
            cuts = np.unique(own).tolist()
            sets.update((a, b) for a, b in pairwise(cuts) if b - a > 1)
    return sets, turning


def _overlapping(ends: IntVector) -> Iterator[IntVector]:
    """Parts of the options that overlap, one after the other."""
    low, high = ends.T
    later = low[:, None] < low[None, :]
    overlap = later & (low[None, :] < high[:, None]) & (high[:, None] < high[None, :])
    overlap |= overlap.T
    left = np.ones(len(ends), dtype=bool)
    for option in range(len(ends)):
        if left[option]:
            left[option] = False
            part = [np.array([option])]
            while len(part[-1]):
                reached = np.flatnonzero(overlap[part[-1]].any(axis=0) & left)
                left[reached] = False
                part.append(reached)
            yield np.concatenate(part)


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
