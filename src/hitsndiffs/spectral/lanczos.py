"""Largest axes of a symmetric operator, by Lanczos iterations that stop as soon as they can.

The best pairs in the basis are checked every few products, and the iteration ends when the
requested ones have settled. A full basis is cut down to its best directions (a thick restart).

One start finds only one of several equally strong axes. Before the result is returned, a few
products on another random direction check that no such axis was missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import acosh, ceil, log, sqrt

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.spectral.ritz import RitzBasis, RitzPairs

__all__ = ["Highest", "highest_pairs"]

#: Most directions held at a time, and the memory for them (bytes).
MOST_HELD, MEMORY = 80, 256 * 2**20
#: A value without a vector counts as known when its error is this small, relative to its distance
#: from the next larger one.
VALUE = 1e-4
#: Rounding error of a product, relative to the largest value; residuals cannot get below it.
PRODUCT_ROUNDING = 4e-16
#: Accepted probability of missing an equally strong axis, and the most products spent on it.
MISSED, PROBES = 1e-3, 12


@dataclass(frozen=True)
class Highest:
    """The largest axes, from the largest value down.

    Attributes
    ----------
    values
        Eigenvalues: one for each vector, and those requested without a vector.
    vectors
        Unit eigenvectors, as columns.
    residuals
        ``‖A v - value v‖`` for each value, whether its vector is given or not.
    products
        How often the operator was applied.
    """

    values: Floats
    vectors: Floats
    residuals: Floats
    products: int


def highest_pairs(
    operator: Callable[[Floats], Floats],
    size: int,
    count: int,
    *,
    vectors: int | None = None,
    seed: int = 0,
    tol: float = 1e-12,
    max_products: int = 100_000,
    most: int = MOST_HELD,
) -> Highest:
    """Return the largest eigenpairs of a symmetric operator.

    Parameters
    ----------
    operator
        The product with a vector.
    size
        Length of the vectors.
    count
        How many values to find.
    vectors
        For how many of them (at least one) to find the vector; default: all. The other values are
        found well enough to tell how far they are from these.
    seed
        Seed of the random start.
    tol
        Residual to reach, relative to the largest absolute value.
    max_products
        Most products; after that the best result so far is returned.
    most
        Directions to hold at a time, as far as memory allows.

    Examples
    --------
    >>> found = highest_pairs(lambda x: np.arange(50.0) * x, 50, 2)
    >>> found.values.round(9).tolist(), int(np.abs(found.vectors[:, 0]).argmax())
    ([49.0, 48.0], 49)
    """
    count = min(count, size)
    vectors = count if vectors is None else min(vectors, count)
    rng = np.random.default_rng(seed)
    kept = count + 4
    most = min(size, max(2 * kept + 8, min(most, MEMORY // (16 * size))))
    basis = RitzBasis(operator, size, most)
    direction = rng.standard_normal(size)
    looked = 0  # directions held when the pairs were last looked at
    probes = 0  # products left in a search for missed axes
    searched = np.full(count, -np.inf)  # the values when that search began
    while basis.held < size and basis.products < max_products:
        # 1. widen the basis; if the direction adds nothing new, take a random one
        if not basis.add(direction):
            direction = rng.standard_normal(size)
            continue
        direction = basis.last_image
        probes = max(probes - 1, 0)
        is_due = basis.held == most or basis.held - looked > basis.held // 16  # often while cheap
        if probes or not is_due:
            continue

        # 2. the best pairs in it: have the requested ones settled, and was none missed?
        pairs = basis.pairs(count + 1)
        looked = basis.held
        unsettled = _first_unsettled(pairs, count, vectors, tol)
        if unsettled is not None:
            direction = pairs.errors[unsettled]
        else:
            risen = pairs.values[:count] > searched + VALUE * pairs.scale
            probes = _probes(pairs, count, size) if risen.any() else 0
            if probes == 0:
                break
            searched, direction = pairs.values[:count], rng.standard_normal(size)

        # 3. make room
        if basis.held + max(probes, 1) > most < size:
            basis.cut(kept)
            looked = basis.held
    found = basis.pairs(count)
    return Highest(found.values, found.vectors[:vectors].T, found.residuals, basis.products)


def _first_unsettled(pairs: RitzPairs, count: int, vectors: int, tol: float) -> int | None:
    """The first pair that is not known well enough; ``None`` if all are."""
    if len(pairs.values) <= count:
        return 0
    residuals, limit = pairs.residuals, max(tol, PRODUCT_ROUNDING * sqrt(len(pairs.errors[0])))
    for place in range(count):
        if residuals[place] <= limit * pairs.scale:
            continue
        if place < vectors:
            return place
        # a value's error is the squared residual over the distance to the next value
        apart = max(pairs.values[place] - pairs.values[place + 1], residuals[place])
        error = residuals[place] ** 2 / apart
        if error > VALUE * (pairs.values[place - 1] - pairs.values[place]):
            return place
    return None


def _probes(pairs: RitzPairs, count: int, size: int) -> int:
    """How many products on a random direction reveal any axis that was missed.

    A missed axis as strong as a value above the last would change the result. A random unit vector
    has a component of about 1/√size along it. Relative to the remaining axes, this component grows
    like a Chebyshev polynomial.
    """
    wanted = pairs.values[:count]
    above = wanted[wanted > wanted[-1] + 1e-9 * pairs.scale]
    if len(above) == 0:
        return 0
    if above[-1] <= 0:
        return PROBES
    ratio = min(max(pairs.values[count] / above[-1], 1e-9), 1 - 1e-9)
    needed = log(2 / MISSED * sqrt(size * ratio / (1 - ratio)) + 1) / acosh(2 / ratio - 1)
    return min(1 + ceil(needed), PROBES)
