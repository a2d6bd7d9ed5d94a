"""Users with very similar answers: who, and how many answers they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.alike import find_alike as similar
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.display_names import clean
from hitsndiffs.show.items_and_answers import chosen_options, right_answers

__all__ = ["Alike", "Pair", "find_alike"]

#: Maximum users in the picture, and maximum pairs in the list.
SHOWN_USERS, SHOWN_PAIRS = 30, 20

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two users with more equal answers than ability explains."""

    first: str
    second: str
    users: tuple[int, int]
    common: int
    same: int
    same_wrong: int


@dataclass(frozen=True)
class Alike:
    """Users who look alike.

    Attributes
    ----------
    n_users
        How many there are in all.
    users, names
        Up to ``SHOWN_USERS`` of them, the most alike next to each other.
    same
        Share of equal answers of each pair, over the items that both answered.
    pairs
        The most alike pairs, those with the most equal *wrong* answers first.
    """

    n_users: int
    users: npt.NDArray[np.int64]
    names: list[str]
    same: Array
    pairs: list[Pair]


def find_alike(ranking: Ranking) -> Alike:
    """Find the users with very similar answers, and compare them.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> sim = hnd.simulate("samejima", users=30, items=40, seed=1)
    >>> find_alike(hnd.rank(sim.responses)).n_users
    0
    """
    found = similar(ranking.responses)
    users = np.unique(np.concatenate([found.first[:SHOWN_PAIRS], found.second[:SHOWN_PAIRS]]))
    place = {int(user): number for number, user in enumerate(users)}
    chosen = chosen_options(ranking, users)
    right = right_answers(ranking, chosen)
    answered = (chosen >= 0).astype(float)
    common = answered @ answered.T
    equal = np.zeros_like(common)
    wrong = np.zeros_like(common)
    for j in range(len(users)):
        match = (chosen == chosen[j]) & (chosen >= 0)
        equal[j] = match.sum(axis=1)
        wrong[j] = (match & (right == 0)).sum(axis=1)
    same = np.divide(equal, common, out=np.full_like(equal, np.nan), where=common > 0)
    order = _side_by_side(same)[:SHOWN_USERS]
    names = [clean(user, 60) for user in ranking.users[users]]
    pairs = [
        Pair(
            names[i],
            names[j],
            (int(users[i]), int(users[j])),
            int(common[i, j]),
            int(equal[i, j]),
            int(wrong[i, j]),
        )
        for i, j in (
            (place[int(one)], place[int(other)])
            for one, other in zip(
                found.first[:SHOWN_PAIRS], found.second[:SHOWN_PAIRS], strict=True
            )
        )
    ]
    pairs.sort(key=lambda p: (-p.same_wrong, -p.same, p.first, p.second))
    return Alike(
        len(found.users),
        users[order],
        [names[j] for j in order],
        same[np.ix_(order, order)],
        pairs,
    )


def _side_by_side(same: Array) -> npt.NDArray[np.int64]:
    """An order in which each user is followed by the most similar one left."""
    m = len(same)
    if m == 0:
        return np.zeros(0, dtype=np.int64)
    known = np.nan_to_num(same)
    np.fill_diagonal(known, -1.0)
    order = [int(np.argmax(known.max(axis=1)))]
    left = set(range(m)) - set(order)
    while left:
        order.append(max(left, key=lambda j: (known[order[-1], j], -j)))
        left.remove(order[-1])
    return np.array(order, dtype=np.int64)
