"""Logs of language models that hold their answers in records, each tool in its own way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitsndiffs.data.names import recognise
from hitsndiffs.reading.exports.base import Choices, Document, Sample, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    at,
    inner,
    letter_place,
    literal,
    number,
    objects,
    short_hash,
    single,
    stem_of_name,
    title_of,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Levels, Options, Paths

__all__ = ["FORMATS"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _word(value: Any) -> str:
    """Return a text, or the first in a list, or in a list in it."""
    while isinstance(value, list):
        value = value[0] if value else None
    return as_text(value).strip()


def _only(right: list[str]) -> tuple[str, ...]:
    """Return the right answer; of several, one was enough, so that there is none to compare."""
    return single(right[0]) if len(right) == 1 else ()


# -- MMLU, the original evaluation: a table per subject with the probability of each letter -------

_CHANCE = re.compile(r"(?P<model>.+)_choice(?P<letter>[A-J])_probs?")


def _mmlu(document: Document, _: Choices, stream: Stream) -> Iterator[Given]:
    table = document.table()
    header, rows = table.header, table.rows
    models: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header):
        if match := _CHANCE.fullmatch(name.strip()):
            models.setdefault(match["model"], {})[match["letter"]] = place
            stream.set_role(name, "answers", "how likely a letter is; the likeliest counts", place)
    if not models or not rows:
        return
    # The question is the longest text; the key is the last column of letters before the chances.
    question = max(range(len(header)), key=lambda k: sum(len(row[k]) for row in rows[:50]))
    first = min(k for own in models.values() for k in own.values())
    letters = [k for k in range(first) if all(letter_place(row[k]) is not None for row in rows)][
        -1:
    ]
    for k in letters:
        stream.key_from = "the column of right letters"
        stream.set_role(header[k], "key", "the right letter", k)
    for row in rows:
        text = " ".join(row[question].split())
        item = f"{stem_of_name(document.name)}/{short_hash(text)}"
        key = tuple(row[k].strip() for k in letters)
        for model, places in models.items():
            known = {letter: c for letter, k in places.items() if (c := number(row[k])) is not None}
            likely = max(known, key=known.__getitem__) if known else None
            yield Given(model, item, single(likely), key=key, title=title_of(text))


MMLU = Format(
    "mmlu",
    "MMLU, original evaluation",
    "«results_<model>/<subject>.csv» with columns such as model_choiceA_probs; give the folder",
    (
        Sign(
            "there is a column of probabilities for each letter («…_choiceA_probs»)",
            holds=lambda sample: sum(bool(_CHANCE.fullmatch(n.strip())) for n in sample.header) > 1,
        ),
    ),
    _mmlu,
    empty=("a table of MMLU's evaluation without rows", "run it again"),
)


# -- MMLU-Pro: the outputs of a model, as the official script writes them --------------------------

_PRO_NAME = re.compile(r"^(?:model_outputs?_)?(?P<model>.+?)(?:_\d+[-_]?shots?)?$", re.IGNORECASE)


def _pro_model(document: Document, _: Levels) -> str:
    stem = stem_of_name(document.name)
    if stem.endswith("_result") and document.folders:
        stem = document.folders[-1]
    match = _PRO_NAME.match(stem)
    return match["model"] if match else stem


def _pro_letter(record: Levels) -> str | None:
    """Return the letter of an option, if there are as many."""
    place, options = letter_place(record.text("pred")), record["options"]
    known = isinstance(options, list) and len(options) > 1
    fits = place is not None and (not known or place < len(options))
    return chr(ord("A") + place) if place is not None and fits else None


MMLU_PRO = Format(
    "mmlu-pro",
    "MMLU-Pro, model outputs",
    "«model_outputs_<model>_5shots.json» (or zip) of each model; give the folder",
    (
        Sign(
            "each record has question_id, options, answer and pred, and none names a user",
            fields=("question_id", "pred", "options", "answer"),
            holds=lambda sample: not recognise("user", list(sample.first)),
        ),
    ),
    Paths(
        user=_pro_model,
        item="question_id",
        answer=lambda _, record: _pro_letter(record),
        key="answer",
        title="question",
        asked=True,
    ),
    tried="outputs of four models",
    empty=("an MMLU-Pro file without records", "run it again"),
    key_from="the field «answer»",
    none="unreadable",
)


# -- OpenAI evals: JSONL with the spec of the run on a line of its own -----------------------------

_SPEC = {"completion_fns", "eval_name", "base_eval", "run_config"}


def _openai(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    records = objects(document.records())
    spec = next((found for record in records if (found := inner(record, "spec"))), {})
    named = _word(at(spec, "completion_fns|run_config.completion_fns|model_name"))
    for record in records:
        data = record.get("data")
        if record.get("type") == "match" and isinstance(data, dict):
            right = list(filter(None, map(_word, _listed(data.get("expected")))))
            options, picked = {*map(_word, _listed(data.get("options")))}, _word(data.get("picked"))
            # an eval that lists only the right answers never picks a wrong one
            if (len(options) < 2 or options == {*right}) and (not picked or picked not in right):
                picked = _word(data.get("sampled", data.get("picked")))
            model, item = named or stem_of_name(document.name), as_text(record.get("sample_id"))
            yield Given(model, item, single(picked), key=_only(right))


OPENAI_EVALS = Format(
    "openai-evals",
    "OpenAI evals, logs",
    "JSONL of a run (spec, match events), one per model; give the folder",
    (
        Sign(
            "a line holds the spec of the run",
            holds=lambda sample: any(inner(r, "spec").keys() & _SPEC for r in sample.objects),
        ),
    ),
    _openai,
    empty=(
        "an OpenAI evals log without «match» events: graded by a model, or scores only",
        "only evals that compare an answer with the expected one can be ranked",
    ),
    key_from="the expected answers",
    none="unreadable",
)


# -- OpenCompass: predictions/<model>/<dataset>.json, or results with details ----------------------

_SHARD = re.compile(r"^(?P<dataset>.+)_(?P<shard>\d+)$")
_SAID, _GOLD = "predictions|prediction|pred", "references|gold|answer"


def _entries(value: Any) -> dict[str, dict[str, Any]]:
    """Return the entries numbered "0", "1", … of an object, or of its details."""
    for found in (inner(value, "details"), inner(value)):
        if own := {k: v for k, v in found.items() if k.isdigit() and isinstance(v, dict)}:
            return own
    return {}


def _is_compass(sample: Sample) -> bool:
    first = sample.first if sample.kind == "json" else {}
    entry = _entries(first).get("0", {})
    shown = any(name in ("origin_prompt", "gold") or name.startswith("label: ") for name in entry)
    detailed = bool(inner(first, "details")) and not entry.keys().isdisjoint(_SAID.split("|"))
    return detailed or ("prediction" in entry and shown)


def _compass(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    model = (document.folders or (stem_of_name(document.name),))[-1]
    dataset, offset = _dataset(document)
    for place, entry in _entries(document.data()).items():
        answer, key = (single(_word(at(entry, path))) for path in (_SAID, _GOLD))
        yield Given(model, f"{dataset}/{int(place) + offset}", answer, key=key, is_text=True)


def _dataset(document: Document) -> tuple[str, int]:
    """Return the name of the data set, and the number of entries in earlier shards."""
    stem = stem_of_name(document.name)
    match = _SHARD.match(stem)
    if match is None:
        return stem, 0
    others = {stem_of_name(own.name): own for own in document.beside(f"{match['dataset']}_*.json")}
    names = [f"{match['dataset']}_{k}" for k in range(int(match["shard"]))]
    if not others or not others.keys() >= {*names}:
        return stem, 0
    return match["dataset"], sum(len(_entries(others[name].data())) for name in names)


OPENCOMPASS = Format(
    "opencompass",
    "OpenCompass, predictions and details",
    "predictions/<model>/<dataset>.json, or results/ with details; give the folder",
    (Sign("entries are numbered, each with a prediction", holds=_is_compass),),
    _compass,
    empty=("an OpenCompass file without predictions", "give the folder predictions/"),
    texts=(
        "OpenCompass' raw predictions: texts of a model, from which no option was taken yet",
        "evaluate with dump_eval_details=True and give the folder results/",
    ),
    key_from="the references",
)


# -- lighteval: the details of a run as Parquet, in all three layouts ------------------------------

_NAME = re.compile(r"^details_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d\-:.]+)$")
_TIME = re.compile(r"^\d{4}[-_]\d\d[-_]\d\dT[\d\-_:.]+$")


def _light(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    match = _NAME.match(stem_of_name(document.name))
    task = match["task"] if match else stem_of_name(document.name)
    model = _model_light(document)
    for record in objects(document.records()):
        row = {name: literal(value) for name, value in record.items()}
        doc, response = inner(row, "doc") or row, inner(row, "model_response")
        query = as_text(at(doc, "query|example|full_prompt"))
        values = response.get("logprobs", row.get("predictions"))
        texts = response.get("text_post_processed") or response.get("text", row.get("predictions"))
        options = Options(doc.get("choices"))
        yield Given(
            model,
            f"{task}/{short_hash(query + ''.join(options.labels))}",
            single(options.likeliest(_one_each(values)) or options.meant(_word(texts))),
            key=_only([options.at(place) or "" for place in _listed(doc.get("gold_index"))]),
            title=" ".join(query.split())[-200:],
        )


def _one_each(values: Any) -> Any:
    """Return log-likelihoods as numbers, in one list: some versions nest them in pairs."""
    while isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    several = values if isinstance(values, list) else []
    return [v[0] if isinstance(v, (list, tuple)) and v else v for v in several]


def _model_light(document: Document) -> str:
    """Return the model: the folders above the one named after the time."""
    folders = list(document.folders)
    while folders and _TIME.match(folders[-1]):
        folders.pop()
    hub = next((f for f in reversed(folders) if f.startswith("details_") and "__" in f), None)
    if hub is not None:
        return hub.removeprefix("details_").removesuffix("_private").replace("__", "/")
    own = folders[folders.index("details") + 1 :] if "details" in folders else folders[-1:]
    return "/".join(own[-2:]) or stem_of_name(document.name)


def _is_parquet(sample: Sample) -> bool:
    return sample.kind == "parquet"


LIGHTEVAL = Format(
    "lighteval",
    "lighteval, details",
    "details/<org>/<model>/<time>/details_<task>_<time>.parquet; give the folder",
    (
        Sign(
            "the columns doc, model_response and metric are there",
            ("doc", "model_response", "metrics?"),
            holds=_is_parquet,
        ),
        Sign(
            "the columns choices, gold (or gold_index) and predictions are there",
            ("choices", "predictions", "gold_index|full_prompt", "gold_index|gold"),
            holds=_is_parquet,
        ),
    ),
    _light,
    empty=("a lighteval file without samples", "give the details of a run"),
    key_from="the column «gold_index»",
    none="unreadable",
)


# -- promptfoo: results of every provider and test; the assertion «equals» holds the right answer --


def _results(value: Any) -> list[dict[str, Any]]:
    return objects(at(value, "results.results|results"))


def _is_promptfoo(sample: Sample) -> bool:
    results = _results(sample.first) if sample.kind == "json" else []
    return bool(results) and {"provider", "vars", "success"} <= results[0].keys()


def _promptfoo(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    results = _results(document.data())
    users = [
        (as_text(at(one, "provider.label|provider.id|provider")), as_text(at(one, "prompt.label")))
        for one in results
    ]
    several = len({*users}) > len({provider for provider, _ in users})
    for one, (provider, prompt) in zip(results, users, strict=True):
        if one.get("failureReason") == 2:
            yield Given("", "", aside=("results with an error", "nobody answered"))
            continue
        checks = objects(at(one, "testCase.assert"))
        said = "; ".join(map(as_text, inner(one, "vars").values()))
        yield Given(
            f"{provider}, {prompt[:40]}" if several else provider,
            as_text(one.get("testIdx")) or short_hash(said),
            single(_word(at(one, "response.output"))),
            key=_only([_word(own.get("value")) for own in checks if own.get("type") == "equals"]),
            title=title_of(said),
            is_text=True,
        )


PROMPTFOO = Format(
    "promptfoo",
    "promptfoo, results",
    "The JSON that `promptfoo eval --output` writes, with all providers and tests",
    (Sign("the results have a provider, variables and success", holds=_is_promptfoo),),
    _promptfoo,
    empty=("a promptfoo file without outputs", "run the evaluation again"),
    texts=(
        "promptfoo results in the words of the models, without options to choose from",
        "only tests with short answers can be ranked",
    ),
    key_from="the assertions «equals»",
    none="unreadable",
)


# -- EvalScope: reviews/<model>/<benchmark>_<subset>.jsonl -----------------------------------------


def _scope(document: Document) -> tuple[str, str]:
    """Return the model and the benchmark: a folder and a file, or both in the file's name."""
    benchmark, model = stem_of_name(document.name), (document.folders or ("",))[-1]
    if model not in ("", "reviews"):
        return model, benchmark
    before, mark, after = benchmark.rpartition("__")
    return after, before if mark else after


