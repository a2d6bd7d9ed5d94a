"""Perfect orders: is this order one, is there any, which one to take, and how many there are.

An order is *perfect* when the choosers of every option are neighbours in it. It is a list of user
numbers from one end to the other that holds every user who answered something, once (among an
option's choosers, users without answers would count as a gap).

Three steps make data without a perfect order (the usual case) cost next to nothing:

1. Any part of perfectly ordered data is perfectly ordered too. So a few hundred users who cannot
   be ordered settle it.
2. The options' ends cut a perfect order into at most ``2 × options + 1`` pieces, and all users
   of a piece gave the same answers. With more distinct answer sheets there is no perfect order.
3. Otherwise the PQ-tree of the distinct sheets decides, for any pattern of missing answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.layouts import some_rows
from hitsndiffs.data.ones import Ones
from hitsndiffs.order.intervals import count_orders, tree_of_intervals
from hitsndiffs.order.numbering import PER_OPTION, USER_NUMBERS
from hitsndiffs.order.pqtree.tree import PQTree

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine
    from hitsndiffs.order.ties import Levels

__all__ = [
    "PerfectOrder",
    "checked_order",
    "is_consecutive",
    "may_be_perfect",
    "ordered_users",
    "perfect_order",
]

#: A first look covers this many users × options, with at least and at most this many users.
FIRST_CELLS, FEWEST_USERS, MOST_USERS = 200_000, 20, 200
#: Set elements per user to reduce before all sets are checked again; doubled each time.
FIRST_REDUCED = 4
#: Sums of whole numbers up to 2⁵³ are exact.
EXACT_BITS = 53


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
        For each place of the order, the number of its level: users on one level have the same
        answers, or can change places with nothing to say who is better.
    """

    order: Ints = field(metadata=USER_NUMBERS)
    first: Ints = field(metadata=PER_OPTION)
    last: Ints = field(metadata=PER_OPTION)
    level: Ints

    @cached_property
    def steps(self) -> Floats:
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
        """How many perfect orders of the distinct answer sheets there are, counting reverses.

        2 means only this one and its reverse. None if there are too many options to count them.
        """
        return count_orders(self.first, self.last, len(self.order))


# -- a given order --------------------------------------------------------------------------------


def is_consecutive(data: Engine, order: npt.ArrayLike) -> bool:
    """Whether the choosers of every option are neighbours in an order of the users.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> data = open_engine(Responses.from_wide([list("aa"), list("ab"), list("bb")]))
    >>> is_consecutive(data, [0, 1, 2]), is_consecutive(data, [0, 2, 1])
    (True, False)
    """
    return _ends(data, np.asarray(order, dtype=np.int64)) is not None


def checked_order(data: Engine, order: Ints, level: Ints | None = None) -> PerfectOrder | None:
    """An order of all users who answered, as a perfect order; None if it is not perfect."""
    ends = _ends(data, order)
    if ends is None:
        return None
    first, last = ends
    if level is None:  # users on one level lie between the same ends of options
        cuts = np.zeros(len(order) + 1, dtype=np.int64)
        cuts[first] = cuts[last + 1] = 1
        level = np.cumsum(cuts[:-1])
    return PerfectOrder(order, first, last, level)


def ordered_users(data: Engine, levels: Levels) -> tuple[Ints, bool]:
    """Sort the users who answered from best to worst, component by component.

    Scores leave ties open. Within a tie, users with equal answers always stand together. If
    different answers tie, a perfect order among them is chosen where one exists: of three tied
    patterns, say, one belongs in the middle.

    Returns their numbers, and whether every option's choosers are neighbours in this order.
    """
    order = levels.sorted_by(data)
    if is_consecutive(data, order):
        return order, True
    if (levels.sizes < 2).all() or not may_be_perfect(data, levels.level.astype(np.float64)):
        return order, False
    # of the perfect orders, the one that follows the levels, if any does
    found = perfect_order(data, levels.level.astype(np.float64))
    if found is None or (np.diff(levels.level[found.order]) < 0).any():
        return order, False
    return found.order, True


def _ends(data: Engine, order: Ints) -> tuple[Ints, Ints] | None:
    """The places of each option's first and last chooser; ``None`` if there are gaps between.

    If the choosers of an option are neighbours, the sum of their places says where the first of
    them stands. And of all sets of that many places with that sum, only neighbours have the
    smallest sum of squares. So the first pass over the data refuses nearly every order, and the
    second proves the others.
    """
    places = np.zeros(data.n_users, dtype=np.int64)
    places[order] = np.arange(len(order))
    counts = data.choosers_per_option
    sums = data.choosers(data.user_array(places.astype(np.float64))).astype(np.int64)
    first, rest = np.divmod(2 * sums - counts * (counts - 1), 2 * counts)
    if rest.any() or (first < 0).any() or (first + counts > len(order)).any():
        return None
    f, c = first.astype(object), counts.astype(object)
    squares_of_blocks = c * f**2 + f * c * (c - 1) + (c - 1) * c * (2 * c - 1) // 6
    if (_squares(data, places) != squares_of_blocks).any():
        return None
    return first, first + counts - 1


