"""A table of results: the one object from which screen, pipe, file, frame and JSON are made.

A column is a name, a kind and its values, so it looks alike wherever it is shown. Ranks and counts
are whole numbers; what is not known is missing (a null, an empty cell), never NaN.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

import numpy as np

from hitsndiffs.data.lookup import python_value
from hitsndiffs.errors import printable

__all__ = ["Cells", "Kind", "Tabled", "jsonable", "same", "text_of"]

#: What the values of a column are, and so how they are shown. Labels are cut where a screen is too
#: narrow for them, words are wrapped; a share is a number from 0 to 1, shown in per cent, and so is
#: a chance, which is never shown as certain unless it is.
Kind = Literal["label", "words", "flag", "whole", "share", "chance", "number"]

#: Types of labels that need no conversion.
PLAIN = {str, int, float, bool, type(None)}
#: From this many rows on, text is written by Polars, whose import takes longer than to write fewer.
POLARS_FROM = 10_000


@dataclass(frozen=True)
class Cells:
    """Columns of equal length.

    Attributes
    ----------
    columns
        Name → values, in the order shown. Whole numbers are integers, or floats with NaN where
        some are missing.
    kinds
        Name → kind of value.
    headings
        Name → what people read above the column, where it is not the name.

    Examples
    --------
    >>> table = Cells.of({"user": ["ann", "bob"], "right": np.array([0.5, np.nan])}, share="right")
    >>> table.texts("right"), table.records()[1]
    (['50 %', '–'], {'user': 'bob', 'right': None})
    """

    columns: Mapping[str, Any]
    kinds: Mapping[str, Kind]
    headings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, Any], **kinds: str) -> Cells:
        """Columns whose kinds follow from their values, but for those told (kind="name name")."""
        told: dict[str, Any] = {
            name: kind for kind, names in kinds.items() for name in names.split()
        }
        return cls(columns, {name: told.get(name) or _kind(v) for name, v in columns.items()})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def heading(self, name: str) -> str:
        """What people read above a column."""
        return self.headings.get(name, name.replace("_", " "))

    def only(self, rows: Any) -> Cells:
        """The same columns for some rows, named by their numbers."""
        chosen = {name: _picked(values, rows) for name, values in self.columns.items()}
        return Cells(chosen, self.kinds, self.headings)

    def values(self, name: str) -> list[Any]:
        """One column as Python values, with ``None`` for what is missing."""
        values, kind = python_values(self.columns[name]), self.kinds[name]
        if kind in ("label", "words") or _type(self.columns[name]) in "iub":
            return values
        values = [None if value is None or value != value else value for value in values]
        return [v if v is None else round(v) for v in values] if kind == "whole" else values

    def texts(self, name: str) -> list[str]:
        """One column as people read it; its numbers have equally many decimals."""
        values, kind = self.values(name), self.kinds[name]
        places = _decimals(values) if kind == "number" else 3
        return [text_of(value, kind, places) for value in values]

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain Python values (JSON types)."""
        plain = {name: jsonable(self.values(name)) for name in self.columns}
        return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]

    def frame(self, kind: str = "polars") -> Any:
        """The columns as a frame: ``"pandas"``, ``"pyarrow"``, or anything else for Polars.

        Whole numbers with gaps are nullable integers.
        """
        whole = {name for name, what in self.kinds.items() if what == "whole"}
        plain = {name: _of_real_types(values) for name, values in self.columns.items()}
        if kind == "pandas":
            import pandas as pd

            pandas = pd.DataFrame(plain)
            gaps = [name for name in whole if pandas[name].dtype.kind == "f"]
            return pandas.astype(dict.fromkeys(gaps, "Int64")) if gaps else pandas
        plain = {name: _of_one_type(values) for name, values in plain.items()}
        import polars as pl
        import polars.selectors as cs

        frame = pl.DataFrame(plain, strict=False).with_columns(cs.float().fill_nan(None))
        gaps = [name for name in whole if frame.schema[name].is_float()]
        frame = frame.with_columns(pl.col(gaps).cast(pl.Int64)) if gaps else frame
        return frame.to_arrow() if kind == "pyarrow" else frame

    def tab_separated(self) -> str:
        """The rows as text for programs: names, then one line per row; six digits are kept."""
        texts = {name: _safe(self.values(name)) for name in self._in_letters}
        if len(self) >= POLARS_FROM:
            import polars as pl
            import polars.selectors as cs

            frame = self.frame().with_columns(
                cs.float().round_sig_figs(6), *(pl.Series(*column) for column in texts.items())
            )
            return str(frame.write_csv(separator="\t", quote_style="never"))
        columns = [texts[name] if name in texts else list(map(_six_digits, self.values(name)))
                   for name in self.columns]  # fmt: skip
        lines = ["\t".join(self.columns), *map("\t".join, zip(*columns, strict=True)), ""]
        return "\n".join(lines)

    def json(self) -> str:
        """The rows as a JSON array, one row per line."""
        if len(self) >= POLARS_FROM:
            import polars as pl

            texts = {name: self.values(name) for name in self._in_letters}
            if all(set(map(type, values)) in ({str}, {int}) for values in texts.values()):
                frame = self.frame().with_columns(pl.Series(*column) for column in texts.items())
                lines = frame.write_ndjson().rstrip("\n").replace("\n", ",\n")
                return f"[\n{lines}\n]"
        rows = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in self.records()]
        return "[\n" + ",\n".join(rows) + "\n]"

    @property
    def _in_letters(self) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in ("label", "words")]


