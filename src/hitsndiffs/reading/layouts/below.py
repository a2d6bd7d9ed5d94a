"""Find remarks below a table: footnotes, legends, dates, the name of the office."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["first_line_below", "is_remark", "most_cells"]

#: A name has fewer words and letters than this; a remark may have more.
_WORDS, _LETTERS = 6, 50
#: So many long words in lower case are not in a name (Maria de la Cruz).
_LOWER = 2
_SIGNS = re.compile(r"[*†‡#(].*|.*[:.!]|.*: .*|\d+\).*", re.DOTALL)


def is_remark(text: str) -> bool:
    """Whether a text is written like a sentence, not like a name.

    Examples
    --------
    >>> [is_remark(t) for t in ("Maria de la Cruz", "* absent", "Printed by the school office")]
    [False, True, True]
    """
    words = text.split()
    lower = sum(word.islower() and len(word) > 3 for word in words)
    long = len(words) >= _WORDS or len(text) >= _LETTERS or lower >= _LOWER
    return long or _SIGNS.fullmatch(text.strip()) is not None


def most_cells(width: int) -> int:
    """Return how many cells a remark below a table with so many columns may have."""
    return max(1, min(width - 1, width // 3))


def first_line_below(rows: Sequence[tuple[int, int, list[str]]], width: int) -> int | None:
    """Return the line below the table from which on there are remarks only, or None.

    They have few cells, and follow a blank line or are written like sentences.

    Parameters
    ----------
    rows
        The rows of the table, with the lines on which each begins and ends.
    width
        The number of columns.

    Examples
    --------
    >>> table = [(1, 1, ["ann", "A", "B"]), (2, 2, ["bob", "A", "A"])]
    >>> first_line_below([*table, (4, 4, ["Source"])], 3), first_line_below(table, 3)
    (3, None)
    >>> first_line_below([*table, (3, 3, ["cem", "A"])], 3) is None  # a row was cut off
    True
    """
    filled = [row for row in rows if any(cell.strip() for cell in row[2])]
    start = len(filled)
    while start and len(filled[start - 1][2]) <= most_cells(width):
        start -= 1
    below = filled[start:]
    if not below or not start:
        return None
    end = filled[start - 1][1] + 1
    said = all(len(row) == 1 and is_remark(row[0]) for _, _, row in below)
    return end if said or below[0][0] > end else None
