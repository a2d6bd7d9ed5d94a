"""What is an item, what is an answer, what is a key: plain tables as people have them."""

from __future__ import annotations

import io
import random

import pytest
from commands import Here
from factory import examples
from formats.quiz import xlsx_bytes, zip_bytes
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import answers

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading import plan, read_file, read_key, read_responses


def read(text: str, **options):
    return read_responses(io.StringIO(text), **options)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(capsys)


def class_sheet(n: int = 12, extra: dict[str, list[str]] | None = None) -> str:
    """Return a table of answers to five questions, with further columns in front."""
    rng = random.Random(7)
    extra = extra or {}
    lines = [",".join(["student", *extra, "q1", "q2", "q3", "q4", "q5"])]
    for k in range(n):
        lead = [extra[name][k] for name in extra]
        lines.append(",".join([f"student-{k:02d}", *lead, *(rng.choice("ABCD") for _ in range(5))]))
    return "\n".join(lines) + "\n"


# -- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "first"),
    [("Last name", "First name"), ("NOM", "Prénom"), ("Příjmení", "Jméno"), ("Soyad", "Ad")],
)
def test_users_who_share_a_family_name_are_told_apart(last, first):
    names = {last: [f"Bird{k // 2}" for k in range(12)], first: ["Ada", "Bob"] * 6}
    text = class_sheet(12, names).replace("student,", "", 1)
    rows = [line.partition(",")[2] if k else line for k, line in enumerate(text.splitlines())]
    r = read("\n".join(rows))
    assert r.users[:3].tolist() == ["Ada Bird0", "Bob Bird0", "Ada Bird1"]
    assert r.n_items == 5


OTHERS = {
    "Timestamp": [f"2024/01/{k + 1:02d} 11:{k:02d}:31 AM GMT+8" for k in range(12)],
    "Zeitstempel": [f"{k + 1:02d}.01.2024 11:49:31" for k in range(12)],
    "Dauer": [f"{k} Min. {k} Sek." for k in range(12)],
    "Score": [str(k % 6) for k in range(12)],
    "Total score": [f"{k % 6}.00 / 5" for k in range(12)],
    "Note": [f"{k % 6},5".replace(",", ".") for k in range(12)],
    "Prozent": [f"{k * 7}%" for k in range(12)],
    "得点": [str(k % 6) for k in range(12)],
    "Email": [f"s{k}@example.org" for k in range(12)],
    "Vorname": [f"Name{k}" for k in range(12)],
    "Comment": ["fine" if k % 2 else "I did not like it at all" for k in range(12)],
    "Remarks on the test": [f"my own words number {k} {'x' * k}" for k in range(12)],
    "No": [str(k + 1) for k in range(12)],
    "Course": ["Biology 1"] * 12,
    "Section": ["7a" if k % 2 else "7b" for k in range(12)],
    "Status": ["Finished"] * 12,
    "id2": [f"{k * 7919 % 99991:05d}" for k in range(12)],
    "IP": [f"192.168.0.{k}" for k in range(12)],
    "weight of the sample": [f"{k * 0.37 + 1:.3f}" for k in range(12)],
}


@pytest.mark.parametrize("name", OTHERS)
def test_columns_that_are_no_items_are_left_out_and_named(name):
    r, plan = read_file(io.StringIO(class_sheet(extra={name: OTHERS[name]})))
    assert r.items.tolist() == ["q1", "q2", "q3", "q4", "q5"]
    (column,) = [column for column in plan.columns if column.name == name]
    assert column.role not in ("item", "answers")
    assert column.reason
    assert name in "".join(r.notes)


REAL_ITEMS = {
    "constant": ("q6", ["A"] * 12),
    "odd name": ("Bonus", list("ABCD" * 3)),
    "odd name, constant": ("the last one", ["B"] * 12),
    "nearly empty": ("x9", ["C"] + [""] * 11),
    "a question as a name": ("Which of these is prime?", list("ABCD" * 3)),
}


@pytest.mark.parametrize("case", REAL_ITEMS)
def test_a_column_of_answers_to_other_items_is_an_item(case):
    name, cells = REAL_ITEMS[case]
    r = read(class_sheet(extra={name: cells}))
    assert name in r.items.tolist()


def test_answers_that_are_texts_of_their_own_are_items():
    rows = ["student,Capital of France?,7 x 8,The sun is a"]
    rows += [
        ",".join(
            [f"s{k}", ["Paris", "Lyon"][k % 2], ["56", "54"][k % 3 == 0], ["sun", "star"][k % 2]]
        )
        for k in range(10)
    ]
    assert read("\n".join(rows)).items.tolist() == ["Capital of France?", "7 x 8", "The sun is a"]