def _review(document: Document, record: Levels) -> str:
    place = record.text("sample_score.group_id|sample_score.sample_id|index")
    return f"{_scope(document)[1]}/{place}"


def _reviews(document: Document) -> Iterator[dict[str, Any]]:
    for record in objects(document.records()):
        values = inner(record, "sample_score", "score", "value").values()
        yield record | {"right": next(iter(values), None)}


EVALSCOPE = Format(
    "evalscope",
    "EvalScope, reviews",
    "reviews/<model>/<benchmark>_<subset>.jsonl of a run; give the folder",
    (
        Sign(
            "each line is a review (index and sample_score)",
            fields=("index", "sample_score"),
            holds=lambda sample: bool(inner(sample.first, "sample_score")),
        ),
    ),
    Paths(
        user=lambda document, _: _scope(document)[0],
        item=_review,
        answer="sample_score.score.extracted_prediction",
        key="target",
        title="input",
        right="right",
        asked=True,
        words="perhaps",
        rows=_reviews,
    ),
    empty=("an EvalScope file without reviews", "give the folder reviews/ of the run"),
    texts=(
        "EvalScope reviews of answers in the models' own words",
        "only benchmarks with options or short answers can be ranked",
    ),
    key_from="the targets",
    none="unreadable",
)

FORMATS = (MMLU, MMLU_PRO, OPENAI_EVALS, OPENCOMPASS, LIGHTEVAL, PROMPTFOO, EVALSCOPE)