def _squares(data: Engine, places: Ints) -> Any:
    """For each option, the exact sum of its choosers' squared places (Python's whole numbers).

    Places are cut into digits so small that sums of their products are exact.
    """
    bits = max(1, (EXACT_BITS - data.n_users.bit_length()) // 2)
    length = max(1, -(-int(places.max(initial=0)).bit_length() // bits))
    digits = [(places >> (bits * k)) & (2**bits - 1) for k in range(length)]
    total: Any = 0
    for j, k in combinations_with_replacement(range(length), 2):
        products = data.user_array((digits[j] * digits[k]).astype(np.float64))
        sums = data.choosers(products).astype(np.int64).astype(object)
        total = total + (1 + (j != k)) * sums * 2 ** (bits * (j + k))
    return total


# -- any order ------------------------------------------------------------------------------------


def may_be_perfect(data: Engine, guide: Any = None, *, most_users: int = MOST_USERS) -> bool:
    """Whether a sample of users, taken from all over the data, has a perfect order.

    If the sample has none, neither have all users. The cost does not grow with the number of users.
    A ``guide`` (a user array of scores) that is nearly a perfect order saves time. If the sample
    would be half of the users or more, the answer is yes: checking them all takes hardly longer.
    """
    some = int(np.clip(FIRST_CELLS // max(data.n_options, 1), FEWEST_USERS, most_users))
    if data.n_users <= 2 * some:
        return True
    # a user without answers may stand anywhere
    users = np.linspace(0, data.n_users - 1, some).astype(np.int64)
    likes = np.zeros(some) if guide is None else data.collect(guide, users)
    return _Sets.of(data, users).order(likes) is not None


def perfect_order(data: Engine, guide: Floats | None = None) -> PerfectOrder | None:
    """Find a perfect order, or None if there is none.

    Parameters
    ----------
    data
        Responses with any pattern of missing answers.
    guide
        A score per user: of several perfect orders, the one that follows these scores best is
        taken. Users who can change places and have the same score share a level.

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
    sizes = np.bincount(sheet)
    likes = np.zeros(len(sizes)) if guide is None else np.bincount(sheet, guide[users]) / sizes
    sets = _Sets.of(data, users[first_users])
    found = sets.order(likes)
    if found is None:
        return None
    # of all orders that the sets allow, the one that follows the guide best
    tree = tree_of_intervals(*sets.extremes(found), len(found))
    places, tied = tree.arranged(likes[found].tolist(), sizes[found].tolist())
    place = np.empty(len(sizes), dtype=np.int64)
    place[found[places]] = np.arange(len(sizes))
    level = np.cumsum(np.logical_not(tied)) - 1
    by_place = np.argsort(place[sheet], kind="stable")
    return checked_order(data, users[by_place], level[place[sheet][by_place]])


@dataclass(frozen=True)
class _Sets:
    """The users who chose each option, as sets of leaves; only distinct sets, smallest first."""

    n_leaves: int
    sizes: Ints
    starts: Ints
    leaves: npt.NDArray[np.integer[Any]]

    @classmethod
    def of(cls, data: Engine, users: Ints) -> _Sets:
        """Make the sets of some users' options; these users are the leaves."""
        choosers = Ones(*data.rows(users), data.n_options).T
        sizes = np.diff(choosers.indptr)
        # Options with the same users are tried once: their users' random numbers have the same sum.
        sums = choosers @ np.random.default_rng(20240513).standard_normal(len(users))
        tested = np.flatnonzero((sizes > 1) & (sizes < len(users)))
        once = tested[np.unique(sums[tested], return_index=True)[1]]
        once = once[np.lexsort((once, sizes[once]))]
        return cls(len(users), sizes[once], *some_rows((choosers.indptr, choosers.indices), once))

    def extremes(self, order: Ints) -> tuple[Ints, Ints]:
        """For each set, the places of its first and last leaf in an order."""
        place = np.empty(self.n_leaves, dtype=np.int64)
        place[order] = np.arange(self.n_leaves)
        if not len(self.sizes):
            return self.sizes, self.sizes
        places = place[self.leaves]
        begins = self.starts[:-1]
        return np.minimum.reduceat(places, begins), np.maximum.reduceat(places, begins)

    def order(self, likes: Floats) -> Ints | None:
        """An order in which every set is consecutive, or None if there is none.

        A PQ-tree is reduced by sets that are not consecutive in its current order (the one that
        best follows ``likes``), smallest first, until there are none.
        """
        tree = PQTree(self.n_leaves)
        values, weights = likes.tolist(), [1] * self.n_leaves
        room = FIRST_REDUCED * self.n_leaves
        while True:
            order = np.array(tree.arranged(values, weights)[0], dtype=np.int64)
            first, last = self.extremes(order)
            broken = np.flatnonzero(last - first + 1 != self.sizes)
            if not len(broken):
                return order
            some = 1 + int(np.searchsorted(np.cumsum(self.sizes[broken]), room))
            for number in broken[:some].tolist():
                begin, end = self.starts[number : number + 2]
                if not tree.reduce(self.leaves[begin:end].tolist()):
                    return None
            room *= 2
