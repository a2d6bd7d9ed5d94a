"""Ordinary files that look like something else: they are read as what they are."""

from __future__ import annotations

import io
import json
import random

import pytest
from reading_helpers import answers

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_file, read_responses

NAMES = [f"student-{k:02d}" for k in range(12)]


def quiz(n_items: int = 10) -> list[list[str]]:
    """Return the answers of twelve students, who know more and more of them."""
    rng = random.Random(5)
    key = rng.choices("ABCD", k=n_items)
    return [
        [own if rng.random() < 0.3 + k / 20 else rng.choice("ABCD") for own in key]
        for k in range(len(NAMES))
    ]


ANSWERS = quiz()
PAIRS = list(zip(NAMES, ANSWERS, strict=True))
PLACED = list(enumerate(PAIRS))


def as_text(rows: list[list[object]]) -> str:
    return "\n".join(",".join(map(str, row)) for row in rows)


def read(rows: list[list[object]], **options):
    return read_responses(io.StringIO(as_text(rows)), **options)


def read_json(value: object):
    return read_responses(io.BytesIO(json.dumps(value).encode()))


# -- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", ["Question", "Q", "Response", "item"])
@pytest.mark.parametrize("mark", ["", ".", "_"])
def test_the_first_item_of_a_series_may_have_no_number(stem, mark):
    names = [stem, *(f"{stem}{mark}{k}" for k in range(2, 11))]
    r = read([["Name", *names], *([p, *own] for p, own in PAIRS)])
    assert r.items.tolist() == names
    assert len(answers(r)) == 120


@pytest.mark.parametrize("stem", ["Set", "code", "Form"])
def test_a_series_named_like_something_about_people_is_one_of_items(stem):
    names = [f"{stem} {k}" for k in range(1, 5)]
    r = read([["Name", *names], *([p, *own[:4]] for p, own in PAIRS)])
    assert r.items.tolist() == names


def test_an_age_group_is_no_item():
    rows = [[p, 1 + k % 4, *("ABCD".index(a) + 1 for a in own[:5])] for k, (p, own) in PLACED]
    r = read([["id", "age_group", *(f"v{k}" for k in range(5))], *rows])
    assert r.n_items == 5
    assert any("'age_group' (identity)" in note for note in r.notes)


@pytest.mark.parametrize("name", ["code", "phone", "participant code"])
def test_codes_beside_two_items_are_no_answers(name):
    rng = random.Random(3)
    codes = ["".join(rng.choices("ABCDEFGH", k=6)) for _ in NAMES]
    said = [["yes" if a < "C" else "no" for a in own[:2]] for own in ANSWERS]
    rows = [[code, *own] for code, own in zip(codes, said, strict=True)]
    assert read([[name, "agree", "again"], *rows]).items.tolist() == ["agree", "again"]


def test_several_choices_in_a_cell_are_one_answer():
    rng = random.Random(3)
    sets = [";".join(sorted(rng.sample("ABCDEF", 5))) for _ in NAMES]
    r = read([["Name", "Pick five"], *zip(NAMES, sets, strict=True)])
    assert r.items.tolist() == ["Pick five"]


