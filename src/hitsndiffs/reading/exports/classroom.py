"""Classroom tools: ZipGrade, scanners, R/exams, Kahoot!."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from hitsndiffs.reading.exports.base import Choices, Document, Role, Sample, Sign
from hitsndiffs.reading.exports.blocks import Blocks
from hitsndiffs.reading.exports.common import unique, without_html, words
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.sheet import (
    ByQuestion,
    Question,
    Sheet,
    cell_at,
    sheet_of,
)
from hitsndiffs.reading.vocabulary import plain

__all__ = ["FORMATS"]

# -- ZipGrade: Stu1, PriKey1 (or Key1), Points1, Mark1, … ------------------------------------------

_ZIPGRADE = {
    **dict.fromkeys(("stu", "student"), "answer"),
    **dict.fromkeys(("prikey", "primarykey", "key"), "key"),
    **dict.fromkeys(("points", "earnedpt", "earnedpts"), "points"),
    **dict.fromkeys(("posspt", "posspts", "possiblepts", "possiblepoints"), "possible"),
}


ZIPGRADE = ByQuestion(
    Blocks(
        lambda name: _ZIPGRADE.get(plain(name)),
        need=("answer", "key"),
        version=("keyversion",),
        test=("quizname",),
        letters=True,
    ),
    who=words("firstname|lastname|studentid|zipgradeid|customid|externalid"),
).format(
    "zipgrade",
    "ZipGrade, full format",
    "CSV with student responses, from the website or the phone",
    "the columns Stu1 and Key1 (or PriKey1) are there",
    "a class of the website",
    key_from="the columns of keys",
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
            "the workbook has the sheets «Overview» and «Final Scores»",
            holds=lambda sample: {"overview", "finalscores"} <= {*map(plain, sample.sheets)},
        ),
    ),
    _kahoot,
    tried="reports without that sheet, which are refused",
    empty=(
        "a Kahoot! report without the sheet «RawReportData Data»",
        "download the whole report (xlsx) of the game",
    ),
    key_from="the column «Correct Answers»",
)

FORMATS = (ZIPGRADE, SCANTRON, SCANNED_FORMS, KAHOOT)
