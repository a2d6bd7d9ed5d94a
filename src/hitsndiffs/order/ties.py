"""Ties: equal answers share a score and a rank, and stay together in any order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.engines import Engine

__all__ = ["TIE", "Levels", "members", "patterns", "tie_groups", "tie_limit"]

#: Scores closer than this, relative to the largest score, are equal.
TIE = 1e-9


def patterns(data: Engine) -> Ints:
    """Number the answer patterns: users with identical answers get the same number."""
    prints = data.collect(data.fingerprints())
    return np.unique(prints, return_inverse=True)[1].reshape(-1)


def tie_limit(scores: Any, tolerance: float = TIE) -> float:
    """How far apart two scores must be to differ by more than the (relative) tolerance."""
    largest = float(abs(scores).max()) if len(scores) else 0.0
    return tolerance * max(largest, 1e-300)


def tie_groups(scores: Floats) -> Ints:
    """Number the score levels from the highest (0) down; scores that differ by rounding share one.

    >>> tie_groups(np.array([1.0, 3.0, 3.0 + 1e-15, 2.0])).tolist()
    [2, 0, 0, 1]
    """
    return Levels.of(scores, np.zeros(len(scores), dtype=np.int64)).level


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
        orders, cuts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=bool)]
        for users in parts:
            own = users[np.argsort(-scores[users])]
            orders.append(own)
            cuts.append(np.append(True, -np.diff(scores[own]) > tie_limit(scores[users])))
        order, begins = np.concatenate(orders), np.concatenate(cuts)
        level = np.full(len(scores), -1, dtype=np.int64)
        level[order] = np.cumsum(begins) - 1
        return cls(order, level, begins, np.cumsum([0, *map(len, parts)])[:-1])

    @cached_property
    def _shared(self) -> Flags:
        """For each place of the order, whether the user there shares the level with another."""
        alone = self.begins.copy()
        alone[:-1] &= self.begins[1:]
        return np.logical_not(alone)

    @property
    def sizes(self) -> Ints:
        """How many users there are on each level."""
        return np.diff(np.append(np.flatnonzero(self.begins), len(self.order)))

    @property
    def ranks(self) -> Floats:
        """Rank 1 = best, within each component; ties share the best rank; NaN without answers.

        >>> Levels.of(np.array([5.0, 7.0, 7.0, np.nan]), np.array([0, 0, 0, -1])).ranks.tolist()
        [3.0, 1.0, 1.0, nan]
        """
        places = np.arange(len(self.order))
        first = np.maximum.accumulate(np.where(self.begins, places, 0))
        first -= np.repeat(self.starts, np.diff([*self.starts, len(places)]))
        ranks = np.full(len(self.level), np.nan)
        ranks[self.order] = 1.0 + first
        return ranks

    def sorted_by(self, data: Engine) -> Ints:
        """The order with users of equal answers side by side on each level.

        >>> from hitsndiffs import Responses
        >>> from hitsndiffs.engines import open_engine
        >>> levels = Levels.of(np.array([1.0, 2.0, 1.0, 1.0]), np.zeros(4, dtype=int))
        >>> data = open_engine(Responses.from_wide([["A"], ["A"], ["B"], ["A"]]))
        >>> levels.sorted_by(data).tolist() in ([1, 2, 0, 3], [1, 0, 3, 2])
        True
        """
        order, users = self.order.copy(), np.sort(self.order[self._shared])
        if len(users):
            prints = data.collect(data.fingerprints())[users]
            order[self._shared] = users[np.lexsort((prints, self.level[users]))]
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
