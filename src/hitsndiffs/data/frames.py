"""Tables in memory (data frames of any kind, arrays, lists, mappings), encoded as they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags
from hitsndiffs.data.cells import is_blank
from hitsndiffs.data.encode import WideEncoder, check_item_names, check_user_names, encode_long
from hitsndiffs.data.factor import Factor, factorise, trimmed
from hitsndiffs.data.groups import groups_in_words, user_groups
from hitsndiffs.data.labels import Place, check_sizes, label_array
from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import Detail, listed
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "Table",
    "further_names",
    "is_long",
    "long_columns",
    "long_table",
    "open_table",
    "recognised_user",
    "row_labels",
    "wide_table",
]


def wide_table(
    table: Any,
    *,
    user: str | None = None,
    users: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    group: str | None = None,
    whole: bool = True,
    place: Place | None = None,
) -> Responses:
    """Encode a table with one row per user, as :meth:`hitsndiffs.Responses.from_wide` does.

    What is not the ``whole`` of the data may have a single user, or no answers.

    >>> encoded = wide_table([["A", "B"], ["A", "C"], ["B", None]])
    >>> encoded.codes.tolist(), encoded.option_labels.tolist()
    ([[0, 0, 1], [0, 1, 255]], ['A', 'B', 'B', 'C'])
    """
    place = place or Place()
    opened = _opened(table, place)
    told = None if group is None else take_column(opened, group)
    notes: list[str] = []
    column = _user_column(opened, user, users, notes)
    labels, nameless = _user_labels(opened, column, users, notes, whole)
    check_user_names(labels, place, column)
    item_columns = _item_columns(opened, column, notes)
    encoder = WideEncoder(place, whole=whole)
    for label, name in zip(_item_labels(items, item_columns), item_columns, strict=True):
        encoder.add({label: factorise(opened.column(name), ordered=False)})
    encoded = encoder.finish(labels, opened.kind, notes, nameless)
    return encoded if told is None else _with_groups(encoded, factorise(labels), told, group)


def long_table(
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
    """Encode a table with one row per answer, as :meth:`hitsndiffs.Responses.from_long` does.

    >>> encoded = long_table({"worker": "aab", "task": [1, 2, 1], "label": ["x", "y", "z"]})
    >>> encoded.users.tolist(), encoded.items.tolist(), encoded.option_labels.tolist()
    (['a', 'b'], [1, 2], ['x', 'z', 'y'])
    """
    place = place or Place()
    opened = _opened(table, place)
    told = None if group is None else take_column(opened, group)
    notes: list[str] = []
    columns = long_columns(
        opened.names, {"user": user, "item": item, "option": option}, place, notes
    )
    found = [factorise(opened.column(name)) for name in columns]
    users = trimmed(found[0])
    encoded = encode_long(
        users,
        trimmed(found[1]),
        found[2],
        place=place,
        columns=columns,
        duplicates=duplicates,
        kind=opened.kind,
        notes=notes,
        whole=whole,
    )
    return encoded if told is None else _with_groups(encoded, users, told, group)


def is_long(table: Any, group: str | None = None) -> bool:
    """Whether a table has one row per answer, judged by column names and repeated labels.

    >>> is_long({"user": ["a", "a"], "item": ["x", "y"], "option": ["A", "B"]})
    True
    >>> is_long([["A", "B"], ["B", "B"]])
    False
    """
    opened = open_table(table)
    if not opened.named:
        return False
    if group is not None:
        take_column(opened, group)
    found = [recognise(role, opened.names) for role in ("user", "item", "option")]
    if not all(found) or len({names[0] for names in found}) < 3:
        return False
    heads = [opened.column(names[0])[:10_000] for names in found[:2]]
    cells = [list(head.to_list() if hasattr(head, "to_list") else head) for head in heads]
    return len(opened.names) == 3 or any(len({*own}) < len(own) for own in cells)


def _opened(table: Any, place: Place) -> Table:
    """Open a table, strip its column names and check that they differ."""
    opened = open_table(table)
    opened.names = [name.strip() if isinstance(name, str) else name for name in opened.names]
    check_item_names(opened.names, place)
    return opened


def _with_groups(encoded: Responses, users: Factor, cells: Any, column: Any) -> Responses:
    groups = user_groups(trimmed(users), trimmed(factorise(cells)), Place(), column)
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
            Detail(
                f"Took {chosen[0]!r} as the user, {chosen[1]!r} as the item and {chosen[2]!r} as "
                "the option column."
            )
        )
    others = [name for name in names if name not in chosen]
    if others:
        notes.append(f"Left out the other columns: {listed(others)}.")
    return chosen


def take_column(table: Table, name: Any) -> Any:
    """Remove the group column from a table and return its cells.

    >>> table = open_table({"user": ["a", "b"], "q1": ["A", "B"], "team": ["x", "x"]})
    >>> take_column(table, "team"), table.names
    (['x', 'x'], ['user', 'q1'])
    """
    place = table.names.index(find_column(name, table.names, where="the table", argument="group"))
    table.names.pop(place)
    return table.columns.pop(place)


# -- what a table is --------------------------------------------------------------------------


@dataclass
class Table:
    """Columns with names; ``index`` holds the row names if the table has any (pandas)."""

    names: list[Any]
    columns: list[Any]
    kind: str
    named: bool = True
    index: list[Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: Any) -> Any:
        """Return the column with that name."""
        return self.columns[self.names.index(name)]

    def names_rows(self, name: Any) -> bool:
        """Whether a column has a different value in every row."""
        return len(trimmed(factorise(self.column(name))).labels) == self.n_rows


def open_table(table: Any) -> Table:
    """Split any kind of table into columns."""
    if isinstance(table, (str, bytes)) or hasattr(table, "__fspath__"):
        raise InputError(
            f"expected a table, got the text {table!r}; to read a file call read_responses()."
        )
    if isinstance(table, Mapping):
        return _from_mapping(table)
    import narwhals as nw

    frame: Any = None
    with suppress(nw.exceptions.DuplicateError):
        frame = nw.from_native(table, pass_through=True)
    if frame is None:
        names = table.column_names if hasattr(table, "column_names") else table.columns
        check_item_names(list(names), Place())
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if isinstance(table, np.ndarray) or not isinstance(table, Iterable):
        return _from_array(np.asarray(table))
    return _from_rows(list(table))


def _from_frame(frame: nw.DataFrame[Any]) -> Table:
    import narwhals as nw

    implementation = frame.implementation
    if implementation.is_polars():
        kind = "polars"
    elif implementation.is_pyarrow():
        kind = "pyarrow"
    else:
        kind = "pandas"
    native = frame.to_native()
    # pandas allows any object as a column name; take the names as they are.
    names = list(native.columns) if kind == "pandas" else list(frame.columns)
    columns = [frame.get_column(name) for name in frame.columns]
    index = nw.maybe_get_index(frame) if kind == "pandas" else None
    labels = None
    if index is not None and type(index).__name__ != "RangeIndex":
        labels = list(index)
    return Table(names, columns, kind, index=labels)


def _from_mapping(table: Mapping[Any, Any]) -> Table:
    columns = [values if _is_column(values) else list(values) for values in table.values()]
    lengths = {name: len(column) for name, column in zip(table, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        one, n_one = min(lengths.items(), key=lambda pair: pair[1])
        two, n_two = max(lengths.items(), key=lambda pair: pair[1])
        raise InputError(
            f"the columns must have the same length, and {one!r} has {n_one:,} entries where "
            f"{two!r} has {n_two:,}."
        )
    return Table(list(table), columns, "numpy")


def _is_column(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.ndim == 1
    import narwhals as nw

    return isinstance(nw.from_native(values, allow_series=True, pass_through=True), nw.Series)


def _from_array(array: np.ndarray[Any, Any]) -> Table:
    if array.ndim == 0:
        raise InputError(
            "a table was expected (a DataFrame, a 2-D array, a list of rows); "
            f"got {type(array.item()).__name__}."
        )
    if array.ndim != 2:
        raise InputError(
            f"a table needs two dimensions, users × items; got an array of shape {array.shape}."
        )
    if array.dtype.kind in "SV":
        array = array.astype(object)
    columns = [array[:, k] for k in range(array.shape[1])]
    return Table(list(range(len(columns))), columns, "numpy", named=False)


def _from_rows(rows: list[Any]) -> Table:
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return Table(names, [[row.get(name) for row in rows] for name in names], "numpy")
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)):
            raise InputError(
                f"a list of rows needs a sequence of answers in every row, and row {number} "
                f"is {row!r}."
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"every row needs the same number of answers: row 1 has {len(rows[0])} and row "
                f"{number} has {len(row)}; write None where there is no answer."
            )
    columns = [list(column) for column in zip(*rows, strict=True)]
    return Table(list(range(len(columns))), columns, "numpy", named=False)


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


def row_labels(cells: Iterable[Any]) -> tuple[Array, Flags]:
    """Return the label of every row (texts stripped), and which rows have none.

    >>> labels, nameless = row_labels([" ann", 3, None, " "])
    >>> labels.tolist(), nameless.tolist()
    (['ann', 3, None, ''], [False, False, True, True])
    """
    cells = list(cells)
    try:
        labels = label_array(list(map(str.strip, cells)))
    except TypeError:  # not all of them are texts
        labels = label_array([cell.strip() if isinstance(cell, str) else cell for cell in cells])
        if labels.dtype.kind in "iu":
            return labels, np.zeros(len(labels), dtype=bool)
        return labels, np.array([is_blank(cell) for cell in cells], dtype=bool)
    return labels, np.asarray(labels == "")


def recognised_user(
    fitting: Sequence[Any], names_rows: Callable[[Any], bool], notes: list[str]
) -> Any:
    """Return the first of the fitting columns that has a name for each row, else the first.

    >>> notes = []
    >>> recognised_user(["name", "student_id"], {"name": False, "student_id": True}.get, notes)
    'student_id'
    >>> notes
    ["Recognised 'student_id' as the user column."]
    """
    column = next((name for name in fitting if names_rows(name)), fitting[0])
    notes.append(Detail(f"Recognised {column!r} as the user column."))
    return column


def further_names(
    user: Any,
    names: Sequence[Any],
    names_rows: Callable[[Any], bool],
    notes: list[str],
    *,
    kept: Collection[Any] = (),
) -> list[Any]:
    """Return the other columns that name the users; those in ``kept`` are decided about."""
    others = [n for n in recognise("user", names, wide=True) if n != user and n not in kept]
    found = [name for name in others if names_rows(name)]
    if found:
        notes.append(f"Left out {listed(found)}, which also names the users.")
    return found
