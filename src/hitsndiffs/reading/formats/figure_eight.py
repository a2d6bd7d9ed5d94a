"""Figure Eight (CrowdFlower, Appen): the full report, a row per judgment."""

from __future__ import annotations

from hitsndiffs.reading.formats.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Stream,
    Table,
    refusing,
)
from hitsndiffs.reading.formats.common import absent, cell_at, is_free_text, rest_unused, roles
from hitsndiffs.reading.formats.people import chosen_only, given_items, number_repeats, persons

__all__ = ["FIGURE_EIGHT", "FIGURE_EIGHT_AGGREGATED"]


def _recognise(sample: Sample) -> str | None:
    if sample.is_table and sample.has_columns("_unit_id", "_worker_id"):
        return "the columns _unit_id and _worker_id are there"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    table = document.table()
    unit, worker = table.find("_unit_id"), table.find("_worker_id")
    if unit is None or worker is None:
        raise absent("a Figure Eight report", "_unit_id and _worker_id")
    asked = _questions(table, unit)
    if choices.option is not None:
        names = {table.header[place].strip(): place for place in range(len(table.header))}
        asked = {place: asked.get(place) for place in chosen_only(names, choices.option).values()}
    if not asked:
        raise Refusal(
            "a Figure Eight report without answers by choice", "only choices can be ranked"
        )
    stream = Stream(key_from="the columns «…_gold»")
    who = persons(table.header, table.rows, [worker], choices.user)
    tasks = given_items(table, choices.item) or [row[unit].strip() for row in table.rows]
    for row, person, task in zip(table.rows, who, tasks, strict=True):
        if not task:
            continue
        for place, gold in asked.items():
            key = cell_at(row, gold)
            name = table.header[place].strip()
            stream.add(
                person,
                task if len(asked) == 1 else f"{task}/{name}",
                tuple(part.strip() for part in row[place].splitlines()),
                key=key if "\n" not in key else None,
            )
    number_repeats(stream)
    roles(stream, table.header, [worker], "user", "the worker")
    roles(stream, table.header, [unit], "item", "the unit")
    roles(stream, table.header, asked, "answers", "the answers differ within a unit")
    golden = [place for place in asked.values() if place is not None]
    roles(stream, table.header, golden, "key", "the right answers of test questions")
    rest_unused(stream, table.header, "about the judgment, or what the workers saw")
    return stream


def _questions(table: Table, unit: int) -> dict[int, int | None]:
    """Return the answer columns (those that differ between workers) and their gold columns."""
    names = [name.strip() for name in table.header]
    places = {name: k for k, name in enumerate(names)}
    candidates = [
        k
        for k, name in enumerate(names)
        if name and not name.startswith("_") and not name.endswith(("_gold", "_gold_reason"))
    ]
    golden = [k for k in candidates if f"{names[k]}_gold" in places]
    for group in (golden, candidates):
        found = {}
        for k in group:
            cells = [row[k] for row in table.rows]
            seen: dict[str, str] = {}
            differs = any(
                row[k].strip() and seen.setdefault(row[unit], row[k]) != row[k]
                for row in table.rows
            )
            if differs and not is_free_text(cells):
                found[k] = places.get(f"{names[k]}_gold")
        if found:
            return found
    return {}


def _recognise_aggregated(sample: Sample) -> str | None:
    if not sample.has_columns("_unit_id") or sample.has_columns("_worker_id"):
        return None
    if any(name.strip().endswith(":confidence") for name in sample.header):
        return "answers have a confidence and no worker"
    return None


FIGURE_EIGHT = Format(
    "figure-eight",
    "Figure Eight (CrowdFlower), full report",
    "CSV with a row per judgment: _unit_id, _worker_id, …",
    _recognise,
    _convert,
)
FIGURE_EIGHT_AGGREGATED = Format(
    "figure-eight-aggregated",
    "Figure Eight (CrowdFlower), aggregated (refused)",
    "One answer per unit with a confidence, no workers",
    _recognise_aggregated,
    refusing(
        "Figure Eight's aggregated report: one answer per unit, no workers",
        "download the full report instead",
    ),
)
