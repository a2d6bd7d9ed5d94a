"""Results whose arrays say what they run along, so that all of them are renumbered at once.

A dataclass field with the metadata :data:`PER_USER` holds one value (or row) per user, one with
:data:`USER_NUMBERS` holds numbers of users; likewise for items and options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from hitsndiffs.data.arrays import Ints

__all__ = [
    "ITEM_NUMBERS",
    "PER_ITEM",
    "PER_OPTION",
    "PER_USER",
    "USER_NUMBERS",
    "mapped",
    "renumbered",
]

PER_USER, PER_ITEM, PER_OPTION = ({"per": axis} for axis in ("user", "item", "option"))
USER_NUMBERS, ITEM_NUMBERS = ({"numbers of": axis} for axis in ("user", "item"))

T = TypeVar("T")
#: What to do with an array, given the name of its axis.
Act = Callable[[str, Any], Any]


def mapped(found: T, values: Act, numbers: Act | None = None) -> T:
    """The same result with other arrays, down to the results inside it."""
    if isinstance(found, tuple):
        return tuple(mapped(each, values, numbers) for each in found)  # type: ignore[return-value]
    if not is_dataclass(found) or isinstance(found, type):
        return found
    changed: dict[str, Any] = {}
    for each in fields(found):
        value = getattr(found, each.name)
        if value is None:
            continue
        if "per" in each.metadata:
            changed[each.name] = values(each.metadata["per"], value)
        elif "numbers of" not in each.metadata:
            if isinstance(value, tuple) or is_dataclass(value):
                changed[each.name] = mapped(value, values, numbers)
        elif numbers is not None:
            changed[each.name] = numbers(each.metadata["numbers of"], value)
    return replace(found, **changed)


def renumbered(found: T, places: Mapping[str, Ints], sizes: Mapping[str, int]) -> T:
    """The same result in other numbers.

    Parameters
    ----------
    found
        A dataclass with such fields.
    places
        For each axis, the new number of each old one.
    sizes
        How many new numbers there are; new ones that are no old ones get NaN.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> @dataclass
    ... class Found:
    ...     scores: Any = field(metadata=PER_USER)
    ...     best: Any = field(metadata=USER_NUMBERS)
    >>> renumbered(Found(np.array([1.0, 2.0]), 1), {"user": np.array([2, 0])}, {"user": 3})
    Found(scores=array([ 2., nan,  1.]), best=0)
    """

    def values(axis: str, x: Any) -> Any:
        if axis not in places:
            return x
        shape = (sizes[axis], *x.shape[1:])
        whole = np.empty(shape, x.dtype) if sizes[axis] == len(x) else np.full(shape, np.nan)
        whole[places[axis]] = x
        return whole

    def numbers(axis: str, x: Any) -> Any:
        if axis not in places:
            return x
        if isinstance(x, tuple):
            return tuple(sorted(places[axis][list(x)].tolist()))
        return int(places[axis][x]) if isinstance(x, int) else places[axis][x]

    return mapped(found, values, numbers)
