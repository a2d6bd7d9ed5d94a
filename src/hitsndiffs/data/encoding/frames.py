"""Tables in memory: DataFrames of any kind, arrays, lists and mappings, as named columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from hitsndiffs.data.encoding.interning import Interner, number_objects, trimmed
from hitsndiffs.data.encoding.long import Factor
from hitsndiffs.data.encoding.option_book import Codes, OptionBook
from hitsndiffs.data.encoding.result import Place
from hitsndiffs.data.encoding.series import code_cells
from hitsndiffs.data.encoding.wide import check_item_names
from hitsndiffs.errors import InputError

__all__ = ["Table", "code_column", "factorise", "open_table"]


@dataclass
class Table:
    """Columns with names; ``index`` holds the row names if the table has any (pandas)."""

    names: list[Any]
    columns: list[Any]
    kind: str
    named: bool = True
    index: list[Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: Any) -> Any:
        """Return the column with that name."""
        return self.columns[self.names.index(name)]

    def names_rows(self, name: Any) -> bool:
        """Whether a column has a different value in every row."""
        return len(factorise(self.column(name)).labels) == self.n_rows


def open_table(table: Any) -> Table:
    """Split any kind of table into columns."""
    if isinstance(table, (str, bytes)) or hasattr(table, "__fspath__"):
        raise InputError(
            f"expected a table, got the text {table!r}; to read a file call read_responses()."
        )
    if isinstance(table, Mapping):
        return _from_mapping(table)
    frame: Any = None
    with suppress(nw.exceptions.DuplicateError):
        frame = nw.from_native(table, pass_through=True)
    if frame is None:
        names = table.column_names if hasattr(table, "column_names") else table.columns
        check_item_names(list(names), Place())
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if isinstance(table, np.ndarray) or not isinstance(table, Iterable):
        return _from_array(np.asarray(table))
    return _from_rows(list(table))


def _from_frame(frame: nw.DataFrame[Any]) -> Table:
    implementation = frame.implementation
    if implementation.is_polars():
        kind = "polars"
    elif implementation.is_pyarrow():
        kind = "pyarrow"
    else:
        kind = "pandas"
    native = frame.to_native()
    # pandas allows any object as a column name; take the names as they are.
    names = list(native.columns) if kind == "pandas" else list(frame.columns)
    columns = [frame.get_column(name) for name in frame.columns]
    index = nw.maybe_get_index(frame) if kind == "pandas" else None
    labels = None
    if index is not None and type(index).__name__ != "RangeIndex":
        labels = list(index)
    return Table(names, columns, kind, index=labels)


def _from_mapping(table: Mapping[Any, Any]) -> Table:
    columns = [values if _is_column(values) else list(values) for values in table.values()]
    lengths = {name: len(column) for name, column in zip(table, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        one, n_one = min(lengths.items(), key=lambda pair: pair[1])
        two, n_two = max(lengths.items(), key=lambda pair: pair[1])
        raise InputError(
            f"the columns must have the same length, and {one!r} has {n_one:,} entries where "
            f"{two!r} has {n_two:,}."
        )
    return Table(list(table), columns, "numpy")


def _is_column(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.ndim == 1
    return isinstance(nw.from_native(values, allow_series=True, pass_through=True), nw.Series)


def _from_array(array: np.ndarray[Any, Any]) -> Table:
    if array.ndim == 0:
        raise InputError(
            "a table was expected (a DataFrame, a 2-D array, a list of rows); "
            f"got {type(array.item()).__name__}."
        )
    if array.ndim != 2:
        raise InputError(
            f"a table needs two dimensions, users × items; got an array of shape {array.shape}."
        )
    if array.dtype.kind in "SV":
        array = array.astype(object)
    columns = [array[:, k] for k in range(array.shape[1])]
    return Table(list(range(len(columns))), columns, "numpy", named=False)


def _from_rows(rows: list[Any]) -> Table:
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return Table(names, [[row.get(name) for row in rows] for name in names], "numpy")
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)):
            raise InputError(
                f"a list of rows needs a sequence of answers in every row, and row {number} "
                f"is {row!r}."
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"every row needs the same number of answers: row 1 has {len(rows[0])} and row "
                f"{number} has {len(row)}; write None where there is no answer."
            )
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Table(list(range(len(columns))), columns, "numpy", named=False)


# -- columns ----------------------------------------------------------------------------------


def code_column(book: OptionBook, column: Any) -> Codes:
    """Code a column of options, of whatever type."""
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _code_frame_column(book, series)
    if not isinstance(column, np.ndarray):
        return code_cells(book, column)
    column = np.ascontiguousarray(column)  # columns of a row-major table are slow to read
    if column.dtype.kind in "iu":
        return book.code_integers(column)
    if column.dtype.kind == "f":
        return book.code_floats(column)
    if column.dtype.kind in "UT":
        distinct, places = np.unique(column, return_inverse=True)
        return book.code_distinct(distinct.tolist(), places)
    return book.code_objects(column.tolist())


def _code_frame_column(book: OptionBook, series: nw.Series[Any]) -> Codes:
    implementation = series.implementation
    if implementation.is_polars() or implementation.is_pyarrow():
        return code_cells(book, series.to_polars())
    if series.dtype.is_integer():
        if not series.is_null().any():
            return book.code_integers(series.to_numpy())
        return book.code_integers(series.fill_null(0).to_numpy(), series.is_null().to_numpy())
    if series.dtype.is_float():
        return book.code_floats(np.asarray(series.to_numpy(), dtype=np.float64))
    distinct, places = _factorise_pandas(series)
    return book.code_distinct(distinct, places)


def _factorise_pandas(series: nw.Series[Any]) -> tuple[list[Any], np.ndarray[Any, Any]]:
    native = series.to_native()
    try:
        places, distinct = native.factorize()
    except TypeError:  # values that cannot be hashed, such as lists
        places, distinct = native.astype(str).factorize()
    return list(distinct), np.asarray(places)


def factorise(column: Any) -> Factor:
    """Number the labels of a long column in order of first appearance; they keep their type."""
    return trimmed(_factor(column))


def _factor(column: Any) -> Factor:
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_integer() and not series.is_null().any():
            return Factor(*_factorise_array(series.to_numpy()))
        implementation = series.implementation
        if implementation.is_polars() or implementation.is_pyarrow():
            if series.dtype == nw.String:
                interner = Interner()
                interner.add(series.to_polars())
                return interner.factor()
            return Factor(*number_objects(series.to_list()))
        return Factor(*_factorise_pandas(series))
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuUT":
        return Factor(*_factorise_array(column))
    return Factor(*number_objects(column.tolist() if isinstance(column, np.ndarray) else column))


def _factorise_array(values: np.ndarray[Any, Any]) -> tuple[Any, np.ndarray[Any, Any]]:
    distinct, first, places = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return distinct[order].tolist(), rank[places]
