"""Prodigy: a JSONL file with one annotation per line."""

from __future__ import annotations

from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import as_text, objects, title_of

__all__ = ["PRODIGY"]


def _recognise(sample: Sample) -> str | None:
    if sample.has_keys("_input_hash", "_task_hash", "answer"):
        return "each line has _input_hash, _task_hash and an answer"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    records = objects(document.records())
    by = next(
        (
            name
            for name in ([choices.user] if choices.user else ["_annotator_id", "_session_id"])
            if any(record.get(name) for record in records)
        ),
        None,
    )
    if by is None:
        raise Refusal(
            "a Prodigy export that does not name its annotators",
            "annotate with named sessions (?session=NAME), or name another field as the user",
        )
    stream = Stream()
    labels = {as_text(r.get("label")) for r in records if "accept" not in r and "options" not in r}
    unnamed = unread = 0
    for record in records:
        person = as_text(record.get(by)).strip()
        if not person:
            unnamed += 1
            continue
        item = as_text(record.get("_input_hash"))
        if "accept" in record or "options" in record:
            answer: Any = record.get("accept")
            chosen = answer if isinstance(answer, list) else [answer]
            texts = tuple(as_text(part) for part in chosen if part is not None)
            done = record.get("answer") == "accept"
        elif "label" in record or not any(k in record for k in ("spans", "relations")):
            if len(labels) > 1:
                item = f"{item}/{as_text(record.get('label'))}"
            texts = (as_text(record.get("answer")),)
            done = record.get("answer") in ("accept", "reject")
        else:
            unread += 1
            continue
        stream.titles[item] = title_of(record.get("text"))
        stream.add(person, item, texts if done else None)
    if not stream.persons:
        raise Refusal(
            "a Prodigy export of spans or relations, without choices",
            "only the views choice and classification can be ranked",
        )
    if unnamed or unread:
        stream.notes.append(
            f"{unnamed + unread} lines without an annotator or a choice are left out."
        )
    stream.number_repeats()
    return stream


PRODIGY = Format(
    "prodigy",
    "Prodigy, annotations",
    "JSONL, a line per annotation; views choice and classification",
    _recognise,
    _convert,
    "a campaign with 42 annotators",
)
