"""Collect the group of each user from a column of a wide file, piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.factor import Factor, Interner, trimmed
from hitsndiffs.data.groups import user_groups
from hitsndiffs.data.labels import Place

__all__ = ["GroupColumn"]


class GroupColumn:
    """Collects the cells of a column of groups; with None as its name, it collects nothing.

    Examples
    --------
    >>> column = GroupColumn("team")
    >>> column.take(0, {"team": ["x", " ", "x "], "q1": ["A", "B", "A"]})
    >>> column.of_rows(np.array(["ann", "bob", "cem"], dtype=object), Place())
    {'ann': 'x', 'cem': 'x'}
    """

    def __init__(self, name: str | None) -> None:
        self.names = [] if name is None else [name]
        self._cells = Interner()
        self._rows: list[npt.NDArray[np.int64]] = []

    def take(self, first_row: int, columns: dict[str, Any]) -> None:
        """Take the column out of a piece of the file, if present."""
        for name in self.names:
            if name in columns:
                cells = columns.pop(name)
                self._cells.add(cells)
                self._rows.append(np.arange(first_row, first_row + len(cells)))

    def of_rows(self, users: npt.NDArray[Any], place: Place) -> dict[Any, Any] | None:
        """Return user → group, given the user of every row; rows with a blank name are skipped."""
        if not self._rows:
            return None
        found = trimmed(self._cells.factor())
        groups = np.full(len(users), -1, dtype=np.int32)
        groups[np.concatenate(self._rows)] = found.numbers
        index: dict[str, int] = {}
        who = [index.setdefault(user, len(index)) if user else -1 for user in users.tolist()]
        factor = Factor(list(index), np.array(who, dtype=np.int32))
        return user_groups(factor, Factor(found.labels, groups), place, self.names[0])
