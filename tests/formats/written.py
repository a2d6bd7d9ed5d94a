"""Answers as scripts, experiments and careful teachers write them, with names of their own."""

from __future__ import annotations

import json

from formats.crowd import _answers, labels
from formats.plain import _sheet
from formats.quiz import Made, csv_bytes, quiz, xlsx_bytes
from hitsndiffs.reading.exports.common import short_hash

#: By kind: the columns of a table with one row per answer, and what stands in them.
CROSSED = {
    "coder": {"coder": "user", "unit": "item", "code": "answer"},
    "image": {"image_name": "item", "annotator": "user", "tag": "answer", "when": "time"},
    "experiment": {
        "participant": "user",
        "trial": "item",
        "response": "answer",
        "rt": "number",
        "correct": "right",
        "corr_ans": "key",
    },
    "events": {
        "Event Index": "row",
        "UTC Timestamp": "time",
        "Participant Public ID": "user",
        "Task Name": "same",
        "Trial Number": "item",
        "Reaction Time": "number",
        "Response": "answer",
        "Correct": "right",
        "ANSWER": "key",
    },
    "platform": {
        "Last Name": "last",
        "First Name": "same",
        "Unique User ID": "user",
        "Question": "item",
        "Answer Submission": "answer",
        "Correct Answer": "key",
        "Points Received": "right",
    },
    "models": {
        "model_name": "user",
        "prompt_id": "item",
        "raw_output": "text",
        "parsed_answer": "answer",
        "gold": "key",
        "latency_ms": "number",
    },
    "id": {"model": "user", "id": "item", "response": "answer", "answer": "key"},
    "task": {"model": "user", "task": "same", "doc_id": "item", "pred": "answer", "target": "key"},
}


