"""Figure Eight (CrowdFlower, Appen): the full report, a row per judgment."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent, has_columns, refusing
from hitsndiffs.reading.exports.common import is_free_text
from hitsndiffs.reading.exports.entries import chosen_only
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["FIGURE_EIGHT", "FIGURE_EIGHT_AGGREGATED"]


def _convert(sheet: Sheet) -> None:
    header, stream, option = sheet.header, sheet.stream, sheet.choices.option
    unit, worker = sheet.find("_unit_id"), sheet.find("_worker_id")
    if unit is None or worker is None:
        raise absent("a Figure Eight report", "_unit_id and _worker_id")
    asked = _questions(sheet, unit)
    if option is not None:
        names = {name.strip(): place for place, name in enumerate(header)}
        asked = {place: asked.get(place) for place in chosen_only(names, option).values()}
    if not asked:
        raise Refusal(
            "a Figure Eight report without answers by choice", "only choices can be ranked"
        )
    who = sheet.persons([worker])
    tasks = sheet.given_items() or [cell.strip() for cell in sheet.cells(unit)]
    for row, person, task in zip(sheet.rows, who, tasks, strict=True):
        if not task:
            continue
        for place, gold in asked.items():
            key = cell_at(row, gold)
            name = header[place].strip()
            stream.add(
                person,
                task if len(asked) == 1 else f"{task}/{name}",
                tuple(part.strip() for part in row[place].splitlines()),
                key=key if "\n" not in key else None,
            )
    stream.number_repeats()
    sheet.set_role([worker], "user", "the worker")
    sheet.set_role([unit], "item", "the unit")
    sheet.set_role(asked, "answers", "the answers differ within a unit")
    golden = [place for place in asked.values() if place is not None]
    sheet.set_role(golden, "key", "the right answers of test questions")
    sheet.rest_unused("about the judgment, or what the workers saw")


def _questions(sheet: Sheet, unit: int) -> dict[int, int | None]:
    """Return the answer columns (those that differ between workers) and their gold columns."""
    names = [name.strip() for name in sheet.header]
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
            seen: dict[str, str] = {}
            differs = any(
                row[k].strip() and seen.setdefault(row[unit], row[k]) != row[k]
                for row in sheet.rows
            )
            if differs and not is_free_text(sheet.cells(k)):
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
    has_columns("_unit_id", "_worker_id", because="the columns _unit_id and _worker_id are there"),
    by_table(_convert, key_from="the columns «…_gold»"),
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
