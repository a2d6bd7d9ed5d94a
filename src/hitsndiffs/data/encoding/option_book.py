"""From cells to options: which cells are missing, which options are the same, and their order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Flags, Ints

__all__ = [
    "MISSING_TEXTS",
    "OptionBook",
    "Skipped",
    "in_order",
    "is_blank",
    "normalise",
    "smallest",
]

#: Texts that mean «no answer», besides null, NaN and negative numbers.
MISSING_TEXTS = frozenset({"", "NA", "NaN", "nan", "null", "NULL", "<NA>"})

#: An option: a whole number, or a text. ``1``, ``1.0`` and ``" 1 "`` are all the number 1.
Option = int | str
Codes = npt.NDArray[np.unsignedinteger[Any]]

#: Longer texts are never numbers.
_LONGEST_NUMBER = 300

# ``007`` is a text: leading zeros have a purpose.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.0*)?")
_NEGATIVE = re.compile(r"-(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)


def is_blank(value: Any) -> bool:
    """Whether a label (of a user or an item) is missing: null, NaN or blank text."""
    if isinstance(value, str):
        return not value.strip()
    # pandas.NA is neither None nor a NaN, and cannot be compared.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def normalise(value: Any) -> Option | None:
    """Return the option that a cell stands for; None if it is not an answer.

    Examples
    --------
    >>> [normalise(v) for v in (1, 1.0, " 1 ", "1.0", "A ", "007", 0.5)]
    [1, 1, 1, 1, 'A', '007', '0.5']
    >>> [normalise(v) for v in (None, float("nan"), "", "NA", -1, "-1")]
    [None, None, None, None, None, None]
    """
    if isinstance(value, str):
        return _normalise_text(value)
    if is_blank(value):
        return None
    if isinstance(value, np.generic):
        return normalise(value.item())
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return int(value) if value >= 0 else None
    if isinstance(value, float):
        if value < 0:
            return None
        return int(value) if value.is_integer() else repr(float(value))
    if isinstance(value, bytes):
        return _normalise_text(value.decode("utf-8", "replace"))
    return _normalise_text(str(value))


def _normalise_text(text: str) -> Option | None:
    text = text.strip()
    if text in MISSING_TEXTS:
        return None
    # Texts of hundreds of digits are labels, not numbers.
    if text[0] in "+-.0123456789" and len(text) < _LONGEST_NUMBER:
        if _WHOLE.fullmatch(text):
            number = int(text.partition(".")[0])
            return number if number >= 0 else None
        if _NEGATIVE.fullmatch(text):
            return None
    return text


def in_order(options: Sequence[Option]) -> list[int]:
    """Return the places of the options in sorted order: by number if all are numbers, else by text.

    Examples
    --------
    >>> in_order([10, 9, "9.5"]), in_order(["b", 10, 9, "a"])
    ([1, 2, 0], [1, 2, 3, 0])
    """
    texts = [str(option) for option in options]
    if all(len(text) < _LONGEST_NUMBER and _NUMBER.fullmatch(text) for text in texts):
        return sorted(range(len(texts)), key=lambda k: (float(texts[k]), texts[k]))
    return sorted(range(len(texts)), key=texts.__getitem__)


class Skipped:
    """Values that were taken as «no answer» although the cell was not empty."""

    def __init__(self) -> None:
        self.values: dict[str, None] = {}

    def add(self, value: Any) -> None:
        """Remember a value, unless it is blank."""
        if not is_blank(value) and len(self.values) < 100:
            self.values[str(value).strip()] = None

    def note(self) -> list[str]:
        """Return a list with one sentence, or an empty list."""
        shown = sorted(value for value in self.values if value.lower() not in ("nan", "<na>"))
        if not shown:
            return []
        more = ", …" if len(shown) > 3 else ""
        return [f"Taken as no answer: {', '.join(shown[:3])}{more}."]


class OptionBook:
    """The options of one item, numbered as they come.

    Parameters
    ----------
    skipped
        Collects the values that mean «no answer».
    """

    __slots__ = ("_index", "is_text", "skipped")

    def __init__(self, skipped: Skipped | None = None) -> None:
        self._index: dict[Option, int] = {}
        self.skipped = Skipped() if skipped is None else skipped
        self.is_text = False

    def __len__(self) -> int:
        return len(self._index)

    @property
    def options(self) -> list[Option]:
        """The options, in the order in which they came."""
        return list(self._index)

    def labels(self, order: Sequence[int], *, as_text: bool) -> list[Option]:
        """Return the labels in the given order: all whole numbers, or all texts."""
        options = self.options
        if as_text or self.is_text or any(isinstance(option, str) for option in options):
            return [str(options[k]) for k in order]
        return [options[k] for k in order]

    def number(self, values: Iterable[Any]) -> Ints:
        """Return the number of each value's option, adding new options; -1 for no answer."""
        index = self._index
        numbers = []
        for value in values:
            option = normalise(value)
            if option is None:
                self.skipped.add(value)
                numbers.append(-1)
                continue
            if isinstance(value, str):
                self.is_text = True
            numbers.append(index.setdefault(option, len(index)))
        return np.array(numbers, dtype=np.int64)

    # -- columns to codes -------------------------------------------------------------------

    def code_distinct(self, distinct: Iterable[Any], places: Array) -> Codes:
        """Code a column given as its distinct values and each cell's place among them.

        Places outside ``distinct`` (-1; 255 in bytes) are null. Every value in ``distinct`` must
        occur.
        """
        numbers = self.number(distinct)
        if places.dtype == np.uint8 and (numbers == np.arange(len(numbers))).all():
            return places
        dtype = smallest(len(self))
        missing = np.iinfo(dtype).max
        lookup = np.append(np.where(numbers < 0, missing, numbers), missing).astype(dtype)
        if places.dtype == np.uint8:
            return np.take(lookup, places, mode="clip")
        coded: Codes = lookup[places]  # -1 is the last entry
        return coded

    def code_objects(self, values: Iterable[Any]) -> Codes:
        """Code a column of Python objects."""
        seen: dict[Any, int] = {}
        places = np.array(
            [seen.setdefault(_hashable(value), len(seen)) for value in values], dtype=np.int64
        )
        return self.code_distinct(seen, places)

    def code_integers(self, values: Array, null: Flags | None = None) -> Codes:
        """Code a column of integers; ``null`` marks empty cells, which hold 0."""
        if not len(values):
            return np.empty(0, dtype=np.uint8)
        low, high = int(values.min()), int(values.max())
        if low < -(2**15) or high >= 255:
            distinct, places = np.unique(values, return_inverse=True)
            if null is not None:
                used = np.zeros(len(distinct), dtype=bool)
                used[places[~null]] = True
                places = np.where(null, -1, (np.cumsum(used) - 1)[places])
                distinct = distinct[used]
            return self.code_distinct(distinct.tolist(), places)
        small = values.astype(np.uint8)
        if low < 0:
            np.putmask(small, values < 0, 255)
            self.skipped.add(low)
        if null is not None:
            np.putmask(small, null, 255)
        return self.code_bytes(small, max(high, 0) + 1)

    def code_bytes(self, values: npt.NDArray[np.uint8], n_values: int, labels: Any = None) -> Codes:
        """Code a column of numbers below ``n_values``, or of places in ``labels``; 255 is null."""
        present = _present_bytes(values, n_values)
        numbers = self.number(present.tolist() if labels is None else labels.gather(present))
        if len(self) < 255 and (numbers == present).all():
            return values
        dtype = smallest(len(self))
        missing = np.iinfo(dtype).max
        lookup = np.full(256, missing, dtype=dtype)
        lookup[present] = np.where(numbers < 0, missing, numbers)
        return np.take(lookup, values, mode="clip")

    def code_floats(self, values: Array) -> Codes:
        """Code a column of floats: whole numbers count as integers, NaN as no answer."""
        null = np.isnan(values)
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int16)
        np.putmask(whole, null, 0)
        if (null | (whole == values)).all():
            return self.code_integers(whole, null)
        distinct, places = np.unique(values[~null], return_inverse=True)
        full = np.full(len(values), -1, dtype=np.int64)
        full[~null] = places
        return self.code_distinct(distinct.tolist(), full)


def _present_bytes(values: npt.NDArray[np.uint8], n_values: int) -> Ints:
    """Return which numbers below ``n_values`` occur."""
    if n_values > 16:
        return np.flatnonzero(np.bincount(values, minlength=256)[: min(n_values, 255)])
    return np.array([k for k in range(n_values) if (values == k).any()], dtype=np.int64)


def _hashable(value: Any) -> Any:
    return value if value.__hash__ is not None else str(value)


def smallest(n_options: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that holds ``n_options`` codes and the one for no answer."""
    if n_options < 255:
        return np.uint8
    return np.uint16 if n_options < 65535 else np.uint32
