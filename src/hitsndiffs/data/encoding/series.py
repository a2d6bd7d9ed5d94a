"""Polars columns to codes and texts, without a Python object per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.encoding.option_book import Codes, OptionBook
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SHORT", "as_plain", "code_cells", "text_of"]

#: Below this length a plain Python loop is faster than Polars' overhead per column.
SHORT = 4000


def as_plain(series: pl.Series) -> pl.Series:
    """Return a column of any type (dates, decimals, …) as integers, floats or text."""
    import polars as pl

    dtype = series.dtype
    if dtype.is_integer() or dtype == pl.String or dtype in (pl.Float32, pl.Float64):
        return series
    if dtype.is_nested():
        raise InputError(
            f"column {series.name!r} holds {dtype.base_type().__name__.lower()}s instead of single "
            "values; take the column out, or write one answer per cell."
        )
    if dtype.is_decimal():
        return series.cast(pl.Float64)
    if dtype == pl.Boolean:
        return series.replace_strict([False, True], ["False", "True"], return_dtype=pl.String)
    if dtype == pl.Null:
        return series.cast(pl.String)
    if dtype in (pl.Object, pl.Binary, pl.Duration):
        texts = [None if value is None else str(value) for value in series.to_list()]
        return pl.Series(series.name, texts, dtype=pl.String)
    return series.cast(pl.String)


def code_cells(book: OptionBook, series: pl.Series | list[Any], short: int = SHORT) -> Codes:
    """Code one column of options; lists and columns shorter than ``short`` by a plain loop."""
    if isinstance(series, list):
        return book.code_objects(series)
    import polars as pl

    if isinstance(series.dtype, pl.Enum) and len(series.dtype.categories) < 255:
        if len(series) >= short:
            return _code_enum(book, series)
        return book.code_objects(series.to_list())
    series = as_plain(series)
    if len(series) < short:
        return book.code_objects(series.to_list())
    if series.dtype.is_integer():
        null = series.is_null().to_numpy() if series.null_count() else None
        return book.code_integers(series.fill_null(0).to_numpy(), null)
    if series.dtype != pl.String:
        return book.code_floats(series.fill_null(float("nan")).to_numpy())
    # Usually the first rows show all options, and one pass is enough.
    likely = series.head(short).unique().drop_nulls().sort()
    if len(likely) < 100:
        if (codes := _code_letters(book, series, likely)) is not None:
            return codes
        known = series.cast(pl.Enum(likely), strict=False)
        if known.null_count() == series.null_count():
            return _code_enum(book, known)
    distinct = series.unique(maintain_order=True).drop_nulls()
    places = series.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(-1)
    return book.code_distinct(distinct, places.to_numpy())


def _code_letters(book: OptionBook, series: pl.Series, likely: pl.Series) -> Codes | None:
    """Code a column of one-byte texts; None if some are not one byte or not among ``likely``."""
    import polars as pl

    if not len(likely) or (likely.str.len_bytes() != 1).any():
        return None
    letters = series.cast(pl.Binary).bin.reinterpret(dtype=pl.UInt8)  # null: not one byte
    if letters.null_count() > series.null_count():
        return None
    place = np.full(256, len(likely), dtype=np.uint8)
    place[likely.cast(pl.Binary).bin.reinterpret(dtype=pl.UInt8).to_numpy()] = np.arange(
        len(likely)
    )
    place[255] = 255  # never a byte of UTF-8
    found = np.frombuffer(
        letters.fill_null(255).to_numpy().tobytes().translate(place.tobytes()), dtype=np.uint8
    )
    return None if (found == len(likely)).any() else book.code_distinct(likely, found)


def _code_enum(book: OptionBook, series: pl.Series) -> Codes:
    """Code a column with known categories, some of which may not occur."""
    import polars as pl

    categories: pl.Series = series.dtype.categories  # type: ignore[attr-defined]
    places = series.to_physical().cast(pl.UInt8).fill_null(255).to_numpy()
    return book.code_bytes(places, len(categories), categories)


def text_of(series: pl.Series) -> pl.Series:
    """Return a column as text, whole numbers without a decimal point."""
    import polars as pl

    series = as_plain(series)
    if series.dtype == pl.String:
        return series
    if series.dtype.is_integer():
        return series.cast(pl.String)
    whole = (series == series.round()) & (series.abs() < 2**53)
    texts: Any = (
        pl.when(pl.lit(whole))
        .then(pl.lit(series).cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(pl.lit(series.fill_nan(None)).cast(pl.String))
    )
    return pl.select(texts).to_series().alias(series.name)
