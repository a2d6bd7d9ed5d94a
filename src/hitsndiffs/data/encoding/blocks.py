"""Blocks of rows with many items, whose cells are places in a short list of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Ints
from hitsndiffs.data.encoding.option_book import OptionBook

__all__ = ["CellBlock", "NumberedBlock"]


@dataclass(frozen=True)
class CellBlock:
    """Some rows of the items of a wide table.

    Parameters
    ----------
    places
        Items × rows: the place of each cell's text. The array may have columns to spare.
    n_rows
        Number of rows.
    texts
        For each item, its distinct texts as written, in the order of their places; fewer than 255.
    """

    places: npt.NDArray[np.uint8]
    n_rows: int
    texts: Sequence[Sequence[str]]

    def numbered(self, books: Sequence[OptionBook], first_row: int) -> NumberedBlock:
        """Number the texts with the items' books, adding new options."""
        widest = max(map(len, self.texts), default=0)
        numbers = np.full((len(books), widest), -1, dtype=np.int64)
        for row, book, texts in zip(numbers, books, self.texts, strict=True):
            row[: len(texts)] = book.number(texts)
        return NumberedBlock(self.places, self.n_rows, numbers, first_row)


@dataclass(frozen=True)
class NumberedBlock:
    """Like :class:`CellBlock`, with the number of each text's option (-1: no answer)."""

    places: npt.NDArray[np.uint8]
    n_rows: int
    numbers: Ints
    first_row: int

    def fill(
        self,
        codes: Array,
        targets: Ints,
        ranks: Ints,
        starts: Ints,
    ) -> None:
        """Write the final codes of these rows.

        Parameters
        ----------
        codes
            Items × users.
        targets
            For each item of the block, its row in ``codes``; -1 for an item that nobody answered.
        ranks, starts
            The rank of each numbered option within its item, and where each row's options begin.
        """
        known = self.numbers >= 0
        tables = np.full(self.numbers.shape, np.iinfo(codes.dtype).max, dtype=codes.dtype)
        tables[known] = ranks[(self.numbers + starts[targets][:, np.newaxis])[known]]
        last = self.first_row + self.n_rows
        for target, table, places in zip(targets.tolist(), tables, self.places, strict=True):
            if target < 0:
                continue
            own = places[: self.n_rows]
            if codes.dtype == np.uint8:  # translating bytes is ten times as fast as indexing
                whole = np.full(256, 255, dtype=np.uint8)
                whole[: len(table)] = table
                found = own.tobytes().translate(whole.tobytes())
                codes[target, self.first_row : last] = np.frombuffer(found, dtype=np.uint8)
            else:
                codes[target, self.first_row : last] = table[own]
