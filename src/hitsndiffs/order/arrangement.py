"""The order of the users that a ranking shows, and whether it is certified consistent.

Scores leave ties open. Users with equal answers always stand together in a tie; where different
answers tie, the order among them is chosen so that it is consistent, if that can be had: of three
tied patterns, say, one belongs in the middle (the second axis does not see how a block of users
that is joined to the rest by shared answers only is ordered within).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Sums
from hitsndiffs.order.certificate import is_consecutive, is_soon_broken
from hitsndiffs.order.consistency import consecutive_order
from hitsndiffs.order.ties import Levels, patterns

__all__ = ["ordered_users"]

IntVector = npt.NDArray[np.int64]

#: Up to this many answers are compared as they are; more of them by their sums.
FEW_ANSWERS = 200_000


def ordered_users(responses: Responses, sums: Sums, levels: Levels) -> tuple[IntVector, bool]:
    """Sort the users who answered from best to worst, component after component.

    Parameters
    ----------
    responses, sums
        The data.
    levels
        The users sorted by score.

    Returns
    -------
    order
        User numbers; users without answers are left out.
    consistent
        Whether every option's choosers are neighbours in it.
    """
    pattern = _patterns_of(levels.sharing, responses, sums)
    order = levels.sorted_by(pattern)
    if _is_consistent(responses, sums, order):
        return order, True
    if not _ties_could_mend(responses, sums, levels):
        return order, False
    mended = _with_ties_ordered(responses, order, levels.level, pattern)
    if _is_consistent(responses, sums, mended):
        return mended, True
    return order, False


def _is_consistent(responses: Responses, sums: Sums, order: IntVector) -> bool:
    if is_soon_broken(responses, order):
        return False
    return is_consecutive(sums, responses.choosers_per_option, order)


def _patterns_of(users: IntVector, responses: Responses, sums: Sums) -> IntVector:
    """Number the answer patterns of some users (-1: all others)."""
    if len(users) and not (responses.is_dense and len(users) * responses.n_items <= FEW_ANSWERS):
        return patterns(sums, users=users)
    numbers = np.full(responses.n_users, -1, dtype=np.int64)
    if len(users):
        sheets = np.ascontiguousarray(responses.codes[:, users].T)
        numbers[users] = np.unique(sheets, axis=0, return_inverse=True)[1].reshape(-1)
    return numbers


def _ties_could_mend(responses: Responses, sums: Sums, levels: Levels) -> bool:
    """Whether no option skips a whole level: else no order inside the ties is consistent."""
    sizes = levels.sizes
    if (sizes < 3).all():
        return False
    up_to = np.concatenate([[0], np.cumsum(sizes)])
    first, last = sums.extremes(levels.level)
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
