"""Rows of a table that are no people: keys, summaries, second headers, titles, remarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from hitsndiffs.data.words import count
from hitsndiffs.reading.fold import is_blank_word
from hitsndiffs.reading.layouts.content import ColumnContent, look_at
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import (
    FIRST_NAMES,
    LAST_NAMES,
    is_key_mark,
    is_key_name,
    is_summary_name,
    plain,
    role_of_name,
)

__all__ = [
    "BOTTOM",
    "TOP",
    "first_line_below",
    "named_rows",
    "nameless_rows",
    "row_names",
    "row_of_points",
    "rows_apart",
    "rows_of_text",
    "without_other_rows",
]

#: Rows that are no people are looked for among this many at the top and at the bottom.
TOP, BOTTOM = 3, 8
#: In more than this share of the rows, a word is an answer or a status, not a row's name.
_FEW = 0.05
#: So many rows tell what a column holds; with fewer than the first number, they do not.
_ENOUGH, _MOST = 5, 200
#: Points tell the key of at least so many people and items, if they fit so large a share of them.
_PEOPLE, _NEARLY = 8, 0.95
#: Wider tables are looked at in so many columns.
_WIDEST = 1000
#: Unfinished attempts are at most this share of the rows.
_SOME = 0.25
#: A name has fewer words and letters than this, and fewer long words in lower case.
_WORDS, _LETTERS, _LOWER = 6, 50, 2
_SIGNS = re.compile(r"[*†‡#(].*|.*[:.!]|.*: .*|\d+\).*", re.DOTALL)
#: Titles of parts of a table: Class 7b, Section 2.
_TITLE = re.compile(
    r"(?:class|section|group|period|klasse|gruppe|classe|groupe|clase|grupo|gruppo)\b.*",
    re.IGNORECASE,
)


# -- keys and summaries, by a name in any column ----------------------------------------------


def named_rows(columns: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """Return the rows that some column names as a key or a summary, with that name.

    Examples
    --------
    >>> named_rows({"id": ["", "7", "8", "9"], "name": ["Answer key", "Ann", "Bob", "Average"]})
    {0: 'Answer key', 3: 'Average'}
    """
    found: dict[int, str] = {}
    for name, texts in row_names(columns).items():
        n = len(texts)
        edge = {*range(min(TOP, n)), *range(max(0, n - BOTTOM), n)}
        is_key = is_key_mark if role_of_name(name) in ("comment", "points") else is_key_name
        own = [k for k, text in enumerate(texts) if text and is_key(text)]
        own += [k for k in sorted(edge) if texts[k] and is_summary_name(texts[k])]
        if own and len(own) <= max(4, _FEW * n) and len({texts[k] for k in own}) * 2 > len(own):
            for k in own:
                found.setdefault(k, texts[k])
    return dict(sorted(found.items()))


def row_names(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the texts that may name the rows: first and last name are one text.

    Examples
    --------
    >>> row_names({"ID": ["7"], "Last name": ["Key"], "First name": ["Ann"]})
    {'ID': ['7'], 'First name Last name': ['Ann Key']}
    """
    found = {name: [cell.strip() for cell in cells] for name, cells in columns.items()}
    first, last = (
        next((n for n in columns if plain(n) in own), None) for own in (FIRST_NAMES, LAST_NAMES)
    )
    if first is not None and last is not None and first != last:
        pairs = zip(found.pop(first), found.pop(last), strict=True)
        found[f"{first} {last}"] = [" ".join(filter(None, pair)) for pair in pairs]
    return found


def rows_apart(
    labels: Mapping[str, Sequence[str]],
    answers: Sequence[Sequence[str]],
    names: Sequence[Sequence[str]] = (),
) -> dict[int, str]:
    """Return the rows that ``labels`` name as a key or a summary, and whose answers look the part.

    ``names`` are the columns of the users: a row with a user's id is a person called Key.

    Examples
    --------
    >>> names = {"name": ["KEY", "Max", "Bob", "Mean"]}
    >>> rows_apart(names, [["A", "A", "B", "0.4"], ["B", "B", "B", "0.7"], ["A", "B", "A", "0.5"]])
    {0: 'KEY', 3: 'Mean'}
    """
    found: dict[int, str] = {}
    for row, label in named_rows(labels).items():
        if any(_is_person(row, label, own, ids) for own in labels.values() for ids in names):
            continue
        filled = [column for column in answers if column[row].strip()]
        alone = sum(_is_alone(column, row) for column in filled)
        key = is_key_name(label) and filled and alone <= 0.5 * len(filled)
        no_answers = not filled or (len(filled) >= 3 and alone >= 0.6 * len(filled))
        if key or (is_summary_name(label) and no_answers):
            found[row] = label
    return found


