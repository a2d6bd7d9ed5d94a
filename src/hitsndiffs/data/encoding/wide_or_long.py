"""Find out whether a table in memory is wide or long."""

from __future__ import annotations

from typing import Any

from hitsndiffs.data.encoding.frames import open_table
from hitsndiffs.data.encoding.groups import take_column
from hitsndiffs.data.encoding.names import recognise

__all__ = ["is_long"]


def is_long(table: Any, group: str | None = None) -> bool:
    """Whether a table has one row per answer, judged by its column names and repeated labels.

    The group column, if given, does not count.

    Examples
    --------
    >>> is_long({"user": ["a", "a"], "item": ["x", "y"], "option": ["A", "B"]})
    True
    >>> is_long([["A", "B"], ["B", "B"]])
    False
    """
    opened = open_table(table)
    if not opened.named:
        return False
    if group is not None:
        take_column(opened, group)
    found = [recognise(role, opened.names) for role in ("user", "item", "option")]
    if not all(found) or len({names[0] for names in found}) < 3:
        return False
    if len(opened.names) == 3:
        return True
    users, items = (opened.column(names[0]) for names in found[:2])
    return any(len(set(_cells(column))) < len(_cells(column)) for column in (users, items))


def _cells(column: Any) -> list[Any]:
    head = column[:10_000]
    return list(head.to_list() if hasattr(head, "to_list") else head)
