"""Fixtures of formats that are new in 0.3: promptfoo, EvalScope, Argilla, QTI, ILIAS."""

from __future__ import annotations

import json

from formats.quiz import Made, Quiz, csv_bytes, quiz, xlsx_bytes


def _answers(q: Quiz, users: list[str], items: list[str]) -> Made:
    """Letters by user and item, and the right ones."""
    answers = {
        (user, item): q.letter(i, k) for i, user in enumerate(users) for k, item in enumerate(items)
    }
    return Made({}, answers, {item: q.key_letter(k) for k, item in enumerate(items)})


def promptfoo(prompts: bool = False) -> Made:
    """Several providers with one prompt, or one provider with two prompts; one result failed."""
    q = quiz(201, n_persons=6, n_items=12)
    told = [(f"lab:m{i // 2}", ("Short", "Long")[i % 2]) for i in range(6)]
    users = [", ".join(own) if prompts else f"lab:m{i}" for i, own in enumerate(told)]
    made = _answers(q, users, [str(k) for k in range(12)])
    results = [
        {
            "provider": {"id": told[i][0] if prompts else users[i], "label": ""},
            "prompt": {"raw": q.stems[k], "label": told[i][1] if prompts else "{{q}}"},
            "promptIdx": i,
            "testIdx": k,
            "vars": {"q": q.stems[k]},
            "response": {"output": q.letter(i, k)},
            "success": bool(q.points(i, k)),
            "testCase": {
                "assert": [
                    {"type": "latency", "threshold": 3000},
                    {"type": "equals", "value": q.key_letter(k)},
                ]
            },
            "failureReason": 0 if q.points(i, k) else 1,
        }
        for k in range(12)
        for i in range(len(users))
    ]
    failed = results[0] | {"failureReason": 2, "response": {}, "testIdx": 99}
    log = {"evalId": "eval-1", "results": {"version": 3, "results": [*results, failed]}}
    made.files["results.json"] = json.dumps(log).encode()
    return Made(made.files, made.answers, made.key, None, ("with an error",))


def promptfoo_texts() -> Made:
    """Answers in the models' own words."""
    made = promptfoo()
    log = json.loads(made.files["results.json"])
    for n, one in enumerate(log["results"]["results"]):
        one["response"] = {"output": f"Well, number {n}: I would say that it depends on the light."}
    return Made(
        {"results.json": json.dumps(log).encode()}, refused="promptfoo results in the words"
    )


def evalscope() -> Made:
    """The reviews of five models on two subsets whose samples are numbered alike."""
    files, answers, key = {}, {}, {}
    for subset in ("law", "art"):
        q = quiz(len(subset) + ord(subset[0]), n_persons=5, n_items=10)
        own = _answers(
            q, [f"model-{i}" for i in range(5)], [f"mmlu_{subset}/{k}" for k in range(10)]
        )
        answers |= own.answers
        key |= own.key
        for i in range(5):
            lines = [
                {
                    "index": k,
                    "input": [{"role": "user", "content": q.stems[k]}],
                    "target": q.key_letter(k),
                    "sample_score": {
                        "score": {
                            "value": {"acc": float(q.points(i, k))},
                            "extracted_prediction": q.letter(i, k) or None,
                            "prediction": "…",
                        },
                        "sample_id": k,
                        "group_id": k,
                    },
                }
                for k in range(10)
            ]
            text = "\n".join(map(json.dumps, lines))
            files[f"reviews/model-{i}/mmlu_{subset}.jsonl"] = text.encode()
    return Made(files, answers, key)


def argilla() -> Made:
    """Two questions about each text, one answered with several labels; one draft."""
    q = quiz(203, n_persons=6, n_items=12)
    answers: dict = {}
    records = []
    for k in range(12):
        responses: dict = {"topic": [], "signs": []}
        for i, p in enumerate(q.persons[:6]):
            if (letter := q.letter(i, k)) == "":
                continue
            signs = sorted({letter, "AB"[k % 2]})
            responses["topic"].append({"value": letter, "user_id": p.code})
            responses["signs"].append({"value": signs, "user_id": p.code})
            answers |= {(p.code, f"r{k}/topic"): letter, (p.code, f"r{k}/signs"): tuple(signs)}
        responses["topic"].append({"value": "A", "user_id": "draft", "status": "draft"})
        fields = {"text": q.stems[k]}
        records.append(
            {"id": f"r{k}", "fields": fields, "metadata": {}, "suggestions": {},
             "responses": responses, "vectors": {}}
        )  # fmt: skip
    return Made({"records.json": json.dumps(records).encode()}, answers, left_out=("drafts",))


