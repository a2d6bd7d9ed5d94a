"""How far to trust an order: tiers, rank intervals, chances of being among the best, reliability.

A score is an estimate with an error. Extreme scores with large errors are partly luck, so each
score is first pulled towards the overall mean by as much as the errors explain (empirical Bayes).
Ranks are then those of values drawn from the remaining uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.probability import normal_cdf, normal_quantile

__all__ = [
    "SURE",
    "Beliefs",
    "beliefs_of",
    "rank_intervals",
    "reliability",
    "spread_intervals",
    "tiers_of",
    "top_probabilities",
]

#: How sure a difference must be to tell users apart.
SURE = 0.95
#: Up to this many users ranks are drawn; beyond that they are computed from expected counts.
DRAWN_UP_TO = 3_000
DRAWS = 1_000
#: Large numbers of users are counted in this many groups, each on a grid of this many cells.
GROUPS, GRID = 12, 400


@dataclass(frozen=True)
class Beliefs:
    """What is known about each user's true score: a normal distribution (arrays of any engine)."""

    mean: Any
    sd: Any


@dataclass(frozen=True)
class Counts:
    """How many of ``n_users`` are expected above a value: ``expected`` above each of ``grid``.

    ``doubt`` says how uncertain the counts are: 0 if scores have no error, 1 if all is error.
    """

    grid: Floats
    expected: Floats
    n_users: int
    doubt: float

    def above(self, values: Floats) -> Floats:
        """The number of users expected above some values."""
        return np.interp(values, self.grid, self.expected)

    def intervals(self, mean: Floats, sd: Floats, level: float) -> tuple[Floats, Floats]:
        """Best and worst rank of some users."""
        z, m = -float(normal_quantile(np.array((1 - level) / 2))), self.n_users
        middle, low, high = (self.above(mean + side * sd) for side in (0.0, z, -z))
        # the number of users above a given value is uncertain too, not only the user's own score
        low = middle - np.hypot(middle - low, z * self._error(low))
        high = middle + np.hypot(high - middle, z * self._error(high))
        return np.floor(np.clip(low + 1, 1, m)), np.ceil(np.clip(high + 1, 1, m))

    def _error(self, count: Floats) -> Floats:
        """Standard error of a count: binomial, as far as it is in doubt."""
        return np.asarray(np.sqrt(np.maximum(count * (1 - count / self.n_users), 0.0) * self.doubt))


def reliability(scores: Floats, errors: Floats) -> float:
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


def beliefs_of(scores: Any, errors: Any) -> Beliefs:
    """Pull scores towards their mean by as much as their errors explain."""
    total = float(scores.var(ddof=1)) if len(scores) > 1 else 0.0
    true = max(total - float((errors**2).mean()), 1e-3 * total, 1e-300)
    share = true / (true + errors**2)
    weight = 1 / (true + errors**2)
    centre = float((weight * scores).sum()) / float(weight.sum())
    return Beliefs(centre + share * (scores - centre), np.sqrt(share) * errors)


