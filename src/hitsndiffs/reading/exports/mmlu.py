"""MMLU, the original evaluation: a table per subject with the probability of each letter."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Sample, absent
from hitsndiffs.reading.exports.common import letter_place, number, short_hash, stem_of_name
from hitsndiffs.reading.exports.sheet import Sheet, by_table

__all__ = ["MMLU"]

_CHANCE = re.compile(r"(?P<model>.+)_choice(?P<letter>[A-J])_probs?")


def _recognise(sample: Sample) -> str | None:
    if sample.kind in ("table", "sheets", "parquet"):
        found = [name for name in sample.header if _CHANCE.fullmatch(name.strip())]
        if len(found) > 1:
            return f"there is a column {found[0]!r} for each letter"
    return None


def _convert(sheet: Sheet) -> None:
    rows, stream = sheet.rows, sheet.stream
    models: dict[str, dict[str, int]] = {}
    for place, name in enumerate(sheet.header):
        if match := _CHANCE.fullmatch(name.strip()):
            models.setdefault(match["model"], {})[match["letter"]] = place
    if not models or not rows:
        raise absent("a table of MMLU's evaluation", "column such as «…_choiceA_probs»")
    question = max(range(len(sheet.header)), key=lambda k: _length(rows, k))
    key = _key_place(rows, min(min(own.values()) for own in models.values()))
    subject = stem_of_name(sheet.name)
    for row in rows:
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
    sheet.set_role(used, "answers", "how likely a letter is; the likeliest counts")
    if key is not None:
        stream.key_from = "the column of right letters"
        sheet.set_role([key], "key", "the right letter")


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
    by_table(_convert),
)
