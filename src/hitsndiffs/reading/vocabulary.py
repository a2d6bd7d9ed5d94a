"""Names of columns and rows in tables, in the languages of common exports."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from hitsndiffs.data.names import ROLES

__all__ = [
    "ANSWERS",
    "ASKS_WHO",
    "CHOSEN",
    "COUNTED",
    "COUNTS",
    "FIRST_NAMES",
    "FLAGS",
    "GRADED",
    "LAST_NAMES",
    "PEOPLE",
    "RATERS",
    "STATISTICS",
    "SUMS",
    "bare_names",
    "folded",
    "is_gold_user",
    "is_key_mark",
    "is_key_name",
    "is_summary_name",
    "may_name_keys",
    "plain",
    "role_of_name",
    "tokens",
    "without_points",
]

#: Marks of an option that was chosen, and of those that were or were not.
CHOSEN = {"1", "true", "yes", "y", "x", "checked"}
FLAGS = {*CHOSEN, "0", "false", "no", "n", "unchecked", ""}
#: What the name of a column may tell about it.
NameRole = Literal["points", "time", "status", "comment", "attempt", "identity", "row", "key"]
_WORDS: dict[NameRole, str] = {
    "points": """score scores points point pts total totalscore totalpoints grade grades mark marks
        percent percentage percentcorrect pct correctcount ncorrect nincorrect numcorrect rawscore
        sum average result results outof maxscore accuracy rank earned possible weight difficulty
        punkte punktzahl note noten gesamt gesamtpunkte ergebnis prozent bewertung points note
        résultat pourcentage moyenne total puntos puntaje puntuación calificación nota resultado
        porcentaje punti punteggio voto valutazione percentuale pontos pontuação avaliação punten
        cijfer totaal poäng betyg resultat punkty ocena wynik suma баллы балл оценка итого результат
        процент 得点 点数 合計 評点 成绩 分数 得分 总分 점수""",
    "time": """time date timestamp datetime started start starttime ended end endtime completed
        completion completiontime submitted submittedat submitdate created createdat updated
        updatedat duration elapsed elapsedtime timetaken seconds minutes duration lastmodified
        modified zeit datum zeitstempel begonnen beendet dauer uhrzeit date heure horodateur début
        fin durée commencé terminé fecha hora marca temporal comenzado finalizado duración data ora
        iniziato completato durata carimbo início término duração tijd datum tijdstempel gestart
        voltooid tijdsduur tid datum starttid varaktighet czas data время дата начато
        завершено длительность 日時 時間 開始 終了 タイムスタンプ 時刻 时间 日期 开始 结束 시간""",
    "status": """status state finished progress complete valid approved rejected statut état estado
        lastpage maxpage questnnr mailsent missrel qviewer validationstatus submittedby
        stato staat zustand состояние статус ステータス 状态 상태""",
    "comment": """comment comments remark remarks feedback note notes explanation rationale reason
        kommentar bemerkung anmerkung commentaire remarque comentario observaciones commento
        osservazioni comentário opmerking kommentarer komentarz комментарий コメント 备注 评论""",
    "attempt": """attempt attempts try tries trial versuch essai tentative intento tentativo
        tentativa poging försök próba попытка 受験 尝试""",
    "identity": """email emailaddress mail firstname lastname surname givenname familyname forename
        middlename mi initials fullname displayname nickname ip ipaddress phone section sectionid
        sectionname class classname course group cohort school institution department team gender
        teacher book cntry platform
        sex age country language userlanguage birthday birthdate zip city session sessionid device
        browser useragent latitude longitude form formversion version keyversion testform
        set examset testset questionset testversion formcode examform examversion examcode
        booklet bookletid variant code education educ
        ethnicity race nationality occupation profession maritalstatus income religion major
        semester nativelanguage yearofbirth bildung beruf studiengang fachsemester fach
        muttersprache
        bildungsabschluss variante niveau formation estudios carrera ocupación semestre istruzione
        corso escolaridade curso opleiding vorname nachname
        emailadresse klasse gruppe schule kurs geschlecht alter land abteilung nom prénom
        nomdefamille adressedecourriel classe groupe école sexe âge nombre apellido apellidos
        correo correoelectrónico clase grupo escuela sexo edad cognome nome indirizzoemail classe
        gruppo scuola sesso età apelido turma escola idade achternaam voornaam emailadres klas groep
        geslacht leeftijd efternamn förnamn epostadress klass kön ålder imię nazwisko płeć wiek
        фамилия имя отчество группа класс пол возраст 姓 名 氏名 メールアドレス 性別
        年齢 クラス 学年 姓名 邮箱 性别 年龄 班级 年级 专业 学校 学院 来源 来源详情 来自ip 이름
        образование cinsiyet yaş sınıf bölüm""",
    "row": """row rownumber rowid index no nr number lfd lfdnr seq sequence # unnamed0
        номер 番号 序号""",
    "key": """key answerkey correctanswer correctanswers rightanswer correctresponse correctoption
        solution gold goldlabel goldanswer golden groundtruth truth target prikey solution
        ytrue truelabel trueanswer expected
        corrans corrresp reference referenceanswer referenceoutput referenceoutputs expectedanswer
        lösung richtigeantwort schlüssel corrigé réponsecorrecte bonneréponse clave
        respuestacorrecta chiave rispostacorretta rispostagiusta gabarito respostacorreta sleutel
        juistantwoord facit rättsvar klucz poprawnaodpowiedź правильныйответ ключ 正解 正答 标准答案
        正确答案 答案 정답 cevapanahtarı doğrucevap""",
}
#: Names of keys, as :func:`plain` writes them: of rows, columns, users, sheets and files alike.
_KEYS_WORDS = """plantilla plantillas plantilladerespuestas plantilladecorrección
    plantillacorrectora plantilladesoluciones hojaderespuestascorrectas
    respuestascorrectas clavederespuestas
    clavedecorrección solucionario griglia grigliacorrezione grigliadicorrezione
    grigliadellerisposte grigliarisposte correttore soluzioni chiavedicorrezione rispostecorrette
    risposteesatte gabaritooficial gabaritodefinitivo gabaritopreliminar chavedecorreção
    respostascorretas grilledecorrection grillederéponses grilledecorrige corrigétype lecorrigé
    bonnesréponses réponsesattendues réponsescorrectes musterlösung musterlösungen musterloesung
    musterantwort musterantworten lösungsschlüssel loesungsschluessel lösungsschablone schablone
    lösungsblatt lösungsmuster lösungsbogen antwortschlüssel antwortschluessel schluessel
    richtigeantworten richtigelösung antwoordmodel antwoordenmodel
    correctiemodel correctievoorschrift
    antwoordsleutel juisteantwoorden kluczodpowiedzi poprawneodpowiedzi prawidłoweodpowiedzi klíč
    klíčodpovědí správnéodpovědi správnáodpověď správneodpovede řešení kľúč ключответов
    правильныеответы верныеответы эталон правильнівідповіді facitlista rättasvar fasit riktigesvar
    doğrucevaplar cevapanahtarı goldstandard goldstandards goldlabels goldanswers goldkey
    groundtruth groundtruths 模范答案 標準答案 解答 模範解答 解答例"""
_KEYS = frozenset(_KEYS_WORDS.split())
_NAMES: dict[str, NameRole] = {}
for _role, _text in _WORDS.items():
    for _word in _text.split():
        _NAMES.setdefault(_word, _role)
for _word in _KEYS:
    _NAMES.setdefault(_word, "key")
#: Words that tell what a longer name means ("MC Score", "Time taken").
_LONGER: tuple[NameRole, ...] = ("points", "time", "comment", "attempt")
_TELLING = {
    word: role
    for role in _LONGER
    for word in _WORDS[role].split()
    if word not in ("date", "data", "note", "nota", "end", "fin", "result", "results", "start")
    and (len(word) > 3 or role != "points")
}

#: Words beside those that tell something about the person.
_ABOUT = frozenset(("of", "birth", "residence", "origin", "simplified", "level", "range"))

_FIRST = """firstname givenname givennames forename vorname prénom prenom nombre nome voornaam
    förnamn имя 名 jméno imię fornavn etunimi keresztnév ad όνομα"""
_LAST = """lastname surname familyname nachname nomdefamille nom apellido apellidos cognome
    achternaam apelido sobrenome efternamn фамилия 姓 příjmení nazwisko etternavn efternavn sukunimi
    vezetéknév soyad επώνυμο"""
#: Names of columns that hold a part of a person's name, as :func:`plain` writes them.
FIRST_NAMES, LAST_NAMES = frozenset(_FIRST.split()), frozenset(_LAST.split())
PEOPLE = FIRST_NAMES | LAST_NAMES | {"name", "fullname", "email", "emailaddress", "username"}

#: Columns of numbers with these names count answers.
_COUNTED_WORDS = """correct incorrect right wrong unattempted attempted skipped omitted blank blanks
    unanswered answered richtig falsch correctas incorrectas aciertos errores justes fausses
    corrette errate goed fout doğru yanlış boş net верно неверно"""
COUNTED = frozenset(_COUNTED_WORDS.split())
#: Columns of statistics about a question, of counts of its answers, and what is graded as a whole.
_STATISTICS_WORDS = """difficulty discrimination biserial pointbiserial variance mean median stddev
    standarddeviation facility facilityindex discriminationindex pvalue responses nresponses count
    frequency correctcount percentcorrect stdev itemvariance alpha reliability"""
_COUNTS_WORDS = "count counts n votes nvotes frequency freq percent"
_GRADED_WORDS = """homework hw assignment assignments midterm exam quiz test lab project essay final
    klausur hausaufgabe devoir examen tarea compito"""
STATISTICS, COUNTS, GRADED = (
    frozenset(words.split()) for words in (_STATISTICS_WORDS, _COUNTS_WORDS, _GRADED_WORDS)
)
#: Words for answers in longer names of columns; alone, they are too common elsewhere.
ANSWERS = frozenset(
    (*ROLES["option"], "code", "tag", "keypress", "keys", "submission", "output", "out", "decision",
     "diagnosis", "chose", "said", "ticked", "reply")
)  # fmt: skip
#: People who judge, in the names of columns.
_RATERS_WORDS = """rater coder judge annotator labeler labeller reviewer grader ann annot anno
    observer expert evaluator assessor physician radiologist pathologist"""
RATERS = frozenset(_RATERS_WORDS.split())
#: Columns beside those of users that sum them up.
_SUMS_WORDS = """majority majorityvote majoritylabel mv consensus aggregated aggregate adjudicated
    agreement final finallabel"""
SUMS = frozenset(_SUMS_WORDS.split())
#: Questions that ask who the respondent is.
ASKS_WHO = re.compile(
    r"\b(?:e-?mail|username|user name|full name|your name|student name|name of (?:the )?student|"
    r"first name|last name|surname|student (?:id|number|no)|roll (?:no|number)|matric\w*|"
    r"nom|prénom|nombre|apellidos?|nome|cognome|vorname|nachname|matrikel\w*|namen?|naam)\b|"
    r"氏名|名前|姓名|学号|имя|фамилия|nome de usuário",
    re.IGNORECASE,
)
_KEY_ROW = re.compile(
    r"(?:correct|right|true|model|expected)[\s_\-]+(?:answers?|options?|choices?|responses?)|"
    r"(?:ground[\s_\-]*)?truth|gold[\s_\-]*(?:standard|labels?|answers?)|"
    r"(?:the\s+)?(?:answer|correct|right|official|exam|test)?[\s_\-]*(?:answers?|responses?|option)?"
    r"[\s_\-]*(?:key|keys|ans|answers?|correct|solutions?|schlüssel|lösung(?:en)?|"
    r"musterlösung|lösungsschlüssel|corrigé|corrections?|clave(?:\s+de\s+respuestas)?|"
    r"respuestas?\s+correctas?|réponses?\s+correctes?|bonnes?\s+réponses?|richtige\s+antwort(?:en)?|"
    r"rispost[ae]\s+corrett[ae]|respostas?\s+corretas?|juiste?\s+antwoord(?:en)?|"
    r"chiave|gabarito|(?:antwoord)?sleutel|facit|klucz(?:\s+odpowiedzi)?|cevap\s+anahtarı|"
    r"richtig|rätta?\s+svar|riktige?\s+svar|správn\w+\s+odpov\w+|helyes\s+válasz(?:ok)?|"
    r"vastausavain|avain|avaimet|oikea\w*\s+vastau\w+|solucion(?:es|ario)|solución|soluzion[ei]|"
    r"rispost[ae]\s+(?:esatt|giust)[ae]|oplossing(?:en)?|doğru\s+cevap(?:lar)?|jawaban\s+benar|"
    r"đáp\s+án|مفتاح\s+\S+|الإجابات?\s+الصحيحة|σωστ\w+\s+απαντ\w+|เฉลย|"
    r"ключ|правильные?\s+ответы?|правильн\w+\s+відповід\w+|正解|正答|答案|标准答案|正确答案|參考答案|参考答案|정답)"
    r"[\s_\-:]*(?:row|line|sheet|a|b|c|d|[0-9])?",
    re.IGNORECASE,
)
#: A row holds the key if its name has a word of the first kind and otherwise only of the second.
_IN_KEYS: dict[str, str] = {
    "key": """key keys anskey answerkey solution solutions master schlüssel lösung lösungen
        musterlösung lösungsschlüssel antwortschlüssel loesung loesungen corrigé corrigés corrige
        clé clés clave claves gabarito chiave sleutel
        antwoordsleutel facit fasit rettenøkkel klucz klíč kľúč kulcs
        megoldókulcs megoldás kunci anahtarı ключ ключи 正解 正答 答案 标准答案 正确答案 參考答案
        参考答案 정답""",
    "beside": """the answer answers correct right official exam test quiz midterm final response
        responses option options form version set teacher teachers s instructor sheet row line of
        for de des du del la las le les correction corrections réponses respuestas respostas
        risposte richtige antworten antwort odpowiedzi odpovědí cevap jawaban ответов ответы
        antwoorden svar""",
}
_KEY_WORDS, _BESIDE_KEY = (frozenset(text.split()) for text in _IN_KEYS.values())
#: Every name of a key row has one of these in it; most names have none, which is quick to see.
_PLAIN_HINTS = (
    "key", "ans", "corr", "solu", "master", "clav", "gabar", "chiav", "sleut", "faci", "fasit",
    "klu", "kulcs", "kunci", "juist", "richtig", "right", "true", "model", "expected", "truth",
    "gold", "plantil", "grigli", "grille", "muster", "schablon", "schlu", "rikti", "helyes", "avai",
    "oikea", "giust", "esatt", "oplos", "jawab",
)  # fmt: skip
_HINTS = (
    *_PLAIN_HINTS,
    *["lös", "schl", "rätt", "đáp", "é", "å", "ø", "í", "ľ", "á", "ó", "ı", "ключ", "прав", "正"],
    *[
        "ř",
        "ответ",
        "эталон",
        "відпов",
        "prawid",
        "chave",
        "답",
        "答",
        "정",
        "مفتاح",
        "الإجاب",
        "σωστ",
        "เฉลย",
    ],
)
_PLAIN_HINT, _HINT = (re.compile("|".join(hints)) for hints in (_PLAIN_HINTS, _HINTS))
_SUMMARY_ROW = re.compile(
    r"(?:(?:class|group|overall|grand|sub|column|test|item|section|total|question)[\s_\-]*)*"
    r"(?:average|avg|mean|median|std\.?[\s_\-]*dev\.?(?:iation)?|standard[\s_\-]*deviation|sd|stdev|"
    r"variance|max(?:imum)?|min(?:imum)?|totals?|sum|count|n|(?:percent(?:age)?|pct\.?)(?:\s*correct)?|"
    r"%\s*correct|num(?:ber)?[\s_\-]*correct|correct\s*(?:count|%)|difficulty|discrimination|"
    r"point[\s_\-]*biserial|p[\s_\-]*value|class\s*scoring|point\s*values?|possible(?:\s*points)?|"
    r"points\s*possible|durchschnitt|mittelwert|gesamt(?:durchschnitt)?|summe|standardabweichung|"
    r"moyenne(?:\s*générale)?|écart[\s\-]*type|promedio|media|desviación(?:\s*típica)?|"
    r"media\s*complessiva|média|gemiddelde|medelvärde|średnia|среднее|итого|平均|合計|总计|평균)"
    r"(?:\s*(?:score|grade|points|correct|gesamt|general|générale|ansicht))?[\s:.]*",
    re.IGNORECASE,
)
#: Grade/10.00, Q1 (2 pts), Task 1 (max 5), Number of correct answers
_POINTS = re.compile(
    r"/\s*\d+(?:[.,]\d+)?\s*$|\(\s*\d+(?:[.,]\d+)?\s*(?:pts?|points?|punkte?|marks?|p)\.?\s*\)\s*$"
    r"|\(\s*(?:max\.?(?:imum)?|out\s+of|von|sur|de)[\s:]*\d+(?:[.,]\d+)?[^)]*\)\s*$"
    r"|^(?:number|count|no\.?|#|anzahl|nombre|número|numero)\s+(?:of|de|di|der)?\s*"
    r"(?:correct|incorrect|right|wrong|richtig|falsch|bonnes|correct)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[\W_]+", re.UNICODE)
_SUFFIX = re.compile(r"^(?P<base>.+?)(?:_duplicated_\d+|\.\d{1,4}|_\d{1,4})$", re.DOTALL)


def bare_names(header: Sequence[str]) -> list[str]:
    """Remove the suffixes of pandas (``q.1``), Polars (``q_duplicated_0``) and fastexcel (``q_1``).

    A suffix is removed only if the bare name occurs further to the left.

    Examples
    --------
    >>> bare_names(["1.0", "score", "1.0.1", "1.0_duplicated_0", "q_1"])
    ['1.0', 'score', '1.0', '1.0', 'q_1']
    """
    seen: set[str] = set()
    names = []
    for name in header:
        found = _SUFFIX.match(name) if len(name) < 100_000 else None
        if found and found["base"] in seen:
            name = found["base"]
        seen.add(name)
        names.append(name)
    return names


def folded(name: str) -> str:
    """Return a name in lower case with single spaces."""
    return " ".join(name.split()).casefold()


def plain(name: str) -> str:
    """Return a name without blanks, signs and capitals.

    Examples
    --------
    >>> plain("E-Mail Address:"), plain("PriKey_1")
    ('emailaddress', 'prikey1')
    """
    return _PARTS.sub("", unicodedata.normalize("NFKC", name)).casefold()


def tokens(name: str) -> list[str]:
    """Return the words of a name; ``TotalScore`` has two."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    return [part.casefold() for part in _PARTS.split(split) if part]


