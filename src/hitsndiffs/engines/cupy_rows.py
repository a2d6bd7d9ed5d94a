"""Each user's option numbers in a GPU's memory, for sparse data."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines.cupy_launch import cover, largest_sizes, launch, units_of

__all__ = ["DeviceRows"]

Array = Any  # a cupy.ndarray


class DeviceRows:
    """Each user's option numbers on the device, for sparse data."""

    def __init__(self, indptr: Any, options: Any, n_options: int) -> None:
        self._indptr = cp.asarray(indptr, dtype=cp.int64)
        self._options = cp.asarray(options, dtype=cp.int32)
        self.n_users, self.n_options = len(indptr) - 1, n_options

    @property
    def nbytes(self) -> int:
        """Memory for the answers, in bytes."""
        return int(self._indptr.nbytes + self._options.nbytes)

    def choices(self, weights: Array, first: int = 0, last: int | None = None) -> Array:
        """``C w`` for each column of ``weights``."""
        last = self.n_users if last is None else last
        columns = weights.shape[1]
        kind = "whole" if weights.dtype == cp.uint64 else "doubles"
        given = cp.ascontiguousarray(weights)
        scores = cp.empty((last - first, columns), dtype=weights.dtype)
        most = 2**30 // columns
        for start in range(first, last, most):
            count = min(most, last - start)
            launch(
                f"choices_rows_{kind}",
                (cover(count * columns),),
                (self._indptr, self._options, np.int64(start), np.uint32(count), given,
                 np.int32(columns), scores[start - first :]),
            )  # fmt: skip
        return scores

    def choosers(self, scores: Array, first: int = 0, largest: Array = None) -> Array:
        """``Cᵀ s`` for each column of ``scores``, over the users from ``first`` on."""
        count, columns = scores.shape
        steps = tuple(np.int64(step // 8) for step in scores.strides)
        largest = largest_sizes(scores) if largest is None else largest
        units = units_of(largest, self.n_users)
        totals = cp.zeros((columns, self.n_options), dtype=cp.int64)
        launch(
            "choosers_rows",
            (cover(count), columns),
            (self._indptr, self._options, np.int64(first), np.int64(count), scores, *steps,
             1.0 / units, np.int64(self.n_options), totals),
        )  # fmt: skip
        return cp.ascontiguousarray((totals * units[:, None]).T)

    def through(
        self,
        weights: Array,
        scale: Array,
        bound: float,  # noqa: ARG002
    ) -> Array:
        """``Cᵀ (scale * (C w))`` for one vector."""
        return self.choosers(self.choices(weights[:, None]) * scale.reshape(-1, 1))[:, 0]

    def extremes(self, positions: Array) -> tuple[Array, Array]:
        """Smallest and largest position of each option's choosers."""
        low = cp.full(self.n_options, np.iinfo(np.int64).max)
        high = cp.full(self.n_options, np.iinfo(np.int64).min)
        launch(
            "extremes_rows",
            (-(-self.n_users // 256),),
            (self._indptr, self._options, np.int64(self.n_users), positions, low, high),
        )
        return low, high

    def answer_sheets(self, users: Ints) -> Floats:
        """The answer sheets of a few users: one column each, 1 for the options chosen."""
        sheets = np.zeros((self.n_options, len(users)))
        for column, user in enumerate(users.tolist()):
            first, last = self._indptr[user : user + 2].tolist()
            sheets[cp.asnumpy(self._options[first:last]), column] = 1.0
        return sheets
