"""The plain engine: SciPy's compressed rows, no compilation, quick to import."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["NumpySums"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.integer[Any]]


class NumpySums:
    """The two sums as products with a sparse matrix of ones ."""

    threads = 1

    def __init__(self, responses: Responses) -> None:
        indptr, options = responses.rows
        shape = (responses.n_users, responses.n_options)
        ones = np.ones(len(options))
        self.n_users, self.n_options = shape
        self._rows: Any = sparse.csr_array((ones, options, indptr), shape=shape)
        self._columns: Any = self._rows.T.tocsr()

    def on(self, threads: int) -> NumpySums:
        """The same sums, for methods that may use so many threads (the products use one)."""
        found = copy(self)
        found.threads = threads
        return found

    def choices(self, weights: Vector) -> Vector:
        """``C w`` (see :meth:`hitsndiffs.engines.Sums.choices`)."""
        return self._rows @ weights  # type: ignore[no-any-return]

    def choosers(self, scores: Vector) -> Vector:
        """``Cᵀ s`` (see :meth:`hitsndiffs.engines.Sums.choosers`)."""
        return self._columns @ scores  # type: ignore[no-any-return]

    def through_users(self, weights: Vector, scale: Vector) -> Vector:
        """``Cᵀ (scale * (C w))`` (see :meth:`hitsndiffs.engines.Sums.through_users`)."""
        scores = self._rows @ weights
        scaled = scores * (scale if scores.ndim == 1 else scale[:, None])
        return self._columns @ scaled  # type: ignore[no-any-return]

    def extremes(self, positions: IntVector) -> tuple[IntVector, IntVector]:
        """First and last position of each option's choosers."""
        sorted_by_option = positions[self._columns.indices]
        starts = self._columns.indptr[:-1]
        return (
            np.minimum.reduceat(sorted_by_option, starts),
            np.maximum.reduceat(sorted_by_option, starts),
        )
