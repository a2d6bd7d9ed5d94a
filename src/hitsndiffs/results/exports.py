"""A ranking and its key as tables for export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hitsndiffs.results.cluster import ClusterRanking
    from hitsndiffs.results.ranking import Ranking

__all__ = ["key_frame", "ranking_frame"]


def ranking_frame(ranking: Ranking) -> Any:
    """Return the ranking as a Polars frame, with integer ranks and nulls for missing values."""
    import polars as pl
    import polars.selectors as cs

    filled = ranking.table().with_columns(cs.float().fill_nan(None))
    return filled.with_columns(cs.matches("^rank").round().cast(pl.Int64))


def key_frame(ranking: Ranking | ClusterRanking) -> Any:
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
