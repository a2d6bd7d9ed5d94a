"""Which column holds what: common names for users, items and options."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Any

from hitsndiffs.data.words import listed, suggestion
from hitsndiffs.errors import InputError

__all__ = [
    "ROLES",
    "find_column",
    "recognise",
]

_WORDS = {
    "user": """user worker student participant respondent annotator rater labeler labeller
        examinee candidate learner pupil person player model llm performer subject
        teilnehmer schüler schülerin studierende studierender benutzer nutzer proband élève étudiant
        utilisateur alumno alumna estudiante usuario participante studente utente partecipante
        aluno aluna estudante utilizador leerling gebruiker deelnemer elev användare deltagare
        uczeń użytkownik ученик студент пользователь участник 学生 生徒 ユーザー 受験者 受験番号
        用户 参与者 考生 응답자 학생 coder judge roll rollno registration enrollment matrikel
        matrícula matricola öğrenci 学号 考号 学籍番号 学生番号""",
    "item": """item task question problem exercise example instance variable
        frage aufgabe pregunta ítem domanda quesito pergunta questão vraag opgave fråga uppgift
        pytanie zadanie вопрос задание 問題 設問 题目 试题 문항 문제 orig unit document doc sentence
        image tweet stimulus content""",
    "option": """answervalue selectedanswer chosenanswer givenanswer studentanswer useranswer
        workeranswer modelanswer option label answer response choice chosen selected
        selectedoption vote annotation prediction pred predicted predictedanswer predictedlabel
        picked value rating category judgment judgement verdict class
        antwort réponse respuesta risposta resposta antwoord svar odpowiedź ответ 回答 解答 答え
        选项 응답 답""",
    "answer": """answer key correctanswer correct truth gold solution option
        richtigeantwort lösung réponsecorrecte respuestacorrecta rispostacorretta respostacorreta
        juistantwoord rättsvar poprawnaodpowiedź правильныйответ 正解 正答 正确答案 정답""",
}
#: Common names for each role, best match first. Case, spaces, ``_``, ``-`` and ``.`` do not
#: count, nor does an ending such as ``_id`` or ``_name``.
ROLES: dict[str, tuple[str, ...]] = {role: tuple(words.split()) for role, words in _WORDS.items()}

#: Names for users in wide tables only: in a long table ``id`` is usually the row number.
_WIDE_USERS = (
    "id", "name", "username", "email", "emailaddress", "case", "caseid", "pid", "subj", "subjid",
    "respid", "recordid", "idstud", "stidstd", "cntstu", "studid", "stuid",
)  # fmt: skip

#: Columns beyond this many are always taken as items.
_MOST_NAMES = 20_000

_SEPARATORS = re.compile(r"[\s_\-.]+")
_ENDINGS = (
    "identifier", "number", "nummer", "index", "names", "name", "code", "ids", "id", "no", "nr",
)  # fmt: skip


def recognise(role: str, columns: Iterable[Hashable], *, wide: bool = False) -> list[Any]:
    """Return the columns whose names fit a role, best match first.

    Examples
    --------
    >>> recognise("user", ["Worker_ID", "task", "label"])
    ['Worker_ID']
    >>> recognise("user", ["id", "q1"]), recognise("user", ["id", "q1"], wide=True)
    ([], ['id'])
    """
    names = ROLES[role] + (_WIDE_USERS if wide and role == "user" else ())
    known = {name: place for place, name in reversed(list(enumerate(names)))}
    ranked = []
    for column in islice(columns, _MOST_NAMES):
        if not isinstance(column, str) or len(column) > 200:
            continue
        plain = _SEPARATORS.sub("", column).casefold().removeprefix("!amt")
        spellings = [plain]
        if plain.endswith(_ENDINGS):  # a quick test: most names in a wide table end in a digit
            spellings += [plain.removesuffix(end) for end in _ENDINGS if plain != end]
        places = [known[spelling] for spelling in spellings if spelling in known]
        if places:
            ranked.append((min(places), column))
    return [column for _, column in sorted(ranked, key=lambda pair: pair[0])]


def find_column(name: Hashable, columns: Sequence[Any], *, where: str, argument: str) -> Any:
    """Return the column called ``name``, or raise an error that lists the columns."""
    if name in columns:
        return name
    stripped = [column for column in columns if str(column).strip() == str(name).strip()]
    if len(stripped) == 1:
        return stripped[0]
    raise InputError(
        f"{where}: there is no column {name!r}{suggestion(name, columns)}, given as {argument}; "
        f"the columns are {listed(columns)}."
    )
