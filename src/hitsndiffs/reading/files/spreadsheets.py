"""Read spreadsheets (.xlsx, .xls, .xlsb, .ods) as rows of text with fastexcel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from hitsndiffs.data.words import listed, suggestion
from hitsndiffs.errors import InputError, lacks_memory
from hitsndiffs.reading.quiet import without_panics

__all__ = ["Workbook"]

#: A table is looked for in this many sheets.
_MOST_SHEETS = 20
_WHOLE = re.compile(r"-?[0-9]{1,17}\.0")


class Workbook:
    """A spreadsheet."""

    def __init__(self, data: bytes, name: str) -> None:
        try:
            import fastexcel
        except ImportError:
            raise InputError(
                f"{name}: spreadsheets are read with fastexcel: pip install fastexcel "
                "(or save the sheet as CSV)."
            ) from None
        self._name = name
        try:
            with without_panics():
                self._reader: Any = fastexcel.read_excel(data)
            self.sheets: list[str] = list(self._reader.sheet_names)
        except BaseException as error:
            raise _damaged(name, error) from None

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
        try:
            with without_panics():
                loaded = self._reader.load_sheet(
                    sheet, header_row=None, dtypes="string", n_rows=most
                )
            columns = [series.to_list() for series in loaded.to_polars().iter_columns()]
        except BaseException as error:
            raise _damaged(self._name, error) from None
        return [["" if c is None else _text(c) for c in row] for row in zip(*columns, strict=True)]


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether at least three rows have at least three filled cells."""
    return sum(sum(1 for cell in row if cell.strip()) >= 3 for row in rows) >= 3


def _text(cell: str) -> str:
    return cell[:-2] if cell.endswith(".0") and _WHOLE.fullmatch(cell) else cell


def _damaged(name: str, error: BaseException) -> InputError:
    if isinstance(error, KeyboardInterrupt) or lacks_memory(error):
        raise error
    reason = str(error).strip().partition("\n")[0][:200].rstrip(".")
    return InputError(
        f"{name}: the spreadsheet cannot be read ({reason}); open it and save it again, or save "
        "the sheet as CSV."
    )
