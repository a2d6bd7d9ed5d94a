"""Ways to find the axis of a method: four for HnD's ``U``, three for ABH's ``L``.

``power``, ``arnoldi``, ``deflation`` and ``direct`` are the paper's (Sections III-C and III-F, and
Algorithms 1 and 2). ``lanczos`` builds no matrix, except on small data: a round is one product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.spectral.axes import DENSE_UP_TO, leading_axes
from hitsndiffs.spectral.lanczos import highest_pairs
from hitsndiffs.spectral.operators import Averaging, Laplacian

__all__ = [
    "DIRECT_UP_TO",
    "FIEDLER_SOLVERS",
    "SOLVERS",
    "Solution",
    "cumulated",
    "fiedler",
    "iterate",
    "refuse_large",
    "solve",
]

SOLVERS = ("lanczos", "power", "arnoldi", "deflation")
FIEDLER_SOLVERS = ("lanczos", "power", "direct")

#: Variants that store an m × m matrix refuse more users than this (3.2 GB).
DIRECT_UP_TO = 20_000
#: Up to this many users, ``direct`` solves the dense matrix without iterating.
EIGH_UP_TO = 1000
#: A vector with a residual this small, relative to the largest entry of ``D``, is an axis of ``L``.
SMALL_RESIDUAL = 1e-7
#: Most products for the next value of ``L``, once the axis is found.
FURTHER = 40


@dataclass(frozen=True)
class Solution:
    """What a solver found: an axis, its eigenvalue, and how well it was found.

    Attributes
    ----------
    vector, value
        The axis (user scores) and its eigenvalue.
    iterations
        Rounds over the data.
    residual, converged
        How far from settled the solver stopped, and whether that is close enough.
    values
        Eigenvalues, strongest axis first, if the solver finds more than one.
    weights
        Option weights, if the solver finds them along with the axis: the vector is then
        ``U.scores(weights) / value``, with mean 0 and variance 1 over all answers.
    """

    vector: Floats
    value: float
    iterations: int
    residual: float
    converged: bool
    values: Floats | None = None
    weights: Floats | None = None


def iterate(
    step: Callable[[Floats], Floats], start: Floats, tol: float, max_iterations: int
) -> Solution:
    """Power iteration: the unit vector and its value; the residual is the last change.

    A step that maps the vector (numerically) to zero ends the iteration with the value 0.
    """
    d = start / np.linalg.norm(start)
    change = np.inf
    value = 0.0
    for rounds in range(1, max_iterations + 1):
        new = step(d)
        value = float(np.linalg.norm(new))
        if value < 1e-13:
            return Solution(d, 0.0, rounds, 0.0, True)
        new = new / value
        change = float(np.linalg.norm(new - d))
        d = new
        if change <= tol:
            return Solution(d, value, rounds, change, True)
    return Solution(d, value, max_iterations, change, False)


# -- HnD: the second axis of U --------------------------------------------------------------------


def solve(
    data: Engine,
    solver: str,
    *,
    seed: int = 0,
    tol: float = 1e-8,
    max_iterations: int = 20_000,
) -> Solution:
    """Find the second axis of ``U`` with one of :data:`SOLVERS`.

    Parameters
    ----------
    data
        The data: at least two users, all with answers, one connected component.
    solver
        ``"lanczos"``; ``"power"``, ``"arnoldi"`` and ``"deflation"`` as in the paper.
    tol
        ``power`` and ``deflation`` stop when the unit vector changes by at most this (L2).
    seed, max_iterations
        Of the random start; most rounds.
    """
    U = Averaging.of(data)
    rng = np.random.default_rng(seed)
    if solver == "lanczos":
        return _lanczos(data, seed, max_iterations)
    if solver == "power":
        return _power(U, rng, tol, max_iterations)
    if solver == "deflation":
        return _deflation(U, rng, tol, max_iterations)
    if solver == "arnoldi":
        return _arnoldi(U, rng, max_iterations)
    raise InputError(f"solver must be one of {', '.join(SOLVERS)}; got {solver!r}.")


def _lanczos(data: Engine, seed: int, limit: int) -> Solution:
    """The first axis of the symmetric form, and the value of the next."""
    axes = leading_axes(data, 2, scored=1, seed=seed, max_iterations=limit)
    if len(axes.values) == 0:
        return Solution(0.0 * data.everybody, 0.0, axes.iterations, 0.0, True, axes.values)
    size = np.sqrt(data.n_responses)  # from unit norm to variance 1
    return Solution(
        size * axes.scores[:, 0],
        float(axes.values[0]),
        axes.iterations,
        axes.residual,
        axes.converged,
        axes.values,
        None if axes.weights is None else size * axes.weights[:, 0],
    )


def _power(U: Averaging, rng: np.random.Generator, tol: float, limit: int) -> Solution:
    """Algorithm 1 (HnD-power): iterate the differences of adjacent user scores."""

    def step(d: Floats) -> Floats:
        s = cumulated(d)  # s ← T s_diff
        w = U.weights(s)  # w ← (C_col)ᵀ s
        s = U.scores(w)  # s ← C_row w
        return np.diff(s)  # s_diff ← S s

    found = iterate(step, rng.uniform(size=len(U.answers) - 1), tol, limit)
    return replace(found, vector=cumulated(found.vector))


def _deflation(U: Averaging, rng: np.random.Generator, tol: float, limit: int) -> Solution:
    """HnD-deflation: Hotelling's, after a power iteration for the left eigenvector of 1.

    The rounds of both iterations are counted, as in the paper.
    """
    first = iterate(U.transposed, rng.uniform(size=len(U.answers)), tol, limit)
    left = first.vector / first.vector.sum()  # the right eigenvector is the ones vector

    def step(s: Floats) -> Floats:
        deflated: Floats = U(s) - left @ s
        return deflated

    found = iterate(step, rng.uniform(size=len(U.answers)), tol, limit)
    return replace(
        found,
        vector=U.centred(found.vector),
        iterations=first.iterations + found.iterations,
        converged=first.converged and found.converged,
    )


def _arnoldi(U: Averaging, rng: np.random.Generator, limit: int) -> Solution:
    """HnD-direct: the matrix ``U`` itself, by Arnoldi iterations (or densely when tiny)."""
    m = len(U.answers)
    refuse_large("arnoldi", m)
    matrix = U.dense()
    if m <= 20:
        all_values, all_vectors = np.linalg.eig(matrix)
    else:
        from scipy.sparse.linalg import ArpackNoConvergence, eigs

        start = rng.standard_normal(m)
        try:
            all_values, all_vectors = eigs(
                matrix, k=2, which="LR", v0=start, ncv=min(m, 40), maxiter=limit
            )
        except ArpackNoConvergence:
            return _unfinished(U, start, limit)
    values, vectors = all_values.real, all_vectors.real
    # the trivial axis is the one that does not vary; the second is the strongest of the others
    spread = np.ptp(vectors, axis=0) / np.maximum(np.abs(vectors).max(axis=0), 1e-300)
    trivial = int(np.argmin(spread + (np.abs(values - 1) > 1e-8)))
    rest = np.delete(np.arange(len(values)), trivial)
    best = rest[np.argmax(values[rest])]
    s = U.centred(vectors[:, best])
    value = max(float(values[best]), 0.0)
    residual = float(np.linalg.norm(U.centred(matrix @ s) - value * s))
    return Solution(s, value, m, residual, residual < 1e-6)


def _unfinished(U: Averaging, start: Floats, rounds: int) -> Solution:
    """Two rounds of averaging, for when SciPy's solver stopped without a result."""
    s = U.centred(U(U(start)))
    s = s / np.linalg.norm(s)
    following = U.centred(U(s))
    value = float(s @ following)
    return Solution(s, value, rounds, float(np.linalg.norm(following - value * s)), False)


