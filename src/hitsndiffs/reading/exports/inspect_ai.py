"""Inspect AI: logs as .eval (zip, also with zstd inside) or .json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Status,
    Stream,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    labelled,
    letter_place,
    objects,
    short_hash,
    title_of,
)

__all__ = ["INSPECT"]

_SAMPLES = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_CORRECT = {"C": True, "I": False, "1": True, "0": False, "true": True, "false": False}


def _recognise(sample: Sample) -> str | None:
    if sample.kind == "archive":
        names = set(sample.members)
        logged = "_journal/start.json" in names or any(map(_SAMPLES.match, names))
        if logged and names & {"header.json", "_journal/start.json"}:
            return "the archive holds a journal and samples"
        return None
    log = sample.kind == "json" and sample.has_keys("version", "status", "eval")
    if log and "model" in inner(sample.first, "eval"):
        return "a log with version, status and eval"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    log = _header(document)
    about = inner(log, "eval")
    model, task = as_text(about.get("model")).strip(), as_text(about.get("task"))
    if not model:
        raise Refusal("an Inspect log that does not name its model", "run the evaluation again")
    stream = Stream(key_from="the targets")
    agree = differ = failed = 0
    for sample in _samples(document, log):
        score = _score(sample.get("scores"))
        if score is None or sample.get("error"):
            failed += 1
            continue
        options = sample.get("choices")
        texts = labelled([as_text(o) for o in options]) if isinstance(options, list) else []
        chosen, status = _answer(as_text(score.get("answer")), texts)
        key = _key(sample.get("target"), texts)
        item = _item(sample, task)
        stream.titles[item] = title_of(_words(sample.get("input")))
        epoch = sample.get("epoch")
        attempt = epoch if isinstance(epoch, int) and epoch > 0 else 1
        stream.add(model, item, chosen, attempt=attempt, key=key, status=status)
        right = _CORRECT.get(as_text(score.get("value")))
        if right is not None and key and chosen and texts:
            agree += (set(chosen) == set(key)) == right
            differ += (set(chosen) == set(key)) != right
    if not stream.persons:
        raise Refusal(
            "an Inspect log without scored samples", "give a log of an evaluation that finished"
        )
    if failed:
        stream.notes.append(f"{failed} samples without a score are left out.")
    if differ > 0.05 * (agree + differ):
        stream.notes.append("The targets do not fit the scores: they are not used as a key.")
        stream.keys = [None] * len(stream)
    return stream


def _header(document: Document) -> dict[str, Any]:
    if document.kind == "json":
        return inner(document.data())
    for name in ("header.json", "_journal/start.json"):
        member = document.member(name)
        if member is not None:
            found = objects(member.data())
            if found:
                return found[0]
    return {}


def _samples(document: Document, log: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if document.kind == "json":
        yield from objects(log.get("samples"))
        return
    summaries = document.member("summaries.json")
    found = objects(summaries.data()) if summaries is not None else []
    if found and all("scores" in s and isinstance(s.get("choices"), list) for s in found):
        yield from found
        return
    names = [name for name in dict.fromkeys(document.sample.members) if _SAMPLES.match(name)]
    for name in names:
        member = document.member(name)
        if member is not None:
            yield from objects(member.data())
    if not names:
        yield from found


def _score(scores: Any) -> dict[str, Any] | None:
    """Return the score of the scorer «choice», or else the first with an answer."""
    if not isinstance(scores, dict):
        return None
    found = {name: score for name, score in scores.items() if isinstance(score, dict)}
    for name, score in found.items():
        if "choice" in name and score.get("answer") is not None:
            return score
    return next((score for score in found.values() if score.get("answer") is not None), None)


def _answer(text: str, options: list[str]) -> tuple[tuple[str, ...], Status | None]:
    """Return the options named by letters («A, C»); without options, the text itself."""
    if not text.strip():
        return (), "unreadable"
    if not options:
        return (text.strip(),), None
    places = [letter_place(part) for part in re.split(r"\s*,\s*", text.strip()) if part]
    if all(place is not None and place < len(options) for place in places):
        return tuple(options[place] for place in places if place is not None), None
    if text.strip() in options:
        return (text.strip(),), None
    return (), "unreadable"


def _key(target: Any, options: list[str]) -> tuple[str, ...]:
    parts = target if isinstance(target, list) else [target]
    texts = [as_text(part).strip() for part in parts if as_text(part).strip()]
    if not options:
        return tuple(texts) if len(texts) == 1 else ()
    return _answer(", ".join(texts), options)[0]


def _item(sample: dict[str, Any], task: str) -> str:
    """Return the name of a sample; a bare number is followed by a hash of its text.

    Numbers follow the order of the data set, so two logs may give two questions the same number.
    """
    number = sample.get("id")
    name = as_text(number)
    if not name or name.isdigit():
        name = f"{name or 'sample'}-{short_hash(_words(sample.get('input')))}"
    return f"{task}/{name}" if task else name


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_words(part.get("content")) for part in objects(value))
    return as_text(value)


INSPECT = Format(
    "inspect",
    "Inspect AI, logs",
    "Logs as .eval or .json, one per model and task; give the folder",
    _recognise,
    _convert,
    "logs of three models, JSON and .eval",
)
