"""Classroom tools: ZipGrade, scanners, R/exams, Kahoot!."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from hitsndiffs.reading.exports.base import Choices, Document, Format, Role, Sample, Sign, Stream
from hitsndiffs.reading.exports.common import folded, unique, without_html, words
from hitsndiffs.reading.exports.moodle import is_moodle
from hitsndiffs.reading.exports.records import Given, Records
from hitsndiffs.reading.exports.sheet import (
    ByQuestion,
    Question,
    Sheet,
    cell_at,
    numbered,
    sheet_of,
)
from hitsndiffs.reading.vocabulary import is_summary_name, plain, role_of_name

__all__ = ["KAHOOT", "QUESTION_BLOCKS", "SCANNED_FORMS", "SCANTRON", "ZIPGRADE"]

#: The columns of each question, by what they hold.
Blocks = Mapping[str, Mapping[str, int]]


def _items(
    sheet: Sheet, blocks: Blocks, version: Collection[str], test: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return the item in each row of each question: its number, with the test if there are several.

    Versions of a test with different keys have different questions.
    """
    first = min(min(parts.values()) for parts in blocks.values())
    versions, tests = (
        [row[places[0]].strip() if places else "" for row in sheet.rows]
        for places in (sheet.named(version, first), sheet.named(test, first))
    )
    keys: dict[tuple[str, int], dict[str, str]] = {}
    for row, own, title in zip(sheet.rows, versions, tests, strict=True):
        for place in (parts["key"] for parts in blocks.values() if "key" in parts):
            if row[place].strip():
                keys.setdefault((title, place), {}).setdefault(own, row[place].strip())
    if any(len(set(own.values())) > 1 for own in keys.values()):
        sheet.stream.notes.append(
            f"The {len(set(versions))} versions have different keys: their questions are separate "
            "items."
        )
    else:
        versions = [""] * len(versions)
    several = len(set(tests)) > 1
    return {
        label: [
            (f"{title}/" if several and title else "") + label + (f" (version {v})" if v else "")
            for v, title in zip(versions, tests, strict=True)
        ]
        for label in blocks
    }


# -- ZipGrade: Stu1, PriKey1 (or Key1), Points1, Mark1, … ------------------------------------------

_ZIPGRADE = {
    **dict.fromkeys(("stu", "student"), "answer"),
    **dict.fromkeys(("prikey", "primarykey", "key"), "key"),
    **dict.fromkeys(("points", "earnedpt", "earnedpts"), "points"),
    **dict.fromkeys(("posspt", "posspts", "possiblepts", "possiblepoints"), "possible"),
}


def _find_zipgrade(sheet: Sheet) -> list[Question]:
    found = numbered(sheet.header, lambda name: _ZIPGRADE.get(plain(name)))
    found = {k: own for k, own in found.items() if {"answer", "key"} <= own.keys()}
    used = {k: own for k, own in found.items() if any(map(str.strip, sheet.cells(own["key"])))}
    if not used:
        return [Question(k, own["answer"], own["key"]) for k, own in found.items()]
    if len(used) < len(found):
        empty = len(found) - len(used)
        sheet.stream.notes.append(f"{empty} places of the sheet have no key and are left out.")
    items = _items(sheet, used, ("keyversion",), ("quizname",))
    several = any(
        len(cell.strip()) > 1 for own in used.values() for cell in sheet.cells(own["key"])
    )
    return [
        Question(
            items[k],
            own["answer"],
            own["key"],
            points=tuple(own[p] for p in ("points",) if p in own),
            possible=own.get("possible"),
            shown=(own["key"],),
            given=[_marks(cell, several) for cell in sheet.cells(own["answer"])],
            keys=[_marks(cell, True) or () for cell in sheet.cells(own["key"])],
        )
        for k, own in used.items()
    ]


def _marks(cell: str, several: bool) -> tuple[str, ...] | None:
    """Return the letters marked in a cell: all of them, or None where only one may be marked."""
    text = cell.strip()
    if len(text) > 1 and text.isalpha():
        return tuple(text) if several else None
    return (text,) if text else ()


