"""OpenAI evals: the log of a run (JSONL), with the spec on a separate line."""

from __future__ import annotations

from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import as_text, inner, objects, stem_of_name

__all__ = ["OPENAI_EVALS"]

_SPEC = {"completion_fns", "eval_name", "base_eval", "run_config"}


def _recognise(sample: Sample) -> str | None:
    if not sample.is_json:
        return None
    for record in sample.records:
        spec = record.get("spec") if isinstance(record, dict) else None
        if isinstance(spec, dict) and spec.keys() & _SPEC:
            return "a line holds the spec of the run"
    return None


def _convert(document: Document, _: Choices) -> Stream:
    records = objects(document.records())
    spec: dict[str, Any] = next((r["spec"] for r in records if isinstance(r.get("spec"), dict)), {})
    model = _model(spec) or stem_of_name(document.name)
    matches = [
        (as_text(record.get("sample_id")), record["data"])
        for record in records
        if record.get("type") == "match" and isinstance(record.get("data"), dict)
    ]
    if not matches:
        raise Refusal(
            "an OpenAI evals log without «match» events: graded by a model, or scores only",
            "only evals that compare an answer with the expected one can be ranked",
        )
    stream = Stream(key_from="the expected answers")
    for sample, data in matches:
        expected = data.get("expected")
        right = [
            as_text(v).strip() for v in (expected if isinstance(expected, list) else [expected])
        ]
        right = [text for text in right if text]
        answer = _answer(data, right)
        stream.add(
            model,
            sample,
            answer,
            key=right if len(right) == 1 else None,
            status=None if answer is not None else "unreadable",
        )
    stream.number_repeats()
    return stream


def _answer(data: dict[str, Any], right: list[str]) -> str | None:
    """Return what was picked.

    If the eval lists only the right answers as options, it never picks a wrong one; then the answer
    is what was sampled.
    """
    found = data.get("options")
    options = [as_text(o).strip() for o in found] if isinstance(found, list) else []
    picked = as_text(data.get("picked")).strip()
    if len(options) > 1 and set(options) != set(right):
        return picked or None
    sampled = data.get("sampled", data.get("picked"))
    if isinstance(sampled, list):
        sampled = sampled[0] if sampled else None
    if picked and picked in right:
        return picked
    return as_text(sampled).strip() or None


def _model(spec: dict[str, Any]) -> str:
    config = inner(spec, "run_config")
    for found in (spec.get("completion_fns"), config.get("completion_fns"), spec.get("model_name")):
        first = found[0] if isinstance(found, list) and found else found
        if first:
            return as_text(first)
    return ""


OPENAI_EVALS = Format(
    "openai-evals",
    "OpenAI evals, logs",
    "JSONL of a run (spec, match events), one per model; give the folder",
    _recognise,
    _convert,
)
