"""The basis shared by Lanczos and Davidson iterations: directions, their images, best pairs.

A product with the operator is a pass over the data, so products are the main cost. The directions
are kept orthogonal to the last bit. The best pairs among them (Ritz pairs) come from a small
matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Floats

__all__ = ["RitzBasis", "RitzPairs"]


@dataclass(frozen=True)
class RitzPairs:
    """The best pairs in a basis, best first, as rows, and how far they are from eigenpairs."""

    values: Floats
    vectors: Floats
    errors: Floats

    @property
    def residuals(self) -> Floats:
        """``‖A v - value v‖``."""
        found: Floats = np.linalg.norm(self.errors, axis=1)
        return found

    @property
    def scale(self) -> float:
        """The largest value, in absolute terms."""
        return float(np.abs(self.values).max())


class RitzBasis:
    """Orthonormal directions, their images, and the operator seen through them.

    Parameters
    ----------
    operator
        The product with a vector.
    size
        Length of the vectors.
    most
        Most directions held at a time.
    lowest
        Whether the best pairs are those with the smallest values (default: the largest).
    known
        A unit eigenvector to leave out.

    Examples
    --------
    >>> basis = RitzBasis(lambda x: np.arange(3.0) * x, 3, most=3)
    >>> [basis.add(direction) for direction in np.eye(3)]
    [True, True, True]
    >>> basis.pairs(2).values.tolist()
    [2.0, 1.0]
    """

    def __init__(
        self,
        operator: Callable[[Floats], Floats],
        size: int,
        most: int,
        *,
        lowest: bool = False,
        known: Floats | None = None,
    ) -> None:
        self.held, self.products = 0, 0
        self._operator, self._known = operator, known
        self._step = 1 if lowest else -1
        self._basis, self._images = np.empty((most, size)), np.empty((most, size))
        self._projected = np.zeros((most, most))

    @property
    def last_image(self) -> Floats:
        """The image of the newest direction."""
        newest: Floats = self._images[self.held - 1]
        return newest

    def add(self, direction: Floats, least: float = 1e-14) -> bool:
        """Add the new part of a direction; false if it is at most ``least`` of the whole."""
        before = float(np.linalg.norm(direction))
        basis = self._basis[: self.held]
        for _ in range(2):  # the second time removes what rounding left
            if self._known is not None:
                direction = direction - self._known * (self._known @ direction)
            direction = direction - (basis @ direction) @ basis
        length = float(np.linalg.norm(direction))
        if not length > least * before:
            return False
        new = self.held
        self._basis[new] = direction / length
        self._images[new] = self._operator(self._basis[new])
        self.held, self.products = new + 1, self.products + 1
        column = self._basis[: self.held] @ self._images[new]
        self._projected[: self.held, new] = self._projected[new, : self.held] = column
        return True

    def pairs(self, wanted: int) -> RitzPairs:
        """The best pairs."""
        values, mix = self._solved(wanted)
        vectors = mix @ self._basis[: self.held]
        errors = mix @ self._images[: self.held] - values[:, None] * vectors
        return RitzPairs(values, vectors, errors)

    def cut(self, kept: int) -> None:
        """Keep the best directions only (a thick restart)."""
        values, mix = self._solved(kept)
        kept = len(values)
        self._basis[:kept] = mix @ self._basis[: self.held]
        self._images[:kept] = mix @ self._images[: self.held]
        self._projected[:kept, :kept] = np.diag(values)
        self.held = kept

    def _solved(self, wanted: int) -> tuple[Floats, Floats]:
        """The best values, and the mixes of directions that give their vectors (as rows)."""
        values, mix = np.linalg.eigh(self._projected[: self.held, : self.held])
        return values[:: self._step][:wanted].copy(), mix.T[:: self._step][:wanted].copy()
