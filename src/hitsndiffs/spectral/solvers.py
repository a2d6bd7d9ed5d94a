"""Four ways to find the second axis of ``U`` (Sections III-C and III-F of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.spectral.axes import leading_axes
from hitsndiffs.spectral.operators import Averaging

__all__ = ["DIRECT_UP_TO", "SOLVERS", "Solution", "cumulated", "iterate", "refuse_large", "solve"]

SOLVERS = ("lanczos", "power", "arnoldi", "deflation")

#: Variants that store an m × m matrix refuse more users than this (3.2 GB).
DIRECT_UP_TO = 20_000


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
