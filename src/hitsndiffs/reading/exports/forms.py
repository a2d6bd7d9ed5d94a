"""Forms: Google Forms and Microsoft Forms, quizzes and surveys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hitsndiffs.data.encoding.names import recognise
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
from hitsndiffs.reading.exports.sheet import Question, Sheet, adjacent, by_table
from hitsndiffs.reading.vocabulary import ASKS_WHO, role_of_name

__all__ = ["GOOGLE_FORMS", "MICROSOFT_FORMS"]


def _labels(header: Sequence[str], places: Sequence[int]) -> list[str]:
    return unique(" ".join(header[k].split()) or f"column {k + 1}" for k in places)


# -- Google Forms: the CSV from the form itself, and the linked sheet ------------------------------

_STAMPS = words(
    "timestamp|zeitstempel|horodateur|marca temporal|carimbo de data/hora|"
    "informazioni cronologiche|tijdstempel|タイムスタンプ|отметка времени|sygnatura czasowa|"
    "tidsstämpel|tidsstempel|aikaleima|časové razítko|zaman damgası|时间戳记|타임스탬프|"
    "حقب زمنية|marca de temps|dấu thời gian|stempel waktu"
)
_TOTALS = words(
    "score|total score|punkte|punktzahl|gesamtpunktzahl|note|score total|puntuación|"
    "puntuación total|pontuação|pontuação total|punteggio|punteggio totale|баллы|スコア"
)
_WHEN = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}.{0,4}\d{1,2}[:.]\d{2}")
_OF = re.compile(r"^\s*(\d+(?:[.,]\d+)?) / (\d+(?:[.,]\d+)?)\s*$")
_MAIL = re.compile(r"^[^@\s]+@[^@\s]+\.\w+$")


def _recognise_google(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) < 2:
        return None
    rows = sample.full_rows
    if _scored(sample.names, rows):
        return "each question is followed by its [Score] and its [Feedback]"
    stamps = [row[0] for row in rows if row[0].strip()]
    if not stamps or not all(_WHEN.search(stamp) for stamp in stamps):
        return None
    if folded(sample.header[0]) in _STAMPS:
        long = all(recognise(r, sample.header, wide=True) for r in ("user", "item", "option"))
        first = f"the first column («{sample.header[0].strip()}») holds the times of submission"
        return None if long else first  # one answer per row, each with its time
    if any(_is_total(sample.header, rows, k) for k in (1, 2)):
        return "times of submission are followed by scores («7 / 10»)"
    return None


def _scored(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the questions that are followed by «[Score]» and «[Feedback]»."""
    pattern = r"(?P<q>.+)\n(?P<score>(?P=q) ?\[[^\]]+\])\n(?P<feedback>(?P=q) ?\[[^\]]+\])"
    found = [places["q"] for places, _ in adjacent(names, pattern)]
    return [k for k in found if any(_OF.match(row[k + 1]) for row in rows)]


def _is_total(header: Sequence[str], rows: Sequence[Sequence[str]], place: int) -> bool:
    cells = [row[place] for row in rows if row[place].strip()] if place < len(header) else []
    named = place < len(header) and folded(header[place]) in _TOTALS
    of = sum(bool(_OF.match(cell)) for cell in cells) >= 0.8 * len(cells) > 0
    return of or (named and all(number(cell) is not None for cell in cells))


def _fill_google(sheet: Sheet) -> None:
    names, rows = sheet.names, sheet.rows
    if not names:
        raise absent("a Google Forms file", "column of times")
    scored = _scored(names, rows)
    marks = {k + step for k in scored for step in (1, 2)}
    totals = [k for k in (1, 2, 3) if k not in scored and _is_total(names, rows, k)][:1]
    others = [k for k in range(1, len(names)) if k not in {*scored, *marks, *totals}]
    asked = [k for k in others if _says_who(names[k], sheet.cells(k))]
    mails = [k for k in asked if any(_MAIL.match(row[k].strip()) for row in rows)]
    about = [k for k in others if k not in asked and role_of_name(names[k]) == "identity"]
    questions = [k for k in range(1, len(names)) if k not in {*marks, *totals, *asked, *about}]
    if scored and len(scored) * 2 >= len(questions):
        questions = scored
    by_form = bool(scored) or any("GMT" in row[0] or "UTC" in row[0] for row in rows)
    who = sheet.people(mails or asked)
    sheet.identity = asked
    sheet.set_role([k for k in asked if k not in (mails or asked)], "identity", "who answered")
    sheet.set_role(about, "identity", "about the person")
    found = [
        Question(label, k, points=(k + 1,) if k in scored else ())
        for k, label in zip(questions, _labels(names, questions), strict=True)
    ]
    mark = ";" if by_form else ", "
    sheet.ask(found, who, split=lambda cells: split_column(cells, mark))
    sheet.set_role([0], "time", "when the form was sent")
    sheet.set_role(totals, "points", "the score of the whole form")
    sheet.set_role([k + 2 for k in scored], "comment", "feedback to a question")
    sheet.rest_unused("a question without a score")


