"""Factors to responses: one factor per item (wide tables), or three per table (long ones)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Ints
from hitsndiffs.data.cells import Option, Skipped, is_blank, normalise, ranked, smallest
from hitsndiffs.data.factor import Factor
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import Place, check_sizes, label_array
from hitsndiffs.data.layouts import translated
from hitsndiffs.data.parts import first_answers, laid_out, repeated_note
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
#: Up to this many (item, option) pairs are looked up in a table; more are sorted.
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

    def labelled(self, options: Sequence[Option], *, as_text: bool) -> list[Any]:
        """Return options as labels: all of them texts, unless all values were numbers."""
        return list(map(str, options)) if as_text or self.is_text else list(options)

    def ordered(self, *, as_text: bool) -> tuple[list[Any], Ints]:
        """Return the labels in their order, and each number's rank."""
        labels, ranks = ranked(list(self.numbers))
        return self.labelled(labels, as_text=as_text), ranks


# -- wide: one factor per item ----------------------------------------------------------------


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
        #: Some rows of an item: the first of them, their cells, and the options of the cells.
        self._pieces: list[tuple[Hashable, int, Array, Ints]] = []

    def add(self, columns: Mapping[Any, Factor], first_row: int = 0) -> None:
        """Add some rows of some items."""
        for item, column in columns.items():
            book = self._books.setdefault(item, OptionBook())
            options = book.number(column.labels, self._skipped)
            cells = column.numbers
            if cells.dtype.kind == "i":  # -1 becomes the largest number
                cells = cells.view(cells.dtype.str.replace("i", "u"))
            self._pieces.append((item, first_row, cells, options))

    def finish(
        self, users: Array, kind: str, notes: list[str], nameless: Flags | None = None
    ) -> Responses:
        """Join everything; the pieces are freed on the way to save memory.

        Parameters
        ----------
        users
            The label of every row.
        kind, notes
            As in :class:`hitsndiffs.Responses`; ``notes`` is extended.
        nameless
            Which rows have no label: they must not hold answers, and are dropped.
        """
        check_sizes(self.place, users, len(self._books), whole=self.whole)
        items = [item for item, book in self._books.items() if len(book)]
        if not items and self.whole:
            n_cells = len(users) * len(self._books)
            raise InputError(
                f"{self.place.source}: none of the {n_cells:,} cells holds an answer "
                "(empty cells, NA and negative numbers count as no answer); "
                "there is nothing to rank."
            )
        ordered = [self._books[item].ordered(as_text=self.as_text) for item in items]
        structure = Items.of(items, [labels for labels, _ in ordered])
        ranks = dict(zip(items, (ranks for _, ranks in ordered), strict=True))
        made = Responses(
            users=users,
            items=structure.labels,
            option_labels=structure.option_labels,
            item_starts=structure.starts,
            codes=self._codes(ranks, len(users)),
            kind=kind,
        )
        if nameless is not None and nameless.any():
            made = _without_nameless(made, nameless, self.place, notes)
            check_sizes(self.place, made.users, len(self._books), whole=self.whole)
        notes += self._skipped.note()
        if self.whole:
            notes += dropped_items([item for item, book in self._books.items() if not len(book)])
            notes += _all_different(made)
        if made.n_responses < DENSE_FROM * made.codes.size or made.codes.dtype == np.uint32:
            made = made._changed(codes=None, rows=made.rows)
        return made.with_notes(notes)

    def _codes(self, ranks: Mapping[Hashable, Ints], n_users: int) -> Any:
        """Return the code of every cell, from the rank of each option of each item."""
        dtype = smallest(max(map(len, ranks.values()), default=0))
        missing = np.iinfo(dtype).max
        codes = np.empty((len(ranks), n_users), dtype=dtype)
        rows = dict(zip(ranks, codes, strict=True))
        covered = dict.fromkeys(ranks, 0)
        for item, _, cells, _ in self._pieces:
            if item in covered:
                covered[item] += len(cells)
        for item, n in covered.items():
            if n < n_users:
                rows[item][:] = missing

        def write(_: int) -> None:
            item, first, cells, options = self._pieces.pop()
            if item in rows:
                own = np.where(options < 0, -1, ranks[item][options])
                translated(cells, own, out=rows[item][first : first + len(cells)])

        threads = available_cores() if codes.size >= _THREADS_FROM else 1
        Run(threads)(len(self._pieces), write)
        return codes


