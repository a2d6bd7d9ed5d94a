"""Split text into rows: the names of encodings, separators, and the rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from hitsndiffs.errors import InputError

__all__ = [
    "HEAD_ROWS",
    "SEPARATORS",
    "TextShape",
    "check_encoding",
    "filled",
    "find_shape",
    "is_ruled",
    "padded",
    "rows_of_text",
    "separator_name",
    "widest",
]

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}
#: A line such as ``sep=;`` tells Excel what separates the cells.
_SEP_LINE = re.compile(r'\A"?sep=(.)"?\r?\n', re.IGNORECASE)
_RULE = re.compile(r"[-:+]*--[-:+]*|[=+]*==[=+]*|")
_DECIMAL = re.compile(r"\d+,\d+")
#: All answers of somebody in a word.
_MARKS = re.compile(r"[A-Z0-9*.\-]+|[a-z*.\-]+")
#: Recognition looks at this many rows.
HEAD_ROWS = 60
#: A longer cell means that a quotation mark was never closed.
LONGEST_CELL = 64 << 20


def check_encoding(name: str) -> str:
    """Return the standard name of a text encoding; refuse unknown names."""
    try:
        found = codecs.lookup(name).name
        b"a".decode(found, "ignore")  # some codecs are not for text
    except (LookupError, ValueError):
        raise InputError(
            f"encoding must be the name of a text encoding (utf-8, cp1252, utf-16, shift_jis, …); "
            f"got {name[:60]!r}."
        ) from None
    return found


@dataclass(frozen=True)
class TextShape:
    """The separator of a text, and its first rows.

    ``skip`` is the number of characters before them (a line ``sep=;``); each row comes with the
    line on which it begins.
    """

    separator: str
    skip: int
    notes: list[str]
    rows: list[tuple[int, list[str]]]


def separator_name(mark: str) -> str:
    """Return a separator in words."""
    return SEPARATORS.get(mark, repr(mark))


def find_shape(text: str, expected: str, separator: str | None = None) -> TextShape:
    r"""Find the separator from the beginning of a text.

    Examples
    --------
    >>> find_shape("sep=;\nuser;q1\nann;1,5\n", ",").separator
    ';'
    """
    skip = 0
    said = _SEP_LINE.match(text)
    if said:
        skip = said.end()
        separator = separator or said[1]
    text = text[skip:]
    found: dict[str, list[tuple[int, list[str]]]] = {}
    if separator is None:
        separator = _find_separator(text, expected, found)
    notes = []
    if separator != expected:
        notes.append(f"The cells are separated by {separator_name(separator)}.")
    return TextShape(separator, skip, notes, found.get(separator) or _first_rows(text, separator))


def _first_rows(text: str, separator: str) -> list[tuple[int, list[str]]]:
    rows: list[tuple[int, list[str]]] = []
    with suppress(InputError):
        rows.extend(islice(rows_of_text(text, separator), HEAD_ROWS))
    return rows


def _find_separator(text: str, expected: str, found: dict[str, list[tuple[int, list[str]]]]) -> str:
    """Return the mark that cuts most rows into the same number of cells, at least two.

    The first rows, cut at each mark, are kept in ``found``.
    """
    best, best_score = expected, (0, 0.0, False, 0, 0)
    for mark in (expected, *(mark for mark in SEPARATORS if mark not in (expected, " "))):
        if mark not in text:
            continue
        found[mark] = _first_rows(text, mark)
        rows = [row for _, row in found[mark]]
        widths_of = [len(row) for row in rows]
        widths = Counter(widths_of)
        alike = Counter({width: n for width, n in widths.items() if width > 1})
        if not alike:
            continue
        width, n = max(alike.items(), key=lambda pair: (pair[1], pair[0]))
        share = n / sum(widths.values())
        top = widths_of[0] == width  # decimal commas occur below the header, not in it
        level = 2 if share > 0.9 else 1 if share > 0.3 else 0
        score = (level, round(share, 1), top, width, _decimals(rows))
        if score[0] and (score > best_score):
            best, best_score = mark, score
    if best_score[0] == 0 and _in_blanks(text):
        return " "
    return best


def _decimals(rows: list[list[str]]) -> int:
    """Return how many cells are numbers with a decimal comma."""
    return sum(_DECIMAL.fullmatch(cell.strip()) is not None for row in rows for cell in row)


def _in_blanks(text: str) -> bool:
    """Whether every line has the same number of words, at least three, or an id and its answers.

    The header may lack one, as R writes it.
    """
    lines = [_words(line) for line in text.splitlines()[:HEAD_ROWS] if line.strip()]
    if len(lines) > 1 and not text.endswith("\n") and len(lines) == HEAD_ROWS:
        lines = lines[:-1]
    if len(lines) < 2:
        return False
    widths = {len(words) for words in lines[1:]}
    if len(widths) > 1 or len(lines[0]) not in (min(widths), min(widths) - 1):
        return False
    if widths == {2} and len(lines) > 4:
        lengths = {len(words[-1]) for words in lines}
        return (
            len(lengths) == 1 and min(lengths) > 4 and all(_MARKS.fullmatch(w[-1]) for w in lines)
        )
    return min(widths) >= 3


def _words(line: str) -> list[str]:
    """Return the words of a line; those in quotation marks may hold blanks."""
    if '"' not in line:
        return line.split()
    return [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]


def rows_of_text(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line on which it begins (from 1)."""
    if separator == " ":
        lines = [(k, _words(line)) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) > 2 and all(len(row) == len(lines[0][1]) + 1 for _, row in lines[1:]):
            lines[0] = lines[0][0], ["", *lines[0][1]]  # R does not name the column of row names
        yield from lines
        return
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_lines(text), delimiter=separator)
    drawn = separator == "|"
    begin = 1
    try:
        for row in reader:
            if row and (row[0].strip() or "".join(row).strip()) and not (drawn and is_ruled(row)):
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"line {begin}: the row cannot be read ({error}); check the quotation marks."
        ) from None


def is_ruled(row: Sequence[str]) -> bool:
    """Whether a row is a line drawn below the header of a table in Markdown, or of a database.

    Examples
    --------
    >>> is_ruled(["", "---", ":--:", ""]), is_ruled(["-----+----"]), is_ruled(["+", "-"])
    (True, True, False)
    """
    return all(_RULE.fullmatch(cell.strip()) for cell in row)


def _lines(text: str) -> Iterator[str]:
    # universal newlines inside and outside quotation marks, as the csv module expects
    return iter(io.StringIO(text, newline=None))


def padded(rows: Sequence[list[str]], width: int) -> list[list[str]]:
    """Return rows cut or padded to one width; rows that already have it are not copied."""
    return [
        row if len(row) == width else [*row[:width], *[""] * (width - len(row))] for row in rows
    ]


def widest(rows: list[list[str]]) -> int:
    """Return the width of the widest row, not counting trailing blank cells."""
    longest = max(map(len, rows), default=0)
    if any(len(row) == longest and row[-1].strip() for row in rows if row):
        return longest
    return max(map(filled, rows), default=0)


def filled(row: list[str]) -> int:
    """Return the width of a row, not counting trailing blank cells."""
    width = len(row)
    while width and not row[width - 1].strip():
        width -= 1
    return width
