"""Canvas, Moodle, Google Forms, Microsoft Forms: made by our own code."""

from __future__ import annotations

import io
import json

import numpy as np

from formats.quiz import (
    Made,
    by_item,
    csv_bytes,
    ods_bytes,
    quiz,
    xlsx_bytes,
    zip_bytes,
)


def canvas(resaved: str = "") -> Made:
    """Multi-line stem, equal points headers, an escaped comma, a pair not shown, two attempts."""
    q = quiz(1)
    names = [str(3099930 + k) for k in range(6)]
    header = [
        "name", "id", "sis_id", "section", "section_id", "section_sis_id", "submitted", "attempt",
    ]  # fmt: skip
    for k, name in enumerate(names):
        header += [
            f"{name}: {q.stems[k]}".replace("colour", "colour\n" if k == 0 else "colour"),
            "1.0",
        ]
    header += ["3099950: Tick all that apply", "2.0", "n correct", "n incorrect", "score"]
    rows, answers = [], by_item(q, names)
    for i, p in enumerate(q.persons):
        lead = [p.name, p.code, f"s{p.code}", "A, B", "88", "", "2026-09-22 01:45:25 UTC", "1"]
        cells = []
        for k in range(6):
            cells += [q.answer(i, k), f"{q.points(i, k)}.0"]
        if i == 3:
            cells[4:6] = ["", ""]
            answers.pop((p.name, names[2]), None)
        both = [("Blue, dark", "Red"), ("Red",), ("Red", "Green")][i % 3]
        cells += [",".join(part.replace(",", "\\,") for part in both), "1.0"]
        answers[p.name, "3099950"] = both
        rows.append([*lead, *cells, "3", "3", "5.0"])
    second = list(rows[2])
    second[7] = "2"
    other = (int(q.chosen[2, 0]) + 1) % 4
    second[8:10] = [q.options[0][other], f"{int(other == q.right[0])}.0"]
    rows.insert(0, second)
    data = csv_bytes([header, *rows])
    if resaved == "pandas":
        import pandas as pd

        frame = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
        data = frame.to_csv(index=False).encode()
    elif resaved == "polars":
        import polars as pl

        data = pl.read_csv(data, infer_schema=False).write_csv().encode()
    elif resaved == "excel":
        header = ["1" if cell == "1.0" else cell for cell in header]
        data = csv_bytes([header, *rows], "utf-8-sig", separator=";")
    key = _full_points(q, names, answers)
    return Made({"Quiz Student Analysis Report.csv": data}, answers, key, left_out=("attempt",))


def _full_points(q, names, answers):
    """The key that the points give: one option with all full points, and another with fewer."""
    key = {}
    for k, name in enumerate(names):
        given = {answers[a] for a in answers if a[1] == name}
        if q.key(k) in given and len(given) > 1:
            key[name] = q.key(k)
    return key


def canvas_survey() -> Made:
    """Anonymous: the columns start at the section; another language."""
    q = quiz(2, blank=0.0)
    names = [str(70000 + k) for k in range(6)]
    header = ["Abschnitt", "Abschnitt-ID", "Abschnitt-SIS-ID", "abgegeben"]
    for k, name in enumerate(names):
        header += [f"{name}: {q.stems[k]}", "0.0"]
    header += ["n richtig", "n falsch", "Punktzahl"]
    rows = []
    for i in range(12):
        cells = [cell for k in range(6) for cell in (q.answer(i, k), "0.0")]
        rows.append(["Sec A", "88", "", "2026-09-22 01:45:25 UTC", *cells, "0", "0", "0.0"])
    persons = [str(i + 1) for i in range(12)]
    return Made({"Survey.csv": csv_bytes([header, *rows])}, by_item(q, names, persons))


