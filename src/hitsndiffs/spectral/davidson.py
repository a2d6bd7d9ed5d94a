"""Smallest axes of a symmetric operator with a known diagonal (Davidson's method).

Lanczos iterations treat all directions alike. Here every new direction is a residual divided by
``diagonal - value``. For a Laplacian of many users this is close to applying the inverse of the
shifted operator: one or two dozen rounds suffice instead of one or two hundred.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.spectral.ritz import RitzBasis
from hitsndiffs.spectral.solvers import Solution

__all__ = ["SMALL_RESIDUAL", "lowest"]

#: Most directions held at a time, and how many a restart keeps.
MOST_DIRECTIONS, RESTART_WITH = 16, 4
#: The search starts from this many users, those with the smallest diagonal entries.
CORNERS = 4
#: Residuals to reach for the axis and for the second value, relative to the largest diagonal entry,
#: and how many further rounds to search for the second.
TOL, SECOND_TOL, FURTHER_ROUNDS = 1e-11, 1e-5, 40
#: A vector with a residual this small, relative to the largest entry, counts as an eigenvector.
SMALL_RESIDUAL = 1e-7
#: Differences from the diagonal are kept this far from zero (relative to the largest entry).
NEAR_ZERO = 1e-6


def lowest(
    operator: Callable[[Floats], Floats],
    diagonal: Floats,
    known: Floats,
    *,
    seed: int = 0,
    max_rounds: int = 10_000,
) -> Solution:
    """Return the smallest axis of a symmetric operator but for a known one, and the next value.

    The residual is relative to the largest diagonal entry; the next value is left out if it was
    not found.

    Parameters
    ----------
    operator
        The product with a vector.
    diagonal
        The part that dominates the operator: for a Laplacian, the degrees.
    known
        The eigenvector to leave out.
    seed
        Seed of the random part of the start.
    max_rounds
        Most products with the operator.
    """
    size, scale = len(diagonal), float(np.abs(diagonal).max())
    basis = RitzBasis(operator, size, MOST_DIRECTIONS, lowest=True, known=known)
    found_after: int | None = None
    corners = np.argpartition(diagonal, min(CORNERS, size - 1))[:CORNERS]
    random = np.random.default_rng(seed).standard_normal(size)
    directions = [*(np.eye(1, size, corner)[0] for corner in corners), random / diagonal]
    while True:
        # 1. widen the basis
        for direction in directions:
            basis.add(direction, least=1e-12)

        # 2. the best pairs in it, and how far they are from eigenpairs
        pairs = basis.pairs(2)
        values, residuals = pairs.values, pairs.residuals / scale
        if residuals[0] <= TOL and found_after is None:
            found_after = basis.products
        second = len(values) > 1 and residuals[1] <= SECOND_TOL
        if basis.products >= max_rounds or (
            found_after is not None
            and (second or len(values) == 1 or basis.products >= found_after + FURTHER_ROUNDS)
        ):
            values = values if second else values[:1]
            residual = float(residuals[0])
            settled = residual <= SMALL_RESIDUAL
            vector, value = pairs.vectors[0], float(values[0])
            return Solution(vector, value, basis.products, residual, settled, values)

        # 3. where to look next
        if basis.held + 2 > MOST_DIRECTIONS:
            basis.cut(RESTART_WITH)
        directions = []
        for value, error in zip(values, pairs.errors, strict=True):
            distance = diagonal - value
            near = np.abs(distance) < NEAR_ZERO * scale
            directions.append(error / np.where(near, NEAR_ZERO * scale, distance))
