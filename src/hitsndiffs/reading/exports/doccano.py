"""doccano: text classification, one file per annotator (in a zip), or older JSON with users."""

from __future__ import annotations

from typing import Any

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import (
    as_text,
    folded,
    literal,
    objects,
    short_hash,
    stem_of_name,
    title_of,
)

__all__ = ["DOCCANO"]

_TEXTS = ("text", "data", "filename")


def _recognise(sample: Sample) -> str | None:
    if first := sample.first:
        users = any("user" in part for record in sample.records for part in _annotations(record))
        if users and "data" not in first:
            return "each text has annotations with label and user"
        labels = first.get("label", first.get("labels"))
        texts = "id" in first and first.keys() & {*_TEXTS}
        if isinstance(labels, list) and texts and not recognise("user", list(first)):
            return "each line has an id, a text and a list of labels"
    names = [folded(name) for name in sample.header]
    three = names[:1] == ["id"] and names[2:3] == ["label"] and names[1] in _TEXTS
    if sample.kind == "table" and three and not recognise("user", list(sample.header)):
        return "the columns id, text and label come first"
    return None


def _annotations(record: Any) -> list[dict[str, Any]]:
    return objects(record.get("annotations")) if isinstance(record, dict) else []


def _convert(document: Document, _: Choices) -> Stream:
    stream = Stream()
    if document.kind in ("json", "jsonl"):
        records = objects(document.records())
    else:
        table = document.table()
        records = [dict(zip(map(folded, table.header), row, strict=True)) for row in table.rows]
    if any("user" in part for record in records for part in _annotations(record)):
        return _convert_users(records, stream)
    person = stem_of_name(document.name)
    if person == "all":
        raise Refusal(
            "doccano's «all» file of a shared project: it does not say who set which label",
            "let every member label in a project that is not collaborative, and export the zip",
        )
    for record in records:
        item = as_text(record.get("id"))
        labels = record.get("label", record.get("labels"))
        if isinstance(labels, str):
            labels = literal(labels) if labels.startswith("[") else labels.split("#")
        parts = labels if isinstance(labels, list) else [labels]
        texts = [as_text(part) for part in parts if not isinstance(part, (list, dict))]
        if len(texts) < len(parts):
            raise Refusal(
                "a doccano export of spans", "only text and image classification can be ranked"
            )
        stream.titles[item] = title_of(record.get("text", ""))
        done = any(text.strip() for text in texts)
        stream.add(person, item, texts, status=None if done else "not shown")
    stream.notes.append("The annotator is the name of the file.")
    return stream


def _convert_users(records: list[dict[str, Any]], stream: Stream) -> Stream:
    for record in records:
        text = record.get("text", "")
        item = as_text(record.get("id")) or short_hash(as_text(text))
        stream.titles[item] = title_of(text)
        by_user: dict[str, list[str]] = {}
        for part in _annotations(record):
            if isinstance(part.get("label"), (str, int, float)) and "start_offset" not in part:
                by_user.setdefault(as_text(part.get("user")), []).append(as_text(part["label"]))
        for person, labels in by_user.items():
            if person:
                stream.add(person, item, labels)
    if not stream.persons:
        raise Refusal("a file of annotations without labels by user", "export the labels per user")
    stream.number_repeats()
    return stream


DOCCANO = Format(
    "doccano",
    "doccano, classification",
    "The zip of a project (a file per annotator), or records with annotations by user",
    _recognise,
    _convert,
)
