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

#: Users in a first look at what reordering within ties might do.
FIRST_LOOK = 1000


def ordered_users(data: Engine, levels: Levels) -> tuple[Ints, bool]:
    """Sort the users who answered from best to worst, component by component.

    Returns their numbers, and whether every option's choosers are neighbours in this order.
    """
    pattern = patterns(data, users=levels.sharing)
    order = levels.sorted_by(pattern)
    if is_consecutive(data, order):
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

    Every option needs enough choosers to fill the levels between its first and its last. If it has
    too few among some of the users, it has too few among all.
    """
    if (levels.sizes < 2).all():
        return False
    count = len(levels.order)
    users = levels.order[np.linspace(0, count - 1, min(count, FIRST_LOOK)).astype(np.int64)]
    level, sizes = np.unique(levels.level[users], return_inverse=True, return_counts=True)[1:]
    indptr, options = data.rows(users)
    of_answer = np.repeat(level, np.diff(indptr))
    first = np.full(data.n_options, len(sizes))
    last = np.zeros(data.n_options, dtype=np.int64)
    np.minimum.at(first, options, of_answer)
    np.maximum.at(last, options, of_answer)
    up_to = np.concatenate([[0], np.cumsum(sizes)])
    several = last > first
    between = up_to[last[several]] - up_to[first[several] + 1] + 2
    return bool((np.bincount(options, minlength=data.n_options)[several] >= between).all())
