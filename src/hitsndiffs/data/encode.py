"""Factors to responses: one factor per item (wide tables), or three per table (long ones)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Flags, Ints
from hitsndiffs.data.cells import Option, Skipped, in_order, is_blank, normalise, smallest
from hitsndiffs.data.factor import Factor
from hitsndiffs.data.labels import Place, check_sizes, label_array
from hitsndiffs.data.layouts import answers_in_codes, rows_of_codes, translated
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import DENSE_FROM, Responses
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError

__all__ = [
    "DUPLICATES",
    "OptionBook",
    "WideEncoder",
    "check_item_names",
    "check_user_names",
    "dropped_items",
    "encode_long",
]

DUPLICATES = ("error", "first", "last")

#: An item with at least this many answers, all different, gets a note.
_MANY_DIFFERENT = 20
#: From this many cells on, several threads write them.
_THREADS_FROM = 4_000_000
#: Rows of a long table processed at a time.
_BLOCK = 1 << 18
#: Up to this many (item, option) pairs are looked up in a table; more are searched.
_TABLE_PAIRS = 50_000_000


class OptionBook:
    """The options of one item (or of all items together), numbered as they come."""

    __slots__ = ("is_text", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[Option, int] = {}
        self.is_text = False

    def __len__(self) -> int:
        return len(self.numbers)

    def number(self, values: Any, skipped: Skipped, *, all_answers: bool = False) -> Ints:
        """Return the number of each value's option, adding new ones; -1 for no answer.

        With ``all_answers`` every text is an answer, even -3 and NA.
        """
        found = []
        for value in values:
            option = normalise(value)
            if option is None and all_answers and value is not None:
                option = str(value)
            if option is None:
                skipped.add(value)
                found.append(-1)
                continue
            self.is_text = self.is_text or isinstance(value, str) or isinstance(option, str)
            found.append(self.numbers.setdefault(option, len(self.numbers)))
        return np.array(found, dtype=np.int64)

    def ordered(self, *, as_text: bool) -> tuple[list[Any], Ints]:
        """Return the labels in their order (all numbers, or all texts), and each number's rank."""
        options = list(self.numbers)
        order = in_order(options)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        as_text = as_text or self.is_text
        return [str(options[k]) if as_text else options[k] for k in order], rank


# -- wide: one factor per item ----------------------------------------------------------------


@dataclass
class _Piece:
    """Some rows of an item: the place of each cell's value, and the number of its option."""

    item: Hashable
    first_row: int
    places: Array
    numbers: Ints


