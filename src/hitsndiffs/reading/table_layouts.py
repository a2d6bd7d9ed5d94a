"""Find the layout of a plain table (one row per user, answer or item) and its columns' roles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from statistics import mean, pstdev

from hitsndiffs.data.encoding import long_columns
from hitsndiffs.data.encoding.names import find_column, listed, recognise
from hitsndiffs.errors import InputError
from hitsndiffs.reading.aggregates import refuse_aggregates
from hitsndiffs.reading.build import FileTable, cells_at, column_cells, find_layout
from hitsndiffs.reading.build_turned import item_column
from hitsndiffs.reading.content import look_at
from hitsndiffs.reading.crossed import crossed, item_of_several
from hitsndiffs.reading.extra_rows import named_rows
from hitsndiffs.reading.formats.base import Column, Refusal
from hitsndiffs.reading.joined import JoinedTable, joined_name
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.roles import WideRoles, wide_roles
from hitsndiffs.reading.scored import holds_points
from hitsndiffs.reading.turned import is_key_beside_users, refuse_questions, turned_round
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["Layout", "find_table_layout", "layout_with_groups", "left_out_note", "no_items"]

#: Wider tables are refused, as every column costs time.
WIDEST_TABLE = 250_000
_MOST_SAMPLE = 5000
#: Tables with more items than this are not tables of points.
_MOST_POINTS = 500
#: So many rows are looked at for marks of right answers.
_ROWS_OF_MARKS = 200


@dataclass
class Layout:
    """How a plain table is read.

    Parameters
    ----------
    name
        ``"wide"``, ``"long"`` or ``"transposed"``.
    why
        The reason.
    columns
        What each column is.
    roles
        The roles of a wide table.
    long
        The columns of users, items and options of a long table.
    item, users
        For a transposed table, the column of the items and those of the users.
    key
        The column that holds the key, if any (long and transposed).
    group
        The column of the users' groups, if any.
    parts
        The columns whose cells together name the items of a long table, if not a single one does.
    """

    name: str
    why: str
    columns: list[Column] = field(default_factory=list)
    roles: WideRoles | None = None
    long: tuple[str, str, str] | None = None
    item: str | None = None
    users: list[str] = field(default_factory=list)
    key: str | None = None
    group: str | None = None
    parts: list[str] = field(default_factory=list)


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

    Parameters
    ----------
    table, options
        The table, and what the caller said.
    widest
        Tables with more columns are refused.
    one_of
        Whether it is one of several files; all rows may then have the same answer to an item.
    """
    if len(table.names) > widest:
        raise InputError(
            f"{table.place.source}: the table has {len(table.names):,} columns, and more than "
            f"{widest:,} are not read; write one row per answer (user, item, option) instead."
        )
    given = {"user": options.user, "item": options.item, "option": options.option}
    if not any(given.values()) and table.has_header and options.layout == "auto":
        given = _rated_subjects(table, given)
    if options.transpose:
        return _transposed(table, options, "asked for (transpose)")
    if options.layout == "long":
        return _long(table, given, "asked for (layout)")
    if options.layout == "auto":
        refuse_aggregates(table)
        if options.items is None and find_layout(table, given) == "long":
            return _long(table, given, "there are columns of users, items and answers")
        if not any(given.values()) and options.items is None:
            if not table.has_header and (found := _headless_long(table)):
                return found
            if (columns := crossed(table)) is not None:
                given = {"user": columns.user, "item": columns.item, "option": columns.option}
                table.notes.append(
                    f"There is one answer per row: {columns.user!r} is taken as the user, "
                    f"{columns.item!r} as the item and {columns.option!r} as the answer"
                    f"{f', {columns.key!r} as the key' if columns.key else ''}."
                )
                return _long(table, given, "users and items cross", columns.key)
            if options.transpose is None:
                if turned := turned_round(table):
                    return _transposed(table, options, *turned)
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
        _refuse_points(table, roles)
    if options.items is None and _all_0_or_1(table, roles):
        table.notes.append(
            "All answers are 0 or 1 and are taken as two options; if 1 means right, these are "
            "points, and counting them is enough."
        )
    left = [c for c in roles.left_out if c.role != "identity" or "also names" not in c.reason]
    if left:
        table.notes.append(left_out_note(left))
    return Layout("wide", "one row per user, one column per item", roles.columns, roles=roles)


def _all_0_or_1(table: FileTable, roles: WideRoles) -> bool:
    """Whether the answers in the first rows are 0 and 1 only, as marks of right answers are."""
    if not 1 < len(roles.items) <= _MOST_POINTS:
        return False
    places = {name: place for place, name in enumerate(table.names)}
    rows = table.sample[:_ROWS_OF_MARKS]
    found = {row[places[n]].strip() for row in rows for n in roles.items if places[n] < len(row)}
    return found - {""} == {"0", "1"}


