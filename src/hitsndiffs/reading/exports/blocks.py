"""Tables with several columns per question, which share its number: R/exams and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from hitsndiffs.reading.exports.common import folded, single, without_html, words
from hitsndiffs.reading.exports.sheet import ByQuestion, Question, Sheet, cell_at, html_cells
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["FORMATS", "Blocks"]

#: The columns of one question, by what they hold.
Block = dict[str, int]


@dataclass(frozen=True)
class Blocks:
    """How to find the questions of a table by the numbers in the names of their columns.

    Parameters
    ----------
    part_of
        What a column holds, by its name without the number: ``"answer"``, ``"key"`` (the right
        answer), ``"right"`` (whether it was given), ``"points"``, ``"more points"``,
        ``"possible"``, ``"text"`` and ``"id"`` of the question, or ``"about"`` for anything else;
        None if it belongs to no question.
    need
        What each question has.
    one
        Whether a single question may have no number.
    fewest
        With fewer questions, it is another table.
    version, test
        Names of the columns that tell versions of a test, and tests, apart.
    letters
        Whether each letter in a cell is a mark.
    """

    part_of: Callable[[str], str | None]
    need: Collection[str] = ("answer",)
    one: bool = False
    fewest: int = 1
    version: Collection[str] = ()
    test: Collection[str] = ()
    letters: bool = False

    def __call__(self, sheet: Sheet) -> list[Question]:
        """Return the questions of a table."""
        found = numbered(sheet.header, self.part_of, one=self.one)
        blocks = {k: own for k, own in found.items() if own.keys() >= {*self.need}}
        alone = sum(len(own) == 1 for own in blocks.values())
        if len(blocks) < self.fewest or 2 * alone >= len(blocks):
            return []
        checked = [own for own in blocks.values() if "right" in own and "key" not in own]
        if not {folded(c) for own in checked for c in sheet.cells(own["right"])} <= _SAYS_RIGHT:
            for own in checked:  # «correct» is the right answer, not yes or no
                own["key"] = own.pop("right")
        keys = [sheet.cells(own["key"]) for own in blocks.values() if "key" in own]
        read = _reader([sheet.cells(own["answer"]) for own in blocks.values()], keys)
        if self.letters:
            read = _marks(any(len(cell.strip()) > 1 for cells in keys for cell in cells))
        for own in blocks.values():
            sheet.set_role([own.get("text"), own.get("id")], "item", "the question")
            sheet.set_role([own.get("about")], "unused", "about the answer")
        return [
            Question(
                items,
                own["answer"],
                own.get("key"),
                tuple(own[p] for p in ("right", "points", "more points") if p in own),
                own.get("possible"),
                shown=tuple(own.values()),
                given=read(sheet.cells(own["answer"])),
                keys=[k or () for k in read(sheet.cells(own["key"]))] if "key" in own else None,
            )
            for own, items in zip(blocks.values(), self._items(sheet, blocks), strict=True)
        ]

    def _items(self, sheet: Sheet, blocks: Mapping[str, Block]) -> list[list[str]]:
        """Return the item in each row of each question.

        It is the text of the question, with its id where texts repeat; without a text, its number,
        with the test if there are several. Versions with different keys have other questions.
        """
        if any("text" in own or "id" in own for own in blocks.values()):
            return _by_text(sheet, blocks)
        first = min(min(own.values()) for own in blocks.values())
        versions, tests = (
            [row[places[0]].strip() if places else "" for row in sheet.rows]
            for places in (sheet.named(self.version, first), sheet.named(self.test, first))
        )
        keys: dict[tuple[str, int], dict[str, str]] = {}
        for row, version, test in zip(sheet.rows, versions, tests, strict=True):
            for place in (own["key"] for own in blocks.values() if "key" in own):
                if row[place].strip():
                    keys.setdefault((test, place), {}).setdefault(version, row[place].strip())
        if any(len({*own.values()}) > 1 for own in keys.values()):
            told = f"The {len({*versions})} versions have different keys"
            sheet.stream.note(f"{told}: their questions are separate items.")
        else:
            versions = [""] * len(versions)
        several = len({*tests}) > 1
        return [
            [
                (f"{test}/" if several and test else "") + label + (f" (version {v})" if v else "")
                for v, test in zip(versions, tests, strict=True)
            ]
            for label in blocks
        ]


_NUMBERED = (
    re.compile(r"(?P<part>\D+?)[\s._\-#(\[]*(?P<number>\d{1,3})[)\]]?"),
    re.compile(
        r"(?:q|question|item|frage|pregunta)?[\s._\-#]*(?P<number>\d{1,3})[\s._\-:]+(?P<part>\D+)",
        re.IGNORECASE,
    ),
)


def numbered(
    header: Sequence[str], part_of: Callable[[str], str | None], *, one: bool = False
) -> dict[str, Block]:
    """Return the columns of each question by number and part: a number somewhere, a part elsewhere.

    ``part_of`` says what a column is by its name without the number. With ``one``, a single
    question may have no number.

    Examples
    --------
    >>> numbered(["id", "Stu10", "Key10", "Stu2"], {"Stu": "answer", "Key": "key"}.get)
    {'2': {'answer': 3}, '10': {'answer': 1, 'key': 2}}
    >>> numbered(["Q1 - Answer", "Answer [2]"], {"Answer": "answer"}.get)
    {'1': {'answer': 0}, '2': {'answer': 1}}
    """
    found: dict[int, Block] = {}
    for place, name in enumerate(header):
        matches = (own.fullmatch(name.strip()) for own in _NUMBERED if len(name) <= 60)
        match = next(filter(None, matches), None)
        part = part_of(match["part"] if match else name) if match or one else None
        if part is not None:
            found.setdefault(int(match["number"]) if match else -1, {}).setdefault(part, place)
    return {"" if number < 0 else str(number): found[number] for number in sorted(found)}


def _by_text(sheet: Sheet, blocks: Mapping[str, Block]) -> list[list[str]]:
    texts: list[list[str]] = []
    codes: list[list[str]] = []
    ids: dict[str, set[str]] = {}
    for label, own in blocks.items():
        texts.append([without_html(cell_at(row, own.get("text"))) for row in sheet.rows])
        codes.append([cell_at(row, own.get("id")) for row in sheet.rows])
        for k, (text, code) in enumerate(zip(texts[-1], codes[-1], strict=True)):
            if not text and not code and label and sheet.rows[k][own["answer"]].strip():
                codes[-1][k] = f"Question {label}"
            ids.setdefault(text, set()).add(code)
    return [
        [
            f"{text} ({code})" if text and code and len(ids[text]) > 1 else text or code
            for text, code in zip(*own, strict=True)
        ]
        for own in zip(texts, codes, strict=True)
    ]


# -- what the cells say ----------------------------------------------------------------------------

#: Turns the cells of a column into options; None where a cell cannot be read.
Reader = Callable[[Sequence[str]], list[tuple[str, ...] | None]]

_SAYS_RIGHT = words("|true|false|yes|no|y|n|1|0|c|x|i|correct|incorrect|right|wrong")
_BITS = re.compile(r"[01]{1,10}")


def _reader(answers: Sequence[Sequence[str]], keys: Sequence[Sequence[str]]) -> Reader:
    """Return how to read the cells; if each has a 0 or 1 per option (``01000``), those with 1.

    Saved again by a spreadsheet, some have lost the zeros in front.
    """
    given = {cell.strip() for own in (*answers, *keys) for cell in own} - {""}
    most = max(map(len, given), default=0)
    alike = most > 1 and min(map(len, given)) == most
    if not all(map(_BITS.fullmatch, given)) or not (alike or most > 2):
        return lambda cells: list(html_cells(cells))

    def letters(cell: str) -> tuple[str, ...]:
        bits = cell.strip().zfill(most) if cell.strip() else ""
        return tuple(chr(ord("A") + k) for k, bit in enumerate(bits) if bit == "1")

    return lambda cells: list(map(letters, cells))


def _marks(several: bool) -> Reader:
    """Return how to read letters: all of them, or none where only one may be marked."""

    def read(cell: str) -> tuple[str, ...] | None:
        text = cell.strip()
        if len(text) > 1 and text.isalpha():
            return tuple(text) if several else None
        return single(text)

    return lambda cells: list(map(read, cells))


# -- R/exams and others: answer.1, solution.1, points.1, answer.2, … -------------------------------

_ANSWERS = words(
    "answer|answers|options|response|responses|choice|chosen|selected|selection|studentanswer|"
    "studentresponse|givenanswer|youranswer|marked|antwort|réponse|respuesta|risposta|resposta|"
    "antwoord|svar|odpowiedź|ответ|回答|解答|答案|응답"
)
_CHECKS = words("check|checked|result|status|feedback|time|duration|comment")
_VERSIONS = words("exam|form|version|testform|keyversion|booklet|variant|set|examset")


def _part(name: str) -> str | None:
    text, role = plain(name), role_of_name(name)
    if text in _ANSWERS:
        return "answer"
    if role in ("key", "points") and text not in _CHECKS:
        return role
    if text in ("correct", "iscorrect", "right"):
        return "right"
    return "about" if text in _CHECKS else None


QUESTION_BLOCKS = ByQuestion(Blocks(_part, fewest=2, version=_VERSIONS)).format(
    "question-blocks",
    "Several columns per question (R/exams and others)",
    "answer.1, solution.1, points.1, answer.2, …: found by their numbers",
    "columns for answer and key or points repeat with 1, 2, 3, …",
    key_from="the columns of right answers",
)

FORMATS = (QUESTION_BLOCKS,)
