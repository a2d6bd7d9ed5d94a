"""Tables in memory take the way of files: the same profile, layout, plan and cleaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from hitsndiffs.data.cells import is_blank, normalise
from hitsndiffs.data.frames import Table, open_table
from hitsndiffs.data.known_key import KnownKey
from hitsndiffs.data.responses import Responses
from hitsndiffs.reading.exports import sheet
from hitsndiffs.reading.tables.grid_table import GridTable

__all__ = ["Frame", "frame_of"]

#: How messages call a table in memory.
NAME = "the table"


class Frame:
    """A DataFrame (or a mapping of columns) and the texts that a file would have held.

    Examples
    --------
    >>> import polars as pl
    >>> frame = frame_of(pl.DataFrame({"user": [7, 8], "q1": ["A", None]}))
    >>> frame.table().sample
    [['7', 'A'], ['8', '']]
    """

    def __init__(self, opened: Table) -> None:
        self.opened = opened
        self.names = [str(name) for name in opened.names]
        columns = [_texts(column) for column in opened.columns]
        if opened.index is not None:  # the row names of pandas name the users
            self.names = ["user" if "user" not in self.names else "row name", *self.names]
            columns = [_texts(opened.index), *columns]
        self.rows = [list(row) for row in zip(*columns, strict=True)]

    def table(self) -> GridTable:
        """Return it as a table in a file."""
        lines = list(range(1, len(self.rows) + 1))
        return GridTable(sheet.Table(self.names, self.rows, [], lines), NAME, "row")

    def with_own_labels(self, responses: Responses) -> Responses:
        """Return responses with the labels that the frame holds, numbers as numbers."""
        own: dict[str, Any] = {}
        options: dict[str, Any] = {}
        columns = [*self.opened.columns, *([self.opened.index] if self.opened.index else [])]
        for column in columns:
            for value in _values(column):
                if not isinstance(value, str) and not is_blank(value):
                    own.setdefault(_text(value), value)
                    option = normalise(value)
                    options.setdefault(str(option), option)
        names = {str(name): name for name in self.opened.names}

        def back(labels: np.ndarray[Any, Any], known: Mapping[str, Any]) -> np.ndarray[Any, Any]:
            found = [known.get(label, label) for label in labels.tolist()]
            return labels if found == labels.tolist() else _labels(found)

        items = {**own, **names}
        key = responses.key
        if key is not None:
            pairs = {items.get(k, k): options.get(v, v) for k, v in key.items()}
            key = KnownKey(pairs, key.source, key.unchosen)
        groups = responses.groups
        return responses._changed(
            users=back(responses.users, own),
            items=back(responses.items, items),
            option_labels=back(responses.option_labels, options),
            groups=groups and {own.get(user, user): group for user, group in groups.items()},
            kind=self.opened.kind,
            notes=responses.notes,
            key=key,
        )


def _labels(values: list[Any]) -> np.ndarray[Any, Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def frame_of(source: Any) -> Frame | None:
    """Return a DataFrame or a mapping of columns; None for anything else."""
    if not isinstance(source, Mapping):
        found = nw.from_native(source, pass_through=True)
        if not isinstance(found, nw.DataFrame | nw.LazyFrame):
            return None
    return Frame(open_table(source))


def _values(column: Any) -> list[Any]:
    return list(column.to_list() if hasattr(column, "to_list") else column)


def _texts(column: Any) -> list[str]:
    return [_text(value) for value in _values(column)]


def _text(value: Any) -> str:
    return "" if is_blank(value) else str(value)
