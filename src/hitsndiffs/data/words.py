"""Counts, shares and lists of names, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from hitsndiffs.errors import closest

__all__ = [
    "Detail",
    "count",
    "first_few",
    "joined",
    "listed",
    "missing",
    "per_cent",
    "shortened",
    "sizes",
    "suggestion",
]


class Detail(str):
    """A note that goes without saying: for those who ask for details."""

    __slots__ = ()


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "user"), count(2500, "user")
    ('1 user', '2,500 users')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def per_cent(share: float, digits: int = 0) -> str:
    """Return a share in per cent; only exact 0 and 100 are shown as such.

    >>> per_cent(0.25), per_cent(0.0), per_cent(0.0001), per_cent(0.9999), per_cent(0.123, 1)
    ('25 %', '0 %', 'under 1 %', 'over 99 %', '12.3 %')
    """
    step = 10.0**-digits
    if 0 < share * 100 < step:
        return f"under {step:.{digits}f} %"
    if 100 - step < share * 100 < 100:
        return f"over {100 - step:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Return the first few names, in quotes.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(9), most=2)
    ("'a' and 'b'", "'0', '1' and 7 more")
    """
    texts = [f"'{shortened(str(name))}'" for name in names]
    if len(texts) > most + 1:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def first_few(labels: Iterable[object], most: int = 5) -> str:
    """Return the first few labels as they are, and how many more there are.

    >>> first_few("abc"), first_few(range(9))
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


def sizes(data: Any) -> str:
    """Return the numbers of users, items and answers of responses or an engine."""
    numbers = ((data.n_users, "user"), (data.n_items, "item"), (data.n_responses, "answer"))
    return ", ".join(count(number, noun) for number, noun in numbers)


def missing(data: Any) -> str:
    """Return the share of answers that are missing, in per cent."""
    return per_cent(1 - data.n_responses / (data.n_users * data.n_items))


def shortened(text: str, most: int = 80) -> str:
    """Return a text, cut to a length that fits in a message.

    Examples
    --------
    >>> shortened("abc"), len(shortened("abc" * 1000))
    ('abc', 80)
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def suggestion(name: Hashable, known: Iterable[Hashable]) -> str:
    """Return `` (did you mean 'x'?)`` if a known name is close, else nothing.

    Examples
    --------
    >>> suggestion("wroker", ["worker", "task"])
    " (did you mean 'worker'?)"
    """
    close = closest(name, known)
    return "" if close is None else f" (did you mean {close!r}?)"
