"""Every user with every candidate key: where the model does its arithmetic.

A cell holds one number for a candidate and a user who answered its item. Where most users answered
most items the cells are a table, candidates × users, and sums over users or candidates are matrix
products. Otherwise they are one long row, candidate by candidate. Both offer the same, in single
precision: the model's noise is far above its rounding.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Floats, Ints
from hitsndiffs.methods.core.table import Table, sums

__all__ = ["Cells", "cells_of"]

#: Cells are a table if at least this share of it is filled.
MOSTLY = 0.3
SINGLE = np.float32


class Cells(Protocol):
    """Cells of some candidates (sorted by item) and some users.

    Attributes
    ----------
    candidates
        Options, by number; those of items that somebody answered.
    users
        Users, by number; those who answered.
    asked
        1 where the user answered the item, or the number 1 if that is everywhere.
    right
        1 where the answer is the candidate.
    """

    candidates: Ints
    users: Ints
    asked: Any
    right: Array

    def of_candidates(self, values: Floats) -> Array:
        """A value of each candidate, in its cells."""
        ...

    def of_users(self, values: Floats) -> Array:
        """A value of each user, in that user's cells."""
        ...

    def of_answers(self, values: Floats) -> Array:
        """A value of each answer, in the cells of that answer."""
        ...

    def linear(self, rows: list[Floats], columns: list[Floats]) -> Array:
        """The sum of products of a value of the candidate and one of the user."""
        ...

    def over_users(self, values: Array, *columns: Floats) -> list[Floats]:
        """For each candidate the sum over users, each with its number of the column."""
        ...

    def over_candidates(self, values: Array, *rows: Floats) -> list[Floats]:
        """For each user the sum over candidates, each with its number of the row."""
        ...

    def over_item(self, values: Array, row: Floats) -> Floats:
        """For each answer the sum over the item's candidates, each with its number of the row."""
        ...


def cells_of(table: Table, candidates: Flags) -> Cells:
    """The cells of a table's answers and some candidates."""
    found = np.flatnonzero(candidates & (table.per_item > 0)[table.of_option])
    users = np.flatnonzero(table.per_user > 0)
    items = int((np.bincount(table.of_option[found], minlength=table.n_items) > 0).sum())
    if len(table.user) >= MOSTLY * items * len(users):
        return _Full(table, found, users)
    return _Sparse(table, found, users)


class _Full:
    """A table, candidates × users."""

    def __init__(self, table: Table, candidates: Ints, users: Ints) -> None:
        self.candidates, self.users = candidates, users
        item = table.of_option[candidates]
        self._first = np.flatnonzero(np.diff(item, prepend=-1))
        row = np.full(table.n_items, -1)
        row[item[self._first]] = np.arange(len(self._first))
        column = np.zeros(table.n_users, dtype=np.int64)
        column[users] = np.arange(len(users))
        self._row, self._column = row[table.item], column[table.user]
        self._judged = None if (self._row >= 0).all() else self._row >= 0
        self._place = row[item]
        answer = self.of_answers(table.option + 1, np.int32)
        self.right = (answer == candidates[:, None] + 1).astype(SINGLE)
        self.asked: Any = 1 if (answer > 0).all() else (answer > 0).astype(SINGLE)

    def of_candidates(self, values: Floats) -> Array:
        return values.astype(SINGLE)[:, None]

    def of_users(self, values: Floats) -> Array:
        return values.astype(SINGLE)[None, :]

    def of_answers(self, values: Array, kind: Any = SINGLE) -> Array:
        found: Array = np.zeros((len(self._first), len(self.users)), dtype=kind)
        judged = slice(None) if self._judged is None else self._judged
        found[self._row[judged], self._column[judged]] = values[judged]
        return np.asarray(found[self._place])

    def linear(self, rows: list[Floats], columns: list[Floats]) -> Array:
        found = np.stack(rows, axis=1).astype(SINGLE) @ np.stack(columns).astype(SINGLE)
        return np.asarray(found)

    def over_users(self, values: Array, *columns: Floats) -> list[Floats]:
        return list((values @ np.stack(columns, axis=1).astype(SINGLE)).T.astype(float))

    def over_candidates(self, values: Array, *rows: Floats) -> list[Floats]:
        return list((np.stack(rows).astype(SINGLE) @ values).astype(float))

    def over_item(self, values: Array, row: Floats) -> Floats:
        sums = np.add.reduceat(values * self.of_candidates(row), self._first, axis=0)
        found: Floats = sums[self._row, self._column].astype(float)
        if self._judged is not None:
            found[~self._judged] = 0.0
        return found


class _Sparse:
    """One long row, candidate by candidate."""

    asked = 1

    def __init__(self, table: Table, candidates: Ints, users: Ints) -> None:
        self.candidates, self.users = candidates, users
        by_item = np.argsort(table.item, kind="stable")
        begins = np.searchsorted(table.item[by_item], np.arange(table.n_items + 1))
        item = table.of_option[candidates]
        self._sizes = np.diff(begins)[item]
        self._first = np.cumsum(self._sizes) - self._sizes
        place = np.arange(int(self._sizes.sum())) - np.repeat(
            self._first - begins[item], self._sizes
        )
        self._answer, self._answers = by_item[place], len(table.user)
        column = np.zeros(table.n_users, dtype=np.int64)
        column[users] = np.arange(len(users))
        self._user = column[table.user][self._answer]
        chosen = table.option[self._answer]
        self.right: Array = (chosen == np.repeat(candidates, self._sizes)).astype(SINGLE)

    def of_candidates(self, values: Floats) -> Array:
        return np.repeat(values.astype(SINGLE), self._sizes)

    def of_users(self, values: Floats) -> Array:
        return values.astype(SINGLE)[self._user]

    def of_answers(self, values: Floats) -> Array:
        return values.astype(SINGLE)[self._answer]

    def linear(self, rows: list[Floats], columns: list[Floats]) -> Array:
        found = np.zeros(len(self._user), dtype=SINGLE)
        for row, column in zip(rows, columns, strict=True):
            each = self.of_candidates(row)
            found += each if (column == 1).all() else each * self.of_users(column)
        return found

    def over_users(self, values: Array, *columns: Floats) -> list[Floats]:
        found = []
        for column in columns:
            each = values if (column == 1).all() else values * self.of_users(column)
            found.append(np.add.reduceat(each, self._first, dtype=float))
        return found

    def over_candidates(self, values: Array, *rows: Floats) -> list[Floats]:
        return [sums(values * self.of_candidates(row), self._user, len(self.users)) for row in rows]

    def over_item(self, values: Array, row: Floats) -> Floats:
        return sums(values * self.of_candidates(row), self._answer, self._answers)
