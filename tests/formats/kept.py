"""Sheets and forms as people keep them: key submissions, answers in one cell, points beside."""

from __future__ import annotations

import json

import numpy as np

from formats.plain import _sheet
from formats.quiz import Made, by_item, csv_bytes, quiz, xlsx_bytes

STRINGS = ("in-a-row", "blanks", "commas", "json", "numbers", "no-header")


def strings(kind: str) -> Made:
    """All answers of a user in one cell."""
    header = kind != "no-header"
    names = [f"Answers {k + 1}" if header else f"item-{k + 2}" for k in range(10)]
    _, persons, rows, _, key = _sheet(121, names)
    if kind == "numbers":
        rows = [[str("ABCD".index(c) + 1) if c else "" for c in row] for row in rows]
        key = {name: str("ABCD".index(c) + 1) for name, c in key.items()}

    def cell(row) -> str:
        if kind == "json":
            return json.dumps([one or None for one in row])
        between = {"blanks": " ", "commas": ","}.get(kind, "")
        return between.join(one or ("" if kind == "commas" else "-") for one in row)

    table = [["Student", "Answers", "Passed"]] if header else []
    table += [["KEY", cell(key.values()), ""]] if header else []
    table += [[p, cell(rows[i]), "YN"[i % 2]] for i, p in enumerate(persons)]
    if not header:
        table = [[p, f"{p} of class {i}", row] for i, (p, row, _) in enumerate(table)]
    answers = {
        (p, n): rows[i][k] for i, p in enumerate(persons) for k, n in enumerate(names) if rows[i][k]
    }
    return Made({"scan.csv": csv_bytes(table)}, answers, key if header else {})


def scores_first() -> Made:
    """The first sheet holds the points, the second one the answers."""
    names = [f"Q{k + 1}" for k in range(10)]
    q, persons, rows, answers, key = _sheet(122, names)
    points = [[q.points(i, k) for k in range(10)] for i in range(12)]
    scores = [["Name", *names, "Total"]]
    scores += [[p, *own, sum(own)] for p, own in zip(persons, points, strict=True)]
    sheet = [["Name", *names], ["KEY", *key.values()]]
    sheet += [[p, *row] for p, row in zip(persons, rows, strict=True)]
    book = {"Scores": scores, "Responses": sheet}
    return Made({"class.xlsx": xlsx_bytes(book)}, answers, key)


