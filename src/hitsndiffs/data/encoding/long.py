"""Encode long tables: one row per answer, three columns of numbers to codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Ints
from hitsndiffs.data.encoding.option_book import Option, Skipped, in_order, normalise, smallest
from hitsndiffs.data.encoding.result import Place, check_sizes, label_array
from hitsndiffs.data.encoding.wide import dropped_items
from hitsndiffs.data.responses import DENSE_FROM, Responses
from hitsndiffs.data.words import count
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
    answers = _Answers(users, items, options.numbers, table, sizes)
    found = answers.laid_out()
    if found is None:
        notes.append(_settle(answers, place, duplicates))
        found = answers.laid_out()
        assert found is not None
    codes, rows = found
    empty = [items.labels[k] for k in np.flatnonzero(np.diff(table.starts) == 0).tolist()]
    whole_table = Responses(
        users=label_array(users.labels),
        items=label_array(items.labels),
        option_labels=label_array(table.labels),
        item_starts=table.starts,
        codes=codes,
        rows=rows,
        kind=kind,
    )
    return whole_table.select().with_notes([*notes, *dropped_items(empty)])


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
    """Numbered answers, and the two layouts that they may have."""

    users: Factor
    items: Factor
    options: Int32
    table: _Options
    sizes: LongSizes

    def laid_out(self) -> tuple[Array | None, tuple[Ints, Int32] | None] | None:
        """Return the codes, or the rows; ``None`` if a user answered an item more than once."""
        widths = np.diff(self.table.starts)
        n_cells = len(self.users.labels) * np.count_nonzero(widths)
        n_answers = int(np.count_nonzero(self.options >= 0))
        if n_answers < DENSE_FROM * n_cells or widths.max() >= 65535:
            rows = self._sparse(n_answers)
            return None if rows is None else (None, rows)
        codes = self._dense()
        if np.count_nonzero(codes != np.iinfo(codes.dtype).max) < n_answers:
            return None
        return codes, None

    def cells(self, rows: Ints) -> Ints:
        """Return the number of each row's (item, user) cell."""
        items = self.items.numbers[rows].astype(np.int64)
        return items * len(self.users.labels) + self.users.numbers[rows]

    def blocks(self) -> Iterator[Ints]:
        """Yield the rows with answers, block by block."""
        for part in self.sizes.blocks(len(self.options)):
            yield np.flatnonzero(self.options[part] >= 0) + part.start

    def _dense(self) -> Array:
        n_items, n_users = len(self.items.labels), len(self.users.labels)
        dtype: Any = smallest(int(np.diff(self.table.starts).max()))
        codes = np.full(n_items * n_users, np.iinfo(dtype).max, dtype=dtype)
        for rows in self.blocks():
            within = self.options[rows] - self.table.starts[self.items.numbers[rows]]
            codes[self.cells(rows)] = within.astype(dtype)
        return codes.reshape(n_items, n_users)

    def _sparse(self, n_answers: int) -> tuple[Ints, Int32] | None:
        n_options = len(self.table.labels)
        keys = np.empty(n_answers, dtype=np.int64)  # they sort by user, then by item and option
        done = 0
        for rows in self.blocks():
            users = self.users.numbers[rows].astype(np.int64)
            keys[done : done + len(rows)] = users * n_options + self.options[rows]
            done += len(rows)
        keys.sort()
        chosen = np.empty(n_answers, dtype=np.int32)
        for part in self.sizes.blocks(n_answers):
            chosen[part] = keys[part] % n_options
        edges = np.arange(len(self.users.labels) + 1, dtype=np.int64) * n_options
        indptr = np.searchsorted(keys, edges).astype(np.int64)
        del keys
        again = np.diff(self.table.items[chosen]) == 0
        again[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < n_answers)] - 1] = False
        return None if again.any() else (indptr, chosen)


def _settle(answers: _Answers, place: Place, duplicates: str) -> str:
    """Take out all but one answer of each user to each item; return a sentence about it.

    Two different answers are refused, unless the caller said which one counts.
    """
    options = answers.options
    rows = np.flatnonzero(options >= 0)
    if duplicates == "last":
        rows = rows[::-1]
    cells = answers.cells(rows)
    order = np.argsort(cells, kind="stable")
    rows, cells = rows[order], cells[order]
    is_new = np.append(True, cells[1:] != cells[:-1])
    kept = rows[np.flatnonzero(is_new)[np.cumsum(is_new) - 1]]
    other = np.flatnonzero(options[rows] != options[kept])
    if len(other) and duplicates == "error":
        pairs = np.sort(np.stack([kept[other], rows[other]]), axis=0)
        first, second = pairs[:, np.lexsort(pairs[::-1])[0]].tolist()
        user, item = answers.users.numbers[first], answers.items.numbers[first]
        one, two = (str(answers.table.labels[k]) for k in options[[first, second]])
        raise InputError(
            f"{place.source}, {place.rows([first, second])}: the user "
            f"{str(answers.users.labels[user])!r} answered the item "
            f"{str(answers.items.labels[item])!r} with {one!r} and with {two!r}; keep one of "
            "them, or set duplicates to first or last."
        )
    options[rows[~is_new]] = -1
    dropped = count(int(np.count_nonzero(~is_new)), "answer")
    if not len(other):
        return f"Dropped {dropped} that only repeated the same answer."
    return (
        f"Dropped {dropped} because the user had answered the item more than once (kept the "
        f"{duplicates} one)."
    )
