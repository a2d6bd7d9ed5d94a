"""Encode long tables: one row per answer, three columns of numbers to codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Flags, Ints
from hitsndiffs.data.encoding.option_book import Option, Skipped, in_order, normalise, smallest
from hitsndiffs.data.encoding.result import Place, check_sizes, label_array
from hitsndiffs.data.encoding.wide import dropped_items
from hitsndiffs.data.layouts import choosers_in_codes, choosers_in_rows
from hitsndiffs.data.responses import DENSE_FROM, Responses
from hitsndiffs.errors import InputError

__all__ = ["DUPLICATES", "Factor", "LongSizes", "assemble_long"]

DUPLICATES = ("error", "first", "last")

Int32 = npt.NDArray[np.int32]


@dataclass(frozen=True)
class LongSizes:
    """Size thresholds.

    Attributes
    ----------
    block
        Rows processed at a time.
    table_pairs
        Up to this many (item, option) pairs are looked up in a table; more are searched.
    """

    block: int = 1 << 18
    table_pairs: int = 50_000_000

    def blocks(self, length: int) -> Iterator[slice]:
        """Yield slices that cover ``length`` rows."""
        for first in range(0, length, self.block):
            yield slice(first, min(first + self.block, length))


@dataclass
class Factor:
    """A column as ``labels[numbers[row]]``, in order of first appearance; -1 is null."""

    labels: Any
    numbers: Int32


@dataclass
class _Options:
    """The options of all items, and how they are numbered."""

    labels: list[Any]
    items: Ints
    starts: Ints


def assemble_long(
    users: Factor,
    items: Factor,
    options: Factor,
    *,
    place: Place,
    columns: tuple[str, str, str],
    duplicates: str,
    as_text: bool,
    kind: str,
    notes: list[str],
    whole: bool = True,
    all_answers: bool = False,
    sizes: LongSizes | None = None,
) -> Responses:
    """Turn three columns of numbers into the parts of Responses.

    The numbers of the option column are overwritten to save memory (they can take gigabytes). With
    ``all_answers`` every text is an answer, even -3 and NA, which otherwise mean no answer.
    """
    if duplicates not in DUPLICATES:
        raise InputError(f"duplicates must be 'error', 'first' or 'last'; got {duplicates!r}.")
    sizes = sizes or LongSizes()
    skipped = Skipped()
    keys, is_text = _merge_options(options, skipped, all_answers, sizes)
    _check_named(users, items, options, place, columns)
    check_sizes(place, users.labels, max(len(items.labels), not whole), whole=whole)
    if not keys and not whole:
        return _nobody(kind, notes)
    if not keys:
        raise InputError(
            f"{place.source}: no row holds an answer in column {columns[2]!r} (empty cells, NA and "
            "negative numbers count as no answer); there is nothing to rank."
        )
    table = _number_options(items, options, keys, as_text or is_text, sizes)
    notes += skipped.note()
    answers = _Answers(users, items, options.numbers, table, place, duplicates, notes, sizes)
    codes, rows = (answers.dense(), None) if answers.are_dense() else (None, answers.sparse())
    return _finish(users, items, table, codes, rows, kind, notes)


def _nobody(kind: str, notes: list[str]) -> Responses:
    """A part without a single answer."""
    none = label_array([])
    return Responses(
        users=none, items=none, option_labels=none, item_starts=np.zeros(1, dtype=np.int64),
        rows=(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)), codes=None,
        kind=kind, notes=tuple(notes),
    )  # fmt: skip


def _check_named(
    users: Factor, items: Factor, options: Factor, place: Place, columns: tuple[str, str, str]
) -> None:
    """Refuse answers without a user or an item; rows without an answer are ignored."""
    for factor, column, role in ((users, columns[0], "user"), (items, columns[1], "item")):
        blank = factor.numbers < 0
        if not blank.any():
            continue
        wrong = np.flatnonzero(blank & (options.numbers >= 0))
        if len(wrong):
            raise InputError(
                f"{place.source}, {place.row(wrong[0])}, column {column!r}: there is an answer "
                f"but no {role}; write the {role} in every row, or take the row out."
            )


def _merge_options(
    options: Factor, skipped: Skipped, all_answers: bool, sizes: LongSizes
) -> tuple[list[Option], bool]:
    """Normalise the distinct values, renumber the cells, and return the distinct options."""
    index: dict[Option, int] = {}
    lookup = np.full(len(options.labels) + 1, -1, dtype=np.int32)
    is_text = False
    for place, value in enumerate(options.labels):
        option = normalise(value)
        if option is None and all_answers:
            option = str(value)
        if option is None:
            skipped.add(value)
        else:
            lookup[place] = index.setdefault(option, len(index))
            is_text = is_text or isinstance(value, str) or isinstance(option, str)
    for part in sizes.blocks(len(options.numbers)):
        options.numbers[part] = lookup[options.numbers[part]]
    return list(index), is_text


def _number_options(
    items: Factor, options: Factor, keys: list[Option], as_text: bool, sizes: LongSizes
) -> _Options:
    """Number the options item after item, and overwrite the cells with these numbers."""
    n_keys = len(keys)
    n_pairs = len(items.labels) * n_keys
    small = n_pairs <= sizes.table_pairs
    present = np.zeros(n_pairs, dtype=bool) if small else None
    found = []
    for part in sizes.blocks(len(options.numbers)):
        pairs = _pairs(items, options, part, n_keys)
        pairs = pairs[pairs >= 0]
        if present is not None:
            present[pairs] = True
        else:
            found.append(np.unique(pairs))
    used = np.flatnonzero(present) if present is not None else np.unique(np.concatenate(found))
    owner = used // n_keys
    starts = np.searchsorted(owner, np.arange(len(items.labels) + 1))
    rank = np.empty(len(used), dtype=np.int32)
    labels: list[Any] = []
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        own = [keys[k] for k in (used[first:last] % n_keys).tolist()]
        order = in_order(own)
        labels += [str(own[k]) if as_text else own[k] for k in order]
        rank[[first + k for k in order]] = np.arange(first, last)
    lookup = None
    if small:
        lookup = np.full(n_pairs + 1, -1, dtype=np.int32)
        lookup[used] = rank
    for part in sizes.blocks(len(options.numbers)):
        pairs = _pairs(items, options, part, n_keys)
        if lookup is not None:
            options.numbers[part] = lookup[pairs]
        else:
            places = np.minimum(np.searchsorted(used, pairs), len(used) - 1)
            options.numbers[part] = np.where(pairs < 0, -1, rank[places])
    return _Options(labels, owner, starts.astype(np.int64))


def _pairs(items: Factor, options: Factor, part: slice, n_keys: int) -> Ints:
    """Return the number of each row's (item, option) pair; -1 if there is no answer."""
    item = items.numbers[part].astype(np.int64)
    option = options.numbers[part]
    return np.where((option < 0) | (item < 0), -1, item * n_keys + option)


