"""The columns of a ranking: one list for screen, pipe, file, JSON, frame, report and notebook.

Every place that shows users takes its columns from here, so that a column has the same name, the
same type and the same numbers everywhere. Ranks, tiers and counts are whole numbers; what is not
known is missing (a null, an empty cell), never NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import printable
from hitsndiffs.results.values import Kind, python_values, to_frame

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["COLUMNS", "Cells", "Column", "cells_of"]

Array = npt.NDArray[Any]

#: From this many rows on, text is written by Polars, whose import takes longer than to write fewer.
POLARS_FROM = 10_000


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    name
        In pipes, files, JSON and frames.
    heading
        For people.
    kind
        What its values are, and so how they are shown.
    values
        One value per user from a ranking; ``None`` if the ranking has no such column.
    """

    name: str
    heading: str
    kind: Kind
    values: Callable[[Ranking], Array | None]

    def text(self, value: Any) -> str:
        """A cell for people.

        >>> COLUMNS["rank"].text(1200), COLUMNS["correct"].text(0.756)
        ('1,200', '76 %')
        >>> COLUMNS["ability"].text(None)
        '–'
        """
        return text_of(value, self.kind)


def text_of(value: Any, kind: Kind) -> str:
    """A value for people, by the kind of its column."""
    if value is None or value != value:
        return "–"
    if kind == "label":
        return printable(str(value))
    if kind == "whole":
        return f"{round(value):,}"
    return f"{100 * value:.0f} %" if kind == "share" else f"{value:.3f}"


def _low(ranking: Ranking) -> Array:
    return ranking.intervals[0]


def _high(ranking: Ranking) -> Array:
    return ranking.intervals[1]


#: All columns, in the order in which they are shown.
COLUMNS: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column("rank", "rank", "whole", lambda r: r.ranks),
        Column("user", "user", "label", lambda r: r.users),
        Column("tier", "tier", "whole", lambda r: _where(r, r.tiers)),
        Column("score", "score", "number", lambda r: r.scores),
        Column("standard_error", "± error", "number", lambda r: r.standard_errors),
        Column("rank_low", "best rank", "whole", _low),
        Column("rank_high", "worst rank", "whole", _high),
        Column("correct", "right", "share", lambda r: r.correct),
        Column("ability", "ability", "number", lambda r: r.abilities),
        Column("key_score", "by your key", "share", lambda r: r.key_scores),
        Column("answers", "answers", "whole", lambda r: r.responses.answers_per_user),
        Column("component", "group", "whole", lambda r: _where(r, r.components)),
    )
}


def _where(ranking: Ranking, values: Array) -> Array:
    """Whole numbers, missing for users without answers."""
    known = ranking.components >= 0
    return values if known.all() else np.where(known, values, np.nan)


@dataclass(frozen=True)
class Cells:
    """The columns of a ranking for some users, best first: the one object that everything shows.

    Attributes
    ----------
    columns
        Name → values, in the order shown. Whole numbers are integers, or floats with NaN where
        some are missing.
    kinds
        Name → kind of value.
    """

    columns: Mapping[str, Array]
    kinds: Mapping[str, Kind]

    def __len__(self) -> int:
        return len(self.columns["user"])

    def values(self, name: str) -> list[Any]:
        """One column as Python values, with ``None`` for what is missing."""
        column = self.columns[name]
        if self.kinds[name] == "label":
            return python_values(column)
        if column.dtype.kind != "f":
            return list(column.tolist())
        whole = self.kinds[name] == "whole"
        return [
            None if value != value else round(value) if whole else value
            for value in column.tolist()
        ]

    def texts(self, name: str) -> list[str]:
        """One column as people read it."""
        return [text_of(value, self.kinds[name]) for value in self.values(name)]

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain Python values (JSON types)."""
        plain = {name: self.values(name) for name in self.columns}
        plain["user"] = [_plain(user) for user in plain["user"]]
        return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]

    def frame(self, kind: str = "polars") -> Any:
        """The columns as a frame (see :func:`to_frame`)."""
        return to_frame(self.columns, kind, self.kinds)

    def tab_separated(self) -> str:
        """The rows as text for programs: names, then one line per user; six digits are kept."""
        if len(self) >= POLARS_FROM:
            import polars as pl
            import polars.selectors as cs

            frame = self.frame().with_columns(
                cs.float().round_sig_figs(6), pl.Series("user", _safe(self.values("user")))
            )
            return str(frame.write_csv(separator="\t", quote_style="never"))
        columns = [_safe(self.values("user")) if name == "user" else
                   [_six_digits(value) for value in self.values(name)]
                   for name in self.columns]  # fmt: skip
        lines = ["\t".join(self.columns), *map("\t".join, zip(*columns, strict=True)), ""]
        return "\n".join(lines)

    def json(self) -> str:
        """The rows as a JSON array, one row per line."""
        import json

        if len(self) >= POLARS_FROM:
            import polars as pl

            users = self.values("user")
            if set(map(type, users)) in ({str}, {int}):
                frame = self.frame().with_columns(pl.Series("user", users))
                lines = frame.write_ndjson().rstrip("\n").replace("\n", ",\n")
                return f"[\n{lines}\n]"
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in self.records()]
        return "[\n" + ",\n".join(lines) + "\n]"


def cells_of(ranking: Ranking, users: Array | None = None, names: Sequence[str] = ()) -> Cells:
    """The columns that a ranking has.

    Parameters
    ----------
    ranking
        The ranking.
    users
        Numbers of the users, in the order wanted (default: everybody, best first).
    names
        Only these columns (default: all that the ranking has).

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")], method="majority")
    >>> cells_of(ranking, names=("rank", "user")).records()[0]
    {'rank': 1, 'user': 1}
    """
    order = ranking.order if users is None else users
    columns: dict[str, Array] = {}
    for name, column in COLUMNS.items():
        if (not names or name in names) and (values := column.values(ranking)) is not None:
            chosen = np.asarray(values)[order]
            whole = column.kind == "whole" and chosen.dtype.kind == "f"
            if whole and np.isfinite(chosen).all():
                chosen = chosen.astype(np.int64)
            columns[name] = chosen
    kinds: dict[str, Kind] = {name: COLUMNS[name].kind for name in columns}
    if ranking.by == "correct" and "score" in kinds:
        kinds |= {name: "share" for name in ("score", "standard_error") if name in kinds}
    return Cells(columns, kinds)


def _plain(label: Any) -> Any:
    """A label as a JSON value."""
    return label if isinstance(label, int | str) else str(label)


def _safe(labels: list[Any]) -> list[str]:
    """Labels as text in which no character ends a cell or a line."""
    texts = labels if set(map(type, labels)) == {str} else list(map(str, labels))
    return texts if "".join(texts).isprintable() else list(map(printable, texts))


def _six_digits(value: Any) -> str:
    if value is None:
        return ""
    return str(float(f"{value:.6g}")) if isinstance(value, float) else str(value)
