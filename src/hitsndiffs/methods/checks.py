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


def _finite(value: Any) -> bool:
    return _number(value) and abs(value) < float("inf")


def _mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


Rule = tuple[str, Callable[[Any], bool]]


def _or_none(rule: Rule) -> Rule:
    said, holds = rule
    return f"{said}, or None", lambda v: v is None or holds(v)


WHOLE_FROM_0: Rule = ("a whole number from 0 up", lambda v: _whole(v) and v >= 0)
WHOLE_FROM_1: Rule = ("a whole number from 1 up", lambda v: _whole(v) and v >= 1)
ABOVE_0: Rule = ("a number above 0", lambda v: _finite(v) and v > 0)
FINITE_FROM_0: Rule = ("a number from 0 up", lambda v: _finite(v) and v >= 0)
RIGHT_OPTIONS = _or_none(("a mapping of items to options", _mapping))
#: Parameter → what it must be, in words and as a test.
RULES: dict[str, Rule] = {
    "seed": WHOLE_FROM_0,
    "max_iterations": WHOLE_FROM_1,
    "rounds": WHOLE_FROM_1,
    "reading": WHOLE_FROM_1,
    "axes": WHOLE_FROM_1,
    "quadrature": ("a whole number from 5 up", lambda v: _whole(v) and v >= 5),
    "options_per_item": _or_none(("a whole number from 2 up", lambda v: _whole(v) and v >= 2)),
    "tol": ("a number from 0 up", lambda v: _number(v) and v >= 0),
    "exponent": ABOVE_0,
    "competence_prior": ABOVE_0,
    "strategy_prior": ABOVE_0,
    "penalty": ABOVE_0,
    "trust": ("a number above 0 and below 1", lambda v: _number(v) and 0 < v < 1),
    "smoothing": FINITE_FROM_0,
    "shrink": FINITE_FROM_0,
    "lam": _or_none(FINITE_FROM_0),
    "mu": _or_none(FINITE_FROM_0),
    "beta": _or_none(ABOVE_0),
    "key": RIGHT_OPTIONS,
    "answers": RIGHT_OPTIONS,
    "order": _or_none(("a mapping of items to lists of options", _mapping)),
    "group": _or_none(("a mapping of users to groups", _mapping)),
}


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
