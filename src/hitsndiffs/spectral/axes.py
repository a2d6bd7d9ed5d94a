"""Leading axes of the averaging operator, in its symmetric form (the default solver).

``U`` is similar to ``A Aᵀ`` with ``A = Dr^-½ C Dc^-½``, whose first axis is known. Lanczos
iterations on the smaller side, users or options, find the others; on the option side a whole round
is one pass over the data. HnD's scores are the first axis of correspondence analysis (reciprocal
averaging).

Two-sided shrinkage replaces the counts by ``Dr + mu`` and ``Dc + lam``. Centring subtracts each
item's mean weight, so who answered *what* does not become an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine, scaled
from hitsndiffs.spectral.lanczos import Highest, highest_pairs

__all__ = ["Axes", "leading_axes", "top_pairs"]

#: If the smaller side has at most this size, the symmetric matrix is built and solved directly,
DENSE_UP_TO = 400
#: unless building its columns (each a pass over the responses) needs more steps than this.
DENSE_PRODUCTS = 5_000_000
#: Axes with an eigenvalue up to this are dropped (eigenvalues are at most 1).
NOTHING = 1e-12


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
        Upper bound on the residual norm of the first axis in the symmetric form.
    converged
        Whether the residual is small.
    weights
        Option weights, one column per axis, if the solver found these first: the scores are then
        ``choices(weights) / (value * (answers + mu))``. ``None`` if it found the scores first.
    """

    values: Floats
    scores: Floats
    iterations: int
    residual: float
    converged: bool
    weights: Floats | None = None


def leading_axes(
    data: Engine,
    count: int = 2,
    *,
    scored: int | None = None,
    lam: float = 0.0,
    mu: float = 0.0,
    centred: bool = False,
    seed: int = 0,
    tol: float = 1e-12,
    max_iterations: int = 5000,
    dense_up_to: int = DENSE_UP_TO,
) -> Axes:
    """Return the strongest axes of ``U`` after the trivial one.

    Parameters
    ----------
    data
        The data and their sums; every user has answered something.
    count
        How many axes to find; fewer are returned if the data do not have that many.
    scored
        How many of them need scores (default: all). The others get only a value, accurate enough
        to tell how far it is from the one before.
    lam, mu
        Shrinkage of option weights and of user scores.
    centred
        Whether weights are centred within each item.
    seed, tol, max_iterations
        Settings of the Lanczos iterations.
    dense_up_to
        Up to this many options (or users) a dense matrix is solved, if it is cheap to build.
    """
    A = _Symmetric.of(data, lam, mu, centred)
    # user arrays are NumPy arrays only on some engines
    on_options = data.n_options < data.n_users or data.arrays != "numpy"
    size = data.n_options if on_options else data.n_users
    cheap = data.n_responses * size <= DENSE_PRODUCTS
    found = top_pairs(
        A.around if on_options else lambda x: A.to_users(A.to_options(x)),
        size,
        count,
        vectors=scored,
        seed=seed,
        tol=tol,
        max_products=max_iterations,
        dense_up_to=dense_up_to if cheap else 0,
    )
    values = found.values[found.values > NOTHING]
    vectors = found.vectors[:, : len(values)]
    vectors = np.where((vectors**3).sum(axis=0) < 0, -vectors, vectors)  # the longer tail is up
    if on_options:
        weights = np.empty_like(vectors)
        for axis, y in enumerate(vectors.T):
            weights[:, axis] = np.sqrt(values[axis]) * A.weights(y)
        pairs = zip(vectors.T, values, strict=False)
        scores = _columns([A.scores(y, float(value)) for y, value in pairs], data.n_users)
    else:
        weights, scores = None, vectors * A.root[:, None]
    # on the strongest axis the residual is no larger on the user side than on the option side
    residual = float(found.residuals[0]) if len(values) else 0.0
    converged = residual <= max(1e-6, 100 * tol)
    return Axes(values, scores, found.products, residual, converged, weights)


def _columns(users: list[Any], n_users: int) -> Any:
    if len(users) == 1:
        return users[0][:, None]  # no copy
    return np.stack(users, axis=1) if users else np.empty((n_users, 0))


