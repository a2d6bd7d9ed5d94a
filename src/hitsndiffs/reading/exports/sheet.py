"""Tables with one or several columns per question: who answered, and what.

A format declares where the columns of a question are (:class:`ByQuestion`); the rest is the same
for all of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.reading.exports.base import (
    MOST_COLUMNS,
    Choices,
    Document,
    Refusal,
    Role,
    Sample,
    Sign,
    Status,
    has_index,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    attempt_number,
    is_free_text,
    number,
    objects,
    unique,
    without_html,
    words,
    worth,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream, number_attempts
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.layouts.rows import row_names
from hitsndiffs.reading.patterns import named_together
from hitsndiffs.reading.vocabulary import (
    FIRST_NAMES,
    LAST_NAMES,
    bare_names,
    folded,
    is_key_name,
    plain,
    role_of_name,
)

__all__ = [
    "ByQuestion",
    "Question",
    "Sheet",
    "Splitter",
    "Table",
    "adjacent",
    "cell_at",
    "html_cells",
    "option_columns",
    "sheet_of",
    "whole_cells",
]

#: Turns the cells of a column into options; None where a cell cannot be read.
Splitter = Callable[[Sequence[str]], Sequence[tuple[str, ...] | None]]


def whole_cells(cells: Sequence[str]) -> list[tuple[str, ...]]:
    """Return each cell as one option."""
    return [(text,) if (text := cell.strip()) else () for cell in cells]


def html_cells(cells: Sequence[str]) -> list[tuple[str, ...]]:
    """Return each cell, without HTML, as one option."""
    return whole_cells(list(map(without_html, cells)))


@dataclass
class Table:
    """A whole table without blank lines; cells are text and rows are as wide as the header.

    Parameters
    ----------
    header
        The names as written, by position (names may repeat).
    rows
        The rows below the header.
    above
        The rows above the header.
    lines
        The line (or the row of the sheet, from 1) where each row begins.
    """

    header: list[str]
    rows: list[list[str]]
    above: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The header without the suffixes that data-frame libraries add to repeated names."""
        return bare_names(self.header)

    def find(self, *names: str) -> int | None:
        """Return the index of the first name found as a column, ignoring case."""
        header = [folded(name) for name in self.header]
        return next((header.index(folded(n)) for n in names if folded(n) in header), None)

    def cells(self, place: int) -> list[str]:
        """Return the cells of a column."""
        return [row[place] for row in self.rows]


@dataclass
class Question:
    """One question of a table with a row per person (or per person and thing judged).

    Parameters
    ----------
    item
        Its name, or a name per row where each person saw another question (blank: none).
    answer
        The column of the answers.
    key
        The column of the right answer.
    points
        The columns of the points; the last that is not blank counts.
    possible
        The points that it is worth, or the column that says so.
    title
        Its text, where its name is a number or a code.
    shown
        Columns that are all blank where the question was not shown.
    also
        More columns that belong to the answers.
    given, keys
        The options chosen (None: unreadable) and the right ones in each row, where a format reads
        them itself.
    sparse
        Whether a row without an answer was not asked.
    """

    item: str | Sequence[str]
    answer: int
    key: int | None = None
    points: tuple[int, ...] = ()
    possible: float | int | None = None
    title: str = ""
    shown: tuple[int, ...] = ()
    also: tuple[int, ...] = ()
    given: Sequence[tuple[str, ...] | None] | None = None
    keys: Sequence[tuple[str, ...]] | None = None
    sparse: bool = False

    @property
    def columns(self) -> set[int]:
        """All its columns."""
        several = (*self.points, *self.shown, *self.also)
        return {self.answer, *several, *([] if self.key is None else [self.key])}