ZIPGRADE = ByQuestion(
    _find_zipgrade,
    who=words("firstname|lastname|studentid|zipgradeid|customid|externalid"),
    key_from="the columns of keys",
).format(
    "zipgrade",
    "ZipGrade, full format",
    "CSV with student responses, from the website or the phone",
    "the columns Stu1 and Key1 (or PriKey1) are there",
    "a class of the website",
)


# -- R/exams and others: answer.1, solution.1, points.1, answer.2, … -------------------------------

_ANSWERS = words(
    "answer|answers|options|response|responses|choice|chosen|selected|selection|studentanswer|"
    "studentresponse|givenanswer|youranswer|marked|antwort|réponse|respuesta|risposta|resposta|"
    "antwoord|svar|odpowiedź|ответ|回答|解答|答案|응답"
)
_CHECKS = words("check|checked|result|status|feedback|time|duration|comment")
_MARKED = words("|true|false|yes|no|y|n|1|0|c|x|i|correct|incorrect|right|wrong")
_VERSIONS = words("exam|form|version|testform|keyversion|booklet|variant|set|examset")
_NAMED = words("id|name|registration|matrikel|matrikelnummer|student|username|user|email|studentid")
_BITS = re.compile(r"[01]{1,10}")
#: Columns that only these tools have: their own formats read them.
_OTHERS = re.compile(r"(?:autoscore|manualscore|prikey|stu|itemid|itemtype)\d*")


def _part(name: str) -> str | None:
    text, role = plain(name), role_of_name(name)
    if text in _ANSWERS:
        return "answer"
    if role in ("key", "points") and text not in _CHECKS:
        return role
    if text in ("correct", "iscorrect", "right"):
        return "right"
    return "check" if text in _CHECKS else None


def _find_blocks(sheet: Sheet) -> list[Question]:
    if any(_OTHERS.fullmatch(plain(name)) for name in sheet.header) or is_moodle(sheet.header):
        return []
    found = sorted(numbered(sheet.header, _part).items(), key=lambda pair: int(pair[0]))
    blocks = {k: parts for k, parts in found if "answer" in parts}
    if len(blocks) < 2 or 2 * sum(len(parts) > 1 for parts in blocks.values()) <= len(blocks):
        return []
    named = _who_of_blocks(sheet, min(min(parts.values()) for parts in blocks.values())) or [0]
    answers = [parts["answer"] for parts in blocks.values()]
    rows = [
        row
        for row in sheet.rows
        if any(row[k].strip() for k in answers) or not any(is_summary_name(row[k]) for k in named)
    ]
    sheet.keep_rows(rows, "rows of averages", "they sum up the others")
    checked = [parts for parts in blocks.values() if "right" in parts and "key" not in parts]
    said = {folded(cell) for parts in checked for cell in sheet.cells(parts["right"])}
    for parts in checked if not said <= _MARKED else []:
        parts["key"] = parts.pop("right")  # the right answer, not whether it was given
    items = _items(sheet, blocks, _VERSIONS)
    solved = [parts["key"] for parts in blocks.values() if "key" in parts]
    bits = _bits([cell for k in (*answers, *solved) for cell in sheet.cells(k)])
    questions = []
    for k, parts in blocks.items():
        points = tuple(parts[p] for p in ("right", "points") if p in parts)
        one = Question(items[k], parts["answer"], parts.get("key"), points)
        sheet.set_role([parts["check"]] if "check" in parts else [], "unused", "about the answer")
        if bits:
            one.given = [_letters(cell, bits) for cell in sheet.cells(one.answer)]
            if one.key is not None:
                one.keys = [_letters(cell, bits) for cell in sheet.cells(one.key)]
        questions.append(one)
    return questions


