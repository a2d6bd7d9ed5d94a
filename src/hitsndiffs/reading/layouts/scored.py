"""Find columns of points: beside the answers they were given for, or instead of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

__all__ = ["are_grades", "holds_points", "points_of_answers"]

#: This many rows are enough to tell points from answers.
_ROWS = 8
#: This share of the pairs must fit.
_MOST = 0.8
#: Marks beside an answer for right and wrong.
_MARKS = (
    ("v", "x"), ("c", "x"), ("✓", "✗"), ("✔", "✘"), ("correct", "incorrect"), ("right", "wrong"),
    ("true", "false"), ("y", "n"), ("yes", "no"),
)  # fmt: skip
#: Points in halves or quarters (0, 0.5, 1, …) have few steps.
_STEPS = 12


def points_of_answers(
    names: Sequence[str], cells: Callable[[str], Sequence[str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """Find columns with a fixed number for exactly one answer of another column, else 0.

    Return the columns of points with the columns of their answers, and these with the answer that
    gets the points.

    Examples
    --------
    >>> table = {"q1": "ABABACAB", "s1": "10101010", "q2": "BBCDBBDB", "s2": "11001101"}
    >>> points_of_answers(list(table), table.__getitem__)
    ({'s1': 'q1', 's2': 'q2'}, {'q1': 'A', 'q2': 'B'})
    """
    texts = {name: _as_points([cell.strip() for cell in cells(name)]) for name in names}
    binary = [name for name in names if are_points(texts[name])]
    others = [name for name in names if name not in set(binary)]
    if len(binary) < 2 or not others:
        return {}, {}
    place = {name: k for k, name in enumerate(names)}
    left = {b: names[place[b] - 1] for b in binary if place[b]}
    right = {b: names[place[b] + 1] for b in binary if place[b] + 1 < len(names)}
    in_order = dict(zip(binary, others, strict=False)) if len(binary) == len(others) else {}
    for pairs in (in_order, left, right):
        own = {b: a for b, a in pairs.items() if a in others}
        found = {b: _right_answer(texts[b], texts[a]) for b, a in own.items()}
        fits = [b for b, answer in found.items() if answer]
        told = sum(answer is not None for answer in found.values())
        if len(fits) >= 2 and len(fits) >= _MOST * told:
            return own, {own[b]: str(found[b]) for b in fits}
        # a pair that says nothing (nobody got a point) counts neither for nor against
    return {}, {}


def _as_points(texts: list[str]) -> list[str]:
    """Write marks for right and wrong as 1 and 0; other texts stay as they are."""
    distinct = set(texts)
    found = {text.casefold() for text in distinct} - {""} if len(distinct) < 4 else set()
    for right, wrong in _MARKS:
        if found == {right, wrong}:
            return [{right: "1", wrong: "0"}.get(text.casefold(), "") for text in texts]
    return texts


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


def _right_answer(points: Sequence[str], answers: Sequence[str]) -> str | None:
    """Return the one answer with points; "" if they do not fit, None if too little is known."""
    right: set[str] = set()
    wrong: set[str] = set()
    rows = 0
    for point, answer in zip(points, answers, strict=True):
        if not point:
            continue
        rows += 1
        (right if float(point.replace(",", ".")) else wrong).add(answer)
    if rows < _ROWS or not right:
        return None
    fits = len(right) == 1 and not right & wrong and "" not in right
    return next(iter(right)) if fits else ""


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
    if len(items) < 2:
        return False
    columns = [_numbers(cells) for cells in items]
    if any(column is None for column in columns):
        return False
    known = [column for column in columns if column is not None and len(set(column)) > 1]
    rows = list(zip(*known, strict=False))
    values = [{value for value in column if value is not None} for column in known]
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
