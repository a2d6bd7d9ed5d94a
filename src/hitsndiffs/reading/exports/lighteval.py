"""lighteval: the details of a run as Parquet, in all three layouts."""

from __future__ import annotations

import re
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import (
    as_text,
    folded,
    inner,
    labelled,
    literal,
    objects,
    short_hash,
    stem_of_name,
)
from hitsndiffs.reading.exports.lm_eval_options import best

__all__ = ["LIGHTEVAL"]

_NAME = re.compile(r"^details_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d\-:.]+)$")
_TIME = re.compile(r"^\d{4}[-_]\d\d[-_]\d\dT[\d\-_:.]+$")


def _recognise(sample: Sample) -> str | None:
    if sample.kind != "parquet":
        return None
    names = {folded(name) for name in sample.header}
    if {"doc", "model_response"} <= names and names & {"metric", "metrics"}:
        return "the columns doc, model_response and metric are there"
    if {"gold_index", "choices", "predictions"} <= names or (
        {"gold", "choices", "predictions"} <= names and "full_prompt" in names
    ):
        return "the columns choices, gold_index and predictions are there"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    model, task = _model(document), _task(document)
    stream = Stream(key_from="the column «gold_index»")
    for record in objects(document.records()):
        row = {name: literal(value) for name, value in record.items()}
        doc, response = row.get("doc"), inner(row, "model_response")
        if isinstance(doc, dict):
            query, options, gold = doc.get("query"), doc.get("choices"), doc.get("gold_index")
            values = response.get("logprobs")
            texts = response.get("text_post_processed") or response.get("text")
        else:
            query, options = row.get("example", row.get("full_prompt")), row.get("choices")
            gold, values = row.get("gold_index"), row.get("predictions")
            texts = values
        labels = labelled([as_text(o) for o in options]) if isinstance(options, list) else []
        place = _place(values, labels)
        item = f"{task}/{short_hash(as_text(query) + ''.join(labels))}"
        stream.titles[item] = " ".join(as_text(query).split())[-200:]
        answer = labels[place] if place is not None else _text(texts, labels)
        right = _gold(gold, labels)
        stream.add(model, item, answer, key=right, status=None if answer else "unreadable")
    if not stream.persons:
        raise Refusal("a lighteval file without samples", "give the details of a run")
    stream.number_repeats()
    return stream


def _place(values: Any, labels: list[str]) -> int | None:
    """Return the index of the likeliest option, if each option has a log-likelihood."""
    while isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if not isinstance(values, list) or len(values) != len(labels) or len(labels) < 2:
        return None
    numbers = []
    for value in values:
        value = value[0] if isinstance(value, (list, tuple)) and value else value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        numbers.append(float(value))
    return best(numbers)


def _text(texts: Any, labels: list[str]) -> str | None:
    while isinstance(texts, list):
        texts = texts[0] if texts else None
    text = " ".join(as_text(texts).split()) if isinstance(texts, str) else ""
    if len(labels) > 1:
        return text if text in labels else None
    return text or None


def _gold(gold: Any, labels: list[str]) -> str | None:
    while isinstance(gold, list):
        gold = gold[0] if len(gold) == 1 else None
    whole = isinstance(gold, int) and not isinstance(gold, bool)
    return labels[gold] if whole and 0 <= gold < len(labels) else None


def _model(document: Document) -> str:
    """Return the model: the folders above the one named after the time."""
    folders = list(document.folders)
    while folders and _TIME.match(folders[-1]):
        folders.pop()
    hub = next((f for f in reversed(folders) if f.startswith("details_") and "__" in f), None)
    if hub is not None:
        return hub.removeprefix("details_").removesuffix("_private").replace("__", "/")
    if not folders:
        return stem_of_name(document.name)
    above = folders[-2] if len(folders) > 1 else ""
    return f"{above}/{folders[-1]}" if above and "details" in folders[:-2] else folders[-1]


def _task(document: Document) -> str:
    match = _NAME.match(stem_of_name(document.name))
    return match["task"] if match else stem_of_name(document.name)


LIGHTEVAL = Format(
    "lighteval",
    "lighteval, details",
    "details/<org>/<model>/<time>/details_<task>_<time>.parquet; give the folder",
    _recognise,
    _convert,
)