# -- layouts ----------------------------------------------------------------------------------


@dataclass
class _Answers:
    """Numbered answers, and what to do if a user answered an item twice."""

    users: Factor
    items: Factor
    options: Int32
    table: _Options
    place: Place
    duplicates: str
    notes: list[str]
    sizes: LongSizes

    def are_dense(self) -> bool:
        """Whether enough cells are answered for a full table."""
        sizes = np.diff(self.table.starts)
        n_cells = len(self.users.labels) * np.count_nonzero(sizes)
        answered = np.count_nonzero(self.options >= 0)
        return bool(answered >= DENSE_FROM * n_cells and sizes.max() < 65535)

    def cells(self, rows: Ints) -> Ints:
        """Return the number of each row's (item, user) cell."""
        items = self.items.numbers[rows].astype(np.int64)
        return items * len(self.users.labels) + self.users.numbers[rows]

    def blocks(self) -> Iterator[Ints]:
        """Yield the rows with answers, block by block."""
        for part in self.sizes.blocks(len(self.options)):
            yield np.flatnonzero(self.options[part] >= 0) + part.start

    def dense(self) -> Array:
        """Return the codes, items × users."""
        n_items, n_users = len(self.items.labels), len(self.users.labels)
        dtype: Any = smallest(int(np.diff(self.table.starts).max()))
        missing = np.iinfo(dtype).max
        codes = np.full(n_items * n_users, missing, dtype=dtype)
        n_answers = 0
        for rows in self.blocks():
            # The last write to a cell wins. For "first", reverse and write only to empty cells.
            cells, values = self.cells(rows), self._within(rows).astype(dtype)
            if self.duplicates == "first":
                cells, values = cells[::-1], values[::-1]
                free = codes[cells] == missing
                cells, values = cells[free], values[free]
            codes[cells] = values
            n_answers += len(rows)
        n_repeats = n_answers - int(np.count_nonzero(codes != missing))
        if n_repeats:
            different = False
            for rows in self.blocks():
                other = codes[self.cells(rows)] != self._within(rows)
                if other.any():
                    different = True
                    self._refuse(int(rows[other][0]))
            self._report(n_repeats, different)
        return codes.reshape(n_items, n_users)

    def _within(self, rows: Ints) -> Array:
        """Return each answer's place within its item."""
        return self.options[rows] - self.table.starts[self.items.numbers[rows]]

    def sparse(self) -> tuple[Ints, Int32]:
        """Return each user's options, in increasing order."""
        n_options = len(self.table.labels)
        keys = np.empty(np.count_nonzero(self.options >= 0), dtype=np.int64)
        n_answers = 0
        for rows in self.blocks():
            keys[n_answers : n_answers + len(rows)] = self._keys(rows)
            n_answers += len(rows)
        keys.sort()
        repeated = keys[1:] == keys[:-1]
        if repeated.any():
            keys = keys[np.append(True, ~repeated)]
        keys, different = self._settled(keys)
        if len(keys) < n_answers:
            self._report(n_answers - len(keys), different)
        users = np.arange(len(self.users.labels) + 1, dtype=np.int64)
        chosen = np.empty(len(keys), dtype=np.int32)
        for part in self.sizes.blocks(len(keys)):
            chosen[part] = keys[part] % n_options
        return np.searchsorted(keys, users * n_options).astype(np.int64), chosen

    def _keys(self, rows: Ints) -> Ints:
        """Return a number for each answer that sorts by user, then by option."""
        users = self.users.numbers[rows].astype(np.int64)
        return users * len(self.table.labels) + self.options[rows]

    def _settled(self, keys: Ints) -> tuple[Ints, bool]:
        """Return the sorted keys with one answer per user and item, and whether any clashed."""
        n_options, n_users = len(self.table.labels), len(self.users.labels)
        cells = np.empty(len(keys), dtype=np.int64)
        for part in self.sizes.blocks(len(keys)):
            user, option = np.divmod(keys[part], n_options)
            cells[part] = self.table.items[option] * n_users + user
        clashing = np.unique(cells[1:][cells[1:] == cells[:-1]])
        if not len(clashing):
            return keys, False
        found = [rows[np.isin(self.cells(rows), clashing)] for rows in self.blocks()]
        rows = np.concatenate(found)
        self._refuse(int(rows[0]))
        if self.duplicates == "last":
            rows = rows[::-1]
        _, first = np.unique(self.cells(rows), return_index=True)
        kept = np.concatenate([keys[~np.isin(cells, clashing)], self._keys(rows[first])])
        kept.sort()
        return kept, True

    def _refuse(self, row: int) -> None:
        """Refuse two different answers, unless the caller said which one to keep."""
        if self.duplicates != "error":
            return
        user, item = self.users.numbers[row], self.items.numbers[row]
        same = np.flatnonzero((self.users.numbers == user) & (self.items.numbers == item))
        same = same[self.options[same] >= 0]
        _, first = np.unique(self.options[same], return_index=True)
        two = same[np.sort(first)[:2]]
        one, other = (str(self.table.labels[k]) for k in self.options[two])
        raise InputError(
            f"{self.place.source}, {self.place.rows(two.tolist())}: the user "
            f"{str(self.users.labels[user])!r} answered the item {str(self.items.labels[item])!r} "
            f"with {one!r} and with {other!r}; keep one of them, or set duplicates to "
            "first or last."
        )

    def _report(self, n_repeats: int, different: bool) -> None:
        """Say what was dropped."""
        answers = "1 answer" if n_repeats == 1 else f"{n_repeats:,} answers"
        if different:
            self.notes.append(
                f"Dropped {answers} because the user had answered the item more than once "
                f"(kept the {self.duplicates} one)."
            )
        else:
            self.notes.append(f"Dropped {answers} that only repeated the same answer.")


