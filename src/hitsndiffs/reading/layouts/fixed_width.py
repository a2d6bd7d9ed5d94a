"""Lines of fixed width, the input of item-analysis programs: an id, blanks, a string of answers."""

from __future__ import annotations

from collections.abc import Sequence

from hitsndiffs.data.words import count
from hitsndiffs.reading.tables.table import Table

__all__ = ["fixed_width"]

#: So many lines are needed, and so many answers in each.
_FEWEST_LINES, _FEWEST = 5, 5
#: Marks of answers, and of no answer.
_MARKS = frozenset("ABCDEFGHIJabcdefghijTtFfVvXxNn123456789")
_BLANKS = frozenset(" .*?-_#")
#: A separator of another kind of table.
_SEPARATORS = frozenset(",;\t|\"'")


def fixed_width(text: str, name: str) -> Table | None:
    """Return the table of lines that hold an id and, in the same places, one mark per answer.

    Examples
    --------
    >>> lines = [f"S{k:02} {'ABBCA'[k:]}{'ABBCA'[:k]}" for k in range(5)]
    >>> found = fixed_width(chr(10).join(lines), "a.txt")
    >>> found.names, found.sample[1]
    (['id', 'item-1', 'item-2', 'item-3', 'item-4', 'item-5'], ['S01', 'B', 'B', 'C', 'A', 'A'])
    """
    if _SEPARATORS & set(text[:10_000]):
        return None
    numbered = [(k, line) for k, line in enumerate(text.splitlines(), start=1) if line.strip()]
    lines = [line for _, line in numbered]
    width = max(map(len, lines), default=0)
    if len(lines) < _FEWEST_LINES or width > 2000:
        return None
    places = [{line[k : k + 1] or " " for line in lines} for k in range(width)]
    start = _start(places)
    if not start or width - start < _FEWEST:
        return None
    ids = [line[:start].strip() for line in lines]
    used = set().union(*places[start:]) - _BLANKS
    short = sum(len(line.rstrip()) < start + _FEWEST for line in lines)
    if not all(ids) or len({*ids}) < len(ids) or not 1 < len(used) <= 10 or short * 10 > len(lines):
        return None
    header = ["id", *(f"item-{k}" for k in range(1, width - start + 1))]
    rows = [
        [own, *_answers(line[start:], width - start)] for own, line in zip(ids, lines, strict=True)
    ]
    table = Table.of_rows(header, rows, name, "line", lines=[k for k, _ in numbered])
    table.notes.append(
        f"Each line is an id and {count(width - start, 'answer')} of one character each."
    )
    return table


def _start(places: Sequence[set[str]]) -> int:
    """Return where the answers begin: behind the last place that is blank in all lines."""
    k = len(places)
    while k and places[k - 1] <= _MARKS | _BLANKS and places[k - 1] != {" "}:
        k -= 1
    return k if k and places[k - 1] == {" "} else 0


def _answers(text: str, n: int) -> list[str]:
    return ["" if mark in _BLANKS else mark for mark in text.ljust(n)]
