"""Encode tables in memory for :class:`hitsndiffs.Responses`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags
from hitsndiffs.data.encoding.groups import groups_in_words, take_column, user_groups
from hitsndiffs.data.encoding.long import Factor, assemble_long
from hitsndiffs.data.encoding.names import find_column, recognise
from hitsndiffs.data.encoding.result import Place, check_sizes, label_array
from hitsndiffs.data.encoding.users import further_names, recognised_user, row_labels
from hitsndiffs.data.encoding.wide import WideBuilder, check_item_names, check_user_names
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.encoding.frames import Table

__all__ = ["encode_long", "encode_wide", "is_long", "long_columns"]


def encode_wide(
    table: Any,
    *,
    user: str | None = None,
    users: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    group: str | None = None,
    whole: bool = True,
    place: Place | None = None,
) -> Responses:
    """Encode a table with one row per user and one column per item.

    Parameters
    ----------
    table, user, users, items, group
        As for :meth:`hitsndiffs.Responses.from_wide`.
    whole
        Whether these are all the data; a part may have a single user, or no answers.
    place
        Where the data come from, for messages.

    Examples
    --------
    >>> encoded = encode_wide([["A", "B"], ["A", "C"], ["B", None]])
    >>> encoded.codes.tolist(), encoded.option_labels.tolist()
    ([[0, 0, 1], [0, 1, 255]], ['A', 'B', 'B', 'C'])
    """
    from hitsndiffs.data.encoding.frames import code_column, factorise

    place = place or Place()
    opened = _opened(table, place)
    told = None if group is None else take_column(opened, group)
    notes: list[str] = []
    column = _user_column(opened, user, users, notes)
    labels, nameless = _user_labels(opened, column, users, notes, whole)
    check_user_names(labels, place, column)
    item_columns = _item_columns(opened, column, notes)
    builder = WideBuilder(place, as_text=False, whole=whole)
    for label, name in zip(_item_labels(items, item_columns), item_columns, strict=True):
        builder.put(label, code_column(builder.book(label), opened.column(name)))
    encoded = builder.finish(labels, opened.kind, notes, nameless)
    return encoded if told is None else _with_groups(encoded, factorise(labels), told, group)


def encode_long(
    table: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    option: str | None = None,
    duplicates: str = "error",
    group: str | None = None,
    whole: bool = True,
    place: Place | None = None,
) -> Responses:
    """Encode a table with one row per answer.

    Parameters
    ----------
    table, user, item, option, duplicates, group
        As for :meth:`hitsndiffs.Responses.from_long`.
    whole, place
        As for :func:`encode_wide`.

    Examples
    --------
    >>> encoded = encode_long({"worker": "aab", "task": [1, 2, 1], "label": ["x", "y", "z"]})
    >>> encoded.users.tolist(), encoded.items.tolist(), encoded.option_labels.tolist()
    (['a', 'b'], [1, 2], ['x', 'z', 'y'])
    """
    from hitsndiffs.data.encoding.frames import factorise

    place = place or Place()
    opened = _opened(table, place)
    told = None if group is None else take_column(opened, group)
    notes: list[str] = []
    given = {"user": user, "item": item, "option": option}
    columns = long_columns(opened.names, given, place, notes)
    factors = [factorise(opened.column(name)) for name in columns]
    encoded = assemble_long(
        *factors,
        place=place,
        columns=columns,
        duplicates=duplicates,
        as_text=False,
        kind=opened.kind,
        notes=notes,
        whole=whole,
    )
    return encoded if told is None else _with_groups(encoded, factors[0], told, group)


def is_long(table: Any, group: str | None = None) -> bool:
    """Whether a table has one row per answer, judged by its column names and repeated labels.

    The group column, if given, does not count.

    Examples
    --------
    >>> is_long({"user": ["a", "a"], "item": ["x", "y"], "option": ["A", "B"]})
    True
    >>> is_long([["A", "B"], ["B", "B"]])
    False
    """
    from hitsndiffs.data.encoding.frames import open_table

    opened = open_table(table)
    if not opened.named:
        return False
    if group is not None:
        take_column(opened, group)
    found = [recognise(role, opened.names) for role in ("user", "item", "option")]
    if not all(found) or len({names[0] for names in found}) < 3:
        return False
    if len(opened.names) == 3:
        return True
    users, items = (opened.column(names[0]) for names in found[:2])
    return any(len(set(_cells(column))) < len(_cells(column)) for column in (users, items))


def _cells(column: Any) -> list[Any]:
    head = column[:10_000]
    return list(head.to_list() if hasattr(head, "to_list") else head)


def _opened(table: Any, place: Place) -> Table:
    """Open a table, strip its column names and check that they differ."""
    from hitsndiffs.data.encoding.frames import open_table

    opened = open_table(table)
    opened.names = [name.strip() if isinstance(name, str) else name for name in opened.names]
    check_item_names(opened.names, place)
    return opened


def _with_groups(encoded: Responses, users: Factor, cells: Any, column: Any) -> Responses:
    from hitsndiffs.data.encoding.frames import factorise

    groups = user_groups(users, factorise(cells), Place(), column)
    note = groups_in_words(column, groups, encoded.users.tolist())
    return encoded._changed(groups=groups, notes=(*encoded.notes, note))


def long_columns(
    names: list[Any], given: dict[str, str | None], place: Place, notes: list[str]
) -> tuple[Any, Any, Any]:
    """Return the user, item and option columns of a long table, as given or recognised."""
    taken = {
        role: find_column(name, names, where=place.source, argument=role)
        for role, name in given.items()
        if name is not None
    }
    for role in given:
        if role in taken:
            continue
        fitting = [name for name in recognise(role, names) if name not in taken.values()]
        if not fitting:
            raise InputError(
                f"{place.source}: none of the columns {listed(names)} is named like the {role} "
                f"column of a long table; say which one is the {role}."
            )
        taken[role] = fitting[0]
    chosen = taken["user"], taken["item"], taken["option"]
    if len(set(chosen)) < 3:
        raise InputError(
            f"{place.source}: user, item and option must be three different columns; "
            f"got {listed(chosen)}."
        )
    if any(name is None for name in given.values()):
        notes.append(
            f"Took {chosen[0]!r} as the user, {chosen[1]!r} as the item and {chosen[2]!r} as the "
            "option column."
        )
    others = [name for name in names if name not in chosen]
    if others:
        notes.append(f"Left out the other columns: {listed(others)}.")
    return chosen


# -- users of a wide table --------------------------------------------------------------------


def _user_column(
    table: Table, user: str | None, users: Sequence[Any] | None, notes: list[str]
) -> Any:
    if user is not None:
        if users is not None:
            raise InputError("give the users as a column (user) or as labels (users), not both.")
        return find_column(user, table.names, where="the table", argument="user")
    fitting = recognise("user", table.names, wide=True) if table.named else []
    if not fitting:
        return None
    return recognised_user(fitting, table.names_rows, notes if users is None else [])


def _user_labels(
    table: Table, column: Any, users: Sequence[Any] | None, notes: list[str], whole: bool
) -> tuple[Array, Flags | None]:
    check_sizes(Place(), range(table.n_rows), len(table.names), whole=whole)
    if users is not None:
        labels = label_array(users)
        if len(labels) != table.n_rows:
            raise InputError(
                f"users must name every row: got {len(labels):,} labels for {table.n_rows:,} rows."
            )
        return labels, None
    if column is None:
        if table.index is None:
            return np.arange(table.n_rows), None
        notes.append("Took the index of the table as the names of the users.")
        return label_array(table.index), None
    values = table.column(column)
    return row_labels(values.to_list() if hasattr(values, "to_list") else values)


def _item_columns(table: Table, user: Any, notes: list[str]) -> list[Any]:
    """Return the item columns: all but the user column and others that name users."""
    if user is None:
        return list(table.names)
    no_items = {user, *further_names(user, table.names, table.names_rows, notes)}
    return [name for name in table.names if name not in no_items]


def _item_labels(items: Sequence[Any] | None, columns: list[Any]) -> list[Any]:
    if items is None:
        return columns
    labels: list[Any] = label_array(items).tolist()
    if len(labels) != len(columns):
        raise InputError(
            f"items must name every item column: got {len(labels):,} labels for "
            f"{len(columns):,} columns."
        )
    check_item_names(labels, Place("the items"))
    return labels
