"""Functions that depend on the order of all users, for values in memory."""

from __future__ import annotations

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints

__all__ = ["level_middles", "level_ranks"]


#: The range of the scores is cut into this many cells to find the few that are tied.
TIE_CELLS = 2**20


def level_middles(scores: Floats, limit: float) -> Floats:
    """Give scores in a chain (gaps of at most ``limit``) the midpoint of its ends.

    >>> level_middles(np.array([1.0, 3.0, 3.002, 2.0]), 0.01).round(3).tolist()
    [1.0, 3.001, 3.001, 2.0]
    """
    ordered = np.sort(scores)
    near = np.diff(ordered) <= limit
    if not near.any():
        return scores
    tied = _near_some(scores, ordered[:-1][near], ordered[1:][near])
    lows = ordered[np.concatenate([[True], ~near])]
    highs = ordered[np.concatenate([~near, [True]])]
    level = np.searchsorted(lows, scores[tied], side="right") - 1
    result = scores.copy()
    result[tied] = (lows[level] + highs[level]) / 2
    return result


def _near_some(scores: Floats, *some: Floats) -> Ints:
    """Users whose score is among ``some``, or by chance near one: faster than sorting again."""
    low, range_ = float(scores.min()), float(np.ptp(scores))
    if range_ == 0:
        return np.arange(len(scores))
    marked = np.zeros(TIE_CELLS + 1, dtype=bool)
    for values in some:
        marked[((values - low) * (TIE_CELLS / range_)).astype(np.int32)] = True
    return np.flatnonzero(marked[((scores - low) * (TIE_CELLS / range_)).astype(np.int32)])


def level_ranks(scores: Floats, limit: float) -> Floats:
    """Rank 1 is the highest; scores in a chain (gaps of at most ``limit``) share its best rank.

    >>> level_ranks(np.array([1.0, 3.0, 3.002, 2.0]), 0.01).tolist()
    [4.0, 1.0, 1.0, 3.0]
    """
    order = np.argsort(-scores, kind="stable")
    begins = np.concatenate([[True], -np.diff(scores[order]) > limit])[: len(order)]
    ranks = np.empty(len(scores))
    ranks[order] = 1.0 + np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    return ranks
