"""Microsoft Forms: the responses as a workbook (or saved again as CSV)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hitsndiffs.reading.exports.base import Format, Sample, absent, number_attempts
from hitsndiffs.reading.exports.common import (
    as_text,
    folded,
    literal,
    number,
    split_column,
    unique,
    words,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.vocabulary import ASKS_WHO, role_of_name

__all__ = ["MICROSOFT_FORMS"]

_POINTS = re.compile(r"^\s*points\s+[-–]\s*", re.IGNORECASE)
_FEEDBACK = re.compile(r"^\s*feedback\s+[-–]\s*", re.IGNORECASE)
_WHEN = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|^\d{5}(?:[.,]\d+)?$")
_AFTER = words(
    "last modified time|heure de la dernière modification|ora ultima modifica|"
    "uhrzeit der letzten änderung|hora de la última modificación|language|total points|"
    "quiz feedback|grade posted time"
)


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table:
        return None
    if _points(sample.header):
        return "each question is followed by «Points - » and «Feedback - »"
    if _is_survey(sample.header, sample.full_rows):
        return "number, start, completion, e-mail and name come first"
    return None


def _points(header: Sequence[str]) -> list[int]:
    """Return the indices of the points columns, each right after its question.

    In languages other than English, they share a prefix («Punkte - ») before the question, and
    feedback columns with another shared prefix follow them.

    Examples
    --------
    >>> _points(["ID", "Q", "Punkte - Q", "Feedback - Q", "R", "Punkte - R", "Feedback - R"])
    [2, 5]
    """
    english = [k for k, name in enumerate(header) if k and _POINTS.match(name)]
    if english:
        return english
    starts = [_start(header[k], header[k - 1]) if k else "" for k in range(len(header))]
    after = [_start(header[k], header[k - 2]) if k > 1 else "" for k in range(len(header))]
    both = [k for k in range(len(header) - 1) if starts[k] and after[k + 1]]
    counts = Counter((starts[k], after[k + 1]) for k in both)
    (common, n), *_ = counts.most_common(1) or [(("", ""), 0)]
    return [k for k in both if (starts[k], after[k + 1]) == common] if n > 1 else []


def _start(name: str, question: str) -> str:
    """Return the prefix before the question in a column name («Points - »)."""
    name, question = name.strip(), question.strip()
    start = name.removesuffix(question)
    fits = question and start != name and re.fullmatch(r"[^\W\d][\w ]{1,30}\s?[-–:]\s*", start)
    return start if fits else ""


def _is_survey(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    if len(header) < 6 or not rows:
        return False
    lead = [folded(name) for name in header[:5]]
    english = lead[0] == "id" and lead[1:3] == ["start time", "completion time"]
    timed = all(_WHEN.search(row[k]) for row in rows for k in (1, 2) if row[k].strip())
    numbered = all(row[0].strip().removesuffix(".0").isdigit() for row in rows)
    mails = [row[3].strip() for row in rows if row[3].strip()]
    mailed = bool(mails) and all("@" in mail or mail == "anonymous" for mail in mails)
    given = any(row[1].strip() for row in rows)
    return timed and given and (english or (numbered and mailed))


def _convert(sheet: Sheet) -> None:
    header, rows, stream = sheet.header, sheet.rows, sheet.stream
    points = _points(header)
    survey = _is_survey(header, rows[:50])
    if not points and not survey:
        raise absent("a Microsoft Forms file", "«Points - », nor start and completion times")
    first = min((k - 1 for k in points), default=5)
    lead = list(range(min(first, 5))) if survey or first >= 5 else list(range(first))
    who = sheet.persons([]) if sheet.choices.user else _who(sheet, lead, points)
    if points:
        questions = [k - 1 for k in points if any(row[k].strip() for row in rows)]
        ungraded = [k - 1 for k in points if k - 1 not in questions]
        if not questions:
            questions, ungraded = ungraded, []
        sheet.set_role(ungraded, "unused", "a question without points, about the person")
        sheet.set_role(points, "points", "the points of a question")
        comments = [k for k, name in enumerate(header) if _FEEDBACK.match(name)]
        comments = comments or [k + 1 for k in points if k + 1 < len(header)]
        sheet.set_role(comments, "comment", "feedback to a question")
    else:
        named = {column.position for column in stream.columns}
        questions = [
            k
            for k in range(len(lead), len(header))
            if k not in named
            and role_of_name(header[k]) != "identity"
            and folded(header[k]) not in _AFTER
            and not _is_time(k, sheet.cells(k))
        ]
    labels = unique(" ".join(header[k].split()) or f"column {k + 1}" for k in questions)
    numbers = number_attempts(who)
    for place, label in zip(questions, labels, strict=True):
        answers = _sets(sheet.cells(place))
        worth = place + 1 if points else None
        best = max((number(row[worth]) or 0.0 for row in rows), default=0.0) if worth else None
        for row, person, attempt, answer in zip(rows, who, numbers, answers, strict=True):
            stream.add(
                person,
                label,
                answer,
                attempt=attempt,
                points=number(row[worth]) if worth else None,
                possible=best,
            )
    asking = [k for k, name in enumerate(header) if ASKS_WHO.search(name) and k not in points]
    sheet.use_key_row([k for k in asking if k not in questions], who)
    sheet.set_role(questions, "answers", "a question of the form")
    sheet.rest_unused("times, points and feedback of the whole form")


def _who(sheet: Sheet, lead: Sequence[int], points: Sequence[int]) -> list[str]:
    header, rows = sheet.header, sheet.rows
    identity = [k for k in lead[3:5] if {row[k].strip() for row in rows} - {"", "anonymous"}]
    sheet.set_role(identity, "identity", "who answered")
    if identity:
        whole = [k for k in identity if all(row[k].strip() for row in rows)]
        return sheet.persons(whole or identity)
    asked = [
        k
        for k in range(len(lead), len(header))
        if ASKS_WHO.search(header[k]) and k not in points and _tells_apart(rows, k)
    ]
    if asked:
        sheet.set_role(asked[:1], "identity", "a question that asks for the name")
        return sheet.persons(asked[:1])
    sheet.stream.notes.append("The form is anonymous: each row counts as one person.")
    numbers = [row[0].strip() for row in rows] if lead else []
    if numbers and all(numbers) and len(set(numbers)) == len(numbers):
        return numbers
    return sheet.persons([])


def _tells_apart(rows: Sequence[Sequence[str]], place: int) -> bool:
    given = [row[place].strip() for row in rows]
    return all(given) and len(set(given)) >= max(2, 0.6 * len(given))


def _is_time(place: int, cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell.strip()]
    early = place < 7
    return early and (not given or all(_WHEN.search(cell) and ":" in cell for cell in given))


def _sets(cells: Sequence[str]) -> list[tuple[str, ...]]:
    """Split ``A;B;`` and ``["A","B"]``.

    Examples
    --------
    >>> _sets(["A;B;", "B;", ""]), _sets(['["A","B"]', '["B"]'])
    ([('A', 'B'), ('B',), ()], [('A', 'B'), ('B',)])
    """
    lists = [literal(cell) if cell.lstrip().startswith("[") else None for cell in cells]
    given = sum(bool(cell.strip()) for cell in cells)
    if given and sum(isinstance(found, list) for found in lists) == given:
        return [
            tuple(as_text(part).strip() for part in found) if isinstance(found, list) else ()
            for found in lists
        ]
    return split_column(cells, ";")


MICROSOFT_FORMS = Format(
    "microsoft-forms",
    "Microsoft Forms",
    "The responses of a quiz or a survey as xlsx (or saved again as CSV)",
    _recognise,
    by_table(_convert),
)
