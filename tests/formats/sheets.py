"""Plain tables as teachers and researchers keep them, and what they are easily mistaken for."""

from __future__ import annotations

import json

from formats.plain import _sheet
from formats.quiz import Made, csv_bytes, csv_text, quiz

#: By language: id, name, question, key, separator and encoding of a class list with a key row.
CLASSES = {
    "en": ("ID", "Name", "Q{}", "ANSWER KEY", ",", "utf-8"),
    "de": ("Matrikelnummer", "Name", "Frage {}", "Lösung", ";", "cp1252"),
    "nl": ("Studentnummer", "Naam", "Vraag {}", "Sleutel", ";", "utf-8"),
    "tr": ("Öğrenci No", "Ad Soyad", "Soru {}", "Cevap Anahtarı", ";", "utf-8"),
    "ru": ("Номер", "Студент", "Вопрос {}", "Ключ", ";", "cp1251"),
    "zh": ("学号", "姓名", "第{}题", "标准答案", ",", "gb18030"),
    "ja": ("学籍番号", "氏名", "問{}", "正解", ",", "cp932"),
}


def class_list(language: str = "en") -> Made:
    """The key row is named in another column than the one that names the users."""
    number, name, question, key_name, separator, encoding = CLASSES[language]
    names = [question.format(k + 1) for k in range(10)]
    _, _, rows, _, key = _sheet(71, names)
    ids = [str(20260101 + 7 * i) for i in range(12)]
    who = {"en": ids, "ru": [f"Студент {i}" for i in range(12)]}.get(language, ids)
    people = [f"Студент {i}" if language == "ru" else f"pupil-{i}" for i in range(12)]
    lines = [["" if language == "en" else key_name, key_name, *key.values()]]
    lines += [[ids[i], people[i], *rows[i]] for i in range(12)]
    answers = {(who[i], names[k]): rows[i][k] for i in range(12) for k in range(10) if rows[i][k]}
    table = [[number, name, *names], *lines]
    files = {"class.csv": csv_text(table, separator).encode(encoding)}
    return Made(files, answers, key, left_out=("key",))