def _is_person(row: int, label: str, column: Sequence[str], ids: Sequence[str]) -> bool:
    """Whether a row has an id like all others, and its name is one that a person may have."""
    if column[row].strip() != label or is_key_name(ids[row]):
        return False
    shapes = Counter(_shape(text) for text in ids)
    if not ids[row].strip() or shapes[_shape(ids[row])] * 2 <= len(ids):
        return False
    others = [text.strip() for k, text in enumerate(column) if k != row and text.strip()]
    shouted = label.isupper() and not sum(map(str.isupper, others)) * 2 > len(others)
    short = sum(len(text.split()) > len(label.split()) for text in others) * 2 > len(others)
    numbered = sum(any(map(str.isdigit, text)) for text in others) * 2 > len(others)
    return not (shouted or short or numbered or len(label.split()) > 1)


def row_of_points(
    points: Mapping[str, Sequence[str]],
    answers: Sequence[Sequence[str]],
    about: Sequence[Sequence[str]] = (),
) -> tuple[int, str] | None:
    """Return the row that the others' points count agreement with, and the column of points.

    Somebody who answered all right agrees with the points too: the row of a key has no such points,
    or lacks all that the others tell ``about`` themselves.

    Examples
    --------
    >>> rows = ["ABCDABCD", *("ABCDABCD"[:k] + "DABCDABC"[k:] for k in range(8))]
    >>> answers = [list(column) for column in zip(*rows)]
    >>> row_of_points({"right": ["", *map(str, range(8))]}, answers)
    (0, 'right')
    >>> row_of_points({"right": list("801234567")}, answers) is None
    True
    """
    n_rows = min(map(len, answers), default=0)
    if n_rows <= _PEOPLE or len(answers) < _PEOPLE:
        return None
    people = range(0, n_rows, max(1, n_rows // _MOST))
    numbers = {name: {k: _number(cells[k]) for k in people} for name, cells in points.items()}
    enough = len(people) / 2
    numbers = {
        name: own for name, own in numbers.items()
        if sum(number is not None for number in own.values()) > enough
    }  # fmt: skip
    if not numbers:
        return None
    edge = [*range(TOP), *range(max(TOP, n_rows - BOTTOM), n_rows)]
    seen = {*people, *edge}
    texts = [{k: column[k].strip().casefold() for k in seen} for column in answers]
    for row in edge:
        filled = [column for column in texts if column[row] and not is_blank_word(column[row])]
        if len(filled) < max(_PEOPLE, len(answers) / 2):
            continue
        agree = {k: sum(column[k] == column[row] for column in filled) for k in people if k != row}
        for name, own in numbers.items():
            known = [k for k in agree if own[k] is not None]
            same = sum(agree[k] == own[k] for k in known)
            varied = len({own[k] for k in known}) > 2
            if len(known) < _PEOPLE or not varied or same < _NEARLY * len(known):
                continue
            full = _number(points[name][row]) == len(filled)
            if not full or (len(about) > 1 and all(_lacks(row, column) for column in about)):
                return row, name
    return None


def _number(text: str) -> float | None:
    """Return the number in a cell, or None."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _lacks(row: int, column: Sequence[str]) -> bool:
    """Whether a cell is blank and hardly any other is."""
    return (
        not column[row].strip()
        and sum(not cell.strip() for cell in column) <= _FEW * len(column) + 1
    )


def _shape(text: str) -> str:
    """Return what an id looks like: letters and digits, whichever they are."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text.strip()))


def _is_alone(column: Sequence[str], row: int) -> bool:
    """Whether no other row has the same answer, ignoring case."""
    text = column[row].strip().casefold()
    return sum(cell.strip().casefold() == text for cell in column) == 1


# -- titles and remarks, and rows without a name ----------------------------------------------


def rows_of_text(
    names: Sequence[Sequence[str]], answers: Sequence[Sequence[str]], items: list[str]
) -> list[int]:
    """Return the rows that hold a remark below the table, the title of a part, or the header again.

    A row without answers may also be a person who gave none. It is a remark if it follows the last
    answer and is written like a sentence or stands below a blank row, and a title if it names a
    class or the names of the items follow.

    Examples
    --------
    >>> rows_of_text([["ann", "bob", "cem", "Source: the office"]], [["A", "B", "", ""]], ["q1"])
    [3]
    """
    n_rows = min(map(len, names), default=0)
    blank = [not any(column[row].strip() for column in answers) for row in range(n_rows)]
    told = [" ".join(column[row].strip() for column in names).strip() for row in range(n_rows)]
    end = n_rows
    while end and blank[end - 1]:
        end -= 1
    found = []
    apart = False
    for row in range(end, n_rows):
        apart = apart or not told[row]
        if told[row] and (apart or is_remark(told[row])):
            found.append(row)
    again = [
        row
        for row in range(end)
        if all(column[row].strip() == item for column, item in zip(answers, items, strict=True))
    ]
    titles = [row for row in range(end) if blank[row] and told[row]]
    found += again
    found += [row for row in titles if row + 1 in again or _TITLE.fullmatch(told[row])]
    return sorted(found)


def is_remark(text: str) -> bool:
    """Whether a text is written like a sentence, not like a name.

    Examples
    --------
    >>> [is_remark(t) for t in ("Maria de la Cruz", "* absent", "Printed by the school office")]
    [False, True, True]
    """
    words = text.split()
    lower = sum(word.islower() and len(word) > 3 for word in words)
    long = len(words) >= _WORDS or len(text) >= _LETTERS or lower >= _LOWER
    return long or _SIGNS.fullmatch(text.strip()) is not None


def first_line_below(rows: Sequence[tuple[int, int, list[str]]], width: int) -> int | None:
    """Return the line below the table from which on there are remarks only, or None.

    They have few cells, and follow a blank line or are written like sentences. ``rows`` are given
    with the lines on which each begins and ends.

    Examples
    --------
    >>> table = [(1, 1, ["ann", "A", "B"]), (2, 2, ["bob", "A", "A"])]
    >>> first_line_below([*table, (4, 4, ["Source"])], 3), first_line_below(table, 3)
    (3, None)
    >>> first_line_below([*table, (3, 3, ["cem", "A"])], 3) is None  # a row was cut off
    True
    """
    filled = [row for row in rows if any(cell.strip() for cell in row[2])]
    start, most = len(filled), max(1, min(width - 1, width // 3))
    while start and len(filled[start - 1][2]) <= most:
        start -= 1
    below = filled[start:]
    if not below or not start:
        return None
    end = filled[start - 1][1] + 1
    said = all(len(row) == 1 and is_remark(row[0]) for _, _, row in below)
    return end if said or below[0][0] > end else None


def nameless_rows(
    names: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]
) -> dict[int, str]:
    """Return the rows at the edges that name no user and whose cells no other row has.

    They hold the texts of the questions, their points, or sums. Small tables have none.

    Examples
    --------
    >>> items = [["Why?", *"ABABABAB"], ["Who?", *"BBAABBAA"], *[["How?", *"AAAABBBB"]] * 2]
    >>> nameless_rows([["", *"abcdefgh"]], items)
    {0: 'row 1 below the header'}
    """
    found: dict[int, str] = {}
    n_rows = min(map(len, names), default=0)
    edges = [*range(TOP), *range(max(TOP, n_rows - BOTTOM), n_rows)] if n_rows > 8 else []
    for row in edges:
        filled = [column for column in answers if column[row].strip()]
        enough = len(filled) >= max(4, len(answers) / 2)
        named = any(column[row].strip() for column in names)
        if enough and not named and all(_is_alone(column, row) for column in filled):
            found[row] = f"row {row + 1} below the header"
    return found


# -- second headers and unfinished attempts, by their cells -----------------------------------


def without_other_rows(table: Table) -> Table:
    """Return the table without second headers and without attempts that were not handed in."""
    if not table.is_small or not table.has_header or len(table.sample) < _ENOUGH:
        return table
    drop = dict.fromkeys(_second_headers(table.sample[:_MOST], len(table.names)))
    why = "of a second header"
    if not drop:
        why = "without an end and without points: not finished"
        drop = dict.fromkeys(_unfinished(table))
    if not drop:
        return table
    kept = table.without_rows(drop)
    kept.notes.append(f"Left out {count(len(drop), 'row')} {why} ({table.place.rows([*drop])}).")
    return kept


def _second_headers(rows: Sequence[list[str]], width: int) -> list[int]:
    """Return which of the first rows hold names, ids or texts of the columns.

    No cell of them recurs below, and words stand where all other rows have times or numbers.
    """
    columns = [[row[k].strip() for row in rows if k < len(row)] for k in range(min(width, _WIDEST))]
    columns = [cells for cells in columns if len(cells) == len(rows)]
    contents = [look_at(cells[TOP:]) for cells in columns]
    found = []
    for row in range(min(TOP, len(rows) - _ENOUGH)):
        cells = [(cells[row], own) for cells, own in zip(columns, contents, strict=True)]
        filled = [(cell, own) for cell, own in cells if cell and own.n_filled]
        strange = sum(_is_strange(cell, own) for cell, own in filled)
        again = sum(cell in own.counts for cell, own in filled)
        if strange < 2 or again * 10 > len(filled) or len(filled) * 2 < len(columns):
            break
        found.append(row)
    return found


def _is_strange(cell: str, below: ColumnContent) -> bool:
    """Whether a cell is a text where all others are numbers, times or addresses."""
    own = look_at([cell])
    text = own.kind in ("choice", "text", "different", "record") and not own.is_number
    plain_kinds = ("time", "mail", "link", "score", "measure", "counter")
    return text and not is_blank_word(cell) and (below.kind in plain_kinds or below.is_number)


def _unfinished(table: Table) -> list[int]:
    """Return the rows that have neither a time nor points where nearly all others have both."""
    roles = [role_of_name(name) for name in table.names[:_WIDEST]]
    if "points" not in roles:
        return []
    blank: dict[str, list[set[int]]] = {"time": [], "points": []}
    for place, said in enumerate(roles):
        cells = [row[place].strip() if place < len(row) else "" for row in table.sample]
        role = said if said in blank else "time" if look_at(cells).kind == "time" else None
        rows = {k for k, cell in enumerate(cells) if not cell or is_blank_word(cell)}
        if role is not None and len(rows) <= _SOME * len(cells):
            blank[role].append(rows)
    if not blank["points"]:
        return []
    pointless = set.intersection(*blank["points"])
    return sorted(row for row in pointless if any(row in rows for rows in blank["time"]))