# -- rows that look like keys --------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", [("ID", "Last name", "First name"), ("ID", "Vorname", "Nachname"), ("ID", "Student")]
)
def test_a_student_whose_name_is_key_is_no_key(header):
    first = ["Ann", "Bob", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal", "Ida", "Jan", "Kay", "Leo"]
    last = ["Ash", "Birk", "Cole", "Key", *(f"Moss{k}" for k in range(8))]
    parts = {"Last name": last, "Nachname": last, "First name": first, "Vorname": first}
    parts["Student"] = [f'"{b}, {a[0]}."' for a, b in zip(first, last, strict=True)]
    parts["ID"] = [str(100 + k) for k in range(12)]
    names = [f"Q{k}" for k in range(10)]
    rows = [[*(parts[n][k] for n in header), *own] for k, own in enumerate(ANSWERS)]
    r = read([[*header, *names], *rows])
    assert r.n_users == 12
    assert r.key is None


@pytest.mark.parametrize(("remark", "is_key"), [("correct", False), ("answer key", True)])
def test_a_remark_names_a_key_only_with_a_word_for_it(remark, is_key):
    names = [f"Q{k}" for k in range(10)]
    rows = [[p, *own, remark if k == 3 else ""] for k, (p, own) in PLACED]
    r = read([["Name", *names, "Remarks"], *rows])
    assert r.n_users == 12 - is_key
    assert (r.key is not None) == is_key


def test_a_student_called_key_in_a_form():
    table = [["Timestamp", "First name", "Last name", *(f"What is thing {k}?" for k in range(10))]]
    for k, own in enumerate(ANSWERS):
        last = "Key" if k == 4 else f"Moss{k}"
        table.append([f"2024/05/{k + 1:02d} 10:00:00 AM", f"Ann{k}", last, *own])
    r = read(table)
    assert r.n_users == 12
    assert r.key is None


def test_remarks_in_a_form_are_left_out_said_and_can_be_kept():
    ask = "Any other comments?"
    table = [["Timestamp", "Your name", *(f"What is thing {k}?" for k in range(10)), ask]]
    for k, own in enumerate(ANSWERS):
        remark = f"fine {k}" if k % 3 else ""
        table.append([f"2024/05/{k + 1:02d} 10:00:00 AM", NAMES[k], *own, remark])
    r = read(table)
    assert r.n_items == 10
    assert any(note.startswith(f"Left out '{ask}': free text") for note in r.notes)
    assert read(table, items=[ask, "What*"]).n_items == 11


# -- one row per answer --------------------------------------------------------------------------


@pytest.mark.parametrize("counter", ["id", "number", "index", "no"])
def test_row_numbers_are_no_part_of_an_item(counter):
    rows = [[p, f"q{i}", a] for p, own in PAIRS for i, a in enumerate(own)]
    rows += [[p, "q0", "D" if own[0] == "A" else "A"] for p, own in PAIRS]
    with pytest.raises(InputError, match="answered the item 'q0' with"):
        read([[counter, "user", "question", "answer"], *([k, *r] for k, r in enumerate(rows))])


def test_labels_with_a_time_and_an_address_are_no_form():
    rows = [[f"{p}@example.org", f"doc-{i}", a] for p, own in PAIRS for i, a in enumerate(own)]
    times = [[f"2024/05/02 10:{k % 60:02d}:00 AM", *row] for k, row in enumerate(rows)]
    r = read([["Timestamp", "Email", "Item", "Label"], *times])
    assert (r.n_users, r.n_items, r.n_responses) == (12, 10, 120)


def test_a_school_subject_is_a_part_of_the_item_beside_a_student():
    rows = [[p, ("maths", "art")[i // 5], i % 5, a] for p, own in PAIRS for i, a in enumerate(own)]
    r = read([["student", "subject", "question", "answer"], *rows])
    assert (r.n_users, r.n_items) == (12, 10)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_models", [6, 14])
def test_columns_of_several_models_are_not_taken_as_one_row_per_answer(seed, n_models):
    rng = random.Random(seed)
    models = [f"model-{'abcdefghijklmn'[k]}" for k in range(n_models)]
    table = [["question", "gold", *(f"{m}_{s}" for s in ("pred", "correct") for m in models)]]
    for k in range(10):
        right = "ABCD"[k % 4]
        own = [right if rng.random() < 0.6 else rng.choice("ABCD") for _ in models]
        table.append([f"question {k}", right, *own, *(a == right for a in own)])
    r = read(table)
    assert r.users.tolist() == [f"{m}_pred" for m in models]
    assert (r.n_items, r.n_responses, len(r.key)) == (10, 10 * n_models, 10)


@pytest.mark.parametrize("seed", range(20))
def test_columns_that_mention_users_are_not_taken_as_users(seed):
    rng = random.Random(seed)
    table = [["participant id", "best model", "worst model", "task order", "response style"]]
    for name in NAMES[:10]:
        own = [rng.choice("abcd"), rng.choice("abcd"), rng.choice("wxyz"), rng.choice("fs")]
        table.append([name, *own])
    r = read(table)
    assert (r.users.tolist(), r.n_items) == (NAMES[:10], 4)


# -- JSON ----------------------------------------------------------------------------------------


def test_models_over_numbered_questions_are_users():
    by_model = {
        f"model-{k}": {str(i): a for i, a in enumerate(own)} for k, own in enumerate(ANSWERS)
    }
    expected = {(m, i): a for m, own in by_model.items() for i, a in own.items()}
    assert answers(read_json(by_model)) == expected


def test_columns_of_questions_over_numbered_rows_are_items():
    by_item = {f"Is it {i}?": {str(k): own[i] for k, own in enumerate(ANSWERS)} for i in range(10)}
    r = read_json(by_item)
    assert (r.n_users, r.items.tolist()) == (12, list(by_item))


@pytest.mark.parametrize("name", ["worker", "annotator_id"])
def test_items_with_a_list_of_labels_by_worker(name):
    records = [
        {
            "id": f"doc-{i}",
            "text": f"Text {i}",
            "gold": "A",
            "annotations": [{name: p, "label": own[i]} for p, own in PAIRS],
        }
        for i in range(10)
    ]
    r = read_json(records)
    assert answers(r) == {(p, f"doc-{i}"): a for p, own in PAIRS for i, a in enumerate(own)}
    assert r.key is not None


def test_models_under_a_member_beside_the_settings():
    by_model = {p: {f"q{i}": a for i, a in enumerate(own)} for p, own in PAIRS}
    r = read_json({"config": {"seed": 1}, "predictions": by_model})
    assert answers(r) == {(p, q): a for p, own in by_model.items() for q, a in own.items()}


def test_options_beside_a_prediction_are_no_answers():
    lines = [
        {"model": p, "id": f"q{i}", "choices": ["w", "x", "y", "z"], "answer": "A", "prediction": a}
        for p, own in PAIRS
        for i, a in enumerate(own)
    ]
    r = read_responses(io.BytesIO("\n".join(map(json.dumps, lines)).encode()))
    assert answers(r) == {(one["model"], one["id"]): one["prediction"] for one in lines}
    assert len(r.key) == 10


def test_a_list_of_results_under_each_model():
    runs = [
        {"model": p, "results": [{"id": f"q{i}", "answer": "A", "prediction": a} for i, a in own]}
        for p, own in ((p, list(enumerate(own))) for p, own in PAIRS)
    ]
    r = read_json(runs)
    assert (r.n_users, r.n_items, len(r.key)) == (12, 10, 10)


@pytest.mark.parametrize("records", [True, False])
def test_pictures_over_their_workers_are_items(records):
    value = {
        f"img{i}.png": [{"worker": f"worker-{k}", "label": own[i]} for k, own in enumerate(ANSWERS)]
        if records
        else {f"worker-{k}": own[i] for k, own in enumerate(ANSWERS)}
        for i in range(10)
    }
    r = read_json(value)
    assert r.items.tolist() == list(value)
    assert r.users.tolist() == [f"worker-{k}" for k in range(12)]


def test_rows_by_number_are_rows():
    rows = {
        str(k): {"student": p, **{f"Q{i}": a for i, a in enumerate(own)}} for k, (p, own) in PLACED
    }
    r = read_json(rows)
    assert (r.users.tolist(), r.n_items) == (NAMES, 10)


def test_columns_as_lists_are_a_table():
    columns = {f"Q{i}": [own[i] for own in ANSWERS] for i in range(10)}
    r = read_json({"student": NAMES, **columns})
    assert (r.users.tolist(), r.items.tolist()) == (NAMES, list(columns))


def test_lists_of_right_answers_and_of_ids_are_no_users():
    ids = [f"doc-{i}" for i in range(10)]
    r = read_json({"ids": ids, "gold": ["A"] * 10, **dict(PAIRS)})
    assert (r.users.tolist(), r.items.tolist()) == (NAMES, ids)
    assert dict(r.key) == dict.fromkeys(ids, "A")


def test_a_key_among_the_users_of_a_nested_file():
    by_user = {p: {f"Q{i}": a for i, a in enumerate(own)} for p, own in PAIRS}
    r = read_json({"key": {f"Q{i}": "A" for i in range(10)}, **by_user})
    assert (r.users.tolist(), len(r.key)) == (NAMES, 10)


def test_a_user_may_be_a_record():
    sent = [
        {"user": {"id": k, "name": p}, "answers": {f"q{i}": a for i, a in enumerate(own)}}
        for k, (p, own) in PLACED
    ]
    r = read_json({"quiz": "Biology", "submissions": sent})
    assert (r.n_users, r.items.tolist()) == (12, [f"q{i}" for i in range(10)])


@pytest.mark.parametrize("inside", ["answers", "votes"])
def test_an_answer_may_be_a_record_with_its_time(inside):
    own = [{f"q{i}": {"answer": a, "time": 3} for i, a in enumerate(own)} for own in ANSWERS]
    r = read_json([{"student": p, inside: a} for p, a in zip(NAMES, own, strict=True)])
    assert answers(r) == {(p, f"q{i}"): a for p, own in PAIRS for i, a in enumerate(own)}


# -- exports -------------------------------------------------------------------------------------


def test_a_class_list_with_long_numbers_is_no_survey():
    head = ["Student No", "Exam No", "Date", "Name", "Class", *(f"Q{k}" for k in range(10))]
    topics = ["", "", "", "", "", *["algebra", "geometry"] * 5]
    rows = [[1000001 + k, 2000001 + k, "2024-05-02", p, "7b", *own] for k, (p, own) in PLACED]
    r = read([head, topics, *rows])
    assert (r.n_users, r.n_items) == (12, 10)
    assert any("row 1 below the header" in note for note in r.notes)


def test_a_column_called_correct_may_hold_the_right_answer():
    key = "CABDCA"
    head = ["Name", *(f"{part} {k}" for k in range(1, 7) for part in ("answer", "correct"))]
    rows = [
        [p, *(cell for pair in zip(own, key, strict=False) for cell in pair)] for p, own in PAIRS
    ]
    assert dict(read([head, *rows]).key) == {str(k + 1): c for k, c in enumerate(key)}


# -- what is said --------------------------------------------------------------------------------


def test_a_key_column_is_not_also_said_to_be_left_out():
    rows = [[p, f"q{i}", a, "A", i] for p, own in PAIRS for i, a in enumerate(own)]
    r = read([["model", "question", "prediction", "target", "seconds"], *rows])
    assert "'target' is taken as the key." in r.notes
    assert "Left out the other columns: 'seconds'." in r.notes


def test_several_key_rows_are_said_in_one_sentence():
    rows = [["KEY", *ANSWERS[-1]], *([p, *own] for p, own in PAIRS), ["KEY", *ANSWERS[-2]]]
    r = read([["Name", *(f"Q{k}" for k in range(10))], *rows])
    assert r.n_users == 12
    assert any(n.startswith("Left out 2 key rows (row 'KEY', …): the first") for n in r.notes)


def test_a_key_among_the_users_of_a_long_table_is_not_ranked():
    rows = [[p, f"q{i}", a] for p, own in PAIRS for i, a in enumerate(own)]
    rows += [["KEY", f"q{i}", "A"] for i in range(10)]
    r, plan = read_file(io.StringIO(as_text([["student", "question", "answer"], *rows])))
    assert (r.n_users, len(r.key)) == (12, 10)
    assert plan.left_out[0].what == "row 'KEY'"


@pytest.mark.parametrize("name", ["run", "seed_no", "epoch"])
def test_runs_of_a_user_are_told_apart_by_their_column(name):
    rng = random.Random(1)
    key = rng.choices("ABCD", k=40)
    rows = [["model", name, "item", "answer"]]
    for k, model in enumerate("abcdefgh"):
        for run in ("1", "2", "3"):
            own = [right if rng.random() < 0.3 + k / 12 else rng.choice("ABCD") for right in key]
            rows += [[f"model-{model}", run, f"q{j}", answer] for j, answer in enumerate(own)]
    text = "\n".join(map(",".join, rows))
    r = read_responses(io.BytesIO(text.encode()))
    assert (r.n_users, r.n_items, r.n_responses) == (24, 40, 960)
    assert any("answered each item more than once" in note for note in r.notes)
    said = read_responses(io.BytesIO(text.encode()), user=f"model+{name}")
    assert said.users.tolist() == r.users.tolist()


WORDS = ["red", "blue"]
DOUBTFUL = {
    "a name that speaks of a question": [
        ["user", "Q1", "Q2", "Q3", "my_question_four"],
        *([f"u{k}", k % 2 + 1, k % 3 + 1, k % 2 + 1, k % 3 + 10] for k in range(6)),
    ],
    "a question with its options": [
        ["user", "Which is 1?", "Which is 2?", "Which is 3?", "You use?[Pen]", "You use?[Ink]"],
        *(
            [f"u{k}", *(f"{WORDS[(k + n) % 2]} {n}" for n in range(3)), "ny"[k % 2], "yn"[k // 6]]
            for k in range(12)
        ),
    ],
    "numbers beside words": [
        ["user", "Sky", "1", "Sea", "1 (2)", "Sun", "1 (3)"],
        *(
            [f"u{k}", *(x for n in range(3) for x in (WORDS[(k + n) % 2], (k + n) % 2))]
            for k in range(7)
        ),
    ],
}


@pytest.mark.parametrize("rows", list(DOUBTFUL.values()), ids=list(DOUBTFUL))
def test_columns_that_may_or_may_not_be_items_are_asked_about(rows):
    with pytest.raises(InputError, match="not clear which columns hold the answers"):
        read(rows)


def test_points_that_nobody_got_are_points_however_zero_is_written():
    rows = [["user", *(name for n in range(5) for name in (f"word {'abcde'[n]}", f"1.0.{n}"))]]
    for k in range(20):
        own = ["xyz"[(k * (n + 1) + n) % 3] for n in range(4)] + ["xyz"[k // 2 % 3]]
        points = [float(0 < n < 4 and text == "y") for n, text in enumerate(own)]
        points[0] = float(k == 7)  # a single one got them
        rows.append([f"u{k}", *(x for pair in zip(own, points, strict=True) for x in pair)])
    assert read(rows).n_items == 5
