"""Texts that a spreadsheet would run: made harmless when written, restored when read.

As OWASP advises against CSV injection, a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or
a line break gets an apostrophe in front, which tells spreadsheets that it is text.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["with_formulas", "without_formulas"]

#: A spreadsheet takes text that starts with these signs for a formula, unless it is a plain number.
_FORMULA = r"^\s*[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?$"


def without_formulas(frame: Any) -> Any:
    """Return a Polars frame whose texts no spreadsheet will run.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": ["=1+1", "ann", "-3", "-3+1"], "score": [-1, 0, 1, 2]})
    >>> without_formulas(frame)["user"].to_list()
    ["'=1+1", 'ann', '-3', "'-3+1"]
    """
    import polars as pl
    import polars.selectors as cs

    texts = cs.string()
    runs = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return frame.with_columns(pl.when(runs).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def with_formulas(text: str) -> str:
    """Undo :func:`without_formulas` for a text.

    >>> with_formulas("'=1+1"), with_formulas("'twas")
    ('=1+1', "'twas")
    """
    return text[1:] if text[:1] == "'" and re.match(_FORMULA, text[1:]) else text
