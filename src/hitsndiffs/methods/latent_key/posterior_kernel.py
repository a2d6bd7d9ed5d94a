"""Posteriors on the grid in a compiled loop over users, for large data.

The mathematics is that of :func:`.grid.posterior_of`, which tests compare it with. A narrow
posterior, the usual case with many answers, needs five values about its peak and no exponential.
"""

from __future__ import annotations

from math import exp, log, pi, sqrt
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.compiling import FLOAT, array, kernel, read_only
from hitsndiffs.methods.latent_key.grid import NARROW_PEAK, THETA

__all__ = ["compiled_posterior_of"]


_GRID, _USERS = array(np.float64, 2), array(np.float64, 1)


def compiled_posterior_of(
    logs: Floats, points: Floats = THETA
) -> tuple[Floats, Floats, Floats, Floats]:
    """The same as :func:`.grid.posterior_of`."""
    weights = np.empty_like(logs)
    described = np.empty((3, len(logs)))
    _posteriors(np.ascontiguousarray(logs), points, 1 / NARROW_PEAK**2, weights, *described)
    return weights, *described


@kernel()
def _within(x: float, low: float, high: float) -> Any:
    return low if x < low else high if x > high else x


@kernel(read_only(np.float64, 2), read_only(np.float64, 1), FLOAT, _GRID, _USERS, _USERS, _USERS)
def _posteriors(
    logs: Floats,
    points: Floats,
    narrow: float,
    weights: Floats,
    mean: Floats,
    sd: Floats,
    evidence: Floats,
) -> None:
    n_points = len(points)
    step = points[1] - points[0]
    for user in range(len(logs)):
        own = logs[user]
        at = 0
        for point in range(1, n_points):
            if own[point] > own[at]:
                at = point
        top = own[at]
        peak = min(max(at, 2), n_points - 3)
        centre = own[peak]
        if 2 * centre - own[peak - 1] - own[peak + 1] <= narrow:
            total = first = second = 0.0
            for point in range(n_points):
                raised = exp(own[point] - top)
                weights[user, point] = raised
                total += raised
                first += raised * points[point]
                second += raised * points[point] ** 2
            for point in range(n_points):
                weights[user, point] /= total
            mean[user] = first / total
            sd[user] = sqrt(max(second / total - mean[user] ** 2, 0.0))
            evidence[user] = top + log(total)
            continue
        # Laplace's method: derivatives at the middle of five values, Newton steps to the peak
        a, b = own[peak - 2] - centre, own[peak - 1] - centre
        c, d = own[peak + 1] - centre, own[peak + 2] - centre
        d1 = (a - d) / 12 + (c - b) * 2 / 3
        d2 = (b + c) * 4 / 3 - (a + d) / 12
        d3 = (d - a) / 2 + b - c
        d4 = a + d - 4 * (b + c)
        parabola = min(b + c, -1e-12)
        x = _within(-(c - b) / 2 / parabola, -2.0, 2.0)
        for _ in range(4):
            slope = d1 + x * (d2 + x * (d3 / 2 + x * d4 / 6))
            bend = min(d2 + x * (d3 + x * d4 / 2), parabola / 4)
            x = _within(x - slope / bend, -2.0, 2.0)
        height = centre + x * (d1 + x * (d2 / 2 + x * (d3 / 6 + x * d4 / 24)))
        variance = -1 / min(d2 + x * (d3 + x * d4 / 2), parabola / 4)
        width = sqrt(variance)
        skew = _within((d3 + d4 * x) * variance * width, -1.0, 1.0)
        excess = _within(d4 * variance**2, -1.0, 1.0)
        evidence[user] = height + 0.5 * log(2 * pi * variance) + excess / 8 + 5 * skew**2 / 24
        offset = _within(x + width * skew / 2, -2.0, 2.0)
        spread = variance * max(1 + excess / 2 + skew**2, 0.25)
        mean[user] = points[peak] + step * offset
        sd[user] = step * sqrt(spread)
        # the weight on three points, with this mean and, if possible, this variance
        nearest = int(_within(np.rint(offset), -1.0, 1.0))
        offset -= nearest
        peak += nearest
        second = _within(spread + offset**2, abs(offset), 1.0)
        for point in range(n_points):
            weights[user, point] = 0.0
        weights[user, peak - 1] = (second - offset) / 2
        weights[user, peak] = 1 - second
        weights[user, peak + 1] = (second + offset) / 2
