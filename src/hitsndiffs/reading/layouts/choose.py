"""Choose how to read a plain table: four ways, each weighed by what its columns are."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column
from hitsndiffs.reading.layouts.columns import Profiles
from hitsndiffs.reading.layouts.layout import Hypothesis, Layout, left_out_note
from hitsndiffs.reading.layouts.long import weigh_long
from hitsndiffs.reading.layouts.nobody import weigh_nobody
from hitsndiffs.reading.layouts.turned import turned_as_asked, weigh_turned
from hitsndiffs.reading.layouts.wide import Wide
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.tables.table import Table

__all__ = ["all_0_or_1", "find_layout"]

#: Wider tables are refused, as every column costs time.
WIDEST = 250_000
#: The best way to read a table leads by so much, or it is a question. Evidence of 3 settles a
#: matter and 1 is a hint, so two hints more are a lead.
LEAD = 2
#: A way needs so much evidence of its own: one piece that settles it, or several hints.
ENOUGH = 3
#: What speaks this strongly for one row per answer speaks against other layouts.
SETTLED = 4
#: Tables with more items than this are not tables of points.
MOST_MARKS = 500


def find_layout(
    table: Table, options: ReadingOptions, group: str | None = None, *, one_of: bool = False
) -> Layout:
    """Find the layout of a plain table, or follow what the caller said.

    If it is ``one_of`` several files, all rows may have the same answer to an item. A column of
    groups is left aside.
    """
    if group is not None:
        return _with_group(table, options, group, one_of=one_of)
    if len(table.names) > WIDEST:
        raise InputError(
            f"{table.place.source}: the table has {len(table.names):,} columns, and more than "
            f"{WIDEST:,} are not read; write one row per answer (user, item, option) instead."
        )
    profiles = Profiles(table)
    given = {"user": options.user, "item": options.item, "option": options.option}
    if options.transpose:
        return turned_as_asked(profiles, options, "asked for (transpose)")
    if options.layout == "long" or options.item is not None or options.option is not None:
        made = weigh_long(profiles, given, asked=True).make
        assert made is not None
        return made()
    wide = Wide(profiles, options, one_of=one_of)
    if options.layout == "wide" or options.items is not None:
        return _wide_layout(table, wide)
    wide_way = wide.weigh()
    shares = not profiles.has_header and not wide.users
    turned, n_people = weigh_turned(profiles, wide.sharing if shares else 0)
    long = weigh_long(profiles, given)
    nobody = weigh_nobody(profiles, wide, n_people=n_people, is_long=long.possible)
    ways = [wide_way, long, nobody]
    if long.possible and long.score >= SETTLED:
        for way in (wide_way, turned):
            way.add(-3, "each row looks like one answer")
    wide_way.make = lambda: _wide_layout(table, wide)
    if options.user is None and options.transpose is None:
        ways.append(turned)
    if options.user is not None:
        wide_way.add(2, "the user column is given")
        wide_way.possible = bool(wide.items)
    ways = sorted((way for way in ways if way.possible), key=lambda way: -way.score)
    best = _best(ways, table, wide)
    if best.refusal is not None:
        raise best.refusal
    assert best.make is not None
    if best is wide_way and options.drop is None:
        _ask_about(wide.doubtful, table)
    layout = best.make()
    layout.scores = [str(way) for way in ways]
    return layout


def _ask_about(doubtful: list[str], table: Table) -> None:
    """Ask about columns that may or may not be items."""
    if doubtful:
        raise InputError(
            f"{table.place.source}: it is not clear which columns hold the answers: "
            f"{listed(doubtful, most=3)} may be items or not; name the items (--items), or drop "
            f"what is none (--drop {shortened(doubtful[0], 40)!r})."
        )


def _best(ways: list[Hypothesis], table: Table, wide: Wide) -> Hypothesis:
    """Return the way that leads; ask if none does."""
    name = table.place.source
    if not ways:
        raise InputError(_nothing(table, wide))
    if len(ways) == 1 or ways[0].score >= ways[1].score + LEAD:
        if ways[0].score >= ENOUGH:
            return ways[0]
        reasons = ", ".join(why for weight, why in ways[0].evidence if weight < 0)
        raise InputError(
            f"{name}: it does not look as if people answered the same questions"
            f"{f' ({reasons})' if reasons else ''}; if they did, say so with the items, or with "
            f"{ways[0].choose or 'the layout'}."
        )
    first, second = ways[:2]
    choose = " or ".join(f"{way.choose} for {way.title}" for way in (first, second) if way.choose)
    raise InputError(
        f"{name}: this may be {first.title} or {second.title}, and the cells do not tell which; "
        f"say so with {choose}."
    )


def _nothing(table: Table, wide: Wide) -> str:
    """Say why a table cannot be read in any way."""
    name = table.place.source
    if wide.items:
        return (
            f"{name}: it is not clear that people answered the same questions here: no column "
            f"names users, and the columns with choices ({listed(wide.items, most=3)}) are neither "
            "numbered nor alike; name the user column or the items, or the columns of user, item "
            "and option if each row is one answer."
        )
    reasons: dict[str, int] = {}
    for column in wide.found.values():
        if column.role != "user":
            reasons[column.reason] = reasons.get(column.reason, 0) + 1
    if not reasons:
        return (
            f"{name}: no item columns were found; a wide table needs one column per item (and may "
            "have one that names the users), a long table the three columns user, item and option."
        )
    most = sorted(reasons.items(), key=lambda pair: -pair[1])[:3]
    why = "; ".join(f"{count} × {reason}" for reason, count in most)
    return (
        f"{name}: none of the {len(table.names):,} columns holds answers that repeat ({why}); "
        "name the items if some of them do, or export the answers that each person chose."
    )


def _wide_layout(table: Table, wide: Wide) -> Layout:
    roles = wide.roles()
    table.notes += roles.notes
    if wide.asked is None and all_0_or_1(wide.all, wide.items):
        table.notes.append(
            "All answers are 0 or 1 and are taken as two options; if 1 means right, these are "
            "points, and counting them is enough."
        )
    left = [c for c in roles.left_out if c.role != "identity" or "also names" not in c.reason]
    if left:
        table.notes.append(left_out_note(left))
    return Layout("wide", "one row per user, one column per item", roles.columns, roles=roles)


def all_0_or_1(profiles: Profiles, items: Sequence[str]) -> bool:
    """Whether the answers in the first rows are 0 and 1 only, as marks of right answers are."""
    if not 1 < len(items) <= MOST_MARKS:
        return False
    return {value for name in items for value in profiles[name].values} == {"0", "1"}


def _with_group(table: Table, options: ReadingOptions, group: str, *, one_of: bool) -> Layout:
    """Find the layout of a table that also has a column of groups."""
    place = table.names.index(group)
    others = copy(table)
    others.names = [name for name in table.names if name != group]
    others.sample = [[*row[:place], *row[place + 1 :]] for row in table.sample]
    layout = find_layout(others, options, one_of=one_of)
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