def crossed(kind: str) -> Made:
    """One answer per row: only the cells tell which column holds the items or the answers."""
    numbers = kind in ("experiment", "events", "id", "task")
    names = [f"{k + 1}" if numbers else f"thing-{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(101, names)
    columns = CROSSED[kind]
    table = [list(columns)]
    for i, p in enumerate(persons):
        for k, name in enumerate(names):
            if rows[i][k]:
                right = int(rows[i][k] == key[name])
                cells = {"user": p, "item": name, "answer": rows[i][k], "key": key[name]}
                cells |= {"row": len(table), "number": 317 + 7 * i + 13 * k, "right": right}
                cells |= {"time": f"2024-03-01 10:{i:02}:{k:02}", "same": "first", "last": f"L{i}"}
                cells |= {"text": f"I think it is {rows[i][k]}, says {p} on {name}"}
                table.append([cells[content] for content in columns.values()])
    return Made(
        {"answers.csv": csv_bytes(table)}, answers, key if "key" in columns.values() else {}
    )


def numbered_anew() -> Made:
    """The questions are numbered from 0 in every task: both columns together name an item."""
    names = [f"{task}/{k}" for task in ("arc", "boolq") for k in range(5)]
    _, persons, rows, answers, key = _sheet(102, names)
    table = [["model", "task", "doc_id", "pred", "target"]]
    for p, row in zip(persons, rows, strict=True):
        table += [[p, *n.split("/"), own, key[n]] for n, own in zip(names, row, strict=True)]
    return Made({"all.csv": csv_bytes(table)}, answers, key)


def references() -> Made:
    """Users in columns; the key is called a reference, and the rows have ids."""
    names = [f"{k:08x}" for k in range(40, 52)]
    q, persons, rows, _, key = _sheet(103, names)
    users = [f"outputs_{p}" for p in persons]
    table = [["id", "inputs", "reference_outputs", *users]]
    for k, name in enumerate(names):
        table.append([name, q.stems[k], key[name], *[row[k] for row in rows]])
    answers = {
        (users[i], n): rows[i][k] for i in range(12) for k, n in enumerate(names) if rows[i][k]
    }
    return Made({"experiments.csv": csv_bytes(table)}, answers, key)


NESTED = (
    "by-user", "by-item", "by-item-with-key", "leaves", "answers-by-item", "lists", "named-lists",
    "results", "records-by-user", "students", "students-records", "json-lines", "columns", "beside",
)  # fmt: skip
_WITH_KEY = {
    "beside",
    "by-item-with-key",
    "leaves",
    "answers-by-item",
    "results",
    "json-lines",
    "records-by-user",
}


def nested(kind: str) -> Made:
    """The same answers in the shapes that scripts give them."""
    plain = kind in ("lists", "named-lists")
    names = [f"item-{k + 1}" if plain else f"q{k + 1}" for k in range(8)]
    _, _, rows, _, key = _sheet(104, names, blank=0.0)
    users = [f"gpt-{i}" if i % 2 else f"llama-{i}b" for i in range(12)]
    own = {u: dict(zip(names, row, strict=True)) for u, row in zip(users, rows, strict=True)}
    turned = {n: {u: own[u][n] for u in users} for n in names}
    made = {
        "by-user": own,
        "by-item": turned,
        "by-item-with-key": {n: {**turned[n], "answer": key[n]} for n in names},
        "leaves": {
            u: {n: {"prediction": own[u][n], "gold": key[n], "score": 1} for n in names}
            for u in users
        },
        "answers-by-item": [
            {
                "id": n,
                "question": n,
                "choices": ["x", "y"],
                "answer": key[n],
                "responses": turned[n],
            }
            for n in names
        ],
        "lists": {u: list(own[u].values()) for u in users},
        "named-lists": [{"model": u, "answers": list(own[u].values())} for u in users],
        "results": {
            "created": "2024-03-01",
            "results": [
                {"model": u, "question_id": n, "prediction": own[u][n], "gold": key[n]}
                for u in users
                for n in names
            ],
        },
        "records-by-user": {
            u: [{"id": n, "pred": own[u][n], "answer": key[n]} for n in names] for u in users
        },
        "students": {"students": [{"name": u, "answers": own[u]} for u in users]},
        "students-records": [
            {"student": u, "answers": [{"question": n, "answer": own[u][n]} for n in names]}
            for u in users
        ],
        "json-lines": [{"id": n, "gold": key[n], "predictions": turned[n]} for n in names],
        "columns": {
            "student": {str(i): u for i, u in enumerate(users)},
            **{n: {str(i): own[u][n] for i, u in enumerate(users)} for n in names},
        },
        "beside": {"key": key, "students": own},
    }[kind]
    text = json.dumps(made, indent=None if kind == "lists" else 1)
    if kind == "json-lines":
        text = "\n".join(map(json.dumps, made))
    answers = {(u, n): own[u][n] for u in users for n in names}
    right = key if kind in _WITH_KEY else {}
    return Made({"answers.json": text.encode()}, answers, right)


def nested_points() -> Made:
    """Points by student and question are no answers."""
    made = {f"s{i}": {f"q{k}": (i + k) % 5 + 0.5 for k in range(6)} for i in range(12)}
    return Made({"points.json": json.dumps(made).encode()}, refused="points or other numbers")


# -- sheets that teachers keep ------------------------------------------------------------------


def two_headers(kind: str = "above") -> Made:
    """The texts of the questions stand above the header, or below it."""
    names = [f"Q{k + 1}" for k in range(10)]
    q, persons, rows, answers, _ = _sheet(105, names)
    texts = ["", "", *q.stems]
    table = [["Name", "Class", *names]]
    table = [texts, *table] if kind == "above" else [*table, texts]
    table += [[p, f"7{'AB'[i % 2]}", *rows[i]] for i, p in enumerate(persons)]
    return Made({"class.csv": csv_bytes(table)}, answers)


def blank_corner() -> Made:
    """Numbers and names stand in columns without a name; below the header a key, and weights."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(106, names)
    table = [["", "", *names], ["", "Key", *key.values()], ["", "Weight", *[1] * 10]]
    table += [[i + 1, p, *rows[i]] for i, p in enumerate(persons)]
    return Made({"class.csv": csv_bytes(table)}, answers, key, left_out=("key",))


def sums_below() -> Made:
    """Users in columns, and what each of them got in the last row."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, _, rows, _, key = _sheet(107, names)
    people = [f"Ann {c}" for c in "BCDFGHJKLMNP"]
    table = [["Question", *people, "Correct answer"]]
    table += [[n, *[row[k] for row in rows], key[n]] for k, n in enumerate(names)]
    table.append(["Total", *[i % 7 for i in range(12)], ""])
    answers = {
        (people[i], n): rows[i][k] for i in range(12) for k, n in enumerate(names) if rows[i][k]
    }
    return Made({"exam.csv": csv_bytes(table)}, answers, key)


def counts_beside() -> Made:
    """How many answers were right, wrong and missing, beside the answers; a form's status."""
    q = quiz(108)
    header = ["Rank", "Name", "Correct", "Incorrect", "Unattempted", *q.stems, "quiz_complete"]
    table = [header]
    for i, p in enumerate(q.persons):
        right = sum(q.points(i, k) for k in range(6))
        own = [q.answer(i, k) for k in range(6)]
        table.append([i + 1, p.name, right, 6 - right, i % 2, *own, 2])
    answers = {
        (p.name, q.stems[k]): q.answer(i, k)
        for i, p in enumerate(q.persons)
        for k in range(6)
        if q.answer(i, k)
    }
    return Made({"players.csv": csv_bytes(table)}, answers)


def all_or_none() -> Made:
    """Points again: each question gets all of them or none, and they add up."""
    q = quiz(109)
    table = [["Name", *[f"Q{k + 1}" for k in range(6)], "Total"]]
    for i, p in enumerate(q.persons):
        own = [2 * q.points(i, k) for k in range(6)]
        table.append([p.name, *own, sum(own)])
    return Made({"exam.csv": csv_bytes(table)}, refused="table of points")


# -- exports in other languages and versions ----------------------------------------------------


def survey_monkey_de() -> Made:
    """The first columns have names in another language."""
    q = quiz(110)
    lead = ["Befragten-ID", "Collector-ID", "Anfangsdatum", "Enddatum", "IP-Adresse", "Vorname"]
    table = [[*lead, *q.stems], [*[""] * 6, *["Response"] * 6]]
    codes = [str(118000000 + i) for i in range(12)]
    for i, code in enumerate(codes):
        own = [q.answer(i, k) for k in range(6)]
        table.append([code, 400112345, "01.02.2026 10:00", "01.02.2026 10:09", "", "", *own])
    answers = {
        (code, q.stems[k]): q.answer(i, k)
        for i, code in enumerate(codes)
        for k in range(6)
        if q.answer(i, k)
    }
    return Made({"umfrage.csv": csv_bytes(table)}, answers)


def labelbox_older() -> Made:
    """A record per label, with the answers in its «Label»."""
    given, _ = labels(111)
    records = []
    for (worker, task), label in _answers(given).items():
        own = {"title": "Animal", "value": "animal", "answer": {"title": label, "value": label}}
        why = {"title": "Why", "value": "why", "answer": f"because {worker}"}
        record = {"ID": f"ck{len(records)}", "DataRow ID": task, "Labeled Data": f"{task}.png"}
        record |= {"Label": {"objects": [], "classifications": [own, why]}, "Agreement": -1}
        records.append(record | {"Created By": worker, "Project Name": "Animals", "Reviews": []})
    return Made({"export.json": json.dumps(records).encode()}, _answers(given))


def ground_truth(kind: str = "workers") -> Made:
    """A file per object with the answers of the workers, or all objects before consolidation."""
    given, _ = labels(112)
    found: dict[str, list[tuple[str, dict]]] = {}
    for (worker, task), label in _answers(given).items():
        content = {"crowd-classifier": {"label": label}, "comment": f"from {worker}"}
        found.setdefault(task, []).append((worker, content))
    if kind == "workers":
        files = {
            f"worker-response/iteration-1/{task}/2026-01-05.json": json.dumps(
                {"answers": [{"workerId": w, "answerContent": own} for w, own in given_here]}
            ).encode()
            for task, given_here in found.items()
        }
        return Made(files, _answers(given))
    records = [
        {
            "datasetObjectId": task,
            "dataObject": {"content": f"{task}.png"},
            "annotations": [
                {"workerId": w, "annotationData": {"content": json.dumps(own)}} for w, own in here
            ],
        }
        for task, here in found.items()
    ]
    return Made({"request.json": json.dumps(records).encode()}, _answers(given))


def ground_truth_manifest() -> Made:
    """One label per object."""
    about = {"class-name": "cat", "confidence": 0.8, "human-annotated": "yes"}
    lines = [{"source": f"{t}.png", "animals": t % 3, "animals-metadata": about} for t in range(9)]
    text = "\n".join(map(json.dumps, lines))
    return Made({"output.manifest": text.encode()}, refused="one label per object")


def mmlu() -> Made:
    """A table per model and subject, with the probability of each letter."""
    q = quiz(113, n_items=8, blank=0.0)
    files, answers = {}, {}
    key = {f"anatomy/{short_hash(q.stems[k])}": q.key_letter(k) for k in range(8)}
    for i in range(4):
        name = f"model-{i}"
        header = [*map(str, range(6)), f"{name}_correct"]
        table = [[*header, *[f"{name}_choice{c}_probs" for c in "ABCD"]]]
        for k, item in enumerate(key):
            own = q.letter(i, k)
            chances = [0.7 if c == own else 0.1 for c in "ABCD"]
            right = q.key_letter(k)
            table.append([q.stems[k], *q.options[k], right, own == right, *chances])
            answers[name, item] = own
        files[f"results_{name}/anatomy.csv"] = csv_bytes(table)
    return Made(files, answers, key)


#: Names of key rows, with the name of the column in which they stand.
KEY_ROWS = {
    "form": ("ID", "Key - Form A"),
    "stars": ("ID", "**KEY**"),
    "arrow": ("Student", "Correct answer →"),
    "teacher": ("Name", "Teacher's key"),
    "master": ("StudentID", "Master"),
    "fr": ("Étudiant", "Clé de correction"),
    "hu": ("Név", "Megoldókulcs"),
}


def key_named(kind: str) -> Made:
    """A key row with a name of its own; columns about the person before a long series."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(114, names)
    column, label = KEY_ROWS[kind]
    table = [[column, "Seat", *names], [label, "", *key.values()]]
    table += [[p, "ABCD"[i % 4], *rows[i]] for i, p in enumerate(persons)]
    return Made({"class.csv": csv_bytes(table)}, answers, key, left_out=("key",))


def stacked_classes() -> Made:
    """Two classes below each other, each with a header and the key; counts at the end."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(115, names)
    lines = [[p, *row] for p, row in zip(persons, rows, strict=True)]
    head = [["ID", *names], ["KEY", *key.values()]]
    table = [*head, *lines[:6], *head, *lines[6:], ["Correct", *[21 + k for k in range(10)]]]
    return Made({"class.csv": csv_bytes(table)}, answers, key, left_out=("key",))


def key_sheet() -> Made:
    """The key is the only row of another sheet, below the names of the items."""
    names = [f"Q{k + 1}" for k in range(10)]
    _, persons, rows, answers, key = _sheet(116, names)
    table = [["Name", *names], *[[p, *row] for p, row in zip(persons, rows, strict=True)]]
    sheets = {"Answers": table, "Key": [names, list(key.values())]}
    return Made({"class.xlsx": xlsx_bytes(sheets)}, answers, key)


def two_levels() -> Made:
    """Texts with sentences, and in each sentence the answers of those who read it."""
    given, _ = labels(115, n_tasks=12)
    records = []
    for text in range(4):
        sentences = []
        for t in range(3 * text, 3 * text + 3):
            own = [
                (w, label) for (w, task), label in _answers(given).items() if task == f"task-{t}"
            ]
            answers = [{"worker_id": w, "response": label} for w, label in own]
            sentences.append({"sentence": f"task-{t}", "responses": answers})
        records.append({"article": f"A long text, number {text}. " * 9, "sentences": sentences})
    lines = "\n".join(map(json.dumps, records))
    return Made({"read.jsonl": lines.encode()}, _answers(given))
