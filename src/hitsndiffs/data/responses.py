"""Responses: who chose which option of which item.

This is the library's one data structure. It holds labels and codes only; what a particular engine
or method needs lives behind the two sums (:mod:`hitsndiffs.engines`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from hitsndiffs.data.lookup import item_places

if TYPE_CHECKING:
    from hitsndiffs.data.encoding import Encoded
    from hitsndiffs.data.known_key import KnownKey

__all__ = ["Responses"]

IntArray = npt.NDArray[np.integer[Any]]
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
        from hitsndiffs.data.encoding import encode_wide

        return cls._from_encoded(
            encode_wide(table, user=user, users=users, items=items, group=group)
        )

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
        from hitsndiffs.data.encoding import encode_long

        return cls._from_encoded(
            encode_long(
                table, user=user, item=item, option=option, duplicates=duplicates, group=group
            )
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
        from hitsndiffs.data.encoding import is_long

        read = cls.from_long if is_long(table, group) else cls.from_wide
        return read(table, group=group)

    @classmethod
    def _from_encoded(cls, encoded: Encoded, **others: Any) -> Responses:
        return cls(**vars(encoded), **others)

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

    def some_rows(self, users: IntArray) -> Rows:
        """The rows of some users."""
        if self._codes is None:
            return some_rows(self.rows, users)
        codes: Codes = np.ascontiguousarray(self._codes[:, users])  # type: ignore[assignment]
        return rows_of_codes(codes, self.item_starts, answers_in_codes(codes))

    def restrict(self, users: IntArray, *, keep_options: bool = False) -> tuple[Responses, Ints]:
        """Return the same data for some users only.

        Parameters
        ----------
        users
            The numbers of the users to keep.
        keep_options
            Whether to keep options and items that none of them chose. Such a part is meant for
            sums, not for :func:`hitsndiffs.rank`.

        Returns
        -------
        responses
            The data of these users, in the given order.
        options
            For each remaining option, its number in ``self``.
        """
        users = np.asarray(users, dtype=np.int64)
        if keep_options:
            codes = None if self._codes is None else np.ascontiguousarray(self._codes[:, users])
            rows = None if self._rows is None else some_rows(self._rows, users)
            part = self._changed(users=self.users[users], codes=codes, rows=rows)
            return part, np.arange(self.n_options)
        indptr, chosen = self.some_rows(users)
        kept = np.unique(chosen).astype(np.int64)
        return self._with_options(self.users[users], indptr, chosen, kept), kept

    def restrict_items(
        self, items: IntArray | Sequence[Any], *, keep_options: bool = False
    ) -> tuple[Responses, Ints]:
        """Return the same users with some items only, in their present order.

        ``items`` are item labels or places; integers are always places. ``keep_options`` is as for
        :meth:`restrict`.
        """
        keep_item = np.zeros(self.n_items, dtype=bool)
        keep_item[item_places(self.items, items)] = True
        keep_option = keep_item[self.option_items]
        indptr, options = self.rows
        keep = keep_option[options]
        ends = np.concatenate([[0], np.cumsum(keep)])
        chosen = options[keep]
        kept = np.flatnonzero(keep_option) if keep_options else np.unique(chosen).astype(np.int64)
        return self._with_options(self.users, ends[indptr], chosen, kept), kept

    def with_notes(self, notes: Sequence[str]) -> Responses:
        """Return the same data with other notes."""
        return self._changed(notes=tuple(notes))

    def _with_options(
        self, users: Array, indptr: IntArray, chosen: IntArray, kept: IntArray
    ) -> Responses:
        left = self.structure.only(kept)
        return self._changed(
            users=users,
            items=left.labels,
            option_labels=left.option_labels,
            item_starts=left.starts,
            codes=None,
            rows=(indptr, np.searchsorted(kept, chosen).astype(np.int32)),
            key=None if self.key is None else self.key.only(left.labels.tolist()),
        )

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
