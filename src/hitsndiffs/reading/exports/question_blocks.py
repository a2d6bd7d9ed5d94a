"""Tables with several columns per question: answer.1, solution.1, points.1, answer.2, … (R/exams).

No single tool has this layout. Columns are grouped by their numbers; each group has a column named
like an answer, and most groups another named like a key, points or a check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hitsndiffs.reading.exports.base import Format, Sample, absent
from hitsndiffs.reading.exports.blackboard import BLACKBOARD
from hitsndiffs.reading.exports.canvas_new import CANVAS_NEW
from hitsndiffs.reading.exports.common import folded, number, words
from hitsndiffs.reading.exports.moodle import MOODLE, MOODLE_GRADES
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at
from hitsndiffs.reading.exports.zipgrade import ZIPGRADE
from hitsndiffs.reading.vocabulary import is_summary_name, plain, role_of_name

__all__ = ["QUESTION_BLOCKS"]

_BEHIND = re.compile(r"^(?P<part>\D+?)[\s._\-#(\[]*(?P<number>\d{1,3})[)\]]?$")
_BEFORE = re.compile(
    r"^(?:q|question|item|frage|pregunta)?[\s._\-#]*(?P<number>\d{1,3})[\s._\-:]+(?P<part>\D+)$",
    re.I,
)
_ANSWERS = words(
    "answer|answers|options|response|responses|choice|chosen|selected|selection|studentanswer|"
    "studentresponse|givenanswer|youranswer|marked|antwort|réponse|respuesta|risposta|resposta|"
    "antwoord|svar|odpowiedź|ответ|回答|解答|答案|응답"
)
_CHECKS = words(
    "check|checked|iscorrect|correct|right|result|status|feedback|time|duration|comment"
)
#: What a column that checks an answer says, as points.
_RIGHT = dict.fromkeys(("true", "yes", "y", "1", "c", "correct", "right"), 1.0)
_RIGHT |= dict.fromkeys(("false", "no", "n", "0", "x", "i", "incorrect", "wrong"), 0.0)
_VERSIONS = words("exam|form|version|testform|keyversion|booklet|variant|set|examset")
_BITS = re.compile(r"[01]{2,10}")

Blocks = dict[int, dict[str, int]]


def _blocks(header: Sequence[str]) -> Blocks:
    """Return for each question the columns of its answer, key, points and check."""
    if len(header) > 5000:
        return {}
    found: dict[int, dict[str, int]] = {}
    for place, name in enumerate(header):
        match = _BEHIND.match(name.strip()) or _BEFORE.match(name.strip())
        if match is None or len(name) > 60:
            continue
        part = _part(match["part"])
        if part is not None:
            found.setdefault(int(match["number"]), {}).setdefault(part, place)
    blocks = {k: parts for k, parts in found.items() if "answer" in parts}
    others = [k for k, parts in blocks.items() if len(parts) > 1]
    return blocks if len(blocks) > 1 and 2 * len(others) > len(blocks) else {}


def _part(name: str) -> str | None:
    text = plain(name)
    if text in _ANSWERS:
        return "answer"
    role = role_of_name(name)
    if role in ("key", "points"):
        return role
    if text in ("correct", "iscorrect", "right"):
        return "right"
    return "check" if text in _CHECKS else None


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or not _blocks(sample.header):
        return None
    known = (MOODLE, MOODLE_GRADES, ZIPGRADE, BLACKBOARD, CANVAS_NEW)
    if any(format.recognise(sample) is not None for format in known):
        return None
    return "columns for answer and key or points repeat with 1, 2, 3, …"


def _convert(sheet: Sheet) -> None:
    stream, rows = sheet.stream, sheet.rows
    blocks = _blocks(sheet.header)
    if not blocks:
        raise absent("a table with several columns per question", "answer.1 and solution.1")
    first = min(min(parts.values()) for parts in blocks.values())
    identity = _identity(sheet, first)
    sums = [row for row in rows if any(is_summary_name(row[k]) for k in identity or [0])]
    if sums and not any(row[parts["answer"]].strip() for row in sums for parts in blocks.values()):
        rows = [row for row in rows if row not in sums]
        sheet.keep_rows(rows, "rows of averages", "they sum up the others")
    checked = [parts for parts in blocks.values() if "right" in parts and "key" not in parts]
    checks = {folded(row[parts["right"]]) for row in rows for parts in checked} - {""}
    if not checks <= _RIGHT.keys():  # the right answer, not whether it was given
        for parts in checked:
            parts["key"] = parts.pop("right")
    who = sheet.persons(identity or [0])
    versions = _versions(sheet, first, blocks)
    bits = _are_bits([row[parts["answer"]] for row in rows for parts in blocks.values()])
    for k, parts in sorted(blocks.items()):
        for row, person, version in zip(rows, who, versions, strict=True):
            answer, key = row[parts["answer"]], cell_at(row, parts.get("key"))
            points = number(cell_at(row, parts.get("points")))
            if points is None and "right" in parts:
                points = _RIGHT.get(folded(row[parts["right"]]))
            stream.add(
                person,
                f"{k} (version {version})" if version else str(k),
                _letters(answer) if bits else answer,
                points=points,
                key=_letters(key) if bits else key,
            )
        sheet.set_role([parts["answer"]], "answers", "the answer to a question")
        sheet.set_role([parts["key"]] if "key" in parts else [], "key", "the right answer")
        rest = [place for part, place in parts.items() if part in ("points", "right", "check")]
        sheet.set_role(rest, "points", "points and checks of a question")
    if all(key is None for key in stream.keys):
        sheet.use_key_row(identity or [0], who)
    if any(versions):
        stream.notes.append("The versions have different keys: their questions are separate items.")
    sheet.set_role(identity, "identity", "who answered")
    sheet.rest_unused("about the whole test")


_NAMED = words("id|name|registration|matrikel|matrikelnummer|student|username|user|email|studentid")


def _identity(sheet: Sheet, end: int) -> list[int]:
    return [
        k
        for k, name in enumerate(sheet.header[:end])
        if (plain(name) in _NAMED or role_of_name(name) == "identity")
        and 2 * len(set(sheet.cells(k))) > len(sheet.rows)
    ]


def _versions(sheet: Sheet, end: int, blocks: Blocks) -> list[str]:
    """Return the version of each row if versions have different keys, else empty texts."""
    none = [""] * len(sheet.rows)
    place = next((k for k in range(end) if folded(sheet.header[k]) in _VERSIONS), None)
    keys = [parts["key"] for parts in blocks.values() if "key" in parts]
    if place is None or not keys:
        return none
    found: dict[str, tuple[str, ...]] = {}
    for row in sheet.rows:
        found.setdefault(row[place].strip(), tuple(row[k].strip() for k in keys))
    return [row[place].strip() for row in sheet.rows] if len(set(found.values())) > 1 else none


def _are_bits(cells: Sequence[str]) -> bool:
    """Whether each answer is a string of 0s and 1s, one per option (``01000``)."""
    given = {cell.strip() for cell in cells} - {""}
    return (
        bool(given)
        and all(_BITS.fullmatch(cell) for cell in given)
        and len({len(cell) for cell in given}) == 1
    )


def _letters(cell: str) -> tuple[str, ...]:
    """Return the options that are 1.

    Examples
    --------
    >>> _letters("01001"), _letters("00000")
    (('B', 'E'), ())
    """
    return tuple(chr(ord("A") + k) for k, bit in enumerate(cell.strip()) if bit == "1")


QUESTION_BLOCKS = Format(
    "question-blocks",
    "Several columns per question (R/exams and others)",
    "answer.1, solution.1, points.1, answer.2, …: found by their numbers",
    _recognise,
    by_table(_convert, key_from="the columns of right answers"),
)
