"""All methods, by name."""

from __future__ import annotations

import difflib
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.hnd import HND

__all__ = ["HND", "METHODS", "Fit", "Method", "make"]

#: Every method, under the name that :func:`hitsndiffs.rank` takes.
METHODS: dict[str, type[Method]] = {cls.name: cls for cls in (HND,)}


def make(name: str, **params: Any) -> Method:
    """Return a method by its name, with its parameters set."""
    if name not in METHODS:
        close = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InputError(f"There is no method {name!r}; there is {', '.join(METHODS)}.{hint}")
    return METHODS[name]().set_params(**params)
