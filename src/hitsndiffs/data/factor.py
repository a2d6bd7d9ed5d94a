"""Columns as factors: their distinct values, and the number of each cell's value.

Everything that is encoded, wide or long, in a file or in memory, passes through here. Long columns
never become a Python object per cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array
from hitsndiffs.data.cells import is_blank
from hitsndiffs.data.layouts import exchanged, occurrences
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SHORT", "Factor", "as_plain", "factorise", "joined", "text_of", "trimmed"]

#: Below this length a plain Python loop is faster than Polars' overhead per column.
SHORT = 4000
#: Rows numbered at a time.
SLICE = 4_000_000
#: Columns with fewer different values among their first rows are tried with one byte per cell.
FEW = 100


@dataclass
class Factor:
    """A column as ``labels[numbers[row]]``.

    The number of a missing cell is the largest of its type, or -1 where numbers are signed.
    """

    labels: Any
    numbers: Array

    def __len__(self) -> int:
        return len(self.numbers)


def factorise(column: Any, *, ordered: bool = True, short: int = SHORT) -> Factor:
    """Return the distinct values of a column of any type, and each cell's number.

    Parameters
    ----------
    column
        A list, an array, or a column of any data frame.
    ordered
        Whether the values are wanted in order of first appearance, with signed numbers.
    short
        Polars columns below this length are taken cell by cell.

    Examples
    --------
    >>> found = factorise(["b", None, "a", "b"])
    >>> found.labels, found.numbers.tolist()
    (['b', None, 'a'], [0, 1, 2, 0])
    >>> found = factorise(np.array([7, 5, 7]), ordered=False)
    >>> found.labels, found.numbers.tolist()
    ([5, 7], [1, 0, 1])
    """
    if isinstance(column, Factor):
        return column
    if isinstance(column, np.ndarray):
        return _of_array(column, ordered)
    if isinstance(column, list | tuple | str):
        return _of_objects(column)
    import narwhals as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return _of_objects(column)
    if series.implementation.is_pandas_like():
        return _of_pandas(series.to_native())
    return _of_polars(series.to_polars(), ordered, short)


def _of_objects(values: Iterable[Any]) -> Factor:
    seen: dict[Any, int] = {}
    try:
        numbers = [seen.setdefault(value, len(seen)) for value in values]
    except TypeError as error:
        raise InputError(f"users, items and options must be numbers or texts ({error}).") from None
    return Factor(list(seen), np.array(numbers, dtype=np.int32))


def _of_pandas(native: Any) -> Factor:
    try:
        numbers, labels = native.factorize()
    except TypeError:  # values that cannot be hashed, such as lists
        numbers, labels = native.astype(str).factorize()
    return Factor(list(labels), np.asarray(numbers, dtype=np.int32))


def _of_array(values: Array, ordered: bool) -> Factor:
    values = np.ascontiguousarray(values)  # columns of a row-major table are slow to read
    kind = values.dtype.kind
    if kind not in "iufUT":
        return _of_objects(values.tolist())
    if not ordered and kind in "iuf":
        small = _few_numbers(values, np.isnan(values) if kind == "f" else None)
        if small is not None:
            return small
    distinct, first, places = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return Factor(distinct[order].tolist(), rank[places])


def _few_numbers(values: Array, null: Array | None) -> Factor | None:
    """Return a column of whole numbers close to each other, with a byte per cell; else None."""
    known = values if null is None or not null.any() else values[~null]
    if not len(known) or not (np.isfinite(low := known.min()) and np.isfinite(known.max())):
        return None
    base, last = int(low), int(known.max())
    if last - base >= 255 or (values.dtype.kind == "f" and (known != np.floor(known)).any()):
        return None
    with np.errstate(invalid="ignore"):
        numbers = (values - low).astype(np.uint8)
    if null is not None:
        numbers[null] = 255
    return _that_occur(numbers, range(base, last + 1))


def _that_occur(numbers: Array, labels: Any) -> Factor:
    """Return a column of bytes without the labels that no cell has."""
    present = np.flatnonzero(occurrences(numbers, len(labels)))
    if len(present) < len(labels):
        places = np.full(256, 255, dtype=np.uint8)
        places[present] = np.arange(len(present))
        numbers = exchanged(numbers, places)
    return Factor([labels[k] for k in present.tolist()], numbers)


# -- Polars -----------------------------------------------------------------------------------


def _of_polars(series: pl.Series, ordered: bool, short: int) -> Factor:
    import polars as pl

    if not ordered and isinstance(series.dtype, pl.Enum) and len(series) >= short:
        categories = series.dtype.categories
        if len(categories) < 255:
            return _that_occur(_as_bytes(series), categories)
    series = as_plain(series)
    if len(series) < short:
        return _of_objects(series.to_list())
    if ordered:
        return joined([_numbered(series.slice(k, SLICE)) for k in range(0, len(series), SLICE)])
    if series.dtype == pl.String:
        return _of_few_texts(series, short) or _numbered(series)
    null = series.is_null() if series.dtype.is_integer() else ~series.is_finite()
    null = null.fill_null(True)
    values = series.fill_null(0).to_numpy()
    return _few_numbers(values, null.to_numpy() if null.any() else None) or _numbered(series)


def _of_few_texts(series: pl.Series, short: int) -> Factor | None:
    """Return a column whose first rows show all its texts, in one pass; else None."""
    import polars as pl

    likely = series.head(short).unique().drop_nulls().sort()
    if not 0 < len(likely) < FEW:
        return None
    if (likely.str.len_bytes() == 1).all():
        letters = series.cast(pl.Binary).bin.reinterpret(dtype=pl.UInt8)  # null: not one byte
        if letters.null_count() == series.null_count():
            return _that_occur(letters.fill_null(255).to_numpy(), list(map(chr, range(255))))
    known = series.cast(pl.Enum(likely), strict=False)
    return None if known.null_count() > series.null_count() else Factor(likely, _as_bytes(known))


def _as_bytes(series: pl.Series) -> Array:
    """Return the numbers of a column of few categories; 255 for null."""
    import polars as pl

    return series.to_physical().cast(pl.UInt8).fill_null(255).to_numpy()


def _numbered(series: pl.Series) -> Factor:
    """Return the distinct values in order of first appearance, and each cell's number."""
    import polars as pl

    distinct = series.unique(maintain_order=True).drop_nulls()
    numbered = pl.DataFrame({"label": distinct}).with_row_index("number")
    cells = pl.DataFrame({"label": series})
    found = cells.join(numbered, on="label", how="left", maintain_order="left")["number"]
    return Factor(distinct, found.cast(pl.Int32).fill_null(-1).to_numpy(writable=True))


