"""MMLU-Pro: the outputs of a model, as the official script writes them."""

from __future__ import annotations

import re
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Sample, Status, Stream
from hitsndiffs.reading.exports.common import as_text, letter_place, stem_of_name, title_of

__all__ = ["MMLU_PRO"]

_KEYS = {"question_id", "pred", "options"}
_NAME = re.compile(r"^(?:model_outputs?_)?(?P<model>.+?)(?:_\d+[-_]?shots?)?$", re.IGNORECASE)


def _recognise(sample: Sample) -> str | None:
    if sample.is_json and any(
        isinstance(record, dict) and record.keys() >= _KEYS and "answer" in record
        for record in sample.records
    ):
        return "each record has question_id, options, answer and pred"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    stem = stem_of_name(document.name)
    if stem.endswith("_result") and document.folders:
        stem = document.folders[-1]
    match = _NAME.match(stem)
    model = match["model"] if match else stem
    stream = Stream(key_from="the field «answer»")
    strange = 0
    for record in document.records():
        if not isinstance(record, dict) or "question_id" not in record:
            strange += 1
            continue
        options = record.get("options")
        count = len(options) if isinstance(options, list) and len(options) > 1 else 26
        item = as_text(record["question_id"])
        answer, status = _letter(record.get("pred"), count)
        stream.titles[item] = title_of(record.get("question"))
        stream.add(model, item, answer, key=_key(record), status=status)
    if strange:
        stream.notes.append(f"{strange} elements that are not records are left out.")
    return stream


def _letter(value: Any, count: int) -> tuple[str | None, Status | None]:
    """Return the letter, or None if the model named none or one beyond the options."""
    text = as_text(value).strip()
    if not text:
        return None, "blank"
    place = letter_place(text)
    if place is None or place >= count:
        return None, "unreadable"
    return chr(ord("A") + place), None


def _key(record: dict[str, Any]) -> str | None:
    """Return the right letter, if it agrees with its index."""
    place, index = letter_place(as_text(record.get("answer"))), record.get("answer_index")
    if place is None or (isinstance(index, int) and index != place):
        return None
    return chr(ord("A") + place)


MMLU_PRO = Format(
    "mmlu-pro",
    "MMLU-Pro, model outputs",
    "«model_outputs_<model>_5shots.json» (or zip) of each model; give the folder",
    _recognise,
    _convert,
    "outputs of four models",
)