def role_of_name(name: str) -> NameRole | None:
    """Return the role of a column by its name alone; None if the name does not tell.

    Examples
    --------
    >>> [role_of_name(n) for n in ("MC Score", "Zeitstempel", "Right answer 3", "Vorname", "q7")]
    ['points', 'time', 'key', 'identity', None]
    >>> [role_of_name(n) for n in ("Q1 (2 pts)", "Number of correct answers", "Grade/10.00")]
    ['points', 'points', 'points']
    >>> [role_of_name(n) for n in ("SCHOOLID", "Country of birth", "Employment status")]
    ['identity', 'identity', 'status']
    """
    if len(name) > 80 or name.rstrip().endswith(("?", "\uff1f")):
        return None  # a question does not say what its column is
    name = re.sub(r"_duplicated_\d+$", "", name)
    text = plain(name)
    if name.strip() == "#":
        return "row"
    if text in _NAMES:
        return _NAMES[text]
    bare = text.rstrip("0123456789")
    if _NAMES.get(bare, "row") != "row":
        return _NAMES[bare]
    if "identity" in (_NAMES.get(text.removesuffix("id")), _NAMES.get(text.removeprefix("id"))):
        return "identity"  # SCHOOLID, IDCLASS
    if _POINTS.search(name):
        return "points"
    words = tokens(name)
    if len(words) > 5:
        return None
    if words and all(_NAMES.get(word) == "identity" or word in _ABOUT for word in words):
        return "identity" if {*words} - _ABOUT else None  # age group, country of birth
    if len(words) < 4 and (
        words[-1:] == ["status"] or ("_" in name and words[-1:] == ["complete"])
    ):
        return "status"  # employment status; REDCap: quiz_complete
    for word in (*words[-1:], *words[:1], *words):
        if word in _TELLING:
            return _TELLING[word]
    return None


