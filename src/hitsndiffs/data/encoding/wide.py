"""Encode wide tables: one row per user, one column per item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Ints
from hitsndiffs.data.encoding.blocks import CellBlock, NumberedBlock
from hitsndiffs.data.encoding.option_book import (
    Codes,
    OptionBook,
    Skipped,
    in_order,
    is_blank,
    smallest,
)
from hitsndiffs.data.encoding.result import (
    Place,
    check_sizes,
    label_array,
)
from hitsndiffs.data.layouts import answers_in_codes, rows_of_codes
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import DENSE_FROM, Responses
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError

#: An item with at least this many answers, all different, gets a note.
_MANY_DIFFERENT = 20
#: From this many cells on, several threads write them.
_THREADS_FROM = 4_000_000

__all__ = ["WideBuilder", "check_item_names", "check_user_names"]


class WideBuilder:
    """Collects the codes of items, in pieces of columns, and joins them at the end.

    Parameters
    ----------
    place
        Where the data come from, for messages.
    as_text
        Whether all option labels are texts (files), or numbers stay numbers (tables in memory).
    shape
        The numbers of items and rows, if known beforehand: whole columns of codes are then written
        straight to their place.
    whole
        Whether these are all the data; a part may have a single user, or no answers.
    """

    def __init__(
        self,
        place: Place,
        *,
        as_text: bool,
        shape: tuple[int, int] | None = None,
        whole: bool = True,
    ) -> None:
        self.whole = whole
        self.place = place
        self.as_text = as_text
        self.skipped = Skipped()
        self._books: dict[Hashable, OptionBook] = {}
        self._pieces: dict[Hashable, list[tuple[int, Codes]]] = {}
        self._room = None if shape is None else np.empty(shape, dtype=np.uint8)
        self._in_room: list[Hashable] = []
        self._block_items: Sequence[Hashable] = ()
        self._blocks: list[NumberedBlock] = []

    def book(self, item: Hashable) -> OptionBook:
        """Return the options of an item; a new name adds an item."""
        if item not in self._books:
            self._books[item] = OptionBook(self.skipped)
            self._pieces[item] = []
        return self._books[item]

    def put(self, item: Hashable, codes: Codes, first_row: int = 0) -> None:
        """Add codes for some rows of an item, made with its book."""
        room, n_held = self._room, len(self._in_room)
        fits = room is not None and codes.dtype == np.uint8 and len(codes) == room.shape[1]
        if room is not None and fits and n_held < len(room):
            room[n_held] = codes
            codes = room[n_held]
            self._in_room.append(item)
        self._pieces[item].append((first_row, codes))

    def put_block(self, items: Sequence[Hashable], block: CellBlock, first_row: int) -> None:
        """Add some rows of all items; every block must have the same items."""
        self._block_items = items
        self._blocks.append(block.numbered([self.book(item) for item in items], first_row))

    def finish(
        self,
        users: Array,
        kind: str,
        notes: list[str],
        nameless: Flags | None = None,
    ) -> Responses:
        """Join everything; the pieces are freed on the way to save memory.

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
        codes, item_starts, labels = self._join(items, len(users))
        if nameless is not None and nameless.any():
            users, codes = self._without_blank_rows(users, codes, nameless, notes)
        notes += self.skipped.note()
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

    def _join(self, items: list[Any], n_users: int) -> tuple[Array, Ints, Array]:
        books = [self._books[item] for item in items]
        dtype: Any = np.uint8
        for book in books:
            dtype = np.promote_types(dtype, smallest(len(book)))
        shape, room = (len(items), n_users), self._room
        whole = room is not None and room.shape == shape and self._in_room == items
        if room is not None and whole and dtype == np.uint8:
            codes: Array = room
        else:
            codes = np.empty(shape, dtype=dtype)
        labels: list[Any] = []
        ranks: list[Ints] = []
        blocks = self._blocks
        in_blocks = dict.fromkeys(self._block_items, sum(block.n_rows for block in blocks))
        for book in books:
            order = in_order(book.options)
            labels += book.labels(order, as_text=self.as_text)
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            ranks.append(rank)

        def fill(k: int) -> None:
            _fill(codes[k], self._pieces.pop(items[k]), ranks[k], in_blocks.get(items[k], 0))

        Run(available_cores() if codes.size >= _THREADS_FROM else 1)(len(items), fill)
        sizes = [len(book) for book in books]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if blocks:
            rows = {item: row for row, item in enumerate(items)}
            targets = np.array([rows.get(item, -1) for item in in_blocks], dtype=np.int64)
            given = codes, targets, np.concatenate(ranks), starts
            # a block is freed when it is written
            Run(available_cores())(len(blocks), lambda _: blocks.pop().fill(*given))
        return codes, starts, label_array(labels)

    def _without_blank_rows(
        self,
        users: Array,
        codes: Array,
        nameless: Flags,
        notes: list[str],
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


def _fill(row: Array, pieces: list[tuple[int, Codes]], rank: Any, elsewhere: int) -> None:
    """Write the pieces of one item into its row, with the options in their final order.

    ``elsewhere`` is the number of cells that come from blocks.
    """
    missing = np.iinfo(row.dtype).max
    if sum(len(codes) for _, codes in pieces) + elsewhere < len(row):
        row[:] = missing
    unmoved = bool((rank == np.arange(len(rank))).all())
    for first, codes in pieces:
        target = row[first : first + len(codes)]
        if unmoved and codes.dtype == row.dtype:
            if not np.shares_memory(target, codes):
                target[:] = codes
            continue
        # The only code beyond the options is "no answer"; "clip" maps it to the last entry.
        known = rank[: np.iinfo(codes.dtype).max]
        lookup = np.append(known, missing).astype(row.dtype)
        np.take(lookup, codes, mode="clip", out=target)


def dropped_items(items: Sequence[Any]) -> list[str]:
    """Return a note on items that nobody answered, if there are any."""
    if not items:
        return []
    return [f"Dropped {count(len(items), 'item')} that nobody answered: {listed(items)}."]


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
