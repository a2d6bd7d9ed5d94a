"""Plain tables: open them the quickest way that fits, find their layout, and read them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.reading.build import build_long, build_transposed, build_wide
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.files.documents import FileDocument
from hitsndiffs.reading.layouts.answer_strings import fixed_width, with_answers_apart
from hitsndiffs.reading.layouts.choose import all_0_or_1, find_layout
from hitsndiffs.reading.layouts.columns import Profiles
from hitsndiffs.reading.layouts.layout import Layout
from hitsndiffs.reading.layouts.rows import without_other_rows
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.streams import RawKey
from hitsndiffs.reading.tables.delimited import delimited_table
from hitsndiffs.reading.tables.frames import frame_table
from hitsndiffs.reading.tables.records import json_table
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import is_key_name, role_of_name

__all__ = [
    "PlainReading", "key_of_sheets", "laid_out", "open_frame", "open_plain", "open_table",
    "sheet_of",
]  # fmt: skip

#: In tables with fewer items beside the users, a single column may hold all answers.
_FEW_ITEMS = 3


@dataclass
class PlainReading:
    """An open table, its layout, and the row of its header (from 1), if there is one.

    A file that is ``one_of`` several may have a single user, or no answers.
    """

    table: Table
    layout: Layout
    format: str
    header_row: int | None
    options: ReadingOptions
    one_of: bool = False
    key_user: int | None = None

    def read(self) -> tuple[Responses, RawKey]:
        """Read all answers, and the right answers if the file has them."""
        layout, options, table = self.layout, self.options, self.table
        duplicates = options.duplicates
        whole = not self.one_of
        if options.attempt in ("first", "last") and duplicates == "error":
            duplicates = options.attempt
        if layout.name == "long":
            assert layout.long is not None
            encoded, right = build_long(
                table,
                layout.long,
                layout.key,
                duplicates,
                layout.group,
                options.settings.sizes,
                whole=whole,
            )
            return encoded, RawKey(right, f"the column {layout.key!r}")
        if layout.name == "transposed":
            encoded, right = build_transposed(
                table, layout.item, layout.users, layout.key, whole=whole
            )
            return encoded, RawKey(right, f"the column {layout.key!r}")
        assert layout.roles is not None
        encoded = build_wide(
            table, layout.roles, options.attempt, layout.group, options.settings.sizes, whole=whole
        )
        key = self._key_above()
        if not key.options and layout.roles.key and table.has_header:
            key = RawKey(dict(layout.roles.key), layout.roles.key_from)
        return encoded, key

    def _key_above(self) -> RawKey:
        """Return the key in a row above the header."""
        above = self.table.above
        row = self.options.key_row
        header = self.header_row or 0
        if row is not None and row > header:
            self.key_user = row - header - 1
            return RawKey()
        if row is not None and above:
            found = [(row, above[row - 1])] if row <= len(above) else []
        else:
            found = list(enumerate(above, start=1))[::-1]
        if not found:
            return RawKey()
        assert self.layout.roles is not None
        names = self.table.names
        stock = {name: set() for name in self.layout.roles.items}  # type: dict[str, set[str]]
        places = [(k, name) for k, name in enumerate(names) if name in stock]
        for line in self.table.sample:
            for k, name in places:
                if k < len(line):
                    stock[name].add(line[k].strip())
        for number, cells in found:
            right = {
                name: cells[k].strip() for k, name in places if k < len(cells) and cells[k].strip()
            }
            fits = sum(answer in stock[name] for name, answer in right.items())
            if right and ((fits >= 0.6 * len(right) and len(right) * 2 > len(places)) or row):
                return RawKey(right, f"row {number}, above the header")
        return RawKey()


def key_of_sheets(document: FileDocument, options: ReadingOptions) -> RawKey:
    """Return the key from another sheet of a workbook that is named like a key."""
    if document.kind != "sheets" or options.sheet is not None:
        return RawKey()
    for sheet in document.sheets:
        if sheet == sheet_of(document) or not is_key_name(sheet):
            continue
        table = document.table(sheet)
        items, answers = (recognise(role, table.header) for role in ("item", "answer"))
        others = [n for n in table.header if n not in items and role_of_name(n) in (None, "key")]
        answers = answers or (others if len(others) == 1 else [])
        places = [table.header.index(names[0]) for names in (items, answers) if names]
        if len(set(places)) == 2 or len(table.header) == 2:
            item, answer = places if len(set(places)) == 2 else (0, 1)
            own = {row[item].strip(): row[answer].strip() for row in table.rows}
            return RawKey({k: v for k, v in own.items() if k and v}, f"the sheet {sheet!r}")
        if len(table.rows) == 1:  # the items are the header
            own = dict(zip(table.header, map(str.strip, table.rows[0]), strict=True))
            return RawKey({k: v for k, v in own.items() if k and v}, f"the sheet {sheet!r}")
    return RawKey()


def sheet_of(document: FileDocument) -> str:
    """Return the sheet of a workbook that is read."""
    return document.settings.sheet or document.first_sheet


def open_plain(
    document: FileDocument, options: ReadingOptions, stack: ExitStack, *, one_of: bool = False
) -> PlainReading:
    """Open a file as a plain table, and find its layout.

    A file that is ``one_of`` several may lack the column of groups, and answers.
    """
    table, format, header_row = open_table(document, options, stack)
    try:
        table, layout = laid_out(table, options, one_of)
    except Refusal as refusal:
        other = _in_another_sheet(document, options, stack, one_of)
        if other is None:
            raise InputError(f"{document.name}: {refusal}") from None
        return other
    roles = layout.roles if document.kind == "sheets" and options.items is None else None
    if roles is not None and all_0_or_1(Profiles(table), roles.items):
        settings = document.settings
        other = _in_another_sheet(document, options, stack, one_of)
        if other is not None and _answers_instead(other, table.names):
            return other
        document.settings = settings
    return PlainReading(table, layout, format, header_row, options, one_of)


def open_frame(table: Table, options: ReadingOptions) -> PlainReading:
    """Find the layout of a table in memory."""
    try:
        table, layout = laid_out(table, options, one_of=False)
    except Refusal as refusal:
        raise InputError(f"{table.place.source}: {refusal}") from None
    return PlainReading(table, layout, "frame", None, options)


def laid_out(table: Table, options: ReadingOptions, one_of: bool = False) -> tuple[Table, Layout]:
    """Return a table, with a column per answer if one column held them all, and its layout."""
    if options.key_row is None and not options.tells_columns:
        table = without_other_rows(table)
    said = list(table.notes)
    apart = None
    try:
        layout = _found(table, options, one_of)
    except InputError:
        apart = None if options.items else with_answers_apart(table, ())
        if apart is None:
            raise
    else:
        roles = layout.roles
        few = roles is not None and len(roles.items) < (_FEW_ITEMS if roles.users else 1)
        if roles is not None and few and options.items is None:
            apart = with_answers_apart(table, roles.users)
    if apart is not None:
        apart.notes = [*said, *apart.notes]
        table, layout = apart, _found(apart, options, one_of)
    if len(layout.parts) > 1:
        table = table.with_joined(layout.parts)
    return table, layout


def _answers_instead(other: PlainReading, names: list[str]) -> bool:
    """Whether another sheet has the same columns, but answers where this one has 0 and 1."""
    roles = other.layout.roles
    if roles is None or not {*roles.items} <= {*names}:
        return False
    return not all_0_or_1(Profiles(other.table), roles.items)


def _in_another_sheet(
    document: FileDocument, options: ReadingOptions, stack: ExitStack, one_of: bool
) -> PlainReading | None:
    """Open the first of the other sheets that holds answers; None if there is none."""
    first, settings = document.first_sheet if document.sheets else "", document.settings
    for sheet in document.sheets if settings.sheet is None else ():
        document.settings = replace(settings, sheet=sheet)
        with suppress(InputError):
            found = None if sheet == first else open_plain(document, options, stack, one_of=one_of)
            if found is not None and len(found.table.sample) > 1:
                found.table.notes.insert(
                    0, f"Read the sheet {sheet!r}, as {first!r} holds no answers."
                )
                return found
    document.settings = settings
    return None


def _found(table: Table, options: ReadingOptions, one_of: bool) -> Layout:
    """Return the layout of a table, with the column of groups if there is one."""
    group = options.group
    if group is not None and not (one_of and group not in table.names):
        group = find_column(group, table.names, where=table.place.source, argument="group")
    own = str(group) if group in table.names else None
    return find_layout(table, options, own, one_of=one_of)


#: The kind of file that each plain format is.
_KINDS = {
    "csv": "table", "tsv": "table", "json": "json", "jsonl": "jsonl", "parquet": "parquet",
    "xlsx": "sheets",
}  # fmt: skip


def open_table(
    document: FileDocument, options: ReadingOptions, stack: ExitStack
) -> tuple[Table, str, int | None]:
    """Return a file as a table, the name of its kind, and the row of its header (from 1)."""
    kind = _KINDS.get(options.format or "") or document.kind
    if kind == "parquet":
        return document.parquet.table(), "parquet", None
    if kind in ("json", "jsonl"):
        return *json_table(document, stack), None
    if kind == "stats":
        frame, titles, notes = document.statistics
        sizes = document.settings.sizes
        return (
            frame_table(frame, document.name, titles=titles, notes=notes, sizes=sizes),
            kind,
            None,
        )
    if kind == "sheets":
        grid = _grid(document, "row")
        return grid, "xlsx", len(grid.above) + 1 if grid.has_header else None
    if kind != "table":
        raise InputError(
            f"{document.name}: this is text without a table (XML or HTML); export the answers as "
            "CSV."
        )
    if document.is_whole and options.separator is None and options.header_row is None:
        fixed = fixed_width(document.text(), document.name)
        if fixed is not None:
            return fixed, "csv", None
    shape = document.shape
    format = "tsv" if shape.separator == "\t" else "csv"
    place = document.header_place
    if shape.skip or shape.separator == " " or place not in (0, None):
        grid = _grid(document, "line", shape.notes)
        if grid.above and shape.separator != " ":
            grid.notes.append(
                f"The header is row {len(grid.above) + 1}, below {count(len(grid.above), 'row')}."
            )
        return grid, format, len(grid.above) + 1 if grid.has_header else None
    table = delimited_table(document, stack)
    return table, format, 1 if table.has_header else None


def _grid(document: FileDocument, unit: str, notes: Sequence[str] = ()) -> Table:
    """Return a sheet, or a text with rows above the header."""
    own = document.table()
    return Table.of_rows(
        own.header, own.rows, document.name, unit, above=own.above, lines=own.lines, notes=notes
    )
