"""The plain engine: SciPy's compressed rows, no compilation, quick to import."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hitsndiffs.data.layouts import Rows, some_rows
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Step, option_words
from hitsndiffs.engines.memory import MemoryEngine

__all__ = ["NumpyEngine"]

Vector = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
IntVector = npt.NDArray[np.integer[Any]]


class NumpyEngine(MemoryEngine):
    """The sums as products with a sparse matrix of ones."""

    name: ClassVar[str] = "numpy"

    def __init__(
        self, responses: Responses, threads: int | None = None, *, asked: str = "numpy"
    ) -> None:
        super().__init__(responses, threads, asked=asked)
        indptr, options = responses.rows
        shape = (responses.n_users, responses.n_options)
        ones = np.ones(len(options))
        self._rows: Any = sparse.csr_array((ones, options, indptr), shape=shape)
        self._columns: Any = self._rows.T.tocsr()

    def choices(self, weights: Vector) -> Vector:
        """``C w``."""
        return self._rows @ weights  # type: ignore[no-any-return]

    def choosers(self, scores: Vector) -> Vector:
        """``Cᵀ s``."""
        return self._columns @ scores  # type: ignore[no-any-return]

    def through(self, weights: Vector, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``: small data fit the cache as they are."""
        stepped = step(self.choices(weights), *arrays)
        if isinstance(stepped, tuple):
            return self.choosers(stepped[0]), stepped[1]
        return self.choosers(stepped)

    def mapped(self, weights: Vector, step: Step, *arrays: Any) -> Any:
        """``step(C w, …)``."""
        return step(self.choices(weights), *arrays)

    def extremes(self, positions: IntVector, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        options = self.items.starts[min(first_items or self.n_items, self.n_items)]
        starts = self._columns.indptr[:options]
        sorted_by_option = positions[self._columns.indices[: self._columns.indptr[options]]]
        return (
            np.minimum.reduceat(sorted_by_option, starts),
            np.maximum.reduceat(sorted_by_option, starts),
        )

    def some_rows(self, users: IntVector) -> Rows:
        """The options that some users chose, in rows."""
        return some_rows((self._rows.indptr, self._rows.indices), users)

    def fingerprints(self, words: Words | None = None) -> Words:
        """A 64-bit number per answer sheet."""
        words = option_words(self.n_options) if words is None else words
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words[self._rows.indices])])
        return np.asarray(sums[self._rows.indptr[1:]] - sums[self._rows.indptr[:-1]])