@dataclass
class Sheet(Table):
    """A table that a converter reads: the file's name, what the caller said, the stream to fill.

    ``who`` is the person of each row, once it is known.
    """

    name: str = ""
    choices: Choices = field(default_factory=Choices)
    stream: Stream = field(default_factory=Stream)
    who: list[str] | None = None

    # -- columns --------------------------------------------------------------------------------

    def set_role(self, places: Iterable[int | None], role: Role, reason: str) -> None:
        """Record the role of some columns; None stands for a column that is not there."""
        for k in places:
            if k is not None:
                self.stream.set_role(self.header[k], role, reason, k)

    def rest_unused(self, reason: str) -> None:
        """Record the columns that have no role yet as unused."""
        known = {column.position for column in self.stream.columns}
        self.set_role((k for k in range(len(self.header)) if k not in known), "unused", reason)

    def named(self, words: Collection[str], end: int | None = None) -> list[int]:
        """Return the columns (before ``end``) with one of these names, without signs."""
        return [k for k, name in enumerate(self.header[:end]) if plain(name) in words]

    def asked_for(self, named: str | None, argument: str) -> list[int]:
        """Return the columns that the caller named (``"a+b"`` for two)."""
        names = [] if named is None else named_together(named, self.header)
        return [
            self.header.index(find_column(n, self.header, where="the file", argument=argument))
            for n in names
        ]

    # -- rows -----------------------------------------------------------------------------------

    def keep_rows(self, rows: list[list[str]], what: str, reason: str) -> None:
        """Keep some of the rows, and say what the others are and why they are left out."""
        if len(rows) < len(self.rows):
            self.stream.leave_out(len(self.rows) - len(rows), what, reason)
        self.rows = rows

    def find_people(self, questions: Collection[int]) -> list[int]:
        """Return the columns beside the questions that tell who answered."""
        beside = [k for k in range(len(self.header)) if k not in questions]
        names = {k: self.header[k] for k in beside}
        given = {k: [cell for cell in map(str.strip, self.cells(k)) if cell] for k in beside}
        differ = [k for k in beside if 2 * len({*given[k]}) > len(self.rows)]
        roles = {k: role_of_name(names[k]) for k in beside}
        known = {*recognise("user", names.values(), wide=True)}
        ids = [k for k in differ if roles[k] == "identity" or plain(names[k]).endswith("id")]
        parts = FIRST_NAMES | LAST_NAMES
        named = [k for k in beside if names[k] in known or plain(names[k]) in parts or k in ids]
        telling = [
            k
            for k in differ
            if k < min(questions)
            and roles[k] in (None, "identity")
            and look_at(given[k]).kind != "time"
        ]
        return [k for k in named if given[k]] or telling[:3]

    def people(
        self,
        places: Sequence[int],
        reason: str = "who answered",
        role: Role = "identity",
        also: Sequence[int] = (),
    ) -> list[str]:
        """Return the person of each row, and record by which columns.

        Other columns may ``also`` name somebody; a row in which one says «KEY» holds the key.
        """
        self.set_role(places, role, reason)
        if not places and not self.choices.user:
            self.stream.note("The file does not say who answered: each row counts as one person.")
        self.who = self.persons(places)
        columns = {self.header[k]: self.cells(k) for k in (*places, *also)}
        for labels in row_names(columns).values():
            for k, label in enumerate(labels):
                self.who[k] = label if is_key_name(label) else self.who[k]
        return self.who

    def persons(self, places: Sequence[int]) -> list[str]:
        """Return the person of each row, from all columns that identify people.

        Two rows belong to the same person if all these columns agree. The label is the name if
        names are unique, else the first column that is unique, else all columns joined. A row where
        they are all blank counts as a separate person. The caller may name the columns (``user``).
        Without any column, each row is a person, named by its number.

        Examples
        --------
        >>> header, ada = ["Last name", "First name", "ID"], ["Bird", "Ada", "7"]
        >>> Sheet(header, [ada, ["Cole", "Bob", "8"], ada]).persons([0, 1, 2])
        ['Ada Bird', 'Bob Cole', 'Ada Bird']
        >>> Sheet(header, [ada, ["Bird", "Ada", "8"]]).persons([0, 1, 2])
        ['7', '8']
        """
        asked = self.asked_for(self.choices.user, "user")
        places = asked or places
        if not places:
            return [str(k) for k in range(1, len(self.rows) + 1)]
        rows = [tuple([row[place].strip() for place in places]) for row in self.rows]
        rows = [
            who if any(who) else (f"unnamed row {k}", *who[1:])
            for k, who in enumerate(rows, start=1)
        ]
        found = list(dict.fromkeys(rows))
        names = [plain(self.header[place]) for place in places]
        first = [k for k, name in enumerate(names) if name in FIRST_NAMES][:1]
        last = [k for k, name in enumerate(names) if name in LAST_NAMES and k not in first][:1]
        parts = [*first, *last] if first and last else []
        every = list(range(len(places)))
        single_columns = [[k] for k in every if k not in parts]
        for label in [every] if asked else [parts, *single_columns, every]:
            labels = [" ".join(filter(None, (who[k] for k in label))) for who in found]
            if all(labels) and len(set(labels)) == len(labels):
                break
        else:
            labels = unique(text or "unnamed" for text in labels)
        names_of = dict(zip(found, labels, strict=True))
        return [names_of[who] for who in rows]

    # -- questions ------------------------------------------------------------------------------

    def ask(
        self,
        questions: Sequence[Question],
        who: Sequence[str],
        *,
        tasks: Sequence[str] = (),
        attempts: Sequence[int] = (),
        split: Splitter = whole_cells,
    ) -> Iterator[Given]:
        """Yield the answers to all questions, and record what their columns are.

        Parameters
        ----------
        questions
            The columns of each question.
        who
            The person of each row.
        tasks
            What each row is about, where it is one of several things that are judged: with several
            questions, the items are named ``task/question``. A row without a task is passed over.
        attempts
            The number of the attempt in each row.
        split
            Turns the cells of a column into options; None where a cell cannot be read.
        """
        per_answer = bool(tasks) or all(not isinstance(one.item, str) for one in questions)
        if not attempts and not per_answer:
            attempts = number_attempts(who)
        for one in questions:
            self.set_role([one.answer, *one.also], "answers", "the answers to a question")
            self.set_role([one.key], "key", "the right answer")
            out_of = one.possible if isinstance(one.possible, int) else None
            self.set_role([*one.points, out_of], "points", "the points of a question")
            given = split(self.cells(one.answer)) if one.given is None else one.given
            keys = one.keys
            if keys is None and one.key is not None:
                keys = [found or () for found in split(self.cells(one.key))]
            for k, row in enumerate(self.rows):
                item = one.item if isinstance(one.item, str) else one.item[k]
                if tasks:
                    item = tasks[k] if len(questions) == 1 or not tasks[k] else f"{tasks[k]}/{item}"
                answer = given[k]
                if one.sparse and not answer:
                    continue
                scores = [text for place in one.points if (text := row[place].strip())]
                points, possible = worth(scores[-1]) if scores else (None, None)
                if possible is None:
                    possible = one.possible if out_of is None else number(cell_at(row, out_of))
                status: Status | None = "unreadable" if answer is None else None
                if one.shown and not any(row[place].strip() for place in one.shown):
                    status = "not shown"
                yield Given(
                    who[k],
                    item,
                    answer or (),
                    key=keys[k] if keys is not None else (),
                    title=one.title if isinstance(one.item, str) else "",
                    attempt=attempts[k] if attempts else 0,
                    points=points,
                    possible=possible,
                    status=status,
                )