def canvas_new(seven: bool = False) -> Made:
    q = quiz(3)
    header = ["Name", "ID", "SISID", "SectionIDs", "SectionNames", "SectionSISIDs"]
    header += ["Submitted", "ElapsedTime", "Attempt"]
    keep = [0, 1, 3, 4, 6, 7, 8] if seven else list(range(9))
    lead = [header[k] for k in keep]
    head = list(lead)
    for k in range(6):
        head += ["ItemID", "ItemType", f"<p>{q.stems[k]}</p>", "EarnedPoints", "Status"]
    head += ["ItemID", "ItemType", 'Explain, in "words"', "EarnedPoints", "Status"]
    head += ["NumberOfCorrect", "NumberOfIncorrect", "NoResponse", "PointsPossible", "OverallScore"]
    rows = []
    for i, p in enumerate(q.persons):
        about = [p.name, p.code, "", "8", "Sec A", "", "2026-09-22T01:45:25Z", "25:10:00", "1"]
        row = [about[k] for k in keep]
        for k in range(6):
            row += [str(900 + k), "choice", q.answer(i, k), str(float(q.points(i, k))), "Graded"]
        row += ["910", "essay", f"<p>Person {i} thinks\nso.</p>", "0.0", "Pending"]
        rows.append([*row, "3", "3", "0", "6", "3"])
    names = [str(900 + k) for k in range(6)]
    answers = by_item(q, names)
    key = _full_points(q, names, answers)
    return Made({"quiz.csv": csv_bytes([head, *rows])}, answers, key)


def canvas_item_analysis() -> Made:
    header = ["Question Id", "Question Title", "Answered Student Count", "Top Student Count"]
    data = csv_bytes([header, ["1", "Q", "12", "3"], ["2", "R", "12", "4"]])
    return Made({"items.csv": data}, refused="Item Analysis")


# -- Moodle --------------------------------------------------------------------------------------

MOODLE_WORDS = {
    "en": "Last name,First name,Email address,Status,Started,Completed,"
    "Duration,Grade/,Response,Right answer",
    "de": "Nachname,Vorname,E-Mail-Adresse,Status,Begonnen,Beendet,"
    "Dauer,Bewertung/,Antwort,Richtige Antwort",
    "fr": "Nom de famille,Prénom,Adresse de courriel,Statut,Commencé,Terminé,"
    "Durée,Note/,Réponse,Réponse correcte",
    "es": "Apellido(s),Nombre,Dirección de correo,Estado,Comenzado,Finalizado,"
    "Duración,Calificación/,Respuesta,Respuesta correcta",
    "it": "Cognome,Nome,Indirizzo email,Stato,Iniziato,Completato,"
    "Tempo impiegato,Valutazione/,Risposta data,Risposta giusta",
    "ru": "Фамилия,Имя,Адрес электронной почты,Состояние,Тест начат,Завершено,"
    "Затраченное время,Оценка/,Ответ,Правильный ответ:",
    "ja": "姓,名,メールアドレス,ステータス,開始日時,受験完了,継続時間,評点/,解答,正解",
    "zh": "姓,名,电子邮件地址,状态,开始于,完成,考试时长,成绩/,回答,标准答案",
    "xx": "Lopq,Frst,Maal,Stet,Begg,Endd,Durr,Grod/,Ansu,Korekt",
}


def _moodle(q, language: str, *, right: bool = True, dot: str = "."):
    words = MOODLE_WORDS[language].split(",")
    header = [*words[:7], f"{words[7]}10{dot}00"]
    for k in range(6):
        glue = "" if language == "zh" else " "
        header.append(f"{words[8]}{glue}{k + 1}")
        if right:
            header.append(words[9] if language == "it" else f"{words[9]}{glue}{k + 1}")
    rows = []
    rng = np.random.default_rng(5)
    for i, p in enumerate(q.persons):
        when = f"22 September 2026  9:{30 + i}"
        row = [p.last, p.first, p.mail, "Finished", when, "22 September 2026  10:41", "11 mins"]
        row.append(f"8{dot}50")
        for k in range(6):
            # The first question takes several answers, shuffled for each student.
            parts = [q.answer(i, k), "Both"] if k == 0 and q.answer(i, k) else [q.answer(i, k)]
            rng.shuffle(parts)
            row.append("; ".join(filter(None, parts)) or "-")
            if right:
                row.append("; ".join(["Both", q.key(k)] if k == 0 else [q.key(k)]))
        rows.append(row)
    return header, rows


def _moodle_truth(q, header, right: bool = True):
    step = 2 if right else 1
    names = [header[8 + step * k] for k in range(6)]
    answers = by_item(q, names)
    answers = {
        (who, item): (text, "Both") if item == names[0] else text
        for (who, item), text in answers.items()
    }
    key = {names[k]: ("Both", q.key(k)) if k == 0 else q.key(k) for k in range(6)} if right else {}
    return answers, key


