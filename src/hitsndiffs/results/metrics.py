"""How well scores rank users, when their abilities are known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["accuracy", "average_ranks", "false_discoveries"]

Vector = npt.NDArray[np.float64]


def accuracy(true_abilities: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Spearman's rank correlation: 1 = the same order, -1 = the reverse.

    Ties share the mean of their ranks. Users with NaN in either are left out. NaN when nothing is
    left to compare (fewer than two users, or all equal on one side).

    Parameters
    ----------
    true_abilities, scores
        One number per user each; higher is better in both.

    Examples
    --------
    >>> accuracy([1, 2, 3, 4], [10, 20, 40, 30])
    0.8
    """
    a, b = np.asarray(true_abilities, dtype=float), np.asarray(scores, dtype=float)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"true_abilities and scores must be two lists of the same length; got shapes "
            f"{a.shape} and {b.shape}."
        )
    both = ~(np.isnan(a) | np.isnan(b))
    x, y = average_ranks(a[both]), average_ranks(b[both])
    if len(x) == 0:
        return float("nan")
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return min(1.0, max(-1.0, float(x @ y) / size)) if size > 0 else float("nan")


def average_ranks(values: Vector) -> Vector:
    """Ranks from 1 (smallest) up; equal values share the mean of their ranks.

    >>> average_ranks(np.array([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2)[group.reshape(-1)], dtype=np.float64)


def false_discoveries(p: Vector) -> Vector:
    """P-values adjusted so that of those below a level, at most that share is false.

    Benjamini and Hochberg (1995).

    >>> false_discoveries(np.array([0.01, 0.5, 0.02])).round(3).tolist()
    [0.03, 0.5, 0.03]
    """
    order = np.argsort(p)[::-1]
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return adjusted
