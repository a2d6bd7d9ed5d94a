"""ZipGrade: the CSV with student responses, from the website or the phone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.reading.exports.base import Format, Sample, Status, absent, refusing
from hitsndiffs.reading.exports.common import first_places, number
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at
from hitsndiffs.reading.vocabulary import plain

__all__ = ["ZIPGRADE", "ZIPGRADE_SUMMARY"]

_PART = re.compile(r"(stu|student|prikey|primarykey|key|points|earnedpts?|possp?ts?|mark)(\d+)")
_SAME = {
    "student": "stu",
    "prikey": "key",
    "primarykey": "key",
    "earnedpt": "points",
    "earnedpts": "points",
    "posspt": "possible",
    "posspts": "possible",
    "posst": "possible",
}


def _slots(header: Sequence[str]) -> dict[int, dict[str, int]]:
    slots: dict[int, dict[str, int]] = {}
    for place, name in enumerate(header):
        match = _PART.fullmatch(plain(name))
        if match:
            part = _SAME.get(match[1], match[1])
            slots.setdefault(int(match[2]), {}).setdefault(part, place)
    return {k: parts for k, parts in slots.items() if "stu" in parts and "key" in parts}


def _recognise(sample: Sample) -> str | None:
    if sample.is_table and _slots(sample.header):
        return "the columns Stu1 and Key1 (or PriKey1) are there"
    return None


def _convert(sheet: Sheet) -> None:
    rows, stream = sheet.rows, sheet.stream
    slots = _slots(sheet.header)
    if not slots:
        raise absent("a ZipGrade file", "Stu1 and Key1")
    bare = [plain(name) for name in sheet.header]
    wanted = ("firstname", "lastname", "studentid", "zipgradeid", "customid", "externalid")
    identity = [k for k, name in enumerate(bare) if name in wanted]
    who = sheet.persons(identity)
    places = first_places(bare)
    quizzes = [cell_at(row, places.get("quizname")) for row in rows]
    several_quizzes = len(set(quizzes)) > 1
    versions = [cell_at(row, places.get("keyversion")) for row in rows]
    used = {
        k: parts for k, parts in slots.items() if any(row[parts["key"]].strip() for row in rows)
    }
    apart = _keys_differ(rows, list(zip(quizzes, versions, strict=True)), used)
    several = any(len(row[parts["key"]].strip()) > 1 for row in rows for parts in used.values())
    for k, parts in used.items():
        for row, person, form, title in zip(rows, who, versions, quizzes, strict=True):
            marks, key = row[parts["stu"]].strip(), row[parts["key"]].strip()
            letters = marks.isalpha() and len(marks) > 1
            status: Status | None = None
            if not key:
                status = "not shown"
            elif letters and not several:
                status = "unreadable"
            stream.add(
                person,
                (f"{title}/" if several_quizzes else "")
                + (f"{k} (version {form})" if apart else str(k)),
                tuple(marks) if letters and several else marks,
                points=number(cell_at(row, parts.get("points"))),
                possible=number(cell_at(row, parts.get("possible"))),
                key=tuple(key) if key.isalpha() and len(key) > 1 else key,
                status=status,
            )
        sheet.set_role([parts["stu"]], "answers", "the marks of a question")
        sheet.set_role([parts["key"]], "key", "the key of the student's version")
        rest = [place for part, place in parts.items() if part not in ("stu", "key")]
        sheet.set_role(rest, "points", "points and marks of a question")
    if apart:
        count = len(set(versions))
        stream.notes.append(f"The {count} key versions differ: their questions are separate items.")
    if len(used) < len(slots):
        empty = len(slots) - len(used)
        stream.notes.append(f"{empty} places of the sheet have no key and are left out.")
    sheet.set_role(identity, "identity", "who answered")
    sheet.rest_unused("about the whole quiz, or a place without a key")


def _keys_differ(
    rows: Sequence[Sequence[str]],
    versions: Sequence[tuple[str, str]],
    used: dict[int, dict[str, int]],
) -> bool:
    """Whether two versions of a quiz have different keys, so their question n differs."""
    for parts in used.values():
        keys: dict[str, dict[str, str]] = {}
        for row, (quiz, version) in zip(rows, versions, strict=True):
            if row[parts["key"]].strip():
                keys.setdefault(quiz, {}).setdefault(version, row[parts["key"]].strip())
        if any(len(set(found.values())) > 1 for found in keys.values()):
            return True
    return False


ZIPGRADE = Format(
    "zipgrade",
    "ZipGrade, full format",
    "CSV with student responses, from the website or the phone",
    _recognise,
    by_table(_convert, key_from="the columns of keys"),
)


def _recognise_summary(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) > 100:
        return None
    there = {plain(name) for name in sample.header}
    quiz = {"quizname", "quizclass", "percentcorrect"} <= there
    return "a quiz and percentages, without Stu1" if quiz and not _slots(sample.header) else None


ZIPGRADE_SUMMARY = Format(
    "zipgrade-summary",
    "ZipGrade, standard format (refused)",
    "CSV with scores only",
    _recognise_summary,
    refusing(
        "ZipGrade's standard export: scores without the answers",
        "choose «Full format (with student responses)» instead",
    ),
)
