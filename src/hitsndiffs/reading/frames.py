"""Tables in memory take the way of files: the same profile, layout, plan and cleaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.cells import is_blank, normalise
from hitsndiffs.data.factor import as_plain, factorise, text_of
from hitsndiffs.data.frames import Table as Opened
from hitsndiffs.data.frames import open_table
from hitsndiffs.data.known_key import KnownKey
from hitsndiffs.data.labels import label_array
from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.responses import Responses
from hitsndiffs.reading.sizes import Sizes
from hitsndiffs.reading.tables.frames import frame_table, text_of_value
from hitsndiffs.reading.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Frame", "frame_of"]

#: How messages call a table in memory.
NAME = "the table"


class Frame:
    """A DataFrame (or a mapping of columns), its columns as a file would hold them.

    Examples
    --------
    >>> import polars as pl
    >>> frame = frame_of(pl.DataFrame({"user": [7, 8], "q1": ["A", None]}))
    >>> frame.table(Sizes()).sample
    [['7', 'A'], ['8', '']]
    """

    def __init__(self, opened: Opened) -> None:
        self.kind = opened.kind
        self._names = {str(name): name for name in opened.names}
        names = [str(name) for name in opened.names]
        columns = list(opened.columns)
        if opened.index is not None:  # the row names of pandas name the users
            names = ["user" if "user" not in names else "row name", *names]
            columns = [opened.index, *columns]
        #: The values that are no texts, by the text that stands for them.
        self._own: dict[str, Any] = {}
        self._columns = [self._column(column) for column in columns]
        self._headers = names

    def _column(self, column: Any) -> pl.Series:
        """Return a column as Polars holds it; values of other kinds as texts."""
        import narwhals as nw
        import polars as pl

        series = nw.from_native(column, series_only=True, pass_through=True)
        if isinstance(series, nw.Series) and not series.implementation.is_pandas_like():
            found: pl.Series = series.to_polars()
            if found.dtype not in (pl.String, pl.Object) and not found.dtype.is_nested():
                values = found.unique(maintain_order=True).drop_nulls()
                self._note(text_of(values).to_list(), values.to_list())
                found = as_plain(found)
            return found
        factor = factorise(column)
        texts = ["" if is_blank(value) else text_of_value(value) for value in factor.labels]
        self._note(texts, factor.labels)
        numbers = np.where(factor.numbers < 0, len(texts), factor.numbers)
        return pl.Series([*texts, ""], dtype=pl.String).gather(numbers)

    def _note(self, texts: list[str], values: list[Any]) -> None:
        """Remember the values for which texts stand."""
        for text, value in zip(texts, values, strict=True):
            if text and not isinstance(value, str):
                self._own.setdefault(text, python_value(value))

    def table(self, sizes: Sizes) -> Table:
        """Return it as a table in a file."""
        import polars as pl

        places = map(str, range(len(self._columns)))
        frame = pl.DataFrame(dict(zip(places, self._columns, strict=True)))
        return frame_table(frame, NAME, names=self._headers, sizes=sizes)

    def with_own_labels(self, responses: Responses) -> Responses:
        """Return responses with the labels that the frame holds, numbers as numbers."""
        options = {str(normalise(value)): normalise(value) for value in self._own.values()}
        items = {**self._own, **self._names}
        key = responses.key
        if key is not None:
            pairs = {items.get(k, k): options.get(v, v) for k, v in key.items()}
            key = KnownKey(pairs, key.source, key.unchosen)
        groups = responses.groups
        return responses._changed(
            users=_relabelled(responses.users, self._own),
            items=_relabelled(responses.items, items),
            option_labels=_relabelled(responses.option_labels, options),
            groups=groups and {self._own.get(user, user): own for user, own in groups.items()},
            kind=self.kind,
            notes=responses.notes,
            key=key,
        )


def _relabelled(labels: np.ndarray[Any, Any], own: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    found = [own.get(label, label) for label in labels.tolist()]
    if all(isinstance(label, str) for label in found):
        return labels
    return label_array(found)


def frame_of(source: Any) -> Frame | None:
    """Return a DataFrame or a mapping of columns; None for anything else."""
    if not isinstance(source, Mapping):
        import narwhals as nw

        found = nw.from_native(source, pass_through=True)
        if not isinstance(found, nw.DataFrame | nw.LazyFrame):
            return None
    return Frame(open_table(source))