def key_and_no_header() -> Made:
    """A scanner's file: the key is the first row, and no row holds names."""
    names = [f"item-{k + 3}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(72, names)
    lines = [["KEY", "0", 10, *key.values()]]
    lines += [[p, str(7100 + i), 10, *rows[i]] for i, p in enumerate(persons)]
    return Made({"scan.csv": csv_bytes(lines)}, answers, key, left_out=("key",))


def statistics_below() -> Made:
    """The form of the test, counts, a key row, and statistics below the answers."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(73, names)
    table = [["StudentID", "Test Form", "correct", "percent", *names]]
    table += [["KEY", "A", "", "", *key.values()]]
    table += [[p, "A", i % 7, f"{50 + i}.5", *rows[i]] for i, p in enumerate(persons)]
    table += [["Pct correct", "", "", "", *[f"{51 + k}.5" for k in range(10)]]]
    table += [["Point-biserial", "", "", "", *[f"0.{31 + k}" for k in range(10)]]]
    return Made({"scored.csv": csv_bytes(table)}, answers, key, left_out=("key", "sums up"))


def points_beside(kind: str = "ticked") -> Made:
    """Columns of points beside those of the answers; together they give the key away."""
    names = [f"{'TICKED:' if kind == 'ticked' else ''}q{k + 1:02}" for k in range(8)]
    q, persons, rows, answers, key = _sheet(74, names)
    points = [[q.points(i, k) for k in range(8)] for i in range(12)]
    if kind == "ticked":
        header = [cell for name in names for cell in (name.removeprefix("TICKED:"), name)]
        lines = [
            [cell for pair in zip(points[i], rows[i], strict=True) for cell in pair]
            for i in range(12)
        ]
    else:
        header = [*names, *[f"s{k + 1}" for k in range(8)]]
        lines = [[*rows[i], *points[i]] for i in range(12)]
    table = [["Student", *header], *[[p, *line] for p, line in zip(persons, lines, strict=True)]]
    return Made({"marked.csv": csv_bytes(table)}, answers, key)


def in_rows(kind: str = "students") -> Made:
    """Users in columns: students, raters, or language models beside the right answer."""
    names = [f"Q{k + 1}" for k in range(10)]
    q, _, rows, _, key = _sheet(75, names, blank=0.0)
    users = {
        "students": [f"student{i + 1}" for i in range(12)],
        "raters": [f"rater_{i + 1}" for i in range(12)],
        "models": [f"gpt-{i}" if i % 2 else f"llama-{i}b" for i in range(12)],
    }[kind]
    lead = {
        "students": ["Item"],
        "raters": ["", "text"],
        "models": ["question", "A", "B", "C", "D"],
    }
    header = [*lead[kind], *(["answer"] if kind == "models" else []), *users]
    table = [header]
    labels = {"students": names, "raters": [str(k + 1) for k in range(10)], "models": q.stems[:10]}
    for k, name in enumerate(labels[kind]):
        more = {"students": [], "raters": [f"a text with words {k}"], "models": q.options[k]}[kind]
        gold = [key[names[k]]] if kind == "models" else []
        table.append([name, *more, *gold, *[rows[i][k] for i in range(12)]])
    answers = {
        (users[i], labels[kind][k]): rows[i][k] for i in range(12) for k in range(10) if rows[i][k]
    }
    right = dict(zip(labels[kind], key.values(), strict=True)) if kind == "models" else {}
    return Made({"answers.csv": csv_bytes(table)}, answers, right)


def rows_with_topics() -> Made:
    """Users in columns; the key is called «Correct», and each question has a topic."""
    names = [str(k + 1) for k in range(10)]
    _, _, rows, _, key = _sheet(87, names)
    people = [f"Ann {c}" for c in "BCDFGHJKLMNP"]
    table = [["Question No", "Topic", "Correct", *people]]
    for k, name in enumerate(names):
        table.append([name, ("Algebra", "Sets")[k % 2], key[name], *[row[k] for row in rows]])
    answers = {(people[i], n): rows[i][k] for i in range(12) for k, n in enumerate(names)}
    return Made({"exam.csv": csv_bytes(table)}, answers, key)


def answer_sheet() -> Made:
    """Roll numbers, the set of the paper, counts and ranks; «*» for two marks; keys in capitals."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, _, rows, _, key = _sheet(88, names, blank=0.0)
    rows = [[cell.lower() for cell in row] for row in rows]
    rows[4][3] = rows[6][1] = "*"
    ids = [f"R{i:03}" for i in range(12)]
    header = ["S.No", "Roll No", "Class", "Set", *names, "Correct", "Wrong", "Rank"]
    table = [header, ["", "KEY", "", "", *key.values(), "", "", ""]]
    table += [[i + 1, ids[i], "10-B", "A", *rows[i], 4, 6, i + 1] for i in range(12)]
    answers = {(ids[i], n): rows[i][k] for i in range(12) for k, n in enumerate(names)}
    answers = {place: text for place, text in answers.items() if text != "*"}
    right = {name: answer.lower() for name, answer in key.items()}
    return Made({"omr.csv": csv_bytes(table)}, answers, right)


def questions_with_words() -> Made:
    """Questions whose texts hold words that other columns are called by."""
    names = [
        "What time is it?", "How many points has a star?", "Which grade of steel?",
        "Date of the battle?", "Number of correct legs?", "What is your reason?",
    ]  # fmt: skip
    q, persons, _, _, _ = _sheet(89, names)
    rows = [[q.answer(i, k) for k in range(6)] for i in range(12)]
    table = [["Name", *names], *[[p, *row] for p, row in zip(persons, rows, strict=True)]]
    answers = {(persons[i], n): rows[i][k] for i in range(12) for k, n in enumerate(names)}
    return Made({"quiz.csv": csv_bytes(table)}, answers)


def labels_with_times() -> Made:
    """Worker, item, label and time, without a header."""
    names = [f"img{k}" for k in range(10)]
    _, persons, rows, answers, _ = _sheet(90, names)
    lines = [
        [p, n, rows[i][k], f"2013-01-{1 + (i * k) % 28:02} 10:00:00"]
        for i, p in enumerate(persons)
        for k, n in enumerate(names)
        if rows[i][k] and (i + k) % 10 < 10 - 2 * (i % 5)  # users differ, items do not
    ]
    kept = {(line[0], line[1]) for line in lines}
    answers = {place: text for place, text in answers.items() if place in kept}
    return Made({"labels.tsv": csv_text(lines, "\t").encode()}, answers)


def models_and_subjects() -> Made:
    """One prediction per row: the subject is the question's, not a person."""
    names = [f"what is {k}?" for k in range(10)]
    _, persons, rows, answers, key = _sheet(91, names)
    table = [["model", "subject", "question", "answer", "prediction"]]
    for i, p in enumerate(persons):
        for k, name in enumerate(names):
            table.append([p, ("law", "art")[k % 2], name, key[name], rows[i][k]])
    return Made({"all.csv": csv_bytes(table)}, answers, key)


def strange_rows(kind: str = "texts") -> Made:
    """Texts of the questions below the header and weights, or the header again; counts below."""
    names = [f"Q{k + 1}" for k in range(10)]
    q, persons, rows, answers, key = _sheet(93, names)
    lines = [[p, *row] for p, row in zip(persons, rows, strict=True)]
    table = [["ID", *names]]
    if kind == "texts":
        table += [["Question", *q.stems], ["KEY", *key.values()]]
        table += [["Weight", *[1 + k % 2 for k in range(10)]], *lines]
    else:
        table += [*lines[:6], ["ID", *names], *lines[6:]]
    table += [["# correct", *[20 + k for k in range(10)]]]
    table += [["Diff(p)", *[f"0.{41 + k}" for k in range(10)]]]
    right = key if kind == "texts" else {}
    return Made({"class.csv": csv_bytes(table)}, answers, right, left_out=("nobody else",))


def texts_in_rows(kind: str = "key") -> Made:
    """Users in columns, and options of its own in each row."""
    q = quiz(94, n_items=12)
    people = [p.name for p in q.persons]
    table = [["Question", *(["Correct answer"] if kind == "key" else ["Correct"]), *people]]
    for k, stem in enumerate(q.stems):
        beside = q.key(k) if kind == "key" else str(int((q.chosen[:, k] == q.right[k]).sum()))
        table.append([stem, beside, *[q.answer(i, k) for i in range(12)]])
    answers = {
        (people[i], q.stems[k]): q.answer(i, k)
        for i in range(12)
        for k in range(12)
        if q.answer(i, k)
    }
    key = {stem: q.key(k) for k, stem in enumerate(q.stems)} if kind == "key" else {}
    return Made({"players.csv": csv_bytes(table)}, answers, key)


def rated_subjects() -> Made:
    """Raters judge subjects, which are the items."""
    names = [f"subject-{k}" for k in range(10)]
    _, persons, rows, answers, _ = _sheet(95, names)
    table = [["subject", "rater", "rating"]]
    table += [[n, p, rows[i][k]] for k, n in enumerate(names) for i, p in enumerate(persons)]
    return Made({"ratings.csv": csv_bytes(table)}, answers)


def attempts() -> Made:
    """A column with the number of the attempt; the newest attempt stands first."""
    names = [f"q{k + 1}" for k in range(8)]
    _, persons, rows, answers, _ = _sheet(76, names)
    again = [[persons[i], 2, *rows[i + 1]] for i in range(3)]
    lines = [[persons[i], 1, *rows[i]] for i in range(12)]
    return Made(
        {"tries.csv": csv_bytes([["Username", "Attempt", *names], *again, *lines])}, answers
    )


def logged() -> Made:
    """One answer per row, with its time first and what is right last."""
    names = [f"q{k + 1}" for k in range(8)]
    _, persons, rows, answers, key = _sheet(77, names)
    table = [["timestamp", "student", "question", "answer", "correct_answer", "is_correct"]]
    for i, p in enumerate(persons):
        for k, name in enumerate(names):
            right = str(rows[i][k] == key[name])
            time = f"2024-01-01 10:{i:02}:{k:02}"
            table.append([time, p, name, rows[i][k], key[name], right])
    return Made({"log.csv": csv_bytes(table)}, answers, key)


def amt_labels() -> Made:
    """Labels with the names that a known collection of crowd labels has."""
    names = [str(k + 500) for k in range(8)]
    _, persons, rows, answers, key = _sheet(78, names)
    table = [["!amt_annotation_ids", "!amt_worker_ids", "orig_id", "response", "gold"]]
    for k, name in enumerate(names):
        for i, p in enumerate(persons):
            table.append([len(table), p, name, rows[i][k], key[name]])
    return Made({"rte.tsv": csv_text(table, "\t").encode()}, answers, key)


def file_per_model(kind: str = "gold") -> Made:
    """One file per model, with the right answers beside the model's own."""
    names = [f"q{k + 1}" for k in range(8)]
    q, persons, rows, answers, key = _sheet(79, names, blank=0.0)
    files = {}
    for i, p in enumerate(persons):
        lines = [[n, rows[i][k], key[n]] for k, n in enumerate(names)]
        if kind == "gold":
            files[f"{p}.csv"] = csv_bytes([["question_id", "prediction", "gold"], *lines])
        else:
            records = [
                {"question": n, "choices": q.options[k], "answer": right, "prediction": own}
                for k, (n, own, right) in enumerate(lines)
            ]
            files[f"{p}.json"] = json.dumps(records).encode()
    return Made(files, answers, key)


def records_with_lists() -> Made:
    """Records of answers that also hold the list of options."""
    names = [f"q{k + 1}" for k in range(8)]
    q, persons, rows, answers, _ = _sheet(80, names)
    lines = [
        {"student": p, "question": n, "options": q.options[k], "answer": rows[i][k] or None}
        for i, p in enumerate(persons)
        for k, n in enumerate(names)
    ]
    return Made({"log.jsonl": "".join(f"{json.dumps(x)}\n" for x in lines).encode()}, answers)


def points_only() -> Made:
    """Points per question with decimal commas, between semicolons."""
    q = quiz(81)
    table = [["Name", "Aufgabe 1", "Aufgabe 2", "Aufgabe 3", "Summe", "Note"]]
    for i, p in enumerate(q.persons):
        own = [(i * 7 % 21) / 2, (i * 5 % 13) / 2, (i * 3 % 17) / 2]
        cells = [str(x).replace(".", ",") for x in (*own, sum(own), 1.3)]
        table.append([p.name, *cells])
    return Made({"exam.csv": csv_text(table, ";").encode()}, refused="table of points")


def whole_points() -> Made:
    """Whole points that add up to the last column."""
    q = quiz(82)
    table = [["Name", "P1", "P2", "P3", "Total"]]
    for i, p in enumerate(q.persons):
        own = [i % 5, i * 3 % 4, i * 7 % 11]
        table.append([p.name, *own, sum(own)])
    return Made({"exam.csv": csv_bytes(table)}, refused="table of points")


def question_list() -> Made:
    """A list of questions with their options and the right one."""
    q = quiz(83, n_items=12)
    table = [["question", "option_a", "option_b", "option_c", "option_d", "correct_answer"]]
    table += [[q.stems[k], *q.options[k], q.key_letter(k)] for k in range(12)]
    return Made({"bank.csv": csv_bytes(table)}, refused="a list of questions")


def one_model() -> Made:
    """What one model predicts, beside what is right."""
    q = quiz(92, n_items=12)
    table = [["question", "answer", "prediction"]]
    table += [[q.stems[k], q.key_letter(k), q.letter(0, k)] for k in range(12)]
    return Made({"model-a.csv": csv_bytes(table)}, refused="all answers are those of one user")


def key_alone() -> Made:
    """A key, without answers."""
    q = quiz(84, n_items=12)
    table = [["question", "answer"], *[[f"Q{k + 1}", q.key_letter(k)] for k in range(12)]]
    return Made({"key.csv": csv_bytes(table)}, refused="one answer per item")


def copies() -> Made:
    """Files that hold the same answers: what tells them apart is in columns that are no answers."""
    names = [f"q{k + 1}" for k in range(6)]
    _, persons, rows, _, _ = _sheet(85, names)
    table = [["student", *names], *[[p, *row] for p, row in zip(persons, rows, strict=True)]]
    files = {f"model-{c}/answers.csv": csv_bytes(table) for c in "ab"}
    return Made(files, refused="the same answers from the same users")


def conflicts() -> Made:
    """Files in which the same rows say different things: they are no users, or attempts."""
    names = [f"q{k + 1}" for k in range(6)]
    _, persons, rows, _, _ = _sheet(86, names)
    files = {}
    for n in range(2):
        own = [[p, *rows[(i + n) % 12]] for i, p in enumerate(persons)]
        files[f"week-{n + 1}.csv"] = csv_bytes([["student", *names], *own])
    return Made(files, refused="hold different answers")
