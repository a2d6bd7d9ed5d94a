"""Abilities on a grid: posteriors that stay exact when they are narrower than its steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.pool import Run
from hitsndiffs.methods.probability import normal_quantile

__all__ = ["STEP", "THETA", "Posterior", "normal_log_prior", "posterior_of", "spread_scores"]

Array = npt.NDArray[np.float64]

#: The grid of abilities, in units of the population's standard deviation.
THETA: Array = np.linspace(-4.0, 4.0, 21)
STEP = float(THETA[1] - THETA[0])

#: Users that are worked on at a time: what they need stays in the cache.
ROWS = 4096
#: A posterior narrower than this many steps is described by its derivatives at the peak.
NARROW = 0.7
#: Derivatives (first to fourth, in steps) at the middle of five neighbouring values.
DERIVATIVES: Array = np.array(
    [
        [1 / 12, -2 / 3, 0, 2 / 3, -1 / 12],
        [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12],
        [-1 / 2, 1, 0, -1, 1 / 2],
        [1, -4, 6, -4, 1],
    ]
)


@dataclass(frozen=True)
class Posterior:
    """What is known of each user's ability.

    Attributes
    ----------
    weights
        ``(n_users, n_grid)``; each row sums to 1 and has the posterior's mean.
    mean, sd
        Of each user's ability.
    log_evidence
        Log of the integral of likelihood × prior.
    """

    weights: Array
    mean: Array
    sd: Array
    log_evidence: Array


def normal_log_prior(mean: float = 0.0, sd: float = 1.0) -> Array:
    """Log weights of a normal distribution on the grid (they sum to one)."""
    logs = -0.5 * ((THETA - mean) / sd) ** 2
    return np.asarray(logs - np.log(np.exp(logs).sum()))


def posterior_of(logs: Array, threads: int = 1, points: Array = THETA) -> Posterior:
    """Normalise log likelihood + log prior, one row per user; many users in blocks, on threads.

    The columns belong to evenly spaced points of the grid.

    With many answers a posterior is narrower than the grid's steps, and normalising the values at
    the grid points would round every ability to one of them. Its logarithm is smooth though (the
    items' curves are wide), so its derivatives at the peak give mean and spread (Laplace's method,
    with skewness), and the weight is laid on the grid points around the mean such that the mean is
    kept.
    """
    m = len(logs)
    if m <= ROWS:
        return _posterior_of(logs, points)
    made = Posterior(np.empty_like(logs), np.empty(m), np.empty(m), np.empty(m))

    def work(block: int) -> None:
        rows = slice(block * ROWS, (block + 1) * ROWS)
        part = _posterior_of(logs[rows], points)
        made.weights[rows], made.mean[rows] = part.weights, part.mean
        made.sd[rows], made.log_evidence[rows] = part.sd, part.log_evidence

    Run(threads)(-(-m // ROWS), work)
    return made


def _posterior_of(logs: Array, points: Array) -> Posterior:
    step = float(points[1] - points[0])
    top = logs.max(axis=1, keepdims=True)
    raised = np.exp(logs - top)
    total = raised.sum(axis=1, keepdims=True)
    weights = raised / total
    mean = weights @ points
    second = weights @ points**2
    variance = np.maximum(second - mean**2, 0.0)
    evidence = (top + np.log(total)).ravel()

    peak = np.clip(logs.argmax(axis=1), 2, len(points) - 3)
    row = np.arange(len(logs))
    bend = 2 * logs[row, peak] - logs[row, peak - 1] - logs[row, peak + 1]
    narrow = bend > 1 / NARROW**2
    if narrow.any():
        peak = peak[narrow]
        around = logs[narrow][np.arange(len(peak))[:, None], peak[:, None] + np.arange(-2, 3)]
        offset, spread, evidence[narrow] = _laplace(around)
        mean[narrow] = points[peak] + step * offset
        variance[narrow] = step**2 * spread
        weights[narrow] = _between(offset, spread, peak, len(points))
    return Posterior(weights, mean, np.sqrt(variance), evidence)


def spread_scores(scores: Array, sd: float = 0.5) -> Array:
    """A first posterior from any scores: normal about each user's normal quantile."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    values = scores[order]
    # average ranks, so that ties share a place
    first = np.searchsorted(values, values, side="left")
    last = np.searchsorted(values, values, side="right")
    ranks[order] = (first + last) / 2
    z = normal_quantile(np.clip(ranks / len(scores), 0.5 / len(scores), 1 - 0.5 / len(scores)))
    raised = np.exp(-0.5 * ((z[:, None] - THETA) / sd) ** 2)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _laplace(values: Array) -> tuple[Array, Array, Array]:
    """Mean, variance and log integral of densities from five log values each (steps of 1)."""
    centre = values[:, 2]
    d1, d2, d3, d4 = DERIVATIVES @ (values - centre[:, None]).T
    parabola = np.minimum(values[:, 1] + values[:, 3] - 2 * centre, -1e-12)
    x = np.clip(-(values[:, 3] - values[:, 1]) / 2 / parabola, -2.0, 2.0)
    for _ in range(4):  # Newton's steps to the peak of the fourth-degree polynomial
        slope = d1 + x * (d2 + x * (d3 / 2 + x * d4 / 6))
        bend = np.minimum(d2 + x * (d3 + x * d4 / 2), parabola / 4)
        x = np.clip(x - slope / bend, -2.0, 2.0)
    height = centre + x * (d1 + x * (d2 / 2 + x * (d3 / 6 + x * d4 / 24)))
    variance = -1 / np.minimum(d2 + x * (d3 + x * d4 / 2), parabola / 4)
    skew = np.clip((d3 + d4 * x) * variance**1.5, -1.0, 1.0)
    excess = np.clip(d4 * variance**2, -1.0, 1.0)
    log_integral = height + 0.5 * np.log(2 * np.pi * variance) + excess / 8 + 5 * skew**2 / 24
    mean = np.clip(x + np.sqrt(variance) * skew / 2, -2.0, 2.0)
    return mean, variance * np.maximum(1 + excess / 2 + skew**2, 0.25), log_integral


def _between(
    offset: Array, variance: Array, peak: npt.NDArray[np.int64], points: int
) -> Array:
    """Weights on three grid points with a given mean and, where it can be, variance (in steps)."""
    nearest = np.clip(np.rint(offset), -1, 1).astype(np.int64)
    offset, peak = offset - nearest, peak + nearest
    second = np.clip(variance + offset**2, np.abs(offset), 1.0)
    weights = np.zeros((len(offset), points))
    row = np.arange(len(offset))
    weights[row, peak - 1] = (second - offset) / 2
    weights[row, peak] = 1 - second
    weights[row, peak + 1] = (second + offset) / 2
    return weights
