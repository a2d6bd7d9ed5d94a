"""Read spreadsheets (.xlsx, .xls, .xlsb, .ods) as rows of text.

Their decoder (calamine) makes room for the whole rectangle around the filled cells, so one stray
cell in the last corner of a sheet asks for hundreds of gigabytes. It runs in a process that may die
(:mod:`hitsndiffs.data.processes`). The XML of .xlsx and .ods is looked through here, to name such
a cell, and to count formulas without values and errors: they come as blanks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from html import unescape
from typing import Any

from hitsndiffs.data.processes import Died, decoded
from hitsndiffs.data.words import count, listed, suggestion
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import Archive, too_large
from hitsndiffs.reading.files.foreign import refuse_old_office
from hitsndiffs.reading.files.old_excel import cells_without_value
from hitsndiffs.reading.sizes import DEFAULT, Sizes

__all__ = ["Workbook"]

#: A table is looked for in this many sheets.
_MOST_SHEETS = 20
_WHOLE = re.compile(r"-?[0-9]{1,17}\.0")
#: The decoder takes 32 bytes per cell of the rectangle, and 24 more for its text.
_BYTES_PER_CELL = 56
#: A rectangle of this many cells always fits (60 MiB); a larger one may have this many cells for
#: each that is filled. Questionnaires with branches are a third to a twentieth full.
_ROOM, _CELLS_PER_FILLED = 1 << 20, 64
#: What is said of an .xlsb, whose cells are not looked through.
_UNCOUNTED = (
    "Cells with errors, and formulas without a stored value, come as blanks and are not counted in "
    "an .xlsb; save it as .xlsx to have them counted."
)


class Workbook:
    """A spreadsheet, whose sheets are decoded when they are asked for."""

    def __init__(self, data: bytes, name: str, sizes: Sizes = DEFAULT) -> None:
        self._data, self._name, self._limit = data, name, sizes.held
        self._last: tuple[str, list[list[str]]] = "", []
        self._notes: dict[str, str | None] = {}
        self._archive: Archive | None = None
        #: The names of the sheets.
        self.sheets: list[str] = []
        if not data.startswith(b"PK"):
            refuse_old_office(data, name)
        elif b"workbook.bin" not in data:
            try:
                self._archive = Archive(data, name, sizes.held)
            except InputError:
                raise _damaged(name, "it is cut short or no zip inside") from None
            if "content.xml" in self._archive.names:  # opening an .ods decodes all its sheets
                self.note("")
        self.sheets = self._decoded(decode_names)

    def _decoded(self, function: Any, *request: Any) -> Any:
        """Let another process decode something."""
        try:
            return decoded(function, self._data, *request, limit=self._limit)
        except RuntimeError as error:
            raise _damaged(self._name, str(error)) from None
        except Died as died:
            far = "a stray cell far from the table may be the reason"
            raise _damaged(self._name, f"{died}; {far}") from None

    @cached_property
    def first(self) -> str:
        """The first sheet that holds a table, or else the first sheet."""
        if len(self.sheets) == 1:
            return self.sheets[0]
        tables = (name for name in self.sheets[:_MOST_SHEETS] if _is_table(self.rows(name, 40)))
        return next(tables, self.sheets[0])

    def find(self, sheet: str | None) -> str:
        """Return the sheet of that name (or number, from 1); :attr:`first` if none is named."""
        if not self.sheets:
            raise InputError(f"{self._name}: the spreadsheet has no sheets.")
        if sheet is None:
            return self.first
        for name in self.sheets:
            if name.strip().casefold() == sheet.strip().casefold():
                return name
        if sheet.isdecimal() and 1 <= int(sheet) <= len(self.sheets):
            return self.sheets[int(sheet) - 1]
        raise InputError(
            f"{self._name}: there is no sheet {sheet!r}{suggestion(sheet, self.sheets)}; "
            f"the sheets are {listed(self.sheets)}."
        )

    def rows(self, sheet: str, most: int | None = None) -> list[list[str]]:
        """Return the rows of a sheet as text, whole numbers without a decimal point."""
        if self._last[0] == sheet:
            return self._last[1][:most]
        import polars as pl

        self.note(sheet)
        frame = pl.read_ipc_stream(io.BytesIO(self._decoded(decode_sheet, sheet, most)))
        columns = [series.to_list() for series in frame.iter_columns()]
        rows = [["" if c is None else _text(c) for c in row] for row in zip(*columns, strict=True)]
        if most is None:
            self._last = sheet, rows
        return rows

    # -- cells without a value, and far cells -----------------------------------------------

    def note(self, sheet: str) -> str | None:
        """Return a sentence on cells without a value; refuse a sheet with a far cell."""
        if sheet not in self._notes:
            self._notes[sheet] = self._looked_through(sheet)
        return self._notes[sheet]

    def _looked_through(self, sheet: str) -> str | None:
        where = f"{self._name}, sheet {sheet!r}" if len(self.sheets) > 1 else self._name
        formulas, errors = 0, 0
        for own in self._cells(sheet):
            n_cells = own.rows * own.columns
            if n_cells > max(_ROOM, _CELLS_PER_FILLED * own.filled):
                raise InputError(
                    f"{where}: the cells lie too far apart to be a table: {own.filled:,} are "
                    f"filled in a rectangle of {own.rows:,} rows and {own.columns:,} columns, up "
                    f"to {own.end}; delete the stray cells (press "
                    "Ctrl+End to find the last), or save the table alone as CSV."
                )
            if n_cells * _BYTES_PER_CELL > self._limit:
                raise too_large(where, self._limit)
            formulas, errors = formulas + own.formulas, errors + own.errors
        said = []
        if formulas:
            hold = "holds a formula" if formulas == 1 else "hold formulas"
            said.append(
                f"{count(formulas, 'cell')} {hold} without a stored value and came as blank "
                "(open the file in a spreadsheet program and save it to fill them in)"
            )
        if errors:
            hold = "holds an error" if errors == 1 else "hold errors"
            said.append(f"{count(errors, 'cell')} {hold} such as #N/A and came as blank")
        if self._data.startswith(b"PK") and self._archive is None:
            return _UNCOUNTED
        return f"{'; '.join(said)}." if said else None

    def _cells(self, sheet: str) -> list[_Cells]:
        """Return what a sheet holds; of an .ods, what all hold."""
        if self._archive is not None:
            if "content.xml" in self._archive.names:
                return [_cells_of_ods(self._archive.read("content.xml"))]
            return [_cells_of_xlsx(self._archive.read(own)) for own in self._members(sheet)]
        if not self._data.startswith(b"PK"):
            formulas, errors = self._without_value.get(sheet, (0, 0))
            return [_Cells(formulas=formulas, errors=errors)]
        return []

    @cached_property
    def _without_value(self) -> dict[str, tuple[int, int]]:
        return cells_without_value(self._data)

    def _members(self, sheet: str) -> list[str]:
        """Return the part of an .xlsx that is a sheet; all parts if it cannot be told."""
        assert self._archive is not None
        parts = {name.casefold().lstrip("/"): name for name in self._archive.names}
        relations, workbook = "xl/_rels/workbook.xml.rels", "xl/workbook.xml"
        if relations in parts and workbook in parts:
            tags = re.findall(
                rb"<(?:\w+:)?Relationship\b[^>]*>", self._archive.read(parts[relations])
            )
            targets = {_attribute(tag, "Id"): _attribute(tag, "Target") for tag in tags}
            for tag in re.findall(rb"<(?:\w+:)?sheet\b[^>]*>", self._archive.read(parts[workbook])):
                target = targets.get(_attribute(tag, r"(?:\w+:)?id"), "")
                path = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                if _attribute(tag, "name") == sheet and path.casefold() in parts:
                    return [parts[path.casefold()]]
        return [name for name in self._archive.names if name.endswith(".xml")]


# -- in the process that may die --------------------------------------------------------------


@lru_cache(maxsize=1)
def _opened(data: bytes) -> Any:
    import fastexcel

    return fastexcel.read_excel(data)


def decode_names(data: bytes) -> list[str]:
    """Return the names of the sheets."""
    return [str(name) for name in _opened(data).sheet_names]


def decode_sheet(data: bytes, sheet: str, most: int | None) -> bytes:
    """Return the cells of a sheet as a frame of text, in Arrow's format for streams."""
    loaded = _opened(data).load_sheet(sheet, header_row=None, dtypes="string", n_rows=most)
    out: io.BytesIO = loaded.to_polars().write_ipc_stream(None)
    return out.getvalue()


