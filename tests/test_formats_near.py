"""Tables and records of other tools that share names with an export are not taken for it."""

from __future__ import annotations

import json

import pytest
from formats.quiz import csv_bytes, xlsx_bytes
from test_formats import matches

from hitsndiffs.reading.files.documents import Settings, open_document

PEOPLE = [f"p{i:02}" for i in range(12)]


def cells(names: list[str], letters: str = "ABCD") -> list[list[object]]:
    """A row per person, letters that repeat under each name."""
    rows = [
        [letters[(i * i + 3 * k + i) % len(letters)] for k in range(len(names))] for i in range(12)
    ]
    return [list(names), *rows]


def with_people(names: list[str], **columns: object) -> list[list[object]]:
    """A table of letters after columns about the people: one value, or one per person."""
    table = cells(names)
    lead = [[c[i] if isinstance(c, list) else c for c in columns.values()] for i in range(12)]
    head = [name.replace("__", " ") for name in columns]
    return [[*head, *names], *[[*lead[i], *table[i + 1]] for i in range(12)]]


Q = [f"Q{k}" for k in range(1, 7)]
NUMBERS = list(range(100, 112))
TIMES = [f"2026-02-0{1 + i % 9} 10:{i:02}:00" for i in range(12)]

TABLES: dict[str, list[list[object]]] = {
    "a class list with a submission time": with_people(Q, name=PEOPLE, submitted=TIMES),
    "codes before the questions": with_people(["12: yes", "13: no", "14: maybe"], id=NUMBERS),
    "a shop: item id, type, name, points, status": [
        ["order", "ItemID", "ItemName", "ItemType", "Status"],
        *[[i, i % 4, "pen", "new", "sent"] for i in range(12)],
    ],
    "answers named 1 to 6": with_people([str(k) for k in range(1, 7)], student=PEOPLE),
    "responses named Response 1 without a key": with_people(
        [f"Choice {k}" for k in range(1, 5)], Name=PEOPLE
    ),
    "a grade with a slash": with_people(Q, Name=PEOPLE, Grade__of__A__or__B="A/B"),
    "a log with timestamps": [
        ["Timestamp", "user", "item", "answer"],
        *[[TIMES[i % 12], PEOPLE[i % 12], Q[i // 12], "ABC"[i % 3]] for i in range(72)],
    ],
    "an appointment book": [
        ["Timestamp of visit", "Doctor", "Room"],
        *[[TIMES[i], "AB"[i % 2], i % 3] for i in range(12)],
    ],
    "points beside a name that is no question": [
        ["Team", "Points", "Feedback"],
        *[[p, i, "good"] for i, p in enumerate(PEOPLE)],
    ],
    "start and end of a job": with_people(
        ["A", "B", "C"], job=NUMBERS, Start__time=TIMES, End__time=TIMES, owner=PEOPLE
    ),
    "an answer and a score per row": [
        ["student", "Question", "Answer", "Score"],
        *[[PEOPLE[i % 12], Q[i // 12], "ABC"[i % 3], i % 2] for i in range(72)],
    ],
    "question numbers and types of a survey plan": [
        ["Q #", "Q Type", "Q Text"],
        *[[k, "MC", f"What about {k}?"] for k in range(9)],
    ],
    "variables V1, V2, V3": cells([f"V{k}" for k in range(1, 8)]),
    "a respondent number that is short": with_people(Q, respondent=list(range(1, 13))),
    "a respondent id with letters": with_people(Q, RespondentID=PEOPLE),
    "an id and a submission date": with_people(Q, id=NUMBERS, submitdate=TIMES),
    "an id, a page and a language": with_people(Q, id=NUMBERS, lastpage=3, startlanguage="en"),
    "participants of a study": with_people(["player", "answer"], **{"participant": PEOPLE}),
    "players of a league": with_people(["player.goals", "player.side"], club=PEOPLE),
    "students called Stu": with_people(["Stu1", "Stu2", "Stu3"], item=Q + Q),
    "key columns of a database": with_people(["key1", "key2", "key3"], id=NUMBERS),
    "private columns _1, _2": with_people(["_1", "_2", "_3"], name=PEOPLE),
    "a header of some other scanner": with_people(["A1", "A2", "B1"], Header=PEOPLE),
    "a game with players and questions": [
        ["Player", "Question", "Answer"],
        *[[PEOPLE[i % 12], Q[i // 12], "ABC"[i % 3]] for i in range(72)],
    ],
    "submissions with a grader": with_people(["clear", "right"], submission=NUMBERS, grader="x"),
    "numbered columns of dates": with_people(["date1", "date2", "place1", "place2"], name=PEOPLE),
    "hits of a search": with_people(["HITId", "query", "rank"], page=NUMBERS),
    "workers and tasks": [
        ["worker_id", "task_id", "label"],
        *[[PEOPLE[i % 12], i // 12, "ab"[i % 2]] for i in range(72)],
    ],
    "inputs and outputs of a function": with_people(["INPUT:x", "OUTPUT:y"], id=NUMBERS),
    "a unit id of a warehouse": with_people(["_unit_id", "colour"], shelf=PEOPLE),
    "annotations of a book": [
        ["annotations", "subject", "page"],
        *[["yes", "law", i] for i in range(12)],
    ],
    "annotators and times": with_people(["label"], annotator=PEOPLE, created_at=TIMES),
    "texts with labels and users": [
        ["id", "text", "label", "user"],
        *[[i % 6, "a text", "ab"[i % 2], PEOPLE[i % 12]] for i in range(72)],
    ],
    "confidence of a forecast": with_people(["confidence", "output"], day=TIMES),
    "a table of models with answers": [
        ["model", "question_id", "prediction", "answer"],
        *[[f"m{i % 4}", i // 4, "ABCD"[i % 4], "ABCD"[i // 4 % 4]] for i in range(48)],
    ],
    "predicted and true prices": [
        ["id", "target", "prediction"],
        *[[i, 3.5 * i + 0.25, 3.4 * i + 0.1] for i in range(30)],
    ],
    "predictions in a wide table": with_people(["pred_a", "pred_b", "pred_c"], id=NUMBERS),
    "probabilities of classes": with_people(["cat_prob", "dog_prob"], image=PEOPLE),
    "translations beside references": [
        ["id", "reference", "output"],
        *[[i, f"the cat number {i} sat", f"a cat number {i} has sat down"] for i in range(30)],
    ],
    "points possible of a shop": [["item", "price"], ["Points Possible", 3], ["pen", 2]],
    "scores called Q. 1 without a grade": with_people(["Q. 1", "Q. 2"], name=PEOPLE),
    "an essay competition": with_people(["1: Style", "2: Content"], author=PEOPLE),
    "readings of a sensor": [
        ["Timestamp", "Temperature", "Humidity"],
        *[[TIMES[i % 12], 20 + i % 5, 40 + i % 7] for i in range(40)],
    ],
    "a log of a server": [
        ["Timestamp", "Level", "Message"],
        *[[TIMES[i % 12], ["INFO", "WARN"][i % 2], f"job {i} done"] for i in range(40)],
    ],
    "votes in the order of time": [
        ["timestamp", "rater", "clip of the film", "verdict in the end"],
        *[[TIMES[i % 12], PEOPLE[i % 12], f"c{i // 12}", "ab"[i % 2]] for i in range(72)],
    ],
    "jobs with a start and a completion time": [
        ["ID", "Start time", "Completion time", "Machine", "Status", "Shift"],
        *[[i, TIMES[i], TIMES[i], "AB"[i % 2], "ok", "day"] for i in range(12)],
    ],
    "tickets with times and mails": [
        ["No", "Opened", "Closed", "Contact", "Owner", "Priority"],
        *[[i, TIMES[i], TIMES[i], f"{PEOPLE[i]}@x.org", "ab"[i % 2], "hi"] for i in range(12)],
    ],
    "texts with labels of several people": [
        ["id", "text", "label", "by"],
        *[[i // 3, f"text {i // 3}", "ab"[i % 2], PEOPLE[i % 5]] for i in range(60)],
    ],
    "answers beside questions about shares": with_people(
        ["Budget: share spent (percentage)", "Pick: your letter (letter)", *Q], name=PEOPLE
    ),
    "questions that say what they are worth": with_people(
        ["1: What is it? (1 pt)", "2: And this? (1 pt)", *Q], name=PEOPLE
    ),
    "answers of people from Prolific": with_people(
        Q, Participant__id=PEOPLE, Submission__id=NUMBERS, Time__taken=NUMBERS, Status="APPROVED"
    ),
    "answers beside the scores of ZipGrade": with_people(
        Q, Quiz__Name="x", Quiz__Class="y", Percent__Correct=50, Name=PEOPLE
    ),
    "answers beside the total of a test": with_people(["Exam [Total Pts: 10]", *Q], name=PEOPLE),
    "columns with their types": with_people(["age <text>", "mood <text>", *Q], name=PEOPLE),
}

RECORDS: dict[str, object] = {
    "tasks of a to-do list": [{"id": i, "data": "x", "annotations": "none"} for i in range(9)],
    "answers with hashes": [{"hash": i, "task": i % 3, "answer": "ab"[i % 2]} for i in range(9)],
    "rows of a data base": [{"row": i, "projects": [1, 2], "user": "a"} for i in range(9)],
    "documents with responses": [{"doc_id": i, "response": "A"} for i in range(9)],
    "a configuration": {"version": 2, "status": "ok", "eval": True, "name": "x", "level": 3},
    "results of a race": {"results": [{"provider": "x", "vars": 3, "runner": i} for i in range(5)]},
    "reviews of films": [{"index": i, "score": i % 3, "target": "adults"} for i in range(9)],
    "forms with fields": [{"fields": {"a": 1}, "responses": 3, "id": i} for i in range(9)],
    "settings by name": {"port": 80, "host": "a", "debug": True, "level": 3, "user": "x", "n": 5},
    "counts of words": {f"word{i}": 37 * i for i in range(40)},
    "names by id": {f"id{i}": f"Person number {i}" for i in range(40)},
    "a specification": [{"spec": "A4"}, {"spec": "A5"}],
    "numbered chapters": {str(k): {"title": f"On {k}", "pages": 3} for k in range(9)},
    "questions without predictions": [
        {"question_id": i, "options": ["a", "b"], "answer": "A"} for i in range(9)
    ],
    "results of sports": {"results": [{"team": "x", "points": 3}], "season": 2026},
    "answers of several models": [
        {"question_id": i // 3, "model": f"m{i % 3}", "options": [1], "answer": "A", "pred": "B"}
        for i in range(30)
    ],
    "labels of several people": [
        {"id": i // 3, "text": f"text {i // 3}", "label": ["ab"[i % 2]], "by": f"p{i % 4}"}
        for i in range(30)
    ],
    "boxes in pictures": {"data": {"a": 1}, "annotations": [{"id": 1, "bbox": [1, 2, 3, 4]}]},
    "scores of samples": [{"index": i, "sample_score": 0.5, "who": "a"} for i in range(9)],
    "results of releases": {"results": {"passed": 12}, "versions": {"numpy": "2.0"}},
    "a list of models": [{"name": f"m{i}", "predictions": 3, "label": "new"} for i in range(9)],
}


def formats_of(path) -> list[str]:
    found = matches(open_document(path, Settings()))
    return [format.name for _, formats in found for format in formats]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_table_that_only_looks_like_an_export(name, ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    rows = TABLES[name]
    path.write_bytes(csv_bytes(rows) if ending == "csv" else xlsx_bytes({"Sheet1": rows}))
    assert formats_of(path) == []


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("lines", [False, True])
def test_records_that_only_look_like_an_export(name, lines, tmp_path):
    value = RECORDS[name]
    path = tmp_path / "records.json"
    one_per_line = "\n".join(map(json.dumps, value)) if isinstance(value, list) else ""
    path.write_text(one_per_line if lines and one_per_line else json.dumps(value, indent=1))
    assert formats_of(path) == []


def test_a_workbook_with_a_sheet_of_final_scores(tmp_path):
    path = tmp_path / "class.xlsx"
    scores = [["name", "score"], *[[person, 3] for person in PEOPLE]]
    path.write_bytes(xlsx_bytes({"Answers": with_people(Q, name=PEOPLE), "Final Scores": scores}))
    assert formats_of(path) == []
