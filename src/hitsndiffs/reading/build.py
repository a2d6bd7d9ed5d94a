"""From the columns of a file to codes: wide, long or turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding import long_columns
from hitsndiffs.data.encoding.interning import Interner
from hitsndiffs.data.encoding.long import Factor, assemble_long
from hitsndiffs.data.encoding.names import find_column, listed, recognise
from hitsndiffs.data.encoding.options import Codes, OptionBook, is_blank
from hitsndiffs.data.encoding.result import Encoded, Place, label_array, text_labels
from hitsndiffs.data.encoding.series import code_series, text_of
from hitsndiffs.data.encoding.wide import WideBuilder, check_item_names, check_user_names
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.errors import InputError
from hitsndiffs.reading.header import looks_like_ids, looks_long
from hitsndiffs.reading.tokens import Scanned, UserNames

#: Columns of a piece of a file: of Polars, or lists of text where the file is small.
Columns = dict[str, Any]

_THREADS_FROM = 1_000_000

# How a column of row numbers is headed: by nothing, or by what pandas makes of nothing.
_NAMELESS = re.compile(r"column-1|Unnamed: 0|index", re.IGNORECASE)

__all__ = ["FileTable", "build_long", "build_transposed", "build_wide", "find_layout"]


class FileTable(Protocol):
    """What every format offers: names, the first rows as text, and all rows in pieces.

    The number of rows is None where it is not known before the end.
    """

    names: list[str]
    sample: list[list[str]]
    has_header: bool
    n_rows: int | None
    notes: list[str]
    place: Place

    def blocks(
        self,
        labels: Sequence[str],
        columns: Sequence[str] | None = None,
        *,
        scanned: bool = False,
    ) -> Iterator[tuple[int, Any]]:
        """Yield pieces of the table with the number of their first row."""

    def records(self) -> Iterator[list[Any]]:
        """Yield the rows as lists."""


def find_layout(table: FileTable, given: dict[str, str | None]) -> str:
    """Return ``"long"`` or ``"wide"``, from the names of the columns and the first rows."""
    if given["item"] is not None or given["option"] is not None:
        return "long"
    fitting = {role: recognise(role, table.names) for role in given}
    if given["user"] is not None:
        fitting["user"] = [given["user"]]
    if not all(fitting.values()):
        return "wide"
    user, item = (_cells(table, fitting[role][0]) for role in ("user", "item"))
    return "long" if looks_long(user, item, len(table.names)) else "wide"


def _cells(table: FileTable, name: str) -> list[str]:
    if name not in table.names:
        return []
    place = table.names.index(name)
    return [row[place] for row in table.sample if place < len(row)]


# -- wide -------------------------------------------------------------------------------------


def build_wide(table: FileTable, user: str | None) -> Encoded:
    """Encode a file with one row per user."""
    notes = table.notes
    column = _user_column(table, user, notes)
    left_out = _aliases(table, column, notes)
    users: list[Any] = []
    n_rows = 0
    wanted = None if not left_out else [n for n in table.names if n not in left_out]
    names = {} if table.has_header else _item_names(table.names, column)
    labels = [] if column is None else [column]
    items = [names.get(name, name) for name in wanted or table.names if name != column]
    shape = None if table.n_rows is None else (len(items), table.n_rows)
    builder = WideBuilder(table.place, as_text=True, shape=shape)
    for first_row, columns in table.blocks(labels, wanted, scanned=True):
        if isinstance(columns, Scanned):
            n_rows = first_row + len(columns)
            users.append(columns.users)
            builder.put_block(items, columns.cells, first_row)
            continue
        n_rows = max(n_rows, first_row + max(map(len, columns.values()), default=0))
        if column in columns:
            users.append(columns.pop(column))
        found = [names.get(name, name) for name in columns]
        for item, codes in zip(found, _coded(builder, found, columns, table.place), strict=True):
            builder.put(item, codes, first_row)
    if column is None:
        named, nameless = numbered("user", n_rows), None
        notes.append("There is no user column: the users are named user-1, user-2, ….")
    else:
        named, nameless = _user_labels(users, n_rows, table.place, column)
    return builder.finish(named, "file", notes, nameless)


def _coded(builder: WideBuilder, items: list[str], columns: Columns, place: Place) -> list[Codes]:
    """Code the columns of a piece, on several threads when they are long."""
    books = [builder.book(item) for item in items]
    pairs = list(zip(books, columns.values(), strict=True))
    n_cells = sum(len(cells) for cells in columns.values())
    try:
        if n_cells < _THREADS_FROM or len(pairs) < 2:
            return [_code(pair) for pair in pairs]
        found: list[Any] = [None] * len(pairs)

        def work(piece: int) -> None:
            found[piece] = _code(pairs[piece])

        Run(min(4, available_cores()))(len(pairs), work)
        return found
    except InputError as error:
        raise InputError(f"{place.source}: {error}") from None


def _code(pair: tuple[OptionBook, Any]) -> Codes:
    book, cells = pair
    return book.code_objects(cells) if isinstance(cells, list) else code_series(book, cells)


def _user_column(table: FileTable, user: str | None, notes: list[str]) -> str | None:
    if user is not None:
        return str(find_column(user, table.names, where=table.place.source, argument="user"))
    fitting = recognise("user", table.names, wide=True) if table.has_header else []
    if fitting:
        notes.append(f"Recognised {fitting[0]!r} as the user column.")
        return str(fitting[0])
    first, cells = table.names[0], _cells(table, table.names[0])
    if len(table.names) == 1:
        return None
    if table.has_header and _NAMELESS.fullmatch(first) and len(set(cells)) == len(cells) > 1:
        notes.append("Took the first column, which has no name, as the user column.")
        return first
    if looks_like_ids(cells, table.sample):
        turned = " (if the rows are items, read with transpose=True)"
        notes.append(
            f"Took the first column ({first!r}) as the user column: its values are all different "
            f"and are not answers{turned if recognise('item', [first]) else ''}."
        )
        return first
    return None


def _aliases(table: FileTable, user: str | None, notes: list[str]) -> list[str]:
    """Return further columns that name the users."""
    if user is None:
        return []
    others = [name for name in table.names if name != user]
    aliases = []
    for name in recognise("user", others, wide=True):
        cells = _cells(table, name)
        if len(set(cells)) == len(cells) > 2:
            aliases.append(str(name))
    if aliases:
        notes.append(f"Left out {listed(aliases)}, which also names the users.")
    return aliases


def _item_names(names: Sequence[str], user: str | None) -> dict[str, str]:
    items = [name for name in names if name != user]
    return {name: f"item-{k}" for k, name in enumerate(items, start=1)}


def _user_labels(
    pieces: list[Any], n_rows: int, place: Place, column: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    if all(isinstance(piece, UserNames) and piece.plain for piece in pieces):
        labels = text_labels([piece.texts for piece in pieces])
        if _may_repeat(np.concatenate([piece.hashes for piece in pieces])):
            check_user_names(labels, place, column)
        return labels, np.zeros(len(labels), dtype=bool)
    if any(isinstance(piece, (list, UserNames)) for piece in pieces):
        labels = label_array([cell.strip() for piece in pieces for cell in _texts(piece)])
        check_user_names(labels, place, column)
        return labels, labels == ""
    import polars as pl

    series = pl.concat([text_of(piece) for piece in pieces]).str.strip_chars().fill_null("")
    if len(series) != n_rows:
        raise InputError(
            f"{place.source}: the user column {column!r} is missing in some of the records; "
            "every record needs a user."
        )
    nameless = (series == "").to_numpy()
    labels = text_labels([series.to_numpy()])
    if _may_repeat(series.hash().to_numpy()[~nameless]):
        check_user_names(labels, place, column)
    return labels, nameless


def _may_repeat(hashes: npt.NDArray[np.uint64]) -> bool:
    """Whether two names have one hash, which different names do not have but by chance."""
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def _texts(piece: Any) -> list[str]:
    if isinstance(piece, UserNames):
        return piece.texts
    return piece if isinstance(piece, list) else text_of(piece).fill_null("").to_list()


def numbered(word: str, count: int) -> npt.NDArray[Any]:
    """Return ``word-1``, ``word-2``, … as labels.

    Examples
    --------
    >>> numbered("user", 2).tolist()
    ['user-1', 'user-2']
    """
    return label_array([f"{word}-{k}" for k in range(1, count + 1)])


# -- long -------------------------------------------------------------------------------------


def build_long(table: FileTable, given: dict[str, str | None], duplicates: str) -> Encoded:
    """Encode a file with one row per answer."""
    if not table.has_header and not any(given.values()):
        if len(table.names) < 3:
            raise InputError(
                f"{table.place.source}: a long table needs three columns (user, item, option); "
                f"this one has {len(table.names)}."
            )
        given = dict(zip(("user", "item", "option"), table.names, strict=False))
        table.notes.append("Took the first three columns as user, item and option.")
    columns = long_columns(table.names, given, table.place, table.notes)
    interners = {name: Interner() for name in columns}
    for _, pieces in table.blocks(columns[:2], columns):
        for name, cells in pieces.items():
            try:
                interners[name].add(cells)
            except InputError as error:
                raise InputError(f"{table.place.source}: {error}") from None
    users, items = (trimmed(interners[name].factor()) for name in columns[:2])
    return assemble_long(
        users,
        items,
        interners[columns[2]].factor(),
        place=table.place,
        columns=columns,
        duplicates=duplicates,
        as_text=True,
        kind="file",
        notes=table.notes,
    )


def trimmed(factor: Factor) -> Factor:
    """Trim labels, and join those that then agree; blank ones are null."""
    if all(label and label == label.strip() for label in factor.labels):
        return factor
    index: dict[str, int] = {}
    lookup = np.full(len(factor.labels) + 1, -1, dtype=np.int32)
    for place, label in enumerate(factor.labels):
        text = label.strip()
        if text:
            lookup[place] = index.setdefault(text, len(index))
    return Factor(list(index), lookup[factor.numbers])


# -- turned round -----------------------------------------------------------------------------


def build_transposed(table: FileTable, item: str | None) -> Encoded:
    """Encode a file with one row per item and one column per user."""
    place, notes = table.place, table.notes
    rows = [list(row) for row in table.records()]
    names = table.names
    if item is not None:
        column: int | None = names.index(
            find_column(item, names, where=place.source, argument="item")
        )
    else:
        column = _item_column(table, notes)
    builder = WideBuilder(place, as_text=True)
    items = numbered("item", len(rows)).tolist()
    if column is not None:
        items = ["" if is_blank(row[column]) else str(row.pop(column)).strip() for row in rows]
        _check_items(items, place)
    for label, row in zip(items, rows, strict=True):
        builder.put(label, builder.book(label).code_objects(row))
    users = [name for k, name in enumerate(names) if k != column]
    if not table.has_header:
        users = numbered("user", len(users)).tolist()
        notes.append("The users are named user-1, user-2, ….")
    check_item_names(users, place)
    return builder.finish(label_array(users), "file", notes)


def _item_column(table: FileTable, notes: list[str]) -> int | None:
    fitting = recognise("item", table.names) if table.has_header else []
    if fitting:
        notes.append(f"Recognised {fitting[0]!r} as the item column.")
        return table.names.index(fitting[0])
    if len(table.names) > 1 and looks_like_ids(_cells(table, table.names[0]), table.sample):
        notes.append(f"Took the first column ({table.names[0]!r}) as the item column.")
        return 0
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
