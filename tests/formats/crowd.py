"""MTurk, Toloka, Label Studio, Prodigy, doccano, Labelbox, Zooniverse, Figure Eight: our own."""

from __future__ import annotations

import json

import numpy as np

from formats.quiz import Made, csv_bytes, csv_text, jsonl_bytes, zip_bytes

LABELS = ("cat", "dog", "bird")


def labels(seed: int, n_workers: int = 8, n_tasks: int = 10):
    """Who gave which label to which task: worker × task, -1 where it was not done."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n_tasks)
    good = np.linspace(0.95, 0.4, n_workers)
    given = rng.integers(3, size=(n_workers, n_tasks))
    given = np.where(rng.random((n_workers, n_tasks)) < good[:, None], truth, given)
    given[rng.random((n_workers, n_tasks)) < 0.2] = -1
    given[0], given[1] = truth, (truth + (np.arange(n_tasks) < 3)) % 3
    return given, truth


def _answers(given, worker="worker-{}", task="task-{}"):
    return {
        (worker.format(w), task.format(t)): LABELS[given[w, t]]
        for w in range(given.shape[0])
        for t in range(given.shape[1])
        if given[w, t] >= 0
    }


MTURK = [
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime",
    "MaxAssignments", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime",
    "WorkTimeInSeconds",
]  # fmt: skip


def _mturk_lead(w: int, hit: str, n: int) -> list[str]:
    lead = [hit, "type", "Which animal?", "Say which", "animals", "$0.05", "Mon Jan 05 2026", "8"]
    return [*lead, f"assignment-{n}", f"worker-{w}", "Approved", "Mon", "Mon", str(30 + n)]


def mturk(kind: str = "label") -> Made:
    """One answer per HIT: a label, a column per option (also as pandas writes it), or JSON."""
    given, _ = labels(31)
    header = [*MTURK, "Input.image_url"]
    header += {
        "label": ["Answer.animal.label"],
        "options": ["Answer.animal.cat", "Answer.animal.dog", "Answer.animal.bird"],
        "json": ["Answer.taskAnswers"],
    }[kind]
    rows = []
    for t in range(10):
        for w in range(8):
            if given[w, t] < 0:
                continue
            # Task 3 was posted a second time: another HIT, the same input.
            hit = f"hit-{t}b" if t == 3 and w > 4 else f"hit-{t}"
            lead = [*_mturk_lead(w, hit, len(rows)), f"https://example.org/{t}.png"]
            chosen = LABELS[given[w, t]]
            if kind == "label":
                cells = [chosen]
            elif kind == "options":
                cells = [str(label == chosen) for label in LABELS]
            else:
                cells = [json.dumps([{"animal": {label: label == chosen for label in LABELS}}])]
            rows.append([*lead, *cells, "", ""])
    header += ["Approve", "Reject"]
    data = csv_bytes([header, *rows], quote_all=True)
    if kind == "options":
        data = csv_bytes([["", *header], *[[str(k), *row] for k, row in enumerate(rows)]])
    return Made({"Batch_1_batch_results.csv": data}, _answers(given, task="hit-{}"))


def mturk_survey() -> Made:
    """One HIT that asks everything, the older column names, lone carriage returns at line ends."""
    given, _ = labels(32)
    header = ["HitId", "HitTitle", "Annotation", "AssignmentId", "WorkerId", "Status", "SubmitTime"]
    header += [f"Answer {t + 1}" for t in range(10)]
    rows = [
        ["hit", "Which?", "", f"a{w}", f"worker-{w}", "Approved", "Sat Apr 21 20:09:37 PDT 2012"]
        + [LABELS[c] if c >= 0 else "" for c in given[w]]
        for w in range(8)
    ]
    text = csv_text([header, *rows]).replace("\r\n", "\r")
    answers = {
        (w, str(int(t.removeprefix("task-")) + 1)): c for (w, t), c in _answers(given).items()
    }
    return Made({"raw.csv": text.encode()}, answers)


TOLOKA = ["INPUT:image", "OUTPUT:result", "GOLDEN:result", "HINT:text", "ASSIGNMENT:link"]
TOLOKA += ["ASSIGNMENT:assignment_id", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id"]
TOLOKA += ["ASSIGNMENT:status", "ASSIGNMENT:started"]


def toloka(old: bool = False) -> Made:
    """Blank lines between suites; golden tasks; in old dumps the worker on the last row only."""
    given, truth = labels(33)
    lines = ["\t".join(TOLOKA)]
    key = {}
    for w in range(8):
        suite = [t for t in range(10) if given[w, t] >= 0]
        for n, t in enumerate(suite):
            last = n == len(suite) - 1
            gold = LABELS[truth[t]] if t < 2 else ""
            if gold:
                key[f"task-{t}"] = gold
            about = ["", f"a{w}", f"task-{t}", f"worker-{w}", "APPROVED", "2026-01-01T10:00:00"]
            if old and not last:
                about = ["", "", f"task-{t}", "", "", ""]
            lines.append("\t".join([f"{t}.png", LABELS[given[w, t]], gold, "", *about]))
        lines.append("")
    return Made({"assignments.tsv": "\n".join(lines).encode()}, _answers(given), key)


def toloka_aggregated() -> Made:
    rows = [["INPUT:image", "OUTPUT:result", "CONFIDENCE:result"], ["1.png", "cat", "97.1%"]]
    return Made({"aggregated.tsv": csv_text(rows, "\t").encode()}, refused="aggregated")


def label_studio(kind: str = "json") -> Made:
    """Annotations with `ground_truth` on ordinary coders, a cancelled one, predictions."""
    given, _ = labels(34)
    tasks, flat = [], []
    for t in range(10):
        notes = []
        for w in range(8):
            if given[w, t] < 0:
                continue
            choice = LABELS[given[w, t]]
            value = {"choices": [choice]}
            result = [
                {"from_name": "animal", "to_name": "image", "type": "choices", "value": value}
            ]
            who = {"id": w, "email": f"worker-{w}"} if t % 2 else f"worker-{w}"
            notes.append({"id": 100 * t + w, "completed_by": who, "result": result})
            notes[-1] |= {"was_cancelled": False, "ground_truth": w == 2, "lead_time": 3.5}
            flat.append(
                {
                    "image": f"{t}.png",
                    "id": f"task-{t}",
                    "animal": choice,
                    "annotator": f"worker-{w}",
                }
                | {"annotation_id": 100 * t + w, "lead_time": 3.5, "created_at": "2026-01-01"}
            )
        cancelled = {"id": 9, "completed_by": "worker-7", "result": [], "was_cancelled": True}
        notes.append(cancelled | {"ground_truth": False, "lead_time": 1.0})
        guess = {
            "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["cat"]}}]
        }
        tasks.append({"id": f"task-{t}", "data": {"image": f"{t}.png"}, "annotations": notes})
        tasks[-1]["predictions"] = [guess]
    answers = _answers(given)
    if kind == "json":
        data = json.dumps(tasks).encode()
        return Made({"project-1.json": data}, answers, left_out=("cancelled",))
    if kind == "legacy":
        for task in tasks:
            task["completions"] = task.pop("annotations")
        return Made({"old.json": json.dumps(tasks).encode()}, answers)
    if kind == "min":
        empty = {"image": "99.png", "id": "task-99", "annotator": None, "annotation_id": None}
        data = json.dumps([*flat, empty | {"lead_time": None}]).encode()
        return Made({"min.json": data}, answers)
    names = sorted(flat[0])
    return Made(
        {"project.csv": csv_bytes([names, *[[r[n] for n in names] for r in flat]])}, answers
    )


def label_studio_regions() -> Made:
    result = [
        {"from_name": "l", "type": "labels", "value": {"start": 1, "end": 2, "labels": ["X"]}}
    ]
    notes = [{"id": 1, "completed_by": 1, "result": result, "was_cancelled": False}]
    tasks = [{"id": t, "data": {"text": "words"}, "annotations": notes} for t in range(3)]
    return Made({"regions.json": json.dumps(tasks).encode()}, refused="without Choices")


def prodigy(kind: str = "binary") -> Made:
    """Annotators with several sessions, a repeated pair that contradicts itself, ignored lines."""
    given, _ = labels(35)
    records, answers = [], {}
    for w in range(8):
        for t in range(10):
            if given[w, t] < 0:
                continue
            record = {"text": f"words {t}", "_input_hash": 1000 + t, "_task_hash": 50 * t + w}
            who = {"_annotator_id": f"worker-{w}", "_session_id": f"session-{w}-{t % 2}"}
            chosen = LABELS[given[w, t]]
            if kind == "choice":
                options = [{"id": label, "text": label.title()} for label in LABELS]
                record |= {"options": options, "accept": [chosen], "answer": "accept"}
            else:
                answer = {"cat": "accept", "dog": "reject", "bird": "ignore"}[chosen]
                record |= {"label": "NEW", "answer": answer}
                chosen = None if answer == "ignore" else answer
            records.append(record | who)
            if chosen is not None:
                answers[f"worker-{w}", str(1000 + t)] = chosen
    again = dict(records[0])
    again |= {"accept": ["bird"]} if kind == "choice" else {"answer": "reject"}
    if ("worker-0", str(records[0]["_input_hash"])) in answers:
        records.append(again)
    return Made({"db.jsonl": jsonl_bytes(records)}, answers)


def doccano(kind: str = "zip") -> Made:
    """A zip with a file per member, all examples in each; or the older records with users."""
    given, _ = labels(36)
    answers = _answers(given, task="{}")
    if kind == "users":
        records = [
            {
                "id": t,
                "text": f"words {t}",
                "annotations": [
                    {"label": LABELS[given[w, t]], "user": f"worker-{w}"}
                    for w in range(8)
                    if given[w, t] >= 0
                ],
            }
            for t in range(10)
        ]
        return Made({"project.jsonl": jsonl_bytes(records)}, answers)
    members = {}
    for w in range(8):
        done = [[LABELS[c]] if c >= 0 else [] for c in given[w]]
        records = [
            {"id": t, "text": f"words {t}", "label": done[t], "Comments": []} for t in range(10)
        ]
        members[f"worker-{w}.jsonl"] = jsonl_bytes(records)
    return Made({"project.zip": zip_bytes(members)}, answers)


def doccano_all() -> Made:
    records = [{"id": t, "text": f"words {t}", "label": ["cat"]} for t in range(5)]
    return Made({"project.zip": zip_bytes({"all.jsonl": jsonl_bytes(records)})}, refused="«all»")


def labelbox() -> Made:
    given, _ = labels(37)
    records = []
    for t in range(10):
        found = [
            {
                "label_kind": "Default",
                "label_details": {"created_by": f"worker-{w}"},
                "annotations": {
                    "objects": [],
                    "classifications": [
                        {
                            "name": "Animal",
                            "value": "animal",
                            "radio_answer": {"name": LABELS[given[w, t]]},
                        },
                        {"name": "Why", "value": "why", "text_answer": {"content": f"because {w}"}},
                    ],
                },
            }
            for w in range(8)
            if given[w, t] >= 0
        ]
        row = {"id": f"ck{t}", "global_key": f"task-{t}", "row_data": f"{t}.png"}
        records.append({"data_row": row, "projects": {"p1": {"name": "Animals", "labels": found}}})
    return Made({"export.ndjson": jsonl_bytes(records)}, _answers(given))


def zooniverse() -> Made:
    """Two tasks, one with several choices; a drawing; a volunteer who was not logged in."""
    given, _ = labels(38)
    header = [
        "classification_id", "user_name", "user_id", "user_ip", "workflow_id", "workflow_version",
    ]  # fmt: skip
    header += ["created_at", "gold_standard", "annotations", "subject_data", "subject_ids"]
    rows, answers = [], {}
    for w in range(8):
        name = f"volunteer-{w}" if w else "not-logged-in-0a1b"
        for t in range(10):
            if given[w, t] < 0:
                continue
            chosen = LABELS[given[w, t]]
            both = [chosen, "grass"] if w % 2 else ["grass"]
            value = [
                {"task": "T0", "task_label": "Which animal?", "value": chosen},
                {"task": "T1", "task_label": "What else?", "value": both},
                {"task": "T2", "value": [{"x": 1.5, "y": 2.5, "tool": 0}]},
            ]
            rows.append(
                [len(rows), name, "", "ip", "7", "1.2", "2026-01-01", "", json.dumps(value)]
            )
            rows[-1] += [json.dumps({str(t): {"retired": None}}), 500 + t]
            answers[name, f"{500 + t}/T0"] = chosen
            answers[name, f"{500 + t}/T1"] = tuple(both)
    return Made({"classifications.csv": csv_bytes([header, *rows])}, answers)


def figure_eight() -> Made:
    """A full report: hidden inputs, gold for test questions, several choices on several lines."""
    given, truth = labels(39)
    header = [
        "_unit_id", "_created_at", "_id", "_trust", "_worker_id", "_country", "hidden", "animal",
    ]  # fmt: skip
    header += ["comment", "image", "hidden_gold", "animal_gold"]
    rows, answers, key = [], {}, {}
    for t in range(10):
        for w in range(8):
            if given[w, t] < 0:
                continue
            chosen = LABELS[given[w, t]]
            both = f"{chosen}\ngrass" if w == 5 else chosen
            gold = LABELS[truth[t]] if t == 0 else ""
            if gold:
                key[f"{700 + t}"] = gold
            rows.append([700 + t, "8/15/2018", len(rows), 1, f"worker-{w}", "GBR", f"h{t}", both])
            rows[-1] += [f"I am sure of it, number {w} {t}", f"{t}.png", "", gold]
            answers[f"worker-{w}", str(700 + t)] = (chosen, "grass") if w == 5 else chosen
    return Made({"full.csv": csv_bytes([header, *rows])}, answers, key)


def figure_eight_aggregated() -> Made:
    rows = [["_unit_id", "_trusted_judgments", "animal", "animal:confidence"], [1, 5, "cat", 0.9]]
    return Made({"aggregated.csv": csv_bytes(rows)}, refused="aggregated")


def mt_bench(kind: str = "") -> Made:
    """Judges say which of two models won; the models stand in any order; or a judge per pair."""
    given, _ = labels(39)
    rng = np.random.default_rng(39)
    models, records, answers = ("model-x", "model-y"), [], {}
    for w, t in zip(*np.nonzero(given >= 0), strict=True):
        a, b = rng.permutation(models).tolist()
        won = (*models, "tie")[given[w, t]]
        said = "tie" if won == "tie" else "model_a" if won == a else "model_b"
        records.append({"question_id": int(t), "model_a": a, "model_b": b, "winner": said})
        records[-1] |= {"judge": f"judge-{w}", "turn": 1, "conversation_a": [{"role": "user"}]}
        answers[f"judge-{w}", f"{t}/1: model-x or model-y"] = won
    if kind == "arena":
        alone = list({record["question_id"]: record for record in records}.values())
        return Made({"battles.jsonl": jsonl_bytes(alone)}, refused="one person each judged")
    return Made({"human.jsonl": jsonl_bytes(records)}, answers)
