"""Labels of users and items, and how messages name a place in the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array
from hitsndiffs.errors import InputError

__all__ = [
    "Place",
    "check_sizes",
    "label_array",
    "label_bytes",
]

#: Approximate size of a short text as a Python object (bytes).
_TEXT_OBJECT = 64
#: More labels than this are kept as fixed-width text, at a fraction of the memory of objects.
_MANY_LABELS = 1_000_000


@dataclass
class Place:
    """Where the data came from, as worded in error messages.

    Parameters
    ----------
    source
        The name of the file, or ``"the table"``.
    unit
        ``"line"`` for text files, else ``"row"``.
    line_of
        Maps the number of a data row (from 0) to the number that users see.
    by_position
        Whether rows are counted from 1 without a header; messages then say so.
    """

    source: str = "the table"
    unit: str = "row"
    line_of: Callable[[int], int] = field(default=lambda row: row + 1)
    by_position: bool = True

    def rows(self, rows: Sequence[int]) -> str:
        """Return, for example, ``lines 3, 7 and 9``.

        Examples
        --------
        >>> Place("a.csv", "line", lambda row: row + 2, by_position=False).rows([1, 5])
        'lines 3 and 7'
        """
        numbers = [str(self.line_of(int(row))) for row in rows[:5]]
        if len(rows) > 5:
            numbers.append(f"{len(rows) - 5} more")
        counting = " (counting from 1)" if self.by_position else ""
        if len(numbers) == 1:
            return f"{self.unit} {numbers[0]}{counting}"
        return f"{self.unit}s {', '.join(numbers[:-1])} and {numbers[-1]}{counting}"

    def row(self, row: int) -> str:
        """Return, for example, ``line 3``."""
        return self.rows([row])


def check_sizes(
    place: Place, users: Sequence[Any] | Array, n_items: int, *, whole: bool = True
) -> None:
    """Refuse data that cannot be ranked: no items, or fewer than two users.

    A part of the data (not ``whole``) may have any number of users.
    """
    if n_items == 0:
        raise InputError(
            f"{place.source}: no item columns were found; a wide table needs one column per item "
            "(and may have one that names the users), a long table the three columns user, item "
            "and option."
        )
    if not whole:
        return
    if len(users) == 0:
        raise InputError(
            f"{place.source}: there are no rows of answers; give one row per user (wide) "
            "or one row per answer (long)."
        )
    if len(users) == 1:
        raise InputError(
            f"{place.source}: only one user was found ({str(users[0])!r}), and a ranking compares "
            "at least two; give the answers of the others, too, in the same table or in files of "
            "their own."
        )


def label_array(labels: Sequence[Any] | Array, *, many: int = _MANY_LABELS) -> Array:
    """Return labels as a one-dimensional array: integers as an integer array, others as given.

    Examples
    --------
    >>> label_array([3, 1]).dtype, label_array(["a", "b"]).dtype, label_array(["a", 1]).tolist()
    (dtype('int64'), dtype('O'), ['a', 1])
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        return labels
    labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if labels and all(type(label) is int and abs(label) < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    if len(labels) > many and _short_texts(labels):
        return np.array(labels, dtype=np.str_)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def label_bytes(labels: Array) -> int:
    """Approximate memory of some labels, in bytes.

    >>> label_bytes(np.arange(5)), label_bytes(np.array(["ann", "bob"], dtype=object))
    (40, 144)
    """
    objects = labels.dtype == object
    return int(labels.nbytes + (_TEXT_OBJECT * len(labels) if objects else 0))


def _short_texts(labels: list[Any]) -> bool:
    return all(isinstance(label, str) and len(label) <= 32 for label in labels)