def _who_of_blocks(sheet: Sheet, end: int) -> list[int]:
    return [
        k
        for k, name in enumerate(sheet.header[:end])
        if (plain(name) in _NAMED or role_of_name(name) == "identity")
        and 2 * len(set(sheet.cells(k))) > len(sheet.rows)
    ]


def _bits(cells: Sequence[str]) -> int:
    """Return how many options there are, if each answer is a 0 or 1 for each (``01000``), or 0.

    Saved again by a spreadsheet, some have lost the zeros in front.
    """
    given = {cell.strip().removesuffix(".0") for cell in cells} - {""}
    most = max(map(len, given), default=0)
    alike = most > 1 and min(map(len, given)) == most
    return most if all(map(_BITS.fullmatch, given)) and (alike or most > 2) else 0


def _letters(cell: str, n_options: int) -> tuple[str, ...]:
    """Return the options that are 1.

    Examples
    --------
    >>> _letters("01001", 5), _letters("00000", 5), _letters("1001", 5), _letters("", 5)
    (('B', 'E'), (), ('B', 'E'), ())
    """
    bits = cell.strip().removesuffix(".0").zfill(n_options) if cell.strip() else ""
    return tuple(chr(ord("A") + k) for k, bit in enumerate(bits) if bit == "1")


QUESTION_BLOCKS = ByQuestion(
    _find_blocks,
    who=lambda sheet, end: _who_of_blocks(sheet, end) or [0],
    key_from="the columns of right answers",
).format(
    "question-blocks",
    "Several columns per question (R/exams and others)",
    "answer.1, solution.1, points.1, answer.2, …: found by their numbers",
    "columns for answer and key or points repeat with 1, 2, 3, …",
)


# -- Scantron and similar scanners -----------------------------------------------------------------

_PLACE = re.compile(r"^_0*(\d+)$")
_ABOUT = words("specialcodes|totalscore|totalpct|rawscore|testform|mi")


def _find_scantron(sheet: Sheet) -> list[Question]:
    places = [k for k, name in enumerate(sheet.header) if _PLACE.match(name.strip())]
    numbers = [int(sheet.header[k].strip()[1:]) for k in places]
    if len(places) < 2 or numbers != list(range(1, len(places) + 1)) or not sheet.named(_ABOUT):
        return []
    # If all marks are numbers, 0 means «no mark».
    marks = {cell.strip() for k in places for cell in sheet.cells(k)} - {""}
    none = "0" if marks and all(mark.isdigit() for mark in marks) else ""
    if none in marks:
        sheet.stream.notes.append("The mark 0 is taken as no answer.")
    return [
        Question(
            sheet.header[k].strip(),
            k,
            given=[
                None if (mark := cell.strip()) == "*" else () if mark in ("", none) else (mark,)
                for cell in sheet.cells(k)
            ],
        )
        for k in places
    ]


SCANTRON = ByQuestion(
    _find_scantron,
    who=lambda sheet, end: sheet.named(("lastname", "firstname", "id"), end) or [0],
).format(
    "scantron",
    "Scantron and similar scanners",
    "A row per person: name, id, codes, totals, then the marks in _1, _2, …",
    "codes and totals are followed by _1, _2, _3, …",
)

_NUMBERED = re.compile(r"[a-z]{1,2}[-_ .]?\d{1,3}[a-z]?", re.IGNORECASE)


def _find_forms(sheet: Sheet) -> list[Question]:
    """Find the questions of a scanned form (A1, A2, …, C2a): each form has a line in the header."""
    if plain(sheet.header[0] if sheet.header else "") != "ncsheader":
        return []
    places = [k for k, name in enumerate(sheet.header) if _NUMBERED.fullmatch(name.strip())]
    return [Question(sheet.header[k].strip(), k) for k in places]


def _who_of_forms(sheet: Sheet, _: int) -> list[int]:
    """Return the column that tells the forms apart: its serial number, or the scanner's line."""
    for place in [*sheet.named(("serialcode", "serialnumber", "serial", "lithocode", "id")), 0]:
        cells = [cell.strip() for cell in sheet.cells(place)]
        if all(cells) and len(set(cells)) == len(cells):
            return [place]
    return []


