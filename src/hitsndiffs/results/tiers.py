"""Tiers: groups of users that the data tell apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.probability import normal_cdf, normal_quantile
from hitsndiffs.results.uncertainty import beliefs_of

__all__ = ["tiers_of"]

Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: How sure a difference must be.
SURE = 0.95


def tiers_of(scores: Vector, errors: Vector, *, sure: float = SURE) -> Ints:
    """The tier of each user: 1 at the top.

    If the scores differ by no more than their errors explain (Cochran's test), all users are one
    tier. Otherwise each tier begins with the first user who is below the first of the tier before
    with probability ``sure``, given both users' errors and how much users differ in all. So the
    first users of two tiers are told apart; users of neighbouring tiers may not be.

    Parameters
    ----------
    scores, errors
        Scores and standard errors of users who can be compared; an error may be NaN (not known),
        which tells a user apart from nobody.
    sure
        How sure a difference must be.

    Examples
    --------
    >>> tiers_of(np.array([0.9, 0.88, 0.4, 0.1]), np.full(4, 0.05)).tolist()
    [1, 1, 2, 3]
    >>> tiers_of(np.array([0.9, 0.88, 0.4, 0.1]), np.full(4, 0.5)).tolist()
    [1, 1, 1, 1]
    """
    made = np.ones(len(scores), dtype=np.int64)
    known = np.flatnonzero(np.isfinite(scores) & np.isfinite(errors))
    if len(known) < 2 or not _differ(scores[known], errors[known], sure):
        return made
    beliefs = beliefs_of(scores[known], np.maximum(errors[known], 1e-12))
    order = np.argsort(-scores[known], kind="stable")
    mean, variance = beliefs.mean[order], beliefs.sd[order] ** 2
    ranked = scores[known][order]
    starts = [0]
    while True:
        first = starts[-1]
        z = (mean[first] - mean) / np.sqrt(variance[first] + variance)
        below = np.flatnonzero((normal_cdf(z) >= sure) & (ranked < ranked[first]))
        below = below[below > first]
        if len(below) == 0:
            break
        # users with the same score stay together
        starts.append(int(np.flatnonzero(ranked == ranked[below[0]])[0]))
    lowest = ranked[starts]  # the first score of each tier
    made[np.isfinite(scores)] = np.maximum(
        np.searchsorted(-lowest, -scores[np.isfinite(scores)], side="right"), 1
    )
    return made


def _differ(scores: Vector, errors: Vector, sure: float) -> bool:
    """Whether the scores differ by more than their errors explain.

    Cochran's Q against chi-square, by the approximation of Wilson and Hilferty.
    """
    weight = 1 / np.maximum(errors, 1e-12) ** 2
    centre = float(weight @ scores) / float(weight.sum())
    q, free = float(weight @ (scores - centre) ** 2), len(scores) - 1
    spread = 2 / (9 * free)
    z = ((q / free) ** (1 / 3) - (1 - spread)) / np.sqrt(spread)
    return bool(z > float(normal_quantile(np.array(sure))))
