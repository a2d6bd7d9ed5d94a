"""Find columns of points: beside the answers they were given for, or instead of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from hitsndiffs.reading.accord import numbers_of

__all__ = ["are_grades", "are_points", "holds_points", "points_of_answers"]

#: This many rows are enough to tell points from answers.
_ROWS = 8
#: So many answers must have points, and so many none.
_EACH = 2
#: This share of the columns must fit.
_MOST = 0.8
#: Marks beside an answer for right and wrong.
_MARKS = (
    ("v", "x"), ("c", "x"), ("✓", "✗"), ("✔", "✘"), ("correct", "incorrect"), ("right", "wrong"),
    ("true", "false"), ("y", "n"), ("yes", "no"),
)  # fmt: skip
#: Points in halves or quarters (0, 0.5, 1, …) have few steps.
_STEPS = 12


def points_of_answers(
    columns: Mapping[str, Sequence[str]],
) -> tuple[dict[str, str], dict[str, str]]:
    """Find columns with a fixed number for exactly one answer of another column, else 0.

    Return the columns of points with the columns of their answers, and these with the answer that
    gets the points.

    Examples
    --------
    >>> table = {"q1": "ABABACAB", "s1": "10101010", "q2": "BBCDBBDB", "s2": "11001101"}
    >>> points_of_answers(table)
    ({'s1': 'q1', 's2': 'q2'}, {'q1': 'A', 'q2': 'B'})
    """
    names = list(columns)
    texts = {name: _as_points(cells) for name, cells in columns.items()}
    binary = [n for n in names if are_points(texts[n]) or _are_zeros(texts[n])]
    others = [name for name in names if name not in {*binary} and len({*texts[name]} - {""}) > 1]
    if len(binary) < 2 or not others or len(texts[others[0]]) < _ROWS:
        return {}, {}
    place = {name: k for k, name in enumerate(names)}
    places = np.array([place[name] for name in others])
    answers = np.array([numbers_of(texts[name]) for name in others])
    points: dict[str, str] = {}
    key: dict[str, str] = {}
    silent = []
    for name in binary:
        known = np.array([bool(text) for text in texts[name]])
        right = np.array([bool(t) and float(t.replace(",", ".")) > 0 for t in texts[name]])
        if known.sum() < _ROWS or min(right.sum(), (known & ~right).sum()) < _EACH:
            silent.append(name)  # hardly anybody got points, or all did: this says nothing
            continue
        row = int(np.argmax(right))
        fits = (((answers == answers[:, [row]]) == right) | ~known).all(axis=1)
        fits &= [bool(texts[other][row]) for other in others]
        if fits.any():
            found = np.flatnonzero(fits)
            own = others[found[np.argmin(np.abs(places[found] - place[name]))]]
            points[name], key[own] = own, texts[own][row]
    if len(points) < 2 or len(points) < _MOST * (len(binary) - len(silent)):
        return {}, {}
    steps = Counter(place[name] - place[own] for name, own in points.items())
    at = sorted(map(place.__getitem__, points))
    stride = Counter(np.diff(at).tolist()).most_common(1)[0][0]
    first, last = at[0], at[-1]
    for name in (*silent[::-1], *silent):  # its answers stand where those of the others stand
        beside = place[name] - steps.most_common(1)[0][0]
        near = first - stride <= place[name] <= last + stride
        if near and 0 <= beside < len(names) and names[beside] in {*others}:
            points[name] = names[beside]
            first, last = min(first, place[name]), max(last, place[name])
    return points, key


def _as_points(texts: Sequence[str]) -> list[str]:
    """Write marks for right and wrong as 1 and 0; other texts stay as they are."""
    texts = [text.strip() for text in texts]
    distinct = set(texts)
    found = {text.casefold() for text in distinct} - {""} if len(distinct) < 4 else set()
    for right, wrong in _MARKS:
        if found == {right, wrong}:
            return [{right: "1", wrong: "0"}.get(text.casefold(), "") for text in texts]
    return texts


def _are_zeros(texts: Sequence[str]) -> bool:
    """Whether a column holds only 0: nobody got points."""
    found = _numbers([*{*texts} - {""}])
    return found is not None and {*found} == {0.0}


def are_points(texts: Sequence[str]) -> bool:
    """Whether a column holds one number other than 0, and otherwise only 0."""
    values = set(texts) - {""}
    if not values or len(values) > 4:
        return False
    try:
        numbers = {float(text.replace(",", ".")) for text in values}
    except ValueError:
        return False
    return len(numbers | {0.0}) == 2


def are_grades(items: Sequence[Sequence[str]]) -> bool:
    """Whether columns hold numbers that are too many, and too large, to be options.

    Examples
    --------
    >>> are_grades([["7", "9", "4", "10", "8"]]), are_grades([["1", "4", "2", "3", "5"]])
    (True, False)
    """
    found = [{x for x in _numbers(cells) or [] if x is not None} for cells in items]
    return bool(found) and all(len(own) >= 4 and max(own) > 5 for own in found)


def holds_points(items: Sequence[Sequence[str]], totals: Sequence[Sequence[str]]) -> bool:
    """Whether columns hold points, not choices: fractions, or numbers that add up to a total.

    Numbers that add up may also be ratings. Points start at 0, and at least a quarter of the
    questions are worth no more than half the highest, or each gets all its points or none.

    Examples
    --------
    >>> one, two = ["0", "2", "1", "2", "0", "2"], ["3", "5", "0", "1", "5", "4"]
    >>> total = ["3", "7", "1", "3", "5", "6"]
    >>> holds_points([one, two], [total]), holds_points([one, two], [])
    (True, False)
    """
    columns = [_numbers(cells) for cells in items]
    known = [column for column in columns if column is not None and len(set(column)) > 1]
    if len(items) < 2 or len(columns) > sum(column is not None for column in columns):
        return False
    rows = list(zip(*known, strict=False))
    values = [{x for x in column if x is not None} for column in columns if column is not None]
    broken = [v for v in values if len(v) > 6 and sum(x != int(x) for x in v) * 4 > len(v)]
    halves = [v for v in values if 0.0 in v and any(x != int(x) for x in v)]
    if len(set().union(*values)) > _STEPS:  # numbers of each item's own
        halves = []
    if len(rows) >= _ROWS and max(len(broken), len(halves)) * 2 > len(values):
        return True
    best = [max(v) for v in values if v]
    small = sum(number * 2 <= max(best, default=0.0) for number in best)
    full = all(len(v | {0.0}) == 2 for v in values)
    if min((min(v) for v in values if v), default=1.0) != 0 or (small * 4 < len(best) and not full):
        return False
    return any(_adds_up(rows, _numbers(total)) for total in totals)


def _numbers(cells: Sequence[str]) -> list[float | None] | None:
    """Return cells as numbers (blanks as None); None if they are not numbers."""
    found: list[float | None] = []
    for cell in cells:
        text = cell.strip().replace(",", ".")
        try:
            number = float(text) if text and text != "-" else None
        except ValueError:
            return None
        if number is not None and not isfinite(number):  # "nan", "inf": words, not points
            return None
        found.append(number)
    return found if any(number is not None for number in found) else None


def _adds_up(rows: Sequence[Sequence[float | None]], totals: Sequence[float | None] | None) -> bool:
    if totals is None or len(rows) < 5:
        return False
    pairs = [(sum(x or 0.0 for x in row), t) for row, t in zip(rows, totals, strict=False)]
    told = [abs(total - t) < 0.02 for total, t in pairs if t is not None]
    return len(told) >= 5 and sum(told) >= 0.9 * len(told)
