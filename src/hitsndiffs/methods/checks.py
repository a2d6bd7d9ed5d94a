"""The rules that parameters of the same name follow in every method, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

from hitsndiffs.errors import InputError

__all__ = ["check_params"]


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and value == value


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


#: Parameter → what it must be, in words and as a test.
RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "seed": ("a whole number from 0 up", lambda v: _whole(v) and v >= 0),
    "tol": ("a number from 0 up", lambda v: _number(v) and v >= 0),
    "max_iterations": ("a whole number from 1 up", lambda v: _whole(v) and v >= 1),
    "rounds": ("a whole number from 1 up", lambda v: _whole(v) and v >= 1),
    "exponent": ("a number above 0", lambda v: _number(v) and 0 < v < float("inf")),
    "smoothing": ("a number from 0 up", lambda v: _number(v) and 0 <= v < float("inf")),
    "beta": ("a number above 0, or None", lambda v: v is None or (_number(v) and v > 0)),
    "trust": ("a number above 0 and below 1", lambda v: _number(v) and 0 < v < 1),
    "lam": ("a number from 0 up, or None", lambda v: v is None or _shrinks(v)),
    "mu": ("a number from 0 up, or None", lambda v: v is None or _shrinks(v)),
    "reading": ("a whole number from 1 up", lambda v: _whole(v) and v >= 1),
    "group": ("a mapping of users to groups, or None", lambda v: v is None or _mapping(v)),
    "axes": ("a whole number from 1 up", lambda v: _whole(v) and v >= 1),
    "resamples": ("a whole number from 0 up", lambda v: _whole(v) and v >= 0),
    "quadrature": ("a whole number from 5 up", lambda v: _whole(v) and v >= 5),
    "options_per_item": (
        "a whole number from 2 up, or None",
        lambda v: v is None or (_whole(v) and v >= 2),
    ),
    "key": ("a mapping of items to options, or None", lambda v: v is None or _mapping(v)),
    "answers": ("a mapping of items to options, or None", lambda v: v is None or _mapping(v)),
    "order": (
        "a mapping of items to lists of options, or None",
        lambda v: v is None or _mapping(v),
    ),
}


def _shrinks(value: Any) -> bool:
    return _number(value) and 0 <= value < float("inf")


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def check_params(
    method: str, params: Mapping[str, Any], one_of: Mapping[str, tuple[str, ...]]
) -> None:
    """Refuse a parameter that breaks its rule.

    >>> check_params("hits", {"tol": 1e-5}, {})
    >>> check_params("hits", {"tol": -1}, {})
    Traceback (most recent call last):
    hitsndiffs.errors.InputError: Method 'hits': tol must be a number from 0 up; got -1.
    """
    for name, value in params.items():
        if name in one_of and value not in one_of[name]:
            raise InputError(
                f"Method {method!r}: {name} must be one of {', '.join(one_of[name])}; "
                f"got {value!r}."
            )
        if name in RULES and not RULES[name][1](value):
            raise InputError(f"Method {method!r}: {name} must be {RULES[name][0]}; got {value!r}.")
