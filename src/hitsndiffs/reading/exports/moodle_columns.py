"""Which columns of a Moodle report belong to which question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hitsndiffs.reading.exports.common import folded

__all__ = ["Block", "find_blocks", "find_grade", "is_points_only", "word_of"]

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


@dataclass(frozen=True)
class Block:
    """The columns of one question."""

    number: str
    places: list[int]


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


def find_blocks(header: Sequence[str]) -> list[Block]:
    """Return the columns of each question: names that repeat with 1, 2, 3…, next to each other.

    A column without a number belongs to the question before it (Italian «Risposta giusta»).

    Examples
    --------
    >>> find_blocks(["Nome", "Valutazione/10,00", "Risposta data 1", "Risposta giusta",
    ...              "Risposta data 2", "Risposta giusta_duplicated_0"])
    [Block(number='1', places=[2, 3]), Block(number='2', places=[4, 5])]
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
    return [Block(number, places) for number, places in blocks.items() if len(places) <= 4]


def _numbered(name: str) -> tuple[str, str] | None:
    match = _NUMBERED.match(name.strip()) if len(name) < 200 else None
    return (match["prefix"].strip(), match["number"] + match["part"]) if match else None


def _counts_up(numbers: list[int]) -> bool:
    steps = [b - a for a, b in pairwise(numbers)]
    return numbers[0] == 1 and all(0 <= step <= 2 for step in steps)