def moodle(language: str = "en", kind: str = "csv") -> Made:
    q = quiz(4)
    comma = "," if language in ("de", "fr", "es", "it", "ru") else "."
    header, rows = _moodle(q, language, dot=comma)
    answers, key = _moodle_truth(q, header)
    if language == "xx":  # unknown words: the name parts are joined in their order
        answers = {
            (q.persons[_place(q, who)].last, item): text for (who, item), text in answers.items()
        }
    rows.insert(1, [*rows[0][:3], "In progress", rows[0][4], "-", "-", "-", *rows[0][8:]])
    rows[1][:3] = ["Moor", "Zoe", "zoe@example.org"]
    files = {
        "csv": lambda: {"course-quiz-responses.csv": csv_bytes([header, *rows], "utf-8-sig")},
        "semicolon": lambda: {"antworten.csv": csv_bytes([header, *rows], "cp1252", separator=";")},
        "xlsx": lambda: {"responses.xlsx": xlsx_bytes({"course quiz": [header, *rows]})},
        "ods": lambda: {"responses.ods": ods_bytes("course quiz", [header, *rows])},
        "polars": lambda: {"responses.csv": _through_polars(csv_bytes([header, *rows]))},
    }[kind]()
    return Made(files, answers, key, left_out=("unfinished",))


def _place(q, name: str) -> int:
    return [p.name for p in q.persons].index(name)


def _through_polars(data: bytes) -> bytes:
    import polars as pl

    return pl.read_csv(data, infer_schema=False).write_csv().encode()


def moodle_without_key() -> Made:
    q = quiz(5)
    header, rows = _moodle(q, "en", right=False)
    answers, _ = _moodle_truth(q, header, right=False)
    rows.append(["Overall average", *[""] * 6, "8.50", *["-"] * 6])
    return Made({"r.csv": csv_bytes([header, *rows])}, answers, left_out=("average",))


def moodle_json(language: str = "en") -> Made:
    q = quiz(6)
    header, rows = _moodle(q, language)
    keys = [
        "".join(c for c in h if c.isascii() and (c.isalnum() or c in "_-")).lower() for h in header
    ]
    records = [[dict(zip(keys, row, strict=True)) for row in rows]]
    answers, key = _moodle_truth(q, header)
    rename = dict(zip(header, keys, strict=True))
    answers = {
        (_json_name(q, who, language), rename[item]): t for (who, item), t in answers.items()
    }
    key = {rename[item]: text for item, text in key.items()}
    return Made({"responses.json": json.dumps(records).encode()}, answers, key)


def _json_name(q, who: str, language: str) -> str:
    # «lastname» and «firstname» are known; «nomdefamille» and «prnom» are not.
    return who if language == "en" else q.persons[_place(q, who)].last


def moodle_minus() -> Made:
    """Answers that begin with a minus are written with an apostrophe before it."""
    q = quiz(7, blank=0.0)
    header, rows = _moodle(q, "en")
    answers, key = _moodle_truth(q, header)
    for i, row in enumerate(rows):
        row[10], row[11] = ("'-3" if i % 2 else "3"), "'-3"
        answers[q.persons[i].name, "Response 2"] = "-3" if i % 2 else "3"
    key["Response 2"] = "-3"
    return Made({"r.csv": csv_bytes([header, *rows])}, answers, key)


def moodle_random() -> Made:
    """Question n is drawn from a pool: the item is its text, whatever the order of its options."""
    rng = np.random.default_rng(8)
    q = quiz(8, n_items=8, blank=0.0)
    header = [
        "Username", "Last name", "First name", "State", "Started on", "Completed", "Time taken",
    ]  # fmt: skip
    header.append("Grade/4.00")
    for k in range(4):
        header += [f"Question {k + 1}", f"Response {k + 1}", f"Right answer {k + 1}"]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        row = [p.code, p.last, p.first, "Finished", "22 May 2025  9:00 AM", "22 May 2025  9:30 AM"]
        row += ["30 mins", "4.00"]
        for k in rng.permutation(8)[:4]:
            shuffled = [q.options[k][j] for j in rng.permutation(4)]
            row += [f"{q.stems[k]}: {'; '.join(shuffled)}", q.answer(i, k), q.key(k)]
            answers[p.name, q.stems[k]] = q.answer(i, k)
        rows.append(row)
    asked = {item for _, item in answers}
    key = {q.stems[k]: q.key(k) for k in range(8) if q.stems[k] in asked}
    return Made({"Week4.csv": csv_bytes([header, *rows])}, answers, key)


