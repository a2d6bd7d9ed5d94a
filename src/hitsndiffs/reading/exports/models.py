"""Logs of language models: MMLU, MMLU-Pro, OpenAI evals, OpenCompass, lighteval."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Status,
    Stream,
    absent,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    best,
    folded,
    inner,
    labelled,
    letter_place,
    literal,
    number,
    objects,
    short_hash,
    stem_of_name,
    title_of,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table

__all__ = ["LIGHTEVAL", "MMLU", "MMLU_PRO", "OPENAI_EVALS", "OPENCOMPASS", "ModelLog", "Said"]


class Said(NamedTuple):
    """What a model said to one item; None is no answer that can be read."""

    item: str
    answer: str | tuple[str, ...] | None
    key: str | tuple[str, ...] | None = None
    title: str = ""
    status: Status | None = None
    attempt: int = 1


@dataclass(frozen=True)
class ModelLog:
    """How to read the log of one model: its name, what it said, and where its key comes from."""

    model: Callable[[Document], str]
    said: Callable[[Document, Stream], Iterator[Said]]
    key_from: str
    empty: tuple[str, str]

    def __call__(self, document: Document, _: Choices) -> Stream:
        """Read a log."""
        stream = Stream(key_from=self.key_from)
        model = self.model(document)
        for one in self.said(document, stream):
            status = one.status or ("unreadable" if not one.answer else None)
            if one.title:
                stream.titles.setdefault(one.item, one.title)
            stream.add(model, one.item, one.answer, key=one.key, status=status, attempt=one.attempt)
        if not stream.persons:
            raise Refusal(*self.empty)
        if len({*stream.attempts}) == 1:
            stream.number_repeats()
        return stream


# -- MMLU, the original evaluation: a table per subject with the probability of each letter -------

_CHANCE = re.compile(r"(?P<model>.+)_choice(?P<letter>[A-J])_probs?")


def _recognise_mmlu(sample: Sample) -> str | None:
    found = [name for name in sample.header if _CHANCE.fullmatch(name.strip())]
    return f"there is a column {found[0]!r} for each letter" if len(found) > 1 else None


def _fill_mmlu(sheet: Sheet) -> None:
    rows, stream = sheet.rows, sheet.stream
    models: dict[str, dict[str, int]] = {}
    for place, name in enumerate(sheet.header):
        if match := _CHANCE.fullmatch(name.strip()):
            models.setdefault(match["model"], {})[match["letter"]] = place
    if not models or not rows:
        raise absent("a table of MMLU's evaluation", "column such as «…_choiceA_probs»")
    chances = [k for own in models.values() for k in own.values()]
    # The question is the longest text; the key is the last column of letters before the chances.
    question = max(range(len(sheet.header)), key=lambda k: sum(len(row[k]) for row in rows[:50]))
    letters = [
        k for k in range(min(chances)) if all(letter_place(row[k]) is not None for row in rows)
    ]
    subject = stem_of_name(sheet.name)
    for row in rows:
        text = " ".join(row[question].split())
        item = f"{subject}/{short_hash(text)}"
        stream.titles[item] = text[:200]
        right = row[letters[-1]].strip() if letters else None
        for model, places in models.items():
            known = {letter: c for letter, k in places.items() if (c := number(row[k])) is not None}
            likely = max(known, key=known.__getitem__) if known else None
            stream.add(model, item, likely, key=right)
    sheet.set_role(chances, "answers", "how likely a letter is; the likeliest counts")
    stream.key_from = "the column of right letters" if letters else ""
    sheet.set_role(letters[-1:], "key", "the right letter")


MMLU = Format(
    "mmlu",
    "MMLU, original evaluation",
    "«results_<model>/<subject>.csv» with columns such as model_choiceA_probs; give the folder",
    _recognise_mmlu,
    by_table(_fill_mmlu),
)


# -- MMLU-Pro: the outputs of a model, as the official script writes them --------------------------

_PRO_KEYS = {"question_id", "pred", "options", "answer"}
_PRO_NAME = re.compile(r"^(?:model_outputs?_)?(?P<model>.+?)(?:_\d+[-_]?shots?)?$", re.IGNORECASE)


def _recognise_pro(sample: Sample) -> str | None:
    records = objects(list(sample.records)) if sample.is_json else []
    if any(record.keys() >= _PRO_KEYS for record in records):
        return "each record has question_id, options, answer and pred"
    return None


def _model_pro(document: Document) -> str:
    stem = stem_of_name(document.name)
    if stem.endswith("_result") and document.folders:
        stem = document.folders[-1]
    match = _PRO_NAME.match(stem)
    return match["model"] if match else stem


def _said_pro(document: Document, stream: Stream) -> Iterator[Said]:
    strange = 0
    for record in document.records():
        if not isinstance(record, dict) or "question_id" not in record:
            strange += 1
            continue
        options, text = record.get("options"), as_text(record.get("pred")).strip()
        count = len(options) if isinstance(options, list) and len(options) > 1 else 26
        place, right = letter_place(text), letter_place(as_text(record.get("answer")))
        known = right is not None and record.get("answer_index", right) == right
        yield Said(
            as_text(record["question_id"]),
            text.strip("().: ").upper() if place is not None and place < count else None,
            chr(ord("A") + right) if known and right is not None else None,
            title_of(record.get("question")),
            None if text else "blank",
        )
    if strange:
        stream.notes.append(f"{strange} elements that are not records are left out.")


MMLU_PRO = Format(
    "mmlu-pro",
    "MMLU-Pro, model outputs",
    "«model_outputs_<model>_5shots.json» (or zip) of each model; give the folder",
    _recognise_pro,
    ModelLog(
        _model_pro,
        _said_pro,
        "the field «answer»",
        ("an MMLU-Pro file without records", "run it again"),
    ),
    "outputs of four models",
)


# -- OpenAI evals: JSONL with the spec of the run on a line of its own -----------------------------

_SPEC = {"completion_fns", "eval_name", "base_eval", "run_config"}


def _recognise_openai(sample: Sample) -> str | None:
    records = objects(list(sample.records)) if sample.is_json else []
    if any(inner(record, "spec").keys() & _SPEC for record in records):
        return "a line holds the spec of the run"
    return None


def _model_openai(document: Document) -> str:
    spec = next((s for r in objects(document.records()) if (s := inner(r, "spec"))), {})
    several = (spec.get("completion_fns"), inner(spec, "run_config").get("completion_fns"))
    for found in (*several, spec.get("model_name")):
        first = found[0] if isinstance(found, list) and found else found
        if first:
            return as_text(first)
    return stem_of_name(document.name)


def _said_openai(document: Document, _: Stream) -> Iterator[Said]:
    for record in objects(document.records()):
        data = record.get("data")
        if record.get("type") != "match" or not isinstance(data, dict):
            continue
        expected = data.get("expected")
        right = [
            as_text(v).strip() for v in (expected if isinstance(expected, list) else [expected])
        ]
        right = [text for text in right if text]
        key = right[0] if len(right) == 1 else None
        yield Said(as_text(record.get("sample_id")), _picked(data, right), key)


def _picked(data: dict[str, Any], right: list[str]) -> str | None:
    """Return what was picked.

    If the eval lists only the right answers as options, it never picks a wrong one; then the answer
    is what was sampled.
    """
    found = data.get("options")
    options = [as_text(o).strip() for o in found] if isinstance(found, list) else []
    picked = as_text(data.get("picked")).strip()
    if (len(options) > 1 and {*options} != {*right}) or (picked and picked in right):
        return picked or None
    sampled = data.get("sampled", data.get("picked"))
    if isinstance(sampled, list):
        sampled = sampled[0] if sampled else None
    return as_text(sampled).strip() or None


OPENAI_EVALS = Format(
    "openai-evals",
    "OpenAI evals, logs",
    "JSONL of a run (spec, match events), one per model; give the folder",
    _recognise_openai,
    ModelLog(
        _model_openai,
        _said_openai,
        "the expected answers",
        (
            "an OpenAI evals log without «match» events: graded by a model, or scores only",
            "only evals that compare an answer with the expected one can be ranked",
        ),
    ),
)


# -- OpenCompass: predictions/<model>/<dataset>.json, or results with details ----------------------

_SHARD = re.compile(r"^(?P<dataset>.+)_(?P<shard>\d+)$")
_LONG = 40  # a longer prediction is free text, not an option


def _entries(value: Any) -> dict[str, dict[str, Any]]:
    """Return the entries numbered "0", "1", … of an object, or of its details."""
    found = inner(value)
    details = {k: v for k, v in inner(found, "details").items() if k.isdigit()}
    own = details or {k: v for k, v in found.items() if k.isdigit()}
    return {k: v for k, v in own.items() if isinstance(v, dict)}


def _recognise_compass(sample: Sample) -> str | None:
    first = sample.first if sample.kind == "json" else {}
    entry = _entries(first).get("0", {})
    if inner(first, "details") and entry.keys() & {"predictions", "prediction", "pred"}:
        return "the details of each prediction are there"
    shown = any(name in ("origin_prompt", "gold") or name.startswith("label: ") for name in entry)
    return (
        "entries are numbered, each with a prediction" if "prediction" in entry and shown else None
    )


def _said_compass(document: Document, _: Stream) -> Iterator[Said]:
    dataset, offset = _dataset(document)
    long = count = 0
    for place, entry in _entries(document.data()).items():
        answer = _first(entry, "predictions", "prediction", "pred")
        key = _first(entry, "references", "gold", "answer") or None
        count, long = count + 1, long + (len(answer) > _LONG)
        status: Status | None = None if answer else "blank"
        yield Said(f"{dataset}/{int(place) + offset}", answer or None, key, status=status)
    if 2 * long > count:
        raise Refusal(
            "OpenCompass' raw predictions: texts of a model, from which no option was taken yet",
            "evaluate with dump_eval_details=True and give the folder results/",
        )


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
    beside = document.beside(f"{match['dataset']}_*.json")
    others = {stem_of_name(other.name): other for other in beside}
    names = [f"{match['dataset']}_{k}" for k in range(int(match["shard"]))]
    if not all(name in others for name in names) or (not names and not others):
        return stem, 0
    return match["dataset"], sum(len(_entries(others[name].data())) for name in names)


OPENCOMPASS = Format(
    "opencompass",
    "OpenCompass, predictions and details",
    "predictions/<model>/<dataset>.json, or results/ with details; give the folder",
    _recognise_compass,
    ModelLog(
        lambda document: (document.folders or (stem_of_name(document.name),))[-1],
        _said_compass,
        "the references",
        ("an OpenCompass file without predictions", "give the folder predictions/"),
    ),
)


# -- lighteval: the details of a run as Parquet, in all three layouts ------------------------------

_NAME = re.compile(r"^details_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d\-:.]+)$")
_TIME = re.compile(r"^\d{4}[-_]\d\d[-_]\d\dT[\d\-_:.]+$")


def _recognise_light(sample: Sample) -> str | None:
    names = {folded(name) for name in sample.header} if sample.kind == "parquet" else set()
    if {"doc", "model_response"} <= names and names & {"metric", "metrics"}:
        return "the columns doc, model_response and metric are there"
    gold = "gold_index" in names or {"gold", "full_prompt"} <= names
    if gold and {"choices", "predictions"} <= names:
        return "the columns choices, gold_index and predictions are there"
    return None


def _said_light(document: Document, _: Stream) -> Iterator[Said]:
    match = _NAME.match(stem_of_name(document.name))
    task = match["task"] if match else stem_of_name(document.name)
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
        answer = labels[place] if place is not None else _text(texts, labels)
        yield Said(item, answer, _gold(gold, labels), " ".join(as_text(query).split())[-200:])


def _place(values: Any, labels: list[str]) -> int | None:
    """Return the index of the likeliest option, if each option has a log-likelihood."""
    while isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if not isinstance(values, list) or len(values) != len(labels) or len(labels) < 2:
        return None
    first = [v[0] if isinstance(v, (list, tuple)) and v else v for v in values]
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in first):
        return None
    return best(list(map(float, first)))


def _text(texts: Any, labels: list[str]) -> str | None:
    while isinstance(texts, list):
        texts = texts[0] if texts else None
    text = " ".join(texts.split()) if isinstance(texts, str) else ""
    return (text if text in labels else None) if len(labels) > 1 else text or None


def _gold(gold: Any, labels: list[str]) -> str | None:
    while isinstance(gold, list):
        gold = gold[0] if len(gold) == 1 else None
    whole = isinstance(gold, int) and not isinstance(gold, bool)
    return labels[gold] if whole and 0 <= gold < len(labels) else None


def _model_light(document: Document) -> str:
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


LIGHTEVAL = Format(
    "lighteval",
    "lighteval, details",
    "details/<org>/<model>/<time>/details_<task>_<time>.parquet; give the folder",
    _recognise_light,
    ModelLog(
        _model_light,
        _said_light,
        "the column «gold_index»",
        ("a lighteval file without samples", "give the details of a run"),
    ),
)
