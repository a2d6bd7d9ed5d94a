"""Ties: equal answers share a score and a rank, and stay together in any order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.engines import Engine

__all__ = ["Levels", "levelled", "members", "patterns", "tie_groups", "tie_limit"]


#: Scores closer than this, relative to the largest score, are equal.
TIE = 1e-9


def patterns(data: Engine, users: Ints | None = None) -> Ints:
    """Number the answer patterns: users with identical answers get the same number.

    With ``users``, only these are numbered; all others get -1.
    """
    if users is not None and len(users) == 0:
        return np.full(data.n_users, -1, dtype=np.int64)
    prints = data.collect(data.fingerprints())
    if users is None:
        return np.unique(prints, return_inverse=True)[1].reshape(-1)
    numbers = np.full(data.n_users, -1, dtype=np.int64)
    numbers[users] = np.unique(prints[users], return_inverse=True)[1].reshape(-1)
    return numbers


def tie_limit(scores: Any, tolerance: float = TIE) -> float:
    """How far apart two scores must be to differ by more than the (relative) tolerance."""
    largest = float(abs(scores).max()) if len(scores) else 0.0
    return tolerance * max(largest, 1e-300)


def tie_groups(scores: Floats, tolerance: float = TIE) -> Ints:
    """Number the score levels from the highest (0) down; scores that differ by rounding share one.

    >>> tie_groups(np.array([1.0, 3.0, 3.0 + 1e-15, 2.0])).tolist()
    [2, 0, 0, 1]
    """
    return _numbered(*_stepped(scores, tie_limit(scores, tolerance)))


def _stepped(scores: Floats, limit: float) -> tuple[Ints, Flags]:
    """The order from the highest score down, and whether a new level begins at each place."""
    order = np.argsort(-scores)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = -np.diff(scores[order]) > limit
    return order, begins


def _numbered(order: Ints, begins: Flags) -> Ints:
    level = np.empty(len(order), dtype=np.int64)
    level[order] = np.cumsum(begins) - 1
    return level


def levelled(data: Engine, scores: Any, tolerance: float) -> Any:
    """Give one value to scores no further apart than the tolerance (relative to the largest)."""
    return data.levelled(scores, tie_limit(scores, tolerance))


@dataclass(frozen=True)
class Levels:
    """The users of each component sorted by score, and who is level with whom.

    Attributes
    ----------
    order
        User numbers from best to worst, component by component; users without answers left out.
    level
        The number of each user's score level, counted in that order (-1: no answers).
    begins
        For each place of the order, whether a level begins there.
    starts
        Where in the order the components begin.
    """

    order: Ints
    level: Ints
    begins: Flags
    starts: Ints

    @classmethod
    def of(cls, scores: Floats, components: Ints) -> Levels:
        """Sort the users by their scores.

        >>> Levels.of(np.array([5.0, 7.0, 7.0, np.nan]), np.array([0, 0, 0, -1])).level.tolist()
        [1, 0, 0, -1]
        """
        parts = members(components)
        if len(parts) == 1 and len(parts[0]) == len(scores):
            order, begins = _stepped(scores, tie_limit(scores))
            return cls(order, _numbered(order, begins), begins, np.zeros(1, dtype=np.int64))
        orders, cuts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=bool)]
        for users in parts:
            order, begins = _stepped(scores[users], tie_limit(scores[users]))
            orders.append(users[order])
            cuts.append(begins)
        order, begins = np.concatenate(orders), np.concatenate(cuts)
        level = np.full(len(scores), -1, dtype=np.int64)
        level[order] = np.cumsum(begins) - 1
        starts = np.cumsum([0, *(len(users) for users in parts)])[:-1]
        return cls(order, level, begins, starts)

    @cached_property
    def _shared(self) -> Flags:
        """For each place of the order, whether the user there shares the level with another."""
        alone = self.begins.copy()
        alone[:-1] &= self.begins[1:]
        return np.logical_not(alone)

    @property
    def sharing(self) -> Ints:
        """Users who are not alone on their level, in the order of the data."""
        return np.sort(self.order[self._shared])

    @property
    def sizes(self) -> Ints:
        """How many users there are on each level."""
        firsts = np.flatnonzero(self.begins)
        return np.diff(np.concatenate([firsts, [len(self.order)]]))

    @property
    def ranks(self) -> Floats:
        """Rank 1 = best, within each component; ties share the best rank; NaN without answers.

        >>> Levels.of(np.array([5.0, 7.0, 7.0, np.nan]), np.array([0, 0, 0, -1])).ranks.tolist()
        [3.0, 1.0, 1.0, nan]
        """
        places = np.arange(len(self.order))
        first = np.maximum.accumulate(np.where(self.begins, places, 0))
        if len(self.starts) > 1:
            first -= np.repeat(self.starts, np.diff([*self.starts, len(places)]))
        ranks = np.full(len(self.level), np.nan)
        ranks[self.order] = 1.0 + first
        return ranks

    def sorted_by(self, pattern: Ints) -> Ints:
        """The order with users of equal answers side by side on each level.

        ``pattern``: the number of each user's answer pattern, at least for :attr:`sharing` users.

        >>> levels = Levels.of(np.array([1.0, 2.0, 1.0, 1.0]), np.zeros(4, dtype=int))
        >>> levels.sorted_by(np.array([7, -1, 3, 7])).tolist()
        [1, 2, 0, 3]
        """
        order, users = self.order.copy(), self.sharing
        order[self._shared] = users[np.lexsort((pattern[users], self.level[users]))]
        return order


def members(components: Ints) -> list[Ints]:
    """The users of each component in turn; users without answers are left out."""
    if components.max(initial=-1) <= 0:  # one component at most: nothing to sort
        users = np.flatnonzero(components >= 0)
        return [users] if len(users) else []
    order = np.argsort(components, kind="stable")
    order = order[components[order] >= 0]
    cuts = np.flatnonzero(np.diff(components[order])) + 1
    return np.split(order, cuts) if len(order) else []
