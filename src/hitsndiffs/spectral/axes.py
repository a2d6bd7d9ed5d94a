"""Leading axes of the averaging operator, in its symmetric form (the default solver).

``U`` is similar to ``A Aᵀ`` with ``A = Dr^-½ C Dc^-½``, whose first axis is known, so that the
others come from Lanczos iterations on the smaller of the two sides, users or options: on the option
side a whole round is one pass over the data. HnD's scores are the first axis of correspondence
analysis (reciprocal averaging).

Two-sided shrinkage replaces the counts by ``Dr + mu`` and ``Dc + lam``; centring takes the mean
weight of every item away, so that who answered *what* is no axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.responses import Responses
from hitsndiffs.sums import Sums

__all__ = ["Axes", "item_means", "leading_axes", "top_pairs"]

Vector = npt.NDArray[np.float64]

#: Up to this size of the smaller side the symmetric matrix is built and solved directly.
DENSE_UP_TO = 400


@dataclass(frozen=True)
class Axes:
    """The strongest axes, strongest first.

    Attributes
    ----------
    values
        Eigenvalues.
    scores
        User scores, one column per axis, unit norm in the symmetric form.
    iterations
        Rounds over the data.
    residual
        Largest residual norm of the symmetric form.
    converged
        Whether the residual is small.
    """

    values: Vector
    scores: Vector
    iterations: int
    residual: float
    converged: bool


def leading_axes(
    responses: Responses,
    sums: Sums,
    count: int = 2,
    *,
    lam: float = 0.0,
    mu: float = 0.0,
    centred: bool = False,
    user_weights: Vector | None = None,
    seed: int = 0,
    tol: float = 1e-10,
    max_iterations: int = 5000,
) -> Axes:
    """Return the strongest axes of ``U`` after the trivial one.

    Parameters
    ----------
    responses, sums
        The data and their sums; every user has answered something.
    count
        How many axes; fewer come back where the data do not hold as many.
    lam, mu
        Shrinkage of option weights and of user scores.
    centred
        Whether weights are centred within each item.
    user_weights
        How much each user counts as a witness (default: 1 each).
    seed, tol, max_iterations
        Of the Lanczos iterations.
    """
    ones = np.ones(responses.n_users)
    weight = ones if user_weights is None else user_weights
    answers = responses.answers_per_user.astype(float)
    choosers = (
        responses.choosers_per_option.astype(float)
        if user_weights is None
        else sums.choosers(weight)
    )
    root = np.sqrt(weight / (answers + mu))
    half = 1 / np.sqrt(np.maximum(choosers + lam, 1e-300))
    centre = _Centring(responses, choosers) if centred else None

    def to_options(x: Vector) -> Vector:
        v = sums.choosers(root * x)
        return half * (centre.transposed(v) if centre else v)

    def to_users(y: Vector) -> Vector:
        v = half * y
        return root * sums.choices(centre(v) if centre else v)

    def around(y: Vector) -> Vector:
        v = half * y
        v = sums.through_users(centre(v) if centre else v, root * root)
        return half * (centre.transposed(v) if centre else v)

    if sums.n_options < sums.n_users:
        known = None if centred else _unit(choosers * half)
        values, vectors, rounds = top_pairs(
            around, known, sums.n_options, count, seed, tol, max_iterations
        )
        users = np.column_stack([to_users(y) for y in vectors.T]) if vectors.size else vectors
        norms = np.linalg.norm(users, axis=0) if vectors.size else np.zeros(0)
        users = users / np.where(norms > 0, norms, 1)
    else:
        known = None if centred else _unit(answers * root)
        values, users, rounds = top_pairs(
            lambda x: to_users(to_options(x)), known, sums.n_users, count, seed, tol, max_iterations
        )
    if users.size == 0:
        return Axes(np.zeros(0), np.zeros((sums.n_users, 0)), rounds, 0.0, True)
    first = users[:, 0]
    residual = float(np.linalg.norm(to_users(to_options(first)) - values[0] * first))
    converged = residual <= max(1e-6, 100 * tol)
    scale = np.divide(root, weight, out=np.zeros_like(root), where=weight > 0)
    return Axes(np.maximum(values, 0.0), users * scale[:, None], rounds, residual, converged)


def item_means(responses: Responses, weights: Vector, counts: Vector) -> Vector:
    """Mean weight over the answers to each item, repeated for each of its options."""
    starts = responses.item_starts[:-1]
    totals = np.add.reduceat(counts, starts)
    sums = np.add.reduceat(counts * weights, starts)
    means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return means[responses.option_items]


class _Centring:
    """The projection ``Q``: ``w`` minus its mean over each item's answers, and its transpose."""

    def __init__(self, responses: Responses, counts: Vector) -> None:
        self.counts = counts
        self.starts = responses.item_starts[:-1]
        self.items = responses.option_items
        totals = np.add.reduceat(counts, self.starts)
        self.inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)

    def __call__(self, w: Vector) -> Vector:
        return w - (np.add.reduceat(self.counts * w, self.starts) * self.inverse)[self.items]

    def transposed(self, v: Vector) -> Vector:
        return v - self.counts * (np.add.reduceat(v, self.starts) * self.inverse)[self.items]


def _unit(x: Vector) -> Vector:
    return x / np.linalg.norm(x)


def top_pairs(
    operator: Callable[[Vector], Vector],
    known: Vector | None,
    size: int,
    count: int,
    seed: int,
    tol: float,
    max_iterations: int,
) -> tuple[Vector, Vector, int]:
    """Largest eigenpairs of a symmetric operator, a known unit eigenvector left out.

    The eigenvalues that are asked for must be positive (leaving an axis out makes its value 0).
    Returns the values from the largest down, the vectors as columns, and the number of products.
    """
    rounds = 0

    def deflated(x: Vector) -> Vector:
        nonlocal rounds
        rounds += 1
        x = x.reshape(-1)
        if known is None:
            return operator(x)
        y = operator(x - known * (known @ x))
        return y - known * (known @ y)

    count = min(count, size - (0 if known is None else 1))
    if count <= 0:
        return np.zeros(0), np.zeros((size, 0)), 0
    if size <= max(DENSE_UP_TO, 2 * count + 2):
        matrix = np.column_stack([deflated(e) for e in np.eye(size)])
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        return values[::-1][:count], vectors[:, ::-1][:, :count], rounds
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    start = np.random.default_rng(seed).standard_normal(size)
    if known is not None:
        start -= known * (known @ start)
    try:
        values, vectors = eigsh(
            LinearOperator((size, size), matvec=deflated, dtype=np.float64),
            k=count,
            which="LA",
            v0=start,
            tol=tol,
            maxiter=max_iterations,
            ncv=min(size, max(2 * count + 1, 20)),
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
        if len(values) == 0:
            start = deflated(start)
            values, vectors = np.array([np.linalg.norm(start)]), _unit(start)[:, None]
    order = np.argsort(-values)
    return values[order], vectors[:, order], rounds
