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
    """Return ``"question"``, ``"response"`` or ``"right"``, or None for an unknown word."""
    match = _NUMBERED.fullmatch(name.strip())
    return _KNOWN.get(folded(match["prefix"] if match else name).rstrip(" :._-"))


def find_grade(header: Sequence[str], *, loose: bool = False) -> int | None:
    """Return the index of the grade of the whole quiz: ``Grade/10.00``; ``loose``: ``Grade/10``."""
    for pattern in (_GRADE, *_LOOSE_GRADES) if loose else (_GRADE,):
        for k, name in enumerate(map(str.strip, header)):
            if pattern.fullmatch(name) and not _POINTS.fullmatch(name):
                return k
    return None


def find_blocks(header: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the columns of each question, by number and by what stands before the number.

    A column without a number belongs to the question before it (Italian «Risposta giusta»).

    Examples
    --------
    >>> find_blocks(["Nome", "Voto/10,00", "Data 1", "Risposta giusta", "Data 2",
    ...              "Risposta giusta_duplicated_0"])
    {'1': {'Data': 2, 'Risposta giusta': 3}, '2': {'Data': 4, 'Risposta giusta': 5}}
    """
    names = [name.strip() for name in bare_names(header)]
    parsed = [_NUMBERED.fullmatch(name) if len(name) < 200 else None for name in names]
    numbers: dict[str, list[int]] = {}
    for found in filter(None, parsed):
        numbers.setdefault(found["prefix"].strip(), []).append(int(found["number"]))
    counts = {part: len(own) for part, own in numbers.items() if _counts_up(sorted(own))}
    most = max(counts.values(), default=0)
    series = {part for part, n in counts.items() if 2 * n >= most}
    repeats = Counter(names)
    blocks: dict[str, dict[str, int]] = {}
    current = ""
    for k, (name, match) in enumerate(zip(names, parsed, strict=True)):
        if match and match["prefix"].strip() in series:
            current = match["number"] + match["part"]
            blocks.setdefault(current, {}).setdefault(match["prefix"].strip(), k)
        elif current and (word_of(name) == "right" or (name and 2 * repeats[name] > most > 1)):
            blocks[current].setdefault(name, k)
    return blocks


def _counts_up(numbers: list[int]) -> bool:
    return 0 < numbers[0] <= 2 and all(b - a <= 2 for a, b in pairwise(numbers))


def is_points_only(sample: Sample) -> bool:
    """Whether at least two questions (``Q. 1 /1.00``) hold points, after a grade."""
    header = [*sample.header, *sample.first]
    points = [k for k, name in enumerate(header) if _POINTS.fullmatch(name.strip())]
    grade = find_grade(header) if points else None
    return grade is not None and sum(k > grade for k in points) >= 2


def _is_responses(sample: Sample) -> bool:
    header = [*sample.header, *sample.first] if sample.is_table or sample.is_json else []
    blocks = find_blocks(header)
    if not blocks:
        return False
    words = {word_of(part) for block in blocks.values() for part in block}
    first = min(k for block in blocks.values() for k in block.values())
    grade = find_grade(header[:first], loose=words != {None})
    return grade is not None or {"right", "response"} <= words


# -- persons and attempts ----------------------------------------------------------------------

_DATE = re.compile(r"\d.*\d{1,2}[:.]\d{2}")


def _read_lead(sheet: Sheet, end: int) -> bool:
    """Say who answered, in finished attempts; return whether each row is a try of an attempt.

    Then only the last row of an attempt has the state, and only the first may say who it is.
    """
    grade, rows = find_grade(sheet.header[:end], loose=True), sheet.rows
    dated = [sum(map(bool, map(_DATE.search, sheet.cells(k)))) for k in range(end)]
    started = next((k for k, n in enumerate(dated) if 2 * n > len(rows)), None)
    # the state stands before the time of the start, unless somebody took it out
    before = sheet.cells(started - 1) if started else []
    repeats = before and (len(before) < 4 or 2 * len({*before}) <= len(before))
    state = started - 1 if started and repeats else None
    identity = range(next((k for k in (state, started, grade) if k is not None), end))
    ended = [k for k in (grade, None if started is None else started + 1) if k is not None]
    done = [
        row
        for row in rows
        if not all(map(_nothing, row[end:]))
        and not (ended and all(row[k].strip() == "-" for k in ended))
    ]
    reason = "averages, and attempts that were not started or not finished"
    sheet.keep_rows(done, "unfinished attempts", reason)
    tries = state is not None and not all(row[state].strip() for row in done)
    for last, row in pairwise(done):
        known = [k for k in identity if row[k].strip()]
        if 0 < len(known) < len(identity) and all(row[k] == last[k] for k in known):
            row[: len(identity)] = last[: len(identity)]
            tries = True
    sheet.set_role([grade], "points", "the grade of the whole quiz")
    sheet.set_role([state], "status", "the state of the attempt")
    rest = [k for k in range(len(identity), end) if k not in (grade, state)]
    sheet.set_role(rest, "time", "when, and how long")
    sheet.people(identity)
    return tries


def _nothing(cell: str) -> bool:
    return cell.strip() in ("", "-")


# -- questions -------------------------------------------------------------------------------------

_SEPARATOR = re.compile(r"\s*;\s+|\s+;\s*|;$")
_STACK = re.compile(r"^Seed: \d+;|\bans\d+: .*\[(?:score|valid|invalid)\]|\bprt\d+: ")
_MOST_STEMS = 0.95  # with this share of equal texts or keys, it is one question that was edited


def _parts(sheet: Sheet, block: dict[str, int]) -> dict[str, str]:
    """Return which columns of a block hold the question, the response and the right answer."""
    parts = [*block]
    known = {word: part for part in parts if (word := word_of(part))}
    unknown = [part for part in parts if part not in known.values()]
    if len(parts) == 2 and not known:
        # a question lists the options, so its text contains the response
        pairs = [(row[block[parts[0]]], row[block[parts[1]]]) for row in sheet.rows]
        pairs = [(a, b) for a, b in pairs if not _nothing(a) and not _nothing(b)]
        held = sum(len(a) > len(b) + 3 and _options(b)[0] in a for a, b in pairs)
        roles = ["question", "response"] if 2 * held > len(pairs) else ["response", "right"]
    else:
        roles = ["question", "response", "right"] if len(parts) > 2 else ["response", "right"]
    return known | dict(zip((role for role in roles if role not in known), unknown, strict=False))


def _question(
    sheet: Sheet, question: int | None, response: int, right: int | None, tries: bool
) -> Question | None:
    """Return the question in some columns; None if it cannot be ranked."""
    name = sheet.header[response].strip()
    given = [cell for cell in sheet.cells(response) if not _nothing(cell)]
    shown = (response,) if tries else ()
    if tries:  # what was not answered in one try may be answered in the next
        for row in sheet.rows:
            row[response] = "" if _nothing(row[response]) else row[response]
    if given and sum(bool(_STACK.search(answer)) for answer in given) * 2 > len(given):
        sheet.set_role([response], "comment", "algebra (STACK), no options")
        return None
    if question is not None:
        sheet.set_role([question], "item", "the text of the question")
        return Question(_items(sheet, question, name), response, right, shown=shown)
    keys = [] if right is None else [frozenset(_options(cell)) for cell in sheet.cells(right)]
    if 0.0 < _largest_share(filter(None, keys)) < _MOST_STEMS:
        reason = (
            "its right answer differs from person to person, so it is a different question for "
            "each; download again with the question text ticked"
        )
        sheet.set_role([response], "unused", reason)
        sheet.stream.note(f"«{name}» is left out: {reason}.")
        return None
    return Question(name, response, right, shown=shown)


def _items(sheet: Sheet, question: int, name: str) -> str | list[str]:
    """Return the item: the column, or the text in each row if questions are drawn at random."""
    texts = sheet.cells(question)
    signs = [tuple(sorted(_SPLIT.split(text.strip()))) for text in texts]
    share = _largest_share(s for s, text in zip(signs, texts, strict=True) if text.strip())
    if share >= _MOST_STEMS or share == 0.0:
        sheet.stream.titles[name] = _stem(next(iter(texts), ""))
        return name
    first: dict[tuple[str, ...], str] = {}
    stems = [first.setdefault(sign, _stem(text)) for sign, text in zip(signs, texts, strict=True)]
    sheet.stream.note("Questions are drawn at random: items are told apart by their text.")
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


def _find(sheet: Sheet) -> list[Question]:
    found = find_blocks(sheet.header)
    kinds = Counter(map(frozenset, found.values()))
    blocks = [own for own in found.values() if own.keys() == max(kinds, key=kinds.__getitem__)]
    parts = _parts(sheet, blocks[0]) if blocks else {}
    if "response" not in parts:
        return []
    odd = [k for own in found.values() if own not in blocks for k in own.values()]
    if odd:
        sheet.set_role(odd, "unused", "other columns than those of the other questions")
        names = listed([sheet.header[k].strip() for k in odd], most=3)
        sheet.stream.note(f"Left out {names}: the other questions have other columns.")
    tries = _read_lead(sheet, min(k for own in found.values() for k in own.values()))
    places = [{role: own[part] for role, part in parts.items()} for own in blocks]
    questions = [
        _question(sheet, own.get("question"), own["response"], own.get("right"), tries)
        for own in places
    ]
    if not any(questions) and any(column.role == "unused" for column in sheet.stream.columns):
        raise Refusal(
            "a Moodle report of questions drawn at random, without their texts",
            "download it again with «question text» ticked",
        )
    return [one for one in questions if one is not None]


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
