"""A ranking and its key as tables to hand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["harmless", "key_frame", "ranking_frame"]

#: What makes a spreadsheet take a text for a formula (the list of OWASP).
FORMULA = r"^[=+\-@\t\r\n]"


def ranking_frame(ranking: Ranking) -> Any:
    """Return the ranking as a Polars frame: ranks are whole, and what there is none of is empty."""
    import polars as pl
    import polars.selectors as cs

    filled = ranking.table().with_columns(cs.float().fill_nan(None))
    return filled.with_columns(cs.matches("^rank").round().cast(pl.Int64))


def key_frame(ranking: Ranking) -> Any:
    """Return the likely key as a Polars frame: item, answer, confidence."""
    import polars as pl

    key = ranking.answer_key(with_confidence=True)
    return pl.DataFrame(
        {
            "item": pl.Series([str(item) for item in key], dtype=pl.String),
            "answer": pl.Series([str(option) for option, _ in key.values()], dtype=pl.String),
            "confidence": pl.Series([sure for _, sure in key.values()], dtype=pl.Float64),
        }
    )


def harmless(frame: Any) -> Any:
    """Put an apostrophe before texts that a spreadsheet would take for a formula.

    Examples
    --------
    >>> import polars as pl
    >>> harmless(pl.DataFrame({"user": ["=1+1", "ann"], "score": [-1.0, 2.0]})).rows()
    [("'=1+1", -1.0), ('ann', 2.0)]
    """
    import polars as pl
    import polars.selectors as cs

    text = cs.string()
    return frame.with_columns(
        pl.when(text.str.contains(FORMULA)).then(pl.lit("'") + text).otherwise(text).name.keep()
    )
