"""Names of users, items and options as charts and pages show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["clean", "distinct"]


def clean(label: object, longest: int = 200) -> str:
    r"""A label as one line of printable text, cut if it is very long.

    >>> clean("two\nlines"), clean("abcdef", 4), clean("")
    ('two lines', 'abc…', '(empty)')
    """
    text = str(label)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    text = text.strip() or "(empty)"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def distinct(labels: Iterable[object], longest: int = 60) -> list[str]:
    """Clean labels, and number those that cleaning made equal.

    A chart draws equal names on one line, so different users need different names.

    >>> distinct(["ann", "abcdef", "abcdeg"], 4)
    ['ann', 'abc… (1)', 'abc… (2)']
    """
    cleaned = [clean(label, longest) for label in labels]
    often = Counter(cleaned)
    seen: Counter[str] = Counter()
    found = []
    for label in cleaned:
        seen[label] += 1
        found.append(f"{label} ({seen[label]})" if often[label] > 1 else label)
    return found
