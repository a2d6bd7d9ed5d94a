"""Find the layout of a plain table (one row per user, answer or item) and its columns' roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column, Refusal
from hitsndiffs.reading.layouts.crossed import crossed
from hitsndiffs.reading.layouts.extra_rows import named_rows
from hitsndiffs.reading.layouts.layout import Layout, left_out_note
from hitsndiffs.reading.layouts.long_tables import (
    headless_layout,
    is_long,
    long_layout,
    rated_subjects,
)
from hitsndiffs.reading.layouts.no_people import (
    refuse_other_text,
    refuse_shares,
    refuse_tables_beside,
)
from hitsndiffs.reading.layouts.roles import WideRoles, wide_roles
from hitsndiffs.reading.layouts.scored import are_grades, holds_points
from hitsndiffs.reading.layouts.turned import (
    refuse_aggregates,
    refuse_questions,
    turned_layout,
    turned_round,
)
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.tables.file_table import FileTable
from hitsndiffs.reading.vocabulary import tokens

__all__ = ["all_0_or_1", "find_table_layout", "layout_with_groups", "no_items"]

#: Wider tables are refused, as every column costs time.
WIDEST_TABLE = 250_000
_MOST_SAMPLE = 5000
#: Tables with more items than this are not tables of points.
_MOST_POINTS = 500
#: What is graded as a whole.
_GRADED = {
    "homework", "hw", "assignment", "assignments", "midterm", "exam", "quiz", "test", "lab",
    "project", "essay", "final", "klausur", "hausaufgabe", "devoir", "examen", "tarea", "compito",
}  # fmt: skip
#: So many rows are looked at for marks of right answers.
_ROWS_OF_MARKS = 200


def layout_with_groups(
    table: FileTable, options: ReadingOptions, group: str, *, one_of: bool = False
) -> Layout:
    """Find the layout of a table that also has a column of groups."""
    place = table.names.index(group)
    others = copy(table)
    others.names = [name for name in table.names if name != group]
    others.sample = [[*row[:place], *row[place + 1 :]] for row in table.sample]
    layout = find_table_layout(others, options, one_of=one_of)
    if layout.name == "transposed":
        raise InputError(
            f"{table.place.source}: the users stand in columns, so no column ({group!r}) can hold "
            "their groups; give the groups as a table of two columns, users and groups."
        )
    layout.group = group
    columns = [replace(c, position=c.position + (c.position >= place)) for c in layout.columns]
    columns.append(Column(group, "group", "given as group", place))
    layout.columns = sorted(columns, key=lambda column: column.position)
    return layout


def find_table_layout(
    table: FileTable, options: ReadingOptions, *, widest: int = WIDEST_TABLE, one_of: bool = False
) -> Layout:
    """Find the layout of a plain table, or follow what the caller said.

    Tables with more columns than ``widest`` are refused. If it is ``one_of`` several files, all
    rows may have the same answer to an item.
    """
    if len(table.names) > widest:
        raise InputError(
            f"{table.place.source}: the table has {len(table.names):,} columns, and more than "
            f"{widest:,} are not read; write one row per answer (user, item, option) instead."
        )
    given = {"user": options.user, "item": options.item, "option": options.option}
    if not any(given.values()) and table.has_header and options.layout == "auto":
        given = rated_subjects(table, given)
    if options.transpose:
        return turned_layout(table, options, "asked for (transpose)")
    if options.layout == "long":
        return long_layout(table, given, "asked for (layout)")
    if options.layout == "auto":
        refuse_aggregates(table)
        refuse_shares(table)
        refuse_other_text(table)
        if options.items is None and is_long(table, given):
            return long_layout(table, given, "there are columns of users, items and answers")
        if not any(given.values()) and options.items is None:
            if not table.has_header and (found := headless_layout(table)):
                return found
            if (columns := crossed(table)) is not None:
                given = {"user": columns.user, "item": columns.item, "option": columns.option}
                table.notes.append(
                    f"There is one answer per row: {columns.user!r} is taken as the user, "
                    f"{columns.item!r} as the item and {columns.option!r} as the answer"
                    f"{f', {columns.key!r} as the key' if columns.key else ''}."
                )
                return long_layout(table, given, "users and items cross", columns.key)
            if options.transpose is None:
                if turned := turned_round(table):
                    return turned_layout(table, options, *turned)
                refuse_questions(table)
    return _wide(table, options, one_of)


def _wide(table: FileTable, options: ReadingOptions, one_of: bool) -> Layout:
    roles = wide_roles(
        table.names,
        table.sample[:_MOST_SAMPLE],
        has_header=table.has_header,
        user=options.user,
        items=options.items,
        drop=options.drop,
        where=table.place.source,
        one_of=one_of,
    )
    table.notes += roles.notes
    if options.items is None and table.has_header:
        refuse_tables_beside(table, roles)
        _refuse_points(table, roles)
    if options.items is None and all_0_or_1(table, roles.items):
        table.notes.append(
            "All answers are 0 or 1 and are taken as two options; if 1 means right, these are "
            "points, and counting them is enough."
        )
    left = [c for c in roles.left_out if c.role != "identity" or "also names" not in c.reason]
    if left:
        table.notes.append(left_out_note(left))
    return Layout("wide", "one row per user, one column per item", roles.columns, roles=roles)


def all_0_or_1(table: FileTable, items: Sequence[str]) -> bool:
    """Whether the answers in the first rows are 0 and 1 only, as marks of right answers are."""
    if not 1 < len(items) <= _MOST_POINTS:
        return False
    places = {name: place for place, name in enumerate(table.names)}
    rows = table.sample[:_ROWS_OF_MARKS]
    found = {row[places[n]].strip() for row in rows for n in items if places[n] < len(row)}
    return found - {""} == {"0", "1"}


def no_items(table: FileTable, roles: WideRoles) -> str:
    """Say why no column of a table holds answers."""
    name = table.place.source
    reasons = Counter(column.reason for column in roles.left_out)
    if not reasons:
        return (
            f"{name}: no item columns were found; a wide table needs one column per item (and may "
            "have one that names the users), a long table the three columns user, item and option."
        )
    why = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(3))
    return (
        f"{name}: none of the {len(table.names):,} columns holds answers that repeat ({why}); "
        "name the items if some of them do, or export the answers that each person chose."
    )


def _refuse_points(table: FileTable, roles: WideRoles) -> None:
    """Refuse a table of points per question: it holds no answers."""
    if len(roles.items) > _MOST_POINTS:
        return
    places = {name: place for place, name in enumerate(table.names)}
    totals = [c.name for c in roles.columns if c.role == "points"]
    rows = [row for row in table.sample[:_MOST_SAMPLE] if len(row) == len(table.names)]
    labels = {name: [row[places[name]] for row in rows] for name in (*roles.users, *roles.labels)}
    special = named_rows(labels)
    rows = [row for k, row in enumerate(rows) if k not in special]
    cells = {name: [row[places[name]] for row in rows] for name in (*roles.items, *totals)}
    columns = [cells[n] for n in roles.items]
    graded = all({*tokens(n)} & _GRADED for n in roles.items) and are_grades(columns)
    if graded or holds_points(columns, [cells[n] for n in totals]):
        raise Refusal(
            f"a table of points per question ({listed(roles.items, most=2)}), without answers",
            "export the answers that each person chose, or name the items if these are choices",
        )