@dataclass(frozen=True)
class _Symmetric:
    """``A = P Dr^-½ C Q Dc^-½ P'`` and its transpose.

    ``P`` and ``P'`` subtract the mean over all answers from the scores and from the weights
    (without shrinkage, that is the trivial axis). With centring, ``Q`` does so item by item.

    A value that is the same for all users is stored as a vector of length one.
    """

    data: Engine
    choosers: Floats
    root: Floats
    half: Floats
    centred: bool
    trivial_users: Floats
    trivial_options: Floats
    seen: Floats  # the users' trivial axis, mapped to the options

    @classmethod
    def of(cls, data: Engine, lam: float, mu: float, centred: bool) -> _Symmetric:
        answers = data.answers_per_user
        choosers = data.choosers_per_option.astype(float)
        if data.is_complete or float(answers.min()) == float(answers.max()):
            answers = np.array([data.n_responses / data.n_users])
        root = _inverse_root(answers + mu)
        half = _inverse_root(np.maximum(choosers + lam, 1e-300))
        if centred:
            nobody, nothing = np.zeros(1), np.zeros(data.n_options)
            return cls(data, choosers, root, half, centred, nobody, nothing, nothing)
        trivial = answers * root
        length = _norm(trivial) * np.sqrt(data.n_users / len(trivial))
        trivial = trivial / length
        each = root * trivial
        each = float(each[0]) * data.everybody if len(each) == 1 else each
        seen = choosers / length if mu == 0 else data.choosers(each)
        return cls(data, choosers, root, half, centred, trivial, _unit(choosers * half), seen)

    def to_options(self, x: Floats) -> Floats:
        return self._finish(self.data.choosers(self._rooted(_without(x, self.trivial_users))))

    def to_users(self, y: Floats) -> Floats:
        return _without(self._rooted(self.data.choices(self.weights(y))), self.trivial_users)

    def around(self, y: Floats) -> Floats:
        """``Aᵀ A``."""
        v = self.weights(y)
        if len(self.root) == 1:
            everybody = self.data.everybody
            found = float(self.root[0]) ** 2 * self.data.through(v, scaled, everybody)
        else:
            found = self.data.through(v, scaled, self._squared_root)
        return self._finish(found - self.seen * (self.seen @ v))

    def scores(self, y: Floats, value: float) -> Any:
        """Scores of an axis whose option vector and eigenvalue are known."""
        if len(self.root) > 1:
            return _unit(self.to_users(y)) * self.root
        # all users gave the same number of answers: common factors go into the weights
        data, root = self.data, float(self.root[0])
        v = root * self.weights(y)
        mean = float(self.trivial_users[0]) ** 2 * float(data.choosers_per_option @ v)
        v = v - mean * (data.n_users / data.n_responses)
        return data.choices(v * (root / np.sqrt(value)))

    def weights(self, y: Floats) -> Floats:
        """Option weights from vectors of the symmetric form."""
        v = self.half * _without(y, self.trivial_options)
        return self.data.items.centred(v, self.choosers) if self.centred else v

    def _finish(self, v: Floats) -> Floats:
        if self.centred:
            items = self.data.items
            means = items.total(v) / np.maximum(self.data.answers_per_item, 1)
            v = v - self.choosers * means[items.of_option]
        return _without(self.half * v, self.trivial_options)

    @cached_property
    def _squared_root(self) -> Floats:
        return self.root * self.root

    def _rooted(self, x: Floats) -> Floats:
        return x * (float(self.root[0]) if len(self.root) == 1 else self.root)


def _unit(x: Floats) -> Floats:
    return x / _norm(x)


def _inverse_root(x: Floats) -> Floats:
    return np.reciprocal(np.sqrt(x))


# Sums over users use NumPy rather than BLAS, whose threads wait for each other at the end.


def _norm(x: Floats) -> float:
    return float(np.sqrt((x * x).sum()))


def _without(x: Floats, known: Floats) -> Floats:
    """The part of ``x`` orthogonal to a unit vector (length one: all its entries are equal)."""
    if len(known) == 1:
        return x - float(known[0]) ** 2 * float(x.sum())
    return x - float((known * x).sum()) * known


def top_pairs(
    operator: Callable[[Floats], Floats],
    size: int,
    count: int,
    *,
    vectors: int | None = None,
    dense_up_to: int = DENSE_UP_TO,
    **limits: Any,
) -> Highest:
    """Largest eigenpairs of a symmetric operator (``limits``: see :func:`highest_pairs`).

    Small operators are built as a matrix and solved directly.
    """
    count = min(count, size)
    if size > max(dense_up_to, 2 * count + 2):
        return highest_pairs(operator, size, count, vectors=vectors, **limits)
    matrix = np.column_stack([operator(e) for e in np.eye(size)])
    values, columns = np.linalg.eigh((matrix + matrix.T) / 2)
    values, columns = values[::-1][:count], columns[:, ::-1][:, :count]
    residuals = np.linalg.norm(matrix @ columns - values * columns, axis=0)
    return Highest(values, columns[:, :vectors], residuals, size)
