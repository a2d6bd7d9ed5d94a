"""Kahoot!: the report as a workbook; the answers are on the sheet «RawReportData Data»."""

from __future__ import annotations

from collections.abc import Sequence

from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Stream,
)
from hitsndiffs.reading.exports.common import first_places, unique, without_html
from hitsndiffs.reading.exports.sheet import Sheet, cell_at
from hitsndiffs.reading.vocabulary import plain

__all__ = ["KAHOOT"]

_WANTED = ("player", "answer", "question")


def _recognise(sample: Sample) -> str | None:
    raw = _raw_sheet(sample.sheets)
    if raw is not None:
        return f"the workbook has a sheet «{raw}»"
    bare = [plain(name) for name in sample.header]
    if sample.is_table and {*_WANTED, "correctanswers", "answer1"} <= {*bare}:
        return "the columns Player, Answer and Correct Answers are there"
    if sample.kind == "sheets" and any(plain(name) == "finalscores" for name in sample.sheets):
        return "the workbook has a sheet «Final Scores»"
    return None


def _raw_sheet(sheets: Sequence[str]) -> str | None:
    return next((name for name in sheets if plain(name).startswith("rawreportdata")), None)


def _convert(document: Document, choices: Choices) -> Stream:
    table = document.table(choices.sheet or _raw_sheet(document.sample.sheets))
    sheet = Sheet(**vars(table), stream=Stream(key_from="the column «Correct Answers»"))
    places = first_places(plain(name) for name in sheet.header)
    if not {*_WANTED} <= places.keys():
        raise Refusal(
            "a Kahoot! report without the sheet «RawReportData Data»",
            "download the whole report (xlsx) of the game",
        )
    stream = sheet.stream
    player, answer, question = (places[name] for name in _WANTED)
    correct = places.get("correctanswers")
    shown = [k for name, k in places.items() if name[:-1] == "answer" and name[-1:].isdigit()]
    items = _items(sheet, places.get("questionnumber"), question)
    for row, item in zip(sheet.rows, items, strict=True):
        person = without_html(row[player])
        if not person or not item:
            continue
        options = [text for k in shown if (text := without_html(row[k]))]
        key = match_options(without_html(cell_at(row, correct)), options)
        # Points fall with time, so they do not show which answer is right.
        stream.add(person, item, match_options(without_html(row[answer]), options), key=key)
    _without_alternatives(stream)
    stream.notes.append("Players are told apart by their nicknames.")
    sheet.set_role([player], "user", "the nickname of the player")
    sheet.set_role([question], "item", "the question")
    sheet.set_role([answer], "answers", "what the player chose")
    if correct is not None:
        sheet.set_role([correct], "key", "the right answers")
    return stream


def _without_alternatives(stream: Stream) -> None:
    """Drop the key of questions where any one of several right answers was enough."""
    several = {i for i, answer in zip(stream.items, stream.answers, strict=True) if len(answer) > 1}
    stream.keys = [
        key if key is None or len(key) == 1 or item in several else None
        for item, key in zip(stream.items, stream.keys, strict=True)
    ]


def _items(table: Sheet, order: int | None, question: int) -> list[str]:
    """Return the item of each row: its text, numbered if several questions share it."""
    pairs = [(without_html(row[question]), cell_at(row, order)) for row in table.rows]
    found = list(dict.fromkeys(pairs))
    labels = dict(zip(found, unique(text for text, _ in found), strict=True))
    return [labels[pair] if pair[0] else "" for pair in pairs]


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
    _recognise,
    _convert,
)
