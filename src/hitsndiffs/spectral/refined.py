"""The strongest axis of a large operator, with the help of a small one that is nearly the same.

A sample of the users gives a matrix that is close to the operator of all. Its strongest axis is a
start, and its inverse turns what is left of the error into the next step: every product with the
large operator makes the error about as many times smaller as the two are close (some hundred
times), so that a handful of passes over the data is enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hitsndiffs.spectral.lanczos import Highest, highest_pairs
from hitsndiffs.spectral.repeated import REPEATED

__all__ = ["refined_pair"]

Vector = npt.NDArray[np.float64]

#: How well the axes of the small matrix are found, and that of the large one at the most.
START, FINEST = 1e-4, 1e-11
#: Each product must leave less than this part of the error, for at most so many products.
SHRINKS, MOST_PRODUCTS = 0.25, 10
#: Where rounding stops it, a residual of so many times the tolerance will do.
GOOD = 100
#: How well each step is found from the small matrix, and in how many products with it.
ENOUGH, MOST_STEPS = 1e-5, 100
#: How exact the second value must be, relative to its distance from the first.
SECOND = 1e-3


def refined_pair(
    operator: Callable[[Vector], Vector],
    near: Vector,
    *,
    roughly: Callable[[Vector], Vector] | None = None,
    seed: int = 0,
    tol: float = 1e-12,
) -> Highest | None:
    """Return the largest eigenpair of a symmetric operator, and the second value.

    Parameters
    ----------
    operator
        The product with a vector.
    near
        A symmetric matrix that is nearly the same.
    roughly
        A product that is less exact and takes less time, for the first steps.
    seed, tol
        Of the search in the small matrix, and the residual to reach (relative to the value).

    Returns
    -------
    Highest or None
        ``None`` where the matrix is not near enough, or two axes are equally strong.

    Examples
    --------
    >>> exact = np.diag(np.arange(30.0))
    >>> near = exact + 1e-3 * np.cos(np.add.outer(np.arange(30.0), np.arange(30.0)))
    >>> found = refined_pair(lambda x: exact @ x, near)
    >>> found.values.round(3).tolist(), found.products < 8
    ([29.0, 28.0], True)
    """
    roughly, tol = roughly or operator, max(tol, FINEST)
    start = highest_pairs(lambda x: near @ x, len(near), 3, vectors=2, seed=seed, tol=START)
    if len(start.values) < 3 or start.values[0] - start.values[1] <= REPEATED * start.values[0]:
        return None
    first, second = start.vectors.T
    value = float(start.values[0])

    def distance(x: Vector) -> Vector:
        # along the axis itself, where the distance is none, nothing is to be mended
        found: Vector = value * (x + first * (first @ x)) - near @ x
        return found

    x, before = first, np.inf
    for product in range(1, MOST_PRODUCTS):
        image = roughly(x) if product == 1 else operator(x)
        found = float(x @ image)
        error = image - found * x
        residual = float(np.linalg.norm(error))
        if product > 1 and residual <= tol * found:
            break
        if not residual <= SHRINKS * before:
            if product > 1 and residual <= GOOD * tol * found:
                break
            return None
        before = residual
        x = x + _solved(distance, error)
        x = x / np.linalg.norm(x)
    else:
        return None
    other = second - x * (x @ second)
    other = other / np.linalg.norm(other)
    image = roughly(other)
    lower = float(other @ image)
    off = float(np.linalg.norm(image - lower * other - x * (x @ image)))
    # the error of a value is quadratic in the residual, over the distance to the next
    apart = max(float(start.values[1] - start.values[2]), off)
    if off**2 / apart > SECOND * (found - lower):
        return None
    return Highest(np.array([found, lower]), x[:, None], np.array([residual, off]), product + 1)


def _solved(operator: Callable[[Vector], Vector], right: Vector) -> Vector:
    """Solve a positive definite system, to some digits, by conjugate gradients."""
    x, left = np.zeros_like(right), right.copy()
    direction, size = left, float(left @ left)
    enough = ENOUGH**2 * size
    for _ in range(MOST_STEPS):
        if size <= enough:
            break
        image = operator(direction)
        length = size / float(direction @ image)
        x, left = x + length * direction, left - length * image
        size, before = float(left @ left), size
        direction = left + (size / before) * direction
    return x