def test_first_and_last_names_are_joined_and_empty_ids_never_win():
    text = "Student ID,First name,Last name,q1,q2,q3\n"
    text += ",Ann,Bird,A,B,A\n,Ann,Cole,B,B,A\n,Bob,Cole,A,A,B\n"
    r = read(text)
    assert r.users.tolist() == ["Ann Bird", "Ann Cole", "Bob Cole"]


def test_the_best_identity_wins():
    text = "Name,Email,q1,q2\nAnn,a@x.org,A,B\nAnn,b@x.org,B,B\nBob,c@x.org,A,A\n"
    assert read(text).users.tolist() == ["a@x.org", "b@x.org", "c@x.org"]


def test_ids_that_are_all_the_same_name_nobody():
    r = read(
        "id,q1,q2,q3\n" + "".join(f"XXX,{'AB'[k % 2]},{'AB'[k % 3 == 0]},A\n" for k in range(6))
    )
    assert r.users.tolist() == [f"user-{k}" for k in range(1, 7)]
    assert any("same value in all rows" in note for note in r.notes)


@examples(50)
@given(st.integers(2, 30), st.integers(2, 8), st.data())
def test_letters_are_never_lost(users, items, data):
    """Whatever people answer with letters, every column and row stays."""
    cell = st.sampled_from(["A", "B", "C", "D", ""])
    rows = [[data.draw(cell) for _ in range(items)] for _ in range(users)]
    names = [f"q{k}" for k in range(1, items + 1)]
    lines = [",".join(["student", *names])]
    lines += [",".join([f"s{k}", *row]) for k, row in enumerate(rows)]
    found = plan(io.StringIO("\n".join(lines)))
    assert [c.name for c in found.columns if c.role == "item"] == names
    assert [c.name for c in found.columns if c.role == "user"] == ["student"]


def test_questions_in_rows_are_seen_and_said():
    text = "Question,Correct answer,student-1,student-2,student-3\n"
    text += "q1,A,A,B,A\nq2,B,B,B,A\nq3,C,C,A,C\nq4,A,A,A,B\n"
    r, plan = read_file(io.StringIO(text))
    assert plan.layout == "transposed"
    assert r.users.tolist() == ["student-1", "student-2", "student-3"]
    assert dict(r.key) == {"q1": "A", "q2": "B", "q3": "C", "q4": "A"}
    assert any("rows are items" in note for note in r.notes)
    same = read("question,student-1,student-2\nx1,A,B\nx2,B,B\nx3,A,A\n")
    assert same.users.tolist() == ["student-1", "student-2"]


def test_a_gold_column_is_not_taken_for_the_answers():
    lines = ["model,question,answer,prediction"]
    lines += [
        f"m{m},q{q},{'ABCD'[q % 4]},{'ABCD'[(q + m * (q % 2)) % 4]}"
        for m in range(3)
        for q in range(8)
    ]
    r = read("\n".join(lines))
    assert (r.n_users, r.n_items) == (3, 8)
    assert dict(r.key) == {f"q{q}": "ABCD"[q % 4] for q in range(8)}
    assert answers(r)["m1", "q1"] == "C"


def test_reports_with_statistics_are_refused():
    text = "Item ID,Correct Answer,Difficulty,Point Biserial Discrimination,Count\n"
    text += "x1,A,79%,0.2,166\nx2,B,80%,0.3,166\n"
    with pytest.raises(InputError, match=r"statistics per question.*export the answers"):
        read(text)


def test_points_alone_are_refused():
    lines = ["student,Q1 (2 pts),Q2 (2 pts),Q3 (1 pts)"]
    lines += [f"s{k},{k % 3},{k % 2 * 2},{k % 2}" for k in range(12)]
    with pytest.raises(InputError, match=r"none of the 4 columns holds answers.*named like points"):
        read("\n".join(lines))


# -- answers -------------------------------------------------------------------------------------


