"""Labelbox: export v2 (NDJSON), and the older JSON with a record per label."""

from __future__ import annotations

from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import as_text, inner, objects, title_of
from hitsndiffs.reading.exports.entries import Entry, add_entries

__all__ = ["LABELBOX"]


def _recognise(sample: Sample) -> str | None:
    if sample.has_keys("data_row", "projects"):
        return "each line has a data_row and its projects"
    if sample.has_keys("DataRow ID", "Label", "Created By"):
        return "each record has a DataRow ID, a Label and who made it"
    return None


def _older(record: dict[str, Any]) -> tuple[str, str, str, list[tuple[str, tuple[str, ...]]]]:
    """Return the labeller, the item, its text and the answers of a record of the older export."""
    item = as_text(record.get("External ID") or record.get("DataRow ID"))
    title = title_of(record.get("Labeled Data"))
    found = []
    for part in objects(inner(record, "Label").get("classifications")):
        answers = part.get("answers", part.get("answer"))
        chosen = tuple(as_text(one.get("title") or one.get("value")) for one in objects(answers))
        if chosen:  # a text is no choice
            found.append((as_text(part.get("title") or part.get("value")), chosen))
    return as_text(record.get("Created By")).strip(), item, title, found


def _convert(document: Document, choices: Choices) -> Stream:
    entries: list[Entry] = []
    unnamed = 0
    titles: dict[str, str] = {}
    for record in objects(document.records()):
        if "DataRow ID" in record:
            person, item, title, answers = _older(record)
            titles[item] = title
            entries += [Entry(person, item, *answer) for answer in answers if person]
            unnamed += not person
            continue
        row = inner(record, "data_row")
        item = as_text(row.get("global_key") or row.get("external_id") or row.get("id"))
        titles[item] = title_of(row.get("row_data"))
        for project in inner(record, "projects").values():
            for label in objects(project.get("labels") if isinstance(project, dict) else None):
                person = as_text(inner(label, "label_details").get("created_by")).strip()
                if not person:
                    unnamed += 1
                    continue
                found = inner(label, "annotations").get("classifications")
                entries += [Entry(person, item, *answer) for answer in _answers(found)]
    if not entries:
        if unnamed:
            raise Refusal(
                "a Labelbox export without the names of the labellers",
                "export again with label details (created_by)",
            )
        raise Refusal(
            "a Labelbox export without classifications",
            "only radio and checklist answers can be ranked",
        )
    stream = Stream(titles=titles)
    add_entries(stream, entries, choices.option)
    if unnamed:
        stream.notes.append(f"{unnamed} labels without created_by are left out.")
    return stream


def _answers(classifications: Any) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    for part in objects(classifications):
        name = as_text(part.get("name"))
        radio = part.get("radio_answer")
        if isinstance(radio, dict):
            found.append((name, (as_text(radio.get("name")),)))
            found += _answers(radio.get("classifications"))
        elif isinstance(part.get("checklist_answers"), list):
            ticked = objects(part["checklist_answers"])
            found.append((name, tuple(as_text(answer.get("name")) for answer in ticked)))
    return found


LABELBOX = Format(
    "labelbox",
    "Labelbox, export v2 and the older JSON",
    "NDJSON with data_row and projects, or records with a Label; radio and checklist answers",
    _recognise,
    _convert,
)