class WideEncoder:
    """Collects the columns of items, in blocks of rows or of columns, and joins them at the end.

    Parameters
    ----------
    place
        Where the data come from, for messages.
    as_text
        Whether all option labels are texts (files), or numbers stay numbers (tables in memory).
    whole
        Whether these are all the data; a part may have a single user, or no answers.

    Examples
    --------
    >>> encoder = WideEncoder(Place())
    >>> encoder.add({"q1": Factor(["B", "A"], np.array([0, 1, 0], dtype=np.int32))})
    >>> encoder.finish(np.array([1, 2, 3]), "numpy", []).codes.tolist()
    [[1, 0, 1]]
    """

    def __init__(self, place: Place, *, as_text: bool = False, whole: bool = True) -> None:
        self.place, self.as_text, self.whole = place, as_text, whole
        self._skipped = Skipped()
        self._books: dict[Hashable, OptionBook] = {}
        self._blocks: list[list[_Piece]] = []

    def add(self, columns: Mapping[Any, Factor], first_row: int = 0) -> None:
        """Add some rows of some items."""
        block = []
        for item, column in columns.items():
            book = self._books.setdefault(item, OptionBook())
            numbers = book.number(column.labels, self._skipped)
            places = column.numbers
            if places.dtype.kind == "i":  # -1 becomes the largest number
                places = places.view(places.dtype.str.replace("i", "u"))
            block.append(_Piece(item, first_row, places, numbers))
        self._blocks.append(block)

    def finish(
        self, users: Array, kind: str, notes: list[str], nameless: Flags | None = None
    ) -> Responses:
        """Join everything; the blocks are freed on the way to save memory.

        Parameters
        ----------
        users
            The label of every row.
        kind, notes
            As in :class:`hitsndiffs.Responses`; ``notes`` is extended.
        nameless
            Which rows have no label.
        """
        check_sizes(self.place, users, len(self._books), whole=self.whole)
        items = [item for item, book in self._books.items() if len(book)]
        dropped = [item for item, book in self._books.items() if not len(book)]
        if not items and self.whole:
            n_cells = len(users) * len(self._books)
            raise InputError(
                f"{self.place.source}: none of the {n_cells:,} cells holds an answer "
                "(empty cells, NA and negative numbers count as no answer); "
                "there is nothing to rank."
            )
        codes, item_starts, labels = self._joined(items, len(users))
        if nameless is not None and nameless.any():
            users, codes = self._without_blank_rows(users, codes, nameless, notes)
        notes += self._skipped.note()
        missing = np.iinfo(codes.dtype).max
        answered = [int(np.count_nonzero(row != missing)) for row in codes]
        if self.whole:
            notes += dropped_items(dropped)
            notes += _all_different(items, answered, np.diff(item_starts).tolist())
        dense = sum(answered) >= DENSE_FROM * codes.size and codes.dtype != np.uint32
        return Responses(
            users=users,
            items=label_array(items),
            option_labels=labels,
            item_starts=item_starts,
            codes=codes if dense else None,
            rows=None if dense else rows_of_codes(codes, item_starts, answers_in_codes(codes)),
            kind=kind,
            notes=tuple(notes),
        )

    def _joined(self, items: list[Any], n_users: int) -> tuple[Array, Ints, Array]:
        """Return the codes, where each item's options begin, and the labels of the options."""
        rows = {item: row for row, item in enumerate(items)}
        own = [self._books[item].ordered(as_text=self.as_text) for item in items]
        sizes = [len(labels) for labels, _ in own]
        codes: Array = np.empty((len(items), n_users), dtype=smallest(max(sizes, default=0)))
        covered = dict.fromkeys(items, 0)
        for block in self._blocks:
            for piece in block:
                if piece.item in covered:
                    covered[piece.item] += len(piece.places)
        for item, n in covered.items():
            if n < n_users:
                codes[rows[item]] = np.iinfo(codes.dtype).max

        def write(_: int) -> None:
            for piece in self._blocks.pop():
                row = rows.get(piece.item)
                if row is not None:
                    ranks = np.where(piece.numbers < 0, -1, own[row][1][piece.numbers])
                    last = piece.first_row + len(piece.places)
                    translated(piece.places, ranks, out=codes[row, piece.first_row : last])

        Run(available_cores() if codes.size >= _THREADS_FROM else 1)(len(self._blocks), write)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return codes, starts, label_array([label for labels, _ in own for label in labels])

    def _without_blank_rows(
        self, users: Array, codes: Array, nameless: Flags, notes: list[str]
    ) -> tuple[Array, Array]:
        """Drop rows with neither a name nor an answer; refuse answers without a name."""
        rows = np.flatnonzero(nameless)
        answered = (codes[:, rows] != np.iinfo(codes.dtype).max).any(axis=0)
        if answered.any():
            raise InputError(
                f"{self.place.source}, {self.place.row(rows[answered.argmax()])}: there are "
                "answers but no user name; write the name in the user column (KEY if these are the "
                "right answers)."
            )
        notes.append(f"Dropped {count(len(rows), 'row')} with neither a user name nor an answer.")
        keep = ~nameless
        check_sizes(self.place, users[keep], len(self._books), whole=self.whole)
        return users[keep], np.ascontiguousarray(codes[:, keep])


def dropped_items(items: Sequence[Any]) -> list[str]:
    """Return a note on items that nobody answered, if there are any."""
    if not items:
        return []
    return [f"Dropped {count(len(items), 'item')} that nobody answered: {listed(items)}."]


