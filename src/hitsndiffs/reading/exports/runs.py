"""Runs that fill a folder or an archive for each model: Inspect AI and HELM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sample, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    objects,
    short_hash,
    single,
    title_of,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Options

__all__ = ["FORMATS"]

# -- Inspect AI: logs as .eval (zip, also with zstd inside) or .json -------------------------------

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = re.compile(r"^samples/.+_epoch_\d+(?:\.json|/sample\.json)$")
_CORRECT = {"C": True, "I": False, "1": True, "0": False, "true": True, "false": False}


def _is_archive(sample: Sample) -> bool:
    logged = _HEADERS[1] in sample.members or any(map(_SAMPLES.match, sample.members))
    return sample.kind == "archive" and logged and not {*sample.members}.isdisjoint(_HEADERS)


def _inspect(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    log, samples = _opened(document)
    about = inner(log, "eval")
    model, task = as_text(about.get("model")).strip(), as_text(about.get("task"))
    if not model:
        raise Refusal("an Inspect log that does not name its model", "run the evaluation again")
    for sample in samples:
        score = _score(sample.get("scores"))
        if score is None or sample.get("error"):
            yield Given("", "", aside=("samples without a score", "they failed"))
            continue
        options, epoch, text = Options(sample.get("choices")), sample.get("epoch"), _asked(sample)
        target, name = sample.get("target"), as_text(sample.get("id"))
        right = target if isinstance(target, list) else [target]
        several = len(right) > 1 and not options.labels
        if not name or name.isdigit():  # the number in a data set, which another may have as well
            name = f"{name or 'sample'}-{short_hash(text)}"
        yield Given(
            model,
            f"{task}/{name}" if task else name,
            _letters(as_text(score.get("answer")), options),
            key=() if several else _letters(", ".join(map(as_text, right)), options),
            title=title_of(text),
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


def _letters(text: str, options: Options) -> tuple[str, ...]:
    """Return the options named by letters («A, C») or by a text; without options, the text."""
    text = text.strip()
    places = [options.lettered(part) for part in re.split(r"\s*,\s*", text) if part]
    if options.labels and places and None not in places:
        return tuple(filter(None, places))
    return single(text) if not options.labels or text in options.labels else ()


def _asked(sample: dict[str, Any]) -> str:
    """Return the text of the question: the messages of a chat are joined."""
    told = sample.get("input")
    parts = [_asked({"input": part.get("content")}) for part in objects(told)]
    return " ".join(parts) if isinstance(told, list) else as_text(told)


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
    _inspect,
    tried="logs of three models, JSON and .eval",
    empty=("an Inspect log without scored samples", "give a log of an evaluation that finished"),
    key_from="the targets",
    none="unreadable",
)


# -- HELM: the folder of a run, or only its scenario_state.json ------------------------------------

_SPEC, _STATE = "run_spec.json", "scenario_state.json"
_SHOWN, _INSTANCES = "display_predictions.json", "instances.json"


def _is_run(sample: Sample) -> bool:
    return _SPEC in sample.members and not {_STATE, _SHOWN}.isdisjoint(sample.members)


def _helm(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    """Yield the answers of a run: from its predictions, or else from its state."""
    if document.kind in ("folder", "archive"):
        files = {name: document.member(name) for name in (_SPEC, _STATE, _SHOWN, _INSTANCES)}
    else:
        own = _SHOWN if "instance_id" in document.sample.first else _STATE
        others = {_SPEC, _STATE, _INSTANCES} - {own}
        files = {name: next(iter(document.beside(name)), None) for name in others}
        if files.get(_STATE):
            raise Refusal("a copy of the predictions of a HELM run", f"{_STATE} beside it is read")
        files[own] = document
    data = {name: file.data() for name, file in files.items() if file and name != _STATE}
    spec, state = inner(data.get(_SPEC)), files.get(_STATE)
    if spec and {_SHOWN, _INSTANCES} <= data.keys():
        known = {as_text(own.get("id")): own for own in objects(data[_INSTANCES])}
        chosen = _of_predictions(objects(data[_SHOWN]), known)
    elif state:
        value = inner(state.data())
        spec = spec or value
        chosen = _of_requests(objects(value.get("request_states")))
    else:
        raise Refusal(
            "HELM predictions without their run: the model and the options are unknown",
            f"give the whole folder of the run, with {_STATE}",
        )
    folder = document.folders[-1] if document.folders else ""
    run = as_text(spec.get("name")) or (folder if "model=" in folder else "")
    model, scenario = _model(spec, run), _scenario(run)
    for row, instance, options, answer in chosen:
        if row.get("perturbation") or instance.get("perturbation"):
            yield Given("", "", aside=("perturbed instances", "the unchanged ones count"))
            continue
        trial, number = row.get("train_trial_index"), row.get("instance_id") or instance.get("id")
        marked = zip(options.labels, objects(instance.get("references")), strict=True)
        right = [label for label, own in marked if "correct" in (own.get("tags") or ())]
        yield Given(
            model,
            "/".join(filter(None, (scenario, as_text(number)))),
            single(answer),
            key=tuple(right) if len(right) == 1 else (),
            title=title_of(inner(instance, "input")),
            attempt=trial + 1 if isinstance(trial, int) and trial >= 0 else 1,
        )


#: A row or a request, its instance, the options of that, and which was chosen.
_Chosen = Iterator[tuple[dict[str, Any], dict[str, Any], Options, str | None]]


def _of_predictions(rows: list[dict[str, Any]], known: dict[str, dict[str, Any]]) -> _Chosen:
    """Yield the choices of display_predictions.json: an index, or the text of an option."""
    for row in rows:
        instance = known.get(as_text(row.get("instance_id")), {})
        options = _options(instance)
        chosen = options.at(row.get("reference_index", inner(row, "stats").get("predicted_index")))
        texts = ("mapped_output",) if options.labels else ("mapped_output", "predicted_text")
        text = next((as_text(row[name]) for name in texts if name in row), "")
        yield row, instance, options, chosen or options.meant(text)


def _of_requests(requests: list[dict[str, Any]]) -> _Chosen:
    """Yield the choices of scenario_state.json: the text that was completed, or the likeliest."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for request in requests:
        instance = inner(request, "instance")
        options, place = _options(instance), request.get("reference_index")
        first = next(iter(objects(inner(request, "result").get("completions"))), {})
        if not isinstance(place, int):
            text = as_text(first.get("text")).strip()
            yield request, instance, options, options.meant(_mapped(request, text))
            continue
        value = first.get("logprob")  # one request per option
        own = scores.setdefault(
            (as_text(instance.get("id")), str(request.get("train_trial_index"))), {}
        )
        if isinstance(value, (int, float)) and request.get("request_mode") != "calibration":
            own[place] = float(value)
        if options.labels and [*range(len(options.labels))] == sorted(own):
            likely = options.likeliest([own.pop(k) for k in sorted(own)])
            yield request, instance, options, likely


