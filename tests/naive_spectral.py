"""The paper's matrices as it writes them (Sections II-D and III, and the appendix), dense and slow.

Written from the paper alone, as an oracle: no sums, no layouts, no shared code with the library.
A table is users × items of whole numbers, with -1 where there is no answer.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
Table = npt.NDArray[np.int64]


def C(table: Table) -> Matrix:
    """The m × q response matrix: a column per option that somebody chose, item after item."""
    columns = [
        table[:, i] == option
        for i in range(table.shape[1])
        for option in sorted(set(table[:, i].tolist()) - {-1})
    ]
    return np.array(columns, dtype=float).T


def C_row(c: Matrix) -> Matrix:
    return c / c.sum(axis=1, keepdims=True)


def C_col(c: Matrix) -> Matrix:
    return c / c.sum(axis=0, keepdims=True)


def U(c: Matrix) -> Matrix:
    """The update matrix of avgHITS: ``s ← C_row (C_col)ᵀ s``."""
    return C_row(c) @ C_col(c).T


def S(m: int) -> Matrix:
    """(m-1) × m: differences of neighbours."""
    s = np.zeros((m - 1, m))
    for j in range(m - 1):
        s[j, j], s[j, j + 1] = -1, 1
    return s


def T(m: int) -> Matrix:
    """m × (m-1): cumulated differences, the first score being zero."""
    t = np.zeros((m, m - 1))
    for j in range(m):
        t[j, :j] = 1
    return t


def U_diff(c: Matrix) -> Matrix:
    m = len(c)
    return S(m) @ U(c) @ T(m)


def L(c: Matrix) -> Matrix:
    """The Laplacian of ``C Cᵀ``."""
    similarity = c @ c.T
    return np.diag(similarity.sum(axis=1)) - similarity


def M(c: Matrix) -> Matrix:
    m = len(c)
    return S(m) @ L(c) @ T(m)


def symmetric(c: Matrix, lam: float = 0.0, mu: float = 0.0) -> Matrix:
    """``A Aᵀ`` with ``A = (Dr + mu)^-½ C (Dc + lam)^-½``."""
    a = c / np.sqrt(c.sum(axis=1, keepdims=True) + mu) / np.sqrt(c.sum(axis=0) + lam)
    return a @ a.T


def second_axis(c: Matrix) -> tuple[Vector, Vector]:
    """Eigenvalues of U from the largest down, and the eigenvector of the second."""
    values, vectors = np.linalg.eig(U(c))
    order = np.argsort(-values.real)
    return values.real[order], vectors[:, order[1]].real


def algorithm_1(c: Matrix, start: Vector, rounds: int) -> Vector:
    """Algorithm 1 (HnD-power), line by line."""
    m = len(c)
    s_diff = start
    for _ in range(rounds):
        s = T(m) @ s_diff
        w = C_col(c).T @ s
        s = C_row(c) @ w
        s_diff = S(m) @ s
        s_diff = s_diff / np.sqrt((s_diff**2).sum())
    return T(m) @ s_diff


def entropy_of_users(table: Table, users: Any) -> float:
    """Mean over the items of the entropy of the options that some users chose."""
    total = 0.0
    for i in range(table.shape[1]):
        answers = [int(table[j, i]) for j in users]
        for option in set(answers):
            p = answers.count(option) / len(answers)
            total -= p * np.log(p)
    return total / table.shape[1]


def decile_sign(table: Table, scores: Vector) -> int:
    """+1 when the tenth of the users with the highest scores has the lower entropy."""
    tenth = len(table) // 10
    order = np.argsort(scores, kind="stable")
    bottom = entropy_of_users(table, order[:tenth])
    top = entropy_of_users(table, order[-tenth:])
    return 1 if top < bottom else -1


def is_P_matrix(c: Matrix) -> bool:
    """Whether the ones of every column stand together."""
    return all("01" not in "".join(str(int(x)) for x in column).strip("0") for column in c.T)


def is_pre_P_matrix(c: Matrix) -> bool:
    """Whether some order of the rows is a P-matrix, by trying all of them."""
    return any(is_P_matrix(c[list(order)]) for order in permutations(range(len(c))))


def is_R_matrix(u: Matrix, slack: float = 1e-12) -> bool:
    """Whether entries never grow with the distance from the diagonal, along rows and columns."""
    m = len(u)
    for a in (u, u.T):
        for j in range(m):
            right, left = a[j, j:], a[j, : j + 1][::-1]
            if (np.diff(right) > slack).any() or (np.diff(left) > slack).any():
                return False
    return True


def components(table: Table) -> list[set[int]]:
    """Groups of users linked by shared answers, by repeated merging; silent users left out."""
    groups: list[set[int]] = []
    for j, row in enumerate(table):
        if (row < 0).all():
            continue
        linked = [g for g in groups if any(((table[k] == row) & (row >= 0)).any() for k in g)]
        groups = [g for g in groups if g not in linked] + [set().union({j}, *linked)]
    return groups


def connected(table: Table) -> bool:
    return len(components(table)) == 1 and (table >= 0).any(axis=1).all()
