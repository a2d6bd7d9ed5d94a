"""Which texts are the same answer, however they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["named_options", "same_option", "same_text"]

#: Characters that are not seen: they join or part words, or mark the byte order.
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")

#: Between several right answers of one item.
_SEVERAL = re.compile("[;/|]")


def same_text(text: str) -> str:
    """Return a text without what never tells options apart: case, blanks, Unicode forms.

    Examples
    --------
    >>> same_text("  Ａ "), same_text("Straße  1"), same_text("2,50")
    ('a', 'strasse 1', '2,50')
    """
    return " ".join(unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).split()).casefold()


def same_option(text: str, labels: Sequence[str]) -> str | None:
    """Return the label that is the same answer as a text, or None.

    Examples
    --------
    >>> same_option("a", ["A", "B"]), same_option("a", ["A", "a"]), same_option("c", ["A"])
    ('A', 'a', None)
    """
    if text in labels:
        return text
    return next((label for label in labels if same_text(label) == same_text(text)), None)


def named_options(entry: str, labels: Sequence[str]) -> list[str]:
    """Return the labels that an entry of a key names: the one that it is, or several in a row.

    Examples
    --------
    >>> named_options("a", ["A", "B"]), named_options("A; c", ["A", "B", "C"])
    (['A'], ['A', 'C'])
    >>> named_options("1/2", ["1/2", "1"]), named_options("D", ["A", "B"])
    (['1/2'], [])
    """
    whole = same_option(entry, labels)
    each = [whole] if whole else [same_option(part, labels) for part in _SEVERAL.split(entry)]
    return list(dict.fromkeys(label for label in each if label is not None))
