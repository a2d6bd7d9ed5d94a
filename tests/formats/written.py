"""Answers as scripts, experiments and careful teachers write them, with names of their own."""

from __future__ import annotations

import json

from formats.plain import _sheet
from formats.quiz import Made, csv_bytes

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
    "results", "records-by-user", "students", "students-records", "json-lines",
)  # fmt: skip
_WITH_KEY = {"by-item-with-key", "leaves", "answers-by-item", "results", "records-by-user"}


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
    }[kind]
    text = json.dumps(made, indent=None if kind == "lists" else 1)
    if kind == "json-lines":
        text = "\n".join(map(json.dumps, made))
    answers = {(u, n): own[u][n] for u in users for n in names}
    right = key if kind in _WITH_KEY | {"json-lines"} else {}
    return Made({"answers.json": text.encode()}, answers, right)


def nested_points() -> Made:
    """Points by student and question are no answers."""
    made = {f"s{i}": {f"q{k}": (i + k) % 5 + 0.5 for k in range(6)} for i in range(12)}
    return Made({"points.json": json.dumps(made).encode()}, refused="points or other numbers")
