"""Find rows of a table that are not users: keys, summaries and remarks, named in any column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from hitsndiffs.reading.layouts.below import is_remark
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
    "named_rows",
    "nameless_rows",
    "row_names",
    "rows_apart",
    "rows_of_text",
]

#: Summary rows are looked for among this many rows at the top and at the bottom.
TOP, BOTTOM = 3, 8
#: In more than this share of the rows, the word is an answer or a status, not a row's name.
_FEW = 0.05
#: Titles of parts of a table: Class 7b, Section 2.
_TITLE = re.compile(
    r"(?:class|section|group|period|klasse|gruppe|classe|groupe|clase|grupo|gruppo)\b.*",
    re.IGNORECASE,
)


def named_rows(columns: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """Return the rows that some column names as a key or a summary, with that name.

    Parameters
    ----------
    columns
        The cells of the columns that may name such rows; items do not.

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
    parts = [[n for n in columns if plain(n) in own][:1] for own in (FIRST_NAMES, LAST_NAMES)]
    first, last = (own[0] if own else None for own in parts)
    if first is not None and last is not None and first != last:
        pairs = zip(found.pop(first), found.pop(last), strict=True)
        found[f"{first} {last}"] = [" ".join(filter(None, pair)) for pair in pairs]
    return found


def rows_apart(
    labels: Mapping[str, Sequence[str]],
    answers: Sequence[Sequence[str]],
    names: Sequence[Sequence[str]] = (),
) -> dict[int, str]:
    """Return the rows named as a key or a summary whose cells look the part.

    Parameters
    ----------
    labels
        As in :func:`named_rows`.
    answers
        The columns of the items.
    names
        The columns that name the users. A row with a user's id is a person called Key.

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
        key = is_key_name(label) and len(filled) > 0 and alone <= 0.5 * len(filled)
        summing = is_summary_name(label) and (
            not filled or (len(filled) >= 3 and alone >= 0.6 * len(filled))
        )
        if key or summing:
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
    return not (shouted or short or len(label.split()) > 1)


def _shape(text: str) -> str:
    """Return what an id looks like: letters and digits, whichever they are.

    Examples
    --------
    >>> _shape("s-0412"), _shape("ann.lee@x.org"), _shape("KEY")
    ('a-9999', 'a.a@a.a', 'a')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text.strip()))


def rows_of_text(
    names: Sequence[Sequence[str]], answers: Sequence[Sequence[str]], items: list[str]
) -> list[int]:
    """Return the rows that hold a remark below the table, or the title of another part of it.

    A row without answers may also be a person who gave none. It is a remark if it follows the last
    answer and is written like a sentence or stands below a blank row, and a title if it names a
    class or the names of the items follow. Rows that repeat these names are returned too.

    Parameters
    ----------
    names
        The columns that name the users.
    answers
        The columns of the items.
    items
        The names of the items.

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


def nameless_rows(
    names: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]
) -> dict[int, str]:
    """Return the rows at the edges that name no user and whose cells no other row has.

    They hold the texts of the questions, their points, or sums. Nothing is returned for small
    tables.

    Parameters
    ----------
    names
        The columns that name the users.
    answers
        The columns of the items.

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


def _is_alone(column: Sequence[str], row: int) -> bool:
    """Whether no other row has the same answer, ignoring case."""
    text = column[row].strip().casefold()
    return sum(cell.strip().casefold() == text for cell in column) == 1
