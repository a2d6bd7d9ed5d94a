"""Which column of a wide table names the users, and which others name them too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from hitsndiffs.data.encoding.names import listed, recognise

__all__ = ["further_names", "recognised_user"]


def recognised_user(
    fitting: Sequence[Any], names_rows: Callable[[Any], bool], notes: list[str]
) -> Any:
    """Return the first column that has another value in every row, else the first; and say so.

    Parameters
    ----------
    fitting
        Columns that are named like users, the most telling first.
    names_rows
        Whether a column has another value in every row.
    notes
        Gets a sentence.

    Examples
    --------
    >>> notes = []
    >>> recognised_user(["name", "student_id"], {"name": False, "student_id": True}.get, notes)
    'student_id'
    >>> notes
    ["Recognised 'student_id' as the user column."]
    """
    column = next((name for name in fitting if names_rows(name)), fitting[0])
    notes.append(f"Recognised {column!r} as the user column.")
    return column


def further_names(
    user: Any,
    names: Sequence[Any],
    names_rows: Callable[[Any], bool],
    notes: list[str],
    *,
    kept: Collection[Any] = (),
) -> list[Any]:
    """Return the other columns that name the users, which are no items; and say so.

    Parameters
    ----------
    user
        The column that names the users.
    names
        All columns.
    names_rows
        Whether a column has another value in every row.
    notes
        Gets a sentence.
    kept
        Columns that the caller has decided about.
    """
    others = [n for n in recognise("user", names, wide=True) if n != user and n not in kept]
    found = [name for name in others if names_rows(name)]
    if found:
        notes.append(f"Left out {listed(found)}, which also names the users.")
    return found
