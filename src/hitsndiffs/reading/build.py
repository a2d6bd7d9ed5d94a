"""Turn the columns of a file into codes: one row per user, per answer, or per item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.cells import is_blank
from hitsndiffs.data.encode import (
    WideEncoder,
    check_item_names,
    check_user_names,
    encode_long,
)
from hitsndiffs.data.factor import Factor, Interner, factorise, trimmed
from hitsndiffs.data.frames import row_labels
from hitsndiffs.data.groups import user_groups
from hitsndiffs.data.labels import Place, label_array
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.group_column import GroupColumn
from hitsndiffs.reading.layouts.extra_rows import (
    BOTTOM,
    TOP,
    nameless_rows,
    rows_apart,
    rows_of_text,
)
from hitsndiffs.reading.layouts.layout import WideRoles
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.table import Table, as_texts
from hitsndiffs.reading.vocabulary import is_key_name, is_summary_name

#: Bytes that a row takes on the way to codes, with its user's name (measured with 3 million rows
#: of two answers, and of one answer each); a wide row takes one more byte per item.
_WIDE_ROW, _LONG_ROW = 250, 150

#: In tables with more rows, repeated names are not looked at.
_MANY_ROWS = 100_000

__all__ = ["build_long", "build_transposed", "build_wide"]


# -- one row per user -------------------------------------------------------------------------


def build_wide(
    table: Table,
    roles: WideRoles,
    attempt: str | None = None,
    group: str | None = None,
    sizes: Sizes = DEFAULT,
    *,
    whole: bool = True,
) -> Responses:
    """Encode a file with one row per user.

    ``attempt`` says which row counts if a user has several (``"first"`` or ``"last"``). If it is
    not given, several rows are refused, unless a column numbers the attempts; then the first
    counts. A file that is not the ``whole`` of the data may have a single user, or no answers.
    """
    notes = table.notes
    pieces: list[list[Any]] = []
    numbers: list[str] = []
    apart: dict[int, str] = {}
    remarks: list[int] = []
    n_rows = 0
    chosen = {*roles.users, *roles.items}
    beside = _beside(table, roles)
    chosen |= {*beside}
    groups = GroupColumn(group)
    chosen |= {*groups.names}
    labels = [*roles.users, *groups.names]
    wanted = None if len(chosen) == len(table.names) else [n for n in table.names if n in chosen]
    names = {} if table.has_header else _item_names(table.names, labels)
    items = [names.get(name, name) for name in roles.items]
    encoder = WideEncoder(table.place, as_text=True, whole=whole)
    for first_row, columns in table.blocks(labels, wanted):
        n_rows = max(n_rows, first_row + max(map(len, columns.values()), default=0))
        check_room(n_rows * (_WIDE_ROW + len(items)), table.place, sizes)
        groups.take(first_row, columns)
        cells = {name: columns.pop(name) for name in beside}
        numbers = cells.pop(roles.attempt or "", [])
        if table.is_small and table.has_header:
            told, given = ([columns[name] for name in own] for own in (roles.users, roles.items))
            apart = rows_apart(cells, given, told) if cells else {}
            if not roles.asked:
                apart |= nameless_rows(told, given)
                remarks = rows_of_text(told, given, roles.items)
        if any(name in columns for name in roles.users):
            pieces.append([columns.pop(name) for name in roles.users if name in columns])
        found = [names.get(name, name) for name in columns]
        factors = _factors(list(columns.values()), table.place, sizes)
        encoder.add(dict(zip(found, factors, strict=True)), first_row)
    if roles.users:
        column = "+".join(roles.users)
        one = [piece[0] if len(piece) == 1 else _joined_names(piece) for piece in pieces]
        attempt = attempt or ("first" if numbers else None)
        named, nameless = _user_labels(one, n_rows, table.place, column, check=attempt is None)
    else:
        named, nameless, attempt = numbered("user", n_rows), np.zeros(n_rows, dtype=bool), None
        notes.append("There is no user column: the users are named user-1, user-2, ….")
    for row, label in apart.items():
        named[row], nameless[row] = label, False
    if remarks:
        texts = listed([named[row] for row in remarks], most=2)
        notes.append(f"Left out {count(len(remarks), 'row')} of text: {texts}.")
    encoded = encoder.finish(named, "file", notes, nameless)
    if remarks:
        is_user = ~np.isin(np.arange(n_rows), remarks)
        encoded = encoded.select(users=is_user[~nameless]).with_notes(notes)
    if attempt is not None:
        numbers = [] if nameless.any() or remarks else numbers
        said: list[str] = []
        encoded = _one_row_each(encoded, attempt, said, numbers)
        encoded = encoded.with_notes([*notes, *said])
    return encoded._changed(groups=groups.of_rows(named, table.place), notes=encoded.notes)


def check_room(n_bytes: int, place: Place, sizes: Sizes) -> None:
    """Refuse a table whose rows take more memory than may be used."""
    if n_bytes > sizes.memory:
        raise too_large(place.source, sizes.memory)


def _beside(table: Table, roles: WideRoles) -> list[str]:
    """Return the columns beside the answers that say something about the rows."""
    attempt = [] if roles.attempt is None else [roles.attempt]
    return [*roles.labels, *attempt] if table.is_small and table.has_header else []


def _joined_names(parts: list[Any]) -> list[str]:
    """Join first and last names."""
    rows = zip(*map(as_texts, parts), strict=True)
    return [" ".join(filter(None, map(str.strip, row))) for row in rows]


def _one_row_each(
    encoded: Responses, attempt: str, notes: list[str], numbers: Sequence[str]
) -> Responses:
    """Keep one row per user, chosen by attempt number if there is one, else by row order."""
    if attempt == "best":
        raise InputError(
            "The best attempt is the one with most points, and this file has none for its answers; "
            "keep the first or the last attempt."
        )
    users = encoded.users.tolist()
    order = list(range(len(users)))
    if len(numbers) == len(users) and all(text.strip().isdecimal() for text in numbers):
        order.sort(key=lambda row: int(numbers[row]))
    chosen = {users[row]: row for row in (order if attempt == "last" else reversed(order))}
    keep = np.zeros(len(users), dtype=bool)
    keep[list(chosen.values())] = True
    if not keep.all():
        n = int((~keep).sum())
        rows_ = "1 row" if n == 1 else f"{n:,} rows"
        notes.append(f"Left out {rows_} of users with several rows: the {attempt} one counts.")
    return encoded if keep.all() else encoded.select(users=keep)


def _factors(columns: list[Any], place: Place, sizes: Sizes) -> list[Factor]:
    """Factorise the columns of a piece, on several threads when they are long."""
    found: list[Any] = [None] * len(columns)

    def work(k: int) -> None:
        found[k] = factorise(columns[k], ordered=False, short=sizes.short)

    large = sum(map(len, columns)) >= sizes.threaded
    try:
        Run(min(4, available_cores()) if large else 1)(len(columns), work)
    except InputError as error:
        raise InputError(f"{place.source}: {error}") from None
    return found


def _item_names(names: Sequence[str], users: Sequence[str]) -> dict[str, str]:
    items = [name for name in names if name not in users]
    return {name: f"item-{k}" for k, name in enumerate(items, start=1)}


def _user_labels(
    pieces: list[Any], n_rows: int, place: Place, column: str, *, check: bool = True
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    cells = list(chain.from_iterable(map(as_texts, pieces)))
    if len(cells) != n_rows:
        raise InputError(
            f"{place.source}: the user column {column!r} is missing in some of the records; "
            "every record needs a user."
        )
    labels, nameless = row_labels(_numbered_keys(cells, column))
    if check:
        check_user_names(labels, place, column)
    return labels, nameless


def _numbered_keys(cells: list[str], column: str) -> list[str]:
    """Number the rows named like a key or the column, of which there may be one per class."""
    if len(cells) > _MANY_ROWS:
        return cells
    repeated = {name for name, n in Counter(map(str.strip, cells)).items() if name and n > 1}
    repeated = {name for name in repeated if is_key_name(name) or name == column.strip()}
    if not repeated:
        return cells
    seen: Counter[str] = Counter()
    found = []
    for name in map(str.strip, cells):
        seen[name] += name in repeated
        found.append(f"{name} {seen[name]}" if seen[name] > 1 else name)
    return found


def numbered(word: str, count: int) -> npt.NDArray[Any]:
    """Return ``word-1``, ``word-2``, … as labels.

    Examples
    --------
    >>> numbered("user", 2).tolist()
    ['user-1', 'user-2']
    """
    return label_array([f"{word}-{k}" for k in range(1, count + 1)])


# -- one row per answer -----------------------------------------------------------------------


def build_long(
    table: Table,
    columns: tuple[str, str, str],
    key: str | None,
    duplicates: str,
    group: str | None = None,
    sizes: Sizes = DEFAULT,
    *,
    whole: bool = True,
) -> tuple[Responses, dict[str, str]]:
    """Encode a file with one row per answer, with ``columns`` of users, items and options.

    The right answers are returned as well: the most common one for each item in the column ``key``.
    """
    wanted = [*columns, *(name for name in (key, group) if name is not None)]
    interners = {name: Interner() for name in wanted}
    labels = columns[:2] if group is None else (*columns[:2], group)
    for first_row, pieces in table.blocks(labels, wanted):
        check_room((first_row + max(map(len, pieces.values()))) * _LONG_ROW, table.place, sizes)
        for name, cells in pieces.items():
            try:
                interners[name].add(cells)
            except InputError as error:
                raise InputError(f"{table.place.source}: {error}") from None
    users, items = (trimmed(interners[name].factor()) for name in columns[:2])
    right = {} if key is None else _right_answers(items, trimmed(interners[key].factor()))
    groups = None
    if group is not None:
        found = trimmed(interners[group].factor())
        groups = user_groups(users, found, table.place, group)
    encoded = encode_long(
        users,
        items,
        interners[columns[2]].factor(),
        place=table.place,
        columns=columns,
        duplicates=duplicates,
        as_text=True,
        kind="file",
        notes=table.notes,
        whole=whole,
    )
    return encoded._changed(groups=groups, notes=encoded.notes), right


def _right_answers(items: Factor, keys: Factor) -> dict[str, str]:
    """Return the most common right answer to each item."""
    known = (items.numbers >= 0) & (keys.numbers >= 0)
    pairs = items.numbers[known].astype(np.int64) * max(len(keys.labels), 1) + keys.numbers[known]
    distinct, counts = np.unique(pairs, return_counts=True)
    right: dict[str, str] = {}
    for place in np.argsort(counts, kind="stable").tolist():  # the most common comes last
        item, key = divmod(int(distinct[place]), len(keys.labels))
        right[str(items.labels[item])] = str(keys.labels[key])
    return right


# -- one row per item -------------------------------------------------------------------------


def build_transposed(
    table: Table,
    item: str | None,
    users: Sequence[str],
    key: str | None,
    *,
    whole: bool = True,
) -> tuple[Responses, dict[str, str]]:
    """Encode a file with one row per item and one column per user; return the right answers too."""
    place, notes = table.place, table.notes
    rows = table.rows()
    places = {name: k for k, name in enumerate(table.names)}
    encoder = WideEncoder(place, as_text=True, whole=whole)
    items = numbered("item", len(rows)).tolist()
    if item is not None:
        own = places[item]
        items = ["" if is_blank(row[own]) else str(row[own]).strip() for row in rows]
        _check_items(items, place)
    chosen = [places[name] for name in users]
    for k in reversed(_sums(items, [[row[k] for k in chosen] for row in rows])):
        notes.append(f"Left out row {shortened(items[k], 40)!r}: it sums up the others.")
        del items[k], rows[k]
    right: dict[str, str] = {}
    for label, row in zip(items, rows, strict=True):
        encoder.add({label: factorise([row[k] for k in chosen])})
        if key is not None and not is_blank(row[places[key]]):
            right[label] = str(row[places[key]]).strip()
    named = list(users)
    if not table.has_header:
        named = numbered("user", len(named)).tolist()
        notes.append("The users are named user-1, user-2, ….")
    check_item_names(named, place)
    return encoder.finish(label_array(named), "file", notes), right


def _sums(items: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the rows at the edges named like sums, whose cells hardly occur in the others."""
    n = len(items)
    edge = [k for k in range(n) if (k < TOP or k >= n - BOTTOM) and is_summary_name(items[k])]
    stock = {str(cell) for k, row in enumerate(rows) if k not in edge for cell in row}
    return [k for k in edge if sum(str(cell) in stock for cell in rows[k]) * 5 < len(rows[k])]


def _check_items(items: list[str], place: Place) -> None:
    seen: dict[str, int] = {}
    for row, item in enumerate(items):
        if not item:
            raise InputError(
                f"{place.source}, {place.row(row)}: the item has no name; write one in the item "
                "column."
            )
        if item in seen:
            raise InputError(
                f"{place.source}: the item {item!r} is named in {place.rows([seen[item], row])}; "
                "every item needs one row, so rename or merge them."
            )
        seen[item] = row
