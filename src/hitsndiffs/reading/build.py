"""Turn the columns of a file into codes: one row per user, per answer, or per item."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags
from hitsndiffs.data.cells import is_blank
from hitsndiffs.data.encode import (
    WideEncoder,
    check_item_names,
    check_user_names,
    encode_long,
)
from hitsndiffs.data.factor import Factor, factorise, joined, trimmed
from hitsndiffs.data.frames import row_labels
from hitsndiffs.data.groups import user_groups
from hitsndiffs.data.labels import Place, label_array
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.layouts.layout import LABELS, WideRoles
from hitsndiffs.reading.layouts.rows import (
    BOTTOM,
    TOP,
    nameless_rows,
    row_of_points,
    rows_apart,
    rows_of_text,
)
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.table import Table, as_texts
from hitsndiffs.reading.vocabulary import is_key_name, is_summary_name

#: Bytes that a row takes on the way to codes, with its user's name (measured with 3 million rows
#: of two answers, and of one answer each); a wide row takes one more byte per item.
_WIDE_ROW, _LONG_ROW = 250, 150

#: In tables with more rows, repeated names are not looked at.
_MANY_ROWS = 100_000

__all__ = ["build_long", "build_transposed", "build_wide"]

#: The pieces of a column of labels, each with the number of its first row.
_Pieces = list[tuple[int, Any]]


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
    place, notes = table.place, table.notes
    is_small = table.is_small and table.has_header
    counts = [c.name for c in roles.left_out if c.role in ("points", "unused")][-LABELS:]
    labelled = list(dict.fromkeys([*roles.labels, *counts])) if table.is_small else []
    beside = [*labelled, *([roles.attempt] if roles.attempt and is_small else [])]
    told = [*roles.users, *beside, *([] if group is None else [group])]
    chosen = {*told, *roles.items}
    wanted = None if len(chosen) == len(table.names) else [n for n in table.names if n in chosen]
    names: dict[str, str] = {}
    if not table.has_header:
        items = [name for name in table.names if name not in told or name in labelled]
        names = {name: f"item-{k}" for k, name in enumerate(items, start=1)}
    encoder = WideEncoder(place, as_text=True, whole=whole)
    pieces: dict[str, _Pieces] = defaultdict(list)
    answers: dict[str, Any] = {}
    n_rows = 0
    for first_row, columns in table.blocks(told, wanted):
        n_rows = max(n_rows, first_row + max(map(len, columns.values()), default=0))
        check_room(n_rows * (_WIDE_ROW + len(roles.items)), place, sizes)
        for name in told:
            if name in columns:
                pieces[name].append((first_row, columns.pop(name)))
        answers = columns
        factors = _factors(list(columns.values()), place, sizes)
        found = [names.get(name, name) for name in columns]
        encoder.add(dict(zip(found, factors, strict=True)), first_row)
    texts = {name: _whole(pieces[name], n_rows) for name in told}
    users = [texts[name] for name in roles.users]
    apart: dict[int, str] = {}
    remarks = np.zeros(n_rows, dtype=bool)
    if table.is_small:
        given = [answers[name] for name in roles.items]
        labels = {name: texts[name] for name in roles.labels}
        apart = rows_apart(labels, given, users) if labels else {}
        known = any(map(is_key_name, apart.values()))
        points = {name: texts[name] for name in counts}
        about = [texts[c.name] for c in roles.left_out if c.role == "identity" and c.name in texts]
        scored = None if known else row_of_points(points, given, about)
        own = " ".join(cells[scored[0]].strip() for cells in users) if scored else ""
        if scored is not None and not is_key_name(own):
            called = shortened(own, 30) or f"row {scored[0] + 1}"
            apart[scored[0]] = f"answer key ({called})"
            said = f"{scored[1]!r} is the number of answers that agree with it"
            notes.append(f"Took {called!r} as the key: {said}.")
    if is_small and not roles.asked:
        apart |= nameless_rows(users, given)
        remarks[rows_of_text(users, given, roles.items)] = True
    numbers = texts.get(roles.attempt or "", [])
    attempt = attempt or ("first" if numbers else None)
    if users:
        cells = users[0] if len(users) == 1 else _joined_names(users)
        column = "+".join(roles.users)
        named, nameless = row_labels(_numbered_keys(cells, column))
        if attempt is None:
            check_user_names(named, place, column)
    else:
        named, nameless, attempt = numbered("user", n_rows), np.zeros(n_rows, dtype=bool), None
        notes.append("There is no user column: the users are named user-1, user-2, ….")
    for row, label in apart.items():
        named[row], nameless[row] = label, False
    if remarks.any():
        shown = listed(named[remarks].tolist(), most=2)
        notes.append(f"Left out {count(int(remarks.sum()), 'row')} of text: {shown}.")
    encoded = encoder.finish(named, "file", notes, nameless)
    keep = ~remarks
    if attempt is not None:
        keep &= _one_row_each(named.tolist(), attempt, numbers, notes)
    if not keep.all():
        encoded = encoded.select(users=keep[~nameless])
    groups = None
    if group is not None and pieces[group]:
        groups = user_groups(_factor(named), _factor(texts[group]), place, group)
    return encoded._changed(groups=groups, notes=notes)


def check_room(n_bytes: int, place: Place, sizes: Sizes) -> None:
    """Refuse a table whose rows take more memory than may be used."""
    if n_bytes > sizes.memory:
        raise too_large(place.source, sizes.memory)


def _whole(pieces: _Pieces, n_rows: int) -> list[str]:
    """Return a column of labels as texts; cells that a record lacks are blank."""
    found: list[str] = []
    for first, cells in pieces:
        found += [""] * (first - len(found))
        found += as_texts(cells)
    return found + [""] * (n_rows - len(found))


def _factor(cells: Any) -> Factor:
    return trimmed(factorise(list(cells)))


def _joined_names(parts: list[list[str]]) -> list[str]:
    """Join first and last names."""
    return [" ".join(filter(None, map(str.strip, row))) for row in zip(*parts, strict=True)]


def _one_row_each(
    users: list[str], attempt: str, numbers: Sequence[str], notes: list[str]
) -> Flags:
    """Return which row of each user counts: by the number of the attempt, else by row order."""
    if attempt == "best":
        raise InputError(
            "The best attempt is the one with most points, and this file has none for its answers; "
            "keep the first or the last attempt."
        )
    rows = list(range(len(users)))
    if numbers and all(text.strip().isdecimal() for text in numbers):
        rows.sort(key=lambda row: int(numbers[row]))
    counting = {users[row]: row for row in (rows if attempt == "last" else reversed(rows))}
    keep = np.zeros(len(users), dtype=bool)
    keep[list(counting.values())] = True
    if not keep.all():
        said = count(int((~keep).sum()), "row")
        notes.append(f"Left out {said} of users with several rows: the {attempt} one counts.")
    return keep


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


def _numbered_keys(cells: list[str], column: str) -> list[str]:
    """Number the rows named like a key or the column, of which there may be one per class."""
    if len(cells) > _MANY_ROWS:
        return cells
    counts = Counter(map(str.strip, cells))
    repeated = {
        name for name, n in counts.items()
        if name and n > 1 and (is_key_name(name) or name == column.strip())
    }  # fmt: skip
    seen: Counter[str] = Counter()
    found = []
    for name in map(str.strip, cells) if repeated else ():
        seen[name] += name in repeated
        found.append(f"{name} {seen[name]}" if seen[name] > 1 else name)
    return found or cells


def numbered(word: str, count: int) -> Array:
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
    labels = [*columns[:2], *([] if group is None else [group])]
    wanted = [*dict.fromkeys([*columns, *labels, *([] if key is None else [key])])]
    found: dict[str, list[Factor]] = {name: [] for name in wanted}
    for first_row, pieces in table.blocks(labels, wanted):
        check_room((first_row + max(map(len, pieces.values()))) * _LONG_ROW, table.place, sizes)
        for name, cells in pieces.items():
            try:
                found[name].append(factorise(cells, short=sizes.short))
            except InputError as error:
                raise InputError(f"{table.place.source}: {error}") from None

    def column(name: str) -> Factor:
        return trimmed(joined(found[name]))

    users, items = map(column, columns[:2])
    right = {} if key is None else _right_answers(items, column(key))
    groups = None if group is None else user_groups(users, column(group), table.place, group)
    encoded = encode_long(
        users,
        items,
        joined(found[columns[2]]),
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
    items = numbered("item", len(rows)).tolist()
    if item is not None:
        items = ["" if is_blank(row[places[item]]) else row[places[item]].strip() for row in rows]
        _check_items(items, place)
    cells = [[row[places[name]] for name in users] for row in rows]
    sums = _sums(items, cells)
    notes += [f"Left out row {shortened(items[k], 40)!r}: it sums up the others." for k in sums]
    encoder = WideEncoder(place, as_text=True, whole=whole)
    right: dict[str, str] = {}
    for k, label in enumerate(items):
        if k not in sums:
            encoder.add({label: factorise(cells[k])})
            if key is not None and not is_blank(rows[k][places[key]]):
                right[label] = rows[k][places[key]].strip()
    named = list(users)
    if not table.has_header:
        named = numbered("user", len(named)).tolist()
        notes.append("The users are named user-1, user-2, ….")
    check_item_names(named, place)
    return encoder.finish(label_array(named), "file", notes), right


def _sums(items: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the rows at the edges named like sums, whose cells hardly occur in the others."""
    n = len(items)
    edge = [k for k in range(n) if (k < TOP or k >= n - BOTTOM) and is_summary_name(items[k])]
    stock = {cell for k, row in enumerate(rows) if k not in edge for cell in row}
    return [k for k in edge if sum(cell in stock for cell in rows[k]) * 5 < len(rows[k])]


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
