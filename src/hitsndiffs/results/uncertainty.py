"""How far to trust an order: rank intervals, chances of being among the best, reliability.

A score is an estimate with an error. Extreme scores with large errors are partly luck, so each
score is first pulled towards the overall mean by as much as the errors explain (empirical Bayes).
Ranks are then those of values drawn from the remaining uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.progress import tracked
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.probability import normal_cdf, normal_quantile

__all__ = [
    "Beliefs",
    "beliefs_of",
    "half_sample_errors",
    "rank_intervals",
    "reliability",
    "spread_intervals",
    "top_probabilities",
]

Vector = npt.NDArray[np.float64]

#: Up to this many users ranks are drawn; beyond that they are computed from expected counts.
DRAWN_UP_TO = 3_000
DRAWS = 1_000
#: Cells of the grids on which large groups are counted.
GRID = 400


@dataclass(frozen=True)
class Beliefs:
    """What is known about each user's true score: a normal distribution."""

    mean: Vector
    sd: Vector


def reliability(scores: Vector, errors: Vector) -> float:
    """Share of the scores' variance that is not error: how well the order would repeat.

    1 means that other items of the same kind would give the same order, 0 that the order is luck.

    >>> reliability(np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.1, 0.1])).__round__(2)
    0.99
    """
    known = np.isfinite(scores) & np.isfinite(errors)
    if known.sum() < 2:
        return float("nan")
    total = float(np.var(scores[known], ddof=1))
    if total <= 0:
        return 0.0
    return float(np.clip(1 - np.mean(errors[known] ** 2) / total, 0.0, 1.0))


def beliefs_of(scores: Vector, errors: Vector) -> Beliefs:
    """Pull scores towards their mean by as much as their errors explain."""
    total = float(np.var(scores, ddof=1)) if len(scores) > 1 else 0.0
    true = max(total - float(np.mean(errors**2)), 1e-3 * total, 1e-300)
    share = true / (true + errors**2)
    centre = float(np.average(scores, weights=1 / (true + errors**2)))
    return Beliefs(centre + share * (scores - centre), np.sqrt(share) * errors)


