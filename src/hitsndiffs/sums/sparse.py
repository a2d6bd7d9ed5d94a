"""The sparse layout: each user's option numbers, one after another, and no values.

These are the rows of the responses themselves, so that nothing is copied. One pass over 4 bytes
per response serves both sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.sums import sparse_kernels as kernels

if TYPE_CHECKING:
    from hitsndiffs.responses import Responses
    from hitsndiffs.sums.pool import Run

__all__ = ["SparseLayout"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Fewest and most chunks of users that have sums of their own; in between, as many as keep those
#: sums within an eighth of the option numbers' memory. None depends on the number of threads.
CHUNKS = 2, 64


class SparseLayout:
    """Option numbers of some responses, and the passes over them.

    Parameters
    ----------
    responses
        The data; their rows are used as they are.
    """

    def __init__(self, responses: Responses) -> None:
        indptr, options = responses.rows
        self.n_users, self.n_options = responses.n_users, responses.n_options
        self._indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        self._options = np.ascontiguousarray(options, dtype=np.int32)
        if len(options) and not (options.min() >= 0 and options.max() < self.n_options):
            raise InputError(
                f"rows must hold option numbers from 0 to {self.n_options - 1}; "
                f"got {options.min()} to {options.max()}."
            )
        wanted = int(np.clip(len(options) // (16 * max(self.n_options, 1)), *CHUNKS))
        shares = np.linspace(0, len(options), wanted + 1).astype(np.int64)
        inner = np.searchsorted(self._indptr, shares[1:-1])
        self._bounds = [0, *inner.tolist(), self.n_users]

    @property
    def nbytes(self) -> int:
        """Memory for the responses, in bytes."""
        return self._indptr.nbytes + self._options.nbytes

    @property
    def scratch_per_column(self) -> int:
        """Memory that one column of a block of vectors needs while it is worked on."""
        return 8 * self._n_chunks * self.n_options

    def choices(self, weights: Floats, run: Run) -> Floats:
        """``C w`` for each column of ``weights``."""
        scores = np.empty((self.n_users, weights.shape[1]))
        run(self._n_chunks, lambda c: kernels.choices(*self._data(c), weights, scores))
        return scores

    def choosers(self, scores: Floats, run: Run) -> Floats:
        """``Cᵀ s`` for each column of ``scores``."""
        partials = self._partials(scores.shape[1])
        run(self._n_chunks, lambda c: kernels.choosers(*self._data(c), scores, partials[c]))
        return self._collect(partials, run)

    def through_users(self, weights: Floats, scale: Floats, run: Run) -> Floats:
        """``Cᵀ (scale * (C w))`` for each column of ``weights``."""
        partials = self._partials(weights.shape[1])
        run(self._n_chunks, lambda c: kernels.through(*self._data(c), weights, scale, partials[c]))
        return self._collect(partials, run)

    def extremes(self, positions: Ints, run: Run) -> tuple[Ints, Ints]:
        """Smallest and largest position of each option's choosers."""
        shape = (self._n_chunks, self.n_options)
        lows = np.full(shape, np.iinfo(np.int64).max)
        highs = np.full(shape, np.iinfo(np.int64).min)
        run(
            self._n_chunks,
            lambda c: kernels.extremes(*self._data(c), positions, lows[c], highs[c]),
        )
        return lows.min(axis=0), highs.max(axis=0)

    @property
    def _n_chunks(self) -> int:
        return len(self._bounds) - 1

    def _data(self, chunk: int) -> tuple[Any, ...]:
        return self._indptr, self._options, self._bounds[chunk], self._bounds[chunk + 1]

    def _partials(self, columns: int) -> Floats:
        return np.zeros((self._n_chunks, self.n_options, columns))

    def _collect(self, partials: Floats, run: Run) -> Floats:
        """Add up the chunks' sums, in their order."""
        sums = np.empty(partials.shape[1:])
        parts, flat = partials.reshape(len(partials), -1), sums.reshape(-1)
        run.split(
            len(flat),
            lambda first, last: kernels.add_in_order(parts, first, last, flat),
            least=16384,
        )
        return sums
