"""The plain engine: a sparse matrix, no compilation, quick to import."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints, Words
from hitsndiffs.data.layouts import Rows, some_rows
from hitsndiffs.engines.base import Step, option_words
from hitsndiffs.engines.memory import MemoryEngine

__all__ = ["NumpyEngine"]

IntVector = npt.NDArray[np.integer[Any]]

#: Passes with at least this many columns use a dense matrix, if it has at most this many cells and
#: at least this share of ones. (If half are ones, products take 40 % of the time.)
MANY_COLUMNS = 8
TABLE_CELLS, TABLE_FULL = 4_000_000, 0.3


class NumpyEngine(MemoryEngine):
    """The sums as products with a sparse matrix of ones."""

    name: ClassVar[str] = "numpy"

    @cached_property
    def choosers_per_option(self) -> Ints:
        """How many users chose each option; the sparse matrix has these counts already."""
        return np.asarray(np.diff(self.by_option.indptr), dtype=np.int64)

    def choices(self, weights: Floats) -> Floats:
        """``C w``."""
        return self.by_user @ weights  # type: ignore[no-any-return]

    def choosers(self, scores: Floats) -> Floats:
        """``Cᵀ s``."""
        return self.by_option @ scores  # type: ignore[no-any-return]

    @cached_property
    def _table(self) -> Floats | None:
        """The dense matrix of ones and zeros, if it is small and full: its products are faster."""
        cells = self.n_users * self.n_options
        if cells > TABLE_CELLS or self.n_responses < TABLE_FULL * cells:
            return None
        return self.by_user.toarray()

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)`` with all users as one block: small data fit in the cache."""
        many = weights.ndim == 2 and not 0 < weights.shape[1] < MANY_COLUMNS
        table = self._table if many else None
        rows, columns = (self.by_user, self.by_option) if table is None else (table, table.T)
        stepped = step(rows @ weights, *arrays)
        if isinstance(stepped, tuple):
            return columns @ stepped[0], stepped[1]
        return columns @ stepped

    def mapped(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``step(C w, …)``."""
        return step(self.choices(weights), *arrays)

    def extremes(self, positions: IntVector, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        options = self.items.starts[min(first_items or self.n_items, self.n_items)]
        starts = self.by_option.indptr[:options]
        sorted_by_option = positions[self.by_option.indices[: self.by_option.indptr[options]]]
        return (
            np.minimum.reduceat(sorted_by_option, starts),
            np.maximum.reduceat(sorted_by_option, starts),
        )

    def some_rows(self, users: IntVector) -> Rows:
        """The options that some users chose, as rows."""
        return some_rows((self.by_user.indptr, self.by_user.indices), users)

    def fingerprints(self, words: Words | None = None) -> Words:
        """A 64-bit number per answer sheet."""
        found: Words = self.by_user @ (option_words(self.n_options) if words is None else words)
        return found
