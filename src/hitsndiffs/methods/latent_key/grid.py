"""Posteriors of ability on a grid that stay accurate when they are narrower than its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.methods.probability import STEADY, normal_quantile

__all__ = [
    "STEP",
    "THETA",
    "Posterior",
    "at_place",
    "nearest",
    "normal_log_prior",
    "normal_scores",
    "normalised",
    "posterior_of",
    "spread_about",
]

#: The grid of abilities, in units of the population's standard deviation.
THETA: Floats = np.linspace(-4.0, 4.0, 21)
STEP = float(THETA[1] - THETA[0])

#: A posterior narrower than this many steps is described by its derivatives at the peak.
NARROW_PEAK = 0.7
#: Derivatives (first to fourth, in steps) at the middle of five neighbouring values.
DERIVATIVES: Floats = np.array(
    [
        [1 / 12, -2 / 3, 0, 2 / 3, -1 / 12],
        [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12],
        [-1 / 2, 1, 0, -1, 1 / 2],
        [1, -4, 6, -4, 1],
    ]
)


@dataclass(frozen=True)
class Posterior:
    """What is known about each user's ability.

    Attributes
    ----------
    mean, sd
        Of each user's ability.
    log_evidence
        Log of the integral of likelihood × prior.
    """

    mean: Floats
    sd: Floats
    log_evidence: Floats


def normal_log_prior(mean: float = 0.0, sd: float = 1.0, points: Floats = THETA) -> Floats:
    """Log weights of a normal distribution on a grid (they sum to one)."""
    logs = -0.5 * ((points - mean) / sd) ** 2
    return np.asarray(logs - np.log(np.exp(logs).sum()))


def posterior_of(logs: Floats, points: Floats = THETA) -> tuple[Floats, Floats, Floats, Floats]:
    """Normalise log likelihood + log prior, one row per user; columns are evenly spaced.

    With many answers a posterior is narrower than the grid's steps, and normalising the values at
    the grid points would round every ability to one of them. Its logarithm is smooth though (the
    items' curves are wide), so its derivatives at the peak give mean and spread (Laplace's method,
    with skewness), and the weight is put on the grid points around the mean so that the mean is
    kept.

    Returns
    -------
    weights
        One row per user, one column per grid point; each row sums to 1 and has that mean.
    mean, sd, log_evidence
        See :class:`Posterior`.
    """
    top = logs.max(axis=1, keepdims=True)
    logs = logs - top
    return normalised(logs, np.exp(logs), top, points)


def normalised(
    logs: Floats, raised: Floats, top: Floats, points: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Like :func:`posterior_of`, given logs minus a constant ``top`` and their exponentials."""
    here = np.asarray(points, like=logs)
    total = raised.sum(axis=1, keepdims=True)
    weights = raised / total
    mean = weights @ here
    second = weights @ here**2
    variance = np.maximum(second - mean**2, 0.0)
    evidence = np.log(total).ravel()

    peak = logs.argmax(axis=1).clip(2, len(points) - 3)
    row = np.arange(len(logs), like=logs)
    bend = 2 * logs[row, peak] - logs[row, peak - 1] - logs[row, peak + 1]
    narrow = bend > 1 / NARROW_PEAK**2
    if narrow.any():
        step = float(points[1] - points[0])
        peak = peak[narrow]
        row = np.arange(len(peak), like=logs)
        around = logs[narrow][row[:, None], peak[:, None] + np.arange(-2, 3, like=logs)]
        offset, spread, evidence[narrow] = _laplace(around)
        mean[narrow] = here[peak] + step * offset
        variance[narrow] = step**2 * spread
        weights[narrow] = _between(offset, spread, peak, len(points))
    return weights, mean, np.sqrt(variance), evidence + top.ravel()


def nearest(values: Floats, points: Floats = THETA) -> Any:
    """The number of the point of an even grid that is nearest to each value."""
    place = np.rint((values - points[0]) / (points[1] - points[0]))
    return np.clip(place, 0, len(points) - 1).astype(np.int64)


def at_place(sums: Floats, place: Ints) -> Floats:
    """Each user's value at the user's place on the grid (the step of a pass over the data)."""
    return np.take_along_axis(sums, place[:, None], axis=1)


def normal_scores(data: Engine, scores: Floats) -> Any:
    """Each user's normal quantile by rank; scores that differ only by rounding share a rank.

    An engine's sums give equal sheets the same score only up to rounding. Ranking by such
    differences would make engines start from different places.
    """
    largest = float(abs(scores).max()) or 1.0
    steady = np.rint(scores * (10.0**STEADY / largest))
    return normal_quantile((data.average_ranks(steady) - 0.5) / data.n_users)


def spread_about(mean: Floats, sd: Floats) -> Any:
    """Weights on the grid, one row per user: normal about a mean, with a spread."""
    theta = np.asarray(THETA, like=mean)
    raised = np.exp(-0.5 * ((mean[:, None] - theta) / sd[:, None]) ** 2)
    return raised / raised.sum(axis=1, keepdims=True)


def _laplace(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and log integral of densities from five log values each (steps of 1)."""
    centre = values[:, 2]
    d1, d2, d3, d4 = np.asarray(DERIVATIVES, like=values) @ (values - centre[:, None]).T
    parabola = np.minimum(values[:, 1] + values[:, 3] - 2 * centre, -1e-12)
    x = np.clip(-(values[:, 3] - values[:, 1]) / 2 / parabola, -2.0, 2.0)
    for _ in range(4):  # Newton steps to the peak of the fourth-degree polynomial
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


def _between(offset: Floats, variance: Floats, peak: Ints, points: int) -> Floats:
    """Weights on three grid points with a given mean and, if possible, variance (in steps)."""
    nearest = np.clip(np.rint(offset), -1, 1).astype(np.int64)
    offset, peak = offset - nearest, peak + nearest
    second = np.clip(variance + offset**2, np.abs(offset), 1.0)
    weights = np.zeros((len(offset), points), like=offset)
    row = np.arange(len(offset), like=offset)
    weights[row, peak - 1] = (second - offset) / 2
    weights[row, peak] = 1 - second
    weights[row, peak + 1] = (second + offset) / 2
    return weights
