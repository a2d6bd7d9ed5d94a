"""Gradescope: «Export Evaluations» (ticked rubric items); scores alone are refused."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, refusing
from hitsndiffs.reading.exports.common import folded, number, stem_of_name
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["GRADESCOPE", "GRADESCOPE_SCORES"]

_FIRST = ("assignment submission id", "question submission id")
_AFTER = ("adjustment", "comments", "grader", "tags")
_BELOW = ("point values", "rubric numbers", "rubric type", "scoring method", "scoring type")
_POINTS = re.compile(r"^\s*[\d.]+:.*\([\d.]+ pts?\)\s*$", re.DOTALL)


def _recognise(sample: Sample) -> str | None:
    names = tuple(folded(name) for name in sample.header[:2])
    return "evaluations by rubric, one submission per row" if names == _FIRST else None


def _convert(sheet: Sheet) -> None:
    names = [folded(name) for name in sheet.header]
    rows = [row for row in sheet.rows if not _is_below(row)]
    if tuple(names[:2]) != _FIRST or not rows:
        raise Refusal(
            "a Gradescope export without rubric items",
            "«Export Evaluations» of an assignment graded with a rubric",
        )
    sheet.keep_rows(rows, "rows below the table", "they describe the rubric")
    start = names.index("submission time") + 1 if "submission time" in names else 8
    end = min((names.index(name) for name in _AFTER if name in names), default=len(names))
    wanted = ("first name", "last name", "sid", "email", "name")
    identity = [k for k, name in enumerate(names) if name in wanted]
    who = sheet.persons(identity or [0])
    item = re.sub(r"^\d+_", "", stem_of_name(sheet.name)).replace("_", " ").strip()
    score = sheet.find("score")
    labels = [" ".join(sheet.header[k].split()) for k in range(start, end)]
    for row, person in zip(rows, who, strict=True):
        ticked = [
            label for k, label in enumerate(labels, start) if row[k].strip().casefold() == "true"
        ]
        sheet.stream.add(person, item, ticked, points=number(cell_at(row, score)))
    sheet.set_role(identity, "identity", "who is graded")
    sheet.set_role(range(start, end), "answers", "a rubric item, ticked or not")
    sheet.stream.notes.append(
        "The options are the rubric items that the graders ticked, not what the students wrote."
    )


def _is_below(row: list[str]) -> bool:
    return any(folded(cell).rstrip(":") in _BELOW for cell in row[:10])


def _recognise_scores(sample: Sample) -> str | None:
    if not sample.is_table:
        return None
    points = [name for name in sample.header if _POINTS.match(name)]
    if points and not any(folded(name) in _FIRST for name in sample.header):
        return "the questions («1: Title (2.0 pts)») hold points"
    return None


GRADESCOPE = Format(
    "gradescope",
    "Gradescope, evaluations",
    "«Export Evaluations»: a zip with one CSV per question, rubric items true or false",
    _recognise,
    by_table(_convert),
)
GRADESCOPE_SCORES = Format(
    "gradescope-scores",
    "Gradescope, scores (refused)",
    "«Download Grades»: points per question, no answers",
    _recognise_scores,
    refusing(
        "Gradescope's table of scores: points per question and no answers",
        "«Export Evaluations» of the assignment instead",
    ),
)
