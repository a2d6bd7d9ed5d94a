"""Canvas New Quizzes: the «Student Analysis» report."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import Format, Sample, absent
from hitsndiffs.reading.exports.common import (
    attempt_number,
    folded,
    number,
    split_column,
    unique,
    without_html,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at
from hitsndiffs.reading.vocabulary import plain

__all__ = ["CANVAS_NEW"]

_OPEN = ("essay", "fileupload", "file", "upload", "text", "formula", "numeric", "stimulus")


def _blocks(names: list[str]) -> list[int]:
    """Return the start of each block ItemID, ItemType, question, EarnedPoints, Status."""
    bare = [plain(name).rstrip("0123456789") for name in names]
    return [
        k
        for k in range(len(bare) - 4)
        if bare[k] == "itemid"
        and bare[k + 1] == "itemtype"
        and bare[k + 3] == "earnedpoints"
        and bare[k + 4] == "status"
    ]


def _recognise(sample: Sample) -> str | None:
    if sample.is_table and _blocks(sample.names):
        return "blocks of ItemID, ItemType, question, EarnedPoints, Status repeat"
    return None


def _convert(sheet: Sheet) -> None:
    names, rows, stream = sheet.names, sheet.rows, sheet.stream
    blocks = _blocks(names)
    if not blocks:
        raise absent("a New Quizzes report", "ItemID, ItemType, EarnedPoints and Status")
    lead = range(blocks[0])
    identity = [k for k in lead if plain(names[k]) in ("name", "id", "sisid")]
    if not identity:
        identity = [k for k in lead if plain(names[k]) == "anonymousid"]
    who = sheet.persons(identity)
    attempt = next((k for k in lead if folded(names[k]) == "attempt"), None)
    titles = [without_html(names[k + 2]) for k in blocks]
    for place, title, label in zip(blocks, titles, unique(titles), strict=True):
        kinds = {plain(row[place + 1]) for row in rows} - {""}
        if kinds and all(any(kind.startswith(word) for word in _OPEN) for kind in kinds):
            reason = f"not a choice question ({', '.join(sorted(kinds))})"
            sheet.set_role([place + 2], "comment", reason)
            continue
        ids = {row[place].strip() for row in rows} - {""}
        item = next(iter(ids)) if len(ids) == 1 else label
        item = item if item not in stream.titles else label
        stream.titles[item] = title
        answers = split_column(list(map(without_html, sheet.cells(place + 2))), ",")
        for row, person, answer in zip(rows, who, answers, strict=True):
            shown = any(row[place + step].strip() for step in (0, 1, 3, 4))
            stream.add(
                person,
                item,
                answer,
                attempt=attempt_number(cell_at(row, attempt)),
                points=number(row[place + 3]),
                status=None if answer or shown else "not shown",
            )
        sheet.set_role([place + 2], "answers", "a question of type choice")
        sheet.set_role([place + 3], "points", "the points of the question")
        rest = [place, place + 1, place + 4]
        sheet.set_role(rest, "unused", "number, type and state of the question")
    sheet.set_role(identity, "identity", "who answered")
    rest = [k for k in (*lead, *range(blocks[-1] + 5, len(names))) if k not in identity]
    sheet.set_role(rest, "unused", "no question")


CANVAS_NEW = Format(
    "canvas-new-quizzes",
    "Canvas, Student Analysis (New Quizzes)",
    "New Quizzes reports, «Student Analysis»: CSV, a block of five columns per question",
    _recognise,
    by_table(_convert),
)
