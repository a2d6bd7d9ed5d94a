"""The strongest axes of the answers, and whether the second competes with the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.results.check import COMPETING
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.spectral import leading_axes

__all__ = ["LeadingAxes", "find_axes"]

#: Maximum users in the picture; of more, this many are taken evenly from best to worst.
DRAWN = 800

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LeadingAxes:
    """The strongest axes.

    Attributes
    ----------
    strengths
        Strengths of the axes, strongest first (at most 1).
    users
        The users in the picture.
    points
        Their positions on the first two axes.
    fifths
        The fifth of the ranking that each is in, 0 = weakest.
    """

    strengths: Vector
    users: npt.NDArray[np.int64]
    points: Vector
    fifths: npt.NDArray[np.int64]

    @property
    def competing(self) -> bool:
        """Whether the second axis is almost as strong as the first."""
        s = self.strengths
        return len(s) > 1 and bool(s[1] >= COMPETING * s[0])


def find_axes(ranking: Ranking) -> LeadingAxes:
    """Find the two strongest axes of the answers behind a ranking.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> sim = hnd.simulate("samejima", users=50, items=40, seed=1)
    >>> find_axes(hnd.rank(sim.responses, "hnd")).competing
    False
    """
    data = ranking.data
    order = ranking.order[ranking.components[ranking.order] == 0]
    empty = LeadingAxes(np.zeros(0), order[:0], np.zeros((0, 0)), order[:0])
    if len(order) < 3:
        return empty
    whole = len(order) == data.n_users
    numbers = np.arange(data.n_users) if whole else order
    part = data if whole else data.subset(order)[0]
    found = leading_axes(part, 2, seed=int(ranking.parameters.get("seed", 0)), tol=1e-8)
    if len(found.values) == 0:
        return empty
    scores = np.full((data.n_users, found.scores.shape[1]), np.nan)
    scores[numbers] = part.collect(found.scores)
    places = np.unique(np.linspace(0, len(order) - 1, min(DRAWN, len(order))).astype(np.int64))
    users = order[places]
    fifths = 4 - places * 5 // len(order)
    return LeadingAxes(np.asarray(found.values), users, scores[users], fifths)
