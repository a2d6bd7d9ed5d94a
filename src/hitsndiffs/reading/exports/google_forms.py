"""Google Forms: the CSV from the form itself, and the linked sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.reading.exports.base import Format, Sample, absent, number_attempts
from hitsndiffs.reading.exports.common import (
    folded,
    number,
    split_column,
    unique,
    words,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.vocabulary import ASKS_WHO, role_of_name

__all__ = ["GOOGLE_FORMS"]

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


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) < 2:
        return None
    rows = sample.full_rows
    if any(_OF.match(row[k + 1]) for k in _scored(sample.names) for row in rows):
        return "each question is followed by its [Score] and its [Feedback]"
    stamps = [row[0] for row in rows if row[0].strip()]
    dated = bool(stamps) and all(_WHEN.search(stamp) for stamp in stamps)
    named = folded(sample.header[0]) in _STAMPS
    long = all(recognise(role, sample.header, wide=True) for role in ("user", "item", "option"))
    if named and long:
        return None  # one answer per row, each with its time
    if named and dated:
        return f"the first column («{sample.header[0].strip()}») holds the times of submission"
    if dated and any(_is_total(sample.header, rows, k) for k in (1, 2)):
        return "times of submission are followed by scores («7 / 10»)"
    return None


def _scored(names: Sequence[str]) -> list[int]:
    """Return the indices of the questions that are followed by «[Score]» and «[Feedback]»."""
    return [
        k
        for k in range(len(names) - 2)
        if _suffix(names[k], names[k + 1]) and _suffix(names[k], names[k + 2])
    ]


def _suffix(base: str, name: str) -> bool:
    base, name = base.strip(), name.strip()
    return (
        bool(base)
        and name.startswith(base)
        and bool(re.match(r"^ ?\[[^\]]+\]$", name[len(base) :]))
    )


def _is_total(header: Sequence[str], rows: Sequence[Sequence[str]], place: int) -> bool:
    if place >= len(header):
        return False
    cells = [row[place] for row in rows if row[place].strip()]
    if not cells:
        return folded(header[place]) in _TOTALS
    if sum(bool(_OF.match(cell)) for cell in cells) >= 0.8 * len(cells):
        return True
    return folded(header[place]) in _TOTALS and all(number(cell) is not None for cell in cells)


def _convert(sheet: Sheet) -> None:
    names, rows, stream = sheet.names, sheet.rows, sheet.stream
    if not names:
        raise absent("a Google Forms file", "column of times")
    scored = [k for k in _scored(names) if any(_OF.match(row[k + 1]) for row in rows)]
    aside = {0} | {k + step for k in scored for step in (1, 2)}
    totals = [k for k in (1, 2, 3) if k not in scored and _is_total(names, rows, k)][:1]
    aside.update(totals)
    identity = [
        k
        for k in range(1, len(names))
        if k not in aside and k not in scored and _is_identity(names[k], sheet.cells(k))
    ]
    mails = [k for k in identity if any(_MAIL.match(row[k].strip()) for row in rows)]
    known = mails or identity
    who = sheet.persons(known)
    if not known and not sheet.choices.user:
        stream.notes.append("The form does not say who answered: each row counts as one person.")
    about = [
        k
        for k in range(1, len(names))
        if k not in aside
        and k not in identity
        and k not in scored
        and role_of_name(names[k]) == "identity"
    ]
    sheet.set_role(about, "identity", "about the person")
    aside.update(about)
    questions = [k for k in range(1, len(names)) if k not in aside and k not in identity]
    if scored and len(scored) * 2 >= len(questions):
        extra = [k for k in questions if k not in scored]
        sheet.set_role(extra, "unused", "a question without a score")
        questions = scored
    by_form = bool(scored) or any("GMT" in row[0] or "UTC" in row[0] for row in rows)
    numbers = number_attempts(who)
    labels = unique(" ".join(names[k].split()) or f"column {k + 1}" for k in questions)
    for place, label in zip(questions, labels, strict=True):
        answers = split_column(sheet.cells(place), ";" if by_form else ", ")
        for row, person, attempt, answer in zip(rows, who, numbers, answers, strict=True):
            match = _OF.match(row[place + 1]) if place in scored else None
            stream.add(
                person,
                label,
                answer,
                attempt=attempt,
                points=number(match[1]) if match else None,
                possible=number(match[2]) if match else None,
            )
    sheet.use_key_row(identity, who)
    sheet.set_role([0], "time", "when the form was sent")
    sheet.set_role(totals, "points", "the score of the whole form")
    sheet.set_role(identity, "identity", "who answered")
    sheet.set_role(questions, "answers", "a question of the form")
    sheet.set_role([k + 1 for k in scored], "points", "the score of a question")
    sheet.set_role([k + 2 for k in scored], "comment", "feedback to a question")


def _is_identity(name: str, cells: Sequence[str]) -> bool:
    """Whether a column says who answered: e-mail addresses, or names that mostly differ."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if not given:
        return False
    if all(_MAIL.match(cell) for cell in given):
        return True
    if 2 * len(given) < len(cells) or len(name) > 60:
        return False
    return bool(ASKS_WHO.search(name)) and len(set(given)) >= min(0.6 * len(given), len(given) - 1)


GOOGLE_FORMS = Format(
    "google-forms",
    "Google Forms",
    "The responses as CSV from the form, or the linked sheet as CSV or xlsx",
    _recognise,
    by_table(_convert),
)
