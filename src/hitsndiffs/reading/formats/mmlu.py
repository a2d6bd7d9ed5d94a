"""MMLU, the original evaluation: a table per subject with the probability of each letter."""

from __future__ import annotations

import re

from hitsndiffs.reading.formats.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.formats.common import (
    letter_place,
    number,
    roles,
    short_hash,
    stem_of_name,
)

__all__ = ["MMLU"]

_CHANCE = re.compile(r"(?P<model>.+)_choice(?P<letter>[A-J])_probs?")


def _recognise(sample: Sample) -> str | None:
    if sample.kind in ("table", "sheets", "parquet"):
        found = [name for name in sample.header if _CHANCE.fullmatch(name.strip())]
        if len(found) > 1:
            return f"there is a column {found[0]!r} for each letter"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    table = document.table(choices.sheet)
    models: dict[str, dict[str, int]] = {}
    for place, name in enumerate(table.header):
        if match := _CHANCE.fullmatch(name.strip()):
            models.setdefault(match["model"], {})[match["letter"]] = place
    if not models or not table.rows:
        raise Refusal(
            "not a table of MMLU's evaluation: there is no column such as «…_choiceA_probs»",
            "omit the format so that it is detected",
        )
    stream = Stream()
    question = max(range(len(table.header)), key=lambda k: _length(table.rows, k))
    key = _key_place(table.rows, min(min(own.values()) for own in models.values()))
    subject = stem_of_name(document.name)
    for row in table.rows:
        text = " ".join(row[question].split())
        item = f"{subject}/{short_hash(text)}"
        stream.titles[item] = text[:200]
        right = None if key is None else row[key].strip()
        for model, places in models.items():
            chances = {letter: number(row[k]) for letter, k in places.items()}
            known = {letter: chance for letter, chance in chances.items() if chance is not None}
            best = max(known, key=known.__getitem__) if known else None
            stream.add(model, item, best, key=right)
    used = [k for own in models.values() for k in own.values()]
    roles(stream, table.header, used, "answers", "how likely a letter is; the likeliest counts")
    if key is not None:
        stream.key_from = "the column of right letters"
        roles(stream, table.header, [key], "key", "the right letter")
    return stream


def _length(rows: list[list[str]], place: int) -> int:
    """Return how much text a column holds, up to a point."""
    return sum(len(row[place]) for row in rows[:50])


def _key_place(rows: list[list[str]], before: int) -> int | None:
    """Return the last column of letters before the probabilities."""
    letters = [k for k in range(before) if all(letter_place(row[k]) is not None for row in rows)]
    return letters[-1] if letters else None


MMLU = Format(
    "mmlu",
    "MMLU, original evaluation",
    "«results_<model>/<subject>.csv» with columns such as model_choiceA_probs; give the folder",
    _recognise,
    _convert,
)
