"""The two ways in which a call can go wrong, and the warning for a solver that did not finish."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

__all__ = [
    "ConvergenceWarning",
    "InputError",
    "MissingExtraError",
    "closest",
    "did_you_mean",
    "lacks_memory",
    "printable",
]


#: What stands in quotation marks, or without a blank for longer than a message bears.
_NAME = re.compile(r"(?<!\w)'([^'\n]*)'|(\S{200})\S+")
#: How libraries say that there is no memory left (a new thread needs some for its stack).
_NO_MEMORY = re.compile(
    r"out ?of ?memory|enough memory|\ballocat|bad_alloc|start new thread|spawn thread",
    re.IGNORECASE,
)


def printable(text: str, kept: str = "") -> str:
    r"""A text without what a terminal would obey: control characters become blanks.

    So do halves of characters and marks that turn the direction of writing.

    Parameters
    ----------
    text
        What comes from a file or a name.
    kept
        Control characters that stay (such as the line break).

    Examples
    --------
    >>> printable("a\x1b[2Jb\u202ec"), printable("two\nlines", kept="\n")
    ('a [2Jb c', 'two\nlines')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else " " for c in text)


def _cut(found: re.Match[str]) -> str:
    if found[1] is None:
        return f"{found[2]}…"
    return found[0] if len(found[1]) <= 200 else f"'{found[1][:200]}…'"


class InputError(ValueError):
    """The data or an argument cannot be used as given.

    The message is one sentence or two: what was expected, what came, where, and what to do.
    The command line prints it as it is and exits with code 2. Names that are too long for a
    message are cut, and control characters in them become blanks.

    >>> len(str(InputError(f"the user {'x' * 70_000!r} is named twice."))) < 260
    True
    >>> str(InputError("There is no 'a'; there is " + "b, " * 99 + "'c'."))[-7:]
    "b, 'c'."
    """

    def __init__(self, message: str = "") -> None:
        message = printable(message, kept="\n")
        super().__init__(_NAME.sub(_cut, message) if len(message) > 200 else message)


class MissingExtraError(InputError, ImportError):
    """A method needs an optional library that is not installed."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit; the best iterate is kept and the numbers are given."""


def closest(name: object, known: Iterable[Any]) -> Any:
    """The known name that is close to a given one, whatever the case; ``None`` where none is.

    >>> closest("Majorty", ["hits", "majority"])
    'majority'
    """
    import difflib

    if len(str(name)) > 200:
        return None
    texts = {str(other).casefold(): other for other in islice(known, 10_000)}
    short = [text for text in texts if len(text) < 200]
    found = difflib.get_close_matches(str(name).casefold(), short, n=1)
    return texts[found[0]] if found else None


def did_you_mean(name: object, known: Iterable[Any]) -> str:
    """A sentence for a name that is close to a known one, with a space before it; or nothing.

    >>> did_you_mean("majorty", ["hits", "majority"])
    " Did you mean 'majority'?"
    """
    close = closest(name, known)
    return "" if close is None else f" Did you mean {close!r}?"


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that there is no memory left, in whatever way its library says so.

    >>> lacks_memory(RuntimeError("can't start new thread")), lacks_memory(KeyError("memory"))
    (True, False)
    """
    if isinstance(error, OSError):  # whose words name a file
        return error.errno == errno.ENOMEM
    said = f"{type(error).__name__}: {error}"
    return isinstance(error, MemoryError) or _NO_MEMORY.search(said) is not None