def left_out_note(columns: Sequence[Column]) -> str:
    """Return the note on columns that are left out, grouped by role."""
    groups: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        groups[column.role].append(column.name)
    said = "; ".join(f"{listed(names, most=3)} ({role})" for role, names in groups.items())
    return f"Left out {said}."


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


# -- one row per answer -----------------------------------------------------------------------


def _long(
    table: FileTable, given: dict[str, str | None], why: str, key: str | None = None
) -> Layout:
    if not table.has_header and not any(given.values()):
        if len(table.names) < 3:
            raise InputError(
                f"{table.place.source}: a long table needs three columns (user, item, option); "
                f"this one has {len(table.names)}."
            )
        given = dict(zip(("user", "item", "option"), table.names, strict=False))
        table.notes.append("Took the first three columns as user, item and option.")
    given = _user_of_several(table, given)
    parts = item_of_several(table, given["user"]) if table.has_header and not given["item"] else []
    if parts:
        given = {**given, "item": joined_name(parts)}
    if len(parts) > 1:
        table = JoinedTable(table, parts)
    given, gold = _without_gold(table, given)
    key = key or gold
    unused = {key, *parts} if len(parts) > 1 else {key}
    names = [name for name in table.names if name not in unused]
    chosen = long_columns(names, given, table.place, [])
    if key is None:
        key = _key_column(table, chosen)
    long_columns([name for name in names if name != key], given, table.place, table.notes)
    columns = []
    for place, name in enumerate(table.names):
        if name in chosen:
            role = ("user", "item", "answers")[chosen.index(name)]
            columns.append(Column(name, role, f"the {role} of each row", place))  # type: ignore[arg-type]
        elif name == key:
            columns.append(Column(name, "key", "the right answer of each row's item", place))
        else:
            columns.append(Column(name, "unused", "not needed", place))
    return Layout("long", why, columns, long=chosen, key=key, parts=parts)


def _rated_subjects(table: FileTable, given: dict[str, str | None]) -> dict[str, str | None]:
    """Take the subjects as items if raters judge them."""
    if recognise("item", table.names) or len(table.names) > _MOST_POINTS:
        return given
    users = recognise("user", table.names)
    subjects = [name for name in users if plain(name).startswith("subject")]
    raters = [name for name in users if name not in subjects]
    if len(subjects) == 1 == len(raters) and recognise("option", table.names):
        cells = column_cells(table, subjects[0])
        if len(set(cells)) < len(cells):
            return {**given, "user": raters[0], "item": subjects[0]}
    return given


def _user_of_several(table: FileTable, given: dict[str, str | None]) -> dict[str, str | None]:
    """Among columns that may name users, skip those that describe the item."""
    fitting = recognise("user", table.names) if table.has_header else []
    item = given["item"] or next(iter(recognise("item", table.names)), None)
    if given["user"] is not None or len(fitting) < 2 or item is None:
        return given
    free = [name for name in fitting if name != item and not _one_per_item(table, item, name)]
    return {**given, "user": free[0]} if free and free[0] != fitting[0] else given


def _without_gold(
    table: FileTable, given: dict[str, str | None]
) -> tuple[dict[str, str | None], str | None]:
    """Tell a column of right answers from the answers: it has a single value per item."""
    if given["option"] is not None or not table.has_header:
        return given, None
    item = given["item"] or next(iter(recognise("item", table.names)), None)
    fitting = [n for n in recognise("option", table.names) if n not in (given["user"], item)]
    if item is None or len(fitting) < 2:
        return given, None
    fixed = [name for name in fitting if _one_per_item(table, item, name)]
    free = [name for name in fitting if name not in fixed]
    if not fixed or not free or fixed[0] != fitting[0]:
        return given, None
    gold, answer = fixed[0], free[0]
    if not set(column_cells(table, gold)) & set(column_cells(table, answer)):
        return {**given, "option": answer}, None
    table.notes.append(
        f"{gold!r} has one value for each item and is taken as the key, {answer!r} as the answers."
    )
    return {**given, "option": answer}, gold


def _one_per_item(table: FileTable, item: str, name: str) -> bool:
    values: dict[str, set[str]] = defaultdict(set)
    seen: Counter[str] = Counter()
    for label, value in zip(column_cells(table, item), column_cells(table, name), strict=False):
        values[label].add(value.strip())
        seen[label] += 1
    several = [label for label, count in seen.items() if count > 1]
    return bool(several) and all(len(values[label]) == 1 for label in several)


def _key_column(table: FileTable, chosen: tuple[str, str, str]) -> str | None:
    """Return a column named like a key whose values occur as answers."""
    answers = {cell.strip().casefold() for cell in column_cells(table, chosen[2])}
    for name in table.names:
        if name in chosen or role_of_name(name) != "key":
            continue
        values = {cell.strip().casefold() for cell in column_cells(table, name)} - {""}
        if values and len(values & answers) * 2 >= len(values):
            table.notes.append(f"{name!r} is taken as the key.")
            return name
    return None


