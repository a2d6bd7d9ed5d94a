"""The strongest axis of a large operator, with the help of a cheap approximation.

A sample of the users gives a matrix that is close to the operator of all users. Its strongest axis
is the start, and its inverse turns the remaining error into the next step. The closer the two are,
the more each product with the large operator shrinks the error (by a factor of some hundred), so a
handful of passes over the data is enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.spectral.lanczos import Highest, highest_pairs
from hitsndiffs.spectral.repeated import REPEATED

__all__ = ["refined_pair"]

#: Tolerance for the axes of the approximation, and the finest tolerance for the operator's axis.
START, FINEST = 1e-4, 1e-11
#: Each product must reduce the error to this fraction or less, within this many products.
SHRINKS, MOST_PRODUCTS = 0.25, 10
#: If rounding stops progress, a residual of this many times the tolerance is accepted.
GOOD = 100
#: Tolerance of each step, which is solved with the approximation, and the most products with it.
ENOUGH, MOST_STEPS = 1e-5, 100
#: How exact the second value must be, relative to its distance from the first.
SECOND = 1e-3


def refined_pair(
    operator: Callable[[Floats], Floats],
    near: Floats,
    *,
    roughly: Callable[[Floats], Floats] | None = None,
    seed: int = 0,
    tol: float = 1e-12,
) -> Highest | None:
    """Return the largest eigenpair of a symmetric operator, and the second value.

    Parameters
    ----------
    operator
        The product with a vector.
    near
        A symmetric matrix close to the operator.
    roughly
        A faster but less exact product, for the first step and for the second value.
    seed, tol
        Seed of the search in the approximation, and the residual to reach (relative to the value).

    Returns
    -------
    Highest or None
        ``None`` if the matrix is not close enough, or the first two axes are equally strong.

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

    def distance(x: Floats) -> Floats:
        # the second term keeps this positive definite along the axis itself
        found: Floats = value * (x + first * (first @ x)) - near @ x
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
    # a value's error is the squared residual over the distance to the next value
    apart = max(float(start.values[1] - start.values[2]), off)
    if off**2 / apart > SECOND * (found - lower):
        return None
    return Highest(np.array([found, lower]), x[:, None], np.array([residual, off]), product + 1)


def _solved(operator: Callable[[Floats], Floats], right: Floats) -> Floats:
    """Solve a positive definite system to a few digits, by conjugate gradients."""
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
