"""Forms: Google Forms and Microsoft Forms, quizzes and surveys.

Both write times and addresses first, then the questions; in a quiz, two columns with the name of
the question follow each of them: its points, and feedback.
"""

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
_OF = re.compile(r"^\s*\d+(?:[.,]\d+)? / \d+(?:[.,]\d+)?\s*$")
_TOTALS = words(
    "score|total score|punkte|punktzahl|gesamtpunktzahl|note|score total|puntuación|"
    "puntuación total|pontuação|pontuação total|punteggio|punteggio totale|баллы|スコア"
)
#: What Microsoft Forms writes between the address and the questions.
_AFTER = words(
    "last modified time|heure de la dernière modification|ora ultima modifica|"
    "uhrzeit der letzten änderung|hora de la última modificación|language|total points|"
    "quiz feedback|grade posted time"
)
#: What the name of a question ends in: a mark, a bracket or a number.
_ENDS = re.compile(r"[?？:：\])\d.…]\s*$")
_ENGLISH = re.compile(r"points\s+[-–]", re.IGNORECASE)
_BEFORE, _BEHIND = r"[^\W\d][\w ]{1,30} ?[-–:] ?", r" ?\[[^\]]+\]"


def _graded(header: Sequence[str], mark: str) -> dict[int, list[int]]:
    """Return the questions that are followed by their points and their feedback, with these.

    These have the name of the question and a ``mark``, ``_BEFORE`` or ``_BEHIND`` it. In languages
    other than English, what stands before is the same for all questions.

    Examples
    --------
    >>> header = ["ID", "Q", "Punkte - Q", "Feedback - Q", "R", "Punkte - R", "Feedback - R"]
    >>> _graded(header, _BEFORE), _graded(["Q", "Q [Score]", "Q [Feedback]"], _BEHIND)
    ({1: [2, 3], 4: [5, 6]}, {0: [1, 2]})
    """
    names = [*map(folded, header), ""]
    english = [k for k in range(1, len(header)) if _ENGLISH.match(names[k])]
    if english and mark is _BEFORE:
        return {k - 1: [k, k + 1] if names[k + 1].startswith("feedback") else [k] for k in english}
    before, behind = (mark, "") if mark is _BEFORE else ("", mark)
    points, said = (rf"(?P<{n}>(?P<{n}_>{before})(?P=q){behind})" for n in ("points", "said"))
    found = adjacent(header, rf"(?P<q>.+)\n{points}\n{said}")
    counts = Counter((own["points_"], own["said_"]) for _, own in found)
    common = [pair for pair, n in counts.items() if n > 1 or mark is _BEHIND]
    return {
        places["q"]: [places["points"], places["said"]]
        for places, own in found
        if (own["points_"], own["said_"]) in common
    }


def _total(names: Sequence[str], rows: Sequence[Sequence[str]], end: int = 3) -> list[int]:
    """Return the column of the score of the whole form, if there is one."""
    for k in range(1, min(end, len(names))):
        cells = [row[k] for row in rows if row[k].strip()]
        named = folded(names[k]) in _TOTALS and all(number(cell) is not None for cell in cells)
        if named or sum(bool(_OF.match(cell)) for cell in cells) >= 0.8 * len(cells) > 0:
            return [k]
    return []


