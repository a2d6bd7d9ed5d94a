"""Toloka: the assignments of a pool as TSV."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent, has_columns, refusing
from hitsndiffs.reading.exports.common import as_text, is_free_text, literal
from hitsndiffs.reading.exports.entries import chosen_only
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["TOLOKA", "TOLOKA_AGGREGATED"]

_SKIPPED = ("SKIPPED", "EXPIRED")


def _named(sheet: Sheet, prefix: str) -> dict[str, int]:
    """Return the columns with this prefix, by the rest of their names."""
    return {
        name.strip()[len(prefix) :]: place
        for place, name in enumerate(sheet.header)
        if name.strip().upper().startswith(prefix)
    }


def _convert(sheet: Sheet) -> None:
    rows, stream = sheet.rows, sheet.stream
    worker = sheet.find("ASSIGNMENT:worker_id")
    if worker is None:
        raise absent("a Toloka file", "ASSIGNMENT:worker_id")
    about = _named(sheet, "ASSIGNMENT:")
    # In old dumps, only the last row of a suite names the assignment.
    for name in ("worker_id", "status"):
        if name in about:
            _fill_from_below(rows, about[name])
    inputs, outputs, golden = (_named(sheet, p) for p in ("INPUT:", "OUTPUT:", "GOLDEN:"))
    tasks = sheet.given_items()
    tasks = tasks or _tasks(sheet, list(inputs.values()), about.get("task_id"))
    asked = {
        name: place
        for name, place in outputs.items()
        if any(row[place].strip() for row in rows) and not is_free_text(sheet.cells(place))
    }
    asked = chosen_only(asked, sheet.choices.option)
    who = sheet.persons([worker])
    skipped = 0
    for row, item, person in zip(rows, tasks, who, strict=True):
        if not item or not any(row[place].strip() for place in asked.values()):
            continue
        if cell_at(row, about.get("status")).upper() in _SKIPPED:
            skipped += 1
            continue
        for name, place in asked.items():
            label = item if len(asked) == 1 else f"{item}/{name}"
            key = _choices(cell_at(row, golden.get(name)))
            stream.add(person, label, _choices(row[place]), key=key)
    if not stream.persons:
        raise Refusal(
            "a Toloka file without answers by choice", "download the assignments of the pool"
        )
    if skipped:
        stream.notes.append(f"{skipped} rows of skipped or expired assignments are left out.")
    stream.number_repeats()
    sheet.set_role([worker], "user", "the worker")
    sheet.set_role(inputs.values(), "item", "what the worker saw")
    sheet.set_role(asked.values(), "answers", "what the worker answered")
    texts = [place for name, place in outputs.items() if name not in asked]
    sheet.set_role(texts, "comment", "free text, or empty")
    sheet.set_role(golden.values(), "key", "the right answer of control tasks")


def _choices(cell: str) -> tuple[str, ...]:
    """Return the options of an answer; several are written as a JSON list."""
    found = literal(cell) if cell.lstrip().startswith("[") else None
    if isinstance(found, list) and all(isinstance(part, (str, int, float)) for part in found):
        return tuple(as_text(part) for part in found)
    return (cell.strip(),) if cell.strip() else ()


def _fill_from_below(rows: list[list[str]], place: int) -> None:
    if all(row[place].strip() for row in rows):
        return
    below = ""
    for row in reversed(rows):
        below = row[place] = row[place].strip() or below


def _tasks(sheet: Sheet, inputs: list[int], task: int | None) -> list[str]:
    """Return the item of each row: equal inputs are one item, whatever the task id."""
    if not inputs:
        return [cell_at(row, task) for row in sheet.rows]
    first: dict[tuple[str, ...], str] = {}
    names = []
    for row in sheet.rows:
        content = tuple(row[k].strip() for k in inputs)
        name = cell_at(row, task) or " | ".join(filter(None, content))
        names.append(first.setdefault(content, name))
    return names


def _recognise_aggregated(sample: Sample) -> str | None:
    names = [name.strip().upper() for name in sample.header]
    sure = any(name.startswith("CONFIDENCE:") for name in names)
    if sure and any(name.startswith("OUTPUT:") for name in names):
        return "answers have a confidence and no worker"
    return None


TOLOKA = Format(
    "toloka",
    "Toloka, assignments",
    "The assignments of a pool as TSV: INPUT:, OUTPUT:, GOLDEN:, ASSIGNMENT:",
    has_columns("ASSIGNMENT:worker_id", because="the column ASSIGNMENT:worker_id is there"),
    by_table(_convert, key_from="the columns «GOLDEN:»"),
)
TOLOKA_AGGREGATED = Format(
    "toloka-aggregated",
    "Toloka, aggregated results (refused)",
    "One answer per task with a confidence, no workers",
    _recognise_aggregated,
    refusing(
        "Toloka's aggregated results: one answer per task, no workers",
        "download the assignments of the pool instead",
    ),
)
