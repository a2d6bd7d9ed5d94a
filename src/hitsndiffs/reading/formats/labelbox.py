"""Labelbox: export v2 (NDJSON)."""

from __future__ import annotations

from typing import Any

from hitsndiffs.reading.formats.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.formats.common import as_text, inner, objects, title_of
from hitsndiffs.reading.formats.people import Entry, add_entries

__all__ = ["LABELBOX"]


def _recognise(sample: Sample) -> str | None:
    if sample.is_json and sample.has_keys("data_row", "projects"):
        return "each line has a data_row and its projects"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    entries: list[Entry] = []
    unnamed = 0
    titles: dict[str, str] = {}
    for record in objects(list(document.records())):
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
    "Labelbox, export v2",
    "NDJSON with data_row and projects; radio and checklist answers",
    _recognise,
    _convert,
)