@dataclass(frozen=True)
class ByQuestion:
    """A table with one or several columns per question: how to read it.

    Parameters
    ----------
    find
        Returns the questions of a table, or nothing if it has another format. It may leave out
        rows, take notes, and say who answered.
    who
        Finds the columns that say who answered, unless ``find`` says so.
    attempt
        Finds the column with the number of the attempt.
    split
        Turns the cells of a column into options.
    """

    find: Callable[[Sheet], list[Question]]
    who: Callable[[Sheet, set[int]], list[int]] = Sheet.find_people
    attempt: Callable[[Sheet, int], list[int]] = lambda sheet, _: sheet.named(("attempt",))
    split: Splitter = whole_cells

    def format(
        self, name: str, title: str, about: str, because: str, tried: str = "", key_from: str = ""
    ) -> Format:
        """Return the format with this name, recognised by its questions; see :class:`Format`."""
        signs = (Sign(because, holds=self.fits),)
        return Format(name, title, about, signs, self, tried=tried, key_from=key_from)

    def fits(self, sample: Sample) -> bool:
        """Whether there are questions in the beginning of a table."""
        known = sample.is_table and len(sample.header) <= MOST_COLUMNS
        return known and bool(self.find(Sheet(list(sample.header), sample.full_rows)))

    def __call__(self, document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
        """Yield the answers in a table."""
        sheet = sheet_of(document, choices, stream)
        questions = [one for one in self.find(sheet) if _is_choice(sheet, one, self.split)]
        if not questions:
            return
        if not sheet.rows:
            raise Refusal("a table of questions without answers", "give one that was filled in")
        used = {k for one in questions for k in one.columns}
        people = sheet.people(self.who(sheet, used)) if sheet.who is None else sheet.who
        tried = self.attempt(sheet, min(used))[:1]
        sheet.set_role(tried, "attempt", "the number of the attempt")
        numbers = [attempt_number(row[k]) for row in sheet.rows for k in tried]
        yield from sheet.ask(questions, people, attempts=numbers, split=self.split)
        sheet.rest_unused("no question")


def _is_choice(sheet: Sheet, one: Question, split: Splitter) -> bool:
    """Whether the cells of a question may be options; if not, record what they are."""
    if one.given is not None:
        return True
    one.given = split(sheet.cells(one.answer))
    cells = ["; ".join(own or ()) for own in one.given]
    content = look_at(cells)
    measured = ("time", "link", "mail", *(() if one.points else ("measure",)))
    if content.kind in measured or role_of_name(sheet.header[one.answer]) == "time":
        sheet.set_role([one.answer], "time", "times, numbers or addresses")
        return False
    if is_free_text(cells) or (not one.points and content.n_filled > 1 and content.all_different):
        sheet.set_role([one.answer], "comment", "free text: hardly any two answers alike")
        return False
    return True


#: Where cells are blank, data-frame libraries write whole numbers so.
_FLOAT = re.compile(r"(?:-?\d+\.0)?")


def sheet_of(
    document: Document, choices: Choices, stream: Stream, name: str | None = None
) -> Sheet:
    """Return the table in a document, to fill a stream from it; records are rows, too."""
    table = _table_of_records(document) if document.kind in ("json", "jsonl") else None
    table = table or document.table(name)
    start = int(has_index(table.header, table.rows))
    rows = [row[start:] for row in table.rows] if start else table.rows
    for k in {k for row in rows[:100] for k, cell in enumerate(row) if cell.endswith(".0")}:
        if all(_FLOAT.fullmatch(row[k]) for row in rows):
            for row in rows:
                row[k] = row[k].removesuffix(".0")
    return Sheet(
        table.header[start:],
        rows,
        table.above,
        name=document.name,
        choices=choices,
        stream=stream,
    )


def _table_of_records(document: Document) -> Table:
    rows = [row for record in document.records() for row in objects(record)]
    header = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[as_text(row.get(key)) for key in header] for row in rows]
    return Table([str(key) for key in header], cells, lines=list(range(1, len(cells) + 1)))