def _mapped(request: dict[str, Any], text: str) -> str:
    """Return the option that a letter stands for; a word that begins with it is not that letter."""
    mapping = {k.strip(): as_text(v) for k, v in inner(request, "output_mapping").items()}
    letter = text[:1] if text not in mapping and not text[1:2].isalnum() else text
    return mapping.get(letter, "") if mapping else text


def _options(instance: dict[str, Any]) -> Options:
    references = objects(instance.get("references"))
    return Options([inner(own, "output").get("text", own.get("output")) for own in references])


def _model(spec: dict[str, Any], run: str) -> str:
    adapter = inner(spec, "adapter_spec")
    match = re.search(r"(?:^|[,:])model=([^,]+)", run)
    named = as_text(adapter.get("model") or adapter.get("model_deployment"))
    return named or (match[1] if match else run) or "model"


def _scenario(run: str) -> str:
    """Return the name of a run without its model."""
    text = re.sub(r"(?:(?<=:)|,)(?:model|model_deployment|method|eval_split|groups)=[^,]*", "", run)
    return text.replace(":,", ":").strip(",:")


HELM = Format(
    "helm",
    "HELM, run folder",
    "benchmark_output/runs/<suite>/<run>: a folder per model and scenario",
    (
        Sign("a run: run_spec.json and its predictions", holds=_is_run),
        Sign(
            "the state of a scenario: adapter_spec and request_states",
            fields=("adapter_spec", "request_states"),
        ),
        Sign(
            "predictions by instance: instance_id, predicted_text, stats",
            fields=("instance_id", "predicted_text", "stats"),
        ),
    ),
    _helm,
    empty=("a HELM run without predictions", "give a run that finished"),
    key_from="the references tagged «correct»",
    none="unreadable",
)

FORMATS = (INSPECT, HELM)
