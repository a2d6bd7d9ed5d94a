"""Moodle quizzes: the «Responses» download (CSV, xlsx, ods, JSON), in any language.

The columns are found by their structure (a grade such as ``Grade/10.00``, then names that repeat
with 1, 2, 3…), because Moodle translates the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hitsndiffs.reading.exports.base import (
    Format,
    Refusal,
    Sample,
    Stream,
    number_attempts,
    refusing,
)
from hitsndiffs.reading.exports.moodle_columns import (
    Block,
    find_blocks,
    find_grade,
    is_points_only,
    word_of,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["MOODLE", "MOODLE_GRADES"]

_DATE = re.compile(r"\d.*\d{1,2}[:.]\d{2}")
_GUARD = re.compile(r"^'(?=[=+\-@])")
_SEPARATOR = re.compile(r"\s*;\s+|\s+;\s*|;$")
_STACK = re.compile(r"^Seed: \d+;|\bans\d+: .*\[(?:score|valid|invalid)\]|\bprt\d+: ")
_MOST_STEMS = 0.95  # with this share of equal texts or keys, it is one question that was edited


def _recognise(sample: Sample) -> str | None:
    header = _header(sample)
    if header is None:
        return None
    blocks = find_blocks(header)
    if not blocks:
        return None
    words = {word_of(header[place]) for block in blocks[:1] for place in block.places}
    grade = find_grade(header[: blocks[0].places[0]], whole=words != {None})
    if grade is not None:
        return "a grade («Grade/10.00») is followed by columns that repeat with 1, 2, 3…"
    if "right" in words and "response" in words:
        return "columns for response and right answer repeat with 1, 2, 3…"
    return None


def _header(sample: Sample) -> list[str] | None:
    if sample.is_table:
        return list(sample.header)
    if sample.is_json and sample.records:
        first = sample.records[0]
        first = first[0] if isinstance(first, list) and first else first
        return list(first) if isinstance(first, dict) else None
    return None


def _convert(sheet: Sheet) -> None:
    stream = sheet.stream
    blocks = find_blocks(sheet.header)
    if not blocks:
        raise Refusal(
            "a Moodle report without columns of responses",
            "download the «Responses» report of the quiz, with «response» ticked",
        )
    parts = _parts(sheet, blocks)
    if parts.response is None:
        raise Refusal(
            "a Moodle report with the questions and no responses",
            "download the «Responses» report of the quiz, with «response» ticked",
        )
    identity, state = _read_lead(sheet, blocks[0].places[0])
    _merge_tries(sheet, identity, state, blocks)
    who = sheet.persons(identity)
    attempts = number_attempts(who)
    for block in blocks:
        _add_block(sheet, who, attempts, block, parts)
    drawn = any(column.role == "unused" for column in stream.columns)
    if not stream.persons and drawn:
        raise Refusal(
            "a Moodle report of questions drawn at random, without their texts",
            "download it again with «question text» ticked",
        )
    if not stream.persons:
        raise Refusal(
            "a Moodle «Responses» report without a choice question",
            "only questions with options can be ranked",
        )


# -- persons and attempts ----------------------------------------------------------------------


def _read_lead(sheet: Sheet, end: int) -> tuple[list[int], int | None]:
    """Keep the finished attempts; return the columns that say who, and that of the state."""
    grade = find_grade(sheet.header[:end], whole=True)
    started = next(
        (
            k
            for k in range(end)
            if sum(bool(_DATE.search(cell)) for cell in sheet.cells(k)) * 2 > len(sheet.rows)
        ),
        None,
    )
    state = started - 1 if started else None
    identity_end = next((k for k in (state, grade) if k is not None), end)
    identity = list(range(identity_end)) or list(range(min(end, 1)))
    rows = [row for row in sheet.rows if not _is_average(row, identity, end)]
    sheet.keep_rows(rows, "average rows", "they belong to no person")
    sheet.rows = _fill_identity(sheet.rows, identity)
    done = [row for row in sheet.rows if not _unfinished(row, state, grade, started, end)]
    reason = "the attempt was not started or not finished"
    sheet.keep_rows(done, "unfinished attempts", reason)
    sheet.set_role(identity, "identity", "who answered")
    if grade is not None:
        sheet.set_role([grade], "points", "the grade of the whole quiz")
    if state is not None:
        sheet.set_role([state], "status", "the state of the attempt")
    rest = [k for k in range(identity_end, end) if k not in (grade, state)]
    sheet.set_role(rest, "time", "when, and how long")
    return identity, state


def _nothing(cell: str) -> bool:
    return cell.strip() in ("", "-")


def _is_average(row: Sequence[str], identity: Sequence[int], end: int) -> bool:
    named = sum(not _nothing(row[k]) for k in identity)
    return len(identity) > 1 and named <= 1 and all(_nothing(cell) for cell in row[end:])


def _unfinished(
    row: Sequence[str], state: int | None, grade: int | None, started: int | None, end: int
) -> bool:
    """Whether nothing was submitted: no answers, or neither a grade nor a completion time."""
    if all(_nothing(cell) for cell in row[end:]):
        return True
    if started is None or grade is None or state is None or not row[state].strip():
        return False
    return row[grade].strip() == "-" and row[started + 1].strip() == "-"


def _fill_identity(rows: list[list[str]], identity: Sequence[int]) -> list[list[str]]:
    """Fill identity cells that are blank from the second try on."""
    filled: list[list[str]] = []
    for row in rows:
        before = filled[-1] if filled else None
        if before is not None and any(not row[k].strip() for k in identity):
            known = [k for k in identity if row[k].strip()]
            if known and all(row[k] == before[k] for k in known):
                row = list(row)
                for k in identity:
                    row[k] = row[k] or before[k]
        filled.append(row)
    return filled


def _merge_tries(sheet: Sheet, identity: list[int], state: int | None, blocks: list[Block]) -> None:
    """Keep the first of several tries of one attempt, filled from the others.

    In reports of all tries, only the last row of an attempt has the state.
    """
    if state is None or all(row[state].strip() for row in sheet.rows):
        return
    kept: list[list[str]] = []
    open_try: list[str] | None = None
    for row in sheet.rows:
        if open_try is not None and all(row[p] == open_try[p] for p in identity):
            for block in blocks:
                for place in block.places:
                    if _nothing(open_try[place]):
                        open_try[place] = row[place]
        else:
            kept.append(row)
            open_try = row
        if row[state].strip():
            open_try = None
    sheet.keep_rows(kept, "later tries", "the first answer to each question counts")


# -- questions ---------------------------------------------------------------------------------


class _Parts(NamedTuple):
    """Which column of each block holds what, by index within the block."""

    question: int | None
    response: int | None
    right: int | None


def _parts(sheet: Sheet, blocks: list[Block]) -> _Parts:
    size = max(len(block.places) for block in blocks)
    first = next(block for block in blocks if len(block.places) == size)
    words = [word_of(sheet.header[place]) for place in first.places]
    if size >= 3:
        return _Parts(0, 1, 2)
    if size == 1:
        return _Parts(None, None if words[0] == "question" else 0, None)
    if words[0] == "question" and words[1] == "right":
        return _Parts(0, None, 1)
    if words[0] == "question" or (words[1] == "response" and words[0] != "response"):
        return _Parts(0, 1, None)
    if words[1] == "right" or words[0] == "response":
        return _Parts(None, 0, 1)
    # Unknown words: a question lists the options, so its text contains the response.
    pairs = [(row[first.places[0]], row[first.places[1]]) for row in sheet.rows]
    pairs = [(a, b) for a, b in pairs if not _nothing(a) and not _nothing(b)]
    held = sum(len(a) > len(b) + 3 and _options(b)[0] in a for a, b in pairs)
    return _Parts(0, 1, None) if 2 * held > len(pairs) else _Parts(None, 0, 1)


def _add_block(
    sheet: Sheet, who: list[str], attempts: list[int], block: Block, parts: _Parts
) -> None:
    header, rows, stream = sheet.header, sheet.rows, sheet.stream
    question, response, right = (
        block.places[k] if k is not None and k < len(block.places) else None for k in parts
    )
    if response is None:
        return
    given = [cell for cell in sheet.cells(response) if not _nothing(cell)]
    if given and sum(bool(_STACK.search(answer)) for answer in given) * 2 > len(given):
        sheet.set_role([response], "comment", "algebra (STACK), no options")
        return
    items = [header[response].strip()] * len(rows)
    if question is not None:
        items, reason = _items(sheet.cells(question), items[0] if items else "", stream)
        sheet.set_role([question], "item", reason)
    elif right is not None and _differs(list(map(_options, sheet.cells(right)))):
        reason = (
            "its right answer differs from person to person, so it is a different question for "
            "each; download again with the question text ticked"
        )
        sheet.set_role([response], "unused", reason)
        stream.notes.append(f"«{header[response]}» is left out: {reason}.")
        return
    for row, person, item, attempt in zip(rows, who, items, attempts, strict=True):
        key = _options(cell_at(row, right))
        stream.add(person, item, _options(row[response]), attempt=attempt, key=key)
    sheet.set_role([response], "answers", "the response to a question")
    if right is not None:
        sheet.set_role([right], "key", "the right answer")


def _items(texts: list[str], name: str, stream: Stream) -> tuple[list[str], str]:
    """Return the item of each row: the column, or the text if questions are drawn at random."""
    signs = [tuple(sorted(_SPLIT.split(text.strip()))) for text in texts]
    share = _largest_share(s for s, text in zip(signs, texts, strict=True) if text.strip())
    if share >= _MOST_STEMS or share == 0.0:
        if texts:
            stream.titles[name] = _stem(texts[0])
        return [name] * len(texts), "the text of the question"
    first: dict[tuple[str, ...], str] = {}
    stems = [first.setdefault(sign, _stem(text)) for sign, text in zip(signs, texts, strict=True)]
    note = "Questions are drawn at random: items are told apart by their text."
    if note not in stream.notes:
        stream.notes.append(note)
    return [stem or name for stem in stems], "the text of the question, drawn at random"


_SPLIT = re.compile(r"\s*[:;]\s+|\s+[:;]\s*")


def _stem(text: str) -> str:
    """Return the part of ``stem: option; option`` before the options."""
    stem, mark, options = text.strip().rpartition(": ")
    return stem.strip() if mark and ";" in options else text.strip()


def _differs(keys: list[tuple[str, ...]]) -> bool:
    return 0.0 < _largest_share(frozenset(key) for key in keys if key) < _MOST_STEMS


def _largest_share(values: Iterable[Any]) -> float:
    """Return the share of the most common value, or 0 if there are no values."""
    counts = Counter(values)
    return max(counts.values()) / counts.total() if counts else 0.0


@lru_cache(maxsize=1 << 16)
def _options(cell: str) -> tuple[str, ...]:
    """Split a response into options; drop Moodle's quote before ``=``, ``+``, ``-``, ``@``.

    Examples
    --------
    >>> _options("Blue; Red"), _options("'-3"), _options("-"), _options("a   ; b")
    (('Blue', 'Red'), ('-3',), (), ('a', 'b'))
    """
    text = cell.strip()
    if text in ("", "-"):
        return ()
    text = _GUARD.sub("", text)
    parts = tuple(part.strip() for part in _SEPARATOR.split(text) if part.strip())
    return parts or (text,)


def _recognise_grades(sample: Sample) -> str | None:
    header = _header(sample)
    if header is not None and is_points_only(header):
        return "the questions («Q. 1 /1.00») hold points and no answers"
    return None


MOODLE = Format(
    "moodle",
    "Moodle, quiz responses",
    "Quiz results, «Responses»: CSV, xlsx, ods or JSON, in any language",
    _recognise,
    by_table(_convert, key_from="the columns of right answers", records=True),
)
MOODLE_GRADES = Format(
    "moodle-grades",
    "Moodle, quiz grades (refused)",
    "Quiz results, «Grades»: points per question, no answers",
    _recognise_grades,
    refusing(
        "Moodle's «Grades» report: points per question and no answers",
        "download the «Responses» report of the quiz instead",
    ),
)
