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

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, number_attempts
from hitsndiffs.reading.exports.common import folded
from hitsndiffs.reading.exports.sheet import Question, Sheet, by_table

__all__ = ["MOODLE", "is_moodle", "is_points_only"]

# -- which columns belong to which question --------------------------------------------------------

_GRADE = re.compile(r"^\S.*/\s*\d+[.,]\d+$", re.DOTALL)
_WHOLE_GRADE = re.compile(r"^\S.*/\s*\d+$", re.DOTALL)
_POINTS = re.compile(r"^\D{0,12}?\s?\d+\w?\s*/\s*\d+(?:[.,]\d+)?$")
_NUMBERED = re.compile(r"^(?P<prefix>.*?\D)\s*(?P<number>\d{1,3})(?P<part>[a-z]?)$", re.DOTALL)
_RENAMED = re.compile(r"(?:_duplicated_\d+|\.\d+|_\d+)$")

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
    match = _NUMBERED.match(name.strip())
    prefix = match["prefix"] if match else _RENAMED.sub("", name)
    return _KNOWN.get(folded(prefix).rstrip(" :._-"))


def find_grade(header: Sequence[str], *, whole: bool = False) -> int | None:
    """Return the index of the grade of the whole quiz (``Grade/10.00``).

    With ``whole``, accept ``Grade/10`` too, as sites without decimals write it. In JSON, only the
    letters and digits of the name remain (``grade1000``).
    """
    for pattern in (_GRADE, _WHOLE_GRADE) if whole else (_GRADE,):
        for k, name in enumerate(header):
            if pattern.match(name.strip()) and not _POINTS.match(name.strip()):
                return k
    for k, name in enumerate(header):
        match = re.fullmatch(r"([a-z]+)(\d{3,})", name)
        if match and match[2].endswith("00"):
            return k
    return None


def is_points_only(header: Sequence[str]) -> bool:
    """Whether at least two questions (``Q. 1 /1.00``) hold points, after a grade."""
    points = [k for k, name in enumerate(header) if _POINTS.match(name.strip())]
    grade = find_grade(header)
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
    parsed = [_numbered(name) for name in header]
    numbers: dict[str, list[int]] = {}
    for pair in parsed:
        if pair is not None:
            numbers.setdefault(pair[0], []).append(int(re.sub(r"\D", "", pair[1])))
    counting = {prefix for prefix, places in numbers.items() if _counts_up(places)}
    most = max((len(numbers[prefix]) for prefix in counting), default=0)
    counting = {prefix for prefix in counting if 2 * len(numbers[prefix]) >= most}
    if not counting:
        return []
    numbered = [pair[1] if pair and pair[0] in counting else None for pair in parsed]
    start = next(k for k, label in enumerate(numbered) if label is not None)
    bases = [_RENAMED.sub("", name).strip() for name in header]
    repeats = Counter(bases[k] for k in range(start, len(header)) if numbered[k] is None)
    n_questions = len({label for label in numbered if label is not None})
    blocks: dict[str, list[int]] = {}
    current = ""
    for k in range(start, len(header)):
        current = numbered[k] or current
        if numbered[k] is None and not (
            word_of(header[k]) == "right"
            or (bases[k] and repeats[bases[k]] > 1 and 2 * repeats[bases[k]] > n_questions)
        ):
            continue
        blocks.setdefault(current, []).append(k)
    return [places for places in blocks.values() if len(places) <= 4]


def _numbered(name: str) -> tuple[str, str] | None:
    match = _NUMBERED.match(name.strip()) if len(name) < 200 else None
    return (match["prefix"].strip(), match["number"] + match["part"]) if match else None


def _counts_up(numbers: list[int]) -> bool:
    steps = [b - a for a, b in pairwise(numbers)]
    return numbers[0] == 1 and all(0 <= step <= 2 for step in steps)


def is_moodle(header: Sequence[str]) -> bool:
    """Whether a header is that of a «Responses» report."""
    blocks = find_blocks(header)
    if not blocks:
        return False
    words = {word_of(header[place]) for place in blocks[0]}
    grade = find_grade(header[: blocks[0][0]], whole=words != {None})
    return grade is not None or {"right", "response"} <= words


# -- persons and attempts ----------------------------------------------------------------------


def _read_lead(sheet: Sheet, end: int) -> tuple[list[int], int | None]:
    """Keep the finished attempts; return the columns that say who, and that of the state."""
    grade = find_grade(sheet.header[:end], whole=True)
    started = next(
        (
            k
            for k in range(end)
            if sum(bool(_DATE.search(cell)) for cell in sheet.cells(k)) * 2 > len(sheet.rows)
        ),
        None,
    )
    state = started - 1 if started else None
    identity_end = next((k for k in (state, grade) if k is not None), end)
    identity = list(range(identity_end)) or list(range(min(end, 1)))
    rows = [row for row in sheet.rows if not _is_average(row, identity, end)]
    sheet.keep_rows(rows, "average rows", "they belong to no person")
    sheet.rows = _fill_identity(sheet.rows, identity)
    done = [row for row in sheet.rows if not _unfinished(row, state, grade, started, end)]
    reason = "the attempt was not started or not finished"
    sheet.keep_rows(done, "unfinished attempts", reason)
    if grade is not None:
        sheet.set_role([grade], "points", "the grade of the whole quiz")
    if state is not None:
        sheet.set_role([state], "status", "the state of the attempt")
    rest = [k for k in range(identity_end, end) if k not in (grade, state)]
    sheet.set_role(rest, "time", "when, and how long")
    return identity, state


