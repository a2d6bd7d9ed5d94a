"""Which texts are the same answer, however they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["same_option", "same_text"]

#: Characters that are not seen: they join or part words, or mark the byte order.
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")


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
