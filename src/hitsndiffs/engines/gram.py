"""How many users chose both of two options, for all pairs: the matrix ``Cᵀ C``.

Where everybody answered everything, every round of a spectral method is a product with this matrix,
whatever the axis and the shrinkage. It is counted with bits: a set of users per option, one bit per
user, and the ones in the intersection of two sets. With few options that costs as much as some ten
rounds, and every further round is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.pool import Run
from hitsndiffs.engines.gram_kernels import count_pairs, fill_bits

__all__ = ["gram_matrix"]

Ints = npt.NDArray[np.int64]

#: 64-bit words of each set that are worked on at a time: all sets of a tile fit the cache.
TILE = 256


def gram_matrix(codes: npt.NDArray[Any], item_starts: Ints, run: Run) -> npt.NDArray[np.float64]:
    """Count the users of every pair of options.

    Parameters
    ----------
    codes
        ``(n_items, n_users)``; everybody answered everything.
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
    n_users = codes.shape[1]
    widths = np.diff(item_starts)
    # the last option of an item is everybody less the others: it needs no set of its own
    set_items = np.repeat(np.arange(len(widths)), widths - 1)
    set_codes = np.arange(len(set_items)) - np.repeat(
        np.cumsum(widths - 1) - (widths - 1), widths - 1
    )
    set_codes = set_codes.astype(codes.dtype)  # bytes are compared many at a time
    n_words = -(-n_users // 64)
    pieces = max(1, min(4 * run.threads, n_words // TILE))
    bounds = [n_words * piece // pieces for piece in range(pieces + 1)]
    counts = np.zeros((pieces, len(set_items), len(set_items)), dtype=np.uint64)

    def work(piece: int) -> None:
        bits = np.empty((len(set_items), TILE), dtype=np.uint64)
        for first in range(bounds[piece], bounds[piece + 1], TILE):
            words = min(TILE, bounds[piece + 1] - first)
            fill_bits(codes, set_items, set_codes, first, words, bits)
            count_pairs(bits, words, counts[piece])

    run(pieces, work)
    upper = np.triu(counts.sum(axis=0).astype(np.float64))
    pairs = upper + np.triu(upper, 1).T
    return _with_last_options(pairs, set_items, widths, n_users)


def _with_last_options(
    pairs: npt.NDArray[np.float64], set_items: Ints, widths: Ints, n_users: int
) -> npt.NDArray[np.float64]:
    """From the counted sets to all options: ``L [everybody; sets]`` names them."""
    n_sets, n_options = len(set_items), int(widths.sum())
    counted = np.empty((n_sets + 1, n_sets + 1))
    counted[0, 0], counted[1:, 1:] = n_users, pairs
    counted[0, 1:] = counted[1:, 0] = np.diag(pairs)
    last = np.cumsum(widths) - 1
    makes = np.zeros((n_options, n_sets + 1))
    makes[np.setdiff1d(np.arange(n_options), last), np.arange(1, n_sets + 1)] = 1.0
    makes[last, 0] = 1.0
    makes[last[set_items], np.arange(1, n_sets + 1)] = -1.0
    return np.asarray(makes @ counted @ makes.T)
