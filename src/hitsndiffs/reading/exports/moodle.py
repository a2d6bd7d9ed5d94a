"""Moodle quizzes: the «Responses» download (CSV, xlsx, ods, JSON), in any language.

The columns are found by their structure (a grade such as ``Grade/10.00``, then names that repeat
with 1, 2, 3…), because Moodle translates the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Refusal, Sample, Sign
from hitsndiffs.reading.exports.format import Format
from hitsndiffs.reading.exports.sheet import ByQuestion, Question, Sheet
from hitsndiffs.reading.vocabulary import bare_names, folded

__all__ = ["FORMATS", "is_points_only"]

# -- which columns belong to which question --------------------------------------------------------

_GRADE = re.compile(r"\S.*/\s*\d+[.,]\d+", re.DOTALL)
#: Sites without decimals, and JSON, where only letters and digits remain.
_LOOSE_GRADES = (re.compile(r"\S.*/\s*\d+", re.DOTALL), re.compile(r"[a-z]+\d+00"))
_POINTS = re.compile(r"\D{0,12}?\s?\d+\w?\s*/\s*\d+(?:[.,]\d+)?")
_NUMBERED = re.compile(r"(?P<prefix>.*?\D)\s*(?P<number>\d{1,3})(?P<part>[a-z]?)", re.DOTALL)

_WORDS = {
    "question": "question|frage|pregunta|domanda|vraag|pergunta|questão|fråga|вопрос|問題|"
    "题目|试题|otázka|pytanie|spørgsmål|spørsmål|kysymys|kérdés|soru|ερώτηση|pitanje|întrebare",
    "response": "response|antwort|réponse|rponse|respuesta|risposta data|antwoord|resposta|svar|"
    "ответ|解答|回答|odpověď|odpowiedź|vastaus|válasz|yanıt|απάντηση|odgovor|răspuns",
    "right": "right answer|correct answer|rightanswer|richtige antwort|richtigeantwort|"
    "réponse correcte|rponsecorrecte|bonne réponse|respuesta correcta|respuestacorrecta|"
    "risposta giusta|rispostagiusta|risposta corretta|juist antwoord|juistantwoord|"
    "resposta correta|respostacorreta|rätt svar|rttsvar|правильный ответ|正解|标准答案|"
    "správná odpověď|poprawna odpowiedź|rigtigt svar|riktig svar|oikea vastaus|helyes válasz",
}
_KNOWN = {word: role for role, words in _WORDS.items() for word in words.split("|")}


def word_of(name: str) -> str | None:
    """Return ``"question"``, ``"response"`` or ``"right"``, or None for an unknown word.

    Examples
    --------
    >>> word_of("Response 1"), word_of("Правильный ответ: 3"), word_of("標準 1")
    ('response', 'right', None)
    """
    match = _NUMBERED.fullmatch(name.strip())
    return _KNOWN.get(folded(match["prefix"] if match else name).rstrip(" :._-"))


def find_grade(header: Sequence[str], *, loose: bool = False) -> int | None:
    """Return the index of the grade of the whole quiz: ``Grade/10.00``; ``loose``: ``Grade/10``."""
    for pattern in (_GRADE, *_LOOSE_GRADES) if loose else (_GRADE,):
        for k, name in enumerate(map(str.strip, header)):
            if pattern.fullmatch(name) and not _POINTS.fullmatch(name):
                return k
    return None


def is_points_only(header: Sequence[str]) -> bool:
    """Whether at least two questions (``Q. 1 /1.00``) hold points, after a grade."""
    points = [k for k, name in enumerate(header) if _POINTS.fullmatch(name.strip())]
    grade = find_grade(header) if points else None
    return grade is not None and sum(k > grade for k in points) >= 2


def find_blocks(header: Sequence[str]) -> list[list[int]]:
    """Return the columns of each question: names that repeat with 1, 2, 3…, next to each other.

    A column without a number belongs to the question before it (Italian «Risposta giusta»).

    Examples
    --------
    >>> find_blocks(["Nome", "Valutazione/10,00", "Risposta data 1", "Risposta giusta",
    ...              "Risposta data 2", "Risposta giusta_duplicated_0"])
    [[2, 3], [4, 5]]
    """
    names = [name.strip() for name in bare_names(header)]
    parsed = [_NUMBERED.fullmatch(name) if len(name) < 200 else None for name in names]
    numbers: dict[str, list[int]] = {}
    for match in filter(None, parsed):
        numbers.setdefault(match["prefix"].strip(), []).append(int(match["number"]))
    series = {prefix: own for prefix, own in numbers.items() if _counts_up(own)}
    most = max(map(len, series.values()), default=0)
    labels = [
        match["number"] + match["part"]
        if match and 2 * len(series.get(match["prefix"].strip(), ())) >= max(most, 1)
        else None
        for match in parsed
    ]
    start = next((k for k, label in enumerate(labels) if label is not None), len(names))
    repeats = Counter(names[k] for k in range(start, len(names)) if labels[k] is None)
    fewest = max(1, len({*labels} - {None}) // 2)
    blocks: dict[str, list[int]] = {}
    current = ""
    for k in range(start, len(names)):
        current = labels[k] or current
        again = bool(names[k]) and repeats[names[k]] > fewest
        if labels[k] is not None or again or word_of(names[k]) == "right":
            blocks.setdefault(current, []).append(k)
    return [places for places in blocks.values() if len(places) <= 4]


def _counts_up(numbers: list[int]) -> bool:
    return numbers[0] == 1 and all(0 <= b - a <= 2 for a, b in pairwise(numbers))


def is_moodle(header: Sequence[str]) -> bool:
    """Whether a header is that of a «Responses» report."""
    blocks = find_blocks(header)
    if not blocks:
        return False
    words = {word_of(header[place]) for place in blocks[0]}
    grade = find_grade(header[: blocks[0][0]], loose=words != {None})
    return grade is not None or {"right", "response"} <= words


# -- persons and attempts ----------------------------------------------------------------------

_DATE = re.compile(r"\d.*\d{1,2}[:.]\d{2}")


def _read_lead(sheet: Sheet, blocks: list[list[int]]) -> list[int]:
    """Keep the finished attempts, a row each; return the columns that say who."""
    end = blocks[0][0]
    grade, n_rows = find_grade(sheet.header[:end], loose=True), len(sheet.rows)
    dated = (
        k for k in range(end) if 2 * sum(map(bool, map(_DATE.search, sheet.cells(k)))) > n_rows
    )
    started = next(dated, None)
    # the state stands before the time of the start, unless somebody took it out
    state = started - 1 if started and _repeats(sheet.cells(started - 1)) else None
    identity = list(range(next((k for k in (state, started, grade) if k is not None), end)))
    rows = [row for row in sheet.rows if not _is_average(row, identity, end)]
    sheet.keep_rows(rows, "average rows", "they belong to no person")
    sheet.rows = _fill_identity(sheet.rows, identity)
    done = [row for row in sheet.rows if not _unfinished(row, state, grade, started, end)]
    reason = "the attempt was not started or not finished"
    sheet.keep_rows(done, "unfinished attempts", reason)
    if state is not None and not all(row[state].strip() for row in sheet.rows):
        tries = _merged(sheet.rows, identity, state, [k for block in blocks for k in block])
        sheet.keep_rows(tries, "later tries", "the first answer to each question counts")
    sheet.set_role([grade] if grade is not None else [], "points", "the grade of the whole quiz")
    sheet.set_role([state] if state is not None else [], "status", "the state of the attempt")
    rest = [k for k in range(len(identity), end) if k not in (grade, state)]
    sheet.set_role(rest, "time", "when, and how long")
    return identity


def _repeats(cells: Sequence[str]) -> bool:
    return len(cells) < 4 or 2 * len({*cells}) <= len(cells)


def _nothing(cell: str) -> bool:
    return cell.strip() in ("", "-")


def _is_average(row: Sequence[str], identity: Sequence[int], end: int) -> bool:
    """Whether a row has one name («Overall average»), and neither a state nor answers."""
    named = sum(not _nothing(row[k]) for k in identity)
    state = row[len(identity) : len(identity) + 1]
    unsaid = all(map(_nothing, state)) or all(map(_nothing, row[end:]))
    return len(identity) > 1 and named <= 1 and unsaid


def _unfinished(
    row: Sequence[str], state: int | None, grade: int | None, started: int | None, end: int
) -> bool:
    """Whether nothing was submitted: no answers, or neither a grade nor a completion time."""
    if all(_nothing(cell) for cell in row[end:]):
        return True
    if started is None or grade is None or state is None or not row[state].strip():
        return False
    return row[grade].strip() == "-" and row[started + 1].strip() == "-"


def _fill_identity(rows: list[list[str]], identity: Sequence[int]) -> list[list[str]]:
    """Fill identity cells that are blank from the second try on."""
    filled: list[list[str]] = []
    for row in rows:
        known = [k for k in identity if row[k].strip()]
        if filled and 0 < len(known) < len(identity):
            before = filled[-1]
            if all(row[k] == before[k] for k in known):
                row = [before[k] if k in identity else cell for k, cell in enumerate(row)]
        filled.append(row)
    return filled


def _merged(
    rows: list[list[str]], identity: list[int], state: int, answers: list[int]
) -> list[list[str]]:
    """Return the first of several tries of each attempt, filled from the others.

    In reports of all tries, only the last row of an attempt has the state.
    """
    kept: list[list[str]] = []
    open_try: list[str] | None = None
    for row in rows:
        if open_try is not None and all(row[k] == open_try[k] for k in identity):
            for k in answers:
                open_try[k] = row[k] if _nothing(open_try[k]) else open_try[k]
        else:
            kept.append(row)
            open_try = row
        if row[state].strip():
            open_try = None
    return kept


# -- questions -------------------------------------------------------------------------------------

_SEPARATOR = re.compile(r"\s*;\s+|\s+;\s*|;$")
_STACK = re.compile(r"^Seed: \d+;|\bans\d+: .*\[(?:score|valid|invalid)\]|\bprt\d+: ")
_MOST_STEMS = 0.95  # with this share of equal texts or keys, it is one question that was edited


def _parts(sheet: Sheet, blocks: list[list[int]]) -> tuple[int | None, int | None, int | None]:
    """Return which column of each block holds the question, the response and the right answer."""
    first = blocks[0]
    words = [word_of(sheet.header[place]) for place in first]
    if len(first) >= 3:
        return 0, 1, 2
    if len(first) == 1:
        return None, None if words[0] == "question" else 0, None
    if words[0] == "question" and words[1] == "right":
        return 0, None, 1
    if words[0] == "question" or (words[1] == "response" and words[0] != "response"):
        return 0, 1, None
    if words[1] == "right" or words[0] == "response":
        return None, 0, 1
    # Unknown words: a question lists the options, so its text contains the response.
    pairs = [(row[first[0]], row[first[1]]) for row in sheet.rows]
    pairs = [(a, b) for a, b in pairs if not _nothing(a) and not _nothing(b)]
    held = sum(len(a) > len(b) + 3 and _options(b)[0] in a for a, b in pairs)
    return (0, 1, None) if 2 * held > len(pairs) else (None, 0, 1)


def _question(
    sheet: Sheet, question: int | None, response: int | None, right: int | None
) -> Question | None:
    """Return the question in some columns; None if it cannot be ranked."""
    if response is None:
        return None
    name = sheet.header[response].strip()
    given = [cell for cell in sheet.cells(response) if not _nothing(cell)]
    if given and sum(bool(_STACK.search(answer)) for answer in given) * 2 > len(given):
        sheet.set_role([response], "comment", "algebra (STACK), no options")
        return None
    if question is not None:
        sheet.set_role([question], "item", "the text of the question")
        return Question(_items(sheet, question, name), response, right)
    keys = [] if right is None else [frozenset(_options(cell)) for cell in sheet.cells(right)]
    if 0.0 < _largest_share(filter(None, keys)) < _MOST_STEMS:
        reason = (
            "its right answer differs from person to person, so it is a different question for "
            "each; download again with the question text ticked"
        )
        sheet.set_role([response], "unused", reason)
        sheet.stream.notes.append(f"«{name}» is left out: {reason}.")
        return None
    return Question(name, response, right)


def _items(sheet: Sheet, question: int, name: str) -> str | list[str]:
    """Return the item: the column, or the text in each row if questions are drawn at random."""
    texts = sheet.cells(question)
    signs = [tuple(sorted(_SPLIT.split(text.strip()))) for text in texts]
    share = _largest_share(s for s, text in zip(signs, texts, strict=True) if text.strip())
    if share >= _MOST_STEMS or share == 0.0:
        if texts:
            sheet.stream.titles[name] = _stem(texts[0])
        return name
    first: dict[tuple[str, ...], str] = {}
    stems = [first.setdefault(sign, _stem(text)) for sign, text in zip(signs, texts, strict=True)]
    note = "Questions are drawn at random: items are told apart by their text."
    if note not in sheet.stream.notes:
        sheet.stream.notes.append(note)
    return [stem or name for stem in stems]


_SPLIT = re.compile(r"\s*[:;]\s+|\s+[:;]\s*")


def _stem(text: str) -> str:
    """Return the part of ``stem: option; option`` before the options."""
    stem, mark, options = text.strip().rpartition(": ")
    return stem.strip() if mark and ";" in options else text.strip()


def _largest_share(values: Iterable[Any]) -> float:
    """Return the share of the most common value, or 0 if there are no values."""
    counts = Counter(values)
    return max(counts.values()) / counts.total() if counts else 0.0


@lru_cache(maxsize=1 << 16)
def _options(cell: str) -> tuple[str, ...]:
    """Split a response into options; drop Moodle's quote before ``=``, ``+``, ``-``, ``@``.

    Examples
    --------
    >>> _options("Blue; Red"), _options("'-3"), _options("-"), _options("a   ; b")
    (('Blue', 'Red'), ('-3',), (), ('a', 'b'))
    """
    text = re.sub(r"^'(?=[=+\-@])", "", cell.strip())
    parts = tuple(part.strip() for part in _SEPARATOR.split(text) if part.strip())
    return () if _nothing(cell) else parts or (text,)


# -- the format ------------------------------------------------------------------------------------


def _is_responses(sample: Sample) -> bool:
    return (sample.is_table or sample.is_json) and is_moodle([*sample.header, *sample.first])


def _find(sheet: Sheet) -> list[Question]:
    found = find_blocks(sheet.header)
    widths = Counter(map(len, found))
    blocks = [own for own in found if len(own) == max(widths, key=widths.__getitem__)]
    parts = _parts(sheet, blocks) if blocks else (None, None, None)
    if parts[1] is None:
        return []
    odd = [k for own in found if own not in blocks for k in own]
    if odd:
        sheet.set_role(odd, "unused", "other columns than those of the other questions")
        names = listed([sheet.header[k].strip() for k in odd], most=3)
        sheet.stream.notes.append(f"Left out {names}: the other questions have other columns.")
    identity = _read_lead(sheet, blocks)
    sheet.people(identity)
    rows = [[None if k is None else block[k] for k in parts] for block in blocks]
    questions = [one for own in rows if (one := _question(sheet, *own)) is not None]
    if not questions and any(column.role == "unused" for column in sheet.stream.columns):
        raise Refusal(
            "a Moodle report of questions drawn at random, without their texts",
            "download it again with «question text» ticked",
        )
    return questions


MOODLE = Format(
    "moodle",
    "Moodle, quiz responses",
    "Quiz results, «Responses»: CSV, xlsx, ods or JSON, in any language",
    (Sign("a grade («Grade/10.00»), then columns that repeat with 1, 2, 3…", holds=_is_responses),),
    ByQuestion(_find, split=lambda cells: list(map(_options, cells))),
    tried="a quiz of 2025, and a German one with algebra",
    key_from="the columns of right answers",
    empty=(
        "a Moodle «Responses» report without a choice question",
        "download it with «response» ticked; only questions with options can be ranked",
    ),
)

FORMATS = (MOODLE,)