def without_points(name: str) -> str:
    """Return the name of a question without the points that it gives.

    Examples
    --------
    >>> without_points("What is 3 + 4? (2.00 pts)")
    'What is 3 + 4?'
    """
    return _POINTS.sub("", name).strip()


def may_name_keys(text: str) -> bool:
    r"""Whether any of the words for keys begins somewhere in a text; a quick look at many names.

    Examples
    --------
    >>> may_name_keys("Ann\nBob"), may_name_keys("Ann\nKeyes")
    (False, True)
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    return (_PLAIN_HINT if text.isascii() else _HINT).search(text) is not None


def is_key_name(label: str) -> bool:
    """Whether a row with this name holds the key.

    Examples
    --------
    >>> [is_key_name(n) for n in ("KEY", "Answer Key", "ANS", "Lösung", "Keyes, Ann", "student-1")]
    [True, True, True, True, False, False]
    >>> [is_key_name(n) for n in ("Key - Form A", "**KEY**", "Clé de correction", "Key, B.")]
    [True, True, True, False]
    """
    if not 1 < len(label) < 60 or not may_name_keys(label):
        return False
    text = unicodedata.normalize("NFKC", label).casefold()
    before, bracket, _ = label.partition("(")
    if bracket and len(before.split()) > 1 and is_key_name(before):
        return True  # Answer key (do not share)
    words = [word for word in _PARTS.split(text) if word]
    if "".join(words).rstrip("0123456789") in _KEYS or (
        len(words) > 1 and len(words[-1]) == 1 and "".join(words[:-1]) in _KEYS
    ):
        return True
    if "," in label.strip(" ,") and _BESIDE_KEY.isdisjoint(words):
        return False  # a family name and an initial
    if _KEY_ROW.fullmatch(label.strip()) or (words and _KEY_ROW.fullmatch(" ".join(words))):
        return True
    places = [k for k, word in enumerate(words) if word in _KEY_WORDS]
    if not places:
        return False
    # a letter or number behind the word is that of the form; before it, it is somebody's initial
    return all(
        word in _KEY_WORDS
        or word in _BESIDE_KEY
        or (k > places[0] and (len(word) == 1 or word.isdecimal()))
        for k, word in enumerate(words)
    )


def is_key_mark(remark: str) -> bool:
    """Whether a remark beside a user's name says that the row holds the key.

    Examples
    --------
    >>> [is_key_mark(n) for n in ("answer key", "KEY", "correct", "Correction")]
    [True, True, False, False]
    """
    if not is_key_name(remark):
        return False
    return plain(remark) in _KEYS or not _KEY_WORDS.isdisjoint(tokens(remark))


def is_gold_user(label: str, others: Sequence[str]) -> bool:
    """Whether a user called gold holds the key: the others have numbers, or are written otherwise.

    Examples
    --------
    >>> is_gold_user("GOLD", ["user1", "user2"]), is_gold_user("gold", ["ann", "bob"])
    (True, False)
    >>> is_gold_user("Gold", ["Ash", "Birk"])  # a family name
    False
    """
    if plain(label) not in ("gold", "golden") or not others:
        return False
    manner = (label.isupper(), label.islower())
    unlike = [
        any(map(str.isdigit, own)) or (own.isupper(), own.islower()) != manner for own in others
    ]
    return sum(unlike) * 2 > len(others)


def is_summary_name(label: str) -> bool:
    """Whether a row with this name summarises the others.

    Examples
    --------
    >>> [is_summary_name(n) for n in ("Average", "Std.Dev", "Overall average", "Max Meier")]
    [True, True, True, False]
    """
    return len(label) < 60 and _SUMMARY_ROW.fullmatch(label.strip()) is not None
