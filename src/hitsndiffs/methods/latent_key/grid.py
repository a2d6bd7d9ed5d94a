"""Abilities on a grid: posteriors that stay exact when they are narrower than its steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["STEP", "THETA", "Posterior", "normal_log_prior", "posterior_of", "spread_scores"]

Array = npt.NDArray[np.float64]

#: The grid of abilities, in units of the population's standard deviation.
THETA: Array = np.linspace(-4.0, 4.0, 21)
STEP = float(THETA[1] - THETA[0])

#: A posterior narrower than this many steps is taken as normal between the grid points.
NARROW = 0.8


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


def posterior_of(logs: Array) -> Posterior:
    """Normalise log likelihood + log prior, one row per user.

    With many answers a posterior is narrower than the grid's steps, and normalising the values at
    the grid points would round every ability to one of them. Its logarithm is smooth though (the
    items' curves are wide), so a parabola through the three highest points gives mean and spread,
    and the weight is laid on the grid points around the mean such that the mean is kept.
    """
    top = logs.max(axis=1, keepdims=True)
    raised = np.exp(logs - top)
    total = raised.sum(axis=1, keepdims=True)
    weights = raised / total
    mean = weights @ THETA
    second = weights @ THETA**2
    variance = np.maximum(second - mean**2, 0.0)
    evidence = (top + np.log(total)).ravel()

    peak = np.clip(logs.argmax(axis=1), 1, len(THETA) - 2)
    row = np.arange(len(logs))
    left, centre, right = logs[row, peak - 1], logs[row, peak], logs[row, peak + 1]
    bend = np.maximum(2 * centre - left - right, 1e-12)
    narrow = bend > 1 / NARROW**2
    if narrow.any():
        offset = np.clip(0.5 * (right - left) / bend, -1.0, 1.0)
        sharp_mean = THETA[peak] + STEP * offset
        sharp_variance = STEP**2 / bend
        height = centre + 0.5 * bend * offset**2
        evidence = np.where(narrow, height + 0.5 * np.log(2 * np.pi / bend), evidence)
        mean = np.where(narrow, sharp_mean, mean)
        variance = np.where(narrow, sharp_variance, variance)
        weights[narrow] = _between(offset[narrow], 1 / bend[narrow], peak[narrow])
    return Posterior(weights, mean, np.sqrt(variance), evidence)


def spread_scores(scores: Array, sd: float = 0.5) -> Array:
    """A first posterior from any scores: normal about each user's normal quantile."""
    from scipy.special import ndtri

    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    values = scores[order]
    # average ranks, so that ties share a place
    first = np.searchsorted(values, values, side="left")
    last = np.searchsorted(values, values, side="right")
    ranks[order] = (first + last) / 2
    z = ndtri(np.clip(ranks / len(scores), 0.5 / len(scores), 1 - 0.5 / len(scores)))
    raised = np.exp(-0.5 * ((z[:, None] - THETA) / sd) ** 2)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _between(offset: Array, variance: Array, peak: npt.NDArray[np.int64]) -> Array:
    """Weights on three grid points with a given mean and, where it can be, variance (in steps)."""
    second = np.maximum(variance + offset**2, np.abs(offset))
    second = np.minimum(second, 1.0)
    weights = np.zeros((len(offset), len(THETA)))
    row = np.arange(len(offset))
    weights[row, peak - 1] = (second - offset) / 2
    weights[row, peak] = 1 - second
    weights[row, peak + 1] = (second + offset) / 2
    return weights
