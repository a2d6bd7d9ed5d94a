"""Every user with every candidate key: where the model does its arithmetic.

A cell holds one number for a candidate and a user who answered its item. Where most users answered
most items the cells are a table, candidates × users, and sums over users or candidates are matrix
products. Otherwise they are one long row, candidate by candidate. Both offer the same, in single
precision: the model's noise is far above its rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Floats, Ints
from hitsndiffs.methods.core.table import Table, sums

__all__ = ["Cells", "cells_of"]

#: Cells are a table if at least this share of it is filled.
MOSTLY = 0.3
SINGLE = np.float32


def cells_of(table: Table, candidates: Flags) -> Cells:
    """The cells of a table's answers and some candidates."""
    found = np.flatnonzero(candidates & (table.per_item > 0)[table.of_option])
    users = np.flatnonzero(table.per_user > 0)
    items = int((np.bincount(table.of_option[found], minlength=table.n_items) > 0).sum())
    filled = len(table.user) >= MOSTLY * items * len(users)
    return (Cells if filled else SparseCells)(table, found, users)


class Cells:
    """A table of some candidates (sorted by item) and some users.

    Attributes
    ----------
    candidates
        Options, by number; those of items that somebody answered.
    users
        Users, by number; those who answered.
    right
        1 where the answer is the candidate.
    asked
        1 where the user answered the item, or the number 1 if that is everywhere.
    """

    asked: Any = 1

    def __init__(self, table: Table, candidates: Ints, users: Ints) -> None:
        self.candidates, self.users = candidates, users
        self._lay_out(table, table.of_option[candidates])

    def _lay_out(self, table: Table, item: Ints) -> None:
        """Find the answers' places; ``item`` of each candidate."""
        self._first = np.flatnonzero(np.diff(item, prepend=-1))
        row = np.full(table.n_items, -1)
        row[item[self._first]] = np.arange(len(self._first))
        self._row, self._column = row[table.item], self._columns(table)
        self._judged = slice(None) if (self._row >= 0).all() else self._row >= 0
        self._place = row[item]
        answer = self.of_answers(table.option + 1, np.int32)
        self.right: Array = (answer == self.candidates[:, None] + 1).astype(SINGLE)
        if not (answer > 0).all():
            self.asked = (answer > 0).astype(SINGLE)

    def _columns(self, table: Table) -> Ints:
        """The place of each answer's user among the users."""
        column = np.zeros(table.n_users, dtype=np.int64)
        column[self.users] = np.arange(len(self.users))
        return column[table.user]

    def of_candidates(self, values: Floats) -> Array:
        """A value of each candidate, in its cells."""
        return values.astype(SINGLE)[:, None]

    def of_users(self, values: Floats) -> Array:
        """A value of each user, in that user's cells."""
        return values.astype(SINGLE)[None, :]

    def of_answers(self, values: Array, kind: Any = SINGLE) -> Array:
        """A value of each answer, in the cells of that answer."""
        found: Array = np.zeros((len(self._first), len(self.users)), dtype=kind)
        found[self._row[self._judged], self._column[self._judged]] = values[self._judged]
        return np.asarray(found[self._place])

    def linear(self, rows: list[Floats], columns: list[Floats]) -> Array:
        """The sum of products of a value of the candidate and one of the user."""
        found = np.stack(rows, axis=1).astype(SINGLE) @ np.stack(columns).astype(SINGLE)
        return np.asarray(found)

    def over_users(self, values: Array, *columns: Floats) -> list[Floats]:
        """For each candidate the sum over users, each with its number of the column."""
        return list((values @ np.stack(columns, axis=1).astype(SINGLE)).T.astype(float))

    def over_candidates(self, values: Array, *rows: Floats) -> list[Floats]:
        """For each user the sum over candidates, each with its number of the row."""
        return list((np.stack(rows).astype(SINGLE) @ values).astype(float))

    def over_item(self, values: Array, row: Floats) -> Floats:
        """For each answer the sum over the item's candidates, each with its number of the row."""
        sums = np.add.reduceat(values * self.of_candidates(row), self._first, axis=0)
        found = np.zeros(len(self._row))
        here = self._judged
        found[here] = sums[self._row[here], self._column[here]]
        return found


class SparseCells(Cells):
    """One long row, candidate by candidate."""

    def _lay_out(self, table: Table, item: Ints) -> None:
        by_item = np.argsort(table.item, kind="stable")
        begins = np.searchsorted(table.item[by_item], np.arange(table.n_items + 1))
        self._sizes = np.diff(begins)[item]
        self._first = np.cumsum(self._sizes) - self._sizes
        place = np.arange(int(self._sizes.sum()))
        place -= np.repeat(self._first - begins[item], self._sizes)
        self._answer, self._answers = by_item[place], len(table.user)
        self._user = self._columns(table)[self._answer]
        chosen = table.option[self._answer]
        self.right = (chosen == np.repeat(self.candidates, self._sizes)).astype(SINGLE)

    def of_candidates(self, values: Floats) -> Array:
        return np.repeat(values.astype(SINGLE), self._sizes)

    def of_users(self, values: Floats) -> Array:
        return values.astype(SINGLE)[self._user]

    def of_answers(self, values: Array, kind: Any = SINGLE) -> Array:
        return np.asarray(values.astype(kind)[self._answer])

    def linear(self, rows: list[Floats], columns: list[Floats]) -> Array:
        found = np.zeros(len(self._user), dtype=SINGLE)
        for row, column in zip(rows, columns, strict=True):
            found += self._times(self.of_candidates(row), column)
        return found

    def over_users(self, values: Array, *columns: Floats) -> list[Floats]:
        each = (self._times(values, column) for column in columns)
        return [np.add.reduceat(value, self._first, dtype=float) for value in each]

    def _times(self, values: Array, column: Floats) -> Array:
        return values if (column == 1).all() else values * self.of_users(column)

    def over_candidates(self, values: Array, *rows: Floats) -> list[Floats]:
        return [sums(values * self.of_candidates(row), self._user, len(self.users)) for row in rows]

    def over_item(self, values: Array, row: Floats) -> Floats:
        return sums(values * self.of_candidates(row), self._answer, self._answers)
