"""Label Studio: JSON, JSON-MIN and CSV."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    is_free_text,
    literal,
    objects,
    title_of,
    words,
)
from hitsndiffs.reading.exports.entries import Entry, add_entries, chosen_only
from hitsndiffs.reading.exports.sheet import Sheet, by_table

__all__ = ["LABEL_STUDIO", "LABEL_STUDIO_FLAT"]

_REFUSAL = Refusal(
    "a Label Studio export without Choices: regions, labels or texts only",
    "only tasks with a Choices or Rating tag can be ranked",
)


def _recognise(sample: Sample) -> str | None:
    lists = [sample.first.get(name) for name in ("annotations", "completions")]
    if sample.has_keys("data") and any(isinstance(own, list) for own in lists):
        return "each task has its data and a list of annotations"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    stream = Stream()
    skipped = predicted = 0
    entries: list[Entry] = []
    tasks = objects(document.records())
    emails = _emails(tasks)
    for task in tasks:
        number = as_text(task.get("id", task.get("inner_id")))
        data = inner(task, "data")
        stream.titles[number] = _title(data)
        predicted += len(objects(task.get("predictions")))
        for annotation in objects(task.get("annotations", task.get("completions"))):
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                skipped += 1
                continue
            person = _person(annotation.get("completed_by"))
            person = emails.get(person, person)
            answers = _answers(annotation.get("result"))
            entries += [Entry(person, number, name, answer) for name, answer in answers.items()]
    if not entries:
        raise _REFUSAL
    add_entries(stream, entries, choices.option)
    if skipped:
        stream.notes.append(f"{skipped} cancelled annotations are left out.")
    if predicted:
        stream.notes.append(f"{predicted} predictions of models are left out.")
    return stream


def _title(data: dict[str, Any]) -> str:
    return next((title_of(text) for text in data.values() if isinstance(text, str)), "")


def _person(completed_by: Any) -> str:
    if isinstance(completed_by, dict):
        for name in ("email", "username", "id"):
            if completed_by.get(name) not in (None, ""):
                return as_text(completed_by[name])
    return as_text(completed_by) if not isinstance(completed_by, dict) else ""


def _emails(tasks: list[dict[str, Any]]) -> dict[str, str]:
    """Return the e-mail address of each annotator by id; an export may use both."""
    found = {}
    for task in tasks:
        for annotation in objects(task.get("annotations", task.get("completions"))):
            who = inner(annotation, "completed_by")
            if who.get("id") is not None and who.get("email"):
                found[as_text(who["id"])] = as_text(who["email"])
    return found


def _answers(result: Any) -> dict[str, tuple[str, ...]]:
    """Return the choices (and ratings) of an annotation by tag name."""
    found: dict[str, tuple[str, ...]] = {}
    for part in objects(result):
        value = inner(part, "value")
        name = as_text(part.get("from_name"))
        chosen: tuple[str, ...] = ()
        if part.get("type") == "choices" and isinstance(value.get("choices"), list):
            chosen = tuple(as_text(choice) for choice in value["choices"])
        elif part.get("type") == "rating" and value.get("rating") is not None:
            chosen = (as_text(value["rating"]),)
        elif part.get("type") == "pairwise" and value.get("selected") is not None:
            chosen = (as_text(value["selected"]),)
        if chosen:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *chosen)))
    return found


# -- JSON-MIN and CSV: one record per annotation -------------------------------------------------

_OWN = words(
    "id|annotator|annotation_id|created_at|updated_at|lead_time|agreement|inner_id|"
    "total_annotations"
)


def _recognise_flat(sample: Sample) -> str | None:
    wanted = ("annotator", "annotation_id", "lead_time")
    if sample.is_json:
        there = sample.has_keys(*wanted)
    else:
        there = sample.has_columns(*wanted) and bool(sample.rows)
    return "each record is an annotation (annotator, annotation_id, lead_time)" if there else None


def _convert_flat(sheet: Sheet) -> None:
    option = sheet.choices.option
    records = [
        {name: literal(cell) for name, cell in zip(sheet.header, row, strict=True)}
        for row in sheet.rows
    ]
    records = [record for record in records if as_text(record.get("annotator")).strip()]
    columns = dict.fromkeys(name for record in records for name in record)
    tags = list(chosen_only(columns, option)) if option else _tags(records)
    if not tags:
        raise _REFUSAL
    entries = [
        Entry(_person(r["annotator"]), as_text(r.get("id")), tag, _choices(r.get(tag)))
        for r in records
        for tag in tags
    ]
    add_entries(sheet.stream, entries, None)


def _choices(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        value = value.get("choices", value.get("rating"))
    if isinstance(value, list):
        if all(isinstance(part, dict) and "rating" in part for part in value):
            value = [part["rating"] for part in value]
        return tuple(as_text(part) for part in value)
    text = as_text(value).strip()
    return (text,) if text else ()


def _tags(records: list[dict[str, Any]]) -> list[str]:
    """Return the columns that hold answers: those with choices, or that differ within a task.

    If there are none, return the column with few different values, provided it is the only one.
    """
    names = [name for name in dict.fromkeys(n for r in records for n in r) if name not in _OWN]
    names = [name for name in names if _is_choice(r.get(name) for r in records)]
    within: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in names}
    for record in records:
        for name in names:
            within[name][as_text(record.get("id"))].add(as_text(record.get(name)))
    differing = [n for n in names if any(len(texts) > 1 for texts in within[n].values())]
    sure = [
        name
        for name in names
        if any(isinstance(r.get(name), dict) and "choices" in r[name] for r in records)
    ]
    if differing or sure:
        return [name for name in names if name in differing or name in sure]
    few = [n for n in names if len({as_text(r.get(n)) for r in records}) <= len(records) / 3]
    return few if len(few) == 1 else []


def _is_choice(values: Iterable[Any]) -> bool:
    given = [value for value in values if value not in (None, "")]
    if not given or any(
        isinstance(v, list) and any(isinstance(p, dict) and "rating" not in p for p in v)
        for v in given
    ):
        return False
    return not is_free_text([as_text(value) for value in given])


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio, JSON",
    "Tasks with their annotations; Choices and Rating tags",
    _recognise,
    _convert,
    "exports of regions and of taxonomies, which are refused",
)
LABEL_STUDIO_FLAT = Format(
    "label-studio-min",
    "Label Studio, JSON-MIN and CSV",
    "A record per annotation, with annotator, annotation_id and lead_time",
    _recognise_flat,
    by_table(_convert_flat, records=True),
)
