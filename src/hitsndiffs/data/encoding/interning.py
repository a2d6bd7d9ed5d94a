"""Number the labels of long columns in order of first appearance, without an object per cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding.long import Factor
from hitsndiffs.data.encoding.option_book import is_blank
from hitsndiffs.data.encoding.series import as_plain, text_of
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Interner", "number_objects", "number_series", "trimmed"]

#: Rows numbered at a time.
SLICE = 4_000_000

Numbers = npt.NDArray[np.int32]


class Interner:
    """Numbers the labels of a long column in order of first appearance, some rows at a time."""

    def __init__(self, rows: int = SLICE) -> None:
        self._rows = rows
        self._labels: list[Any] = []
        self._pieces: list[Numbers] = []

    def add(self, column: pl.Series | list[str]) -> None:
        """Number the next piece of the column; a list must be the whole column."""
        if isinstance(column, list):
            labels, numbers = number_objects(column)
            self._labels, self._pieces = [labels], [numbers]
            return
        for first in range(0, len(column), self._rows):
            distinct, numbers = number_series(column.slice(first, self._rows))
            self._labels.append(text_of(distinct))
            self._pieces.append(numbers)

    def factor(self) -> Factor:
        """Return the labels, as written, and the numbers."""
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
    """Return the distinct values of a column in order of first appearance, and each cell's number.

    Integers are kept, all else becomes text; null has the number -1.

    Examples
    --------
    >>> import polars as pl
    >>> distinct, numbers = number_series(pl.Series(["b", "a", None, "b"]))
    >>> distinct.to_list(), numbers.tolist()
    (['b', 'a'], [0, 1, -1, 0])
    """
    import polars as pl

    series = as_plain(series)
    if not series.dtype.is_integer():
        series = text_of(series)
    distinct = series.unique(maintain_order=True).drop_nulls()
    numbered = pl.DataFrame({"label": distinct}).with_row_index("number")
    cells = pl.DataFrame({"label": series})
    found = cells.join(numbered, on="label", how="left", maintain_order="left")["number"]
    return distinct, found.cast(pl.Int32).fill_null(-1).to_numpy(writable=True)


def number_objects(values: Iterable[Any]) -> tuple[list[Any], Numbers]:
    """Return the distinct values of a column in order of first appearance, and each cell's number.

    Examples
    --------
    >>> distinct, numbers = number_objects(["b", 3, "b"])
    >>> distinct, numbers.tolist()
    (['b', 3], [0, 1, 0])
    """
    seen: dict[Any, int] = {}
    try:
        numbers = [seen.setdefault(value, len(seen)) for value in values]
    except TypeError as error:
        raise InputError(f"users, items and options must be numbers or texts ({error}).") from None
    return list(seen), np.array(numbers, dtype=np.int32)


def trimmed(factor: Factor) -> Factor:
    """Strip texts, merge labels that are then equal, and take blank ones as null; keep numbers.

    Examples
    --------
    >>> found = trimmed(Factor(["a ", None, "a", 3], np.array([0, 1, 2, 3], dtype=np.int32)))
    >>> found.labels, found.numbers.tolist()
    (['a', 3], [0, -1, 0, 1])
    """
    if all(type(label) is str and label and label == label.strip() for label in factor.labels):
        return factor
    index: dict[Any, int] = {}
    lookup = np.full(len(factor.labels) + 1, -1, dtype=np.int32)
    for place, label in enumerate(factor.labels):
        label = label.item() if isinstance(label, np.generic) else label
        if not is_blank(label):
            label = label.strip() if isinstance(label, str) else label
            lookup[place] = index.setdefault(label, len(index))
    return Factor(list(index), lookup[factor.numbers])
