"""The two ways in which a call can go wrong, and the warning for a solver that did not finish."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ConvergenceWarning", "InputError", "MissingExtraError", "did_you_mean"]


class InputError(ValueError):
    """The data or an argument cannot be used as given.

    The message is one sentence or two: what was expected, what came, where, and what to do.
    The command line prints it as it is and exits with code 2.
    """


class MissingExtraError(InputError, ImportError):
    """A method needs an optional library that is not installed."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit; the best iterate is kept and the numbers are given."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is close to a known one, with a space before it; or nothing.

    >>> did_you_mean("majorty", ["hits", "majority"])
    " Did you mean 'majority'?"
    """
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
