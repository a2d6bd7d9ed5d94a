"""Gradebooks: points for whole tests, which cannot be ranked."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Sample, refusing
from hitsndiffs.reading.exports.common import folded

__all__ = ["GRADEBOOK"]

#: How learning platforms name the columns of a gradebook.
_COLUMNS = {
    "Canvas": re.compile(r".+ \(\d{3,}\)"),
    "Blackboard": re.compile(r".+\[total pts: .*\](?: \|\d+)?", re.IGNORECASE),
    "Brightspace": re.compile(r".+<(?:numeric|text|selectbox|pass/fail).*>", re.IGNORECASE),
    "Moodle": re.compile(
        r"[^:]+: ?.+ \((?:real|percentage|letter|punkte|prozentsatz|reell|brut|pourcentage|"
        r"porcentaje)\)",
        re.IGNORECASE,
    ),
}
_POSSIBLE = re.compile(r"points possible|punkte möglich|points possibles|puntos posibles")


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) > 5000:
        return None
    for platform, pattern in _COLUMNS.items():
        fitting = [name for name in sample.header if pattern.fullmatch(" ".join(name.split()))]
        if not fitting:
            continue
        below = any(_POSSIBLE.search(folded(row[0])) for row in sample.rows[:3] if row)
        if platform != "Canvas" or below:
            return f"the columns are named like those of {platform}'s gradebook"
    return None


GRADEBOOK = Format(
    "gradebook",
    "Gradebooks of Canvas, Blackboard, Brightspace and Moodle (refused)",
    "The grades of a course: points per test, no answers",
    _recognise,
    refusing(
        "a gradebook: the points of whole tests, without answers",
        "export the answers of one test instead (the report of its attempts or responses)",
    ),
)
