"""HELM: the folder of a run, or only its scenario_state.json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sample, Sign
from hitsndiffs.reading.exports.common import as_text, inner, objects, title_of
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Options

__all__ = ["FORMATS"]

_SPEC, _STATE = "run_spec.json", "scenario_state.json"
_SHOWN, _INSTANCES = "display_predictions.json", "instances.json"


def _is_run(sample: Sample) -> bool:
    return _SPEC in sample.members and not {_STATE, _SHOWN}.isdisjoint(sample.members)


def _answers(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    """Yield the answers of a run: from its predictions, or else from its state."""
    if document.kind in ("folder", "archive"):
        files = {n: document.member(n) for n in (_SPEC, _STATE, _SHOWN, _INSTANCES)}
    else:
        files = {n: next(iter(document.beside(n)), None) for n in (_SPEC, _INSTANCES)}
        shown = "instance_id" in document.sample.first
        files |= {_SHOWN: document if shown else None, _STATE: None if shown else document}
        if shown and document.beside(_STATE):
            raise Refusal("a copy of the predictions of a HELM run", f"{_STATE} beside it is read")
    there = {name: file for name, file in files.items() if file is not None}
    spec = inner(there[_SPEC].data()) if _SPEC in there else {}
    folder = document.folders[-1] if document.folders else ""
    run = as_text(spec.get("name")) or (folder if "model=" in folder else "")
    if spec and {_SHOWN, _INSTANCES} <= there.keys():
        known = {as_text(own.get("id")): own for own in objects(there[_INSTANCES].data())}
        chosen = _of_predictions(objects(there[_SHOWN].data()), known)
    elif _STATE in there:
        state = inner(there[_STATE].data())
        spec = spec or state
        chosen = _of_requests(objects(state.get("request_states")))
    else:
        raise Refusal(
            "HELM predictions without their run: the model and the options are unknown",
            f"give the whole folder of the run, with {_STATE}",
        )
    model, scenario = _model(spec, run), _scenario(run)
    for row, instance, options, answer in chosen:
        if row.get("perturbation") or instance.get("perturbation"):
            yield Given(model, "", None, aside=("perturbed instances", "the unchanged ones count"))
            continue
        trial, number = row.get("train_trial_index"), row.get("instance_id") or instance.get("id")
        marked = zip(options.labels, objects(instance.get("references")), strict=True)
        right = [label for label, own in marked if "correct" in (own.get("tags") or ())]
        yield Given(
            model,
            "/".join(filter(None, (scenario, as_text(number)))),
            answer,
            key=right[0] if len(right) == 1 else None,
            title=title_of(inner(instance, "input").get("text")),
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
        if isinstance(place, int):  # one request per option
            value = first.get("logprob")
            which = (as_text(instance.get("id")), as_text(request.get("train_trial_index")))
            own = scores.setdefault(which, {})
            if isinstance(value, (int, float)) and request.get("request_mode") != "calibration":
                own[place] = float(value)
            if options.labels and [*range(len(options.labels))] == sorted(own):
                chosen = options.likeliest([own.pop(k) for k in sorted(own)])
                yield request, instance, options, chosen
            continue
        text = as_text(first.get("text")).strip()
        mapping = {k.strip(): as_text(v) for k, v in inner(request, "output_mapping").items()}
        if mapping and text not in mapping and text[1:2].isalnum():
            text = ""  # a word that begins with a letter is not that letter
        yield (
            request,
            instance,
            options,
            options.meant(mapping.get(text, mapping.get(text[:1], "")) if mapping else text),
        )


def _options(instance: dict[str, Any]) -> Options:
    references = objects(instance.get("references"))
    return Options([inner(own, "output").get("text", own.get("output")) for own in references])


def _model(spec: dict[str, Any], run: str) -> str:
    adapter = inner(spec, "adapter_spec")
    match = re.search(r"(?:^|[,:])model=([^,]+)", run)
    named = as_text(adapter.get("model") or adapter.get("model_deployment"))
    return named or (match[1] if match else run) or "model"


def _scenario(run: str) -> str:
    """Return the name of a run without its model.

    Examples
    --------
    >>> _scenario("mmlu:subject=anatomy,method=multiple_choice_joint,model=openai_x")
    'mmlu:subject=anatomy'
    """
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
    _answers,
    empty=("a HELM run without predictions", "give a run that finished"),
    key_from="the references tagged «correct»",
    none="unreadable",
)

FORMATS = (HELM,)
