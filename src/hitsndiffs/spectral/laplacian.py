"""Three ways to find the Fiedler vector, the second smallest axis of ``L = D - C Cᵀ``.

The paper's two variants (Section III-F and Algorithm 2) cost m² a round because they hold ``D`` as
a matrix. Except on small data, ``lanczos`` builds no matrix: a round is one product with ``L``,
which takes two sums.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.spectral.axes import DENSE_UP_TO
from hitsndiffs.spectral.davidson import SMALL_RESIDUAL, lowest
from hitsndiffs.spectral.lanczos import highest_pairs
from hitsndiffs.spectral.operators import Laplacian
from hitsndiffs.spectral.repeated import REPEATED, colours, settled
from hitsndiffs.spectral.solvers import Solution, cumulated, iterate, refuse_large

__all__ = ["FIEDLER_SOLVERS", "fiedler"]

FIEDLER_SOLVERS = ("lanczos", "power", "direct")

#: Up to this many users, ``direct`` solves the dense matrix without iterating.
EIGH_UP_TO = 1000


def fiedler(
    data: Engine,
    solver: str,
    *,
    beta: float | None = None,
    seed: int = 0,
    tol: float = 1e-5,
    max_iterations: int = 100_000,
    eigh_up_to: int = EIGH_UP_TO,
) -> Solution:
    """Find the second smallest eigenvalue of ``L`` and its vector with one of the solvers.

    Parameters
    ----------
    data
        The data: at least two users, all with answers, one connected component.
    solver
        ``"lanczos"``, ``"power"`` or ``"direct"``. For up to 400 users, ``lanczos`` does what
        ``direct`` does.
    beta
        For ``power``: the shift of Algorithm 2 (default: the largest entry of ``D``).
    seed
        For the random start.
    tol
        ``power`` stops when the unit vector changes by at most this (L2).
    max_iterations
        Most rounds.
    eigh_up_to
        ``direct`` iterates on the dense matrix if there are more users than this.
    """
    L = Laplacian.of(data)
    largest = float(L.degrees.max())
    if solver == "power":
        shift = largest if beta is None else float(beta)
        return _power(L, shift, np.random.default_rng(seed), tol, max_iterations)
    if solver == "direct" or (solver == "lanczos" and len(L.degrees) <= DENSE_UP_TO):
        return _direct(L, largest, seed, max_iterations, eigh_up_to)
    if solver == "lanczos":
        ones = _ones(len(L.degrees))  # the known axis
        return lowest(L, L.degrees, ones, seed=seed, max_rounds=max_iterations)
    raise InputError(f"solver must be one of {', '.join(FIEDLER_SOLVERS)}; got {solver!r}.")


def _power(L: Laplacian, beta: float, rng: np.random.Generator, tol: float, limit: int) -> Solution:
    """Algorithm 2 (ABH-power), with ``D`` and ``βI`` as vectors."""

    def step(d: Floats) -> Floats:
        s = cumulated(d)  # s ← T s_diff
        s = L(s)  # w ← Cᵀ s;  s ← D s - C w
        return beta * d - np.diff(s)  # s_diff ← β s_diff - S s

    found = iterate(step, rng.uniform(size=len(L.degrees) - 1), tol, limit)
    return replace(found, vector=cumulated(found.vector), value=beta - found.value)


def _direct(L: Laplacian, beta: float, seed: int, limit: int, eigh_up_to: int) -> Solution:
    """ABH-direct: the dense Laplacian, solved outright or (as in the paper) by Lanczos."""
    m = len(L.degrees)
    refuse_large("direct", m)
    matrix = L.dense()
    if m <= eigh_up_to:
        from scipy.linalg import eigh

        values, vectors = eigh(matrix, subset_by_index=[0, min(m - 1, 2)])
        if m > 2 and values[2] - values[1] <= REPEATED * beta:
            values, vectors = eigh(matrix)
            vectors[:, 1:] = settled(-values[1:], vectors[:, 1:], colours(L.data)[0])
        s, values, rounds = vectors[:, 1], values[1:3], 1
    else:
        ones = _ones(m)

        def shifted(s: Floats) -> Floats:  # βI - L, without the known axis
            s = s - ones * (ones @ s)
            s = beta * s - matrix @ s
            return s - ones * (ones @ s)

        found = highest_pairs(shifted, m, 2, vectors=1, seed=seed, tol=1e-10, max_products=limit)
        s, values, rounds = found.vectors[:, 0], beta - found.values, found.products
    residual = float(np.linalg.norm(matrix @ s - values[0] * s)) / beta
    return Solution(s, float(values[0]), rounds, residual, residual <= SMALL_RESIDUAL, values)


def _ones(m: int) -> Floats:
    return np.full(m, 1 / np.sqrt(m))
