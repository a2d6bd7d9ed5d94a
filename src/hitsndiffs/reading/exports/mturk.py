"""Amazon Mechanical Turk: batch results, and the older «HitId, Answer 1, Answer 2, …»."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent
from hitsndiffs.reading.exports.common import as_text, is_free_text, literal, objects, split_column
from hitsndiffs.reading.exports.entries import chosen_only
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["MTURK"]

_ANSWER = re.compile(r"^Answer(?:[. _](?P<name>.+))?$", re.IGNORECASE | re.DOTALL)
_REMARK = re.compile(r"expla|comment|feedback|reason|why|justif|rationale|suggest|detail", re.I)
_BOOLEANS = frozenset(("true", "false", "on", "off", ""))


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or not sample.has_columns("HITId", "AssignmentId"):
        return None
    if any(_ANSWER.match(name.strip()) for name in sample.header):
        return "the columns HITId, AssignmentId and Answer are there"
    return None


def _convert(sheet: Sheet) -> None:
    stream = sheet.stream
    hit, assignment, worker = (sheet.find(n) for n in ("HITId", "AssignmentId", "WorkerId"))
    if worker is None or not any(row[worker].strip() for row in sheet.rows):
        worker = assignment
        stream.notes.append("The file does not name the workers: each assignment counts as one.")
    if hit is None or worker is None:
        raise absent("an MTurk batch", "HITId and AssignmentId")
    who = sheet.persons([worker])
    hits = sheet.given_items() or _tasks(sheet, hit)
    questions = chosen_only(_questions(sheet), sheet.choices.option)
    single = len(set(hits)) == 1
    for name, answers in questions.items():
        for person, task, answer in zip(who, hits, answers, strict=True):
            if answer is None:
                continue
            item = name if single else (task if len(questions) == 1 else f"{task}/{name}")
            stream.add(person, item, answer)
    if not stream.persons:
        raise Refusal(
            "an MTurk batch whose answers are free text", "only answers by choice can be ranked"
        )
    stream.number_repeats()
    sheet.set_role([worker], "user", "the worker")
    sheet.set_role([hit], "item", "the task")
    sheet.rest_unused("about the batch, or what the workers saw")


def _tasks(sheet: Sheet, hit: int) -> list[str]:
    """Return the task of each row: equal inputs are one task, even if posted again."""
    inputs = [k for k, name in enumerate(sheet.header) if name.strip().lower().startswith("input.")]
    if not inputs:
        # Without inputs, every HIT shows the same page.
        return ["task"] * len(sheet.rows)
    first: dict[tuple[str, ...], str] = {}
    return [first.setdefault(tuple(row[k] for k in inputs), row[hit].strip()) for row in sheet.rows]


def _questions(sheet: Sheet) -> dict[str, list[tuple[str, ...] | None]]:
    """Return the answers of each row by question; None if it was not asked."""
    groups: dict[str, dict[str, int]] = {}
    single: dict[str, int] = {}
    for place, header in enumerate(sheet.header):
        match = _ANSWER.match(header.strip())
        if match is None:
            continue
        name = match["name"] or "answer"
        base, dot, option = name.rpartition(".")
        texts = {row[place].strip().casefold() for row in sheet.rows}
        if dot and texts <= _BOOLEANS:
            groups.setdefault(base, {})[option] = place
        else:
            single[name.removesuffix(".label")] = place
    found: dict[str, list[tuple[str, ...] | None]] = {}
    for base, options in groups.items():
        places = list(options.values())
        if len(options) == 1:
            single[base] = places[0]
            continue
        found[base] = [
            tuple(o for o, k in options.items() if row[k].strip().casefold() in ("true", "on"))
            if any(row[k].strip() for k in places)
            else None
            for row in sheet.rows
        ]
        sheet.set_role(places, "answers", "an option, true where it was chosen")
    for name, place in single.items():
        cells = [cell.strip() for cell in sheet.cells(place)]
        if not any(cells):
            continue
        if any(cell[:1] in "[{" and len(cell) > 1 for cell in cells):
            nested = _nested(cells)
            if nested:
                found.update(nested)
                sheet.set_role([place], "answers", "answers as JSON")
                continue
        typed = bool(groups) and name.endswith(("_text", ".text"))  # «other, please specify»
        typed = typed or role_of_name(name) == "comment"
        if role_of_name(name) == "time" and look_at(cells).is_number:
            sheet.set_role([place], "time", "named like a time")
            continue
        if typed or is_free_text(cells) or (_REMARK.search(name) and _all_differ(cells)):
            sheet.set_role([place], "comment", "free text")
            continue
        found[name] = list(split_column(cells, "|"))
        sheet.set_role([place], "answers", "an answer")
    return found


def _nested(cells: Sequence[str]) -> dict[str, list[tuple[str, ...] | None]]:
    """Read ``[{"q": {"A": true, "B": false}}]``: the options that are true."""
    found: dict[str, list[tuple[str, ...] | None]] = {}
    for k, cell in enumerate(cells):
        for record in objects(literal(cell)):
            for name, value in record.items():
                chosen: tuple[str, ...] | None = None
                if isinstance(value, dict) and all(isinstance(v, bool) for v in value.values()):
                    chosen = tuple(option for option, on in value.items() if on)
                elif isinstance(value, dict) and "label" in value:
                    chosen = (as_text(value["label"]),)
                elif isinstance(value, (str, int, float)):
                    chosen = (as_text(value),)
                if chosen is not None:
                    found.setdefault(str(name), [None] * len(cells))[k] = chosen
    return {
        name: answers
        for name, answers in found.items()
        if role_of_name(name) != "comment"
        and not is_free_text(["; ".join(a) if a else "" for a in answers])
    }


def _all_differ(cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell]
    return len(given) > 2 and len(set(given)) > 0.8 * len(given)


MTURK = Format(
    "mturk",
    "Amazon Mechanical Turk, batch results",
    "«Batch_…_batch_results.csv»: a row per assignment, Answer.* columns",
    _recognise,
    by_table(_convert),
)
