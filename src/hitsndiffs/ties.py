"""Ties: equal answers share a score and a rank, and stay together in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.sums import Sums

__all__ = ["levelled", "members", "patterns", "ranks_of", "sorted_users", "tie_groups"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.integer[Any]]

#: Scores closer than this, relative to the largest score, are equal.
TIE = 1e-9


def patterns(
    sums: Sums, options: Vector | None = None, users: IntVector | None = None
) -> npt.NDArray[np.int64]:
    """Number the answer patterns: users with identical answers get the same number.

    With ``options`` (1 or 0 for each option) only the answers among those options count. With
    ``users`` only these are numbered, and all others get -1.

    A pattern's fingerprint is the pair of two random sums over the chosen options, which is the
    same to the last bit for identical rows; two different rows collide with probability ≈ 2⁻¹⁰⁰.
    """
    random = np.random.default_rng(20240513).standard_normal((sums.n_options, 2))
    if options is not None:
        random *= options[:, None]
    first, second = sums.choices(random[:, 0]), sums.choices(random[:, 1])
    numbers = np.full(sums.n_users, -1, dtype=np.int64)
    if users is None:
        users = np.arange(sums.n_users)
    else:
        first, second = first[users], second[users]
    order = _sorted_by(first, second)
    new = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    numbers[users[order]] = np.concatenate([[0], np.cumsum(new)]) if len(order) else []
    return numbers


def tie_groups(scores: Vector, tolerance: float = TIE) -> npt.NDArray[np.int64]:
    """Number the score levels from the highest (0) down; scores that differ by rounding share one.

    >>> tie_groups(np.array([1.0, 3.0, 3.0 + 1e-15, 2.0])).tolist()
    [2, 0, 0, 1]
    """
    scale = float(np.abs(scores).max(initial=0.0))
    order = np.argsort(-scores)
    steps = -np.diff(scores[order]) > tolerance * max(scale, 1e-300)
    groups = np.empty(len(scores), dtype=np.int64)
    groups[order] = np.concatenate([[0], np.cumsum(steps)]) if len(scores) else []
    return groups


def levelled(scores: Vector, tolerance: float) -> Vector:
    """Give scores that differ by no more than the tolerance (relative to the largest) their mean.

    >>> levelled(np.array([1.0, 3.0, 3.002, 2.0]), 1e-3).round(3).tolist()
    [1.0, 3.001, 3.001, 2.0]
    """
    groups = tie_groups(scores, tolerance)
    means: Vector = np.bincount(groups, weights=scores) / np.bincount(groups)
    return means[groups]


def sorted_users(level: IntVector, pattern: IntVector) -> npt.NDArray[np.int64]:
    """Users from best to worst; inside a score tie, users with equal answers stay together.

    Parameters
    ----------
    level
        Number of each user's score level (:func:`tie_groups`); negative: leave the user out.
    pattern
        Number of each user's answer pattern, for users who share a level at least.

    Examples
    --------
    >>> sorted_users(np.array([1, 0, 1, -1, 1]), np.array([7, -1, 3, -1, 7])).tolist()
    [1, 2, 0, 4]
    """
    users = np.flatnonzero(level >= 0)
    return users[_sorted_by(level[users], pattern[users])]


def _sorted_by(first: npt.NDArray[Any], then: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Do what ``np.lexsort((then, first))`` does, faster where ``first`` has few ties."""
    order = np.argsort(first)
    same = np.diff(first[order]) == 0
    tied = np.concatenate([same, [False]]) | np.concatenate([[False], same])
    some = np.sort(order[tied[: len(order)]])
    order[tied[: len(order)]] = some[np.lexsort((then[some], first[some]))]
    return order


def ranks_of(scores: Vector, components: IntVector) -> Vector:
    """Rank 1 = best, within each component; ties share the best rank; NaN without answers.

    >>> ranks_of(np.array([5.0, 7.0, 7.0, np.nan]), np.array([0, 0, 0, -1])).tolist()
    [3.0, 1.0, 1.0, nan]
    """
    ranks = np.full(len(scores), np.nan)
    for users in members(components):
        groups = tie_groups(scores[users])
        sizes = np.bincount(groups)
        ranks[users] = 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])[groups]
    return ranks


def members(components: IntVector) -> list[npt.NDArray[np.int64]]:
    """The users of each component, component after component; users without answers left out."""
    order = np.argsort(components, kind="stable")
    order = order[components[order] >= 0]
    cuts = np.flatnonzero(np.diff(components[order])) + 1
    return np.split(order, cuts) if len(order) else []