def marked_answers() -> Made:
    """«a)», «A.» and «(A)» are the same answer as «A»."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, _ = _sheet(123, names)
    table = [["Name", *names]]
    bare = [{rows[i][k] for i in range(12) if i % 6 < 3} for k in range(10)]
    for i, p in enumerate(persons):
        way = ("{}", "{}", "{}", "{})", "{}.", "({})")[i % 6]
        own = [way.format(c) if c and c in bare[k] else c for k, c in enumerate(rows[i])]
        table.append([p, *own])
    return Made({"class.csv": csv_bytes(table)}, answers)


def points_named() -> Made:
    """A column with the points of each question, named so: they tell the key."""
    names = [f"Q{k + 1}" for k in range(8)]
    q, persons, rows, answers, key = _sheet(124, names)
    table = [["Name", *[cell for n in names for cell in (n, f"{n} Score")], "Total"]]
    for i, p in enumerate(persons):
        own = [cell for k in range(8) for cell in (rows[i][k], q.points(i, k))]
        table.append([p, *own, sum(own[1::2])])
    return Made({"class.csv": csv_bytes(table)}, answers, key)


def raters_short(kind: str = "ann") -> Made:
    """Raters in columns with short names; beside them what most of them said."""
    names = [f"a text with words {k}" for k in range(12)]
    _, _, rows, _, key = _sheet(125, names, blank=0.0)
    users = [f"ann{i + 1}" if kind == "ann" else f"annotator_{i + 1}" for i in range(4)]
    gold = ["majority", "gold"] if kind == "gold" else []
    table = [["text" if kind == "ann" else "item", *users, *gold]]
    for k, name in enumerate(names):
        own = [row[k] for row in rows[:4]]
        said = max(sorted(set(own)), key=own.count)
        table.append([name, *own, *([said, key[name]] if gold else [])])
    answers = {(u, n): rows[i][k] for i, u in enumerate(users) for k, n in enumerate(names)}
    return Made({"labels.csv": csv_bytes(table)}, answers, key if gold else {})


def counts_per_answer() -> Made:
    """How often each answer was given."""
    table = [["item", "label", "count"]]
    table += [[f"i{k}", label, 3 + k % 4] for k in range(10) for label in ("yes", "no")]
    return Made({"counts.csv": csv_bytes(table)}, refused="counts per answer")


def survey_paradata() -> Made:
    """Page numbers, modes and ids that are the same in all rows, beside answers in numbers."""
    names = [f"A1{k + 1:02}" for k in range(8)]
    q = quiz(126, n_items=8)
    header = ["CASE", "QUESTNNR", "STARTED", *names, "TIME001", "FINISHED", "LASTPAGE"]
    header.append("player.group_id")
    table, answers = [header], {}
    for i in range(12):
        own = [int(q.chosen[i, k]) + 1 or -9 for k in range(8)]
        time = f"2026-01-05 10:{i:02}:00"
        table.append([i + 10, "base", time, *own, 7 + 5 * i, 1, 3, 1])
        answers |= {(str(i + 10), n): str(a) for n, a in zip(names, own, strict=True) if a > 0}
    return Made({"survey.csv": csv_bytes(table)}, answers)


# -- forms that the teacher filled in too -------------------------------------------------------


def google_key(kind: str = "mail") -> Made:
    """The teacher sent the form as «KEY»."""
    q = quiz(127)
    mails = kind == "mail"
    lead = ["Timestamp", *(["Email Address"] if mails else []), "Your name"]
    table = [[*lead, *q.stems]]
    who = ["teacher@example.org", "KEY"] if mails else ["Answer Key"]
    table.append(["1/5/2026 9:00:00", *who, *[q.key(k) for k in range(6)]])
    for i, p in enumerate(q.persons):
        who = [p.mail, p.name] if mails else [p.name]
        own = [q.answer(i, k) for k in range(6)]
        table.append([f"1/5/2026 10:{i:02}:00", *who, *own])
    names = [p.mail if mails else p.name for p in q.persons]
    key = {stem: q.key(k) for k, stem in enumerate(q.stems)}
    answers = by_item(q, q.stems, names)
    return Made({"form.csv": csv_bytes(table)}, answers, key, left_out=("it holds the key",))


def microsoft_key() -> Made:
    """An anonymous form that asks for the name; the teacher wrote «KEY»."""
    q = quiz(128)
    lead = ["ID", "Start time", "Completion time", "Email", "Name", "Your name"]
    table = [[*lead, *q.stems]]
    for i, name in enumerate(["KEY", *[p.name for p in q.persons]]):
        own = [q.key(k) if not i else q.answer(i - 1, k) for k in range(6)]
        times = [f"1/5/2026 10:{i:02}:00", f"1/5/2026 10:{i:02}:50"]
        table.append([i + 1, *times, "anonymous", "", name, *own])
    key = {stem: q.key(k) for k, stem in enumerate(q.stems)}
    files = {"form.xlsx": xlsx_bytes({"Sheet1": table})}
    return Made(files, by_item(q, q.stems), key, left_out=("it holds the key",))


def blocks_with_key(kind: str = "points") -> Made:
    """Answer and points, or answer and whether it is right; a key row and averages, or neither."""
    q = quiz(129)
    second = "Points" if kind == "points" else "Correct"
    header = [f"Q{k + 1} {part}" for k in range(6) for part in ("Answer", second)]
    table = [["Name", *header]]
    if kind == "points":
        table.append(["KEY", *[cell for k in range(6) for cell in (q.key(k), 1)]])
    for i, p in enumerate(q.persons):
        right = [q.points(i, k) if kind == "points" else "NY"[q.points(i, k)] for k in range(6)]
        own = [cell for k in range(6) for cell in (q.answer(i, k), right[k])]
        table.append([p.name, *own])
    if kind == "points":
        table.append(["Average", *[cell for k in range(6) for cell in ("", 0.5)]])
    names = [str(k + 1) for k in range(6)]
    key = {name: q.key(k) for k, name in enumerate(names)}
    return Made({"marked.csv": csv_bytes(table)}, by_item(q, names), key)


def points_per_row(kind: str = "score") -> Made:
    """One row per user and item, with points or whether it was right, and no answers."""
    q = quiz(130)
    column = ["score", "max_score"] if kind == "score" else ["correct", "skill"]
    table = [["student_id", "question_id", *column]]
    last = 1 if kind == "score" else "algebra"
    table += [[f"s{i}", f"q{k}", q.points(i, k), last] for i in range(12) for k in range(6)]
    return Made({"log.csv": csv_bytes(table)}, refused="table of points")


def whole_scores() -> Made:
    """Whole numbers per test: scores of models, not answers."""
    rng = np.random.default_rng(131)
    table = [["model", "MMLU", "ARC", "HellaSwag"]]
    table += [[f"m{i}", *rng.integers(30, 90, 3).tolist()] for i in range(15)]
    return Made({"board.csv": csv_bytes(table)}, refused="numbers that hardly repeat")


def keys_in_capitals() -> Made:
    """One answer per row in small letters, with the right option in capitals."""
    names = [f"q{k + 1}" for k in range(8)]
    _, persons, rows, answers, key = _sheet(132, names)
    table = [["Student", "Question", "Chosen Option", "Correct Option"]]
    for i, p in enumerate(persons):
        table += [[p, n, rows[i][k].lower(), key[n]] for k, n in enumerate(names)]
    small = {place: text.lower() for place, text in answers.items()}
    return Made({"log.csv": csv_bytes(table)}, small, {n: c.lower() for n, c in key.items()})


def file_per_user() -> Made:
    """A file per model with its answers by question, and nothing else."""
    names = [f"q{k + 1}" for k in range(8)]
    _, persons, rows, answers, _ = _sheet(133, names, blank=0.0)
    files = {
        f"{p}.json": json.dumps(dict(zip(names, row, strict=True))).encode()
        for p, row in zip(persons, rows, strict=True)
    }
    return Made(files, answers)