def _nothing(cell: str) -> bool:
    return cell.strip() in ("", "-")


def _is_average(row: Sequence[str], identity: Sequence[int], end: int) -> bool:
    named = sum(not _nothing(row[k]) for k in identity)
    return len(identity) > 1 and named <= 1 and all(_nothing(cell) for cell in row[end:])


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
        before = filled[-1] if filled else None
        if before is not None and any(not row[k].strip() for k in identity):
            known = [k for k in identity if row[k].strip()]
            if known and all(row[k] == before[k] for k in known):
                row = list(row)
                for k in identity:
                    row[k] = row[k] or before[k]
        filled.append(row)
    return filled


def _merge_tries(
    sheet: Sheet, identity: list[int], state: int | None, blocks: list[list[int]]
) -> None:
    """Keep the first of several tries of one attempt, filled from the others.

    In reports of all tries, only the last row of an attempt has the state.
    """
    if state is None or all(row[state].strip() for row in sheet.rows):
        return
    kept: list[list[str]] = []
    open_try: list[str] | None = None
    for row in sheet.rows:
        if open_try is not None and all(row[p] == open_try[p] for p in identity):
            for block in blocks:
                for place in block:
                    if _nothing(open_try[place]):
                        open_try[place] = row[place]
        else:
            kept.append(row)
            open_try = row
        if row[state].strip():
            open_try = None
    sheet.keep_rows(kept, "later tries", "the first answer to each question counts")


# -- questions -------------------------------------------------------------------------------------

_DATE = re.compile(r"\d.*\d{1,2}[:.]\d{2}")
_GUARD = re.compile(r"^'(?=[=+\-@])")
_SEPARATOR = re.compile(r"\s*;\s+|\s+;\s*|;$")
_STACK = re.compile(r"^Seed: \d+;|\bans\d+: .*\[(?:score|valid|invalid)\]|\bprt\d+: ")
_MOST_STEMS = 0.95  # with this share of equal texts or keys, it is one question that was edited


def _parts(sheet: Sheet, blocks: list[list[int]]) -> tuple[int | None, int | None, int | None]:
    """Return which column of each block holds the question, the response and the right answer."""
    first = max(blocks, key=len)
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
    sheet: Sheet, question: int | None, response: int, right: int | None
) -> Question | None:
    """Return the question in some columns; None if it cannot be ranked."""
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


def _differs(keys: list[tuple[str, ...]]) -> bool:
    return 0.0 < _largest_share(frozenset(key) for key in keys if key) < _MOST_STEMS


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
    text = cell.strip()
    if text in ("", "-"):
        return ()
    text = _GUARD.sub("", text)
    parts = tuple(part.strip() for part in _SEPARATOR.split(text) if part.strip())
    return parts or (text,)


# -- the format ------------------------------------------------------------------------------------


def _recognise(sample: Sample) -> str | None:
    if (sample.is_table or sample.is_json) and is_moodle(sample.fields):
        return "a grade («Grade/10.00»), then columns that repeat with 1, 2, 3…"
    return None


def _fill(sheet: Sheet) -> None:
    blocks = find_blocks(sheet.header)
    question, response, right = _parts(sheet, blocks) if blocks else (None, None, None)
    if response is None:
        raise Refusal(
            "a Moodle report without columns of responses",
            "download the «Responses» report of the quiz, with «response» ticked",
        )
    identity, state = _read_lead(sheet, blocks[0][0])
    _merge_tries(sheet, identity, state, blocks)
    found = []
    for block in blocks:
        places = [
            block[k] if k is not None and k < len(block) else None
            for k in (question, response, right)
        ]
        one = None if places[1] is None else _question(sheet, places[0], places[1], places[2])
        found += [] if one is None else [one]
    who = sheet.people(identity)
    sheet.ask(found, who, attempts=number_attempts(who), split=_all_options)
    if not found and any(column.role == "unused" for column in sheet.stream.columns):
        raise Refusal(
            "a Moodle report of questions drawn at random, without their texts",
            "download it again with «question text» ticked",
        )
    if not found:
        raise Refusal(
            "a Moodle «Responses» report without a choice question",
            "only questions with options can be ranked",
        )


def _all_options(cells: Sequence[str]) -> list[tuple[str, ...]]:
    return list(map(_options, cells))


MOODLE = Format(
    "moodle",
    "Moodle, quiz responses",
    "Quiz results, «Responses»: CSV, xlsx, ods or JSON, in any language",
    _recognise,
    by_table(_fill, key_from="the columns of right answers", records=True),
    "a quiz of 2025, and a German one with algebra",
)