def _without_nameless(
    made: Responses, nameless: Flags, place: Place, notes: list[str]
) -> Responses:
    """Drop rows with neither a name nor an answer; refuse answers without a name."""
    rows = np.flatnonzero(nameless)
    answered = made.answers_per_user[rows] > 0
    if answered.any():
        raise InputError(
            f"{place.source}, {place.row(rows[answered.argmax()])}: there are "
            "answers but no user name; write the name in the user column (KEY if these are the "
            "right answers)."
        )
    notes.append(f"Dropped {count(len(rows), 'row')} with neither a user name nor an answer.")
    return made.select(users=~nameless)


def dropped_items(items: Sequence[Any]) -> list[str]:
    """Return a note on items that nobody answered, if there are any."""
    if not items:
        return []
    return [f"Dropped {count(len(items), 'item')} that nobody answered: {listed(items)}."]


def _all_different(made: Responses) -> list[str]:
    """Return a note on columns that are probably not items: times, remarks, row numbers."""
    n_options = np.diff(made.item_starts)
    many = n_options >= _MANY_DIFFERENT
    if not many.any():
        return []
    strange = made.items[many & (made.answers_per_item == n_options)].tolist()
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
    labels = users.tolist()
    if len(set(labels)) == len(labels):
        return
    rows: dict[Any, list[int]] = {}
    for row, user in enumerate(labels):
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
    table_pairs: int = _TABLE_PAIRS,
) -> Responses:
    """Turn three factors into responses.

    With ``all_answers`` every text is an answer, even -3 and NA, which otherwise mean no answer.

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
    option = np.append(found, -1).astype(np.int32)[options.numbers]
    rows = np.flatnonzero(option >= 0)
    option, user, item = option[rows], users.numbers[rows], items.numbers[rows]
    for numbers, column, role in ((user, columns[0], "user"), (item, columns[1], "item")):
        if len(numbers) and numbers.min() < 0:
            raise InputError(
                f"{place.source}, {place.row(rows[(numbers < 0).argmax()])}, column {column!r}: "
                f"there is an answer but no {role}; write the {role} in every row, or take the row "
                "out."
            )
    check_sizes(place, users.labels, max(len(items.labels), not whole), whole=whole)
    if whole and not len(rows):
        raise InputError(
            f"{place.source}: no row holds an answer in column {columns[2]!r} (empty cells, NA "
            "and negative numbers count as no answer); there is nothing to rank."
        )
    structure, chosen = _by_item(items.labels, item, book, option, as_text, table_pairs)
    names = label_array(users.labels)
    made = laid_out(names, structure, user, chosen, kind)
    said = [*notes, *skipped.note()]
    if made is None:
        kept, other = first_answers(user, item, structure.n_items, last=duplicates == "last")
        differ = np.flatnonzero(chosen[other[0]] != chosen[other[1]])
        if len(differ) and duplicates == "error":
            pairs = np.sort(np.stack(other)[:, differ], axis=0)
            one, two = pairs[:, np.lexsort(pairs[::-1])[0]].tolist()
            first, second = (str(structure.option_labels[chosen[k]]) for k in (one, two))
            raise InputError(
                f"{place.source}, {place.rows([rows[one], rows[two]])}: the user "
                f"{str(names[user[one]])!r} answered the item "
                f"{str(structure.labels[item[one]])!r} with {first!r} and with {second!r}; keep "
                "one of them, or set duplicates to first or last."
            )
        said.append(repeated_note(len(rows) - len(kept), duplicates if len(differ) else ""))
        made = laid_out(names, structure, user[kept], chosen[kept], kind)
        assert made is not None
    empty = structure.labels[np.diff(structure.starts) == 0].tolist()
    return made.select().with_notes([*said, *dropped_items(empty)])


def _by_item(
    labels: Sequence[Any],
    item: Ints,
    book: OptionBook,
    option: Array,
    as_text: bool,
    table_pairs: int,
) -> tuple[Items, Array]:
    """Number the options item after item; return the items, and each answer's new number."""
    width = max(len(book), 1)
    pairs = item.astype(np.int64) * width + option
    n_pairs = len(labels) * width
    if n_pairs <= table_pairs:
        there = np.zeros(n_pairs, dtype=bool)
        there[pairs] = True
        used = np.flatnonzero(there)
        place: Array = np.cumsum(there, dtype=np.int32)[pairs] - 1
    else:
        used, place = np.unique(pairs, return_inverse=True)
    keys = list(book.numbers)
    starts = np.searchsorted(used // width, np.arange(len(labels) + 1)).tolist()
    options = [keys[k] for k in (used % width).tolist()]
    own = [ranked(options[first:last]) for first, last in pairwise(starts)]
    ranks = [first + places for first, (_, places) in zip(starts, own, strict=False)]
    moved = np.concatenate([np.zeros(0, np.int64), *ranks]).astype(np.int32)
    each = [book.labelled(texts, as_text=as_text) for texts, _ in own]
    return Items.of(labels, each), moved[place]
