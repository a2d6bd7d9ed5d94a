"""The order of the users that a ranking shows, and whether it is certified consistent.

Scores leave ties open. Within a tie, users with equal answers always stand together. If different
answers tie, a consistent order among them is chosen where one exists: of three tied patterns, say,
one belongs in the middle. (The second axis does not see the order within a block of users who are
joined to the rest only by shared answers.)
"""

from __future__ import annotations

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.engines import Engine
from hitsndiffs.order.certificate import is_consecutive
from hitsndiffs.order.perfect import perfect_order
from hitsndiffs.order.ties import Levels, patterns

__all__ = ["ordered_users"]

#: Items in a first look: answers that follow no order break at the first or second item.
FIRST_LOOK = 3


def ordered_users(data: Engine, levels: Levels) -> tuple[Ints, bool]:
    """Sort the users who answered from best to worst, component by component.

    Returns their numbers, and whether every option's choosers are neighbours in this order.
    """
    pattern = patterns(data, users=levels.sharing)
    order = levels.sorted_by(pattern)
    if is_consecutive(data, order, FIRST_LOOK) and is_consecutive(data, order):
        return order, True
    if not _ties_could_mend(data, levels):
        return order, False
    # Of the perfect orders, the one that follows the levels, if any does.
    found = perfect_order(data, levels.level.astype(np.float64))
    if found is None or (np.diff(levels.level[found.order]) < 0).any():
        return order, False
    return found.order, True


def _ties_could_mend(data: Engine, levels: Levels) -> bool:
    """Whether reordering within ties might make the order consistent.

    Every option needs enough choosers to fill the levels between its first and its last.
    """
    sizes = levels.sizes
    if (sizes < 2).all():
        return False
    up_to = np.concatenate([[0], np.cumsum(sizes)])
    first, last = data.extremes(levels.level)
    between = np.where(last > first, up_to[last] - up_to[first + 1] + 2, 1)
    return bool((data.choosers_per_option >= between).all())
