"""Blackboard Learn: «Download Results» of a test, by user or by question and user."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent, number_attempts
from hitsndiffs.reading.exports.common import number, without_html
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at
from hitsndiffs.reading.vocabulary import plain

__all__ = ["BLACKBOARD"]

_PARTS = ("questionid", "question", "answer", "possiblepoints", "autoscore", "manualscore")


def _blocks(header: list[str] | tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return the columns of each question by its number (``""`` if columns have no numbers)."""
    blocks: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header):
        match = re.fullmatch(r"([a-z]+)(\d*)", plain(name))
        if match and match[1] in _PARTS:
            blocks.setdefault(match[2], {}).setdefault(match[1], place)
    return {
        label: block
        for label, block in blocks.items()
        if "answer" in block and ("autoscore" in block or "manualscore" in block)
    }


def _recognise(sample: Sample) -> str | None:
    if sample.is_table and _blocks(sample.header):
        return "questions have the columns Answer, Auto Score and Manual Score"
    return None


def _convert(sheet: Sheet) -> None:
    stream = sheet.stream
    blocks = _blocks(sheet.header)
    if not blocks:
        raise absent("a Blackboard download", "Answer and Auto Score")
    first = min(min(block.values()) for block in blocks.values())
    identity = [
        k
        for k in range(first)
        if plain(sheet.header[k]) in ("username", "lastname", "firstname", "studentid")
    ] or list(range(min(first, 3)))
    if not identity:
        raise Refusal(
            "a Blackboard download without the names of the students",
            "download the results «by user»",
        )
    who = sheet.persons(identity)
    items = _items(sheet, blocks)
    attempts = number_attempts(who)
    for k, row in enumerate(sheet.rows):
        for label, block in blocks.items():
            item = items[label, k]
            if not item:
                continue
            automatic = number(cell_at(row, block.get("autoscore")))
            manual = number(cell_at(row, block.get("manualscore")))
            stream.add(
                who[k],
                item,
                without_html(row[block["answer"]]),
                attempt=attempts[k],
                points=automatic if manual is None else manual,
                possible=number(cell_at(row, block.get("possiblepoints"))),
            )
    if "" in blocks:  # one row per question
        stream.number_repeats()
    for block in blocks.values():
        sheet.set_role([block["answer"]], "answers", "the answer to a question")
        scores = [block[p] for p in _PARTS[3:] if p in block]
        sheet.set_role(scores, "points", "the points of a question")
        named = [block[p] for p in _PARTS[:2] if p in block]
        sheet.set_role(named, "item", "the question")
    sheet.set_role(identity, "identity", "who answered")


def _items(table: Sheet, blocks: dict[str, dict[str, int]]) -> dict[tuple[str, int], str]:
    """Return the item of each question in each row: its text, plus its id where texts repeat."""
    found: dict[tuple[str, int], tuple[str, str]] = {}
    numbers: dict[str, set[str]] = {}
    for k, row in enumerate(table.rows):
        for label, block in blocks.items():
            text = without_html(cell_at(row, block.get("question")))
            code = cell_at(row, block.get("questionid"))
            answered = bool(row[block["answer"]].strip())
            if not text and not code and answered and label:
                code = f"Question {label}"
            found[label, k] = (text, code)
            numbers.setdefault(text, set()).add(code)
    return {
        place: (f"{text} ({code})" if len(numbers[text]) > 1 and code else text) if text else code
        for place, (text, code) in found.items()
    }


BLACKBOARD = Format(
    "blackboard",
    "Blackboard Learn, test results",
    "Grade Center, «Download Results» (by user, or by question and user), tab or comma",
    _recognise,
    by_table(_convert),
)
