"""Amazon SageMaker Ground Truth and Augmented AI: what each worker answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Stream,
)
from hitsndiffs.reading.exports.common import as_text, inner, literal, objects, stem_of_name
from hitsndiffs.reading.exports.entries import Entry, add_entries
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["GROUND_TRUTH"]


def _recognise(sample: Sample) -> str | None:
    first = sample.first
    if "datasetObjectId" in first and isinstance(first.get("annotations"), list):
        return "each object has a datasetObjectId and the annotations of its workers"
    for name in ("answers", "humanAnswers"):
        if any("workerId" in own and "answerContent" in own for own in objects(first.get(name))):
            return "the answers have a workerId and an answerContent"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    entries = list(_entries(document))
    if not entries:
        raise Refusal(
            "a Ground Truth file without classes: boxes, regions or texts only",
            "only tasks in which workers choose a class can be ranked",
        )
    stream = Stream()
    add_entries(stream, entries, None)
    return stream


def _entries(document: Document) -> Iterator[Entry]:
    for record in objects(document.records()):
        item = as_text(record.get("datasetObjectId") or record.get("humanLoopName"))
        item = item or (document.folders[-1] if document.folders else stem_of_name(document.name))
        for name in ("annotations", "answers", "humanAnswers"):
            for own in objects(record.get(name)):
                person = as_text(own.get("workerId"))
                content = inner(own, "annotationData").get("content", own.get("answerContent"))
                for question, chosen in _classes(literal(content)) if person else ():
                    yield Entry(person, item, question, chosen)


def _classes(content: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the questions of a form and the classes that were chosen."""
    for name, value in content.items() if isinstance(content, dict) else ():
        if isinstance(value, dict) and isinstance(value.get("labels"), list):
            yield name, tuple(as_text(label) for label in value["labels"])
        elif isinstance(value, dict) and "label" in value:
            yield name, (as_text(value["label"]),)
        elif isinstance(value, dict) and value and all(isinstance(v, bool) for v in value.values()):
            yield name, tuple(option for option, on in value.items() if on)
        elif isinstance(value, (str, int, float)) and role_of_name(name) != "comment":
            yield name, (as_text(value),)


GROUND_TRUTH = Format(
    "ground-truth",
    "Amazon SageMaker Ground Truth, answers of the workers",
    "annotations/worker-response/… (give the folder), or a consolidation request; classes",
    _recognise,
    _convert,
)
