"""Output: tables in the same kind of frame as the input, and plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import python_value

__all__ = ["Kind", "jsonable", "python_values", "records", "same", "to_frame"]


Array = npt.NDArray[Any]
#: What the values of a column are, and so how they are shown.
Kind = Literal["label", "whole", "share", "number"]

#: Types of labels that need no conversion.
PLAIN = {str, int, float, bool, type(None)}
#: Columns of whole numbers, which are floats for the sake of NaN.
RANKS = ("rank", "rank_low", "rank_high")


def to_frame(columns: Mapping[str, Any], kind: str, kinds: Mapping[str, Kind] | None = None) -> Any:
    """Make a table from some columns.

    Parameters
    ----------
    columns
        Name → values.
    kind
        ``"pandas"``, ``"pyarrow"``, or anything else for Polars.
    kinds
        The kinds of the columns: whole numbers with gaps become nullable integers.
    """
    whole = {name for name, what in (kinds or {}).items() if what == "whole"}
    plain = {name: _of_real_types(values) for name, values in columns.items()}
    if kind == "pandas":
        import pandas as pd

        frame = pd.DataFrame(plain)
        gaps = [name for name in whole if frame[name].dtype.kind == "f"]
        return frame.astype(dict.fromkeys(gaps, "Int64")) if gaps else frame
    plain = {name: _of_one_type(values) for name, values in plain.items()}
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(
            {
                name: pa.array(
                    values,
                    type=pa.int64() if name in whole else None,
                    mask=_missing(values),
                )
                for name, values in plain.items()
            }
        )
    import polars as pl
    import polars.selectors as cs

    frame = pl.DataFrame(plain, strict=False).with_columns(cs.float().fill_nan(None))
    gaps = [name for name in whole if frame.schema[name].is_float()]
    return frame.with_columns(pl.col(gaps).cast(pl.Int64)) if gaps else frame


def _missing(values: Any) -> Any:
    is_float = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    return np.isnan(values) if is_float else None


def _of_real_types(values: Any) -> Any:
    """Labels may be NumPy scalars in an object array: give the frame library Python values."""
    is_object = isinstance(values, np.ndarray) and values.dtype.kind == "O"
    return python_values(values) if is_object else values


def python_values(labels: Array) -> list[Any]:
    """Labels as Python values, which they mostly are."""
    values: list[Any] = labels.tolist()
    if set(map(type, values)) <= PLAIN:
        return values
    return [python_value(value) for value in values]


def _of_one_type(values: Any) -> Any:
    """One item's labels may be numbers and another's words: a mixed column becomes text."""
    if not isinstance(values, list) or len(set(map(type, values)) - {type(None)}) < 2:
        return values
    return [v if v is None else str(v) for v in values]


def jsonable(value: Any) -> Any:
    """Plain Python values, with None for what JSON cannot express (NaN, infinity)."""
    if isinstance(value, np.ndarray):
        return [jsonable(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if is_dataclass(value):
        return {f.name: jsonable(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table as plain values; ranks are whole numbers.

    >>> records({"user": ["ann", "bob"], "rank": np.array([1.0, np.nan])})
    [{'user': 'ann', 'rank': 1}, {'user': 'bob', 'rank': None}]
    """
    plain = {name: jsonable(values) for name, values in columns.items()}
    for name in plain:
        if name in RANKS:
            plain[name] = [None if rank is None else round(rank) for rank in plain[name]]
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, NaN counting as equal to NaN.

    >>> same(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    True
    """
    return a is b or bool(np.array_equal(a, b, equal_nan=True))
