"""The user column of a wide table, other columns that also name users, and the users' labels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags
from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.data.encoding.option_book import is_blank
from hitsndiffs.data.encoding.result import label_array
from hitsndiffs.data.words import Detail, listed

__all__ = ["further_names", "recognised_user", "row_labels"]


def row_labels(cells: Iterable[Any]) -> tuple[Array, Flags]:
    """Return the label of every row (texts stripped), and which rows have none.

    Examples
    --------
    >>> labels, nameless = row_labels([" ann", 3, None, " "])
    >>> labels.tolist(), nameless.tolist()
    (['ann', 3, None, ''], [False, False, True, True])
    """
    cells = list(cells)
    try:
        labels = label_array(list(map(str.strip, cells)))
    except TypeError:  # not all of them are texts
        labels = label_array([cell.strip() if isinstance(cell, str) else cell for cell in cells])
        if labels.dtype.kind in "iu":
            return labels, np.zeros(len(labels), dtype=bool)
        return labels, np.array([is_blank(cell) for cell in cells], dtype=bool)
    return labels, np.asarray(labels == "")


def recognised_user(
    fitting: Sequence[Any], names_rows: Callable[[Any], bool], notes: list[str]
) -> Any:
    """Return the first column that names its rows, else the first; add a note.

    ``fitting`` are columns named like users, best match first. ``names_rows`` says whether a column
    has a different value in every row.

    Examples
    --------
    >>> notes = []
    >>> recognised_user(["name", "student_id"], {"name": False, "student_id": True}.get, notes)
    'student_id'
    >>> notes
    ["Recognised 'student_id' as the user column."]
    """
    column = next((name for name in fitting if names_rows(name)), fitting[0])
    notes.append(Detail(f"Recognised {column!r} as the user column."))
    return column


def further_names(
    user: Any,
    names: Sequence[Any],
    names_rows: Callable[[Any], bool],
    notes: list[str],
    *,
    kept: Collection[Any] = (),
) -> list[Any]:
    """Return the other columns that name the users and so are not items; add a note on them.

    ``user`` is the column that names the users, ``names`` are all columns, and ``kept`` those that
    the caller has already decided about.
    """
    others = [n for n in recognise("user", names, wide=True) if n != user and n not in kept]
    found = [name for name in others if names_rows(name)]
    if found:
        notes.append(f"Left out {listed(found)}, which also names the users.")
    return found