def rank_intervals(
    scores: Vector,
    errors: Vector,
    level: float = 0.95,
    seed: int = 0,
    *,
    drawn_up_to: int = DRAWN_UP_TO,
) -> tuple[Vector, Vector]:
    """Best and worst rank that each user may have, with the given probability.

    Parameters
    ----------
    scores, errors
        Scores and standard errors of users who can be compared with each other.
    level
        Probability that the interval holds the true rank.
    seed
        Seed of the draws.
    drawn_up_to
        Up to this many users ranks are drawn; for more they are computed.
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, for example 0.95; got {level!r}.")
    b = beliefs_of(scores, errors)
    tail = (1 - level) / 2
    if len(scores) <= drawn_up_to:
        ranks = _drawn_ranks(b, seed)
        low, high = np.quantile(ranks, [tail, 1 - tail], axis=0)
        return np.floor(low), np.ceil(high)
    z = -float(normal_quantile(np.array(tail)))
    above = _counter(b)
    m = len(scores)
    middle, low, high = above(b.mean), above(b.mean + z * b.sd), above(b.mean - z * b.sd)
    # the number of users above a given value is uncertain too, not only the user's own score
    low = middle - np.hypot(middle - low, z * _count_error(b, low, m))
    high = middle + np.hypot(high - middle, z * _count_error(b, high, m))
    return np.floor(np.clip(low + 1, 1, m)), np.ceil(np.clip(high + 1, 1, m))


def spread_intervals(
    data: Engine, scores: Any, errors: Any, ranks: Any, level: float = 0.95
) -> Any:
    """Rank intervals for users of any engine, as two columns, computed from expected counts.

    An interval always includes the user's rank by score.

    Users are sorted into twelve groups by the size of their errors, and each group into cells. The
    number expected above a value follows from the cells' totals; only these reach the caller.
    """
    z = -float(normal_quantile(np.array((1 - level) / 2)))
    m = data.n_users
    total = float(scores.var(ddof=1))
    true = max(total - float((errors**2).mean()), 1e-3 * total, 1e-300)
    share = true / (true + errors**2)
    weight = 1 / (true + errors**2)
    centre = float((weight * scores).sum()) / float(weight.sum())
    mean, sd = centre + share * (scores - centre), np.sqrt(share) * errors
    low, high, widest = float(mean.min()), float(mean.max()), float(sd.max())
    cuts = np.array(data.values_at(sd, [m * k // 12 for k in range(1, 12)]))
    edges = np.linspace(low, max(high, low + 1e-300), GRID + 1)
    cells = partial(_in_cells, cuts=cuts, edges=edges)
    counted = data.reduced(cells, mean, sd).reshape(12, GRID, 3)
    grid = np.linspace(low - 5 * widest, high + 5 * widest, 4 * GRID)
    expected = np.zeros(len(grid))
    for group in counted:
        count = group[:, 0]
        if not count.any():
            continue
        group_sd = max(float(np.sqrt(group[:, 2].sum() / count.sum())), 1e-300)
        full = count > 0
        means = group[full, 1] / count[full]
        expected += normal_cdf((means[None, :] - grid[:, None]) / group_sd) @ count[full]
    spread = float(mean.var())
    open_share = float((sd**2).mean())
    doubt = open_share / max(spread + open_share, 1e-300)
    place = partial(_interval_of, grid=grid, expected=expected, z=z, m=m, doubt=doubt)
    return data.mapped(np.empty((data.n_options, 0)), place, mean, sd, ranks)


def _in_cells(mean: Vector, sd: Vector, *, cuts: Vector, edges: Vector) -> Vector:
    """For each group and cell: users, sum of their means, sum of their squared errors."""
    group = np.searchsorted(cuts, sd, side="right")
    width = edges[1] - edges[0]
    cell = np.clip(((mean - edges[0]) / width).astype(np.int64), 0, GRID - 1)
    place = group * GRID + cell
    return np.stack(
        [np.bincount(place, weights, minlength=12 * GRID) for weights in (None, mean, sd**2)],
        axis=1,
    )


def _interval_of(
    _: Vector, mean: Vector, sd: Vector, rank: Vector, *,
    grid: Vector, expected: Vector, z: float, m: int, doubt: float,
) -> Vector:  # fmt: skip
    """Best and worst rank of some users, from how many are expected above a value."""
    middle, low, high = (np.interp(mean + side * sd, grid, expected) for side in (0.0, z, -z))
    error_low, error_high = (
        np.sqrt(np.maximum(count * (1 - count / m), 0.0) * doubt) for count in (low, high)
    )
    low = middle - np.hypot(middle - low, z * error_low)
    high = middle + np.hypot(high - middle, z * error_high)
    low, high = np.floor(np.clip(low + 1, 1, m)), np.ceil(np.clip(high + 1, 1, m))
    return np.stack([np.minimum(low, rank), np.maximum(high, rank)], axis=1)


def top_probabilities(
    scores: Vector, errors: Vector, k: int, seed: int = 0, *, drawn_up_to: int = DRAWN_UP_TO
) -> Vector:
    """Probability that each user is truly among the best ``k``."""
    b = beliefs_of(scores, errors)
    if k >= len(scores):
        return np.ones(len(scores))
    if len(scores) <= drawn_up_to:
        return np.asarray((_drawn_ranks(b, seed) <= k).mean(axis=0))
    edges = np.linspace(b.mean.min() - 4 * b.sd.max(), b.mean.max() + 4 * b.sd.max(), 4 * GRID)
    counts = _counter(b)(edges)
    cut = float(np.interp(-k, -counts, edges))
    return np.asarray(normal_cdf((b.mean - cut) / np.maximum(b.sd, 1e-300)))


def half_sample_errors(
    n_items: int,
    score: Callable[[npt.NDArray[np.int64]], Vector],
    reference: Vector,
    repeats: int,
    seed: int = 0,
) -> Vector:
    """Standard errors from random halves of the items.

    The spread of half-sample scores around the full scores estimates the full scores' own error
    (the delete-half jackknife). No item enters twice, as it would in a bootstrap with replacement.
    A single item cannot be halved: NaN.

    Parameters
    ----------
    n_items
        Number of items.
    score
        Scores of all users from some items (NaN where a user answered none of them).
    reference
        Scores from all items.
    repeats
        Number of half samples.
    seed
        Seed of the halves.
    """
    half = n_items // 2
    if half == 0:
        return np.full_like(reference, np.nan)
    rng = np.random.default_rng(seed)
    total, count = np.zeros_like(reference), np.zeros_like(reference)
    for _ in tracked(range(repeats), "half of the items"):
        items = np.sort(rng.permutation(n_items)[:half])
        deviation = score(items) - reference
        known = np.isfinite(deviation)
        total[known] += deviation[known] ** 2
        count += known
    uneven = half / (n_items - half)  # 1 for an even number of items
    return np.where(count > 1, np.sqrt(uneven * total / np.maximum(count, 1)), np.nan)


def _drawn_ranks(b: Beliefs, seed: int) -> npt.NDArray[np.int32]:
    rng = np.random.default_rng(seed)
    values = b.mean + b.sd * rng.standard_normal((DRAWS, len(b.mean)))
    ranks = np.empty(values.shape, dtype=np.int32)
    places = np.broadcast_to(np.arange(1, len(b.mean) + 1, dtype=np.int32), values.shape)
    np.put_along_axis(ranks, np.argsort(-values, axis=1), places, axis=1)
    return ranks


def _counter(b: Beliefs) -> Callable[[Vector], Vector]:
    """How many users are expected above a value; users are first sorted into cells of a grid."""
    reach = 5 * float(b.sd.max())
    grid = np.linspace(b.mean.min() - reach, b.mean.max() + reach, 4 * GRID)
    expected = np.zeros(len(grid))
    for users in np.array_split(np.argsort(b.sd, kind="stable"), 12):
        sd = max(float(np.sqrt(np.mean(b.sd[users] ** 2))), 1e-300)
        counts, edges = np.histogram(b.mean[users], bins=GRID)
        totals = np.histogram(b.mean[users], bins=edges, weights=b.mean[users])[0]
        full = counts > 0
        means = totals[full] / counts[full]
        expected += normal_cdf((means[None, :] - grid[:, None]) / sd) @ counts[full]
    return lambda x: np.interp(x, grid, expected)


def _count_error(b: Beliefs, count: Vector, m: int) -> Vector:
    """Standard error of a count: zero if scores have no error, binomial if they are all error."""
    spread = float(np.var(b.mean))
    open_part = float(np.mean(b.sd**2))
    share = open_part / max(spread + open_part, 1e-300)
    return np.asarray(np.sqrt(np.maximum(count * (1 - count / m), 0.0) * share))
