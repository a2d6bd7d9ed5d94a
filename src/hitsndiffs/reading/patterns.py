"""Pick names by patterns: ``q*``, ``Q[1-9]``, ``first+last``."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from hitsndiffs.data.words import listed, suggestion
from hitsndiffs.errors import InputError

__all__ = ["exactly", "match_names", "named_together"]


def exactly(name: str) -> str:
    """Return a pattern that matches only this name.

    Examples
    --------
    >>> exactly("what? [1]")
    'what[?] [[]1]'
    """
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def match_names(patterns: Sequence[str], names: Sequence[str], option: str) -> set[str]:
    """Return the names that match any of the patterns (``q*``, ``Q[1-9]``, or exact names)."""
    found: set[str] = set()
    for pattern in patterns:
        own = {n for n in names if n == pattern or fnmatch.fnmatchcase(n, pattern)}
        if not own:
            own = {n for n in names if fnmatch.fnmatchcase(n.casefold(), pattern.casefold())}
        if not own:
            raise InputError(
                f"no column fits {pattern!r}{suggestion(pattern, names)}, given as {option}; the "
                f"columns are {listed(names)}."
            )
        found |= own
    return found


def named_together(given: str, names: Sequence[str]) -> list[str]:
    """Return the columns that a caller named as one, unless a column has that very name.

    Examples
    --------
    >>> named_together("first + last", ["first", "last"]), named_together("a+b", ["a+b"])
    (['first', 'last'], ['a+b'])
    """
    return [given] if given in names else [part.strip() for part in given.split("+")]
