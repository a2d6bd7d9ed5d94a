"""Refuse tables that do not say who chose what: counts, lists, labels, tables side by side."""

from __future__ import annotations

import re

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.layouts.roles import WideRoles
from hitsndiffs.reading.tables.file_table import FileTable
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES, plain, role_of_name, tokens

__all__ = ["refuse_other_text", "refuse_shares", "refuse_single_label", "refuse_tables_beside"]

#: Counts of the same answers add up to the same number, in at least so many rows and columns.
_ROWS, _COLUMNS = 5, 3
#: Fewer rows say little.
_ENOUGH = 8
#: Wider tables are not looked at.
_MOST_COLUMNS = 60
_PEOPLE = FIRST_NAMES | LAST_NAMES | {"name", "fullname", "email", "emailaddress", "username"}


def refuse_other_text(table: FileTable) -> None:
    """Refuse text that only looks like a table: an ARFF file, a log of ``name=value``."""
    if any(name.casefold().startswith("@attribute") for name in table.names[:_MOST_COLUMNS]):
        raise Refusal("an ARFF file", "save it as CSV")
    pairs = [n.partition("=")[0] for n in table.names[:_MOST_COLUMNS] if re.match(r"\w+=\S", n)]
    if len(pairs) > 1 and all(
        sum(cell.startswith(f"{name}=") for cell in row) for row in table.sample for name in pairs
    ):
        raise Refusal("a log with lines of name=value", "write a table with a header instead")


def refuse_shares(table: FileTable) -> None:
    """Refuse counts or percentages per answer, which add up to the same number in every row."""
    if not table.has_header or len(table.names) > _MOST_COLUMNS:
        return
    names = [n for n in table.names[1:] if role_of_name(n) is None]
    numbers = [own for name in names if (own := _whole_numbers(table.cells(name)))]
    rows = list(zip(*numbers, strict=False))
    if len(numbers) < max(_COLUMNS, 0.8 * len(names)) or len(rows) < _ROWS:
        return
    total = sum(rows[0])
    ranks = {tuple(sorted(row)) for row in rows}
    if total > len(numbers) and len(ranks) > 1 and all(sum(row) == total for row in rows):
        raise Refusal(
            f"a table of counts or percentages per answer (each row adds up to {total}), without "
            "the answers of the people",
            "export the answers that each person gave",
        )


def _whole_numbers(cells: list[str]) -> list[int]:
    """Return cells as whole numbers, without a per cent sign; nothing if one is something else."""
    found = []
    for cell in cells:
        text = cell.strip().removesuffix("%").strip()
        if not text.isdecimal():
            return []
        found.append(int(text))
    return found


def refuse_single_label(table: FileTable, roles: WideRoles) -> None:
    """Refuse a table whose only answers stand beside texts or a key, if its rows are no people."""
    if any(plain(name) in _PEOPLE or recognise("user", [name]) for name in roles.users):
        return
    varied = [n for n in roles.items if len(set(table.cells(n))) < len(table.sample)]
    if len(varied) > 1:
        return
    item = (varied or roles.items)[0]
    if len(table.names) == 1:
        raise Refusal(
            "a list in a single column", "give a row per user and a column per item, with a header"
        )
    texts = [c.name for c in roles.left_out if c.role in ("comment", "identity")]
    beside = [c.name for c in roles.left_out if c.role == "key"]
    beside += [name for name in texts if role_of_name(name) is None]
    beside += [n for n in roles.items if n != item]
    beside += [name for name in roles.users if recognise("item", tokens(name))]
    if beside and len(table.sample) >= _ENOUGH:
        raise Refusal(
            f"one answer per row ({item!r}, beside {beside[0]!r}), and no column says who gave it",
            "give the answers of several users, or a folder with one file per user",
        )


def refuse_tables_beside(table: FileTable, roles: WideRoles) -> None:
    """Refuse several tables side by side: they repeat the column of users."""
    for column in roles.columns:
        again = re.fullmatch(r"(.*) \(\d+\)", column.name, re.DOTALL)
        if again is None or again[1] not in roles.users:
            continue
        cells = {cell.strip() for cell in table.cells(column.name)} - {""}
        if len(cells) > 1 and cells.isdisjoint(cell.strip() for cell in table.cells(again[1])):
            raise Refusal(
                f"several tables side by side ({again[1]!r} stands over several columns)",
                "put them below each other",
            )
