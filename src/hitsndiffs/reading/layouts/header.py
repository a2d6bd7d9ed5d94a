"""Tell from the first rows of a file whether they hold a header, ids or answers."""

from __future__ import annotations

from collections.abc import Sequence

from hitsndiffs.data.cells import Option, normalise
from hitsndiffs.data.names import recognise
from hitsndiffs.reading.vocabulary import is_key_name, role_of_name

__all__ = ["has_header", "header_place", "looks_like_ids"]

Rows = Sequence[Sequence[str]]


def has_header(first: Sequence[str], body: Rows) -> bool:
    """Whether the first row of a file holds names, rather than answers.

    A row of names differs from the rows below it: its cells do not occur there as answers.

    Examples
    --------
    >>> has_header(["user", "q1", "q2"], [["ann", "1", "2"], ["bob", "2", "2"]])
    True
    >>> has_header(["1", "2", "2"], [["2", "2", "1"], ["1", "1", "1"]])
    False
    """
    cells = [cell.strip() for cell in first]
    if any(map(is_key_name, cells[:3])) and _share_in_place(cells, body) >= 0.6:
        return False  # the first row is a key, not names
    if any(recognise(role, cells, wide=True) for role in ("user", "item", "option")):
        return True
    rest = cells[1:]
    if _counts_up(cells) or _counts_up(rest):
        return True
    if not body:
        return not all(_is_number(cell) for cell in cells)
    if _are_answers(cells, body, 0):
        return False
    # The first cell may be the name of a user.
    return not (
        len(rest) > 1
        and cells[0] != ""
        and _are_answers(rest, body, 1)
        and looks_like_ids([cells[0], *(row[0] for row in body if row)], body)
    )


def _are_answers(cells: Sequence[str], body: Rows, skip: int) -> bool:
    """Whether the cells (or half of them, if they are repeating numbers) are answers below."""
    options = [normalise(cell) for cell in cells]
    known = [option for option in options if option is not None]
    if not known:
        return False
    below = _options(body, skip)
    found = sum(option in below for option in known)
    if found == len(known):
        return True
    # Names are all different; answers repeat, and a few may occur only here.
    numbers = all(isinstance(option, int) for option in known)
    return numbers and len(set(known)) < len(known) and found * 2 >= len(known)


def _options(rows: Rows, skip: int) -> set[Option | None]:
    """Return the different options in some rows, skipping their first ``skip`` cells."""
    texts = {cell for row in rows for cell in row[skip:]}
    return {normalise(text) for text in texts} - {None}


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether the cells are 1, 2, 3, … (or 0, 1, 2, …): numbers of columns, not answers."""
    numbers = [normalise(cell) for cell in cells]
    if len(numbers) < 3 or not isinstance(numbers[0], int):
        return False
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _is_number(cell: str) -> bool:
    return cell in ("", "NA") or isinstance(normalise(cell), int)


def looks_like_ids(column: Sequence[str], rows: Rows) -> bool:
    """Whether the first column holds ids: none missing, all different, and not used as answers.

    Examples
    --------
    >>> rows = [["a17", "1", "2"], ["a18", "2", "2"]]
    >>> looks_like_ids([row[0] for row in rows], rows)
    True
    """
    ids = [normalise(cell) for cell in column]
    if len(ids) < 2 or None in ids or len(set(ids)) < len(ids):
        return False
    answers = _options(rows, 1)
    if not answers:
        return False
    strange = sum(value not in answers for value in ids)
    return strange * 2 > len(ids) or (strange > 0 and _counts_up(list(map(str, column))))


#: The header is looked for in this many rows.
_MOST_ABOVE = 20


def header_place(rows: Rows) -> int | None:
    """Return which of the first rows holds the column names; None if none does.

    Above it there may be titles (rows with few cells) and a key (a row of answers).

    Examples
    --------
    >>> header_place([["Quiz 1", "", ""], ["who", "q1", "q2"], ["a", "x", "y"], ["b", "x", "y"]])
    1
    >>> header_place([["", "x", "y"], ["who", "q1", "q2"], ["a", "x", "y"], ["b", "x", "z"]])
    1
    """
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    if not filled:
        return None
    widths = {len(row) for row in rows[1:]}
    if widths == {len(rows[0]) + 1} and filled[0] == len(rows[0]):
        return 0  # R writes no name above its row names
    below = sorted(filled[len(filled) // 3 :])
    typical = below[len(below) // 2]
    first = next(
        (k for k, n in enumerate(filled[:_MOST_ABOVE]) if n * 3 > typical and n >= min(2, typical)),
        0,
    )
    if first + 2 < len(rows):
        two = [_share_below(rows, first), _share_below(rows, first + 1)]
        wide = filled[first + 1] * 2 > typical
        if two[0] >= 0.6 and two[1] <= 0.2 and wide and _are_names(rows, first + 1):
            return first + 1
    if not has_header(rows[first], rows[first + 1 :]):
        return None
    return first + _names_the_users(rows, first)


def _names_the_users(rows: Rows, first: int) -> bool:
    """Whether the row below a header is one too: it names the users, where that one is blank."""
    if first + 3 >= len(rows):
        return False
    upper, lower = rows[first], rows[first + 1]
    left = [cell.strip() for cell, above in zip(lower, upper, strict=False) if not above.strip()]
    named = any(recognise("user", [cell], wide=True) or role_of_name(cell) for cell in left if cell)
    return named and _share_in_place(lower, rows[first + 2 :]) == 0 and _are_names(rows, first + 1)


def _are_names(rows: Rows, place: int) -> bool:
    """Whether most cells of a row do not occur below it."""
    cells = {cell.strip() for cell in rows[place]} - {""}
    below = {cell.strip() for row in rows[place + 1 :] for cell in row}
    return len(cells) > 2 and len(cells & below) * 2 < len(cells)


def _share_below(rows: Rows, place: int) -> float:
    """Return the share of a row's cells (but the first) that recur further down their column."""
    below = rows[place + 2 if place + 2 < len(rows) else place + 1 :]
    return _share_in_place(rows[place], below)


def _share_in_place(first: Sequence[str], below: Rows) -> float:
    """Return the share of a row's cells (but the first) that recur in their column."""
    cells = [(k, cell.strip()) for k, cell in enumerate(first) if k and cell.strip()]
    found = sum(cell in {row[k].strip() for row in below if k < len(row)} for k, cell in cells)
    return found / len(cells) if cells else 0.0
