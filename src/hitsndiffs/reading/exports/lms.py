"""Learning platforms with one row per student: Canvas, Blackboard, Gradescope."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import (
    folded,
    is_free_text,
    number,
    split_column,
    stem_of_name,
    unique,
    without_html,
)
from hitsndiffs.reading.exports.sheet import (
    ByQuestion,
    Question,
    Sheet,
    adjacent,
    by_table,
    cell_at,
    html_cells,
    numbered,
)
from hitsndiffs.reading.vocabulary import plain

__all__ = ["BLACKBOARD", "CANVAS", "CANVAS_NEW", "GRADESCOPE", "ILIAS"]

# -- Canvas, classic quizzes: each question («12: text») is followed by its points («1.0») --------

_COMMA = re.compile(r"(?<!\\),")
_MOST_OPTIONS = 30  # a cell with more parts is one text
_LEAD = 6  # with this many columns before the questions, the first two name the person


def _find_canvas(sheet: Sheet) -> list[Question]:
    found = adjacent(
        sheet.names, r"(?P<item>\d{2,}):(?P<title>(?: .*)?)\n(?P<points>\d+(?:[.,]\d+)?)"
    )
    places = [own["item"] for own, _ in found]
    if not found or places != list(range(places[0], places[-1] + 1, 2)):
        return []
    texts = [k for k in places if is_free_text(sheet.cells(k))]
    sheet.set_role(texts, "comment", "free text")
    return [
        Question(
            own["item"],
            k,
            points=(k + 1,),
            possible=number(own["points"]),
            title=without_html(own["title"]),
            shown=(k, k + 1),
        )
        for k, (_, own) in zip(places, found, strict=True)
        if k not in texts
    ]


def _who_canvas(sheet: Sheet, end: int) -> list[int]:
    places = sheet.named(("name", "id", "sisid"), end)
    if not places and end >= _LEAD:  # in other languages
        found = {tuple(row[:2]) for row in sheet.rows}
        places = [0, 1] if 2 * len(found) > len(sheet.rows) else []
    return places


def _attempt_canvas(sheet: Sheet, end: int) -> list[int]:
    named = sheet.named(("attempt",), end)
    if named or end < _LEAD:
        return named
    cells = [cell.strip() for cell in sheet.cells(end - 1)]
    return [end - 1] if all(cell.isdigit() and int(cell) < 1000 for cell in cells) else []


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
    split = {cell: _parts(cell) for cell in set(cells)}
    several = [parts for parts in split.values() if len(parts) > 1]
    pairs = {pair for parts in several for pair in combinations(parts, 2)}
    if any((b, a) in pairs for a, b in pairs):
        several = []
    counts = Counter(part for parts in split.values() for part in set(parts))
    mentioned = {part for parts in several for part in parts}
    shared = sum(counts[part] > 1 for part in mentioned)
    escaped = any("\\," in cell for cell in split)
    if several and (escaped or 2 * shared > len(mentioned)):
        return [split[cell] for cell in cells]
    return [(text,) if (text := _plain_text(cell)) else () for cell in cells]


def _parts(cell: str) -> tuple[str, ...]:
    # Canvas puts no space after the comma between two options.
    parts = _COMMA.split(cell)
    if len(parts) > _MOST_OPTIONS or any(part[:1].isspace() for part in parts[1:]):
        parts = [cell]
    return tuple(text for part in parts if (text := _plain_text(part)))


def _plain_text(text: str) -> str:
    return text.replace("\\,", ",").replace("\\=>", "=>").strip()


CANVAS = ByQuestion(
    _find_canvas,
    "each question («number: text») is followed by a column of points («1.0»)",
    who=_who_canvas,
    attempt=_attempt_canvas,
    split=_ticked,
).format(
    "canvas",
    "Canvas, Student Analysis (classic quizzes)",
    "Quiz statistics, «Student Analysis»: CSV, answers as text, points per question",
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
    _find_canvas_new,
    "blocks of ItemID, ItemType, question, EarnedPoints, Status repeat",
    who=lambda sheet, end: (
        sheet.named(("name", "id", "sisid"), end) or sheet.named(("anonymousid",), end)
    ),
    attempt=("attempt",),
    split=lambda cells: split_column(list(map(without_html, cells)), ","),
).format(
    "canvas-new-quizzes",
    "Canvas, Student Analysis (New Quizzes)",
    "New Quizzes reports, «Student Analysis»: CSV, a block of five columns per question",
)


# -- Blackboard: Question ID, Question, Answer, Possible Points, Auto Score, Manual Score ---------

_BLOCK = {
    name: name
    for name in ("questionid", "question", "answer", "possiblepoints", "autoscore", "manualscore")
}


def _part(name: str) -> str | None:
    return _BLOCK.get(plain(name))


def _find_blackboard(sheet: Sheet) -> list[Question]:
    blocks = {
        label: own
        for label, own in numbered(sheet.header, _part, one=True).items()
        if "answer" in own and ("autoscore" in own or "manualscore" in own)
    }
    items = _drawn_questions(sheet, blocks)
    texts = [own[p] for own in blocks.values() for p in ("questionid", "question") if p in own]
    sheet.set_role(texts, "item", "the question")
    return [
        Question(
            items[label],
            own["answer"],
            points=tuple(own[p] for p in ("autoscore", "manualscore") if p in own),
            possible=own.get("possiblepoints"),
        )
        for label, own in blocks.items()
    ]


def _drawn_questions(sheet: Sheet, blocks: dict[str, dict[str, int]]) -> dict[str, list[str]]:
    """Return the question in each row of each block: its text, with its id where texts repeat."""
    found: dict[str, list[tuple[str, str]]] = {}
    ids: dict[str, set[str]] = {}
    for label, own in blocks.items():
        found[label] = []
        for row in sheet.rows:
            text = without_html(cell_at(row, own.get("question")))
            code = cell_at(row, own.get("questionid"))
            if not text and not code and label and row[own["answer"]].strip():
                code = f"Question {label}"
            found[label].append((text, code))
            ids.setdefault(text, set()).add(code)
    return {
        label: [
            (f"{text} ({code})" if len(ids[text]) > 1 and code else text) if text else code
            for text, code in pairs
        ]
        for label, pairs in found.items()
    }


def _who_blackboard(sheet: Sheet, end: int) -> list[int]:
    blocks = numbered(sheet.header, _part, one=True).values()
    end = min([end, *(place for own in blocks for place in own.values())])
    places = sheet.named(("username", "lastname", "firstname", "studentid"), end)
    if not places and not end:
        raise Refusal(
            "a Blackboard download without the names of the students",
            "download the results «by user»",
        )
    return places or list(range(min(end, 3)))


BLACKBOARD = ByQuestion(
    _find_blackboard,
    "questions have the columns Answer, Auto Score and Manual Score",
    who=_who_blackboard,
    split=html_cells,
).format(
    "blackboard",
    "Blackboard Learn, test results",
    "Grade Center, «Download Results» (by user, or by question and user), tab or comma",
)


# -- Gradescope: «Export Evaluations», a column per rubric item, true or false --------------------

_FIRST = ("assignment submission id", "question submission id")
_AFTER = ("adjustment", "comments", "grader", "tags")
_BELOW = ("point values", "rubric numbers", "rubric type", "scoring method", "scoring type")


def _recognise_gradescope(sample: Sample) -> str | None:
    names = tuple(folded(name) for name in sample.header[:2])
    return "evaluations by rubric, one submission per row" if names == _FIRST else None


def _fill_gradescope(sheet: Sheet) -> None:
    names = [folded(name) for name in sheet.header]
    rows = [row for row in sheet.rows if not any(folded(c).rstrip(":") in _BELOW for c in row[:10])]
    start = names.index("submission time") + 1 if "submission time" in names else 8
    end = min((names.index(name) for name in _AFTER if name in names), default=len(names))
    if tuple(names[:2]) != _FIRST or not rows or start >= end:
        raise Refusal(
            "a Gradescope export without rubric items",
            "«Export Evaluations» of an assignment graded with a rubric",
        )
    sheet.keep_rows(rows, "rows below the table", "they describe the rubric")
    labels = [" ".join(name.split()) for name in sheet.header]
    ticked = [
        tuple(labels[k] for k in range(start, end) if folded(row[k]) == "true")
        for row in sheet.rows
    ]
    item = re.sub(r"^\d+_", "", stem_of_name(sheet.name)).replace("_", " ").strip()
    score = tuple(sheet.named(("score",)))
    who = sheet.people(sheet.named(("firstname", "lastname", "sid", "email", "name")) or [0])
    also = tuple(range(start + 1, end))
    sheet.ask([Question(item, start, points=score, also=also, given=ticked)], who)
    sheet.stream.notes.append(
        "The options are the rubric items that the graders ticked, not what the students wrote."
    )


GRADESCOPE = Format(
    "gradescope",
    "Gradescope, evaluations",
    "«Export Evaluations»: a zip with one CSV per question, rubric items true or false",
    _recognise_gradescope,
    by_table(_fill_gradescope),
)


# -- ILIAS: a table of points, then a sheet per person, in any language ----------------------------

#: The columns of a person's sheet: title, type, answer, right answers, variables, points, maximum.
_WIDTH = 7
#: Names of sheets are cut to this many characters; the table of points has at least these columns.
_SHEET_NAME, _FEWEST = 26, 16


def _sheets_of_people(sample: Sample) -> Sequence[str]:
    """Return the sheets from the first on that is named like somebody in the table of points."""
    if len(sample.header) < _FEWEST:
        return ()
    for place in (0, 1):
        names = {row[place][:_SHEET_NAME].strip() for row in sample.full_rows}
        if len(names) > 1 and names <= {*sample.sheets}:
            return sample.sheets[min(map(sample.sheets.index, names)) :]
    return ()


def _recognise_ilias(sample: Sample) -> str | None:
    return "each person in the table of points has a sheet" if _sheets_of_people(sample) else None


def _read_ilias(document: Document, _: Choices) -> Stream:
    stream = Stream(key_from="the right answers in the sheets")
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
                stream.add(
                    person,
                    title if titles[title] == 1 else f"{title} ({titles[title]})",
                    row[2].splitlines(),
                    attempt=max(attempt, 1),
                    key=row[3].splitlines(),
                    points=number(row[5]),
                    possible=number(row[6]),
                )
            above = starts
    if not stream.persons:
        raise Refusal(
            "an ILIAS export whose sheets have no columns of answers",
            "export the results again with a newer version, or give a table with a row per person",
        )
    return stream


ILIAS = Format(
    "ilias",
    "ILIAS, test results",
    "The results of a test as xlsx: a table of points, then a sheet per person",
    _recognise_ilias,
    _read_ilias,
)