def _says_who(name: str, cells: Sequence[str]) -> bool:
    """Whether a column says who answered: e-mail addresses, or names that mostly differ."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if given and all(_MAIL.match(cell) for cell in given):
        return True
    if not given or 2 * len(given) < len(cells) or len(name) > 60:
        return False
    return bool(ASKS_WHO.search(name)) and len(set(given)) >= min(0.6 * len(given), len(given) - 1)


GOOGLE_FORMS = Format(
    "google-forms",
    "Google Forms",
    "The responses as CSV from the form, or the linked sheet as CSV or xlsx",
    _recognise_google,
    by_table(_fill_google),
    "a survey with a grid",
)


# -- Microsoft Forms: each question is followed by «Points - » and «Feedback - » -------------------

_POINTS = re.compile(r"^\s*points\s+[-–]\s*", re.IGNORECASE)
_FEEDBACK = re.compile(r"^\s*feedback\s+[-–]\s*", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|^\d{5}(?:[.,]\d+)?$")
_AFTER = words(
    "last modified time|heure de la dernière modification|ora ultima modifica|"
    "uhrzeit der letzten änderung|hora de la última modificación|language|total points|"
    "quiz feedback|grade posted time"
)


def _recognise_microsoft(sample: Sample) -> str | None:
    if sample.is_table and _points(sample.header):
        return "each question is followed by «Points - » and «Feedback - »"
    if sample.is_table and _is_survey(sample.header, sample.full_rows):
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
    start = r"[^\W\d][\w ]{1,30} ?[-–:] ?"
    pattern = rf"(?P<q>.+)\n(?P<points>(?P<a>{start})(?P=q))\n(?P<said>(?P<b>{start})(?P=q))"
    found = [] if english else adjacent(header, pattern)
    counts = Counter((own["a"], own["b"]) for _, own in found)
    common = [pair for pair, n in counts.most_common(1) if n > 1]
    alike = [places["points"] for places, own in found if (own["a"], own["b"]) in common]
    return english or alike


def _is_survey(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    if len(header) < 6 or not rows:
        return False
    lead = [folded(name) for name in header[:3]]
    english = lead == ["id", "start time", "completion time"]
    timed = all(_DATE.search(row[k]) for row in rows for k in (1, 2) if row[k].strip())
    numbered = all(row[0].strip().removesuffix(".0").isdigit() for row in rows)
    mails = [row[3].strip() for row in rows if row[3].strip()]
    mailed = bool(mails) and all("@" in mail or mail == "anonymous" for mail in mails)
    given = any(row[1].strip() for row in rows)
    return timed and given and (english or (numbered and mailed))


def _fill_microsoft(sheet: Sheet) -> None:
    header, rows = sheet.header, sheet.rows
    points = _points(header)
    survey = _is_survey(header, rows[:50])
    if not points and not survey:
        raise absent("a Microsoft Forms file", "«Points - », nor start and completion times")
    lead = min(min((k - 1 for k in points), default=5), 5)
    who = _who_microsoft(sheet, lead, points)
    if points:
        graded = [k - 1 for k in points if any(map(str.strip, sheet.cells(k)))]
        questions = graded or [k - 1 for k in points]
        sheet.set_role(
            [k for k, name in enumerate(header) if _FEEDBACK.match(name)],
            "comment",
            "feedback to a question",
        )
    else:
        questions = [
            k
            for k in range(lead, len(header))
            if k not in sheet.identity
            and role_of_name(header[k]) != "identity"
            and folded(header[k]) not in _AFTER
            and not _is_time(k, sheet.cells(k))
        ]
    found = [
        Question(label, k, points=(k + 1,) if points else ())
        for k, label in zip(questions, _labels(header, questions), strict=True)
    ]
    asking = [k for k, name in enumerate(header) if ASKS_WHO.search(name) and k not in points]
    sheet.identity = [k for k in asking if k not in questions]
    sheet.ask(found, who, attempts=number_attempts(who), split=_chosen)
    sheet.rest_unused("no question, or a question without points")


def _who_microsoft(sheet: Sheet, lead: int, points: Sequence[int]) -> list[str]:
    """Return the person of each row: by mail or name, or by a question that asks for the name."""
    rows = sheet.rows
    known = [k for k in range(3, lead) if {row[k].strip() for row in rows} - {"", "anonymous"}]
    whole = [k for k in known if all(row[k].strip() for row in rows)]
    asked = [
        k
        for k in range(lead, len(sheet.header))
        if ASKS_WHO.search(sheet.header[k]) and k not in points and _tells_apart(sheet.cells(k))
    ]
    numbered = _tells_apart(sheet.cells(0), 1.0) if lead and rows else False
    if known or asked:
        return sheet.people(whole or known or asked[:1])
    who = sheet.people([])
    return [row[0].strip() for row in rows] if numbered and not sheet.choices.user else who


def _tells_apart(cells: Sequence[str], share: float = 0.6) -> bool:
    given = [cell.strip() for cell in cells]
    return all(given) and len(set(given)) >= max(2, share * len(given))


def _is_time(place: int, cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell.strip()]
    return place < 7 and (not given or all(_DATE.search(cell) and ":" in cell for cell in given))


def _chosen(cells: Sequence[str]) -> list[tuple[str, ...]]:
    """Split ``A;B;`` and ``["A","B"]``.

    Examples
    --------
    >>> _chosen(["A;B;", "B;", ""]), _chosen(['["A","B"]', '["B"]'])
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
    _recognise_microsoft,
    by_table(_fill_microsoft),
    "a survey",
)
