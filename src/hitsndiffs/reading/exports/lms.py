"""Learning platforms: Canvas, Blackboard, Brightspace, Gradescope, ILIAS, and QTI."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from xml.etree import ElementTree

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Choices, Document, Sample, Sign
from hitsndiffs.reading.exports.blocks import Blocks
from hitsndiffs.reading.exports.common import (
    attempt_number,
    folded,
    number,
    split_column,
    stem_of_name,
    unique,
    without_html,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.sheet import (
    ByQuestion,
    Question,
    Sheet,
    adjacent,
    cell_at,
    sheet_of,
    whole_cells,
)
from hitsndiffs.reading.vocabulary import plain

__all__ = ["FORMATS"]

# -- Canvas, classic quizzes: each question («12: text») is followed by its points («1.0») --------

_COMMA = r"(?<!\\),(?!\s)"  # Canvas puts no space after the comma between two options
_MOST_OPTIONS = 30  # a cell with more parts is one text
_LEAD = 6  # with this many columns before the questions, the last one may count the attempts
_PAIR = (
    r"(?P<item>\d{2,}):(?P<title>(?: .*)?)"
    r"(?:\n(?P<points>\d+(?:[.,]\d+)?)(?:_duplicated_\d+|[._]\d+)?)?"
)


def _find_canvas(sheet: Sheet) -> list[Question]:
    found = adjacent(sheet.names, _PAIR)
    if 2 * sum("points" in own for own, _ in found) <= len(found):
        return []
    return [
        Question(
            told["item"],
            own["item"],
            points=(own["points"],) if "points" in own else (),
            possible=number(told["points"]) if "points" in own else None,
            title=without_html(told["title"]),
            shown=tuple({own["item"], own.get("points", own["item"])}),
        )
        for own, told in found
    ]


def _attempt_of_canvas(sheet: Sheet, end: int) -> list[int]:
    """Return the column «attempt»; in other languages, the last before the questions."""
    named = sheet.named(("attempt",), end)
    cells = [cell.strip() for cell in sheet.cells(end - 1)] if end >= _LEAD else [""]
    counted = all(cell.isdigit() and int(cell) < 1000 for cell in cells)
    return named or ([end - 1] if counted else [])


def _ticked(cells: Sequence[str]) -> list[tuple[str, ...]]:
    r"""Split the answers to one question into options; ``\,`` is a comma within an option.

    Canvas writes ticked options in the order of the question. If two of them occur in both orders,
    they fill several blanks, and the whole cell is one answer.

    Examples
    --------
    >>> _ticked([r"Red,Blue\, dark", "Red", ""])
    [('Red', 'Blue, dark'), ('Red',), ()]
    >>> _ticked(["1,000", "2,000", "Well, so"])
    [('1,000',), ('2,000',), ('Well, so',)]
    >>> _ticked(["a,b", "b,a", "a,a"])
    [('a,b',), ('b,a',), ('a,a',)]
    """
    given = split_column(cells, _COMMA)
    if any("\\," in cell for cell in cells):
        given = [tuple(filter(None, map(str.strip, re.split(_COMMA, cell)))) for cell in cells]
    pairs = {
        pair for parts in {*given} if len(parts) <= _MOST_OPTIONS for pair in combinations(parts, 2)
    }
    if any((b, a) in pairs for a, b in pairs) or max(map(len, given), default=0) > _MOST_OPTIONS:
        given = whole_cells(cells)
    return [tuple(re.sub(r"\\(,|=>)", r"\1", part) for part in parts) for parts in given]


CANVAS = ByQuestion(_find_canvas, attempt=_attempt_of_canvas, split=_ticked).format(
    "canvas",
    "Canvas, Student Analysis (classic quizzes)",
    "Quiz statistics, «Student Analysis»: CSV, answers as text, points per question",
    "each question («number: text») is followed by a column of points («1.0»)",
    "two reports, one saved again by pandas",
)


# -- Canvas, New Quizzes: blocks of ItemID, ItemType, question, EarnedPoints, Status --------------

_OPEN = ("essay", "fileupload", "file", "upload", "text", "formula", "numeric", "stimulus")


def _find_canvas_new(sheet: Sheet) -> list[Question]:
    blocks = adjacent(
        sheet.names,
        r"(?P<id>ItemID)\d*\n(?P<kind>ItemType)\d*\n(?P<answer>.*)\n(?P<points>EarnedPoints)\d*\n"
        r"(?P<status>Status)\d*",
    )
    titles = [without_html(own.get("answer", "")) for _, own in blocks]
    found: dict[str, Question] = {}
    for (own, _), title, label in zip(blocks, titles, unique(titles), strict=True):
        kinds = {plain(cell) for cell in sheet.cells(own["kind"])} - {""}
        if kinds and all(kind.startswith(_OPEN) for kind in kinds):
            kind = ", ".join(sorted(kinds))
            sheet.set_role([own["answer"]], "comment", f"not a choice question ({kind})")
            continue
        ids = {cell.strip() for cell in sheet.cells(own["id"])} - {""}
        item = next(iter(ids)) if len(ids) == 1 else label
        item = label if item in found else item
        points, shown = (own["points"],), tuple(own.values())
        found[item] = Question(item, own["answer"], points=points, title=title, shown=shown)
    return list(found.values())


CANVAS_NEW = ByQuestion(
    _find_canvas_new, split=lambda cells: split_column(list(map(without_html, cells)), ",")
).format(
    "canvas-new-quizzes",
    "Canvas, Student Analysis (New Quizzes)",
    "New Quizzes reports, «Student Analysis»: CSV, a block of five columns per question",
    "blocks of ItemID, ItemType, question, EarnedPoints, Status repeat",
)


# -- Blackboard: Question ID, Question, Answer, Possible Points, Auto Score, Manual Score ---------

_BLACKBOARD = {
    "questionid": "id",
    "question": "text",
    "answer": "answer",
    "possiblepoints": "possible",
    "autoscore": "points",
    "manualscore": "more points",
}

BLACKBOARD = ByQuestion(
    Blocks(lambda name: _BLACKBOARD.get(plain(name)), need=("answer", "points"), one=True)
).format(
    "blackboard",
    "Blackboard Learn, test results",
    "Grade Center, «Download Results» (by user, or by question and user), tab or comma",
    "questions have the columns Answer, Auto Score and Manual Score",
)


# -- Brightspace: a row per option; in surveys, a line «User n» starts each person -----------------


def _brightspace(document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
    """Yield the options that are «Checked»; in surveys, those with a response."""
    sheet = sheet_of(document, choices, stream)
    answer, match, counted, tried, score, out_of, shown, kind, text, title = map(
        sheet.find,
        ("Answer", "Answer Match", "# Responses", "Attempt #", "Score", "Out Of", "Q #", "Q Type",
         "Q Text", "Q Title"),
    )  # fmt: skip
    identity = sheet.named(("orgdefinedid", "username", "firstname", "lastname"))
    who = sheet.people(identity) if identity or choices.user else _opened(sheet)
    sheet.set_role([answer], "answers", "the options; the chosen ones are marked")
    asked: dict[tuple[str, ...], list[list[str]]] = {}
    again = Counter[tuple[str, ...]]()
    for person, row in zip(who, sheet.rows, strict=True):
        item = without_html(cell_at(row, text)) or without_html(cell_at(row, title)).strip("'")
        if item and [cell.strip() for cell in row] != [name.strip() for name in sheet.header]:
            option = (person, item, cell_at(row, answer))
            again[option] += 1
            attempt = cell_at(row, tried) or str(again[option])
            asked.setdefault((person, attempt, item, cell_at(row, shown)), []).append(row)
    written = set()
    for (person, attempt, item, _), rows in asked.items():
        marks = [folded(cell_at(row, match)) for row in rows]
        options = [without_html(cell_at(row, answer)) for row in rows]
        checked = tuple(o for o, mark in zip(options, marks, strict=True) if mark == "checked")
        given, key = checked, tuple[str, ...]()
        if counted is not None:
            votes = [number(row[counted]) or 0 for row in rows]
            given, key = tuple(o for o, n in zip(options, votes, strict=True) if n > 0), checked
        elif not {*marks} <= {"checked", "unchecked"}:
            written.add(cell_at(rows[0], kind) or "no type")
            continue
        points, possible = (number(cell_at(rows[0], k)) for k in (score, out_of))
        tries = attempt_number(attempt)
        yield Given(person, item, given, key=key, attempt=tries, points=points, possible=possible)
    if written:
        stream.note(
            f"Questions of the types {', '.join(sorted(written))} are left out: they have no "
            "options to check."
        )


def _opened(sheet: Sheet) -> list[str]:
    """Return the person of each row: in surveys, a line «User 1» stands above the rows of each."""
    who, person = [], ""
    for row in (*sheet.above, *sheet.rows):
        given = [cell.strip() for cell in row if cell.strip()]
        found = next((cell for cell in given if re.fullmatch(r"\D{2,40}\s\d+", cell)), "")
        person = found if found and len(given) <= 3 else person
        who.append(person)
    return who[len(sheet.above) :]


BRIGHTSPACE = Format(
    "brightspace",
    "D2L Brightspace, Attempt Details",
    "Quiz statistics, «Attempt Details»: CSV, a row per option",
    (
        Sign(
            "each row is an option that a person checked or left («Answer Match»)",
            ("q #", "q type", "answer", "answer match", r"username|org defined id|attempt #"),
            without="# responses",
        ),
    ),
    _brightspace,
    tried="a quiz",
    empty=(
        "a Brightspace report without a question that has options",
        "only questions of the types MC, T/F and M-S can be ranked",
    ),
    nobody=(
        "a Brightspace report without the names of the people",
        "export «Attempt Details» with «Username» or «Org Defined ID»",
    ),
)
_COUNTS = (
    "a Brightspace report of counts per option, without individual answers",
    "export «Attempt Details» (quizzes) or the individual attempts (surveys) instead",
)
BRIGHTSPACE_SURVEY = Format(
    "brightspace-survey",
    "D2L Brightspace, survey attempts",
    "Survey reports with individual attempts («User 1»); counts alone are refused",
    (Sign("options are counted («# Responses»)", ("q #", "q type", "answer", "# responses")),),
    _brightspace,
    tried="a report of counts, which is refused",
    empty=_COUNTS,
    nobody=_COUNTS,
    key_from="the options marked «Checked»",
)


# -- Gradescope: «Export Evaluations», a column per rubric item, true or false --------------------

_FIRST = ("assignment submission id", "question submission id")
_AFTER = ("adjustment", "comments", "grader", "tags")
_BELOW = ("point values", "rubric numbers", "rubric type", "scoring method", "scoring type")


def _find_gradescope(sheet: Sheet) -> list[Question]:
    names = [folded(name) for name in sheet.header]
    rows = [row for row in sheet.rows if not any(folded(c).rstrip(":") in _BELOW for c in row[:10])]
    start = names.index("submission time") + 1 if "submission time" in names else 8
    end = min((names.index(name) for name in _AFTER if name in names), default=len(names))
    if tuple(names[:2]) != _FIRST or not rows or start >= end:
        return []
    sheet.keep_rows(rows, "rows below the table", "they describe the rubric")
    ticked = [
        tuple(
            " ".join(sheet.header[k].split()) for k in range(start, end) if folded(row[k]) == "true"
        )
        for row in sheet.rows
    ]
    item = re.sub(r"^\d+_", "", stem_of_name(sheet.name)).replace("_", " ").strip()
    sheet.people(sheet.named(("firstname", "lastname", "sid", "email", "name")) or [0])
    sheet.stream.note(
        "The options are the rubric items that the graders ticked, not what the students wrote."
    )
    score, also = tuple(sheet.named(("score",))), tuple(range(start + 1, end))
    return [Question(item, start, points=score, also=also, given=ticked)]


GRADESCOPE = Format(
    "gradescope",
    "Gradescope, evaluations",
    "«Export Evaluations»: a zip with one CSV per question, rubric items true or false",
    (
        Sign(
            "evaluations by rubric, one submission per row",
            holds=lambda sample: tuple(map(folded, sample.header[:2])) == _FIRST,
        ),
    ),
    ByQuestion(_find_gradescope),
    empty=(
        "a Gradescope export without rubric items",
        "«Export Evaluations» of an assignment graded with a rubric",
    ),
)


# -- ILIAS: a table of points, then a sheet per person, in any language ----------------------------

#: The columns of a person's sheet: title, type, answer, right answers, variables, points, maximum.
_WIDTH = 7
#: Names of sheets are cut to this many characters; the table of points has at least these columns.
_SHEET_NAME, _FEWEST = 26, 16


def _sheets_of_people(sample: Sample) -> Sequence[str]:
    """Return the sheets from the first on that is named like somebody in the table of points."""
    for place in (0, 1) if len(sample.header) >= _FEWEST else ():
        names = {row[place][:_SHEET_NAME].strip() for row in sample.full_rows}
        if len(names) > 1 and names <= {*sample.sheets}:
            return sample.sheets[min(map(sample.sheets.index, names)) :]
    return ()


def _ilias(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    for person in _sheets_of_people(document.sample):
        table, attempt, titles = document.table(person), 0, Counter[str]()
        above = False
        for row in [*table.above, table.header, *table.rows]:
            starts = sum(bool(cell.strip()) for cell in row) == 1  # the title of an attempt
            if starts:
                attempt, titles = attempt + 1, Counter()
            elif not above and len(row) >= _WIDTH:  # no header
                title = " ".join(row[0].split())
                titles[title] += 1
                yield Given(
                    person,
                    title if titles[title] == 1 else f"{title} ({titles[title]})",
                    tuple(row[2].splitlines()),
                    attempt=max(attempt, 1),
                    key=tuple(row[3].splitlines()),
                    points=number(row[5]),
                    possible=number(row[6]),
                )
            above = starts


ILIAS = Format(
    "ilias",
    "ILIAS, test results",
    "The results of a test as xlsx: a table of points, then a sheet per person",
    (
        Sign(
            "each person in the table of points has a sheet",
            holds=lambda sample: bool(_sheets_of_people(sample)),
        ),
    ),
    _ilias,
    empty=(
        "an ILIAS export whose sheets have no columns of answers",
        "export the results again with a newer version, or give a table with a row per person",
    ),
    key_from="the right answers in the sheets",
)


# -- QTI (TAO and other test platforms): an XML file per person and test ---------------------------

#: In 2.1, 2.2 and 3.0 the namespace ends differently.
_NAMESPACE = "http://www.imsglobal.org/xsd/imsqti_result_v"
#: Variables that every item has besides the answer.
_ABOUT = ("numAttempts", "duration")
#: What people choose: one option, or several. Pairs, points and files are no choices.
_CHOSEN = ("identifier", "boolean", "integer", "string", "")


def _is_qti(sample: Sample) -> bool:
    return sample.kind == "text" and "assessmentResult" in sample.text and _NAMESPACE in sample.text


def _qti(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    text = document.text()
    if "<!ENTITY" in text:
        raise InputError(f"{document.name}: entities in XML are not read; remove them.")
    try:
        root = ElementTree.fromstring(text)  # decoded: the encoding that it names is past
    except ElementTree.ParseError as error:
        raise InputError(f"{document.name}: this is not valid XML ({error}).") from None
    session = root.find("{*}context/{*}sessionIdentifier")
    named = (_named(root.find("{*}context"), "sourcedId"), _named(session, "identifier"))
    person = next(filter(None, named), stem_of_name(document.name))
    for item in root.iterfind("{*}itemResult"):
        found = [v for v in item.iterfind("{*}responseVariable") if _named(v) not in _ABOUT]
        scores = {
            _named(v): next(iter(_values(v, "{*}value")), "")
            for v in item.iterfind("{*}outcomeVariable")
        }
        tried = item.find("{*}responseVariable[@identifier='numAttempts']/{*}candidateResponse")
        alone = len(found) == 1
        for own in found:
            if own.get("baseType", "") in _CHOSEN:
                yield Given(
                    person,
                    _named(item) if alone else f"{_named(item)}.{_named(own)}",
                    _values(own, "{*}candidateResponse/{*}value"),
                    key=_values(own, "{*}correctResponse/{*}value"),
                    attempt=1 if tried is None else attempt_number("".join(tried.itertext())),
                    points=number(scores.get("SCORE", "")) if alone else None,
                    possible=number(scores.get("MAXSCORE", "")) if alone else None,
                    is_text=own.get("baseType") == "string",
                )


def _named(element: ElementTree.Element | None, attribute: str = "identifier") -> str:
    return "" if element is None else element.get(attribute, "")


def _values(variable: ElementTree.Element, path: str) -> tuple[str, ...]:
    found = [text for one in variable.iterfind(path) if (text := (one.text or "").strip())]
    if variable.get("cardinality") == "multiple" and len(found) == 1:  # TAO: [a; b] in one value
        found = [text.strip() for text in found[0].strip("[]").split(";")]
    return tuple(filter(None, found))


QTI = Format(
    "qti-results",
    "QTI results (TAO and others)",
    "An assessmentResult as XML (2.1, 2.2, 3.0) per person and test; give the folder or the zip",
    (Sign("it is an assessmentResult of QTI", holds=_is_qti),),
    _qti,
    empty=(
        "a QTI result without answers by choice",
        "only interactions with options can be ranked",
    ),
    key_from="the correct responses",
)

FORMATS = (CANVAS, CANVAS_NEW, BLACKBOARD, BRIGHTSPACE, BRIGHTSPACE_SURVEY, GRADESCOPE, ILIAS, QTI)