SCANNED_FORMS = ByQuestion(_find_forms, who=_who_of_forms).format(
    "scantron-ncs",
    "Scantron, scanned forms (NCS)",
    "Workbooks or CSV of scanned forms: «NCS Header» first, then the fields of the form",
    "the first column is the scanner's «NCS Header»",
    "two workbooks of one survey",
)


# -- Kahoot!: the answers are on the sheet «RawReportData Data» ------------------------------------

_PLAYED = ("player", "answer", "question", "correct answers", "answer 1")


def _raw_sheet(sample: Sample) -> str | None:
    return next((n for n in sample.sheets if plain(n).startswith("rawreportdata")), None)


def _kahoot(document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
    sheet = sheet_of(document, choices, stream, choices.sheet or _raw_sheet(document.sample))
    places = {plain(name): k for k, name in reversed([*enumerate(sheet.header)])}
    if not {"player", "answer", "question"} <= places.keys():
        return
    texts = [[without_html(cell) for cell in row] for row in sheet.rows]
    rows = [row for row in texts if row[places["player"]] and row[places["question"]]]
    pairs = [(row[places["question"]], cell_at(row, places.get("questionnumber"))) for row in rows]
    found = list(dict.fromkeys(pairs))
    labels = dict(zip(found, unique(text for text, _ in found), strict=True))
    shown = [k for name, k in places.items() if re.fullmatch(r"answer\d", name)]
    options = [[row[k] for k in shown if row[k]] for row in rows]
    given, keys = (
        [
            match_options(cell_at(row, places.get(name)), own)
            for row, own in zip(rows, options, strict=True)
        ]
        for name in ("answer", "correctanswers")
    )
    # Where any one of several right answers was enough, there is no key to compare with.
    several = {pair for pair, own in zip(pairs, given, strict=True) if len(own) > 1}
    for row, pair, answer, key in zip(rows, pairs, given, keys, strict=True):
        known = len(key) < 2 or pair in several
        yield Given(row[places["player"]], labels[pair], answer, key=key if known else ())
    stream.notes.append("Players are told apart by their nicknames.")
    for name, role in (("player", "user"), ("question", "item"), ("answer", "answers")):
        sheet.set_role([places[name]], cast("Role", role), f"the column «{name}»")


def match_options(text: str, options: Sequence[str]) -> tuple[str, ...]:
    """Return the options that a text names; options may contain commas.

    Examples
    --------
    >>> match_options("Red, Blue, dark", ["Red", "Blue, dark", "Green"])
    ('Red', 'Blue, dark')
    >>> match_options("something else, here", ["Red"])
    ('something else, here',)
    """
    if not text or text in options:
        return (text,) if text else ()
    left, found = text, []
    while left:
        fits = [o for o in options if left == o or left.startswith((o + ",", o + ";"))]
        if not fits:
            return (text,)
        option = max(fits, key=len)
        found.append(option)
        left = left[len(option) :].lstrip(",; ")
    return tuple(found)


KAHOOT = Format(
    "kahoot",
    "Kahoot!, report",
    "The report of a game as xlsx (the sheet «RawReportData Data»)",
    (
        Sign(
            "the workbook has a sheet «RawReportData Data»",
            holds=lambda sample: _raw_sheet(sample) is not None,
        ),
        Sign("the columns Player, Answer and Correct Answers are there", _PLAYED),
        Sign(
            "the workbook has a sheet «Final Scores»",
            holds=lambda sample: "finalscores" in map(plain, sample.sheets),
        ),
    ),
    Records(
        _kahoot,
        (
            "a Kahoot! report without the sheet «RawReportData Data»",
            "download the whole report (xlsx) of the game",
        ),
        key_from="the column «Correct Answers»",
    ),
    "reports without that sheet, which are refused",
)