# -- the end ----------------------------------------------------------------------------------


def _finish(
    users: Factor,
    items: Factor,
    table: _Options,
    codes: Array | None,
    rows: tuple[Ints, Int32] | None,
    kind: str,
    notes: list[str],
) -> Responses:
    """Leave out options that are no longer chosen, and items without options."""
    if codes is not None:
        chosen = choosers_in_codes(codes, table.starts)
    else:
        assert rows is not None
        chosen = choosers_in_rows(rows, len(table.labels))
    if not chosen.all():
        codes, rows = _renumber(chosen > 0, table, codes, rows)
    owners = table.items[chosen > 0]
    sizes = np.bincount(owners, minlength=len(items.labels))
    kept = np.flatnonzero(sizes)
    notes += dropped_items([items.labels[k] for k in np.flatnonzero(sizes == 0).tolist()])
    if codes is not None and len(kept) < len(sizes):
        codes = codes[kept]
    labels = [table.labels[k] for k in np.flatnonzero(chosen).tolist()]
    return Responses(
        users=label_array(users.labels),
        items=label_array(items.labels)[kept],
        option_labels=label_array(labels),
        item_starts=np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        codes=codes,
        rows=rows,
        kind=kind,
        notes=tuple(notes),
    )


def _renumber(
    used: Flags,
    table: _Options,
    codes: Array | None,
    rows: tuple[Ints, Int32] | None,
) -> tuple[Any, Any]:
    new = np.cumsum(used) - 1
    if rows is not None:
        return None, (rows[0], new[rows[1]].astype(np.int32))
    assert codes is not None
    missing = np.iinfo(codes.dtype).max
    for row, first, last in zip(codes, table.starts[:-1], table.starts[1:], strict=True):
        own = np.cumsum(used[first:last]) - 1
        np.take(np.append(own, missing).astype(codes.dtype), row.copy(), mode="clip", out=row)
    return codes, None
