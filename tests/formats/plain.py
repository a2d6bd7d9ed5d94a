"""Plain tables with a key, answer sheets, and labels in long tables: made by our own code."""

from __future__ import annotations

import numpy as np

from formats.crowd import LABELS, _answers, labels
from formats.quiz import Made, csv_bytes, quiz, xlsx_bytes


def _sheet(seed: int, names, persons=None, blank: float = 0.05):
    """A quiz in letters: rows, who chose what, and the key."""
    q = quiz(seed, n_items=len(names), blank=blank)
    persons = persons or [f"student-{i + 1:02}" for i in range(12)]
    rows = [[q.letter(i, k) for k in range(len(names))] for i in range(12)]
    answers = {
        (persons[i], names[k]): rows[i][k]
        for i in range(12)
        for k in range(len(names))
        if rows[i][k]
    }
    return q, persons, rows, answers, {names[k]: q.key_letter(k) for k in range(len(names))}


def key_row(kind: str = "first") -> Made:
    """A row KEY first or last; averages below; a score."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(61, names)
    lines = [[person, *row, sum(map(bool, row))] for person, row in zip(persons, rows, strict=True)]
    own = ["KEY" if kind == "first" else "Answer Key", *key.values(), ""]
    lines = [own, *lines] if kind == "first" else [*lines, own]
    lines.append(["Average", *[0.5 + k / 100 for k in range(10)], 7.25])
    table = [["ID", *names, "Total Score"], *lines]
    files = (
        {"class.xlsx": xlsx_bytes({"Test": table})}
        if kind == "first"
        else {"class.csv": csv_bytes(table)}
    )
    return Made(files, answers, key, left_out=("key",))


def key_above() -> Made:
    """The key stands above the header, and nobody is named; BLANK and MULT are no options."""
    names = [f"q{k + 1}" for k in range(10)]
    q = quiz(62, n_items=10, blank=0.0)
    persons = [f"user-{i + 1}" for i in range(12)]
    rows = [[q.letter(i, k).lower() for k in range(10)] for i in range(12)]
    rows[3][4], rows[5][6] = "BLANK", "MULT"
    key = {names[k]: q.key_letter(k).lower() for k in range(10)}
    table = [[*key.values(), "", ""], [*names, "MC Score", "FR Score"]]
    table += [[*row, 20 + i, 10.5 + i] for i, row in enumerate(rows)]
    answers = {
        (persons[i], names[k]): rows[i][k]
        for i in range(12)
        for k in range(10)
        if len(rows[i][k]) == 1
    }
    return Made({"exam.csv": csv_bytes(table)}, answers, key)


def items_in_rows() -> Made:
    """One row per question, the right answer in a column, a column per person."""
    names = [f"item-{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(63, names)
    table = [["Question", "Correct answer", *persons]]
    table += [[name, key[name], *[row[k] for row in rows]] for k, name in enumerate(names)]
    return Made({"items.csv": csv_bytes(table)}, answers, key)


def scantron() -> Made:
    """Name parts, codes and totals, then _1, _2, … with numbers; 0 is no mark."""
    names = [f"_{k + 1}" for k in range(10)]
    q = quiz(64, n_items=10)
    header = ["LastName", "FirstName", "MI", "ID", "SpecialCodes", "TotalScore", "TOTALPCT", *names]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        marks = [int(q.chosen[i, k]) + 1 for k in range(10)]
        rows.append([p.last, p.first, "", p.code, "", 5, 50.0, *marks])
        for k in range(10):
            if marks[k]:
                answers[p.name, names[k]] = str(marks[k])
    return Made({"scan.csv": csv_bytes([header, *rows])}, answers)


def long_table(kind: str = "crowd-kit") -> Made:
    """Task, worker and label; the truth in a file beside."""
    given, truth = labels(65, n_tasks=30)
    header, gold = {
        "crowd-kit": (["task", "worker", "label"], ["task", "label"]),
        "performer": (["performer", "task", "label"], ["task", "label"]),
        "question": (["question", "worker", "answer"], ["question", "truth"]),
        "netease": (["taskId", "workerId", "answer"], ["taskId", "truth"]),
    }[kind]
    rows = []
    for w in range(8):
        for t in range(30):
            if given[w, t] >= 0:
                cells = {"task": f"task-{t}", "worker": f"worker-{w}", "label": LABELS[given[w, t]]}
                places = {"question": "task", "taskId": "task", "workerId": "worker"}
                places |= {"performer": "worker", "answer": "label"}
                rows.append([cells[places.get(name, name)] for name in header])
    beside = {"question": "truth.csv", "netease": "truth.csv"}.get(kind, "gt.csv")
    key = {f"task-{t}": LABELS[truth[t]] for t in range(30)}
    files = {"answer.csv": csv_bytes([header, *rows]), beside: csv_bytes([gold, *key.items()])}
    return Made(files, _answers(given), key)


def long_without_header(separator: str = "\t") -> Made:
    given, _ = labels(66, n_tasks=40)
    answers = _answers(given)
    rows = [[worker, task, label] for (worker, task), label in answers.items()]
    text = "".join(separator.join(row) + "\n" for row in rows)
    return Made({"labels.txt": text.encode()}, answers)


def eedi() -> Made:
    """Long, with the right answer in each row; two keys for one question; a number per answer."""
    q = quiz(67, n_persons=12, n_items=15, blank=0.3)
    rng = np.random.default_rng(67)
    header = ["QuestionId", "UserId", "AnswerId", "IsCorrect", "CorrectAnswer", "AnswerValue"]
    rows, answers = [], {}
    for i in range(12):
        for k in range(15):
            if q.chosen[i, k] >= 0:
                right = q.right[k] + 1
                if k == 3 and i > 9:
                    right = (q.right[k] + 1) % 4 + 1
                value = int(q.chosen[i, k]) + 1
                rows.append([100 + k, 900 + i, 0, int(value == right), right, value])
                answers[str(900 + i), str(100 + k)] = str(value)
    for row, number in zip(rows, rng.permutation(len(rows)), strict=True):
        row[2] = 5000 + int(number)
    key = {str(100 + k): str(q.right[k] + 1) for k in range(15)}
    return Made({"train_task_3_4.csv": csv_bytes([header, *rows])}, answers, key)
