"""The items and their options: labels, where each item's options begin, and sums within items."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Flags, Floats
from hitsndiffs.data.labels import label_array
from hitsndiffs.data.spelling import named_options, same_option

__all__ = ["Items"]

Ints = npt.NDArray[np.integer[Any]]

#: If items have at most this many further options, rows are added option by option: NumPy's
#: ``reduceat`` on rows takes ten times as long.
MANY_OPTIONS = 30


class Items:
    """All items with their options; small enough to be in memory on any engine.

    Options are numbered item after item: item ``i`` owns ``starts[i] … starts[i + 1] - 1``. Blocks
    of columns are handled column by column.

    Parameters
    ----------
    labels
        One per item.
    option_labels
        One per option.
    starts
        Where each item's options begin, plus the total at the end.

    Examples
    --------
    >>> items = Items(np.array(["q1", "q2"]), np.array(["A", "B", "x", "y"]), np.array([0, 2, 4]))
    >>> items.total(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [3.0, 7.0]
    """

    def __init__(self, labels: Array, option_labels: Array, starts: Ints) -> None:
        self.labels = labels
        self.option_labels = option_labels
        self.starts = np.asarray(starts, dtype=np.int64)

    @classmethod
    def of(cls, labels: Sequence[Any] | Array, options: Sequence[Sequence[Any]]) -> Items:
        """Items from their labels and the labels of each one's options.

        >>> Items.of(["q1", "q2"], ["AB", "x"]).starts.tolist()
        [0, 2, 3]
        """
        starts = np.cumsum([0, *map(len, options)])
        return cls(label_array(labels), label_array([o for own in options for o in own]), starts)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.starts) - 1

    @property
    def n_options(self) -> int:
        """Number of options of all items."""
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Floats:
        """How many options each item has."""
        return np.diff(self.starts).astype(float)

    @cached_property
    def of_option(self) -> npt.NDArray[np.int32]:
        """The item that each option belongs to."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), np.diff(self.starts))

    def only(self, options: Ints) -> Items:
        """Some options, in order, and the items that have any of them."""
        items, sizes = np.unique(self.of_option[options], return_counts=True)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Items(self.labels[items], self.option_labels[options], starts)

    def block(self, first: int, last: int) -> Items:
        """The items ``first … last - 1``, with their options numbered from 0."""
        return self.only(np.arange(*self.starts[[first, last]]))

    # -- arithmetic within items ------------------------------------------------------------

    @cached_property
    def _further(self) -> list[tuple[Any, Any]]:
        """The items that have a second option, with those options; then the third, and so on."""
        sizes = np.diff(self.starts)
        most = int(sizes.max(initial=1))
        if (sizes == most).all():
            return [(slice(None), slice(place, None, most)) for place in range(1, most)]
        with_more = (np.flatnonzero(sizes > place) for place in range(1, most))
        return [(more, self.starts[more] + k) for k, more in enumerate(with_more, start=1)]

    def total(self, x: Floats) -> Floats:
        """One sum per item."""
        if x.ndim == 1 or x.shape[1] == 1 or len(self._further) > MANY_OPTIONS:
            return np.add.reduceat(x, self.starts[:-1], axis=0)
        totals = x[self.starts[:-1]]
        for items, options in self._further:
            totals[items] += x[options]
        return totals

    def sum(self, x: Floats) -> Floats:
        """The item's sum, at each of its options."""
        return self.total(x)[self.of_option]

    def max(self, x: Floats) -> Floats:
        """The item's largest value, at each of its options."""
        return np.maximum.reduceat(x, self.starts[:-1], axis=0)[self.of_option]

    def any(self, x: Flags) -> Flags:
        """Whether ``x`` is true for any option of the item, at each of its options."""
        return np.logical_or.reduceat(x, self.starts[:-1])[self.of_option]

    def softmax(self, logs: Floats) -> Floats:
        """Probabilities within each item from their logarithms (up to a constant)."""
        raised = np.exp(logs - self.max(logs))
        return raised / self.sum(raised)

    def share(self, weights: Floats) -> Floats:
        """Non-negative weights divided by their sum within the item (equal shares if it is 0)."""
        totals = self.sum(weights)
        even = (1.0 / self.sizes)[self.of_option]
        return np.divide(weights, totals, out=even, where=totals > 0)

    def centred(self, x: Floats, counts: Floats) -> Floats:
        """``x`` minus its mean over the item's answers (``counts`` per option)."""
        totals = self.total(counts)
        means = np.divide(
            self.total(counts * x), totals, out=np.zeros_like(totals), where=totals > 0
        )
        return x - means[self.of_option]

    # -- labels -----------------------------------------------------------------------------

    @cached_property
    def places(self) -> dict[str, int]:
        """Each item's number, by its label as text."""
        return {str(label).strip(): i for i, label in enumerate(self.labels)}

    def option_named(self, item: int, text: str) -> int | None:
        """The number of the item's option with this label, in whatever spelling, or ``None``."""
        first, last = self.starts[item : item + 2].tolist()
        labels = [str(label) for label in self.option_labels[first:last]]
        same = same_option(text, labels)
        return None if same is None else first + labels.index(same)

    def options_named(self, item: int, entry: Any) -> list[int]:
        """The numbers of the item's options that an entry of a key names: a list, or ``"A;C"``."""
        if isinstance(entry, (list, tuple, set, frozenset)):
            return [option for one in entry for option in self.options_named(item, one)]
        first, last = self.starts[item : item + 2].tolist()
        labels = [str(label) for label in self.option_labels[first:last]]
        return [first + labels.index(label) for label in named_options(str(entry).strip(), labels)]