def qti(version: str = "v2p1") -> Made:
    """A file per person, with the time and the number of attempts beside each answer."""
    q = quiz(204, n_persons=8, n_items=10)
    people = [p.code for p in q.persons[:8]]
    made = _answers(q, people, [f"item-{k}" for k in range(10)])
    for i, person in enumerate(people):
        items = "".join(
            f'<itemResult identifier="item-{k}" sessionStatus="final">'
            '<responseVariable identifier="numAttempts" baseType="integer"><candidateResponse>'
            "<value>1</value></candidateResponse></responseVariable>"
            '<responseVariable identifier="RESPONSE" cardinality="single" baseType="identifier">'
            f"<correctResponse><value>{q.key_letter(k)}</value></correctResponse>"
            f"<candidateResponse><value>{q.letter(i, k)}</value></candidateResponse>"
            '</responseVariable><outcomeVariable identifier="SCORE" baseType="float">'
            f"<value>{q.points(i, k)}</value></outcomeVariable></itemResult>"
            for k in range(10)
        )
        made.files[f"result-{i}.xml"] = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<assessmentResult xmlns="http://www.imsglobal.org/xsd/imsqti_result_{version}">'
            f'<context sourcedId="{person}"/>{items}</assessmentResult>'
        ).encode()
    return made


def ilias() -> Made:
    """German sheets; one person tried twice, and one question has two right answers."""
    q = quiz(205, n_items=8)
    about = ("Name", "Anmeldename", "E-Mail", "Matrikelnummer", "Geschlecht", "Straße", "Ort")
    points = [[*about, *[f"Angabe {k}" for k in range(12)], *q.stems]]
    head = [
        "Titel", "Fragetyp", "Antwort", "Richtige Antworten", "Variablen", "Erreichte Punkte",
        "Maximale Punktezahl",
    ]  # fmt: skip
    sheets, answers = [], {}
    for i, p in enumerate(q.persons):
        points.append([p.name, *["-"] * 18, *[q.points(i, k) for k in range(8)]])
        rows: list = [[f"Ergebnis von Testdurchlauf 1 für {p.name}"], head]
        for k in range(8):
            own = q.answer(i, k) + ("\nGlanz" if k == 0 and q.answer(i, k) else "")
            right = q.key(k) + ("\nGlanz" if k == 0 else "")
            rows.append([q.stems[k], "Single Choice", own, right, "", q.points(i, k), 1])
            answers[p.name, q.stems[k]] = tuple(own.split("\n")) if own else None
        if i == 3:
            again = [[*row[:2], q.options[0][0], *row[3:]] for row in rows[2:]]
            rows += [[], [f"Ergebnis von Testdurchlauf 2 für {p.name}"], head, *again]
        sheets.append((p.name, rows))
    key: dict = {q.stems[k]: q.key(k) for k in range(1, 8)}
    key[q.stems[0]] = (q.key(0), "Glanz")
    whole = [("Ergebnisse", [["Ergebnis", "Wert"], ["Teilnehmer", 12]]), ("Punkte", points)]
    return Made({"ergebnisse.xlsx": xlsx_bytes(dict([*whole, *sheets]))}, answers, key)


def prolific() -> Made:
    """Who took part in a study, and when."""
    head = [
        "Submission id", "Participant id", "Status", "Started at", "Completed at", "Time taken",
        "Completion code", "Total approvals", "Age", "Sex", "Country of birth",
    ]  # fmt: skip
    rows = [
        [f"5f{i:03}", f"61{i:03}", "APPROVED", f"2026-03-01T10:{i:02}:00", "2026-03-01T11:00:00",
         600 + 7 * i, "C1", 10 * i, 20 + i % 7, ("Female", "Male")[i % 2], "Peru"]
        for i in range(20)
    ]  # fmt: skip
    return Made({"prolific.csv": csv_bytes([head, *rows])}, refused="Prolific's list")