def column(cells: list[str]) -> list[str]:
    """Return the options of one item that people answered so."""
    text = "student,q1,q2,q3\n" + "".join(f'"s{k}","{c}",A,B\n' for k, c in enumerate(cells))
    r = read(text)
    first, last = r.item_starts[0], r.item_starts[1]
    assert r.items[0] == "q1"
    return r.option_labels[first:last].tolist()


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (["A", "a", "B", "b ", "A"], ["A", "B"]),
        (["1", "1.0", "2", "2"], ["1", "2"]),
        (["Ａ", "A", "Ｂ", "B", "A"], ["A", "B"]),
        (["café", "cafe\u0301", "thé", "thé"], ["café", "thé"]),
        (["Yes", "YES", "no", "No", "yes", "Yes", "No"], ["Yes", "No"]),
        (["AA", "Aa", "aa", "AA", "Aa", "aa"], ["AA", "Aa", "aa"]),
        (["A", "-", "?", "B", "N/A", "absent"], ["A", "B"]),
        (["+", "-", "·", "+"], ["+", "-", "·"]),
        (["A", "<Unanswered>", "B", "No answer", "A"], ["A", "B"]),
        (["red, dark", "blue", "red, dark"], ["blue", "red, dark"]),
        (["A, C", "C,A", "B", "A, C"], ["A, C", "B"]),
        (["2,5", "5,2", "2,5", "5,2"], ["2,5", "5,2"]),
        (["red;blue;", "blue; red;", "red", "blue", "red;blue;"], ["red;blue;", "red", "blue"]),
        (["red, dark", "dark, red", "blue", "red, dark"], ["blue", "red, dark", "dark, red"]),
    ],
)
def test_what_counts_as_the_same_answer_and_as_none(cells, options):
    assert sorted(column(cells)) == sorted(options)


def test_what_is_folded_and_taken_as_blank_is_said():
    r = read("student,q1,q2\na,A,x\nb,a,x\nc,-,y\nd,A,y\n")
    assert "Taken as the same answer: 'a' = 'A'." in r.notes
    assert "Taken as no answer: -." in r.notes


def test_free_text_is_left_out_and_told():
    essays = [f"I think that number {k} is right because of {k * k}" for k in range(12)]
    r = read(class_sheet(extra={"Why?": essays}))
    assert "Why?" not in r.items.tolist()
    kept = read(class_sheet(extra={"Why?": essays}), items=["q*", "Why?"])
    assert "Why?" in kept.items.tolist()


# -- rows that are no users, and keys ------------------------------------------------------------


@pytest.mark.parametrize("label", ["KEY", "Answer key", "Lösung", "clave", "正解"])
@pytest.mark.parametrize("place", [1, 5, 13])
def test_a_key_row_is_never_ranked(label, place):
    lines = class_sheet().splitlines()
    lines.insert(place, f"{label},A,B,C,D,A")
    r, plan = read_file(io.StringIO("\n".join(lines)))
    assert r.n_users == 12
    assert dict(r.key) == dict(zip(["q1", "q2", "q3", "q4", "q5"], "ABCDA", strict=True))
    assert label in r.key.source
    assert plan.key == r.key.source


def test_averages_are_left_out_but_a_user_called_max_is_not():
    text = class_sheet() + "Average,0.52,0.33,0.41,0.50,0.7\nStd.Dev,0.1,0.2,0.3,0.15,0.17\n"
    r = read(text)
    assert r.n_users == 12
    assert any("Average" in note for note in r.notes)
    assert "Max" in read(class_sheet() + "Max,A,B,C,D,A\n").users.tolist()


def test_a_key_above_the_header():
    text = "A,B,C,A,B\n" + class_sheet().replace("student,", "", 1).replace("q1", "q1", 1)
    text = "\n".join(",".join(row.split(",")[-5:]) for row in text.splitlines())
    r = read(text)
    assert (r.n_users, r.n_items) == (12, 5)
    assert dict(r.key) == dict(zip(["q1", "q2", "q3", "q4", "q5"], "ABCAB", strict=True))


def test_the_key_in_the_file_is_offered_used_and_judges(tmp_path, here):
    path = tmp_path / "a.csv"
    path.write_text(class_sheet() + "KEY,A,B,C,D,A\n")
    said = here("rank", path, "--method", "majority").err
    assert "The file holds a key (row 'KEY'); the ranking does not use it" in said
    assert "does not use it" not in here("rank", path, "--use-key", "--method", "hnd").err
    compared = here("compare", path, "-m", "majority", "-m", "hits")
    assert "it judges the methods" in compared.err
    assert compared.out.splitlines()[1].split("\t")[1] != ""
    path.write_text(class_sheet())
    assert "there is no key in it" in here("rank", path, "--use-key").err


def test_keys_of_more_shapes_and_keys_that_do_not_fit(tmp_path):
    r = read(class_sheet())
    key = dict(zip(["q1", "q2", "q3", "q4", "q5"], "ABCDA", strict=True))
    across = "q1,q2,q3,q4,q5\nA,B,C,D,A\n"
    assert read_key(io.StringIO(across), r) == key
    whole = class_sheet() + "KEY,a,b,c,d,a\n"
    assert read_key(io.StringIO(whole), r) == key
    records = '[{"item": "q1", "answer": "a"}, {"item": "q2", "answer": "B"}]'
    assert read_key(io.StringIO(records), r) == {"q1": "A", "q2": "B"}
    with pytest.raises(
        InputError, match=r"fits none of the answers: for the item 'q1' it says '1'"
    ):
        read_key({"q1": "1", "q2": "2"}, r)
    partly = read_key({"q1": "A", "q2": "Z"}, r)
    assert partly["q2"] == "Z"
    assert partly.notes == ("the key: nobody chose the answer that the key gives to 'q2'.",)


