"""Inspect AI: logs as .eval (zip, also with zstd inside) or .json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sample, Sign
from hitsndiffs.reading.exports.common import as_text, inner, objects, short_hash, title_of
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Options

__all__ = ["FORMATS"]

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_CORRECT = {"C": True, "I": False, "1": True, "0": False, "true": True, "false": False}


def _is_archive(sample: Sample) -> bool:
    logged = _HEADERS[1] in sample.members or any(map(_SAMPLES.match, sample.members))
    return sample.kind == "archive" and logged and not {*sample.members}.isdisjoint(_HEADERS)


def _answers(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    log, samples = _opened(document)
    about = inner(log, "eval")
    model, task = as_text(about.get("model")).strip(), as_text(about.get("task"))
    if not model:
        raise Refusal("an Inspect log that does not name its model", "run the evaluation again")
    for sample in samples:
        score = _score(sample.get("scores"))
        if score is None or sample.get("error"):
            yield Given(model, "", None, aside=("samples without a score", "they failed"))
            continue
        options, epoch = Options(sample.get("choices")), sample.get("epoch")
        target = sample.get("target")
        right = ", ".join(map(as_text, target)) if isinstance(target, list) else as_text(target)
        several = isinstance(target, list) and len(target) > 1 and not options.labels
        yield Given(
            model,
            _item(sample, task),
            _chosen(as_text(score.get("answer")), options),
            key=() if several else _chosen(right, options),
            title=title_of(_words(sample.get("input"))),
            attempt=epoch if isinstance(epoch, int) and epoch > 0 else 1,
            right=_CORRECT.get(as_text(score.get("value"))) if options.labels else None,
        )


def _opened(document: Document) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the samples: from the summaries, if these hold the options."""
    if document.kind == "json":
        log = inner(document.data())
        return log, objects(log.get("samples"))
    files = [one for name in _HEADERS if (one := document.member(name)) is not None]
    header = next((found for one in files for found in objects(one.data())), {})
    summaries = document.member("summaries.json")
    found = objects(summaries.data()) if summaries is not None else []
    if found and all("scores" in s and isinstance(s.get("choices"), list) for s in found):
        return header, found
    names = [name for name in dict.fromkeys(document.sample.members) if _SAMPLES.match(name)]
    members = [one for name in names if (one := document.member(name)) is not None]
    return header, [own for one in members for own in objects(one.data())] or found


def _score(scores: Any) -> dict[str, Any] | None:
    """Return the score of the scorer «choice», or else the first with an answer."""
    found = {n: s for n, s in inner(scores).items() if inner(s).get("answer") is not None}
    return next((s for n, s in found.items() if "choice" in n), next(iter(found.values()), None))


def _chosen(text: str, options: Options) -> tuple[str, ...]:
    """Return the options named by letters («A, C») or by a text; without options, the text.

    Examples
    --------
    >>> colours = Options(["red", "blue"])
    >>> _chosen("A, B", colours), _chosen("blue", colours), _chosen("C", colours)
    (('red', 'blue'), ('blue',), ())
    """
    text = text.strip()
    places = [options.lettered(part) for part in re.split(r"\s*,\s*", text) if part]
    if options.labels and places and None not in places:
        return tuple(filter(None, places))
    return (text,) if text and (not options.labels or text in options.labels) else ()


def _item(sample: dict[str, Any], task: str) -> str:
    """Return the name of a sample; a bare number is followed by a hash of its text.

    Numbers follow the order of the data set, so two logs may give two questions the same number.
    """
    name = as_text(sample.get("id"))
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
    (
        Sign("the archive holds a journal and samples", holds=_is_archive),
        Sign(
            "a log with version, status and eval",
            fields=("version", "status", "eval"),
            holds=lambda sample: "model" in inner(sample.first, "eval"),
        ),
    ),
    _answers,
    tried="logs of three models, JSON and .eval",
    empty=("an Inspect log without scored samples", "give a log of an evaluation that finished"),
    key_from="the targets",
    none="unreadable",
)

FORMATS = (INSPECT,)
