"""Tables with one row per answer: which columns hold the users, the items, the answers, the key."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import mean, pstdev

from hitsndiffs.data.encoding import long_columns
from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column, Refusal
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.layouts.crossed import item_of_several
from hitsndiffs.reading.layouts.layout import Layout
from hitsndiffs.reading.tables.file_table import FileTable
from hitsndiffs.reading.tables.joined import JoinedTable, joined_name
from hitsndiffs.reading.vocabulary import plain, role_of_name, tokens

__all__ = ["Given", "headless_layout", "is_long", "long_layout", "rated_subjects"]

#: The columns of users, items and options that the caller named.
Given = dict[str, str | None]
#: Columns that may list what was offered, and words for what was chosen of it.
_OFFERED = ("option", "label")
_GIVEN = {"answer", "response", "choice", "chosen", "selected", "picked", "vote"}
_FLAGS = {"0", "1", "true", "false", "yes", "no", "y", "n", "x", "checked", "unchecked", ""}
#: In wider tables, subjects are not looked for.
_MOST_COLUMNS = 500


def is_long(table: FileTable, given: Given) -> bool:
    """Whether each row is one answer, from the names of the columns and the first rows."""
    if given["item"] is not None or given["option"] is not None:
        return True
    fitting = {role: recognise(role, table.names) for role in given}
    if given["user"] is not None:
        fitting["user"] = [given["user"]]
    if not all(fitting.values()):
        return False
    user, item = (table.cells(fitting[role][0]) for role in ("user", "item"))
    # users or items repeat, or there is nothing but an answer in each row
    return len(table.names) == 3 or len(set(user)) < len(user) or len(set(item)) < len(item)


def rated_subjects(table: FileTable, given: Given) -> Given:
    """Take the subjects as items if raters judge them."""
    if recognise("item", table.names) or len(table.names) > _MOST_COLUMNS:
        return given
    users = recognise("user", table.names)
    subjects = [name for name in users if plain(name).startswith("subject")]
    raters = [name for name in users if name not in subjects]
    if len(subjects) == 1 == len(raters) and recognise("option", table.names):
        cells = table.cells(subjects[0])
        if len(set(cells)) < len(cells):
            return {**given, "user": raters[0], "item": subjects[0]}
    return given


def long_layout(table: FileTable, given: Given, why: str, key: str | None = None) -> Layout:
    """Return the layout of a table with one row per answer."""
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
    given = _answer_beside_option(table, given)
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


def _user_of_several(table: FileTable, given: Given) -> Given:
    """Among columns that may name users, skip those that describe the item."""
    fitting = recognise("user", table.names) if table.has_header else []
    item = given["item"] or next(iter(recognise("item", table.names)), None)
    if given["user"] is not None or len(fitting) < 2 or item is None:
        return given
    free = [name for name in fitting if name != item and not _one_per_item(table, item, name)]
    return {**given, "user": free[0]} if free and free[0] != fitting[0] else given


def _without_gold(table: FileTable, given: Given) -> tuple[Given, str | None]:
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
    if not set(table.cells(gold)) & set(table.cells(answer)):
        return {**given, "option": answer}, None
    table.notes.append(
        f"{gold!r} has one value for each item and is taken as the key, {answer!r} as the answers."
    )
    return {**given, "option": answer}, gold


def _answer_beside_option(table: FileTable, given: Given) -> Given:
    """Prefer the answer to the option or label beside it, unless they are the same choice."""
    if given["option"] is not None or not table.has_header:
        return given
    item = given["item"] or next(iter(recognise("item", table.names)), None)
    user = given["user"] or next(iter(recognise("user", table.names)), None)
    fitting = [n for n in recognise("option", table.names) if n not in (user, item)]
    better = [n for n in fitting if _is_answer(n) and not _one_per_item(table, item or "", n)]
    if item is None or user is None or not better or plain(fitting[0]) not in _OFFERED:
        return given
    option, answer = fitting[0], better[0]
    users, items = table.cells(user), table.cells(item)
    pairs = list(zip(items, table.cells(option), table.cells(answer), strict=False))
    flags = {text.strip().casefold() for text in table.cells(answer)}
    if len(set(zip(users, items, strict=False))) * 2 <= len(pairs) and flags <= _FLAGS:
        raise Refusal(
            f"a table with one row per option ({option!r}), where {answer!r} says whether it was "
            "chosen",
            "keep the rows of the options that were chosen",
        )
    offered, chosen = {(i, o) for i, o, _ in pairs}, {(i, a) for i, _, a in pairs}
    if len(set(pairs)) == len(offered) == len(chosen):
        return given  # two ways to write the same choice
    table.notes.append(
        f"{answer!r} is taken as the answers, not {option!r} (name the column to overrule this)."
    )
    return {**given, "option": answer}


def _is_answer(name: str) -> bool:
    return bool({*tokens(name)} & _GIVEN)


def _one_per_item(table: FileTable, item: str, name: str) -> bool:
    values: dict[str, set[str]] = defaultdict(set)
    seen: Counter[str] = Counter()
    for label, value in zip(table.cells(item), table.cells(name), strict=False):
        values[label].add(value.strip())
        seen[label] += 1
    several = [label for label, count in seen.items() if count > 1]
    return bool(several) and all(len(values[label]) == 1 for label in several)


def _key_column(table: FileTable, chosen: tuple[str, str, str]) -> str | None:
    """Return a column named like a key whose values occur as answers."""
    answers = {cell.strip().casefold() for cell in table.cells(chosen[2])}
    for name in table.names:
        if name in chosen or role_of_name(name) != "key":
            continue
        values = {cell.strip().casefold() for cell in table.cells(name)} - {""}
        if values and len(values & answers) * 2 >= len(values):
            table.notes.append(f"{name!r} is taken as the key.")
            return name
    return None


def headless_layout(table: FileTable) -> Layout | None:
    """Recognise three columns without a header: users, items and a few answers."""
    rows = table.sample
    width = len(table.names)
    if not 3 <= width <= 5 or len(rows) < 6:
        return None
    kinds = [look_at(table.cells_at(k)).kind for k in range(width)]
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
