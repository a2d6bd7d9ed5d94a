"""Errors for calls that cannot be served, and the warning for a solver that did not finish."""

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


#: Quoted text, or a run without spaces that is too long for a message.
_NAME = re.compile(r"(?<!\w)'([^'\n]*)'|(\S{200})\S+")
#: How libraries say that memory has run out (a new thread needs some for its stack).
_NO_MEMORY = re.compile(
    r"out ?of ?memory|enough memory|\ballocat|bad_alloc|start new thread|spawn thread",
    re.IGNORECASE,
)


def printable(text: str, kept: str = "") -> str:
    r"""Make text safe for a terminal: control characters (but those kept) become spaces.

    So do lone surrogates and marks that change the writing direction.

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

    The message is one or two sentences: what was expected, what was found, where, and what to do.
    The command line prints it as is and exits with code 2. Names that are too long for a message
    are cut, and control characters become spaces.

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
    """An iteration stopped at its limit; the best result is kept, and the message gives figures."""


def closest(name: object, known: Iterable[Any]) -> Any:
    """The known name closest to a given one, ignoring case; ``None`` if none is close.

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
    """A "Did you mean" sentence, with a leading space, if a known name is close; else nothing.

    >>> did_you_mean("majorty", ["hits", "majority"])
    " Did you mean 'majority'?"
    """
    close = closest(name, known)
    return "" if close is None else f" Did you mean {close!r}?"


def lacks_memory(error: BaseException) -> bool:
    """Whether an error means that memory has run out, however the library words it.

    >>> lacks_memory(RuntimeError("can't start new thread")), lacks_memory(KeyError("memory"))
    (True, False)
    """
    if isinstance(error, OSError):  # its text names a file, which could match by accident
        return error.errno == errno.ENOMEM
    said = f"{type(error).__name__}: {error}"
    return isinstance(error, MemoryError) or _NO_MEMORY.search(said) is not None
