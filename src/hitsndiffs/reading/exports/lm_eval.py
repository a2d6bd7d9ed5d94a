"""lm-evaluation-harness: samples (all versions), one model and one task per file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Status,
    Stream,
    number_attempts,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    best,
    inner,
    objects,
    short_hash,
    stem_of_name,
    title_of,
)
from hitsndiffs.reading.exports.lm_eval_options import (
    generated_choice,
    likelihoods,
    option_texts,
    target_places,
)

__all__ = ["LM_EVAL"]

_NAME = re.compile(r"^samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d\-:.]+))?$")
_LIKELIHOOD = re.compile(r"-\d+\.\d+(?:e[+-]?\d+)?|-inf|nan", re.IGNORECASE)
_LONG = 60  # a generated text longer than this is not an option


def _recognise(sample: Sample) -> str | None:
    if sample.is_json and any(
        isinstance(r, dict) and {"doc_id", "resps", "filtered_resps"} <= r.keys()
        for r in sample.records
    ):
        return "each line has doc_id, resps and filtered_resps"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    model, task = _model_and_task(document)
    stream = Stream(key_from="the targets")
    records = [r for r in objects(document.records()) if "filtered_resps" in r]
    records = _one_filter(_without_copies(records, stream), stream)
    records.sort(key=_place)
    if 2 * sum(_is_likelihood(record["filtered_resps"]) for record in records) > len(records):
        raise Refusal(
            "an lm-eval file of perplexities: there are no options in it",
            "only tasks with options can be ranked",
        )
    answers = [_read(record) for record in records]
    _check_free_text(answers)
    _check_key(answers, stream)
    names = _item_names(records, task)
    filters = [as_text(record.get("filter")) for record in records]
    attempts = number_attempts(zip(names, filters, strict=True))
    for record, answer, item, attempt in zip(records, answers, names, attempts, strict=True):
        stream.titles.setdefault(item, _title(record.get("doc")))
        stream.add(model, item, answer.label, attempt=attempt, key=answer.key, status=answer.status)
    return stream


def _is_likelihood(value: Any) -> bool:
    """Whether a response is one log-likelihood (of a text), not one per option.

    Examples
    --------
    >>> [_is_likelihood(v) for v in (["-12.5"], [["-3.25", "True"]], -7.5)]
    [True, True, True]
    >>> [_is_likelihood(v) for v in (["B"], [["-1.5", "False"], ["-2.5", "False"]])]
    [False, False]
    """
    while isinstance(value, list) and value and (len(value) == 1 or not isinstance(value[0], list)):
        if len(value) == 2 and as_text(value[1]).casefold() not in ("true", "false"):
            return False
        value = value[0]
    return not isinstance(value, list) and _LIKELIHOOD.fullmatch(as_text(value).strip()) is not None


# -- names ---------------------------------------------------------------------------------------


def _model_and_task(document: Document) -> tuple[str, str]:
    stem = stem_of_name(document.name)
    match = _NAME.match(stem)
    if match is None:
        return _old_names(document, stem)
    folder = document.folders[-1] if document.folders else ""
    pattern = f"results_{match['time']}.json" if match["time"] else "results*.json"
    for results in document.beside(pattern):
        model = _model_of_results(results)
        if model:
            return _short(model), match["task"]
    return _short(folder.replace("__", "/")) or stem, match["task"]


def _old_names(document: Document, stem: str) -> tuple[str, str]:
    """Versions up to 0.4.2 wrote ``<model arguments>_<task>.jsonl``."""
    for results in document.beside("*results*.json"):
        tasks = inner(_loaded(results), "results")
        fitting = [task for task in tasks if stem.endswith(f"_{task}")]
        if fitting:
            task = max(fitting, key=len)
            return _short(stem[: -len(task) - 1].replace("__", "/")), task
    return _short(stem.replace("__", "/")), ""


def _loaded(results: Document) -> dict[str, Any]:
    try:
        return next(iter(objects(results.data())), {})
    except InputError:
        return {}


def _model_of_results(results: Document) -> str:
    known = _loaded(results)
    if known.get("model_name"):
        return as_text(known["model_name"])
    arguments = inner(known, "config").get("model_args")
    if isinstance(arguments, dict):
        return as_text(arguments.get("pretrained") or arguments.get("model"))
    match = re.search(r"(?:^|,)(?:pretrained|model|path)=([^,]+)", as_text(arguments))
    return match[1] if match else ""


def _short(model: str) -> str:
    """Return the name of a model; for a path on disk, only its last part.

    Examples
    --------
    >>> _short("meta/llama-3"), _short("/data/x/llama-3"), _short("pretrained/eleuther/pythia")
    ('meta/llama-3', 'llama-3', 'eleuther/pythia')
    """
    model = model.strip().rstrip("/")
    if model.startswith(("/", "./", "~", "\\")) or model.count("/") > 3:
        return model.rpartition("/")[2]
    return re.sub(r"^(?:pretrained|model)[/=]", "", model)


def _item_names(records: list[dict[str, Any]], task: str) -> list[str]:
    """Return the item of each record: a hash of the document, the same in every run."""
    names: list[str] = []
    numbers: dict[str, dict[str, int]] = {}
    prefix = f"{task}/" if task else ""
    for record in records:
        code = as_text(record.get("doc_hash"))[:12]
        if not code:
            code = short_hash(json.dumps(record.get("doc"), sort_keys=True, default=str))
        # A data set may contain the same document twice; a number tells the copies apart.
        places = numbers.setdefault(code, {})
        place = places.setdefault(as_text(record.get("doc_id")), len(places) + 1)
        names.append(f"{prefix}{code}" + (f"#{place}" if place > 1 else ""))
    return names


def _title(doc: Any) -> str:
    if not isinstance(doc, dict):
        return title_of(doc)
    for name in ("question", "query", "problem", "sentence", "ctx", "goal", "premise", "input"):
        if isinstance(doc.get(name), str) and doc[name].strip():
            return title_of(doc[name])
    return next((title_of(value) for value in doc.values() if isinstance(value, str)), "")


# -- which lines count ---------------------------------------------------------------------------


def _place(record: dict[str, Any]) -> tuple[int, str]:
    number = record.get("doc_id")
    whole = isinstance(number, int) and not isinstance(number, bool)
    return (number, "") if whole else (1 << 60, as_text(number))  # type: ignore[return-value]


def _without_copies(records: list[dict[str, Any]], stream: Stream) -> list[dict[str, Any]]:
    """Leave out repeated lines: several runs or processes may append to the file."""
    seen: set[str] = set()
    kept = []
    for record in records:
        parts = [
            record.get(name) for name in ("doc_id", "doc", "filter", "filtered_resps", "target")
        ]
        text = json.dumps(parts, sort_keys=True, default=str)
        if text not in seen:
            seen.add(text)
            kept.append(record)
    if len(kept) < len(records):
        count = len(records) - len(kept)
        stream.leave_out(count, "repeated lines", "they are exact copies")
    return kept


def _one_filter(records: list[dict[str, Any]], stream: Stream) -> list[dict[str, Any]]:
    """Keep one of several filters: the flexible one, or else the first."""
    filters = list(dict.fromkeys(as_text(r["filter"]) for r in records if "filter" in r))
    if len(filters) < 2:
        return records
    chosen = next((name for name in filters if "flexible" in name), filters[0])
    kept = [record for record in records if as_text(record.get("filter")) == chosen]
    count = len(records) - len(kept)
    stream.leave_out(count, "lines of other filters", f"the filter «{chosen}» is read")
    return kept


# -- answers -------------------------------------------------------------------------------------


@dataclass
class _Answer:
    """What a record says: the choice, the options, and the right ones."""

    label: str | None
    options: list[str]
    key: tuple[str, ...] | None
    status: Status | None = None
    #: Whether the choice is right, as computed and as stored; None if unknown.
    right: bool | None = None
    stored: bool | None = None


def _read(record: dict[str, Any]) -> _Answer:
    values = likelihoods(record)
    stored = record.get("acc")
    known = bool(stored) if stored in (0, 1, True, False, 0.0, 1.0) else None
    if values is None:
        return _read_generated(record)
    options = option_texts(record, len(values))
    place = best(values)
    if place is None:
        return _Answer(None, options, None, "unreadable")
    places = target_places(record, options)
    if not places and len(options) == 2 and known is not None:
        places = (place if known else 1 - place,)
    key = tuple(options[k] for k in places) if len(places) == 1 else None
    right = place in places if places else None
    return _Answer(options[place], options, key, None, right, known)


def _read_generated(record: dict[str, Any]) -> _Answer:
    found = record["filtered_resps"]
    while isinstance(found, list):
        found = found[0] if found else None
    text = as_text(found).strip()
    target = as_text(record.get("target")).rpartition("####")[2].strip()  # gsm8k explains first
    if not text or text == "[invalid]":
        return _Answer(None, [], (target,) if target else None, "unreadable")
    label, options, key = generated_choice(record, text, target)
    if not options and label is not None and record.get("exact_match") in (1, "1", "1.0"):
        key = (label,)  # the harness accepted it, however the target is written
    return _Answer(label, options, key, None if label is not None else "unreadable")


def _check_free_text(answers: list[_Answer]) -> None:
    free = [a for a in answers if not a.options and a.label]
    long = sum(len(answer.label or "") > _LONG for answer in free)
    if not answers or (free and 2 * long > len(free) and 2 * len(free) > len(answers)):
        raise Refusal(
            "an lm-eval file of generated texts without options",
            "only tasks with options or short answers can be ranked",
        )


def _check_key(answers: list[_Answer], stream: Stream) -> None:
    """Trust the targets only if they reproduce the accuracy stored in the file."""
    wrong = sum(
        a.right is not None and a.stored is not None and a.right != a.stored for a in answers
    )
    if wrong:
        stream.notes.append(
            f"The targets do not give the accuracy stored in the file ({wrong} lines differ): "
            "they are not used as a key."
        )
        for answer in answers:
            answer.key = None


LM_EVAL = Format(
    "lm-eval",
    "lm-evaluation-harness, samples",
    "«samples_<task>_<time>.jsonl» of each model (all versions); give the folder",
    _recognise,
    _convert,
    "runs of six models, in three layouts",
)
