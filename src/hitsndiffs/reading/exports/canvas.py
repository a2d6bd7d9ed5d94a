"""Canvas classic quizzes and surveys: the «Student Analysis» report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from hitsndiffs.reading.exports.base import Format, Sample, absent, has_columns, refusing
from hitsndiffs.reading.exports.common import (
    attempt_number,
    folded,
    is_free_text,
    number,
    without_html,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["CANVAS", "CANVAS_ITEMS"]

_QUESTION = re.compile(r"^\s*(\d{2,}):(?:\s|$)")
_COMMA = re.compile(r"(?<!\\),")
_MOST_OPTIONS = 30  # a cell with more parts is one text
_IDENTITY = ("name", "id", "sis_id", "sis id")


def _pairs(names: list[str]) -> list[int]:
    """Return the indices of the questions, each followed by its possible points."""
    return [
        k
        for k, name in enumerate(names)
        if _QUESTION.match(name) and k + 1 < len(names) and number(names[k + 1]) is not None
    ]


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table:
        return None
    places = _pairs(sample.names)
    if not places or places != list(range(places[0], places[-1] + 1, 2)):
        return None
    return "each question («number: text») is followed by a column of points («1.0»)"


def _convert(sheet: Sheet) -> None:
    names, rows, stream = sheet.names, sheet.rows, sheet.stream
    places = _pairs(names)
    if not places:
        raise absent("a Canvas report", "question («12: …») followed by its points")
    lead = range(places[0])
    folded_lead = [folded(names[k]) for k in lead]
    identity = [k for k in lead if folded_lead[k] in _IDENTITY]
    if not identity and places[0] >= 6:
        # In other languages: the person's columns come before section, section id, submitted.
        found = {tuple(row[:2]) for row in rows}
        identity = [0, 1] if 2 * len(found) > len(rows) else []
    who = sheet.persons(identity)
    if not identity:
        stream.notes.append("The survey is anonymous: each row counts as one person.")
    attempt = next((k for k in lead if folded_lead[k] == "attempt"), None)
    if attempt is None and places[0] >= 6:
        last = places[0] - 1
        cells = [cell.strip() for cell in sheet.cells(last)]
        attempt = last if all(cell.isdigit() and int(cell) < 1000 for cell in cells) else None
    for place in places:
        item, _, title = names[place].partition(":")
        item = item.strip()
        stream.titles[item] = without_html(title)
        if is_free_text(sheet.cells(place)):
            sheet.set_role([place], "comment", "free text")
            continue
        possible = number(names[place + 1])
        answers = _sets(sheet.cells(place))
        for row, person, answer in zip(rows, who, answers, strict=True):
            points = row[place + 1].strip()
            stream.add(
                person,
                item,
                answer,
                attempt=attempt_number(cell_at(row, attempt)),
                points=number(points),
                possible=possible,
                status="not shown" if not answer and not points else None,
            )
    sheet.set_role(identity, "identity", "who answered")
    known = {column.position for column in stream.columns}
    questions = [k for k in places if k not in known]
    sheet.set_role(questions, "answers", "a question: number, then its text")
    sheet.set_role([k + 1 for k in places], "points", "the points of the question")
    if attempt is not None:
        sheet.set_role([attempt], "attempt", "the number of the attempt")
    sheet.rest_unused("no question")


def _sets(cells: Sequence[str]) -> list[tuple[str, ...]]:
    r"""Split the answers to one question into options; ``\,`` is a comma within an option.

    Canvas writes ticked options in the order of the question. If two of them occur in both orders,
    they fill several blanks, and the whole cell is one answer.

    Examples
    --------
    >>> _sets([r"Red,Blue\, dark", "Red", ""])
    [('Red', 'Blue, dark'), ('Red',), ()]
    >>> _sets(["1,000", "2,000", "Well, so"])
    [('1,000',), ('2,000',), ('Well, so',)]
    >>> _sets(["a,b", "b,a", "a,a"])
    [('a,b',), ('b,a',), ('a,a',)]
    """
    split = {cell: _parts(cell) for cell in set(cells)}
    several = [parts for parts in split.values() if len(parts) > 1]
    pairs = {pair for parts in several for pair in combinations(parts, 2)}
    if any((b, a) in pairs for a, b in pairs):
        several = []
    counts = Counter(part for parts in split.values() for part in set(parts))
    mentioned = {part for parts in several for part in parts}
    shared = sum(counts[part] > 1 for part in mentioned)
    escaped = any("\\," in cell for cell in split)
    if several and (escaped or 2 * shared > len(mentioned)):
        return [split[cell] for cell in cells]
    return [(text,) if (text := _plain_text(cell)) else () for cell in cells]


def _parts(cell: str) -> tuple[str, ...]:
    # Canvas puts no space after the comma between two options.
    parts = _COMMA.split(cell)
    if len(parts) > _MOST_OPTIONS or any(part[:1].isspace() for part in parts[1:]):
        parts = [cell]
    return tuple(text for part in parts if (text := _plain_text(part)))


def _plain_text(text: str) -> str:
    return text.replace("\\,", ",").replace("\\=>", "=>").strip()


CANVAS = Format(
    "canvas",
    "Canvas, Student Analysis (classic quizzes)",
    "Quiz statistics, «Student Analysis»: CSV, answers as text, points per question",
    _recognise,
    by_table(_convert),
)
CANVAS_ITEMS = Format(
    "canvas-item-analysis",
    "Canvas, Item Analysis (refused)",
    "Quiz statistics, «Item Analysis»: counts per question, no students",
    has_columns(
        "Question Id",
        "Question Title",
        "Answered Student Count",
        because="each row is a question with the number of students who answered it",
    ),
    refusing(
        "Canvas' «Item Analysis»: one row per question, with counts and no students",
        "download the «Student Analysis» report of the quiz instead",
    ),
)
