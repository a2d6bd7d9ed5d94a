"""The paper's five variants of HnD and ABH as it runs them: with full matrices of floats.

Section III-F analyses their cost, and Figure 5 times them. ``C`` is a full users × options matrix;
*direct* variants multiply two matrices of this size into a users × users one, and ABH-power stores
the diagonal matrices ``D`` and ``βI`` in full. The library's solvers need none of these matrices;
the variants exist to check the paper's figure, and as independent oracles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.spectral.solvers import cumulated, iterate

__all__ = ["VARIANTS", "Run", "one_hot", "run_variant"]

Vector = npt.NDArray[np.float64]

#: How many users × users matrices a variant holds at once.
SQUARES = {"hnd/arnoldi": 1, "abh/direct": 2, "abh/power": 2}
#: Share of the free memory that may be filled.
FILLED = 0.8


@dataclass(frozen=True)
class Run:
    """Result of a variant: the axis, the rounds of its power iterations, and its processor time."""

    scores: Vector
    rounds: int
    seconds: float


def one_hot(responses: Responses) -> Vector:
    """The response matrix ``C``: one row per user, one column per option, 1 if chosen.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> r = Responses.from_wide([["a", "x"], ["b", "x"], ["b", None]])
    >>> one_hot(r).astype(int).tolist()
    [[1, 0, 1], [0, 1, 1], [0, 1, 0]]
    """
    indptr, options = responses.rows
    C = np.zeros((responses.n_users, responses.n_options))
    C[np.repeat(np.arange(responses.n_users), np.diff(indptr)), options] = 1.0
    return C


def run_variant(
    name: str,
    C: Vector,
    *,
    seed: int = 0,
    tol: float = 1e-5,
    memory: float | None = None,
) -> Run:
    """Run and time one of :data:`VARIANTS`, starting from ``C``.

    Parameters
    ----------
    name
        ``"hnd/power"``, ``"hnd/arnoldi"``, ``"hnd/deflation"``, ``"abh/direct"``, ``"abh/power"``.
    C
        The response matrix; every user has answered something.
    seed
        For the random start (uniform on [0, 1], as in the published code).
    tol
        Power iterations stop when the unit vector changes by at most this (L2).
    memory
        Free bytes; by default, as the system reports.

    Examples
    --------
    >>> C = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1.0]])
    >>> run = run_variant("hnd/power", C)
    >>> np.argsort(run.scores).tolist() in ([0, 1, 2], [2, 1, 0]), run.rounds > 1
    (True, True)
    """
    users = len(C)
    needed = 8.0 * users**2 * SQUARES.get(name, 0)
    free = _free_memory() if memory is None else memory
    if needed > FILLED * free:
        raise InputError(
            f"{name} holds {SQUARES[name]} full matrices of {users:,} × {users:,} numbers "
            f"({needed / 1e9:.0f} GB), and {free / 1e9:.0f} GB are free."
        )
    rng = np.random.default_rng(seed)
    begin = time.process_time()
    scores, rounds = VARIANTS[name](C, rng, tol)
    return Run(scores, rounds, time.process_time() - begin)


def _normalised(C: Vector) -> tuple[Vector, Vector]:
    """``C_row`` and ``C_col``."""
    return C / C.sum(axis=1)[:, None], C / np.maximum(C.sum(axis=0), 1.0)


def _hnd_power(C: Vector, rng: np.random.Generator, tol: float) -> tuple[Vector, int]:
    """Algorithm 1."""
    row, col = _normalised(C)

    def step(d: Vector) -> Vector:
        return np.diff(row @ (col.T @ cumulated(d)))

    found = iterate(step, rng.uniform(size=len(C) - 1), tol, MOST_ROUNDS)
    return cumulated(found.vector), found.iterations


def _hnd_deflation(C: Vector, rng: np.random.Generator, tol: float) -> tuple[Vector, int]:
    """Hotelling's deflation: power iteration for the left eigenvector of 1, then for the axis."""
    row, col = _normalised(C)
    right = np.ones(len(C)) / np.sqrt(len(C))
    first = iterate(lambda u: col @ (row.T @ u), rng.uniform(size=len(C)), tol, MOST_ROUNDS)
    left = first.vector / (first.vector @ right)

    def step(v: Vector) -> Vector:
        deflated: Vector = row @ (col.T @ v) - right * (left @ v)
        return deflated

    found = iterate(step, rng.uniform(size=len(C)), tol, MOST_ROUNDS)
    return found.vector, first.iterations + found.iterations


def _hnd_direct(C: Vector, rng: np.random.Generator, tol: float) -> tuple[Vector, int]:  # noqa: ARG001
    """Multiply out the matrix ``U``, and run Arnoldi iterations on it."""
    from scipy.sparse.linalg import eigs

    row, col = _normalised(C)
    U = row @ col.T
    values, vectors = eigs(U, k=2, which="LM", v0=rng.uniform(size=len(C)))
    return np.asarray(vectors[:, np.argmin(values.real)].real), 0


def _abh_direct(C: Vector, rng: np.random.Generator, tol: float) -> tuple[Vector, int]:  # noqa: ARG001
    """Multiply out the Laplacian, and run Lanczos iterations on it."""
    from scipy.sparse.linalg import eigsh

    A = C @ C.T
    L = np.diag(A.sum(axis=1)) - A
    values, vectors = eigsh(L, k=2, which="SM", v0=rng.uniform(size=len(C)))
    return np.asarray(vectors[:, np.argmax(values)]), 0


def _abh_power(C: Vector, rng: np.random.Generator, tol: float) -> tuple[Vector, int]:
    """Algorithm 2 with ``D`` and ``βI`` as full matrices: quadratic in the number of users."""
    D = np.diag(C @ C.sum(axis=0))
    beta = float(D.max())
    shift = beta * np.identity(len(C) - 1)

    def step(d: Vector) -> Vector:
        s = cumulated(d)
        turned: Vector = shift @ d - np.diff(D @ s - C @ (C.T @ s))
        return turned

    found = iterate(step, rng.uniform(size=len(C) - 1), tol, MOST_ROUNDS)
    return cumulated(found.vector), found.iterations


#: Limit on rounds; none of the paper's power iterations takes more.
MOST_ROUNDS = 100_000

Variant = Callable[[Vector, np.random.Generator, float], tuple[Vector, int]]
VARIANTS: dict[str, Variant] = {
    "hnd/power": _hnd_power,
    "hnd/arnoldi": _hnd_direct,
    "hnd/deflation": _hnd_deflation,
    "abh/direct": _abh_direct,
    "abh/power": _abh_power,
}


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # not on every system
        return 8e9
