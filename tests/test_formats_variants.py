"""Exports as other sites, other languages and other people have them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from formats import crowd, lms
from formats.cases import made
from formats.quiz import Made, by_item, csv_bytes, quiz, xlsx_bytes, zip_bytes
from formats.table import found, wanted
from test_formats import written

import hitsndiffs as hnd
from hitsndiffs.errors import InputError


def read(files, folder):
    return found(hnd.plan(written(Made(files), folder)).read())


FOLDERS = ["lm-eval", "lm-eval-flat", "helm", "helm-state", "inspect-json", "inspect-eval-zstd"]
FOLDERS += ["opencompass", "lighteval", "mmlu-pro", "openai-evals"]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_in_an_archive_is_the_same(name, tmp_path):
    example = made(name)
    assert read({"all.zip": zip_bytes(example.files)}, tmp_path) == wanted(example)


PARTS = [
    (["Pregunta", "Respuesta"], "qr"),
    (["Kysymys", "Vastaus"], "qr"),
    (["Zzq", "Zzr"], "qr"),
    (["Zzr", "Zza"], "ra"),
    (["Zzq", "Zzr", "Zza"], "qra"),
    (["Zzr"], "r"),
]


@pytest.mark.parametrize(("words", "parts"), PARTS)
def test_moodle_columns_are_told_apart_by_what_they_hold(words, parts, tmp_path):
    q, rng = quiz(4), np.random.default_rng(1)
    header = ["Aaa", "Bbb", "Ccc", "Ddd", "Eee", "Fff", "Ggg/10,00"]
    header += [f"{word} {k + 1}" for k in range(6) for word in words]
    rows = []
    for i, p in enumerate(q.persons):
        row = [p.last, p.first, "Fin", "22 mayo 2025  09:00", "22 mayo 2025  09:30", "30", "8,50"]
        for k in range(6):
            shuffled = [q.options[k][j] for j in rng.permutation(4)]
            question = f"{q.stems[k]}: {'; '.join(shuffled)}"
            cells = {"q": question, "r": q.answer(i, k) or "-", "a": q.key(k)}
            row += [cells[part] for part in parts]
        rows.append(row)
    names = [f"{words[parts.index('r')]} {k + 1}" for k in range(6)]
    key = {names[k]: q.key(k) for k in range(6)} if "a" in parts else {}
    persons = [p.last for p in q.persons]
    content = read({"m.csv": csv_bytes([header, *rows])}, tmp_path)
    assert content == wanted(Made({}, by_item(q, names, persons), key))


@pytest.mark.parametrize("kind", ["surname", "no grade", "whole grade"])
def test_moodle_of_other_versions(kind, tmp_path):
    q = quiz(4)
    header, rows = lms._moodle(q, "en")
    answers, key = lms._moodle_truth(q, header)
    if kind == "surname":
        header = ["Surname", "First name", "Institution", "Department", *header[2:]]
        rows = [[*row[:2], "Uni", "Dep", *row[2:]] for row in rows]
    elif kind == "no grade":
        header, rows = [*header[:7], *header[8:]], [[*row[:7], *row[8:]] for row in rows]
    else:
        header[7] = "Grade/10"
    assert read({"m.csv": csv_bytes([header, *rows])}, tmp_path) == wanted(Made({}, answers, key))


@pytest.mark.parametrize("repeated", [True, False])
def test_a_brightspace_survey_may_repeat_its_header(repeated, tmp_path):
    example = made("brightspace-survey")
    rows = list(csv.reader(io.StringIO(example.files["survey.csv"].decode())))
    header, lines = rows[0], [] if repeated else [rows[0]]
    for row in rows[1:]:
        opens = row[0].startswith("User")
        lines += [[row[0]], header] if opens and repeated else [[row[0]] if opens else row]
    assert read({"s.csv": csv_bytes(lines)}, tmp_path) == wanted(example)


def test_a_batch_without_workers_has_one_per_assignment(tmp_path):
    example = made("mturk-survey")
    text = example.files["raw.csv"].decode().replace("\r", "\n")
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    place = rows[0].index("WorkerId")
    content = read({"m.csv": csv_bytes([row[:place] + row[place + 1 :] for row in rows])}, tmp_path)
    assert content.users == {f"a{w}" for w in range(8)}
    assert content.items == wanted(example).items


def test_helm_states_without_their_run_are_joined(tmp_path):
    example = made("helm-state")
    states = [data for name, data in example.files.items() if name.endswith("state.json")]
    content = read({f"{k}/scenario_state.json": data for k, data in enumerate(states)}, tmp_path)
    assert len(content.users) == 4
    assert content.items == {f"id{k}" for k in range(8)}


def test_several_choices_in_a_cell_of_label_studio(tmp_path):
    given, _ = crowd.labels(34)
    rows = [["animal", "annotation_id", "annotator", "id", "image", "lead_time"]]
    answers = {}
    for (worker, task), label in crowd._answers(given).items():
        cell = json.dumps({"choices": [label, "grass"]})
        rows.append([cell, str(len(rows)), worker, task, f"{task}.png", "2.5"])
        answers[worker, task] = (label, "grass")
    assert read({"p.csv": csv_bytes(rows)}, tmp_path) == wanted(Made({}, answers))


def test_coders_by_number_and_by_address_are_the_same(tmp_path):
    given, _ = crowd.labels(34)
    tasks = []
    for t in range(10):
        notes = []
        for w in range(8):
            if given[w, t] >= 0:
                choice = {"choices": [crowd.LABELS[given[w, t]]]}
                result = [{"from_name": "a", "type": "choices", "value": choice}]
                who = {"id": w, "email": f"worker-{w}"} if t % 2 else w
                notes.append({"completed_by": who, "result": result})
        tasks.append({"id": f"task-{t}", "data": {}, "annotations": notes})
    content = read({"p.json": json.dumps(tasks).encode()}, tmp_path)
    assert content == wanted(Made({}, crowd._answers(given)))


def test_an_anonymous_quiz_may_ask_for_the_name(tmp_path):
    q = quiz(14, blank=0.0)
    header = ["ID", "Start time", "Completion time", "Email", "Name", "Total points"]
    header += ["Quiz feedback"]
    for stem in ["Your full name", *q.stems]:
        header += [stem, f"Points - {stem}", f"Feedback - {stem}"]
    rows = []
    for i, p in enumerate(q.persons):
        row = [i + 1, "2025-02-24 14:01:46", "2025-02-24 14:28:53", "anonymous", "", 3, ""]
        row += [p.name, "", ""]
        for k in range(6):
            row += [q.answer(i, k), q.points(i, k), ""]
        rows.append(row)
    key = {q.stems[k]: q.key(k) for k in range(6)}
    content = read({"f.xlsx": xlsx_bytes({"Sheet1": [header, *rows]})}, tmp_path)
    assert content == wanted(Made({}, by_item(q, q.stems), key))


def test_a_form_without_addresses_may_ask_for_the_name(tmp_path):
    q = quiz(14, blank=0.0)
    rows = [["Timestamp", "Name", "Class", *q.stems]]
    for i, p in enumerate(q.persons):
        rows.append(["8/4/2025 23:25:41", p.name, "4b", *[q.answer(i, k) for k in range(6)]])
    assert read({"g.csv": csv_bytes(rows)}, tmp_path) == wanted(Made({}, by_item(q, q.stems)))


@pytest.mark.parametrize(
    "name", ["canvas-new", "zipgrade-web", "scantron", "zooniverse", "otree-app"]
)
def test_whole_numbers_may_have_a_decimal_point(name, tmp_path):
    """Data-frame libraries write so where some cells of a column are blank."""
    example = made(name)
    file, data = next(iter(example.files.items()))
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    rows = [[f"{cell}.0" if cell.isdigit() else cell for cell in row] for row in rows]
    assert read({file: csv_bytes([header, *rows])}, tmp_path) == wanted(example)


def test_a_broken_line_is_named(tmp_path):
    example = made("lm-eval")
    name = next(iter(example.files))
    example.files[name] += b'{"doc_id": 3, broken\n'
    with pytest.raises(InputError, match=r"samples_colours.*line 9"):
        read(example.files, tmp_path)