def moodle_all_tries() -> Made:
    """Several tries of one attempt: the state stands on the last row, the address on the first."""
    q = quiz(9, blank=0.0)
    header, rows = _moodle(q, "en")
    answers, key = _moodle_truth(q, header)
    lines = []
    for row in rows:
        first, last = list(row), list(row)
        first[3], first[7] = "", ""
        last[2] = ""
        last[10] = "Another colour"
        first[12] = "-"  # the third question was answered at the second try only
        lines += [first, last]
    return Made({"r.csv": csv_bytes([header, *lines])}, answers, key, left_out=("other attempts",))


def moodle_stack() -> Made:
    header = ["Nachname", "Vorname", "Status", "Begonnen", "Beendet", "Dauer", "Bewertung/10,00"]
    header += ["Antwort 1", "Antwort 2"]
    when = ["19. Dezember 2023  14:28", "19. Dezember 2023  14:29", "1 Minute", "10,00"]
    rows = []
    for i in range(4):
        traces = [f"Seed: {i}; ans1: {i}*x [score]; prt1: # = 1", f"Seed: 1; ans1: x^{i} [score]"]
        rows.append([f"N{i}", "V", "Beendet", *when, *traces])
    return Made({"stack.csv": csv_bytes([header, *rows])}, refused="without a choice question")


def moodle_random_without_text() -> Made:
    """Drawn at random, and the file does not say which question was drawn."""
    q = quiz(10, blank=0.0)
    header, rows = _moodle(q, "en")
    for i, row in enumerate(rows):
        for k in range(6):
            row[8 + 2 * k], row[9 + 2 * k] = q.answer(i, k), q.options[k][i % 4]
    return Made({"r.csv": csv_bytes([header, *rows])}, refused="drawn at random")


def moodle_grades(language: str = "en") -> Made:
    short, dot = ("Q.", ".") if language == "en" else ("F", ",")
    header = ["Last name", "First name", "State", "Started on", f"Grade/10{dot}00"]
    header += [f"{short} {k + 1} /1{dot}00" for k in range(4)]
    rows = [["A", "B", "Finished", "1 May 2025  9:00 AM", "7", *["1.00", "0.50", "-", "0.00"]]] * 3
    return Made({"grades.csv": csv_bytes([header, *rows])}, refused="«Grades»")


# -- Google and Microsoft ------------------------------------------------------------------------


def google_form(stamp: str = "Timestamp", zipped: bool = False) -> Made:
    """The CSV of the form: scores and feedback behind each question, a grid, check boxes."""
    q = quiz(11, blank=0.0)
    names = [*q.stems[:5], "Rate these [Row one]"]
    header = [stamp, "Username", "Total score"]
    for name in names:
        header += [name, f"{name} [Score]", f"{name} [Feedback]"]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        row = ["2024/12/22 11:49:31 AM GMT+8", p.mail, "3.00 / 6"]
        for k, name in enumerate(names):
            text = q.answer(i, k) if k else ";".join(sorted([q.answer(i, 0), "All of these"]))
            row += [text, f"{q.points(i, k)}.00 / 1", ""]
            answers[p.mail, name] = text if k else (q.answer(i, 0), "All of these")
        rows.append(row)
    data = csv_bytes([header, *rows], quote_all=True)
    key = {n: q.key(k) for k, n in enumerate(names) if k}
    key[names[0]] = (q.key(0), "All of these")
    files = {"Quiz.csv.zip": zip_bytes({"Quiz.csv": data})} if zipped else {"Quiz.csv": data}
    return Made(files, answers, key)


def google_sheet(kind: str = "csv") -> Made:
    """The linked sheet: a score of the whole form, options with a comma, a form sent twice."""
    q = quiz(12, blank=0.1)
    header = ["Horodateur", "Adresse e-mail", "Note", *q.stems]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        row = ["8/4/2025 23:25:41", p.mail, "3 / 6"]
        for k in range(6):
            text = q.answer(i, k)
            text = f"{text}, dark" if k == 1 and text else text
            row.append(text)
            if text:
                answers[p.mail, q.stems[k]] = text
        rows.append(row)
    again = list(rows[0])
    again[3] = q.options[0][(int(q.chosen[0, 0]) + 1) % 4]
    rows.append(again)
    table = [header, *rows]
    data = xlsx_bytes({"Form Responses 1": table}) if kind == "xlsx" else csv_bytes(table)
    return Made({f"sheet.{kind}": data}, answers, left_out=("attempt",))


