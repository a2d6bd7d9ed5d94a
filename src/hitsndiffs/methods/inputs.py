"""What a method can be fitted to: responses, a path, any table, or a sparse matrix."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError

__all__ = ["as_responses"]


def as_responses(data: Any, group: str | None = None) -> Responses:
    """Responses unchanged; a path is read, and any other table is encoded.

    Parameters
    ----------
    data
        :class:`~hitsndiffs.Responses`, a path or a list of paths, a table (wide or long, whichever
        it is), a 2-D array, a mapping (user → item → option), or a SciPy sparse matrix: users ×
        items whose stored values are the codes of the answers, or users × options whose stored
        values are all 1.
    group
        The column that gives each user's group.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> as_responses(csr_array([[1, 2], [1, 1], [2, 0]]))
    Responses(3 users × 2 items, 4 options, 5 responses)
    >>> as_responses(csr_array([[1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1]])).n_items
    2
    """
    if isinstance(data, Responses):
        return data
    if getattr(getattr(data, "dtype", None), "kind", "") == "c":
        raise InputError("Complex data not supported: answers are options, not complex numbers.")
    if hasattr(data, "tocsr"):
        return _of_sparse(data)
    paths = data if isinstance(data, list) and data else [data]
    if all(isinstance(path, str | os.PathLike) for path in paths) or _is_frame(data):
        from hitsndiffs.reading import read_responses

        return read_responses(data) if group is None else read_responses(data, group=group)
    if data is None or isinstance(data, int | float | bytes):
        raise InputError(f"Expected answers (a path, a table or an array); got {data!r}.")
    if isinstance(data, Mapping) and data and all(isinstance(v, Mapping) for v in data.values()):
        rows = [(user, item, option) for user, own in data.items() for item, option in own.items()]
        users, items, options = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        long = {"user": users, "item": items, "option": options}
        return Responses.from_long(long, user="user", item="item", option="option")
    return Responses.from_table(data, group=group)


def _is_frame(data: Any) -> bool:
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _of_sparse(matrix: Any) -> Responses:
    rows = matrix.tocsr()
    if rows.ndim != 2 or min(rows.shape) == 0:
        raise InputError(f"A sparse matrix needs users and columns; its shape is {rows.shape}.")
    rows.sort_indices()
    m, n = rows.shape
    users = np.repeat(np.arange(m), np.diff(rows.indptr))
    columns, values = np.asarray(rows.indices, dtype=np.int64), np.asarray(rows.data)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        kept = np.isfinite(values)
        users, columns, values = users[kept], columns[kept], values[kept]
    if len(values) == 0:
        raise InputError("The sparse matrix stores no answers: there is nothing to rank.")
    notes = []
    if (values == 1).all():
        items = _items_of_options(users, columns, m, n)
        codes, columns = columns, items[columns]
        first = np.searchsorted(items, columns)
        labels = codes - first
        notes.append(
            f"All stored values are 1, so the {count(n, 'column')} were taken for the options of "
            f"{count(int(items[-1]) + 1, 'item')}: neighbouring columns that no user has both of."
        )
    else:
        labels = values.astype(np.int64) if (values == values.astype(np.int64)).all() else values
    long = {"user": users, "item": columns, "option": labels}
    read = Responses.from_long(long, user="user", item="item", option="option")
    if read.n_users < m:
        notes.append(f"{count(m - read.n_users, 'row')} without answers left out.")
    return read.with_notes([*read.notes, *notes])


def _items_of_options(users: Ints, columns: Ints, m: int, n: int) -> Ints:
    """The item of each column of a one-hot matrix: neighbours that exclude each other."""
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(n + 1))
    item = np.zeros(n, dtype=np.int64)
    answered = np.full(m, -1)
    current = 0
    for column in range(n):
        choosers = users[order[ends[column] : ends[column + 1]]]
        if (answered[choosers] == current).any():
            current += 1
        answered[choosers] = current
        item[column] = current
    if current == 0:
        raise InputError(
            "The sparse matrix holds one answer per user at most: give users × items with codes, "
            "or users × options with several items."
        )
    return item