def _says_who(name: str, cells: Sequence[str]) -> bool:
    """Whether a column says who answered: e-mail addresses, or names that mostly differ."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if given and all(map(_MAIL.match, given)):
        return True
    if not given or 2 * len(given) < len(cells) or len(name) > 60:
        return False
    return bool(ASKS_WHO.search(name)) and len({*given}) >= min(0.6 * len(given), len(given) - 1)


def _are_questions(names: Sequence[str]) -> bool:
    """Whether at least half of some columns are worded as forms ask, not as logs name columns."""
    asked = [
        len(name.split()) > 2
        or len(name) > 20
        or _ENDS.search(name) is not None
        or ASKS_WHO.search(name) is not None
        or role_of_name(name) == "identity"
        for name in names
    ]
    return 2 * sum(asked) >= len(asked) > 0


def _find(sheet: Sheet, lead: int, scored: dict[int, list[int]], mark: str) -> list[Question]:
    """Return the questions behind the columns that the form writes first, and say who answered."""
    names, rows = sheet.names, sheet.rows
    graded = [k for k, own in scored.items() if any(row[own[0]].strip() for row in rows)] or [
        *scored
    ]
    totals = [k for k in _total(names, rows, lead + 3) if k not in scored]
    known = {*graded, *totals, *(k for own in scored.values() for k in own)}
    rest = [k for k in range(1, len(names)) if k not in known]
    asked = [k for k in rest if _says_who(names[k], sheet.cells(k))]
    roles = {k: "time" if folded(names[k]) in _AFTER else role_of_name(names[k]) for k in rest}
    others = [k for k in rest if k not in asked and roles[k] not in ("identity", "time")]
    mails = [k for k in asked if any(_MAIL.match(row[k].strip()) for row in rows)]
    numbers = [cell.strip() for cell in sheet.cells(lead - 5)] if lead >= 5 else [""]
    counted = [lead - 5] if all(numbers) and len({*numbers}) == len(numbers) > 1 else []
    sheet.people(mails or asked or counted, also=asked)
    sheet.set_role((k for k in asked if mails and k not in mails), "identity", "who answered")
    sheet.set_role(
        (k for k in rest if roles[k] == "identity" and k not in asked),
        "identity",
        "about the person",
    )
    sheet.set_role((k for k in rest if roles[k] == "time"), "time", "when the form was sent")
    sheet.set_role(totals, "points", "the score of the whole form")
    feedback = (k for own in scored.values() for k in own[1:])
    sheet.set_role(feedback, "comment", "feedback to a question")
    others = [k for k in others if k >= lead]
    places = graded if len(graded) >= len(others) else sorted([*graded, *others])
    labels = unique(" ".join(sheet.header[k].split()) or f"column {k + 1}" for k in places)
    return [
        Question(
            label,
            k,
            points=tuple(scored.get(k, ())[:1]),
            given=split_column(sheet.cells(k), mark),
        )
        for k, label in zip(places, labels, strict=True)
    ]


# -- Google Forms: the CSV from the form itself, and the linked sheet ------------------------------

_STAMPS = words(
    "timestamp|zeitstempel|horodateur|marca temporal|carimbo de data/hora|"
    "informazioni cronologiche|tijdstempel|タイムスタンプ|отметка времени|sygnatura czasowa|"
    "tidsstämpel|tidsstempel|tidsmerke|aikaleima|časové razítko|časová pečiatka|zaman damgası|"
    "时间戳记|時間戳記|타임스탬프|طابع زمني|حقب زمنية|חותמת זמן|marca de temps|dấu thời gian|"
    "stempel waktu|cap waktu|ประทับเวลา|позначка часу|időbélyeg|marcaj de timp|χρονική σήμανση|"
    "vremenska oznaka|клеймо за време|टाइमस्टैंप"
)
_WHEN = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}.{0,4}\d{1,2}[:.]\d{2}")


def _scored(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, list[int]]:
    found = _graded(names, _BEHIND)
    return {k: own for k, own in found.items() if any(_OF.match(row[own[0]]) for row in rows)}


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
    scored = _scored(sheet.names, sheet.rows)
    sheet.set_role([0] if sheet.header else [], "time", "when the form was sent")
    # the form joins ticked options with semicolons, the linked sheet with commas
    by_form = bool(scored) or any("GMT" in row[0] or "UTC" in row[0] for row in sheet.rows)
    return _find(sheet, 1, scored, ";" if by_form else ",")


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

_DATE = re.compile(r"\d{1,4}[/.\-]\d{1,2}[/.\-]\d{1,4}|^\d{5}(?:[.,]\d+)?$")


def _start(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """Return where number, start, completion and e-mail stand side by side, as in all forms."""
    for at in range(min(3, len(header) - 5)) if rows else ():
        names = [folded(name) for name in header[at : at + 3]]
        number, start, end, mail = ([row[k].strip() for row in rows] for k in range(at, at + 4))
        timed = any(start) and all(map(_DATE.search, filter(None, (*start, *end))))
        numbered = all(cell.removesuffix(".0").isdigit() for cell in number)
        mailed = any(mail) and all("@" in one or one in ("", "anonymous") for one in mail)
        named = names == ["id", "start time", "completion time"]
        if timed and (named or (numbered and mailed)) and _are_questions(header[at + 5 :]):
            return at
    return None


def _find_microsoft(sheet: Sheet) -> list[Question]:
    graded = _graded(sheet.header, _BEFORE)
    start = _start(sheet.header, sheet.rows[:50])
    if not graded and start is None:
        return []
    return _find(sheet, min([*graded, (start or 0) + 5]), graded, ";")


MICROSOFT_FORMS = Format(
    "microsoft-forms",
    "Microsoft Forms",
    "The responses of a quiz or a survey as xlsx (or saved again as CSV)",
    (
        Sign(
            "each question is followed by «Points - » and «Feedback - »",
            holds=lambda own: own.is_table and bool(_graded(own.header, _BEFORE)),
        ),
        Sign(
            "number, start, completion, e-mail and name come first",
            holds=lambda own: own.is_table and _start(own.header, own.full_rows) is not None,
        ),
    ),
    ByQuestion(_find_microsoft),
    tried="a survey",
)

FORMATS = (GOOGLE_FORMS, MICROSOFT_FORMS)
