"""The options of an lm-eval record, the one that was chosen, and the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitsndiffs.reading.exports.common import as_text, labelled, letter_place, literal

__all__ = ["generated_choice", "likelihoods", "option_texts", "target_places"]


def likelihoods(record: dict[str, Any]) -> list[float] | None:
    """Return the log-likelihood of each option, or None if the answer is a text.

    Examples
    --------
    >>> likelihoods({"filtered_resps": [["-1.5", "False"], ["-0.5", "True"]]})
    [-1.5, -0.5]
    >>> likelihoods({"filtered_resps": ["B"]}) is None
    True
    """
    found = literal(record["filtered_resps"])
    if not isinstance(found, list) or len(found) < 2:
        return None
    values = []
    for pair in found:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            return None
        value = _float(pair[0])
        if value is None or as_text(pair[1]).casefold() not in ("true", "false", "0", "1"):
            return None
        values.append(value)
    metrics = record.get("metrics")
    doubled = "acc_mutual_info" in record or (
        isinstance(metrics, list) and "acc_mutual_info" in metrics
    )
    return values[: len(values) // 2] if doubled and len(values) % 2 == 0 else values


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def option_texts(record: dict[str, Any], count: int) -> list[str]:
    """Return the labels of the options: from the document, or else the continuations.

    If all continuations are equal, the options differ in the context (winogrande); then the
    document names them, or they are numbered.
    """
    texts = _doc_options(record.get("doc"), count)
    if texts is None:
        texts = _continuations(record.get("arguments"), count)
    if texts is None or (count > 1 and len(set(texts)) == 1):
        return [str(k + 1) for k in range(count)]
    return labelled(texts)


def _doc_options(doc: Any, count: int | None) -> list[str] | None:
    if not isinstance(doc, dict):
        return None
    # «answers» may all be right; they are options only if as many as the likelihoods.
    names = ("choices", "options", "endings", "mc1_targets", "answers")
    for name in names if count is not None else names[:3]:
        value = doc.get(name)
        if isinstance(value, dict):
            value = value.get("text", value.get("choices"))
        if isinstance(value, list) and len(value) > 1 and count in (None, len(value)):
            texts = [_option_text(option) for option in value]
            if all(texts):
                return texts
    for start in ("option", "choice", "sol", "ending", "op"):
        for first in (1, 0):
            texts = []
            while isinstance(doc.get(f"{start}{first + len(texts)}"), str):
                texts.append(doc[f"{start}{first + len(texts)}"])
            if len(texts) > 1 and count in (None, len(texts)):
                return texts
    return None


def _option_text(option: Any) -> str:
    if isinstance(option, dict):
        option = option.get("text", option.get("option"))
    return as_text(option)


def _continuations(arguments: Any, count: int) -> list[str] | None:
    """Return the second argument of each request, stripped."""
    if isinstance(arguments, dict):
        arguments = list(arguments.values())
    if not isinstance(arguments, list) or len(arguments) < count:
        return None
    texts = []
    for request in arguments[:count]:
        if isinstance(request, dict):
            request = [request.get("arg_0"), request.get("arg_1")]
        if not isinstance(request, (list, tuple)) or len(request) < 2:
            return None
        if not isinstance(request[1], str):
            return None
        texts.append(request[1].strip())
    return texts


def target_places(record: dict[str, Any], options: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the right options; the target is an index, a text or a list."""
    continued = _continuations(record.get("arguments"), len(options)) or []
    if len(set(continued)) == 1 and len(options) > 1:
        return ()  # the options are in the context, and the target is a text
    target = literal(record.get("target"))
    places = []
    for value in target if isinstance(target, list) else [target]:
        place = _target_place(value, options, continued)
        if place is None:
            return ()
        places.append(place)
    return tuple(places)


def _target_place(value: Any, options: Sequence[str], continued: Sequence[str]) -> int | None:
    text = as_text(value).strip()
    for texts in (options, continued):
        stripped = [option.strip() for option in texts]
        if stripped.count(text) == 1 and not text.isdigit():
            return stripped.index(text)
    if isinstance(value, bool) or not text.isdigit():
        return None
    return int(text) if int(text) < len(options) else None


def generated_choice(
    record: dict[str, Any], text: str, target: str
) -> tuple[str | None, list[str], tuple[str, ...] | None]:
    """Return the choice of a generated text (None if it chose none), the options, and the key.

    Without options in the document, the text itself is the answer.

    Examples
    --------
    >>> doc = {"doc": {"options": ["x", "y", "z"]}}
    >>> generated_choice(doc, " (b) ", "C")
    ('B', ['A', 'B', 'C'], ('C',))
    >>> generated_choice(doc, "T", "C")
    (None, ['A', 'B', 'C'], ('C',))
    >>> generated_choice({"doc": {}}, "42", "41")
    ('42', [], ('41',))
    """
    key = (target,) if target else None
    texts = _doc_options(record.get("doc"), None)
    if texts is None:
        return text, [], key
    stripped = [option.strip() for option in texts]
    letters = [chr(ord("A") + k) for k in range(min(len(texts), 26))]
    right = letter_place(target)
    if right is not None and right < len(letters):
        place = letter_place(text)
        if place is None and stripped.count(text) == 1:
            place = stripped.index(text)
        chosen = letters[place] if place is not None and place < len(letters) else None
        return chosen, letters, (letters[right],)
    if target.isdigit() and int(target) <= len(texts):
        numbers = [str(k) for k in range(0 if target == "0" else 1, len(texts) + 1)]
        return (text if text in numbers else None), numbers, key
    if target.strip() in stripped:
        return (text if text in stripped else None), labelled(texts), key
    return text, [], key
