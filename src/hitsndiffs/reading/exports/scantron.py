"""Scantron and similar scanners: one row per person, answers in _1, _2, …, 0 for no mark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.reading.exports.base import Format, Sample, absent
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.vocabulary import plain

__all__ = ["SCANTRON"]

_PLACE = re.compile(r"^_0*(\d+)$")
_ABOUT = {"specialcodes", "totalscore", "totalpct", "rawscore", "testform", "mi"}
_KEYS = {"key", "answerkey", "ans"}


def _answers(header: Sequence[str]) -> list[int]:
    """Return the indices of the columns _1, _2, _3, …."""
    places = [k for k, name in enumerate(header) if _PLACE.match(name.strip())]
    numbers = [int(header[k].strip()[1:]) for k in places]
    return places if len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1)) else []


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or not _answers(sample.header):
        return None
    if {plain(name) for name in sample.header} & _ABOUT:
        return "codes and totals are followed by _1, _2, _3, …"
    return None


def _convert(sheet: Sheet) -> None:
    header, stream = sheet.header, sheet.stream
    places = _answers(header)
    if not places:
        raise absent("a file of a scanner", "_1, _2, _3, …")
    bare = [plain(name) for name in header]
    identity = [k for k, name in enumerate(bare) if name in ("lastname", "firstname", "id")]
    keys = [row for row in sheet.rows if any(plain(row[k]) in _KEYS for k in identity)]
    others = [row for row in sheet.rows if row not in keys[:1]]
    sheet.keep_rows(others, "answer-key row", "it is not a person")
    who = sheet.persons(identity or [0])
    # If all marks are numbers, 0 means «no mark».
    marks = {row[k].strip() for row in sheet.rows for k in places} - {""}
    none = "0" if marks and all(mark.isdigit() for mark in marks) else ""
    for k in places:
        key = keys[0][k].strip() if keys else ""
        for row, person in zip(sheet.rows, who, strict=True):
            mark = row[k].strip()
            stream.add(
                person,
                header[k].strip(),
                None if mark == none else mark,
                key=None if key == none else key,
                status="unreadable" if mark == "*" else None,
            )
    if none and none in marks:
        stream.notes.append("The mark 0 is taken as no answer.")
    sheet.set_role(identity, "identity", "who answered")
    sheet.set_role(places, "answers", "the marks of a question")
    sheet.rest_unused("codes and totals of the scanner")


SCANTRON = Format(
    "scantron",
    "Scantron and similar scanners",
    "A row per person: name, id, codes, totals, then the marks in _1, _2, …",
    _recognise,
    by_table(_convert, key_from="the answer-key row"),
)