def joined(pieces: Sequence[Factor]) -> Factor:
    """Return pieces of one column, each with numbers of its own, as one.

    Examples
    --------
    >>> found = joined([factorise(["b", "a"]), factorise(["c", "b"])])
    >>> found.labels, found.numbers.tolist()
    (['b', 'a', 'c'], [0, 1, 2, 0])
    """
    if len(pieces) < 2:
        found = pieces[0] if pieces else Factor([], np.empty(0, dtype=np.int32))
        return Factor(list(found.labels), found.numbers)
    import polars as pl

    columns = [pl.Series(piece.labels) for piece in pieces]
    if len({column.dtype for column in columns}) > 1:
        columns = list(map(text_of, columns))
    whole = _numbered(pl.concat(columns))
    each = np.split(whole.numbers, np.cumsum([len(column) for column in columns])[:-1])
    numbers = [np.append(k, np.int32(-1))[p.numbers] for k, p in zip(each, pieces, strict=True)]
    return Factor(list(whole.labels), np.concatenate(numbers))


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
    if dtype in (pl.Object, pl.Binary, pl.Duration):
        texts = [None if value is None else str(value) for value in series.to_list()]
        return pl.Series(series.name, texts, dtype=pl.String)
    return series.cast(pl.String)


def text_of(series: pl.Series) -> pl.Series:
    """Return a column as text, whole numbers without a decimal point.

    Examples
    --------
    >>> import polars as pl
    >>> text_of(pl.Series([1.0, 2.5, float("nan")])).to_list()
    ['1', '2.5', None]
    """
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


# -- labels -----------------------------------------------------------------------------------


def trimmed(factor: Factor) -> Factor:
    """Strip texts, merge labels that are then equal, and take blank ones as null; keep numbers.

    Examples
    --------
    >>> found = trimmed(Factor(["a ", None, "a", 3], np.array([0, 1, 2, 3], dtype=np.int32)))
    >>> found.labels, found.numbers.tolist()
    (['a', 3], [0, -1, 0, 1])
    """
    labels: Sequence[Any] = factor.labels
    if all(type(label) is str and label and label == label.strip() for label in labels):
        return factor
    index: dict[Any, int] = {}
    lookup = np.full(len(labels) + 1, -1, dtype=np.int32)
    for place, label in enumerate(labels):
        label = label.item() if isinstance(label, np.generic) else label
        if not is_blank(label):
            label = label.strip() if isinstance(label, str) else label
            lookup[place] = index.setdefault(label, len(index))
    return Factor(list(index), lookup[factor.numbers])