def test_a_key_in_a_spreadsheet_is_read_from_a_path_a_stream_and_an_archive(tmp_path):
    key = dict(zip(["q1", "q2", "q3", "q4", "q5"], "ABCDA", strict=True))
    rows = [["what", "right", "note"], *([item, answer, "x"] for item, answer in key.items())]
    data = xlsx_bytes({"Key": rows})
    (tmp_path / "key.xlsx").write_bytes(data)
    for source in (tmp_path / "key.xlsx", io.BytesIO(data)):
        assert read_key(source, item="what", answer="right") == key
    two = xlsx_bytes({"Key": [["item", "answer"], *(row[:2] for row in rows[1:])]})
    more = class_sheet().replace("student-", "pupil-")
    members = {"first.csv": class_sheet().encode(), "second.csv": more.encode()}
    (tmp_path / "all.zip").write_bytes(zip_bytes({**members, "key.xlsx": two}))
    assert read_responses(tmp_path / "all.zip").key == key


# -- no vacuous verdicts -------------------------------------------------------------------------


def test_random_numbers_are_no_answers():
    rng = random.Random(1)
    rows = "".join(f"u{k},{rng.random()},{rng.random()}\n" for k in range(30))
    with pytest.raises(InputError, match="numbers that hardly repeat"):
        read("user,a,b\n" + rows)


def test_answers_that_nobody_shares_are_refused():
    rows = "".join(f"w{k},t{k % 3},word{k}\n" for k in range(30))
    with pytest.raises(InputError, match=r"(no two users gave the same answer|hardly any two)"):
        read("worker,task,label\n" + rows)


def test_answers_that_are_all_alike_get_a_plain_word():
    r = read("user,q1,q2\n" + "".join(f"u{k},A,B\n" for k in range(5)))
    assert any("nothing tells the users apart" in note for note in r.notes)


@given(st.data())
def test_nobody_is_left_out_of_an_ordinary_table(data):
    users, items = data.draw(st.integers(8, 20)), data.draw(st.integers(2, 6))
    letters = st.sampled_from(["A", "B", ""])
    rows = [[data.draw(letters) for _ in range(items)] for _ in range(users)]
    rows[0], rows[1] = ["A"] * items, ["B"] * items
    names = [f"q{k}" for k in range(items)]
    lines = [["student", *names], *[[f"s{k}", *row] for k, row in enumerate(rows)]]
    r = hnd.read_responses(io.StringIO("\n".join(map(",".join, lines)) + "\n"))
    assert len(r.users) == users


def test_a_row_that_nobody_agrees_with_is_kept_where_the_items_are_named():
    rows = [
        f"s{k},{'AB'[k % 2]},{'AB'[k % 3 == 0]},{'BA'[k % 2]},{'AB'[k % 4 < 2]},A"
        for k in range(12)
    ]
    text = "\n".join(["ID,q1,q2,q3,q4,q5", "Weight,1,2,1,2,1", *rows]) + "\n"
    plan = hnd.plan(io.StringIO(text))
    assert "Weight" not in plan.read().users.tolist()
    assert any("Weight" in rows.what for rows in plan.left_out)
    assert "Weight" in hnd.plan(io.StringIO(text), items=["q*"]).read().users.tolist()


def test_rows_of_other_attempts_are_left_out_and_counted():
    rows = ["Username,Attempt,q1,q2,q3"]
    rows += [f"s{i},{k},{'ABC'[(i + k) % 3]},A,B" for i in range(6) for k in (1, 2)]
    r = read("\n".join(rows))
    assert (r.n_users, r.n_items) == (6, 3)
    assert any("Left out 6 rows of users with several rows" in note for note in r.notes)


def test_attempts_at_one_question_are_no_items():
    rows = ["Student,Attempt,Answer"]
    rows += [f"s{i},{k},{'ABC'[i * k % 3]}" for i in range(8) for k in (1, 2, 3)]
    assert read("\n".join(rows)).items.tolist() == ["Answer"]


def test_answers_0_and_1_are_said_to_be_taken_as_options():
    rows = ["Name,q1,q2,q3", *[f"s{i},{i % 2},{i // 2 % 2},{i // 4 % 2}" for i in range(8)]]
    assert any("if 1 means right" in note for note in read("\n".join(rows)).notes)
    others = "\n".join(rows).replace(",1", ",2")
    assert not any("if 1 means right" in note for note in read(others).notes)
