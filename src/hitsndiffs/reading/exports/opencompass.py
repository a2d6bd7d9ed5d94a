"""OpenCompass: predictions/<model>/<dataset>.json, or results with details."""

from __future__ import annotations

import re
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import as_text, stem_of_name

__all__ = ["OPENCOMPASS"]

_SHARD = re.compile(r"^(?P<dataset>.+)_(?P<shard>\d+)$")
_LONG = 40  # a longer prediction is free text, not an option


def _entries(value: Any) -> dict[str, dict[str, Any]]:
    """Return the entries numbered "0", "1", … of an object."""
    if not isinstance(value, dict):
        return {}
    return {key: v for key, v in value.items() if key.isdigit() and isinstance(v, dict)}


def _recognise(sample: Sample) -> str | None:
    first = sample.first if sample.kind == "json" else {}
    entry = _entries(first).get("0", {})
    if "prediction" in entry and entry.keys() & {"origin_prompt", "gold"} | _labels(entry):
        return "entries are numbered, each with a prediction"
    details = _entries(first.get("details")).get("0", {})
    if "predictions" in details or "prediction" in details or "pred" in details:
        return "the details of each prediction are there"
    return None


def _labels(entry: dict[str, Any]) -> set[str]:
    return {name for name in entry if name.startswith("label: ")}


def _convert(document: Document, _: Choices) -> Stream:
    value = document.data()
    model = document.folders[-1] if document.folders else stem_of_name(document.name)
    dataset, offset = _dataset(document)
    details = _entries(value.get("details")) if isinstance(value, dict) else {}
    stream = Stream(key_from="the references" if details else "the field «gold»")
    texts = []
    for number, entry in (details or _entries(value)).items():
        answer = _first(entry, "predictions", "prediction", "pred")
        key = _first(entry, "references", "gold", "answer")
        texts.append(answer)
        item = f"{dataset}/{int(number) + offset}"
        stream.add(model, item, answer or None, key=key or None)
    if not texts:
        raise Refusal("an OpenCompass file without predictions", "give the folder predictions/")
    if 2 * sum(len(text) > _LONG for text in texts) > len(texts):
        raise Refusal(
            "OpenCompass' raw predictions: texts of a model, from which no option was taken yet",
            "evaluate with dump_eval_details=True and give the folder results/",
        )
    return stream


def _first(entry: dict[str, Any], *names: str) -> str:
    for name in names:
        value = entry.get(name)
        while isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        if value is not None and not isinstance(value, dict):
            return as_text(value).strip()
    return ""


def _dataset(document: Document) -> tuple[str, int]:
    """Return the name of the data set, and the number of entries in earlier shards."""
    stem = stem_of_name(document.name)
    match = _SHARD.match(stem)
    if match is None:
        return stem, 0
    others = {
        stem_of_name(other.name): other for other in document.beside(f"{match['dataset']}_*.json")
    }
    names = [f"{match['dataset']}_{k}" for k in range(int(match["shard"]))]
    if not all(name in others for name in names) or (not names and not others):
        return stem, 0
    return match["dataset"], sum(len(_entries(others[name].data())) for name in names)


OPENCOMPASS = Format(
    "opencompass",
    "OpenCompass, predictions and details",
    "predictions/<model>/<dataset>.json, or results/ with details; give the folder",
    _recognise,
    _convert,
)
