"""The columns of a ranking: one list for screen, pipe, file, JSON, frame, report and notebook.

Every place that shows users takes its columns from here, so that a column has the same name, the
same type and the same numbers everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array
from hitsndiffs.results.cells import Cells, Kind

__all__ = ["COLUMNS", "Cells", "Column", "cells_of", "rank_ranges", "shown_columns"]


@dataclass(frozen=True)
class Column:
    """One column: its name in pipes, files, JSON and frames, its heading for people, its kind.

    ``values`` takes one value per user from a ranking; ``None`` if it has no such column.
    """

    name: str
    heading: str
    kind: Kind
    values: Callable[[Any], Array | None]


#: All columns, in the order in which they are shown.
COLUMNS: Mapping[str, Column] = {
    column.name: column
    for column in (
        Column("rank", "rank", "whole", lambda r: r.ranks),
        Column("user", "user", "label", lambda r: r.users),
        Column("tier", "tier", "whole", lambda r: _known(r, r.tiers)),
        Column("score", "score", "number", lambda r: r.scores),
        Column("standard_error", "± error", "number", lambda r: r.standard_errors),
        Column("rank_low", "best rank", "whole", lambda r: r.intervals[0]),
        Column("rank_high", "worst rank", "whole", lambda r: r.intervals[1]),
        Column("correct", "right", "share", lambda r: r.correct),
        Column("ability", "ability", "number", lambda r: r.abilities),
        Column("key_score", "by your key", "share", lambda r: r.key_scores),
        Column("answers", "answers", "whole", lambda r: r.responses.answers_per_user),
        Column("component", "group", "whole", lambda r: _known(r, r.components)),
    )
}


def shown_columns(ranking: Any) -> list[str]:
    """The columns that people see, in their order; beside a doubt none that looks precise.

    Besides the names of :data:`COLUMNS` there are ``"bar"``, a picture of the score and its
    interval, and ``"range"``, the ranks that a user may truly have (:func:`rank_ranges`).
    """
    numbers = ranking.verdict.allows_numbers
    sure = numbers and bool(np.isfinite(ranking.standard_errors).any())
    own = {"correct": ranking.correct, "ability": ranking.abilities}.get(ranking.by)
    answers = ranking.responses.answers_per_user
    some = answers[answers > 0]
    wanted = {
        "rank": not ranking.ratings,
        "user": True,
        "tier": int(ranking.tiers.max(initial=1)) > 1,
        "score" if own is None else ranking.by: numbers,
        "bar": sure,
        "range": sure,
        "key_score": ranking.key_scores is not None,
        "answers": len(some) > 0 and bool(np.ptp(some) > 0),
        "component": ranking.n_components > 1,
    }
    return [name for name, is_wanted in wanted.items() if is_wanted]


def rank_ranges(cells: Cells) -> list[str]:
    """The ranks that each user may truly have, as people read them."""
    both = zip(cells.texts("rank_low"), cells.texts("rank_high"), strict=True)
    return [low if low == high else f"{low}–{high}" for low, high in both]


def _known(ranking: Any, values: Array) -> Array:
    """Whole numbers, missing for users without answers."""
    known = ranking.components >= 0
    return values if known.all() else np.where(known, values, np.nan)


def cells_of(ranking: Any, users: Array | None = None, names: Sequence[str] = ()) -> Cells:
    """The columns that a ranking has (or those named), for everybody or the users of these numbers.

    >>> import hitsndiffs as hnd
    >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")], method="majority")
    >>> cells_of(ranking, names=("rank", "user")).records()[0]
    {'rank': 1, 'user': 1}
    """
    order = ranking.order if users is None else users
    found = {
        name: np.asarray(values)[order]
        for name, column in COLUMNS.items()
        if (not names or name in names) and (values := column.values(ranking)) is not None
    }
    return dressed(found, shares=ranking.by == "correct")


def dressed(columns: Mapping[str, Array], *, shares: bool) -> Cells:
    """Columns of :data:`COLUMNS` with kinds and headings; scores may be shares of right answers."""
    kinds: dict[str, Kind] = {name: COLUMNS[name].kind for name in columns}
    if shares:
        kinds |= dict.fromkeys(kinds.keys() & {"score", "standard_error"}, "share")
    whole = {
        name: values.astype(np.int64)
        for name, values in columns.items()
        if kinds[name] == "whole" and values.dtype.kind == "f" and np.isfinite(values).all()
    }
    return Cells({**columns, **whole}, kinds, {name: COLUMNS[name].heading for name in columns})
