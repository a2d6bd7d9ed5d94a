"""Blackboard Learn: «Download Results» of a test, by user or by question and user."""

from __future__ import annotations

import re

from hitsndiffs.reading.formats.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Stream,
    Table,
)
from hitsndiffs.reading.formats.common import absent, number, plain, roles, squeezed
from hitsndiffs.reading.formats.people import persons

__all__ = ["BLACKBOARD"]

_PARTS = ("questionid", "question", "answer", "possiblepoints", "autoscore", "manualscore")


def _blocks(header: list[str] | tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return the columns of each question by its number (``""`` if columns have no numbers)."""
    blocks: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header):
        match = re.fullmatch(r"([a-z]+)(\d*)", squeezed(name))
        if match and match[1] in _PARTS:
            blocks.setdefault(match[2], {}).setdefault(match[1], place)
    return {
        label: block
        for label, block in blocks.items()
        if "answer" in block and ("autoscore" in block or "manualscore" in block)
    }


def _recognise(sample: Sample) -> str | None:
    if sample.kind in ("table", "sheets") and _blocks(sample.header):
        return "questions have the columns Answer, Auto Score and Manual Score"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    table = document.table(choices.sheet)
    stream = Stream()
    blocks = _blocks(table.header)
    if not blocks:
        raise absent("a Blackboard download", "Answer and Auto Score")
    first = min(min(block.values()) for block in blocks.values())
    identity = [
        k
        for k in range(first)
        if squeezed(table.header[k]) in ("username", "lastname", "firstname", "studentid")
    ] or list(range(min(first, 3)))
    if not identity:
        raise Refusal(
            "a Blackboard download without the names of the students",
            "download the results «by user»",
        )
    who = persons(table.header, table.rows, identity, choices.user)
    items = _items(table, blocks)
    long = "" in blocks
    seen: dict[tuple[str, str], int] = {}
    rows_of: dict[str, int] = {}
    for k, (row, person) in enumerate(zip(table.rows, who, strict=True)):
        rows_of[person] = rows_of.get(person, 0) + 1
        for label, block in blocks.items():
            item = items[label, k]
            if not item:
                continue
            score = next(
                (
                    value
                    for part in ("manualscore", "autoscore")
                    if part in block and (value := number(row[block[part]])) is not None
                ),
                None,
            )
            attempt = rows_of[person]
            if long:
                attempt = seen[person, item] = seen.get((person, item), 0) + 1
            stream.add(
                person,
                item,
                plain(row[block["answer"]]),
                attempt=attempt,
                points=score,
                possible=number(row[block["possiblepoints"]])
                if "possiblepoints" in block
                else None,
            )
    for block in blocks.values():
        roles(stream, table.header, [block["answer"]], "answers", "the answer to a question")
        scores = [block[p] for p in _PARTS[3:] if p in block]
        roles(stream, table.header, scores, "points", "the points of a question")
        named = [block[p] for p in _PARTS[:2] if p in block]
        roles(stream, table.header, named, "item", "the question")
    roles(stream, table.header, identity, "identity", "who answered")
    return stream


def _items(table: Table, blocks: dict[str, dict[str, int]]) -> dict[tuple[str, int], str]:
    """Return the item of each question in each row: its text, plus its id where texts repeat."""
    found: dict[tuple[str, int], tuple[str, str]] = {}
    numbers: dict[str, set[str]] = {}
    for k, row in enumerate(table.rows):
        for label, block in blocks.items():
            text = plain(row[block["question"]]) if "question" in block else ""
            code = row[block["questionid"]].strip() if "questionid" in block else ""
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
    _convert,
)
