"""The sheets of a workbook that have the same columns are read together, as files are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.documents import FileDocument
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plain import PlainReading, open_table, sheet_of
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.several import plan_several
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import is_key_name

__all__ = ["plan_sheets", "sheets_alike"]

#: Less than this share of the cells of a sheet are answers of the other: it holds something else.
_ANSWERS = 0.5
#: In two forms of a test, less than this share of the items have the same commonest answer; so many
#: rows and items are needed to tell.
_SAME, _FORM_ROWS, _FORM_ITEMS = 0.4, 8, 8


def sheets_alike(
    document: Any, reading: PlainReading, options: ReadingOptions, stack: ExitStack
) -> list[FileDocument]:
    """Return the sheets with answers in the columns of the one that is read, itself among them.

    A sheet whose rows are all in another one is left out. There are none if a sheet was asked for,
    or if no column names the users, who may be the same in all sheets.
    """
    layout = reading.layout
    if layout.roles is not None:
        users, items = list(layout.roles.users), list(layout.roles.items)
    elif layout.long is not None:
        users, items = list(layout.long[:2]), [layout.long[2]]
    else:
        return []
    if not users or document.kind != "sheets" or options.sheet or len(document.sheets) < 2:
        return []
    own = sheet_of(document)
    tables: dict[str, Table] = {}
    for sheet in (own, *document.sheets):
        if sheet not in tables and (sheet == own or not is_key_name(sheet)):
            with suppress(InputError):
                tables[sheet] = open_table(document.of_sheet(sheet), options, stack)[0]
    first = tables.get(own)
    if first is None or not {*users, *items} <= {*first.names}:
        return []
    marks = _cells(first, items)
    alike: dict[str, set[tuple[str, ...]]] = {}
    for sheet, table in tables.items():
        shared = [name for name in items if name in table.names]
        if {*users} <= {*table.names} and len(shared) * 2 > len(items):
            given = _cells(table, shared)
            scored = {*given} <= {"0", "1"} and not {*marks} <= {"0", "1"}
            known = {*marks}
            if not scored and sum(cell in known for cell in given) >= _ANSWERS * len(given) > 0:
                alike[sheet] = _rows(table, [*users, *items])
    kept: list[str] = []
    for sheet in sorted(alike, key=lambda name: -len(alike[name])):
        if not any(alike[sheet] <= alike[other] for other in kept):
            kept.append(sheet)
    for sheet in kept if layout.roles is not None else ():
        if _are_two_forms(first, tables[sheet], items):
            raise InputError(
                f"{document.name}: the sheets {listed([own, sheet])} have the same columns, but "
                "people answered most of these items differently in them, so they may be two forms "
                f"of a test; name the one to read, as in --sheet {own!r}."
            )
    return [document.of_sheet(sheet) for sheet in document.sheets if sheet in kept]


def _are_two_forms(one: Table, two: Table, items: Sequence[str]) -> bool:
    """Whether most items have another commonest answer in two tables, both with enough rows."""
    pairs = [
        [Counter(_cells(table, [name])).most_common(1)[0][0] for table in (one, two)]
        for name in items
        if min(len(_cells(table, [name])) for table in (one, two)) >= _FORM_ROWS
    ]
    same = sum(first == second for first, second in pairs)
    return len(pairs) >= _FORM_ITEMS and same < _SAME * len(pairs)


def plan_sheets(
    plan: Plan, document: FileDocument, sheets: Sequence[FileDocument], options: ReadingOptions
) -> None:
    """Plan how sheets with the same columns are read together; ask for one if they cannot be."""
    try:
        plan_several(plan, sheets, options, document)
    except InputError as error:
        names = [one.name for one in sheets]
        raise InputError(
            f"{document.name}: the sheets {listed(names)} have the same columns, but cannot be "
            f"read together ({str(error).rstrip('.')}); name one, as in --sheet {names[0]!r}."
        ) from None
    plan.sources = (document.name,)


def _cells(table: Table, names: Sequence[str]) -> list[str]:
    """Return the cells of some columns that are not blank."""
    return [cell.strip() for name in names for cell in table.cells(name) if cell.strip()]


def _rows(table: Table, names: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the rows of some columns; a column that is not there is blank."""
    places = [table.names.index(name) if name in table.names else None for name in names]
    return {tuple("" if k is None else row[k].strip() for k in places) for row in table.rows()}
