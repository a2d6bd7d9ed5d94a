"""The order of the users that a ranking shows, and whether it is certified consistent.

Scores leave ties open. Users with equal answers always stand together in a tie; where different
answers tie, the order among them is chosen so that it is consistent, if that can be had: of three
tied patterns, say, one belongs in the middle (the second axis does not see how a block of users
that is joined to the rest by shared answers only is ordered within).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.c1p.certificate import is_consecutive
from hitsndiffs.c1p.consistency import consecutive_order
from hitsndiffs.responses import Responses
from hitsndiffs.sums import Sums
from hitsndiffs.ties import members, patterns, sorted_users, tie_groups

__all__ = ["ordered_users"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.int64]


def ordered_users(
    responses: Responses, sums: Sums, scores: Vector, components: npt.NDArray[np.integer[Any]]
) -> tuple[IntVector, bool]:
    """Sort the users who answered from best to worst, component after component.

    Returns
    -------
    order
        User numbers; users without answers are left out.
    consistent
        Whether every option's choosers are neighbours in it.
    """
    level = _levels(scores, members(components))
    pattern = patterns(sums, users=_sharing(level))
    order = sorted_users(level, pattern)
    if is_consecutive(sums, responses.choosers_per_option, order):
        return order, True
    if not _ties_could_mend(responses, sums, level):
        return order, False
    mended = _with_ties_ordered(responses, order, level, pattern)
    if is_consecutive(sums, responses.choosers_per_option, mended):
        return mended, True
    return order, False


def _levels(scores: Vector, parts: list[IntVector]) -> IntVector:
    """Number the score ties, component after component, best first (-1: no answers)."""
    level = np.full(len(scores), -1, dtype=np.int64)
    first = 0
    for users in parts:
        level[users] = first + tie_groups(scores[users])
        first = int(level[users].max()) + 1
    return level


def _sharing(level: IntVector) -> IntVector:
    """Users who are not alone on their level."""
    answered = np.flatnonzero(level >= 0)
    return answered[np.bincount(level[answered])[level[answered]] > 1]


def _ties_could_mend(responses: Responses, sums: Sums, level: IntVector) -> bool:
    """Whether no option skips a whole level: else no order inside the ties is consistent."""
    sizes = np.bincount(level[level >= 0])
    if (sizes < 3).all():
        return False
    up_to = np.concatenate([[0], np.cumsum(sizes)])
    first, last = sums.extremes(level)
    between = np.where(last > first, up_to[last] - up_to[first + 1] + 2, 1)
    return bool((responses.choosers_per_option >= between).all())


def _with_ties_ordered(
    responses: Responses, order: IntVector, level: IntVector, pattern: IntVector
) -> IntVector:
    cuts = np.flatnonzero(np.diff(level[order])) + 1
    blocks = np.split(order, cuts)
    for place, users in enumerate(blocks):
        if len(np.unique(pattern[users])) > 2:
            found = consecutive_order(responses.restrict(users)[0])
            if found is not None:
                blocks[place] = users[found]
    return np.concatenate(blocks)
