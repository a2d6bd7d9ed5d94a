"""Turn the columns of a file into codes, where the rows are items and the columns users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitsndiffs.data.encoding.names import recognise, shortened
from hitsndiffs.data.encoding.option_book import is_blank
from hitsndiffs.data.encoding.result import Encoded, Place, label_array
from hitsndiffs.data.encoding.wide import WideBuilder, check_item_names
from hitsndiffs.errors import InputError
from hitsndiffs.reading.build import FileTable, column_cells, numbered
from hitsndiffs.reading.extra_rows import BOTTOM, TOP
from hitsndiffs.reading.header import looks_like_ids
from hitsndiffs.reading.vocabulary import is_summary_name

__all__ = ["build_transposed", "item_column"]


def build_transposed(
    table: FileTable,
    item: str | None,
    users: Sequence[str],
    key: str | None,
    *,
    whole: bool = True,
) -> tuple[Encoded, dict[str, str]]:
    """Encode a file with one row per item and one column per user.

    Parameters
    ----------
    table
        The file.
    item
        The column that names the items; None if there is none.
    users
        The columns that are users.
    key
        The column that holds the key, if any.
    whole
        Whether this is the only file.

    Returns
    -------
    encoded
        The answers.
    key
        The right answers.
    """
    place, notes = table.place, table.notes
    rows = [list(row) for row in table.records()]
    places = {name: k for k, name in enumerate(table.names)}
    builder = WideBuilder(place, as_text=True, whole=whole)
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
        builder.put(label, builder.book(label).code_objects([row[k] for k in chosen]))
        if key is not None and not is_blank(row[places[key]]):
            right[label] = str(row[places[key]]).strip()
    named = list(users)
    if not table.has_header:
        named = numbered("user", len(named)).tolist()
        notes.append("The users are named user-1, user-2, ….")
    check_item_names(named, place)
    return builder.finish(label_array(named), "file", notes), right


def _sums(items: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the rows at the edges named like sums, whose cells hardly occur in the others."""
    n = len(items)
    edge = [k for k in range(n) if (k < TOP or k >= n - BOTTOM) and is_summary_name(items[k])]
    stock = {str(cell) for k, row in enumerate(rows) if k not in edge for cell in row}
    return [k for k in edge if sum(str(cell) in stock for cell in rows[k]) * 5 < len(rows[k])]


def item_column(table: FileTable, notes: list[str]) -> str | None:
    """Return the column that names the items of a table with one row per item."""
    fitting = recognise("item", table.names) if table.has_header else []
    if fitting:
        notes.append(f"Recognised {fitting[0]!r} as the item column.")
        return str(fitting[0])
    first = table.names[0]
    if len(table.names) > 1 and looks_like_ids(column_cells(table, first), table.sample):
        notes.append(f"Took the first column ({first!r}) as the item column.")
        return first
    notes.append("There is no item column: the items are named item-1, item-2, ….")
    return None


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