def rank_intervals(
    scores: Floats,
    errors: Floats,
    level: float = 0.95,
    seed: int = 0,
    *,
    drawn_up_to: int = DRAWN_UP_TO,
) -> tuple[Floats, Floats]:
    """Best and worst rank that each of some comparable users may have, with the probability."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, for example 0.95; got {level!r}.")
    b = beliefs_of(scores, errors)
    if len(scores) > drawn_up_to:
        return _counts_here(b).intervals(b.mean, b.sd, level)
    tail = (1 - level) / 2
    low, high = np.quantile(_drawn_ranks(b, seed), [tail, 1 - tail], axis=0)
    return np.floor(low), np.ceil(high)


def spread_intervals(
    data: Engine, scores: Any, errors: Any, ranks: Any, level: float = 0.95
) -> Any:
    """Rank intervals for users of any engine, as two columns, computed from expected counts.

    An interval always includes the user's rank by score.
    """
    b = beliefs_of(scores, errors)
    place = partial(_interval_of, counts=_counts_there(data, b), level=level)
    return data.choices(np.empty((data.n_options, 0)), place, b.mean, b.sd, ranks)


def _interval_of(
    _: Floats, mean: Floats, sd: Floats, rank: Floats, *, counts: Counts, level: float
) -> Floats:
    low, high = counts.intervals(mean, sd, level)
    return np.stack([np.minimum(low, rank), np.maximum(high, rank)], axis=1)


def top_probabilities(
    scores: Floats, errors: Floats, k: int, seed: int = 0, *, drawn_up_to: int = DRAWN_UP_TO
) -> Floats:
    """Probability that each user is truly among the best ``k``."""
    b = beliefs_of(scores, errors)
    if k >= len(scores):
        return np.ones(len(scores))
    if len(scores) <= drawn_up_to:
        return np.asarray((_drawn_ranks(b, seed) <= k).mean(axis=0))
    edges = np.linspace(b.mean.min() - 4 * b.sd.max(), b.mean.max() + 4 * b.sd.max(), 4 * GRID)
    cut = float(np.interp(-k, -_counts_here(b).above(edges), edges))
    return np.asarray(normal_cdf((b.mean - cut) / np.maximum(b.sd, 1e-300)))


def _drawn_ranks(b: Beliefs, seed: int) -> npt.NDArray[np.int32]:
    rng = np.random.default_rng(seed)
    values = b.mean + b.sd * rng.standard_normal((DRAWS, len(b.mean)))
    ranks = np.empty(values.shape, dtype=np.int32)
    places = np.broadcast_to(np.arange(1, len(b.mean) + 1, dtype=np.int32), values.shape)
    np.put_along_axis(ranks, np.argsort(-values, axis=1), places, axis=1)
    return ranks


def _counts_here(b: Beliefs) -> Counts:
    """Count users in memory."""
    cuts = np.sort(b.sd)[_group_starts(len(b.sd))]
    edges = _edges(b)
    return _counts(b, len(b.mean), _in_cells(b.mean, b.sd, cuts=cuts, edges=edges))


def _counts_there(data: Engine, b: Beliefs) -> Counts:
    """Count users where they are: only the totals of the cells reach the caller."""
    cuts = np.array(data.values_at(b.sd, _group_starts(data.n_users)))
    counted = data.reduced(partial(_in_cells, cuts=cuts, edges=_edges(b)), b.mean, b.sd)
    return _counts(b, data.n_users, counted)


def _group_starts(n_users: int) -> list[int]:
    return [n_users * k // GROUPS for k in range(1, GROUPS)]


def _edges(b: Beliefs) -> Floats:
    low, high = float(b.mean.min()), float(b.mean.max())
    return np.linspace(low, max(high, low + 1e-300), GRID + 1)


def _in_cells(mean: Floats, sd: Floats, *, cuts: Floats, edges: Floats) -> Floats:
    """For each group and cell: users, sum of their means, sum of their squared errors."""
    group = np.searchsorted(cuts, sd, side="right")
    width = edges[1] - edges[0]
    cell = np.clip(((mean - edges[0]) / width).astype(np.int64), 0, GRID - 1)
    place = group * GRID + cell
    return np.stack(
        [np.bincount(place, weights, minlength=GROUPS * GRID) for weights in (None, mean, sd**2)],
        axis=1,
    )


def _counts(b: Beliefs, n_users: int, counted: Floats) -> Counts:
    """Counts from groups of users with similar errors, each in the cells of a grid."""
    reach = 5 * float(b.sd.max())
    grid = np.linspace(float(b.mean.min()) - reach, float(b.mean.max()) + reach, 4 * GRID)
    expected = np.zeros(len(grid))
    for counts, totals, squares in counted.reshape(GROUPS, GRID, 3).transpose(0, 2, 1):
        full = counts > 0
        if full.any():
            sd = max(float(np.sqrt(squares.sum() / counts.sum())), 1e-300)
            means = totals[full] / counts[full]
            expected += normal_cdf((means[None, :] - grid[:, None]) / sd) @ counts[full]
    open_part = float((b.sd**2).mean())
    doubt = open_part / max(float(b.mean.var()) + open_part, 1e-300)
    return Counts(grid, expected, n_users, doubt)


# -- tiers ------------------------------------------------------------------------------------


def tiers_of(scores: Floats, errors: Floats, *, sure: float = SURE) -> Ints:
    """The tier of each of some comparable users: 1 at the top.

    If the scores differ by no more than their errors explain (Cochran's test), all users are one
    tier. Otherwise each tier begins with the first user who is below the first of the tier before
    with probability ``sure``, given both users' errors and how much users differ in all. So the
    first users of two tiers are told apart; users of neighbouring tiers may not be. A user whose
    error is not known (NaN) is told apart from nobody.

    >>> tiers_of(np.array([0.9, 0.88, 0.4, 0.1]), np.full(4, 0.05)).tolist()
    [1, 1, 2, 3]
    >>> tiers_of(np.array([0.9, 0.88, 0.4, 0.1]), np.full(4, 0.5)).tolist()
    [1, 1, 1, 1]
    """
    made, scored = np.ones(len(scores), dtype=np.int64), np.isfinite(scores)
    known = np.flatnonzero(scored & np.isfinite(errors))
    if len(known) < 2 or not _differ(scores[known], errors[known], sure):
        return made
    known = known[np.argsort(-scores[known], kind="stable")]
    beliefs, ranked = beliefs_of(scores[known], np.maximum(errors[known], 1e-12)), scores[known]
    lowest = [ranked[0]]  # the first score of each tier
    first = 0
    while True:
        apart = (beliefs.mean[first] - beliefs.mean) / np.hypot(beliefs.sd[first], beliefs.sd)
        below = np.flatnonzero((normal_cdf(apart) >= sure) & (ranked < ranked[first]))
        if len(below) == 0:
            break
        # users with the same score stay together
        first = int(np.flatnonzero(ranked == ranked[below[0]])[0])
        lowest.append(ranked[first])
    made[scored] = np.maximum(np.searchsorted(-np.array(lowest), -scores[scored], side="right"), 1)
    return made


def _differ(scores: Floats, errors: Floats, sure: float) -> bool:
    """Whether the scores differ by more than their errors explain.

    Cochran's Q against chi-square, by the approximation of Wilson and Hilferty.
    """
    weight = 1 / np.maximum(errors, 1e-12) ** 2
    centre = float(weight @ scores) / float(weight.sum())
    q, free = float(weight @ (scores - centre) ** 2), len(scores) - 1
    spread = 2 / (9 * free)
    z = ((q / free) ** (1 / 3) - (1 - spread)) / np.sqrt(spread)
    return bool(z > float(normal_quantile(np.array(sure))))
