"""Forms: Google Forms and Microsoft Forms, quizzes and surveys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hitsndiffs.data.names import recognise
from hitsndiffs.reading.exports.base import Sample, Sign
from hitsndiffs.reading.exports.common import folded, number, split_column, unique, words
from hitsndiffs.reading.exports.format import Format
from hitsndiffs.reading.exports.sheet import ByQuestion, Question, Sheet, adjacent
from hitsndiffs.reading.vocabulary import ASKS_WHO, role_of_name

__all__ = ["FORMATS"]

_MAIL = re.compile(r"^[^@\s]+@[^@\s]+\.\w+$")


def _questions(sheet: Sheet, places: Sequence[int], points: Sequence[int]) -> list[Question]:
    """Return the questions in some columns; those with points have them in the next column."""
    labels = unique(" ".join(sheet.header[k].split()) or f"column {k + 1}" for k in places)
    return [
        Question(label, k, points=(k + 1,) if k + 1 in points else ())
        for k, label in zip(places, labels, strict=True)
    ]


def _says_who(name: str, cells: Sequence[str]) -> bool:
    """Whether a column says who answered: e-mail addresses, or names that mostly differ."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if given and all(map(_MAIL.match, given)):
        return True
    if not given or 2 * len(given) < len(cells) or len(name) > 60:
        return False
    return bool(ASKS_WHO.search(name)) and len({*given}) >= min(0.6 * len(given), len(given) - 1)


#: What the name of a question ends in: a mark, a bracket or a number.
_QUESTION = re.compile(r"[?？:：\])\d.…]\s*$")


def _are_questions(names: Sequence[str]) -> bool:
    """Whether at least half of some columns are worded as forms ask, not as logs name columns."""
    asked = [
        len(name.split()) > 2
        or len(name) > 20
        or _QUESTION.search(name) is not None
        or ASKS_WHO.search(name) is not None
        or role_of_name(name) == "identity"
        for name in names
    ]
    return 2 * sum(asked) >= len(asked) > 0


# -- Google Forms: the CSV from the form itself, and the linked sheet ------------------------------

_STAMPS = words(
    "timestamp|zeitstempel|horodateur|marca temporal|carimbo de data/hora|"
    "informazioni cronologiche|tijdstempel|タイムスタンプ|отметка времени|sygnatura czasowa|"
    "tidsstämpel|tidsstempel|tidsmerke|aikaleima|časové razítko|časová pečiatka|zaman damgası|"
    "时间戳记|時間戳記|타임스탬프|طابع زمني|حقب زمنية|חותמת זמן|marca de temps|dấu thời gian|"
    "stempel waktu|cap waktu|ประทับเวลา|позначка часу|időbélyeg|marcaj de timp|χρονική σήμανση|"
    "vremenska oznaka|клеймо за време|टाइमस्टैंप"
)
_TOTALS = words(
    "score|total score|punkte|punktzahl|gesamtpunktzahl|note|score total|puntuación|"
    "puntuación total|pontuação|pontuação total|punteggio|punteggio totale|баллы|スコア"
)
_WHEN = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}.{0,4}\d{1,2}[:.]\d{2}")
_OF = re.compile(r"^\s*\d+(?:[.,]\d+)? / \d+(?:[.,]\d+)?\s*$")


