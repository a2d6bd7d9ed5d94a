"""What a cell of a table says: which option, or none; and the order of options."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Ints

__all__ = [
    "MISSING_TEXTS",
    "Skipped",
    "in_order",
    "is_blank",
    "normalise",
    "ranked",
    "smallest",
]

#: Texts that mean «no answer», besides null, NaN and negative numbers.
MISSING_TEXTS = frozenset({"", "NA", "NaN", "nan", "null", "NULL", "<NA>"})

#: An option: a whole number, or a text. ``1``, ``1.0`` and ``" 1 "`` are all the number 1.
Option = int | str

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


def ranked(options: Sequence[Option]) -> tuple[list[Any], Ints]:
    """Return the options in their order, and for each option its place there.

    Examples
    --------
    >>> labels, places = ranked(["b", "c", "a"])
    >>> labels, places.tolist()
    (['a', 'b', 'c'], [1, 2, 0])
    """
    order = in_order(options)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return [options[k] for k in order], places


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


def smallest(n_options: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type that holds ``n_options`` codes and the one for no answer."""
    if n_options < 255:
        return np.uint8
    return np.uint16 if n_options < 65535 else np.uint32
