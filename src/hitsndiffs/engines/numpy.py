"""The plain engine: SciPy's compressed rows, no compilation, quick to import."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.layouts import Rows, some_rows
from hitsndiffs.engines.base import Step, option_words
from hitsndiffs.engines.memory import MemoryEngine

__all__ = ["NumpyEngine"]

Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
IntVector = npt.NDArray[np.integer[Any]]


class NumpyEngine(MemoryEngine):
    """The sums as products with a sparse matrix of ones."""

    name: ClassVar[str] = "numpy"

    @cached_property
    def choosers_per_option(self) -> Ints:
        """How many users chose each option: the columns are counted already."""
        return np.asarray(np.diff(self.by_option.indptr), dtype=np.int64)

    def choices(self, weights: Vector) -> Vector:
        """``C w``."""
        return self.by_user @ weights  # type: ignore[no-any-return]

    def choosers(self, scores: Vector) -> Vector:
        """``Cᵀ s``."""
        return self.by_option @ scores  # type: ignore[no-any-return]

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
        starts = self.by_option.indptr[:options]
        sorted_by_option = positions[self.by_option.indices[: self.by_option.indptr[options]]]
        return (
            np.minimum.reduceat(sorted_by_option, starts),
            np.maximum.reduceat(sorted_by_option, starts),
        )

    def some_rows(self, users: IntVector) -> Rows:
        """The options that some users chose, in rows."""
        return some_rows((self.by_user.indptr, self.by_user.indices), users)

    def fingerprints(self, words: Words | None = None) -> Words:
        """A 64-bit number per answer sheet."""
        words = option_words(self.n_options) if words is None else words
        sums = np.zeros(len(self.by_user.indices) + 1, dtype=np.uint64)
        np.cumsum(words.take(self.by_user.indices), out=sums[1:])
        return np.asarray(np.diff(sums[self.by_user.indptr]))