def _scored(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the questions that are followed by «[Score]» and «[Feedback]»."""
    pattern = r"(?P<q>.+)\n(?P<score>(?P=q) ?\[[^\]]+\])\n(?P<feedback>(?P=q) ?\[[^\]]+\])"
    found = [places["q"] for places, _ in adjacent(names, pattern)]
    return [k for k in found if any(_OF.match(row[k + 1]) for row in rows)]


def _total(names: Sequence[str], rows: Sequence[Sequence[str]], end: int = 3) -> list[int]:
    """Return the column of the score of the whole form, if there is one."""
    for k in range(1, min(end, len(names))):
        cells = [row[k] for row in rows if row[k].strip()]
        named = folded(names[k]) in _TOTALS and all(number(cell) is not None for cell in cells)
        if named or sum(bool(_OF.match(cell)) for cell in cells) >= 0.8 * len(cells) > 0:
            return [k]
    return []


def _is_form(sample: Sample) -> bool:
    """Whether times of submission come first, by name or before a score, and questions follow."""
    header, rows = sample.header, sample.full_rows
    stamps = [row[0] for row in rows if sample.is_table and len(header) > 1 and row[0].strip()]
    if not stamps or not all(map(_WHEN.search, stamps)):
        return False
    start = 1 if folded(header[0]) in _STAMPS and not _is_log(sample) else 2
    return (start == 1 or bool(_total(header, rows))) and _are_questions(header[start:])


def _is_log(sample: Sample) -> bool:
    """Whether each row has a time, a user, an item and an answer, or users come again and again."""
    if all(recognise(r, sample.header, wide=True) for r in ("user", "item", "option")):
        return True
    users = [list(sample.header).index(name) for name in recognise("user", sample.header)]
    cells = [[row[k] for row in sample.full_rows] for k in users]
    return any(len(own) > 4 and 2 * len({*own}) <= len(own) for own in cells)


def _find_google(sheet: Sheet) -> list[Question]:
    names, rows = sheet.names, sheet.rows
    scored = _scored(names, rows)
    totals = [k for k in _total(names, rows, 4) if k not in scored]
    beside = {*totals, *(k + step for k in scored for step in (1, 2))}
    rest = [k for k in range(1, len(names)) if k not in beside]
    asked = [k for k in rest if k not in scored and _says_who(names[k], sheet.cells(k))]
    others = [k for k in rest if k not in (*scored, *asked)]
    about = [k for k in others if role_of_name(names[k]) in ("identity", "time")]
    questions = [k for k in rest if k not in (*asked, *about)]
    mails = [k for k in asked if any(_MAIL.match(row[k].strip()) for row in rows)]
    sheet.people(mails or asked, also=asked)
    sheet.set_role((k for k in asked if mails and k not in mails), "identity", "who answered")
    sheet.set_role(about, "identity", "about the person")
    sheet.set_role([0] if names else [], "time", "when the form was sent")
    sheet.set_role(totals, "points", "the score of the whole form")
    sheet.set_role((k + 2 for k in scored), "comment", "feedback to a question")
    graded = scored if 2 * len(scored) >= len(questions) else []
    found = _questions(sheet, graded or questions, [k + 1 for k in scored])
    # the form joins ticked options with semicolons, the linked sheet with commas
    by_form = bool(scored) or any("GMT" in row[0] or "UTC" in row[0] for row in rows)
    for one in found:
        one.given = split_column(sheet.cells(one.answer), ";" if by_form else ",")
    return found


GOOGLE_FORMS = Format(
    "google-forms",
    "Google Forms",
    "The responses as CSV from the form, or the linked sheet as CSV or xlsx",
    (
        Sign(
            "each question is followed by its [Score] and its [Feedback]",
            holds=lambda own: own.is_table and bool(_scored(own.names, own.full_rows)),
        ),
        Sign(
            "the times of submission come first: «Timestamp», in any language, or before scores "
            "(«7 / 10»)",
            holds=_is_form,
        ),
    ),
    ByQuestion(_find_google),
    tried="a survey with a grid",
)


# -- Microsoft Forms: each question is followed by «Points - » and «Feedback - » -------------------

_POINTS = re.compile(r"^\s*points\s+[-–]\s*", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|^\d{5}(?:[.,]\d+)?$")
_AFTER = words(
    "last modified time|heure de la dernière modification|ora ultima modifica|"
    "uhrzeit der letzten änderung|hora de la última modificación|language|total points|"
    "quiz feedback|grade posted time"
)
_NOBODY = {"", "anonymous"}


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


def _start(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return where number, start, completion and e-mail stand side by side, as in all forms."""
    for at in range(min(3, len(header) - 5)) if rows else ():
        names = [folded(name) for name in header[at : at + 3]]
        number, start, end, mail = ([row[k].strip() for row in rows] for k in range(at, at + 4))
        timed = any(start) and all(map(_DATE.search, filter(None, (*start, *end))))
        numbered = all(cell.removesuffix(".0").isdigit() for cell in number)
        mailed = any(mail) and all("@" in one or one in _NOBODY for one in mail)
        named = names == ["id", "start time", "completion time"]
        if timed and (named or (numbered and mailed)) and _are_questions(header[at + 5 :]):
            return at
    return None


def _find_microsoft(sheet: Sheet) -> list[Question]:
    header, points = sheet.header, _points(sheet.header)
    start = _start(header, sheet.rows[:50])
    if not points and start is None:
        return []
    lead = min([*(k - 1 for k in points), (start or 0) + 5])
    asked = [k for k, name in enumerate(header) if k not in points and ASKS_WHO.search(name)]
    who = _name_people(sheet, start or 0, lead, asked)
    graded = [k - 1 for k in points if any(map(str.strip, sheet.cells(k)))]
    said = [k for k, name in enumerate(header) if points and folded(name).startswith("feedback -")]
    sheet.set_role(said, "comment", "feedback to a question")
    questions = graded or [k - 1 for k in points] or [
        k
        for k in range(lead, len(header))
        if k not in who
        and role_of_name(header[k]) != "identity"
        and folded(header[k]) not in _AFTER
        and not _is_time(k, sheet.cells(k))
    ]  # fmt: skip
    return _questions(sheet, questions, points)


def _name_people(sheet: Sheet, start: int, lead: int, asked: Sequence[int]) -> list[int]:
    """Say who answered: by mail or name, by a question that asks for the name, or by number."""
    known = [k for k in range(start + 3, lead) if {*map(str.strip, sheet.cells(k))} - _NOBODY]
    whole = [k for k in known if all(map(str.strip, sheet.cells(k)))]
    names = [k for k in asked if k >= lead and _tells_apart(sheet.cells(k))]
    who = whole or known or names[:1]
    sheet.people(who, also=asked)
    if not who and not sheet.choices.user and lead > start and _tells_apart(sheet.cells(start), 1):
        sheet.who = [cell.strip() for cell in sheet.cells(start)]
    return who


def _tells_apart(cells: Sequence[str], share: float = 0.6) -> bool:
    given = [cell.strip() for cell in cells]
    return all(given) and len({*given}) >= max(2, share * len(given))


def _is_time(place: int, cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell.strip()]
    return place < 7 and (not given or all(_DATE.search(cell) and ":" in cell for cell in given))


MICROSOFT_FORMS = Format(
    "microsoft-forms",
    "Microsoft Forms",
    "The responses of a quiz or a survey as xlsx (or saved again as CSV)",
    (
        Sign(
            "each question is followed by «Points - » and «Feedback - »",
            holds=lambda own: own.is_table and bool(_points(own.header)),
        ),
        Sign(
            "number, start, completion, e-mail and name come first",
            holds=lambda own: own.is_table and _start(own.header, own.full_rows) is not None,
        ),
    ),
    ByQuestion(_find_microsoft, split=lambda cells: split_column(cells, ";")),
    tried="a survey",
)

FORMATS = (GOOGLE_FORMS, MICROSOFT_FORMS)
