"""Classroom tools: ZipGrade, scanners, Kahoot!."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hitsndiffs.reading.exports.base import Choices, Document, Sample, Sign
from hitsndiffs.reading.exports.blocks import Blocks
from hitsndiffs.reading.exports.common import single, unique, without_html, words
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.sheet import ByQuestion, Question, Sheet, cell_at, sheet_of
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
    )
).format(
    "zipgrade",
    "ZipGrade, full format",
    "CSV with student responses, from the website or the phone",
    "the columns Stu1 and Key1 (or PriKey1) are there",
    "a class of the website",
    key_from="the columns of keys",
)


# -- Scantron and similar scanners -----------------------------------------------------------------

_ABOUT = words("specialcodes|totalscore|totalpct|rawscore|testform|mi")


def _find_scantron(sheet: Sheet) -> list[Question]:
    places = {
        k: int(match[1])
        for k, name in enumerate(sheet.header)
        if (match := re.fullmatch(r"_0*(\d+)", name.strip()))
    }
    if len(places) < 2 or max(places.values()) >= 2 * len(places):
        return []
    marks = {cell.strip() for k in places for cell in sheet.cells(k)} - {""}
    none = {"", "0"} if marks and all(map(str.isdigit, marks)) else {""}
    if "0" in none & marks:
        sheet.stream.note("The mark 0 is taken as no answer.")
    return [
        Question(
            sheet.header[k].strip(),
            k,
            given=[
                None if (mark := cell.strip()) == "*" else () if mark in none else (mark,)
                for cell in sheet.cells(k)
            ],
        )
        for k in (places if sheet.named(_ABOUT) else ())
    ]


SCANTRON = ByQuestion(_find_scantron).format(
    "scantron",
    "Scantron and similar scanners",
    "A row per person: name, id, codes, totals, then the marks in _1, _2, …",
    "codes and totals are followed by _1, _2, _3, …",
)


def _find_forms(sheet: Sheet) -> list[Question]:
    """Find the questions of a scanned form (A1, A2, …, C2a): each form has a line in the header."""
    if plain(sheet.header[0] if sheet.header else "") != "ncsheader":
        return []
    names = [name.strip() for name in sheet.header]
    fits = re.compile(r"[a-z]{1,2}[-_ .]?\d{1,3}[a-z]?", re.IGNORECASE).fullmatch
    return [Question(name, k) for k, name in enumerate(names) if fits(name)]


def _who_of_forms(sheet: Sheet, _: set[int]) -> list[int]:
    """Return the column that tells the forms apart: its serial number, or the scanner's line."""
    named = sheet.named(("serialcode", "serialnumber", "serial", "lithocode", "id"))
    cells = {k: [cell.strip() for cell in sheet.cells(k)] for k in (*named, 0)}
    return [k for k, own in cells.items() if all(own) and len({*own}) == len(own)][:1]


SCANNED_FORMS = ByQuestion(_find_forms, who=_who_of_forms).format(
    "scantron-ncs",
    "Scantron, scanned forms (NCS)",
    "Workbooks or CSV of scanned forms: «NCS Header» first, then the fields of the form",
    "the first column is the scanner's «NCS Header»",
    "two workbooks of one survey",
)


# -- Kahoot!: the answers are on the sheet «RawReportData Data» ------------------------------------


def _raw_sheet(sample: Sample) -> str | None:
    return next((n for n in sample.sheets if plain(n).startswith("rawreportdata")), None)


def _kahoot(document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
    sheet = sheet_of(document, choices, stream, choices.sheet or _raw_sheet(document.sample))
    player, question, number, answer, right = map(
        sheet.find, ("Player", "Question", "Question Number", "Answer", "Correct Answers")
    )
    if player is None or question is None or answer is None:
        return
    rows = [[without_html(cell) for cell in row] for row in sheet.rows]
    rows = [row for row in rows if row[player] and row[question]]
    pairs = [(row[question], cell_at(row, number)) for row in rows]
    found = list(dict.fromkeys(pairs))
    labels = dict(zip(found, unique(text for text, _ in found), strict=True))
    shown = [k for k, name in enumerate(sheet.header) if re.fullmatch(r"answer\d", plain(name))]
    options = [[row[k] for k in shown if row[k]] for row in rows]
    given, keys = (
        [_named_in(cell_at(row, k), own) for row, own in zip(rows, options, strict=True)]
        for k in (answer, right)
    )
    # Where any one of several right answers was enough, there is no key to compare with.
    several = {pair for pair, own in zip(pairs, given, strict=True) if len(own) > 1}
    for row, pair, own, key in zip(rows, pairs, given, keys, strict=True):
        known = len(key) < 2 or pair in several
        yield Given(row[player], labels[pair], own, key=key if known else ())
    stream.note("Players are told apart by their nicknames.")
    sheet.set_role([player], "user", "the player")
    sheet.set_role([question], "item", "the question")
    sheet.set_role([answer], "answers", "the answer of a player")


def _named_in(text: str, options: Sequence[str]) -> tuple[str, ...]:
    """Return the options that a text names; options may contain commas."""
    left, found = text, []
    while left:
        fits = [o for o in options if left == o or left.startswith((o + ",", o + ";"))]
        if not fits:
            return single(text)
        found.append(max(fits, key=len))
        left = left[len(found[-1]) :].lstrip(",; ")
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
        Sign(
            "the columns Player, Answer and Correct Answers are there",
            ("player", "answer", "question", "correct answers", "answer 1"),
        ),
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
