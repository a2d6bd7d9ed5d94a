"""The two ways in which a call can go wrong, and the warning for a solver that did not finish."""

__all__ = ["ConvergenceWarning", "InputError", "MissingExtraError"]


class InputError(ValueError):
    """The data or an argument cannot be used as given.

    The message is one sentence or two: what was expected, what came, where, and what to do.
    The command line prints it as it is and exits with code 2.
    """


class MissingExtraError(InputError, ImportError):
    """A method needs an optional library that is not installed."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit; the best iterate is kept and the numbers are given."""
