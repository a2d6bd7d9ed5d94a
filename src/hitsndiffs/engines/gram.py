"""How many users chose both of two options, for all pairs: the matrix ``Cᵀ C``.

If everybody answered everything, every round of a spectral method is a product with this matrix,
for any axis and shrinkage. It is counted with bit sets: one set of users per option, one bit per
user, and the number of ones in the intersection of two sets. With few options that costs as much as
about ten rounds, and every further round is nearly free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.pool import Run

__all__ = ["OptionSets", "few_sets", "gram_matrix"]


#: Maximum number of sets of users; counting this many costs about ten rounds.
MOST_SETS = 500
#: 64-bit words of each set processed at a time: a tile of all sets fits in the cache.
TILE = 256


def few_sets(items: Items) -> bool:
    """Whether the options are few enough to count all pairs of them."""
    return items.n_options - items.n_items <= MOST_SETS


@dataclass(frozen=True)
class OptionSets:
    """The options whose choosers are counted: all but the last of each item.

    The last option's choosers are everybody minus the choosers of the others.

    Attributes
    ----------
    items, codes
        For each set, the item and the option's place in it.
    widths
        How many options each item has.
    """

    items: Ints
    codes: Ints
    widths: Ints

    @classmethod
    def of(cls, item_starts: Ints) -> OptionSets:
        """The sets for items whose options begin at ``item_starts``."""
        widths = np.diff(item_starts)
        items = np.repeat(np.arange(len(widths)), widths - 1)
        begins = np.cumsum(widths - 1) - (widths - 1)
        return cls(items, np.arange(len(items)) - np.repeat(begins, widths - 1), widths)

    def all_pairs(self, counts: Array, n_users: int) -> Floats:
        """``Cᵀ C`` from the sizes of the intersections of the sets (upper triangle)."""
        upper = np.triu(counts.astype(np.float64))
        pairs = upper + np.triu(upper, 1).T
        n_sets = len(self.items)
        counted = np.empty((n_sets + 1, n_sets + 1))
        counted[0, 0], counted[1:, 1:] = n_users, pairs
        counted[0, 1:] = counted[1:, 0] = np.diag(pairs)
        return self._with_last(self._with_last(counted).T)

    def _with_last(self, counted: Floats) -> Floats:
        """Rows for all options, from the row for everybody (the first) and those of the sets."""
        last = np.cumsum(self.widths) - 1
        found = np.empty((int(self.widths.sum()), counted.shape[1]))
        found[np.setdiff1d(np.arange(len(found)), last)] = counted[1:]
        summed = np.concatenate([np.zeros((1, counted.shape[1])), np.cumsum(counted[1:], axis=0)])
        ends = np.cumsum(self.widths - 1)
        found[last] = counted[0] - (summed[ends] - summed[ends - (self.widths - 1)])
        return found


def gram_matrix(codes: Array, item_starts: Ints, run: Run) -> Floats:
    """Count the users who chose both options, for every pair.

    Parameters
    ----------
    codes
        ``(n_items, n_users)``; everybody must have answered everything.
    item_starts
        Where each item's options begin, and the end.
    run
        The threads.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [1, 0, 1]], dtype=np.uint8)
    >>> gram_matrix(codes, np.array([0, 2, 4]), Run(1)).astype(int).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 2]]
    """
    from hitsndiffs.engines.gram_kernels import count_pairs, fill_bits

    sets = OptionSets.of(item_starts)
    n_sets, n_users = len(sets.items), codes.shape[1]
    set_codes = sets.codes.astype(codes.dtype)  # same type: many bytes are compared at a time
    n_words = -(-n_users // 64)
    pieces = max(1, min(4 * run.threads, n_words // TILE))
    bounds = [n_words * piece // pieces for piece in range(pieces + 1)]
    counts = np.zeros((pieces, n_sets, n_sets), dtype=np.uint64)

    def work(piece: int) -> None:
        bits = np.empty((n_sets, TILE), dtype=np.uint64)
        for first in range(bounds[piece], bounds[piece + 1], TILE):
            words = min(TILE, bounds[piece + 1] - first)
            fill_bits(codes, sets.items, set_codes, first, words, bits)
            count_pairs(bits, words, counts[piece])

    run(pieces, work)
    return sets.all_pairs(counts.sum(axis=0), n_users)