# -- which columns belong to a question ------------------------------------------------------------


def adjacent(header: Sequence[str], pattern: str) -> list[tuple[dict[str, int], dict[str, str]]]:
    r"""Return the columns of each question by a pattern of neighbouring names, one in each line.

    Each question is given by the places of its columns and by their texts, as the groups name them.

    Examples
    --------
    >>> adjacent(["Name", "7: Why?", "1.0"], r"(?P<item>\d+): (?P<title>.*)\n(?P<points>[\d.]+)")
    [({'item': 1, 'title': 1, 'points': 2}, {'item': '7', 'title': 'Why?', 'points': '1.0'})]
    """
    names = [" ".join(name.split()) for name in header]
    starts = list(accumulate((len(name) + 1 for name in names), initial=0))
    found = []
    for match in re.finditer(f"^{pattern}$", "\n".join(names), re.MULTILINE | re.IGNORECASE):
        texts = {part: text for part, text in match.groupdict().items() if text is not None}
        places = {part: bisect_right(starts, match.start(part)) - 1 for part in texts}
        found.append((places, texts))
    return found


_YES = words("y|yes|ja|oui|sí|si|sim|да|tak|1|1.0|true|on|checked|x")
_NO = words("|n|no|nein|non|nee|não|нет|nie|0|0.0|false|off|unchecked|n/a|na|-99|not selected")


def option_columns(
    sheet: Sheet, item: str, columns: dict[str, int], title: str = "", *, rows: str = "{} - {}"
) -> list[Question]:
    """Return the questions in columns that belong together, by the label of each.

    Where cells are ticked or not, columns are options: the set of those ticked is the answer. If
    telling the sets apart takes more than telling for each option whether it was ticked, each
    option is a question of its own, whose answer is the option or «no»; who ticked none was not
    asked. Otherwise each column is a row of a grid, named as ``rows`` says.
    """
    cells = {label: [folded(cell) for cell in sheet.cells(k)] for label, k in columns.items()}
    if len(columns) < 2 or not _are_ticks(cells):
        return [Question(rows.format(item, label), k, title=title) for label, k in columns.items()]
    on = {label: [text not in _NO for text in own] for label, own in cells.items()}
    sets = [tuple(o for o in columns if on[o][k]) for k in range(len(sheet.rows))]
    first, *also = columns.values()
    if len({*sets} - {()}) - 1 <= len(columns):
        return [Question(item, first, title=title, also=tuple(also), given=sets)]
    return [
        Question(
            f"{item} - {label}",
            k,
            title=title,
            given=[((label if label in own else "no",) if own else ()) for own in sets],
        )
        for label, k in columns.items()
    ]


def _are_ticks(cells: dict[str, list[str]]) -> bool:
    """Whether each cell says yes or no, or is blank or the one text that its column has."""
    texts = set().union(*cells.values())
    if texts <= _YES | _NO:
        return not texts.isdisjoint(_YES) and not texts.isdisjoint(_NO)
    several = (set(own) - {"", "-99"} for own in cells.values())
    return all(len(own) <= 1 for own in several) and "" in texts


def cell_at(row: Sequence[str], place: int | None) -> str:
    """Return a stripped cell of a row; blank if there is no such column (None)."""
    return "" if place is None else row[place].strip()
