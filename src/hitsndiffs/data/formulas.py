"""Texts that a spreadsheet would run: made harmless on the way out, and as they were on the way in.

As OWASP advises against CSV injection: an apostrophe before a cell that begins with ``=``, ``+``,
``-``, ``@``, a tab or a line break, which spreadsheets take as "this is text".
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["with_formulas", "without_formulas"]

#: What a spreadsheet takes for a formula: these signs at the start, unless a plain number follows.
_FORMULA = r"^\s*[=+\-@\t\r\n＝＋－＠]"
_NUMBER = r"^[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?$"


def without_formulas(frame: Any) -> Any:
    """A Polars frame whose texts no spreadsheet runs.

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
    """A text as it was before :func:`without_formulas`.

    >>> with_formulas("'=1+1"), with_formulas("'twas")
    ('=1+1', "'twas")
    """
    return text[1:] if text[:1] == "'" and re.match(_FORMULA, text[1:]) else text
