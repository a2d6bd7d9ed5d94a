"""Labels of long columns to numbers, in order of first appearance, without an object per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding.long import Factor
from hitsndiffs.data.encoding.series import as_plain, text_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Interner", "number_keys"]

_SLICE = 4_000_000
#: Rows that are worked on at a time: what they need stays in the cache, and is not given back.
_BLOCK = 1 << 18
_MIX = 0x9E3779B97F4A7C15  # odd, so that multiplying loses nothing

Numbers = npt.NDArray[np.int32]


def number_keys(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Number whole numbers as they first appear.

    Every key writes its row into one slot of a table; of the keys that share a slot the first
    wins, and the others go on to the next round with another table.

    Returns
    -------
    rows
        Where each different key appears first.
    numbers
        For each key, its place in ``rows``.

    Examples
    --------
    >>> rows, numbers = number_keys(np.array([7, 5, 7, 9], dtype=np.uint64))
    >>> rows.tolist(), numbers.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    n_keys = len(keys)
    bits = _table_bits(keys)
    table = np.empty(1 << bits, dtype=np.int32)
    first = np.empty(n_keys, dtype=np.int32)
    left = np.arange(n_keys, dtype=np.int32)
    factor = 1
    while len(left):
        factor = factor * _MIX % 2**64
        blocks = [left[k : k + _BLOCK] for k in range(0, len(left), _BLOCK)]
        for rows in reversed(blocks):
            # Of several writes to a slot the last one counts, which is that of the first row.
            table[_slots(keys[rows], factor, bits)[::-1]] = rows[::-1]
        waiting = []
        for rows in blocks:
            own = keys[rows]
            winners = table[_slots(own, factor, bits)]
            settled = keys[winners] == own
            first[rows[settled]] = winners[settled]
            waiting.append(rows[~settled])
        left = np.concatenate(waiting)
    is_first = first == np.arange(n_keys, dtype=np.int32)
    ranks = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(is_first), ranks[first]


def _slots(keys: npt.NDArray[np.uint64], factor: int, bits: int) -> npt.NDArray[np.uint64]:
    mixed = keys * np.uint64(factor)
    mixed >>= np.uint64(64 - bits)
    return mixed


def _table_bits(keys: npt.NDArray[np.uint64]) -> int:
    """Return the size of the table: few keys that repeat fit into the processor's cache."""
    sample = keys[:: max(1, len(keys) // 4096)]
    n_different = len(np.unique(sample))
    expected = 16 * n_different if 2 * n_different < len(sample) else len(keys)
    return min(max(expected, 2).bit_length() + 1, 25)


class Interner:
    """Numbers the labels of a long column as they first appear, piece by piece."""

    def __init__(self) -> None:
        self._labels: list[Any] = []
        self._pieces: list[Numbers] = []

    def add(self, column: pl.Series | list[str]) -> None:
        """Number the next piece of the column; a list must be all of it."""
        if isinstance(column, list):
            seen: dict[str, int] = {}
            places = [seen.setdefault(cell, len(seen)) for cell in column]
            self._labels = [list(seen)]
            self._pieces = [np.array(places, dtype=np.int32)]
            return
        for first in range(0, len(column), _SLICE):
            labels, numbers = number_series(column.slice(first, _SLICE))
            self._labels.append(text_of(labels))
            self._pieces.append(numbers)

    def factor(self) -> Factor:
        """Return labels and numbers; the labels as they were written."""
        pieces, self._pieces = self._pieces, []
        if len(pieces) < 2:
            labels = list(self._labels[0]) if pieces else []
            return Factor(labels, pieces[0] if pieces else np.empty(0, dtype=np.int32))
        import polars as pl

        # The labels of all pieces are joined once, at the end.
        joined, places = number_series(pl.concat(self._labels))
        numbers = np.empty(sum(map(len, pieces)), dtype=np.int32)
        begin = done = 0
        while pieces:
            piece = pieces.pop(0)
            own = places[begin : begin + len(self._labels[0])]
            begin += len(self._labels.pop(0))
            numbers[done : done + len(piece)] = np.append(own, np.int32(-1))[piece]
            done += len(piece)
        return Factor(joined.to_list(), numbers)


def number_series(series: pl.Series) -> tuple[pl.Series, Numbers]:
    """Return the different values of a column as they first appear, and each cell's number.

    Numbers are kept, all else becomes text; null has the number -1.
    """
    import polars as pl

    series = as_plain(series)
    if not series.dtype.is_integer():
        series = text_of(series)
    if series.null_count():
        numbers = np.full(len(series), -1, dtype=np.int32)
        distinct, present = number_series(series.drop_nulls())
        numbers[series.is_not_null().to_numpy()] = present
        return distinct, numbers
    if series.dtype.is_integer():
        rows, numbers = number_keys(series.to_numpy().astype(np.int64).view(np.uint64))
        return series.gather(rows), numbers
    rows, numbers = number_keys(series.hash().to_numpy())
    distinct = series.gather(rows)
    if not distinct.gather(numbers).equals(series):
        # Two texts with one hash: this does not happen, and must not go wrong if it does.
        distinct = series.unique(maintain_order=True)
        numbers = series.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).to_numpy().copy()
    return distinct, numbers
