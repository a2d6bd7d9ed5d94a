"""HELM: the folder of a run, or only its scenario_state.json."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    labelled,
    letter_place,
    objects,
    title_of,
)

__all__ = ["HELM"]

_STATE, _SHOWN = "scenario_state.json", "display_predictions.json"


def _recognise(sample: Sample) -> str | None:
    if sample.kind in ("folder", "archive"):
        names = set(sample.members)
        if "run_spec.json" in names and names & {_STATE, _SHOWN}:
            return "a run: run_spec.json and its predictions"
        return None
    if sample.kind == "json" and sample.has_keys("adapter_spec", "request_states"):
        return "the state of a scenario: adapter_spec and request_states"
    if sample.kind == "json" and sample.has_keys("instance_id", "predicted_text", "stats"):
        return "predictions by instance: instance_id, predicted_text, stats"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    if document.kind == "json" and document.sample.has_keys("instance_id"):
        return _from_neighbours(document)
    if document.kind == "json":
        state = inner(document.data())
        run = ""
        for file in document.beside("run_spec.json"):
            run = as_text(inner(file.data()).get("name"))
        folder = document.folders[-1] if document.folders else ""
        return _from_state(state, run or (folder if "model=" in folder else ""))
    spec_file = document.member("run_spec.json")
    spec = inner(spec_file.data()) if spec_file is not None else {}
    run = as_text(spec.get("name")) or document.name
    shown, instances = document.member(_SHOWN), document.member("instances.json")
    if shown is not None and instances is not None:
        return _from_display(spec, run, objects(shown.data()), objects(instances.data()))
    state_file = document.member(_STATE)
    if state_file is None:
        raise Refusal(
            "a HELM run without predictions", f"give the run with {_STATE}, or run helm-summarize"
        )
    return _from_state(inner(state_file.data()), run)


def _from_neighbours(shown: Document) -> Stream:
    """Read a predictions file that is not given as a run folder (in an archive, or alone)."""
    if shown.beside(_STATE):
        raise Refusal(
            "a second copy of the predictions of a HELM run", f"{_STATE} beside it is read"
        )
    specs, instances = shown.beside("run_spec.json"), shown.beside("instances.json")
    if not specs or not instances:
        raise Refusal(
            "HELM predictions without their run folder: the model and the options are unknown",
            "give the whole folder of the run",
        )
    spec = inner(specs[0].data())
    run = as_text(spec.get("name"))
    return _from_display(spec, run, objects(shown.data()), objects(instances[0].data()))


def _model(spec: dict[str, Any], run: str) -> str:
    adapter = inner(spec, "adapter_spec")
    model = as_text(adapter.get("model") or adapter.get("model_deployment"))
    match = re.search(r"(?:^|[,:])model=([^,]+)", run)
    return model or (match[1] if match else run) or "model"


def _scenario(run: str) -> str:
    """Return the name of a run without its model.

    Examples
    --------
    >>> _scenario("mmlu:subject=anatomy,method=multiple_choice_joint,model=openai_x")
    'mmlu:subject=anatomy'
    """
    text = re.sub(r"(?:(?<=:)|,)(?:model|model_deployment|method|eval_split|groups)=[^,]*", "", run)
    return text.replace(":,", ":").strip(",:")


def _references(instance: Any) -> tuple[list[str], tuple[str, ...]]:
    """Return the options of an instance as labels, and the correct ones."""
    references = objects(instance.get("references") if isinstance(instance, dict) else None)
    texts = [
        as_text(inner(reference, "output").get("text", reference.get("output")))
        for reference in references
    ]
    labels = labelled(texts)
    right = tuple(
        label
        for label, reference in zip(labels, references, strict=True)
        if isinstance(reference.get("tags"), list) and "correct" in reference["tags"]
    )
    return labels, right


@dataclass
class _Run:
    """The answers of one model to one scenario."""

    model: str
    scenario: str
    perturbed: int = 0
    stream: Stream = field(default_factory=Stream)

    def add(
        self,
        row: dict[str, Any],
        instance: dict[str, Any],
        right: tuple[str, ...],
        chosen: str | None,
    ) -> None:
        """Add what the model chose for an instance."""
        number = as_text(row.get("instance_id") or instance.get("id"))
        item = f"{self.scenario}/{number}" if self.scenario else number
        self.stream.titles[item] = title_of(inner(instance, "input").get("text"))
        trial = row.get("train_trial_index")
        self.stream.add(
            self.model,
            item,
            chosen,
            attempt=trial + 1 if isinstance(trial, int) and trial >= 0 else 1,
            key=right if len(right) == 1 else None,
            status=None if chosen is not None else "unreadable",
        )

    def finished(self) -> Stream:
        """Return all answers."""
        if not self.stream.persons:
            raise Refusal("a HELM run without predictions", "give a run that finished")
        if self.perturbed:
            self.stream.notes.append(f"{self.perturbed} perturbed instances are left out.")
        self.stream.key_from = "the references tagged «correct»"
        return self.stream


def _from_display(
    spec: dict[str, Any], name: str, rows: list[dict[str, Any]], instances: list[dict[str, Any]]
) -> Stream:
    known = {as_text(instance.get("id")): instance for instance in instances}
    run = _Run(_model(spec, name), _scenario(name))
    for row in rows:
        if row.get("perturbation"):
            run.perturbed += 1
            continue
        instance = known.get(as_text(row.get("instance_id")), {})
        labels, right = _references(instance)
        index = row.get("reference_index")
        if index is None:
            index = inner(row, "stats").get("predicted_index")
        text = as_text(row.get("mapped_output")).strip()
        if isinstance(index, (int, float)) and 0 <= int(index) < len(labels):
            chosen: str | None = labels[int(index)]
        else:
            chosen = _option(text, labels)
            if chosen is None and "mapped_output" not in row and not labels:
                chosen = as_text(row.get("predicted_text")).strip() or None
        run.add(row, instance, right, chosen)
    return run.finished()


def _from_state(state: dict[str, Any], name: str) -> Stream:
    run = _Run(_model(state, name), _scenario(name))
    scores: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for request in objects(state.get("request_states")):
        instance = inner(request, "instance")
        if instance.get("perturbation"):
            run.perturbed += 1
            continue
        labels, right = _references(instance)
        completions = objects(inner(request, "result").get("completions"))
        first = completions[0] if completions else {}
        if request.get("reference_index") is not None:
            # One request per option: the model chooses the likeliest one.
            place = (as_text(instance.get("id")), as_text(request.get("train_trial_index")))
            value, index = first.get("logprob"), request["reference_index"]
            if isinstance(value, (int, float)) and isinstance(index, int) and index < len(labels):
                if request.get("request_mode") != "calibration":
                    scores.setdefault(place, []).append((float(value), index))
                if len(scores.get(place, ())) == len(labels):
                    chosen = labels[max(scores[place], key=lambda pair: pair[0])[1]]
                    run.add(request, instance, right, chosen)
            continue
        text = as_text(first.get("text")).strip()
        mapping = inner(request, "output_mapping")
        mapped = next((as_text(v) for k, v in mapping.items() if k.strip() == text[:1]), None)
        exact = next((as_text(v) for k, v in mapping.items() if k.strip() == text), None)
        if mapping:
            bare = len(text) < 2 or not text[1].isalnum()
            chosen_text = exact if exact is not None else (mapped if bare else None)
            chosen_label = _option(chosen_text or "", labels)
        else:
            chosen_label = _option(text, labels) if labels else (text or None)
        run.add(request, instance, right, chosen_label)
    return run.finished()


def _option(text: str, labels: list[str]) -> str | None:
    text = " ".join(text.split())
    if not text or text in labels:
        return text or None
    place = letter_place(text)
    if place is not None and place < len(labels):
        return labels[place]
    return next((label for label in labels if label.partition(". ")[2] == text), None)


HELM = Format(
    "helm",
    "HELM, run folder",
    "benchmark_output/runs/<suite>/<run>: a folder per model and scenario",
    _recognise,
    _convert,
)