# -- ABH: the Fiedler vector, the second smallest axis of L ---------------------------------------


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
    """Find the second smallest axis of ``L = D - C Cᵀ`` with one of :data:`FIEDLER_SOLVERS`.

    The paper's variants cost m² a round because they hold ``D`` as a matrix; here it is a vector.

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
    m, largest = len(L.degrees), float(L.degrees.max())
    if solver == "power":
        shift = largest if beta is None else float(beta)
        return _fiedler_power(L, shift, np.random.default_rng(seed), tol, max_iterations)
    if solver == "direct":
        refuse_large("direct", m)
    if solver == "direct" or (solver == "lanczos" and m <= DENSE_UP_TO):
        matrix = L.dense()
        if solver == "lanczos" or m <= eigh_up_to:
            return _solved_outright(matrix, largest)
        return _smallest(lambda s: matrix @ s, L.degrees, None, seed, max_iterations)
    if solver == "lanczos":
        return _smallest(L, L.degrees, largest - L.degrees, seed, max_iterations)
    raise InputError(f"solver must be one of {', '.join(FIEDLER_SOLVERS)}; got {solver!r}.")


def _fiedler_power(
    L: Laplacian, beta: float, rng: np.random.Generator, tol: float, limit: int
) -> Solution:
    """Algorithm 2 (ABH-power), with ``D`` and ``βI`` as vectors."""

    def step(d: Floats) -> Floats:
        s = cumulated(d)  # s ← T s_diff
        s = L(s)  # w ← Cᵀ s;  s ← D s - C w
        return beta * d - np.diff(s)  # s_diff ← β s_diff - S s

    found = iterate(step, rng.uniform(size=len(L.degrees) - 1), tol, limit)
    return replace(found, vector=cumulated(found.vector), value=beta - found.value)


def _solved_outright(matrix: Floats, largest: float) -> Solution:
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, subset_by_index=[0, min(len(matrix) - 1, 2)])
    s = vectors[:, 1]
    residual = float(np.linalg.norm(matrix @ s - values[1] * s)) / largest
    converged = residual <= SMALL_RESIDUAL
    return Solution(s, float(values[1]), 1, residual, converged, values[1:3])


def _smallest(
    product: Callable[[Floats], Floats],
    degrees: Floats,
    diagonal: Floats | None,
    seed: int,
    limit: int,
) -> Solution:
    """By iterations on ``βI - L``, without the known axis; ``diagonal`` is its dominant part."""
    m, beta = len(degrees), float(degrees.max())
    found = highest_pairs(
        lambda s: beta * s - product(s),
        m,
        2,
        vectors=1,
        seed=seed,
        tol=1e-11 if diagonal is not None else 1e-10,
        max_products=limit,
        most=20 if diagonal is not None else 80,
        known=np.full(m, 1 / np.sqrt(m)),
        diagonal=diagonal,
        further=FURTHER,
    )
    values, residual = beta - found.values, float(found.residuals[0]) / beta
    s, converged = found.vectors[:, 0], residual <= SMALL_RESIDUAL
    return Solution(s, float(values[0]), found.products, residual, converged, values)


def refuse_large(solver: str, users: int) -> None:
    """Refuse too many users for a solver that stores a users × users matrix."""
    if users > DIRECT_UP_TO:
        raise InputError(
            f"solver {solver!r} builds a {users:,} × {users:,} matrix and takes at most "
            f"{DIRECT_UP_TO:,} users; use the solver lanczos or power."
        )


def cumulated(d: Floats) -> Floats:
    """``T d``: scores from differences, the first score being zero."""
    return np.concatenate([[0.0], np.cumsum(d)])
