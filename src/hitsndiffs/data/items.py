"""Arithmetic within items: sums, maxima and softmax over each item's options."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses

__all__ = ["Within"]

Array = npt.NDArray[np.float64]


class Within:
    """Sums over the options of an item; blocks of columns are handled column by column.

    Parameters
    ----------
    responses
        Whose items.
    first, last
        Only the items from ``first`` to ``last - 1``, whose options are then counted from 0.

    Examples
    --------
    >>> r = Responses.from_wide([["A", "x"], ["B", "x"], ["B", "y"]])
    >>> Within(r).total(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [3.0, 7.0]
    """

    def __init__(self, responses: Responses, first: int = 0, last: int | None = None) -> None:
        last = responses.n_items if last is None else last
        begin, end = responses.item_starts[[first, last]]
        self.starts = responses.item_starts[first:last] - begin
        self.items = responses.option_items[begin:end] - first
        self.sizes = np.diff(responses.item_starts[first : last + 1]).astype(float)

    def total(self, x: Array) -> Array:
        """One sum per item."""
        return np.add.reduceat(x, self.starts, axis=0)

    def sum(self, x: Array) -> Array:
        """The item's sum, at each of its options."""
        return self.total(x)[self.items]

    def max(self, x: Array) -> Array:
        """The item's largest value, at each of its options."""
        return np.maximum.reduceat(x, self.starts, axis=0)[self.items]

    def softmax(self, logs: Array) -> Array:
        """Probabilities within each item from their logarithms (up to a constant)."""
        raised = np.exp(logs - self.max(logs))
        return raised / self.sum(raised)

    def centred(self, x: Array, counts: Array) -> Array:
        """``x`` minus its mean over the item's answers (``counts`` per option)."""
        totals = self.total(counts)
        means = np.divide(
            self.total(counts * x), totals, out=np.zeros_like(totals), where=totals > 0
        )
        return x - means[self.items]