def _headless_long(table: FileTable) -> Layout | None:
    """Recognise three columns without a header: users, items and a few answers."""
    rows = table.sample
    width = len(table.names)
    if not 3 <= width <= 5 or len(rows) < 6:
        return None
    kinds = [look_at(cells_at(table, k)).kind for k in range(width)]
    used = [k for k in range(width) if width == 3 or kinds[k] not in ("time", "measure", "counter")]
    if len(used) != 3:
        return None
    columns = [[row[k].strip() for row in rows if len(row) == width] for k in used]
    distinct = [len(set(column)) for column in columns]
    option = min(range(3), key=lambda k: (distinct[k], -k))
    ids = [k for k in range(3) if k != option]
    answers = set(columns[option])
    few = distinct[option] <= max(2, min(50, len(rows) // 3))
    repeat = all(distinct[k] * 1.5 < len(rows) and distinct[k] > 2 for k in ids)
    strange = all(len(set(columns[k]) - answers) * 2 > distinct[k] for k in ids)
    pairs = len(set(zip(columns[ids[0]], columns[ids[1]], strict=True)))
    if not (few and repeat and strange and pairs * 10 > len(rows) * 8):
        return None
    # items have about equally many answers; users differ much more
    spread = [_spread(columns[k]) for k in ids]
    user, item = (ids[0], ids[1]) if spread[0] >= spread[1] else (ids[1], ids[0])
    user, item, option = (used[k] for k in (user, item, option))
    chosen = tuple(table.names[k] for k in (user, item, option))
    words = ("first", "second", "third", "fourth", "fifth")
    table.notes.append(
        f"There is one answer per row: the {words[user]} column is taken as the user, the "
        f"{words[item]} as the item and the {words[option]} as the answer."
    )
    found = [
        Column(table.names[user], "user", "repeats unevenly", user),
        Column(table.names[item], "item", "repeats evenly", item),
        Column(table.names[option], "answers", "a few values that repeat", option),
    ]
    found += [
        Column(name, "unused", "not needed", k)
        for k, name in enumerate(table.names)
        if k not in used
    ]
    why = "three columns without a header, two of labels that repeat and one of a few answers"
    return Layout("long", why, found, long=chosen)  # type: ignore[arg-type]


def _spread(cells: Sequence[str]) -> float:
    counts = list(Counter(cells).values())
    return pstdev(counts) / mean(counts) if counts else 0.0


# -- one row per item -------------------------------------------------------------------------


def _transposed(
    table: FileTable, options: ReadingOptions, why: str, people: Sequence[str] = ()
) -> Layout:
    notes = table.notes
    if options.item is not None:
        item: str | None = str(
            find_column(options.item, table.names, where=table.place.source, argument="item")
        )
    elif not options.transpose and "right answer" in why and not recognise("item", table.names):
        item = table.names[0]
        notes.append(f"Took the first column ({item!r}) as the item column.")
    else:
        item = item_column(table, notes)
    if options.transpose:
        users = [name for name in table.names if name != item]
        named = [n for n in users if table.has_header and role_of_name(n) == "key"]
        key = named[0] if len(named) == 1 else None
        users = [name for name in users if name != key]
        columns: list[Column] = []
    else:
        roles = wide_roles(table.names, table.sample, user=item or table.names[0])
        users = [n for n in roles.items if any(cell.strip() for cell in column_cells(table, n))]
        columns = [c for c in roles.columns if c.role not in ("item", "user")]
        if people:
            reason = "neither a user nor the key"
            columns += [Column(n, "unused", reason) for n in users if n not in people]
            columns = [c for c in columns if c.name not in people]
            users = list(people)
        keys = [c.name for c in columns if c.role == "key"]
        keys = keys or [c.name for c in columns if is_key_beside_users(c.name)]
        key = keys[0] if keys else None
        notes.append("The rows are items and the columns users (overrule with the layout wide).")
        others = [column for column in columns if column.name != key]
        if others:
            notes.append(left_out_note(others))
    places = {name: place for place, name in enumerate(table.names)}
    columns += [Column(name, "user", "the answers of one user", places[name]) for name in users]
    if item is not None:
        columns.append(Column(item, "item", "names the items", places[item]))
    if key is not None and not any(c.name == key for c in columns):
        columns.append(Column(key, "key", "named like a key", places[key]))
    columns.sort(key=lambda column: column.position)
    return Layout("transposed", why, columns, item=item, users=users, key=key)


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
    if holds_points([cells[n] for n in roles.items], [cells[n] for n in totals]):
        raise Refusal(
            f"a table of points per question ({listed(roles.items, most=2)}), without answers",
            "export the answers that each person chose, or name the items if these are choices",
        )
