"""Responses: who chose which option of which item.

This is the library's one data structure. It holds labels and codes only; what a particular engine
or method needs lives behind the two sums (:mod:`hitsndiffs.engines`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Ints
from hitsndiffs.data.display import Viewed
from hitsndiffs.data.items import Items
from hitsndiffs.data.layouts import (
    Codes,
    Rows,
    answers_in_codes,
    choosers_in_codes,
    choosers_in_rows,
    codes_of_rows,
    rows_of_codes,
    some_rows,
)

if TYPE_CHECKING:
    from hitsndiffs.data.known_key import KnownKey
    from hitsndiffs.data.ones import Ones

__all__ = ["Responses"]

IntArray = npt.NDArray[np.integer[Any]]
#: Some users or items: places, flags, or labels of items.
Chosen = IntArray | npt.NDArray[np.bool_] | Sequence[Any]
T = TypeVar("T", bound=npt.NDArray[Any])

#: A table with at least this share of its cells answered is stored as dense codes.
DENSE_FROM = 0.25


class Responses(Viewed):
    """Users × items, with the option that each user chose (immutable).

    Build one with :meth:`from_wide`, :meth:`from_long` or :func:`hitsndiffs.read_responses`.

    The options of all items are numbered ``0 … n_options - 1``, item after item: item ``i`` owns
    the options ``item_starts[i] … item_starts[i + 1] - 1``. Options that nobody chose and items
    that nobody answered do not appear; users without answers do (they get no rank).

    Parameters
    ----------
    users, items
        Labels, one per user and one per item.
    option_labels
        The label of every option.
    item_starts
        Where each item's options begin, plus the total at the end (``n_items + 1`` entries).
    codes
        Dense layout: an ``(n_items, n_users)`` array of ``uint8`` or ``uint16``. Each entry is the
        option's place within its item, or the type's largest value if there is no answer.
    rows
        Sparse layout: ``(indptr, options)``; the options of user ``j`` are
        ``options[indptr[j]:indptr[j + 1]]``, in increasing order.
        Neither layout is copied: do not write to the arrays afterwards.
    kind
        The form the data came in: ``"numpy"``, ``"pandas"``, ``"polars"``, ``"pyarrow"`` or
        ``"file"``. :meth:`hitsndiffs.Ranking.table` returns the same kind.
    notes
        Sentences about what was dropped or assumed.
    key
        The right answers that came with the data, if any; rankings use them only if asked to.
    titles
        The wording of items whose labels are numbers or codes.
    groups
        User → group, if a column gives it; :func:`hitsndiffs.rank` then counts each group once.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide([["A", "B"], ["A", "C"], ["B", None]])
    >>> r
    Responses(3 users × 2 items, 4 options, 5 responses)
    >>> r.option_labels.tolist()
    ['A', 'B', 'B', 'C']
    """

    users: Array
    items: Array
    option_labels: Array
    item_starts: Ints
    kind: str
    notes: tuple[str, ...]
    key: KnownKey | None
    titles: Mapping[Any, str]
    groups: Mapping[Any, Any] | None
    _codes: Codes | None
    _rows: Rows | None

    def __init__(
        self,
        *,
        users: Array,
        items: Array,
        option_labels: Array,
        item_starts: IntArray,
        codes: Codes | None = None,
        rows: tuple[IntArray, IntArray] | None = None,
        kind: str = "numpy",
        notes: Sequence[str] = (),
        key: KnownKey | None = None,
        titles: Mapping[Any, str] | None = None,
        groups: Mapping[Any, Any] | None = None,
    ) -> None:
        if (codes is None) == (rows is None):
            raise ValueError("give either codes (dense layout) or rows (sparse layout)")
        self.__dict__.update(
            users=_frozen(users),
            items=_frozen(items),
            option_labels=_frozen(option_labels),
            item_starts=_frozen(np.asarray(item_starts, dtype=np.int64)),
            kind=kind,
            notes=tuple(notes),
            key=key,
            titles={} if titles is None else dict(titles),
            groups=groups,
            _codes=None if codes is None else _frozen(codes),
            _rows=None if rows is None else _as_rows(*rows),
        )

    def __sizeof__(self) -> int:
        """Approximate size in bytes: a cluster must know what moving this costs."""
        from hitsndiffs.data.labels import label_bytes

        arrays = self._rows if self._codes is None else (self._codes,)
        return label_bytes(self.users) + sum(a.nbytes for a in arrays or ())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Responses are immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Responses are immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Responses, **self._parts()), ()

    def _parts(self) -> dict[str, Any]:
        return {name.lstrip("_"): getattr(self, name) for name in Responses.__annotations__}

    # -- building ---------------------------------------------------------------------------

    @classmethod
    def from_wide(
        cls,
        table: Any,
        *,
        user: str | None = None,
        users: Sequence[Any] | None = None,
        items: Sequence[Any] | None = None,
        group: str | None = None,
    ) -> Responses:
        """From a table with one row per user and one column per item.

        Parameters
        ----------
        table
            A DataFrame (pandas, Polars, PyArrow, …), a 2-D array or a list of rows. A DataFrame
            may have a column of user names, recognised by its name (``user``, ``student``,
            ``worker``, ``model``, …) or given with ``user=``.
        user
            The column of a DataFrame that names the users.
        users, items
            Labels for an array's rows and columns (default: numbers from 0).
        group
            The column of a DataFrame that gives each user's group.

        Examples
        --------
        >>> import numpy as np
        >>> Responses.from_wide(np.array([[0, 1], [0, 2], [1, -1]]))
        Responses(3 users × 2 items, 4 options, 5 responses)
        """
        from hitsndiffs.data.frames import wide_table

        return wide_table(table, user=user, users=users, items=items, group=group)

    @classmethod
    def from_long(
        cls,
        table: Any,
        *,
        user: str | None = None,
        item: str | None = None,
        option: str | None = None,
        duplicates: str = "error",
        group: str | None = None,
    ) -> Responses:
        """From a table with one row per answer.

        Parameters
        ----------
        table
            A DataFrame, or a mapping of column names to sequences.
        user, item, option
            The names of the three columns; if not given, common names are recognised.
        duplicates
            What to do when one user gave two different answers to one item: ``"error"``,
            ``"first"`` or ``"last"``.
        group
            The column that gives each user's group.

        Examples
        --------
        >>> Responses.from_long({"user": ["a", "a", "b"], "item": [1, 2, 1], "option": "xyx"})
        Responses(2 users × 2 items, 2 options, 3 responses)
        """
        from hitsndiffs.data.frames import long_table

        return long_table(
            table, user=user, item=item, option=option, duplicates=duplicates, group=group
        )

    @classmethod
    def from_table(cls, table: Any, *, group: str | None = None) -> Responses:
        """From a table, wide or long: long if it has columns of users, items and options.

        ``group`` is the column that gives each user's group.

        Examples
        --------
        >>> Responses.from_table({"user": ["a", "a", "b"], "item": [1, 2, 1], "option": "xyx"})
        Responses(2 users × 2 items, 2 options, 3 responses)
        """
        from hitsndiffs.data.frames import is_long

        read = cls.from_long if is_long(table, group) else cls.from_wide
        return read(table, group=group)

    # -- sizes and counts -------------------------------------------------------------------

    @property
    def n_users(self) -> int:
        """Number of users, including those without answers."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items that somebody answered."""
        return len(self.items)

    @property
    def n_options(self) -> int:
        """Number of options that somebody chose, over all items."""
        return len(self.option_labels)

    @property
    def n_responses(self) -> int:
        """Number of answers."""
        return int(self.answers_per_user.sum())

    @property
    def is_dense(self) -> bool:
        """Whether the data are held as a full table of codes (else as rows of option numbers)."""
        return self._codes is not None

    @property
    def is_complete(self) -> bool:
        """Whether every user answered every item."""
        return self.n_responses == self.n_users * self.n_items

    @cached_property
    def option_items(self) -> npt.NDArray[np.int32]:
        """The item that each option belongs to."""
        return _frozen(self.structure.of_option)

    @cached_property
    def answers_per_user(self) -> Ints:
        """How many items each user answered (the paper's row sums ``Dr``)."""
        rows = self._rows
        return _frozen(answers_in_codes(self.codes) if rows is None else np.diff(rows[0]))

    @cached_property
    def choosers_per_option(self) -> Ints:
        """How many users chose each option (the paper's column sums ``Dc``)."""
        if self._rows is not None:
            return _frozen(choosers_in_rows(self._rows, self.n_options))
        return _frozen(choosers_in_codes(self.codes, self.item_starts))

    @cached_property
    def answers_per_item(self) -> Ints:
        """How many users answered each item."""
        if not self.n_items:
            return np.zeros(0, dtype=np.int64)
        return _frozen(np.add.reduceat(self.choosers_per_option, self.item_starts[:-1]))

    @cached_property
    def structure(self) -> Items:
        """The items and their options."""
        return Items(self.items, self.option_labels, self.item_starts)

    # -- layouts ----------------------------------------------------------------------------

    @property
    def codes(self) -> Codes:
        """The dense codes, ``(n_items, n_users)``; made from the rows if not stored."""
        if self._codes is not None:
            return self._codes
        return codes_of_rows(self.rows, self.item_starts, self.option_items)

    @property
    def rows(self) -> Rows:
        """Each user's chosen options, ``(indptr, options)``; made from the codes if not stored."""
        if self._rows is not None:
            return self._rows
        return rows_of_codes(self.codes, self.item_starts, self.answers_per_user)

    @cached_property
    def ones(self) -> Ones:
        """Users × options, 1 where a user chose an option; its transpose is kept, too."""
        from hitsndiffs.data.ones import Ones

        return Ones(*self.rows, self.n_options)

    def some_rows(self, users: IntArray) -> Rows:
        """The rows of some users."""
        if self._codes is None:
            return some_rows(self.rows, users)
        codes: Codes = np.ascontiguousarray(self._codes[:, users])  # type: ignore[assignment]
        return rows_of_codes(codes, self.item_starts, answers_in_codes(codes))

    def some_codes(self, first: int, last: int) -> Codes:
        """The dense codes of the users ``first … last - 1``."""
        if self._codes is not None:
            return np.ascontiguousarray(self._codes[:, first:last])  # type: ignore[return-value]
        indptr, options = self.rows
        begin, *ends = indptr[first : last + 1]
        rows = indptr[first : last + 1] - begin, options[begin : ends[-1]]
        return codes_of_rows(rows, self.item_starts, self.option_items)

    def answers_of(self, user: int) -> dict[Any, Any]:
        """The answers of one user (by number), by label: item → option."""
        _, chosen = self.some_rows(np.array([user]))
        items = self.items[self.option_items[chosen]].tolist()
        return dict(zip(items, self.option_labels[chosen].tolist(), strict=True))

    def triples(self) -> Iterator[tuple[Any, Any, Any]]:
        """The labels of user, item and option of every answer, user after user."""
        indptr, chosen = self.rows
        who = np.repeat(np.arange(self.n_users), np.diff(indptr))
        users, items = self.users[who].tolist(), self.items[self.option_items[chosen]].tolist()
        return zip(users, items, self.option_labels[chosen].tolist(), strict=True)

    # -- parts and other labels -------------------------------------------------------------

    def select(
        self,
        users: Chosen | None = None,
        items: Chosen | None = None,
        *,
        keep_options: bool = False,
    ) -> Responses:
        """Return the same data for some users and some items.

        Parameters
        ----------
        users
            Places of the users to keep, in the order wanted, or one flag per user; default: all.
        items
            Labels or places of the items to keep, or one flag per item; integers are always
            places, and the items stay in their present order. Default: all.
        keep_options
            Whether to keep options and items that none of these users chose. Such a part is meant
            for sums, not for :func:`hitsndiffs.rank`.

        Examples
        --------
        >>> r = Responses.from_wide([["A", "B"], ["A", "C"], ["B", None]])
        >>> r.select(users=[0, 1]).option_labels.tolist()
        ['A', 'B', 'C']
        >>> r.select(items=[1])
        Responses(3 users × 1 items, 2 options, 2 responses)
        """
        return self.restrict(users, items, keep_options=keep_options)[0]

    def restrict(
        self,
        users: Chosen | None = None,
        items: Chosen | None = None,
        *,
        keep_options: bool = False,
    ) -> tuple[Responses, Ints]:
        """Return :meth:`select`, and for each remaining option its number here."""
        from hitsndiffs.data.parts import restricted

        return restricted(self, users, items, keep_options)

    def relabel(self, labels: Sequence[Sequence[Any]]) -> Responses:
        """Return the same answers under other labels.

        Parameters
        ----------
        labels
            For each item, the new labels of its options. Options with the same new label become
            one; ``None`` means that choosing the option counts as no answer.

        Examples
        --------
        >>> r = Responses.from_wide([["A", "x"], ["a", "-"], ["B", "y"]])
        >>> r.relabel([["A", "B", "A"], [None, "x", "y"]]).option_labels.tolist()
        ['A', 'B', 'x', 'y']
        """
        from hitsndiffs.data.parts import relabelled

        return relabelled(self, labels)

    @classmethod
    def concat(cls, parts: Sequence[Responses]) -> Responses:
        """Join the answers of several parts; users and items with the same label are the same.

        Users and items come in the order of the parts. Where a user answered an item in several
        parts, the first answer counts, and a note says so.

        Examples
        --------
        >>> one = Responses.from_long({"user": ["a", "b"], "item": [1, 1], "option": "xy"})
        >>> two = Responses.from_long({"user": ["b", "c"], "item": [2, 1], "option": "xz"})
        >>> Responses.concat([one, two])
        Responses(3 users × 2 items, 4 options, 4 responses)
        """
        from hitsndiffs.data.parts import concatenated

        return concatenated(parts)

    def with_notes(self, notes: Sequence[str]) -> Responses:
        """Return the same data with other notes."""
        return self._changed(notes=tuple(notes))

    def _changed(self, **parts: Any) -> Responses:
        """Return a copy with some parts replaced; notes are dropped, as they describe the whole."""
        return Responses(**{**self._parts(), "notes": (), **parts})

    def __repr__(self) -> str:
        return (
            f"Responses({self.n_users:,} users × {self.n_items:,} items, "
            f"{self.n_options:,} options, {self.n_responses:,} responses)"
        )


def _frozen(array: T) -> T:
    """A view of an array that nobody can write to."""
    view: Any = np.asarray(array).view()
    view.flags.writeable = False
    frozen: T = view
    return frozen


def _as_rows(indptr: IntArray, options: IntArray) -> Rows:
    return _frozen(np.asarray(indptr, np.int64)), _frozen(np.asarray(options, np.int32))