# -- rows -------------------------------------------------------------------------------------


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether at least three rows have at least three filled cells."""
    return sum(sum(1 for cell in row if cell.strip()) >= 3 for row in rows) >= 3


def _text(cell: str) -> str:
    return cell[:-2] if cell.endswith(".0") and _WHOLE.fullmatch(cell) else cell


def _damaged(name: str, reason: str) -> InputError:
    return InputError(
        f"{name}: the spreadsheet cannot be read ({reason}); open it and save it again, or save "
        "the sheet as CSV."
    )


# -- looking through the XML ------------------------------------------------------------------


@dataclass(frozen=True)
class _Cells:
    """What a sheet holds: the rectangle around its cells, and how many have no value."""

    rows: int = 0
    columns: int = 0
    end: str = ""
    filled: int = 0
    formulas: int = 0
    errors: int = 0


def _attribute(tag: bytes, name: str) -> str:
    found = re.search(rf"""\s{name}\s*=\s*["']([^"']*)["']""".encode(), tag)
    return unescape(found[1].decode("utf-8", "replace")) if found else ""


_CELL = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\sr\s*=\s*["']([A-Za-z]+[0-9]+)""")
#: A cell as nearly all programs write it; looking for these takes half the time.
_PLAIN_CELL = re.compile(rb'<c r="([A-Z]+[0-9]+)"')
_EMPTY = re.compile(rb"""<(?:\w+:)?c\b[^>]*/>|<(?:\w+:)?c\b[^>]*>\s*</(?:\w+:)?c>""")
_ERROR = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\st\s*=\s*["']e["']""")
#: A formula that is followed by no value, or by an empty one.
_NO_VALUE = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^>]*/>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?"
    rb"\s*</(?:\w+:)?c>"
)


