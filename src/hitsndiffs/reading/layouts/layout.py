"""How a plain table is read: one row per user, per answer, or per item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Column
from hitsndiffs.reading.layouts.roles import WideRoles

__all__ = ["Layout", "left_out_note"]


@dataclass
class Layout:
    """How a plain table is read.

    Parameters
    ----------
    name
        ``"wide"``, ``"long"`` or ``"transposed"``.
    why
        The reason.
    columns
        What each column is.
    roles
        The roles of a wide table.
    long
        The columns of users, items and options of a long table.
    item, users
        For a transposed table, the column of the items and those of the users.
    key
        The column that holds the key, if any (long and transposed).
    group
        The column of the users' groups, if any.
    parts
        The columns whose cells together name the items of a long table, if not a single one does.
    """

    name: str
    why: str
    columns: list[Column] = field(default_factory=list)
    roles: WideRoles | None = None
    long: tuple[str, str, str] | None = None
    item: str | None = None
    users: list[str] = field(default_factory=list)
    key: str | None = None
    group: str | None = None
    parts: list[str] = field(default_factory=list)


def left_out_note(columns: Sequence[Column]) -> str:
    """Return the note on columns that are left out, grouped by role."""
    groups: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        groups[column.role].append(column.name)
    said = "; ".join(f"{listed(names, most=3)} ({role})" for role, names in groups.items())
    return f"Left out {said}."
