"""Tell from its cells what a column holds: times, addresses, numbers, free text, or answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hitsndiffs.data.cells import MISSING_TEXTS

__all__ = ["ColumnContent", "look_at"]

_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|"
    r"(?:\w{3,9},?\s+)?\d{1,2}\.?\s+[^\W\d]{3,12}\.?,?\s+\d{4}|[^\W\d]{3,12}\.?\s+\d{1,2},\s+\d{4}|"
    r"\d{4}年\d{1,2}月\d{1,2}日)"
    r"(?:[T,\s]\s*\d{1,2}[:.h]\d{2}.{0,40})?",
    re.DOTALL,
)
_CLOCK = re.compile(r"\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[AaPp]\.?[Mm]\.?)?")
_LASTING = re.compile(
    r"(?:\d+\s*(?:d|h|m|s|ms|days?|hours?|hrs?|mins?|minutes?|secs?|seconds?|Tage?|Stunden?|Std\.?|"
    r"Minuten?|Min\.?|Sekunden?|Sek\.?|jours?|heures?|horas?|minutos?|segundos?|ore|minuti|secondi|"
    r"uur|timmar|минут\w*|секунд\w*|час\w*|時間|分|秒)\.?\s*)+"
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_LINK = re.compile(r"(?:https?|ftp|file|s3|gs)://\S+|(?:\d{1,3}\.){3}\d{1,3}", re.IGNORECASE)
_SCORE = re.compile(r"\d+(?:[.,]\d+)?\s*/\s*\d+(?:[.,]\d+)?|[-+]?\d+(?:[.,]\d+)?\s*%")
#: JSON records in a cell, or a list of them.
_RECORD = re.compile(r"\s*\[?\s*\{.*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d{1,18})(?:[.,]\d{1,18})?(?:[eE][-+]?\d{1,3})?")
#: A column is of a kind if at least this share of its cells is.
_SURE = 0.8
#: Fewer rows than this may count up by chance.
_FEW = 5
#: With at least this many cells, nearly all of them different, a column is free text.
_SOME = 10


@dataclass
class ColumnContent:
    """What was found in a column of the sample.

    Parameters
    ----------
    n_rows, n_filled
        How many cells there are, and how many are not blank.
    counts
        How often each text occurs.
    kind
        ``"empty"``, ``"time"``, ``"mail"``, ``"link"``, ``"score"``, ``"record"`` (JSON),
        ``"counter"`` (1, 2, 3, …), ``"measure"`` (numbers that hardly repeat, or with decimals),
        ``"different"`` (no two alike), ``"text"`` (long or hardly repeated), or ``"choice"``.
    """

    n_rows: int
    n_filled: int
    counts: Counter[str] = field(repr=False)
    kind: str

    @property
    def is_number(self) -> bool:
        """Whether all cells are numbers."""
        return all(_NUMBER.fullmatch(value[:50]) for value in self.counts)

    @property
    def all_different(self) -> bool:
        """Whether no two cells are alike."""
        return self.n_filled == len(self.counts)


def look_at(cells: Sequence[str]) -> ColumnContent:
    """Look at the cells of a column.

    Examples
    --------
    >>> [look_at(cells).kind for cells in (["A", "B", "A"], ["2024-01-05"] * 2, ["3 / 4", "2 / 4"])]
    ['choice', 'time', 'score']
    """
    texts = [text for cell in cells if (text := cell.strip()) not in MISSING_TEXTS]
    counts = Counter(texts)
    return ColumnContent(len(cells), len(texts), counts, _kind(counts, texts))


def _kind(counts: Counter[str], texts: list[str]) -> str:
    n = len(texts)
    if not n:
        return "empty"
    distinct = len(counts)
    if max(map(len, counts)) == 1 and not (
        distinct == n >= _FEW and all(map(str.isdecimal, counts))
    ):
        return "choice"  # single letters or digits: nothing else to check
    for kind, pattern in (
        ("time", _DATE),
        ("time", _CLOCK),
        ("time", _LASTING),
        ("mail", _MAIL),
        ("link", _LINK),
        ("score", _SCORE),
        ("record", _RECORD),
    ):
        if _share(counts, pattern, n) >= _SURE:
            return kind
    if _share(counts, _NUMBER, n) >= 0.95:
        return _number_kind(counts, texts)
    length = sum(len(text) * k for text, k in counts.items()) / n
    if n >= 3 and distinct == n and (n >= 20 or length > 60):
        return "different" if length < 60 else "text"
    if n >= _SOME and distinct > 0.8 * n:
        return "text"
    if n >= 20 and distinct > 0.5 * n and length > 15:
        return "text"
    return "choice"


def _share(counts: Counter[str], pattern: re.Pattern[str], n: int) -> float:
    return sum(k for text, k in counts.items() if pattern.fullmatch(text[:80])) / n


def _number_kind(counts: Counter[str], texts: list[str]) -> str:
    n, distinct = len(texts), len(counts)
    numbers = [_value(text) for text in texts]
    known = [number for number in numbers if number is not None]
    if not known:
        return "choice"
    whole = sum(number == int(number) for number in known) / len(known)
    if n >= _FEW and distinct == n and whole == 1:
        steps = [b - a for a, b in pairwise(known)]
        if all(step == 1 for step in steps) and known[0] in (0, 1):
            return "counter"
    if n >= _SOME and whole < 1 and (distinct > 6 or whole < 0.5):
        return "measure"
    if n >= 20 and distinct > 0.5 * n and distinct > 12:
        return "measure"
    if n >= _SOME and distinct == n and max(known) >= 100:
        return "measure"
    if distinct > 50 and max(known) - min(known) > 100:
        return "measure"
    if n >= _SOME and distinct > 0.6 * n and max(known) - min(known) >= 20:
        return "measure"
    return "choice"


def _value(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None