class Tabled(ABC):
    """A result that is a table, with a sentence about it."""

    #: What JSON calls the rows.
    ROWS = "rows"

    @abstractmethod
    def cells(self) -> Cells:
        """The columns of :meth:`table`, for whoever shows them."""

    @abstractmethod
    def sentence(self) -> str:
        """What was found, in a sentence or two."""

    def facts(self) -> dict[str, Any]:
        """Numbers that stand beside the table in :meth:`to_dict`."""
        return {}

    @property
    def kind(self) -> str:
        """The kind of frame that the data came in."""
        return str(self.responses.kind)  # type: ignore[attr-defined]

    def table(self) -> Any:
        """The table, in the same kind of frame as the data."""
        return self.cells().frame(self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values (JSON types)."""
        return {**jsonable(self.facts()), self.ROWS: self.cells().records()}

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        return self.sentence()


def text_of(value: Any, kind: Kind, decimals: int = 3) -> str:
    """A value for people, by the kind of its column.

    >>> text_of(1200, "whole"), text_of(0.756, "share"), text_of(None, "number")
    ('1,200', '76 %', '–')
    >>> text_of(0.999, "share"), text_of(0.999, "chance")
    ('100 %', '>99 %')
    """
    if value is None or value != value:
        return "" if kind == "words" else "–"
    if kind in ("label", "words"):
        return printable(str(value))
    if kind == "flag":
        return "yes" if value else "no"
    if kind == "whole":
        return f"{round(value):,}"
    if kind == "chance" and (0.995 <= value < 1 or 0 < value < 0.005):
        return ">99 %" if value > 0.5 else "<1 %"
    return f"{100 * value:.0f} %" if kind in ("share", "chance") else f"{value:.{decimals}f}"


def _decimals(values: list[Any]) -> int:
    """How many decimals a column of numbers needs: at most three, and one from 10 on.

    >>> _decimals([0.25, 1.0]), _decimals([36.7, 100.0]), _decimals([0.1234, None])
    (2, 1, 3)
    """
    known = [value for value in values if value is not None]
    most = 1 if max(map(abs, known), default=0.0) >= 10 else 3
    exact = (n for n in range(most) if all(abs(v - round(v, n)) < 0.0005 for v in known))
    return next(exact, most)


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


def python_values(values: Any) -> list[Any]:
    """Values as Python values, which they mostly are."""
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if set(map(type, values)) <= PLAIN:
        return list(values)
    return [python_value(value) for value in values]


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, NaN counting as equal to NaN.

    >>> same(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    True
    """
    return a is b or bool(np.array_equal(a, b, equal_nan=True))


def _type(values: Any) -> str:
    """NumPy's letter for the type of an array; that of objects for a list."""
    return values.dtype.kind if isinstance(values, np.ndarray) else "O"


def _kind(values: Any) -> Kind:
    """The kind of a column, by the type of its values."""
    of_array: dict[str, Kind] = {"b": "flag", "i": "whole", "u": "whole", "f": "number"}
    return of_array.get(np.asarray(values).dtype.kind, "label")


def _picked(values: Any, rows: Any) -> Any:
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]


def _of_real_types(values: Any) -> Any:
    """Labels may be NumPy scalars in an object array: give the frame library Python values."""
    is_object = isinstance(values, np.ndarray) and _type(values) == "O"
    return python_values(values) if is_object else values


def _of_one_type(values: Any) -> Any:
    """One item's labels may be numbers and another's words: a mixed column becomes text."""
    if not isinstance(values, list) or len(set(map(type, values)) - {type(None)}) < 2:
        return values
    return [v if v is None else str(v) for v in values]


def _safe(labels: list[Any]) -> list[str]:
    """Labels as text in which no character ends a cell or a line."""
    if set(map(type, labels)) != {str}:
        labels = ["" if label is None else str(label) for label in labels]
    return labels if "".join(labels).isprintable() else list(map(printable, labels))


def _six_digits(value: Any) -> str:
    if value is None:
        return ""
    return str(float(f"{value:.6g}")) if isinstance(value, float) else str(value)