def google_survey() -> Made:
    """No score, no address: each row is a person; names that a grid repeats; a deleted question."""
    q = quiz(13, blank=0.0)
    header = ["Zeitstempel", *[f"How often?\n(one each) [Thing {k}]" for k in range(5)], "Colour?"]
    rows = [["2024/04/07 8:54:18 PM MEZ", *[q.answer(i, k) for k in range(6)]] for i in range(12)]
    names = [*[f"How often? (one each) [Thing {k}]" for k in range(5)], "Colour?"]
    persons = [str(i + 1) for i in range(12)]
    return Made({"survey.csv": csv_bytes([header, *rows])}, by_item(q, names, persons))


def microsoft_quiz(kind: str = "xlsx") -> Made:
    """Triples; several choices with a trailing semicolon; «Column7» for an empty header."""
    q = quiz(14, blank=0.05)
    french = ["ID", "Heure de début", "Heure de fin", "Adresse de messagerie", "Nom"]
    header = [*french, "Total points", "Quiz feedback"]
    names = [*q.stems[:5], "Column7"]
    for k, name in enumerate(names):
        title = q.stems[k] if k < 5 else ""
        header += [name, f"Points - {title}", f"Feedback - {title}"]
    header += ["Your class", "Points - Your class", "Feedback - Your class"]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        row = [i + 1, "2025-02-24 14:01:46", "2025-02-24 14:28:53", p.mail, p.name, 3, ""]
        for k, name in enumerate(names):
            text = q.answer(i, k)
            if k == 0 and text:
                text = f"{text};All;" if i % 2 else f"All;{text};"
                answers[p.mail, name] = (q.answer(i, k), "All")
            elif text:
                answers[p.mail, name] = text
            row += [text, q.points(i, k), ""]
        rows.append([*row, f"class {i % 2}", "", ""])
    key = {n: q.key(k) for k, n in enumerate(names) if k}
    key[names[0]] = (q.key(0), "All")
    table = [header, *rows]
    if kind == "xlsx":
        return Made({"quiz.xlsx": xlsx_bytes({"Sheet1": table})}, answers, key)
    return Made({"quiz.csv": csv_bytes(table, "utf-8-sig", separator=";")}, answers, key)


def microsoft_quiz_de() -> Made:
    """The words before points and feedback in another language, and the same everywhere."""
    q = quiz(16, blank=0.05)
    header = ["ID", "Startzeit", "Fertigstellungszeit", "E-Mail", "Name", "Gesamtpunktzahl"]
    for stem in q.stems:
        header += [stem, f"Punkte - {stem}", f"Feedback - {stem}"]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        row = [i + 1, "2025-02-24 14:01:46", "2025-02-24 14:28:53", p.mail, p.name, 3]
        for k, stem in enumerate(q.stems):
            row += [q.answer(i, k), q.points(i, k), ""]
            if q.answer(i, k):
                answers[p.mail, stem] = q.answer(i, k)
        rows.append(row)
    key = {stem: q.key(k) for k, stem in enumerate(q.stems)}
    return Made({"quiz.xlsx": xlsx_bytes({"Sheet1": [header, *rows]})}, answers, key)


def microsoft_survey() -> Made:
    """No quiz: five columns, then a question each; repeated names got a number from Excel."""
    q = quiz(15, blank=0.0)
    header = ["ID", "Start time", "Completion time", "Email", "Name", "Last modified time"]
    names = ["Tool", "Other", "Tool2", "Other2", "Tool3", "Other3"]
    rows = [
        [i + 4, "2025-02-24 14:01:46", "2025-02-24 14:28:53", "anonymous", "", ""]
        + [q.answer(i, k) for k in range(6)]
        for i in range(12)
    ]
    persons = [str(i + 4) for i in range(12)]
    data = xlsx_bytes({"Sheet1": [[*header, *names], *rows]})
    return Made({"survey.xlsx": data}, by_item(q, names, persons))
