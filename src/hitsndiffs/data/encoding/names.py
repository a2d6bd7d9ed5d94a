"""Which column holds what: common names for users, items and options."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Any

from hitsndiffs.errors import InputError, closest

__all__ = [
    "ROLES",
    "count",
    "find_column",
    "listed",
    "per_cent",
    "recognise",
    "shortened",
    "suggestion",
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


def suggestion(name: Hashable, known: Iterable[Hashable]) -> str:
    """Return `` (did you mean 'x'?)`` if a known name is close, else nothing.

    Examples
    --------
    >>> suggestion("wroker", ["worker", "task"])
    " (did you mean 'worker'?)"
    """
    close = closest(name, known)
    return "" if close is None else f" (did you mean {close!r}?)"


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


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "user"), count(2500, "user")
    ('1 user', '2,500 users')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def per_cent(share: float, digits: int = 0) -> str:
    """Return a share in per cent; only exact 0 and 100 are shown as such.

    >>> per_cent(0.25), per_cent(0.0), per_cent(0.0001), per_cent(0.9999), per_cent(0.123, 1)
    ('25 %', '0 %', 'under 1 %', 'over 99 %', '12.3 %')
    """
    step = 10.0**-digits
    if 0 < share * 100 < step:
        return f"under {step:.{digits}f} %"
    if 100 - step < share * 100 < 100:
        return f"over {100 - step:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def listed(names: Iterable[Any], most: int = 5) -> str:
    """Return the first few names, in quotes.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(9), most=2)
    ("'a' and 'b'", "'0', '1' and 7 more")
    """
    texts = [f"'{shortened(str(name))}'" for name in names]
    if len(texts) > most + 1:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def shortened(text: str, most: int = 80) -> str:
    """Return a text, cut to a length that fits in a message.

    Examples
    --------
    >>> shortened("abc"), len(shortened("abc" * 1000))
    ('abc', 80)
    """
    return text if len(text) <= most else text[: most - 1] + "…"