def _cells_of_xlsx(xml: bytes) -> _Cells:
    """Count the cells of a sheet's XML.

    >>> xml = b'<row><c r="B2" t="e"><v>#N/A</v></c><c r="C2"><f>A1</f><v/></c><c r="D9"/></row>'
    >>> _cells_of_xlsx(xml)
    _Cells(rows=8, columns=3, end='D9', filled=3, formulas=1, errors=1)
    """
    rows, columns, n_cells = _rectangle(xml)
    if len(rows) * len(columns) > _ROOM:  # empty cells, which only have a style, do not count
        rows, columns, n_cells = _rectangle(_EMPTY.sub(b"", xml))
    if not n_cells:
        return _Cells()
    formulas = len(_NO_VALUE.findall(xml)) if b"<f" in xml or b":f" in xml else 0
    errors = len(_ERROR.findall(xml)) if b"#" in xml else 0
    end = _reference(rows[-1], columns[-1])
    return _Cells(len(rows), len(columns), end, n_cells, formulas, errors)


def _rectangle(xml: bytes) -> tuple[range, range, int]:
    """Return the rows and the columns of the rectangle around all cells, and their number."""
    found = _PLAIN_CELL.findall(xml)
    if len(found) != xml.count(b"<c ") or b":c " in xml:
        found = _CELL.findall(xml)
    if not found:
        return range(0), range(0), 0
    joined = b",".join(found).upper()
    rows = [int(row[:9]) for row in {*joined.translate(None, _LETTERS).split(b",")}]
    columns = [_number(name[:7]) for name in {*joined.translate(None, b"0123456789").split(b",")}]
    return range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1), len(found)


_LETTERS = bytes(range(ord("A"), ord("Z") + 1))


def _number(letters: bytes) -> int:
    """Return the number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _reference(row: int, column: int) -> str:
    """Return the name of a cell, such as ``B12``.

    >>> _reference(12, 2), _reference(1048576, 16384)
    ('B12', 'XFD1048576')
    """
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


_TAG = re.compile(
    rb"<(table:table-row|table:(?:covered-)?table-cell|table:table)\b([^>]*)>(?=(\s*</)?)"
)
_ERROR_TEXT = re.compile(rb"<text:p[^>]*>(?:#[A-Z/0!?]+|Err:\d+)</text:p>")


def _cells_of_ods(xml: bytes) -> _Cells:
    """Count the cells of an OpenDocument file: the largest of its sheets counts.

    >>> cell = b'<table:table-cell office:value-type="float" table:number-columns-repeated="4">'
    >>> _cells_of_ods(b'<table:table-row table:number-rows-repeated="9">' + cell + b'<text:p>1')
    _Cells(rows=9, columns=4, end='D9', filled=1, formulas=0, errors=0)
    """
    sheets = [[0, 0, 0]]  # rows, columns and filled cells of each
    row = column = repeats = formulas = 0
    for found in _TAG.finditer(xml):
        name, attributes = found[1], found[2]
        times = re.search(rb'number-(?:columns|rows)-repeated="(\d{1,12})"', attributes)
        n = int(times[1]) if times else 1
        if name == b"table:table":
            row = repeats = 0
            sheets.append([0, 0, 0])
        elif name == b"table:table-row":
            row, repeats, column = row + repeats, n, 0
        else:
            column += n
            has_value = b"value-type" in attributes
            formulas += b"table:formula" in attributes and not has_value
            if has_value or not (attributes.endswith(b"/") or found[3] is not None):
                rows, columns, filled = sheets[-1]
                sheets[-1] = [max(rows, row + repeats), max(columns, column), filled + 1]
    rows, columns, filled = max(sheets, key=lambda own: own[0] * own[1])
    errors = len(_ERROR_TEXT.findall(xml))
    return _Cells(rows, columns, _reference(rows, columns), filled, formulas, errors)
