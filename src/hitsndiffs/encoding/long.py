"""One row per answer: three columns of numbers to codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.encoding.options import Option, Skipped, in_order, normalise, smallest
from hitsndiffs.encoding.result import Encoded, Place, check_sizes, label_array
from hitsndiffs.encoding.wide import dropped_items
from hitsndiffs.errors import InputError
from hitsndiffs.responses import DENSE_FROM

__all__ = ["DUPLICATES", "Factor", "assemble_long"]

DUPLICATES = ("error", "first", "last")

_BLOCK = 4_000_000
Int32 = npt.NDArray[np.int32]


@dataclass
class Factor:
    """A column as numbers: ``labels[numbers[row]]``, in order of first appearance; -1 is null."""

    labels: Any
    numbers: Int32


@dataclass
class _Options:
    """The options of all items, and how they are numbered."""

    labels: list[Any]
    items: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]


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
) -> Encoded:
    """Turn three columns of numbers into the parts of Responses.

    The numbers of the option column are overwritten on the way (they can be gigabytes).
    """
    if duplicates not in DUPLICATES:
        raise InputError(f"duplicates must be 'error', 'first' or 'last'; got {duplicates!r}.")
    skipped = Skipped()
    keys, is_text = _merge_options(options, skipped)
    _check_named(users, items, options, place, columns)
    check_sizes(place, users.labels, len(items.labels))
    if not keys:
        raise InputError(
            f"{place.source}: no row holds an answer in column {columns[2]!r} (empty cells, NA and "
            "negative numbers count as no answer); there is nothing to rank."
        )
    table = _number_options(items, options, keys, as_text or is_text)
    notes += skipped.note()
    numbers = options.numbers
    answered = np.count_nonzero(numbers >= 0)
    n_users = len(users.labels)
    widest = int(np.diff(table.starts).max())
    cells = n_users * np.count_nonzero(np.diff(table.starts))
    conflicts = _Conflicts(users, items, table, place, columns, duplicates, notes)
    if answered >= DENSE_FROM * cells and widest < 65535:
        codes = _dense(users.numbers, items.numbers, numbers, table, n_users, conflicts)
        return _finish(users, items, table, codes, None, kind, notes)
    rows = _sparse(users.numbers, items.numbers, numbers, table, n_users, conflicts)
    return _finish(users, items, table, None, rows, kind, notes)


def _check_named(
    users: Factor, items: Factor, options: Factor, place: Place, columns: tuple[str, str, str]
) -> None:
    """Refuse answers without a user or an item; blank rows are passed over."""
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


def _merge_options(options: Factor, skipped: Skipped) -> tuple[list[Option], bool]:
    """Normalise the distinct values, renumber the cells, and return the distinct options."""
    index: dict[Option, int] = {}
    lookup = np.full(len(options.labels) + 1, -1, dtype=np.int32)
    is_text = False
    for place, value in enumerate(options.labels):
        option = normalise(value)
        if option is None:
            skipped.add(value)
        else:
            lookup[place] = index.setdefault(option, len(index))
            is_text = is_text or isinstance(value, str) or isinstance(option, str)
    for part in _blocks(len(options.numbers)):
        options.numbers[part] = lookup[options.numbers[part]]
    return list(index), is_text


def _number_options(items: Factor, options: Factor, keys: list[Option], as_text: bool) -> _Options:
    """Number the options item after item, and overwrite the cells with these numbers."""
    n_keys = len(keys)
    n_pairs = len(items.labels) * n_keys
    small = n_pairs <= 50_000_000
    present = np.zeros(n_pairs, dtype=bool) if small else None
    found = []
    for part in _blocks(len(options.numbers)):
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
    for part in _blocks(len(options.numbers)):
        pairs = _pairs(items, options, part, n_keys)
        if lookup is not None:
            options.numbers[part] = lookup[pairs]
        else:
            places = np.minimum(np.searchsorted(used, pairs), len(used) - 1)
            options.numbers[part] = np.where(pairs < 0, -1, rank[places])
    return _Options(labels, owner, starts.astype(np.int64))


def _pairs(items: Factor, options: Factor, part: slice, n_keys: int) -> npt.NDArray[np.int64]:
    """Return the number of each (item, option) pair, -1 without an answer."""
    item = items.numbers[part].astype(np.int64)
    option = options.numbers[part]
    return np.where((option < 0) | (item < 0), -1, item * n_keys + option)


# -- layouts ----------------------------------------------------------------------------------


def _dense(
    users: Int32, items: Int32, options: Int32, table: _Options, n_users: int, conflicts: _Conflicts
) -> npt.NDArray[Any]:
    n_items = len(table.starts) - 1
    dtype: Any = smallest(int(np.diff(table.starts).max()))
    missing = np.iinfo(dtype).max
    codes = np.full(n_items * n_users, missing, dtype=dtype)
    starts = table.starts[:-1].astype(np.int32)
    n_answers = 0
    repeats = False
    blocks = list(_blocks(len(options)))
    # Of two writes to one cell the later wins, so the order of writing settles first or last.
    backwards = conflicts.duplicates == "first"
    for part in reversed(blocks) if backwards else blocks:
        user, item, option = users[part], items[part], options[part]
        if (option < 0).any():
            kept = option >= 0
            user, item, option = user[kept], item[kept], option[kept]
        cells = item.astype(np.int64) * n_users + user
        values = (option - starts[item]).astype(dtype)
        n_answers += len(cells)
        codes[cells[::-1] if backwards else cells] = values[::-1] if backwards else values
    n_repeats = n_answers - int(np.count_nonzero(codes != missing))
    if n_repeats:
        for part in blocks:
            kept = np.flatnonzero(options[part] >= 0) + part.start
            cells = items[kept].astype(np.int64) * n_users + users[kept]
            other = codes[cells] != options[kept] - starts[items[kept]]
            if other.any():
                repeats = True
                conflicts.meet(kept[other], users, items, options)
        conflicts.report(n_repeats, repeats)
    return codes.reshape(n_items, n_users)


def _sparse(
    users: Int32, items: Int32, options: Int32, table: _Options, n_users: int, conflicts: _Conflicts
) -> tuple[npt.NDArray[np.int64], Int32]:
    n_options = len(table.labels)
    keys = np.empty(np.count_nonzero(options >= 0), dtype=np.int64)
    filled = 0
    for part in _blocks(len(options)):
        kept = options[part] >= 0
        block = users[part][kept].astype(np.int64) * n_options + options[part][kept]
        keys[filled : filled + len(block)] = block
        filled += len(block)
    keys.sort()
    repeated = keys[1:] == keys[:-1]
    n_repeats = int(np.count_nonzero(repeated))
    if n_repeats:
        keys = keys[np.append(True, ~repeated)]
    cells = _cells(keys, table, n_options)
    clash = np.flatnonzero(cells[1:] == cells[:-1])
    if len(clash):
        clashing = np.unique(cells[clash])
        n_items = len(table.starts) - 1
        rows = []
        for part in _blocks(len(options)):
            kept = np.flatnonzero(options[part] >= 0) + part.start
            own = users[kept].astype(np.int64) * n_items + items[kept]
            rows.append(kept[np.isin(own, clashing)])
        conflicts.meet(np.concatenate(rows), users, items, options)
        keys = conflicts.resolve(keys, cells, clashing, np.concatenate(rows),
                                 users, items, options, n_options)  # fmt: skip
    if n_repeats or len(clash):
        conflicts.report(filled - len(keys), bool(len(clash)))
    indptr = np.searchsorted(keys, np.arange(n_users + 1, dtype=np.int64) * n_options)
    chosen = np.empty(len(keys), dtype=np.int32)
    for part in _blocks(len(keys)):
        chosen[part] = keys[part] % n_options
    return indptr.astype(np.int64), chosen


def _cells(keys: npt.NDArray[np.int64], table: _Options, n_options: int) -> npt.NDArray[np.int64]:
    """Return user × items + item for sorted keys user × options + option."""
    n_items = len(table.starts) - 1
    cells = np.empty(len(keys), dtype=np.int64)
    for part in _blocks(len(keys)):
        user, option = np.divmod(keys[part], n_options)
        cells[part] = user * n_items + table.items[option]
    return cells


@dataclass
class _Conflicts:
    """What happens when a user answered an item twice."""

    users: Factor
    items: Factor
    table: _Options
    place: Place
    columns: tuple[str, str, str]
    duplicates: str
    notes: list[str]

    def meet(self, rows: npt.NDArray[np.int64], users: Int32, items: Int32, options: Int32) -> None:
        """Refuse two different answers, unless the caller said which one counts."""
        if self.duplicates != "error":
            return
        user, item = users[rows[0]], items[rows[0]]
        same = np.flatnonzero((users == user) & (items == item) & (options >= 0))
        numbers, first = np.unique(options[same], return_index=True)
        first = np.sort(first)[:2]
        one, two = (str(self.table.labels[options[same[k]]]) for k in first)
        raise InputError(
            f"{self.place.source}, {self.place.rows(same[first].tolist())}: the user "
            f"{str(self.users.labels[user])!r} answered the item {str(self.items.labels[item])!r} "
            f"with {one!r} and with {two!r}; keep one of them, or choose with "
            "duplicates='first' or duplicates='last'."
        )

    def resolve(
        self,
        keys: npt.NDArray[np.int64],
        cells: npt.NDArray[np.int64],
        clashing: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64],
        users: Int32,
        items: Int32,
        options: Int32,
        n_options: int,
    ) -> npt.NDArray[np.int64]:
        """Return the sorted keys with the first or the last answer where there were several."""
        n_items = len(self.table.starts) - 1
        own = users[rows].astype(np.int64) * n_items + items[rows]
        if self.duplicates == "last":
            rows, own = rows[::-1], own[::-1]
        _, first = np.unique(own, return_index=True)
        winners = rows[first]
        settled = users[winners].astype(np.int64) * n_options + options[winners]
        places = np.minimum(np.searchsorted(clashing, cells), len(clashing) - 1)
        kept = np.concatenate([keys[clashing[places] != cells], settled])
        kept.sort()
        return kept

    def report(self, n_repeats: int, different: bool) -> None:
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
    codes: npt.NDArray[Any] | None,
    rows: tuple[npt.NDArray[np.int64], Int32] | None,
    kind: str,
    notes: list[str],
) -> Encoded:
    """Leave out options that nobody chose any more, and items without options."""
    n_options = len(table.labels)
    if codes is not None:
        chosen = np.concatenate(
            [
                np.bincount(row, minlength=last - first)[: last - first]
                for row, first, last in zip(codes, table.starts[:-1], table.starts[1:], strict=True)
            ]
        )
    else:
        assert rows is not None
        chosen = np.bincount(rows[1], minlength=n_options)
    if not chosen.all():
        codes, rows = _renumber(chosen > 0, table, codes, rows)
    owners = table.items[chosen > 0]
    sizes = np.bincount(owners, minlength=len(items.labels))
    kept = np.flatnonzero(sizes)
    notes += dropped_items([items.labels[k] for k in np.flatnonzero(sizes == 0).tolist()])
    if codes is not None and len(kept) < len(sizes):
        codes = codes[kept]
    labels = [table.labels[k] for k in np.flatnonzero(chosen).tolist()]
    return Encoded(
        users=label_array(users.labels),
        items=label_array([items.labels[k] for k in kept.tolist()]),
        option_labels=label_array(labels),
        item_starts=np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64),
        codes=codes,
        rows=rows,
        kind=kind,
        notes=tuple(notes),
    )


def _renumber(
    used: npt.NDArray[np.bool_],
    table: _Options,
    codes: npt.NDArray[Any] | None,
    rows: tuple[npt.NDArray[np.int64], Int32] | None,
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


def _blocks(length: int) -> Iterator[slice]:
    for first in range(0, length, _BLOCK):
        yield slice(first, min(first + _BLOCK, length))