def _all_different(items: Sequence[Any], answered: list[int], n_options: list[int]) -> list[str]:
    """Return a note on columns that are probably not items: times, remarks, row numbers."""
    strange = [
        item
        for item, count, n in zip(items, answered, n_options, strict=True)
        if count == n >= _MANY_DIFFERENT
    ]
    if not strange:
        return []
    return [
        f"No two users gave the same answer to {listed(strange)}; leave the column out if it is "
        "not an item."
    ]


def check_item_names(names: Sequence[Any], place: Place) -> None:
    """Refuse a table in which two columns have the same name."""
    seen: dict[Any, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise InputError(
                f"{place.source}: columns {seen[name]} and {number} are both called {str(name)!r}; "
                "every item needs a name of its own, so rename one of them."
            )
        seen[name] = number


def check_user_names(users: Array, place: Place, column: str | None) -> None:
    """Refuse a wide table in which one user has two rows."""
    # for a million names, sorting the hashes takes half the time of building a set
    hashes = np.sort(np.fromiter(map(hash, users.tolist()), np.int64, len(users)))
    if not (hashes[1:] == hashes[:-1]).any():
        return
    rows: dict[Any, list[int]] = {}
    for row, user in enumerate(users.tolist()):
        if not is_blank(user):
            rows.setdefault(user, []).append(row)
    for user, places in rows.items():
        if len(places) > 1:
            where = f" of column {column!r}" if column is not None else ""
            raise InputError(
                f"{place.source}: the user {str(user)!r} is named in {place.rows(places)}{where}; "
                "a wide table has one row per user, so merge the rows or give them different "
                "names (for a table with one row per answer, use the long layout)."
            )


# -- long: a factor of users, one of items, one of options ------------------------------------


def encode_long(
    users: Factor,
    items: Factor,
    options: Factor,
    *,
    place: Place,
    columns: tuple[str, str, str] = ("user", "item", "option"),
    duplicates: str = "error",
    as_text: bool = False,
    kind: str = "numpy",
    notes: Sequence[str] = (),
    whole: bool = True,
    all_answers: bool = False,
    block: int = _BLOCK,
    table_pairs: int = _TABLE_PAIRS,
) -> Responses:
    """Turn three factors into responses.

    The numbers of the options are overwritten to save memory (they can take gigabytes). With
    ``all_answers`` every text is an answer, even -3 and NA, which otherwise mean no answer.

    Examples
    --------
    >>> from hitsndiffs.data.factor import factorise
    >>> r = encode_long(factorise("aab"), factorise("xyx"), factorise("BCA"), place=Place())
    >>> r.users.tolist(), r.option_labels.tolist(), r.codes.tolist()
    (['a', 'b'], ['A', 'B', 'C'], [[1, 0], [0, 255]])
    """
    if duplicates not in DUPLICATES:
        raise InputError(f"duplicates must be 'error', 'first' or 'last'; got {duplicates!r}.")
    book, skipped = OptionBook(), Skipped()
    found = book.number(options.labels, skipped, all_answers=all_answers)
    lookup = np.append(found, -1).astype(np.int32)
    long = _Long(users, items, options.numbers, block)
    for part in long.parts():
        long.options[part] = lookup[long.options[part]]
    long.check_named(place, columns)
    check_sizes(place, users.labels, max(len(items.labels), not whole), whole=whole)
    if not len(book):
        if whole:
            raise InputError(
                f"{place.source}: no row holds an answer in column {columns[2]!r} (empty cells, NA "
                "and negative numbers count as no answer); there is nothing to rank."
            )
        return _nobody(users, kind, notes)
    labels = long.number_options(book, as_text, table_pairs)
    said = [*notes, *skipped.note()]
    laid_out = long.laid_out()
    if laid_out is None:
        said.append(long.settle(labels, place, duplicates))
        laid_out = long.laid_out()
        assert laid_out is not None
    codes, rows = laid_out
    empty = [items.labels[k] for k in np.flatnonzero(np.diff(long.starts) == 0).tolist()]
    encoded = Responses(
        users=label_array(users.labels),
        items=label_array(items.labels),
        option_labels=label_array(labels),
        item_starts=long.starts,
        codes=codes,
        rows=rows,
        kind=kind,
    )
    return encoded.select().with_notes([*said, *dropped_items(empty)])


def _nobody(users: Factor, kind: str, notes: Sequence[str]) -> Responses:
    """A part without a single answer; its users are still users."""
    none = label_array([])
    rows = np.zeros(len(users.labels) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Responses(
        users=label_array(users.labels), items=none, option_labels=none,
        item_starts=np.zeros(1, dtype=np.int64), rows=rows, kind=kind, notes=tuple(notes),
    )  # fmt: skip


class _Long:
    """The answers of a long table, worked on block by block.

    ``options`` holds the number of each row's option, or -1; first among all options, then (from
    :meth:`number_options` on) item after item, as in :class:`hitsndiffs.Responses`.
    """

    def __init__(self, users: Factor, items: Factor, options: Array, block: int) -> None:
        self.users, self.items, self.options, self.block = users, items, options, block
        self.starts: Ints = np.zeros(1, dtype=np.int64)

    def parts(self) -> Iterator[slice]:
        """Yield slices that cover all rows."""
        for first in range(0, len(self.options), self.block):
            yield slice(first, first + self.block)

    def check_named(self, place: Place, columns: tuple[str, str, str]) -> None:
        """Refuse answers without a user or an item; rows without an answer are ignored."""
        for factor, column, role in ((self.users, columns[0], "user"),
                                     (self.items, columns[1], "item")):  # fmt: skip
            blank = factor.numbers < 0
            if not blank.any():
                continue
            wrong = np.flatnonzero(blank & (self.options >= 0))
            if len(wrong):
                raise InputError(
                    f"{place.source}, {place.row(wrong[0])}, column {column!r}: there is an answer "
                    f"but no {role}; write the {role} in every row, or take the row out."
                )

    def number_options(self, book: OptionBook, as_text: bool, table_pairs: int) -> list[Any]:
        """Number the options item after item, and return their labels."""
        keys, n_keys = list(book.numbers), len(book)
        as_text = as_text or book.is_text
        n_pairs = len(self.items.labels) * n_keys
        small = n_pairs <= table_pairs
        present = np.zeros(n_pairs + 1 if small else 0, dtype=bool)
        found = []
        for part in self.parts():
            if small:
                present[self._pairs(part, n_keys)] = True  # -1, no answer, is the last place
            else:
                found.append(np.unique(self._pairs(part, n_keys)))
        used = np.flatnonzero(present[:-1]) if small else np.unique(np.concatenate(found))
        used = used[used >= 0]
        self.starts = np.searchsorted(used // n_keys, np.arange(len(self.items.labels) + 1))
        ranks = np.empty(len(used) + 1, dtype=np.int32)
        ranks[-1] = -1
        labels: list[Any] = []
        for first, last in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            own = [keys[k] for k in (used[first:last] % n_keys).tolist()]
            order = in_order(own)
            labels += [str(own[k]) if as_text else own[k] for k in order]
            ranks[[first + k for k in order]] = np.arange(first, last)
        lookup = np.full(n_pairs + 1 if small else 0, -1, dtype=np.int32)
        if small:
            lookup[used] = ranks[:-1]
        for part in self.parts():
            pairs = self._pairs(part, n_keys)
            if small:
                self.options[part] = lookup[pairs]
            else:
                self.options[part] = ranks[np.where(pairs < 0, -1, np.searchsorted(used, pairs))]
        return labels

    def _pairs(self, part: slice, n_keys: int) -> Ints:
        """Return the number of each row's (item, option) pair; -1 if there is no answer."""
        item = self.items.numbers[part].astype(np.int64)
        option = self.options[part]
        return np.where((option < 0) | (item < 0), -1, item * n_keys + option)

    # -- the two layouts that they may have -----------------------------------------------------

    def laid_out(self) -> tuple[Array | None, tuple[Ints, Array] | None] | None:
        """Return the codes, or the rows; ``None`` if a user answered an item more than once."""
        widths = np.diff(self.starts)
        n_cells = len(self.users.labels) * np.count_nonzero(widths)
        n_answers = int(np.count_nonzero(self.options >= 0))
        if n_answers < DENSE_FROM * n_cells or widths.max() >= 65535:
            rows = self._sparse(n_answers)
            return None if rows is None else (None, rows)
        codes = self._dense()
        if np.count_nonzero(codes != np.iinfo(codes.dtype).max) < n_answers:
            return None
        return codes, None

    def _cells(self, rows: Ints) -> Ints:
        """Return the number of each row's (item, user) cell."""
        items = self.items.numbers[rows].astype(np.int64)
        return items * len(self.users.labels) + self.users.numbers[rows]

    def _answered(self) -> Iterator[Ints]:
        """Yield the rows with answers, block by block."""
        for part in self.parts():
            yield np.flatnonzero(self.options[part] >= 0) + part.start

    def _dense(self) -> Array:
        n_items, n_users = len(self.items.labels), len(self.users.labels)
        dtype: Any = smallest(int(np.diff(self.starts).max()))
        codes = np.full(n_items * n_users, np.iinfo(dtype).max, dtype=dtype)
        for rows in self._answered():
            within = self.options[rows] - self.starts[self.items.numbers[rows]]
            codes[self._cells(rows)] = within.astype(dtype)
        return codes.reshape(n_items, n_users)

    def _sparse(self, n_answers: int) -> tuple[Ints, npt.NDArray[np.int32]] | None:
        n_options = int(self.starts[-1])
        keys = np.empty(n_answers, dtype=np.int64)  # they sort by user, then by item and option
        done = 0
        for rows in self._answered():
            users = self.users.numbers[rows].astype(np.int64)
            keys[done : done + len(rows)] = users * n_options + self.options[rows]
            done += len(rows)
        keys.sort()
        chosen = np.empty(n_answers, dtype=np.int32)
        for first in range(0, n_answers, self.block):
            chosen[first : first + self.block] = keys[first : first + self.block] % n_options
        edges = np.arange(len(self.users.labels) + 1, dtype=np.int64) * n_options
        indptr = np.searchsorted(keys, edges).astype(np.int64)
        del keys
        items = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        again = np.diff(items[chosen]) == 0
        again[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < n_answers)] - 1] = False
        return None if again.any() else (indptr, chosen)

    def settle(self, labels: list[Any], place: Place, duplicates: str) -> str:
        """Take out all but one answer of each user to each item; return a sentence about it.

        Two different answers are refused, unless the caller said which one counts.
        """
        options = self.options
        rows = np.flatnonzero(options >= 0)
        if duplicates == "last":
            rows = rows[::-1]
        cells = self._cells(rows)
        order = np.argsort(cells, kind="stable")
        rows, cells = rows[order], cells[order]
        is_new = np.append(True, cells[1:] != cells[:-1])
        kept = rows[np.flatnonzero(is_new)[np.cumsum(is_new) - 1]]
        other = np.flatnonzero(options[rows] != options[kept])
        if len(other) and duplicates == "error":
            pairs = np.sort(np.stack([kept[other], rows[other]]), axis=0)
            first, second = pairs[:, np.lexsort(pairs[::-1])[0]].tolist()
            user, item = self.users.numbers[first], self.items.numbers[first]
            one, two = (str(labels[k]) for k in options[[first, second]])
            raise InputError(
                f"{place.source}, {place.rows([first, second])}: the user "
                f"{str(self.users.labels[user])!r} answered the item "
                f"{str(self.items.labels[item])!r} with {one!r} and with {two!r}; keep one of "
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
