"""lm-evaluation-harness: samples (all versions), one model and one task per file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    letter_place,
    literal,
    objects,
    short_hash,
    single,
    stem_of_name,
    title_of,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream, number_attempts
from hitsndiffs.reading.exports.records import Options

__all__ = ["FORMATS"]


def _answers(document: Document, _: Choices, stream: Stream) -> Iterator[Given]:
    model, task = _model_and_task(document)
    found = [r for r in objects(document.records()) if "filtered_resps" in r]
    records = sorted(_one_filter(_without_copies(found, stream), stream), key=_number)
    if 2 * sum(_is_likelihood(record["filtered_resps"]) for record in records) > len(records):
        raise Refusal(
            "an lm-eval file of perplexities: there are no options in it",
            "only tasks with options can be ranked",
        )
    names = _item_names(records, task)
    tries = number_attempts(
        (n, as_text(r.get("filter"))) for n, r in zip(names, records, strict=True)
    )
    for record, item, attempt in zip(records, names, tries, strict=True):
        values = _likelihoods(record)
        one = _generated(record) if values is None else _chosen(record, values)
        title = title_of(inner(record.get("doc")))
        yield one._replace(person=model, item=item, attempt=attempt, title=title)


# -- names ---------------------------------------------------------------------------------------

_NAME = re.compile(r"^samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d\-:.]+))?$")


def _model_and_task(document: Document) -> tuple[str, str]:
    """Return the model and the task: by the results beside, the folder, or the file's name.

    Versions up to 0.4.2 wrote ``<model arguments>_<task>.jsonl``.
    """
    stem = stem_of_name(document.name)
    if match := _NAME.match(stem):
        beside = f"results_{match['time']}.json" if match["time"] else "results*.json"
        named = map(_model_of_results, document.beside(beside))
        folder = document.folders[-1] if document.folders else ""
        model = next(filter(None, named), folder.replace("__", "/"))
        return _short(model) or stem, match["task"]
    tasks = {t for r in document.beside("*results*.json") for t in inner(_loaded(r), "results")}
    task = max((t for t in tasks if stem.endswith(f"_{t}")), key=len, default="")
    return _short(stem.removesuffix(f"_{task}").replace("__", "/")), task


def _loaded(results: Document) -> dict[str, Any]:
    try:
        return next(iter(objects(results.data())), {})
    except InputError:
        return {}


def _model_of_results(results: Document) -> str:
    known = _loaded(results)
    arguments = inner(known, "config").get("model_args")
    if isinstance(arguments, dict):
        told = as_text(arguments.get("pretrained") or arguments.get("model"))
    else:
        match = re.search(r"(?:^|,)(?:pretrained|model|path)=([^,]+)", as_text(arguments))
        told = match[1] if match else ""
    return as_text(known.get("model_name")) or told


def _short(model: str) -> str:
    """Return the name of a model; for a path on disk, only its last part."""
    model = model.strip().rstrip("/")
    if model.startswith(("/", "./", "~", "\\")) or model.count("/") > 3:
        return model.rpartition("/")[2]
    return re.sub(r"^(?:pretrained|model)[/=]", "", model)


def _item_names(records: list[dict[str, Any]], task: str) -> list[str]:
    """Return the item of each record: a hash of the document, the same in every run.

    A data set may contain the same document twice; a number tells the copies apart.
    """
    names: list[str] = []
    numbers: dict[str, dict[str, int]] = {}
    for record in records:
        code = as_text(record.get("doc_hash"))[:12]
        if not code:
            code = short_hash(json.dumps(record.get("doc"), sort_keys=True, default=str))
        places = numbers.setdefault(code, {})
        place = places.setdefault(as_text(record.get("doc_id")), len(places) + 1)
        copy = f"#{place}" if place > 1 else ""
        names.append("/".join(filter(None, (task, f"{code}{copy}"))))
    return names


# -- which lines count ---------------------------------------------------------------------------


def _number(record: dict[str, Any]) -> tuple[float, str]:
    number = record.get("doc_id")
    return (number, "") if isinstance(number, int) else (float("inf"), as_text(number))


def _without_copies(records: list[dict[str, Any]], stream: Stream) -> list[dict[str, Any]]:
    """Leave out repeated lines: several runs or processes may append to the file."""
    fields = ("doc_id", "doc", "filter", "filtered_resps", "target")
    texts = [json.dumps([r.get(n) for n in fields], sort_keys=True, default=str) for r in records]
    kept = list(dict(zip(texts, records, strict=True)).values())
    if len(kept) < len(records):
        stream.leave_out(len(records) - len(kept), "repeated lines", "they are exact copies")
    return kept


def _one_filter(records: list[dict[str, Any]], stream: Stream) -> list[dict[str, Any]]:
    """Keep one of several filters: the flexible one, or else the first."""
    filters = list(dict.fromkeys(as_text(r["filter"]) for r in records if "filter" in r))
    chosen = next((name for name in filters if "flexible" in name), next(iter(filters), ""))
    kept = [r for r in records if len(filters) < 2 or as_text(r.get("filter")) == chosen]
    if len(kept) < len(records):
        reason = f"the filter «{chosen}» is read"
        stream.leave_out(len(records) - len(kept), "lines of other filters", reason)
    return kept


# -- the likeliest of several options --------------------------------------------------------------

_LIKELIHOOD = re.compile(r"-\d+\.\d+(?:e[+-]?\d+)?|-inf|nan", re.IGNORECASE)
_GREEDY = ("true", "false", "0", "1")


def _is_likelihood(value: Any) -> bool:
    """Whether a response is one log-likelihood (of a text), not one per option."""
    while isinstance(value, list) and value and (len(value) == 1 or not isinstance(value[0], list)):
        if len(value) == 2 and as_text(value[1]).casefold() not in _GREEDY:
            return False
        value = value[0]
    return not isinstance(value, list) and _LIKELIHOOD.fullmatch(as_text(value).strip()) is not None


def _likelihoods(record: dict[str, Any]) -> list[float] | None:
    """Return the log-likelihood of each option, or None if the answer is a text."""
    found = literal(record["filtered_resps"])
    pairs = found if isinstance(found, list) and len(found) > 1 else [None]
    values = []
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            return None
        try:
            values.append(float(pair[0]))
        except (TypeError, ValueError):
            return None
        if as_text(pair[1]).casefold() not in _GREEDY:
            return None
    metrics = record.get("metrics")
    doubled = "acc_mutual_info" in (*record, *(metrics if isinstance(metrics, list | dict) else ()))
    return values[: len(values) // 2] if doubled else values


def _chosen(record: dict[str, Any], values: list[float]) -> Given:
    """Return the likeliest option, and the right one: by the target, or else by the accuracy.

    If all continuations are equal, the options differ in the context (winogrande): then the
    document names them, or they are numbered, and the target is a text.
    """
    count, target = len(values), literal(record.get("target"))
    continued = _continuations(record.get("arguments"), count)
    same = count > 1 and len({*continued}) == 1
    texts = _doc_options(record.get("doc"), count) or ([] if same else continued)
    options = Options(texts or [str(k + 1) for k in range(count)])
    answer, labels = options.likeliest(values), options.labels
    accuracy = record.get("acc")
    stored = bool(accuracy) if accuracy in (0, 1) else None
    targets = [] if same else target if isinstance(target, list) else [target]
    places = [_place(value, labels, continued) for value in targets]
    right = [labels[k] for k in places if k is not None]
    if len(right) < len(places) or (not right and len(labels) != 2):
        right = []
    elif not right and stored is not None:
        right = [label for label in labels if (label == answer) == stored]
    # with several targets there is no key to compare with
    return Given("", "", single(answer), key=tuple(right) if len(right) == 1 else (), right=stored)


def _place(target: Any, labels: Sequence[str], continued: Sequence[str]) -> int | None:
    """Return the index of the right option: the target is an index or a text."""
    text = as_text(target).strip()
    if text.isdigit() and not isinstance(target, bool):
        return int(text) if int(text) < len(labels) else None
    return next((own.index(text) for own in (labels, continued) if own.count(text) == 1), None)


def _doc_options(doc: Any, count: int | None) -> list[str]:
    """Return the options that a document names, as many as ``count`` if that is known."""
    known = inner(doc)
    found = [known.get(name) for name in ("choices", "options", "endings")]
    if count is not None:  # «answers» may all be right; as many as likelihoods, they are options
        found += [known.get(name) for name in ("mc1_targets", "answers")]
    found = [v.get("text", v.get("choices")) if isinstance(v, dict) else v for v in found]
    for start in ("option", "choice", "sol", "ending", "op"):
        for first in (1, 0):
            names = [f"{start}{k}" for k in range(first, first + len(known))]
            found.append([known[n] for n in names if isinstance(known.get(n), str)])
    for texts in found:
        if isinstance(texts, list) and len(texts) > 1 and count in (None, len(texts)):
            told = [
                as_text(inner(t).get("text", inner(t).get("option")) if isinstance(t, dict) else t)
                for t in texts
            ]
            if all(told):
                return told
    return []


def _continuations(arguments: Any, count: int) -> list[str]:
    """Return the second argument of each request, stripped; nothing if one has none."""
    requests = list(arguments.values()) if isinstance(arguments, dict) else arguments
    texts = []
    for request in requests[:count] if isinstance(requests, list) else ():
        parts = list(request.values()) if isinstance(request, dict) else request
        if isinstance(parts, (list, tuple)) and len(parts) > 1 and isinstance(parts[1], str):
            texts.append(parts[1].strip())
    return texts if len(texts) == count else []


# -- generated answers -----------------------------------------------------------------------------


def _generated(record: dict[str, Any]) -> Given:
    """Return a generated answer as the target is written: a letter, a number, or a text.

    Without options in the document, the text itself is the answer.

    Examples
    --------
    >>> doc = {"doc": {"options": ["x", "y", "z"]}, "target": "C"}
    >>> [_generated(doc | {"filtered_resps": [text]}).answer for text in (" (b) ", "x", "T")]
    [('B',), ('A',), ()]
    >>> _generated({"doc": {}, "target": "41", "filtered_resps": ["42"]})[2:5]
    (('42',), '', ('41',))
    """
    found = record["filtered_resps"]
    while isinstance(found, list):
        found = found[0] if found else None
    text = as_text(found).strip()
    text = "" if text == "[invalid]" else text
    target = as_text(record.get("target")).rpartition("####")[2].strip()  # gsm8k explains first
    texts = [option.strip() for option in _doc_options(record.get("doc"), None)]
    letters = [chr(ord("A") + k) for k in range(min(len(texts), 26))]
    right = letter_place(target)
    if right is not None and right < len(letters):
        place = letter_place(text)
        if place is None or place >= len(letters):
            place = texts.index(text) if texts.count(text) == 1 else None
        labels, target = letters, letters[right]
        text = "" if place is None else letters[place]
    elif texts and target.isdigit() and int(target) <= len(texts):
        labels = [str(k) for k in range(len(texts) + 1)]
    else:
        labels = texts if target in texts else []
    answer = text if not labels or text in labels else ""
    if not labels and answer and record.get("exact_match") in (1, "1", "1.0"):
        target = answer  # the harness accepted it, however the target is written
    return Given("", "", single(answer), key=single(target), is_text=not labels)


LM_EVAL = Format(
    "lm-eval",
    "lm-evaluation-harness, samples",
    "«samples_<task>_<time>.jsonl» of each model (all versions); give the folder",
    (
        Sign(
            "each line has doc_id, resps and filtered_resps",
            fields=("doc_id", "resps", "filtered_resps"),
        ),
    ),
    _answers,
    tried="runs of six models, in three layouts",
    empty=("an lm-eval file without samples", "run lm_eval again with --log_samples"),
    texts=(
        "an lm-eval file of generated texts without options",
        "only tasks with options or short answers can be ranked",
    ),
    key_from="the targets",
    none="unreadable",
)

FORMATS = (LM_EVAL,)
