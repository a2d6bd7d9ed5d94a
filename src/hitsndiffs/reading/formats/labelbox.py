"""Labelbox: export v2 (NDJSON), and the older JSON with a record per label."""

from __future__ import annotations

from typing import Any

from hitsndiffs.reading.formats.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.formats.common import as_text, inner, objects
from hitsndiffs.reading.formats.people import number_attempts

__all__ = ["LABELBOX"]


def _recognise(sample: Sample) -> str | None:
    if sample.kind in ("json", "jsonl") and sample.has_keys("data_row", "projects"):
        return "each line has a data_row and its projects"
    if sample.kind in ("json", "jsonl") and sample.has_keys("DataRow ID", "Label", "Created By"):
        return "each record has a DataRow ID, a Label and who made it"
    return None


def _older(record: dict[str, Any]) -> tuple[str, str, str, list[tuple[str, list[str]]]]:
    """Return the labeller, the item, its text and the answers of a record of the older export."""
    item = as_text(record.get("External ID") or record.get("DataRow ID"))
    title = " ".join(as_text(record.get("Labeled Data")).split())[:200]
    found = []
    for part in objects(inner(record, "Label").get("classifications")):
        answers = part.get("answers", part.get("answer"))
        chosen = [as_text(one.get("title") or one.get("value")) for one in objects(answers)]
        if chosen:  # a text is no choice
            found.append((as_text(part.get("title") or part.get("value")), chosen))
    return as_text(record.get("Created By")).strip(), item, title, found


def _convert(document: Document, _: Choices) -> Stream:
    entries: list[tuple[str, str, str, list[str]]] = []
    unnamed = 0
    titles: dict[str, str] = {}
    for record in objects(list(document.records())):
        if "DataRow ID" in record:
            person, item, title, answers = _older(record)
            titles[item] = title
            entries += [(person, item, *answer) for answer in answers if person]
            unnamed += not person
            continue
        row = inner(record, "data_row")
        item = as_text(row.get("global_key") or row.get("external_id") or row.get("id"))
        titles[item] = " ".join(as_text(row.get("row_data")).split())[:200]
        for project in inner(record, "projects").values():
            for label in objects(project.get("labels") if isinstance(project, dict) else None):
                person = as_text(inner(label, "label_details").get("created_by")).strip()
                if not person:
                    unnamed += 1
                    continue
                found = inner(label, "annotations").get("classifications")
                entries += [(person, item, *answer) for answer in _answers(found)]
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
    several = len({name for _, _, name, _ in entries}) > 1
    for person, item, name, answer in entries:
        stream.add(person, f"{item}/{name}" if several else item, answer)
    stream.attempts = number_attempts(zip(stream.persons, stream.items, strict=True))
    if unnamed:
        stream.notes.append(f"{unnamed} labels without created_by are left out.")
    return stream


def _answers(classifications: Any) -> list[tuple[str, list[str]]]:
    found = []
    for part in objects(classifications):
        name = as_text(part.get("name"))
        radio = part.get("radio_answer")
        if isinstance(radio, dict):
            found.append((name, [as_text(radio.get("name"))]))
            found += _answers(radio.get("classifications"))
        elif isinstance(part.get("checklist_answers"), list):
            chosen = [as_text(answer.get("name")) for answer in objects(part["checklist_answers"])]
            found.append((name, chosen))
    return found


LABELBOX = Format(
    "labelbox",
    "Labelbox, export v2 and the older JSON",
    "NDJSON with data_row and projects, or records with a Label; radio and checklist answers",
    _recognise,
    _convert,
)
