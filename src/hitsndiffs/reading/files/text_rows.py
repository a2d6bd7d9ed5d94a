"""Split text into rows: the names of encodings, separators, and the rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from hitsndiffs.errors import InputError

__all__ = [
    "HEAD_ROWS",
    "SEPARATORS",
    "Row",
    "TextRows",
    "check_encoding",
    "filled",
    "find_rows",
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
#: A row, with the lines on which it begins and ends.
Row = tuple[int, int, list[str]]
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


def separator_name(mark: str) -> str:
    """Return a separator in words."""
    return SEPARATORS.get(mark, repr(mark))


class TextRows:
    """The rows of a text, parsed once, as far as they are asked for.

    Parameters
    ----------
    text
        The text.
    separator
        What stands between its cells.
    skip
        The number of characters before the rows (a line ``sep=;``).

    Attributes
    ----------
    notes
        What was found out about the text.
    fault
        What is wrong with the quotation marks in the rows that were asked for. Their cells are then
        taken as they come.
    """

    def __init__(self, text: str, separator: str, skip: int = 0) -> None:
        self.separator, self.skip = separator, skip
        self.notes: list[str] = []
        self.fault: InputError | None = None
        self._text, self._rows = text[skip:], list[Row]()
        self._first_line = 1 + text.count("\n", 0, skip)
        self._coming = self._parsed(strict=True)

    def _parsed(self, *, strict: bool) -> Iterator[Row]:
        return rows_of_text(self._text, self.separator, self._first_line, strict=strict)

    def rows(self, most: int | None = None) -> list[Row]:
        """Return all rows, or the first ones."""
        try:
            missing = None if most is None else max(most - len(self._rows), 0)
            self._rows.extend(islice(self._coming, missing))
        except InputError as fault:
            if self.fault is not None:
                raise
            self.fault, self._rows = fault, []
            self._coming = self._parsed(strict=False)
            return self.rows(most)
        return self._rows[:most]


def find_rows(text: str, expected: str, separator: str | None = None) -> TextRows:
    r"""Return the rows of a text; the separator is found from its beginning if it is not given.

    Examples
    --------
    >>> found = find_rows("sep=;\nuser;q1\nann;1,5\n", ",")
    >>> found.separator, found.rows()
    (';', [(2, 2, ['user', 'q1']), (3, 3, ['ann', '1,5'])])
    """
    said = _SEP_LINE.match(text)
    skip = said.end() if said else 0
    separator = separator or (said[1] if said else None)
    if separator is not None:
        found = TextRows(text, separator, skip)
    else:
        found = _find_separator(text, expected, skip)
    if found.separator != expected:
        found.notes.append(f"The cells are separated by {separator_name(found.separator)}.")
    return found


def _find_separator(text: str, expected: str, skip: int) -> TextRows:
    """Return the rows, cut where most of them get the same number of cells (at least two)."""
    best, best_score = TextRows(text, expected, skip), (0, 0.0, False, 0, 0)
    for mark in (expected, *(mark for mark in SEPARATORS if mark not in (expected, " "))):
        if mark not in text:
            continue
        found = best if mark == expected else TextRows(text, mark, skip)
        rows = [row for _, _, row in found.rows(HEAD_ROWS) if "".join(row).strip()]
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
            best, best_score = found, score
    if best_score[0] == 0 and _in_blanks(text[skip:]):
        return TextRows(text, " ", skip)
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


def rows_of_text(
    text: str, separator: str, first_line: int = 1, *, strict: bool = False
) -> Iterator[Row]:
    """Yield the rows that are no blank lines, each with the lines on which it begins and ends.

    Parameters
    ----------
    text, separator
        The text, and what stands between its cells.
    first_line
        The number of its first line.
    strict
        Whether quotation marks out of place are refused, not taken as they come.
    """
    if separator == " ":
        lines = [
            (k, k, _words(line))
            for k, line in enumerate(text.splitlines(), first_line)
            if line.strip()
        ]
        if len(lines) > 2 and all(len(row) == len(lines[0][2]) + 1 for _, _, row in lines[1:]):
            lines[0] = *lines[0][:2], ["", *lines[0][2]]  # R does not name the column of row names
        yield from lines
        return
    csv.field_size_limit(LONGEST_CELL)
    # universal newlines inside and outside quotation marks, as the csv module expects
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator, strict=strict)
    drawn = separator == "|"
    begin = first_line
    try:
        for row in reader:
            end = first_line + reader.line_num - 1
            if (len(row) > 1 or "".join(row).strip()) and not (drawn and is_ruled(row)):
                yield begin, end, row
            begin = end + 1
    except csv.Error as error:
        said = str(error)
        if "end of data" in said or "limit" in said:
            said = "a quotation mark is opened and never closed"
        elif "expected after" in said:
            said = "a quotation mark stands in the middle of a cell"
        raise InputError(
            f'line {begin}: {said}; write cells with quotation marks as "…" with every mark inside '
            "doubled."
        ) from None


def is_ruled(row: Sequence[str]) -> bool:
    """Whether a row is a line drawn below the header of a table in Markdown, or of a database.

    Examples
    --------
    >>> is_ruled(["", "---", ":--:", ""]), is_ruled(["-----+----"]), is_ruled(["+", "-"])
    (True, True, False)
    """
    return all(_RULE.fullmatch(cell.strip()) for cell in row)


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
