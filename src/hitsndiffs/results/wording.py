"""Small phrases for sentences: counts, shares, lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hitsndiffs.data.words import count, per_cent

__all__ = ["count", "joined", "judged", "listed", "missing", "per_cent", "sizes"]


def sizes(data: Any) -> str:
    """Return the numbers of users, items and answers of responses or an engine."""
    numbers = ((data.n_users, "user"), (data.n_items, "item"), (data.n_responses, "answer"))
    return ", ".join(count(number, noun) for number, noun in numbers)


def missing(data: Any) -> str:
    """Return the share of answers that are missing, in per cent."""
    return per_cent(1 - data.n_responses / (data.n_users * data.n_items))


def listed(labels: Iterable[object], most: int = 5) -> str:
    """Return the first few labels.

    >>> listed("abc"), listed(range(9))
    ('a, b, c', '0, 1, 2, 3, 4 and 4 more')
    """
    texts = list(map(str, labels))
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def joined(names: Sequence[str], word: str = "and") -> str:
    """Return all names in one phrase.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


#: How the better end of an order was found (:class:`hitsndiffs.order.orientation.Orientation`).
_JUDGED = {
    "decile entropy": "the end whose users agree more with each other",
    "majority": "the end that sides with the majority",
    "known answers": "judged by the known answers",
    "strong user": "judged by the strong user",
    "words": "judged by what the labels say",
    "evidence": "judged by the likely key",
    "undecided": "nothing in the answers tells",
}


def judged(how: str) -> str:
    """Say how the better end of an order was found.

    >>> judged("majority")
    'the end that sides with the majority'
    """
    return _JUDGED[how]
