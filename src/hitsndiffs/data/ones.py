"""A sparse matrix of ones: who chose what, as rows of column numbers."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats

__all__ = ["Ones"]


#: Up to this many ones, sums without SciPy take less time than SciPy takes to load.
FEW = 10_000


class Ones:
    """A matrix of ones and zeros.

    Parameters
    ----------
    indptr, indices
        Where each row begins, and the columns of its ones.
    n_columns
        How many columns there are.

    Examples
    --------
    >>> ones = Ones(np.array([0, 2, 3]), np.array([0, 2, 1]), 3)
    >>> (ones @ np.array([1.0, 10.0, 100.0])).tolist()
    [101.0, 10.0]
    >>> (ones.T @ np.array([1.0, 10.0])).tolist()
    [1.0, 10.0, 1.0]
    """

    def __init__(self, indptr: Array, indices: Array, n_columns: int) -> None:
        if len(indices) < 2**31:  # SciPy takes twice as long with 64-bit indices
            indptr = indptr.astype(np.int32)
        self.indptr, self.indices = indptr, indices
        self.shape = (len(indptr) - 1, n_columns)

    @cached_property
    def _rows(self) -> Array:
        """The row of every one."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    @cached_property
    def in_scipy(self) -> Any:
        """The same as SciPy's sparse rows."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape=self.shape)

    @cached_property
    def T(self) -> Ones:
        """Columns as rows."""
        if len(self.indices) > FEW:
            turned = self.in_scipy.T.tocsr()
            return Ones(turned.indptr, turned.indices, self.shape[0])
        begins = np.zeros(self.shape[1] + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.indices, minlength=self.shape[1]), out=begins[1:])
        return Ones(begins, self._rows[np.argsort(self.indices, kind="stable")], self.shape[0])

    def toarray(self) -> Floats:
        """The same as an array."""
        full = np.zeros(self.shape)
        full[self._rows, self.indices] = 1.0
        return full

    def __matmul__(self, values: Array) -> Any:
        """Sums within rows, of one column of values or several.

        Whole numbers of 64 bits are added modulo 2⁶⁴. Real numbers are added one by one from the
        left: equal rows have equal sums, and the result is SciPy's to the last bit.
        """
        if values.dtype == np.uint64:
            words = np.zeros(len(self.indices) + 1, dtype=np.uint64)
            np.cumsum(values.take(self.indices), out=words[1:])
            return np.diff(words[self.indptr])
        if len(self.indices) > FEW or sys.modules.get("scipy.sparse"):
            return self.in_scipy @ values
        k = values.shape[1] if values.ndim == 2 else 1
        cells = (self._rows[:, None] * k + np.arange(k)).reshape(-1)
        chosen = values.take(self.indices, axis=0).reshape(-1)
        sums = np.bincount(cells, chosen, self.shape[0] * k)
        return sums.reshape(self.shape[0], *values.shape[1:])
