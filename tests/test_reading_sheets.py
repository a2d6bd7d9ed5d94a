"""Sheets as people keep them: remarks below the table, rows and columns with names of their own."""

from __future__ import annotations

import io
import random

import pytest
import xlsxwriter
from formats.quiz import xlsx_bytes
from reading_helpers import answers

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses
from hitsndiffs.reading.files import spreadsheets
from hitsndiffs.reading.files.spreadsheets import Workbook

PEOPLE = """Ada Bird, Ben Cole, Cleo Dorn, Dan Ebel, Eva Fox, Finn Gray, Gia Hill, Hugo Ives,
    Ida Jung, Jan Kern, Kim Lang, Leo Moss"""
NAMES = [name.strip() for name in PEOPLE.split(",")]
FIRST, LAST = zip(*map(str.split, NAMES), strict=True)
IDS = [str(20240000 + 17 * k) for k in range(12)]
ITEMS = [f"Q{k}" for k in range(1, 9)]


def quiz(options: str = "ABCD", seed: int = 3) -> tuple[list[list[str]], list[str]]:
    """Return the answers of twelve students, who know more and more of them, and the key."""
    rng = random.Random(seed)
    key = rng.choices(options, k=len(ITEMS))
    rows = [
        [own if rng.random() < 0.3 + k / 20 else rng.choice(options) for own in key]
        for k in range(len(NAMES))
    ]
    return rows, key


ANSWERS, KEY = quiz()
HEADER = ["Name", *ITEMS]
ROWS = [[name, *own] for name, own in zip(NAMES, ANSWERS, strict=True)]
GIVEN = {
    (name, item): answer
    for name, own in zip(NAMES, ANSWERS, strict=True)
    for item, answer in zip(ITEMS, own, strict=True)
}
WITH_IDS = {(IDS[NAMES.index(name)], item): answer for (name, item), answer in GIVEN.items()}


def read(rows: list[list[object]], **options):
    text = "\n".join(",".join(map(str, row)) for row in rows)
    return read_responses(io.StringIO(text), **options)


def notes(responses) -> str:
    return " ".join(responses.notes)


# -- rows that are not users ---------------------------------------------------------------------


@pytest.mark.parametrize("gap", [[], [[]], [[""] * 9]], ids=["no gap", "empty line", "blank cells"])
@pytest.mark.parametrize("width", [1, 9], ids=["one cell", "all cells"])
@pytest.mark.parametrize(
    "text", ["* absent on that day", "Printed by the school office", "Source: the office. 2024"]
)
def test_remarks_below_the_table_are_no_users(gap, width, text):
    r = read([HEADER, *ROWS, *gap, [text, *[""] * (width - 1)]])
    assert answers(r) == GIVEN
    assert r.users.tolist() == NAMES
    assert text in notes(r)


def test_a_legend_below_the_table_is_left_out():
    r = read([HEADER, *ROWS, [], ["Legend"], ["A", "the first option"], ["B", "the second"]])
    assert answers(r) == GIVEN
    assert "Left out 3 lines of text below the table: 'Legend'" in notes(r)


def test_somebody_without_answers_at_the_end_stays_a_user():
    r = read([HEADER, *ROWS, ["Maria de la Cruz", *[""] * 8]])
    assert r.users.tolist() == [*NAMES, "Maria de la Cruz"]


def test_a_row_that_is_cut_off_is_refused():
    with pytest.raises(InputError, match="line 14: 4 cells where the header has 9"):
        read([HEADER, *ROWS, ["Zoe Zane", "A", "B", "C"]])


def test_the_title_of_a_second_class_is_no_user():
    title = ["Class 7b", *[""] * 8]
    r = read([["Class 7a", *[""] * 8], HEADER, *ROWS[:6], title, HEADER, *ROWS[6:]])
    assert r.users.tolist() == NAMES
    assert answers(r) == GIVEN


def test_sums_below_without_a_name_are_left_out():
    sums = ["", *(f"{k * 7 % 11}.25" for k in range(8))]
    r = read([HEADER, *ROWS, sums])
    assert answers(r) == GIVEN
    assert "row 13 below the header" in notes(r)


@pytest.mark.parametrize(
    "lead",
    [
        (("ID", "Last", "First"), lambda k: [IDS[k], LAST[k], FIRST[k]]),
        (("Last", "First", "ID"), lambda k: [LAST[k], FIRST[k], IDS[k]]),
        (("Email", "Last name"), lambda k: [f"{FIRST[k].lower()}@x.org", LAST[k]]),
    ],
    ids=["id first", "id last", "mail"],
)
@pytest.mark.parametrize("name", ["Key", "Solution"])
def test_a_student_called_key_is_a_person(lead, name):
    names, cells = lead
    rows = [[*cells(k), *own] for k, own in enumerate(ANSWERS)]
    rows = [[name if cell == "Ebel" else cell for cell in row] for row in rows]
    r = read([[*names, *ITEMS], *rows])
    assert r.n_users == 12
    assert r.key is None


@pytest.mark.parametrize("name", ["KEY", "Answer key", "Key"])
@pytest.mark.parametrize("number", ["", "0", "99999999"])
def test_a_key_beside_people_may_have_an_id(name, number):
    rows = [[IDS[k], NAMES[k], *own] for k, own in enumerate(ANSWERS)]
    r = read([["ID", "Name", *ITEMS], *rows, [number, name, *KEY]])
    assert answers(r) == WITH_IDS
    assert dict(r.key) == dict(zip(ITEMS, KEY, strict=True))


@pytest.mark.parametrize(
    "name",
    [
        *("Rätta svar", "Správné odpovědi", "Avaimet", "مفتاح الإجابة", "Đáp án", "Richtig"),
        *("Model answer", "Correct option", "ANSWER KEY (do not share)", "Gold standard"),
        *("Truth", "Soluciones", "PLANTILLA", "Plantilla de respuestas", "Griglia di correzione"),
        *("Musterlösung", "Antwoordmodel", "Klíč", "Hoja de respuestas correctas", "Gabarito 2"),
    ],
)
def test_keys_have_many_names(name):
    r = read([HEADER, *ROWS, [name, *KEY]])
    assert answers(r) == GIVEN
    assert dict(r.key) == dict(zip(ITEMS, KEY, strict=True))


@pytest.mark.parametrize("own", ["", "8", "-"])
def test_a_row_that_points_agree_with_is_the_key(own):
    right = [sum(map(str.__eq__, row, KEY)) for row in ANSWERS]
    rows = [[*row, points] for row, points in zip(ROWS, right, strict=True)]
    r = read([[*HEADER, "Right"], ["Maya Muster", *KEY, own], *rows])
    assert (r.n_users, r.key is not None) == ((12, True) if own != "8" else (13, False))


def test_a_key_is_named_in_any_cell_beside_the_answers():
    rows = [[IDS[k], f"W{k}", 8, *own] for k, own in enumerate(ANSWERS)]
    r = read([["20230000", "KEY", 8, *KEY], *rows])
    assert (r.n_users, [*r.key.values()]) == (12, KEY)


@pytest.mark.parametrize(("name", "is_key"), [("GOLD", True), ("gold", True), ("Gold", False)])
def test_a_worker_called_gold_holds_the_key(name, is_key):
    people = [name.split()[0] for name in NAMES]
    rows = [[w, i, a] for w, own in zip(people, ANSWERS, strict=True) for i, a in enumerate(own)]
    rows += [[name, i, a] for i, a in enumerate(KEY)]
    r = read([["worker", "task", "label"], *([w, f"t{i}", a] for w, i, a in rows)])
    assert (r.n_users, r.key is not None) == (13 - is_key, is_key)


@pytest.mark.parametrize("name", ["Gold", "Truth, Sojourner", "Model, Eva", "Max Right (7b)"])
def test_these_are_people(name):
    r = read([HEADER, *ROWS, [f'"{name}"', *KEY]])
    assert r.n_users == 13
    assert r.key is None


@pytest.mark.parametrize("blank", ["#", "_", "\\N", "#NULL!", "skip", "Skipped", "k.A."])
def test_words_for_no_answer(blank):
    rows = [[blank if (k + j) % 7 == 0 else c for j, c in enumerate(r)] for k, r in enumerate(ROWS)]
    rows = [[name, *row[1:]] for name, row in zip(NAMES, rows, strict=True)]
    r = read([HEADER, *rows])
    assert blank not in answers(r).values()
    assert blank in notes(r)


# -- columns that are not items ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Letter grade", "Final mark", "Note"])
def test_grades_in_letters_beside_a_series_are_no_item(name):
    rows = [[*row, "DDCCCBBBBAAA"[k]] for k, row in enumerate(ROWS)]
    r = read([[*HEADER, name], *rows])
    assert answers(r) == GIVEN
    assert name in notes(r)


@pytest.mark.parametrize(
    "name", ["SCHOOLID", "IDCLASS", "Country of birth", "Employment status", "Student status"]
)
def test_columns_about_the_person_are_no_items(name):
    items = ["Capital?", "River?", "Lake?", "Hill?", "Isle?", "Town?", "Sea?", "Wood?"]
    rows = [[*row, "yes" if k % 3 else "no"] for k, row in enumerate(ROWS)]
    r = read([["Name", *items, name], *rows])
    assert r.items.tolist() == items
    assert name in notes(r)


@pytest.mark.parametrize(
    ("options", "odd"), [("ABCD", "X"), ("ABCD", "none"), ("1234", "9"), ("1234", "0")]
)
def test_an_option_unlike_the_others_is_pointed_out(options, odd):
    rows, _ = quiz(options, seed=9)
    rows = [[odd if (k + j) % 9 == 0 else c for j, c in enumerate(r)] for k, r in enumerate(rows)]
    table = [HEADER, *([name, *own] for name, own in zip(NAMES, rows, strict=True))]
    said = notes(read(table))
    assert f"{odd!r} is kept as an answer" in said
    assert f"the others are {options[0]} to {options[-1]}" in said
    r = read(table, blanks=[odd])
    assert odd not in answers(r).values()
    assert "is kept as an answer" not in notes(r)


@pytest.mark.parametrize("options", ["ABCD", "ABCDE", "1234", "01234"])
def test_ordinary_options_are_not_pointed_out(options):
    rows, _ = quiz(options, seed=2)
    r = read([HEADER, *([name, *own] for name, own in zip(NAMES, rows, strict=True))])
    assert "is kept as an answer" not in notes(r)


# -- tables that hold no answers of people -------------------------------------------------------


@pytest.mark.parametrize("label", ["item", "subject", "Frage"])
@pytest.mark.parametrize("mark", ["", "%"])
def test_counts_per_answer_are_refused(label, mark):
    counts = [[own.count(letter) for letter in "ABCD"] for own in zip(*ANSWERS, strict=True)]
    rows = [[f"i{k}", *(f"{n}{mark}" for n in own)] for k, own in enumerate(counts)]
    with pytest.raises(InputError, match="counts or percentages per answer"):
        read([[label, "A", "B", "C", "D"], *rows])


@pytest.mark.parametrize(
    "rows",
    [
        [
            ["id", "text", "sentiment"],
            *([k, f"text {k} on {k * 7}", "pn"[k % 2]] for k in range(30)),
        ],
        [["apple"], *([word] for word in ["pear", "plum", "apple"] * 6)],
        [[f"What is {k}?", f"w{k}", f"x{k}", f"y{k}", "ABC"[k % 3]] for k in range(20)],
    ],
    ids=["labelled texts", "list", "questions without a header"],
)
def test_answers_that_nobody_gave_are_refused(rows):
    with pytest.raises(InputError, match=r"no column says who gave it|a list in a single column"):
        read(rows)


def test_points_in_halves_are_refused():
    rng = random.Random(1)
    rows = [[name, *(rng.choice([0, 0.5, 1, 1.5, 2]) for _ in ITEMS)] for name in NAMES]
    with pytest.raises(InputError, match=r"table of points per question|no answers of people"):
        read([HEADER, *rows])


def test_points_with_their_maximum_in_the_name_are_refused():
    rng = random.Random(1)
    rows = [[name, *(rng.randrange(k) for k in range(3, 9))] for name in NAMES]
    with pytest.raises(InputError, match="none of the 7 columns holds answers"):
        read([["Name", *(f"Task {k} (max {k})" for k in range(2, 8))], *rows])


def test_tables_side_by_side_are_refused():
    rows = [[*ROWS[k], "", *ROWS[k + 6]] for k in range(6)]
    with pytest.raises(InputError, match="several tables side by side"):
        read([[*HEADER, "", *HEADER], *rows])


# -- rows that are items -------------------------------------------------------------------------


@pytest.mark.parametrize("corner", ["", "Answers"])
@pytest.mark.parametrize("word", ["Question ", "Q", "Frage "])
def test_rows_numbered_like_items_below_names(corner, word):
    rows = [[f"{word}{k}", *own] for k, own in enumerate(zip(*ANSWERS, strict=True), start=1)]
    r = read([[corner, *NAMES], *rows])
    assert answers(r) == {(u, f"{word}{i[1:]}"): a for (u, i), a in GIVEN.items()}


@pytest.mark.parametrize("names", [["Coder A", "Coder B"], ["observer1", "observer2", "observer3"]])
def test_few_raters_in_columns(names):
    rows = [
        [f"text {k}", *own[: len(names)]] for k, own in enumerate(zip(*ANSWERS[6:], strict=True))
    ]
    r = read([["Passage", *names, "Agreement"], *([*row, k % 2] for k, row in enumerate(rows))])
    assert r.users.tolist() == names
    assert r.n_items == 8


def test_a_weak_model_in_a_column_is_still_a_user():
    rows = list(zip(ITEMS, KEY, *ANSWERS[:3], ["D"] * 8, strict=True))
    r = read([["question", "answer", "m-1", "m-2", "m-3", "always-d"], *map(list, rows)])
    assert r.users.tolist() == ["m-1", "m-2", "m-3", "always-d"]
    assert len(r.key) == 8


def test_rows_that_are_questions_below_models():
    rows = [
        [f"What is {i}?", *own[:5]]
        for i, own in zip(ITEMS, zip(*ANSWERS, strict=True), strict=True)
    ]
    names = ["gpt", "llama", "phi", "gemma", "qwen"]
    r = read([["q", *names], *rows])
    assert r.users.tolist() == names


# -- marks, grades, and the sheet to read --------------------------------------------------------


@pytest.mark.parametrize("marks", [("V", "X"), ("✓", "✗"), ("Correct", "Incorrect")])
def test_marks_beside_the_answers_tell_the_key(marks):
    names = ["Name", *(name for item in ITEMS for name in (f"Which is {item}?", "Correct"))]
    rows = [
        [row[0], *(c for a, k in zip(row[1:], KEY, strict=True) for c in (a, marks[a != k]))]
        for row in ROWS
    ]
    r = read([names, *rows])
    assert r.items.tolist() == [f"Which is {item}?" for item in ITEMS]
    assert list(r.key.values()) == KEY


def test_a_gradebook_is_refused():
    rows = [[name, *((k * 7 + j * 3) % 11 for j in range(4))] for k, name in enumerate(NAMES)]
    with pytest.raises(InputError, match="table of points per question"):
        read([["Student", "Homework 1", "Homework 2", "Lab 1", "Quiz 1"], *rows])


def test_the_sheet_with_answers_is_read_not_the_one_with_marks(tmp_path):
    marks = [[row[0], *(int(a == k) for a, k in zip(row[1:], KEY, strict=True))] for row in ROWS]
    book = xlsxwriter.Workbook(tmp_path / "test.xlsx")
    for name, rows in (("Scored", marks), ("Raw", ROWS)):
        sheet = book.add_worksheet(name)
        for k, row in enumerate([HEADER, *rows]):
            sheet.write_row(k, 0, row)
    book.close()
    r = read_responses(tmp_path / "test.xlsx")
    assert answers(r) == GIVEN
    assert "Read the sheet 'Raw'" in notes(r)


# -- sheets with the same columns ----------------------------------------------------------------


def book(**sheets: list[list[str]]) -> io.BytesIO:
    return io.BytesIO(xlsx_bytes(sheets))


CLASSES = {f"7{k}": [HEADER, *ROWS[4 * j : 4 * j + 4]] for j, k in enumerate("abc")}


@pytest.mark.parametrize("above", [[], [["School of the North"]]], ids=["", "title"])
def test_a_sheet_per_class_is_read_as_files_are(above):
    sheets = {name: [*above, *rows] for name, rows in CLASSES.items()}
    key = [["Item", "Answer"], *map(list, zip(ITEMS, KEY, strict=True))]
    names = [["Name", "Born"], *([name, "2012"] for name in NAMES)]
    summary = [
        ["Name", *ITEMS],
        *([what, *(f"0.{k}5" for k in range(8))] for what in ("Mean", "SD")),
    ]
    r = read_responses(book(Pupils=names, **sheets, Summary=summary, Key=key))
    assert answers(r) == GIVEN
    assert dict(r.key) == dict(zip(ITEMS, KEY, strict=True))
    assert "Joined 3 sheets: '7a', '7b' and '7c'." in notes(r)
    assert "Other sheets: 'Pupils', 'Summary' and 'Key'." in notes(r)
    one = read_responses(book(**sheets), sheet="7b")
    assert one.users.tolist() == NAMES[4:8]


def test_sheets_that_repeat_the_rows_of_another_are_left_out():
    for sheets in ({"all": [HEADER, *ROWS], **CLASSES}, {**CLASSES, "all": [HEADER, *ROWS]}):
        r = read_responses(book(**sheets))
        assert answers(r) == GIVEN
        assert "Read the sheet 'all'; there is also '7a', '7b' and '7c'." in notes(r)


def test_sheets_in_which_the_same_people_answer_differently_are_asked_about():
    again = [HEADER, *([row[0], row[2], row[1], *row[3:]] for row in ROWS)]
    with pytest.raises(InputError, match=r"'May' and 'June' have the same columns.*--sheet 'May'"):
        read_responses(book(May=[HEADER, *ROWS], June=again))
    assert answers(read_responses(book(May=[HEADER, *ROWS], June=again), sheet="May")) == GIVEN
    assert answers(read_responses(book(May=[HEADER, *ROWS], June=again), attempt="first")) == GIVEN


@pytest.mark.parametrize("with_key", [False, True])
def test_two_forms_of_a_test_are_asked_about(with_key):
    other = {"A": "B", "B": "C", "C": "D", "D": "A"}
    second = [[f"{row[0]} II", *map(other.get, row[1:])] for row in ROWS]
    above = [["Key", *KEY]] if with_key else []
    below = [["Key", *map(other.get, KEY)]] if with_key else []
    with pytest.raises(InputError, match="--sheet 'Set A'"):
        read_responses(
            book(**{"Set A": [*above, HEADER, *ROWS], "Set B": [*below, HEADER, *second]})
        )
    few = [HEADER, *second[:3]]  # too few to tell by their answers
    if with_key:
        with pytest.raises(InputError, match="different right answers to 'Q1'"):
            read_responses(book(A=[*above, HEADER, *ROWS], B=[*below, *few]))


def test_sheets_without_names_are_not_joined():
    bare = {name: [row[1:] for row in rows] for name, rows in CLASSES.items()}
    assert "Read the sheet '7a'; there is also '7b' and '7c'." in notes(
        read_responses(book(**bare))
    )


def test_marks_beside_sheets_of_answers_stay_out():
    marks = [[row[0], *(int(a == k) for a, k in zip(row[1:], KEY, strict=True))] for row in ROWS]
    r = read_responses(book(Marks=[HEADER, *marks], **CLASSES))
    assert answers(r) == GIVEN


# -- one answer per row --------------------------------------------------------------------------


LONG = [[name, item, answer] for (name, item), answer in GIVEN.items()]


@pytest.mark.parametrize(
    "names",
    [
        ["reviewer", "paper", "decision"],
        ["expert", "image", "diagnosis"],
        ["who", "what", "chose"],
        ["AnonymousID", "ItemCode", "SelectedOption"],
    ],
)
def test_users_without_a_telling_name(names):
    r = read([names, *LONG])
    assert answers(r) == GIVEN
    assert f"{names[0]!r} is taken as the user" in notes(r)


def test_users_without_a_telling_name_beside_a_key_and_points():
    key = dict(zip(ITEMS, KEY, strict=True))
    rows = [[user, item, key[item], a, int(a == key[item])] for user, item, a in LONG]
    r = read([["system", "item", "expected", "response", "score"], *rows])
    assert answers(r) == GIVEN
    assert dict(r.key) == key


def test_columns_of_a_survey_do_not_cross():
    rng = random.Random(4)
    rows = [[rng.randrange(18, 60), rng.choice("ABCDEFGHIJ"), rng.choice("yn")] for _ in range(90)]
    with pytest.raises(InputError, match="not clear that people answered the same questions"):
        read([["years", "place", "vote"], *rows])


def test_the_answer_counts_not_the_option_beside_it():
    rng = random.Random(6)
    rows = [[user, item, rng.randrange(1, 5), f"text {a}"] for user, item, a in LONG]
    r = read([["user", "item", "option", "answer"], *rows])
    assert {place: a[-1] for place, a in answers(r).items()} == GIVEN
    assert "'answer' as the answer" in notes(r)


def test_option_and_answer_that_say_the_same():
    rows = [[user, item, "ABCD".index(a) + 1, f"text {a}"] for user, item, a in LONG]
    r = read([["user", "item", "option", "answer"], *rows])
    assert {place: "ABCD"[int(a) - 1] for place, a in answers(r).items()} == GIVEN


def test_a_row_per_option_is_refused():
    rows = [[user, item, o, int(o == a)] for user, item, a in LONG for o in "ABCD"]
    with pytest.raises(InputError, match=r"one row per option .*'chosen' says whether"):
        read([["student", "question", "option", "chosen"], *rows])


def test_several_columns_that_may_hold_the_answers_are_named():
    rows = [[k, *row[:2], "x" if k % 3 else "y", row[2]] for k, row in enumerate(LONG, start=1)]
    assert (
        answers(read([["Row", "Anon Student Id", "Problem Name", "Phase", "Input"], *rows]))
        == GIVEN
    )


def test_workbooks_that_are_read_in_turns_are_kept_apart() -> None:
    sheets = [{"one": [["a", "b"], [mark, "x"]], "two": [["c"], [mark * 2]]} for mark in "PQ"]
    first, second = (Workbook(xlsx_bytes(own), "book.xlsx") for own in sheets)
    for book, mark in ((first, "P"), (second, "Q"), (first, "P")):
        assert book.rows("one")[1] == [mark, "x"]
        assert book.rows("two")[1] == [mark * 2]


def test_a_key_and_one_person_are_no_two_users() -> None:
    with pytest.raises(InputError, match=r"only one user was found \('ann'\) beside the key"):
        read([["student", "q1", "q2", "q3"], ["KEY", *"ABC"], ["ann", *"ABD"]])


def test_an_xlsb_says_that_its_cells_are_not_counted(monkeypatch) -> None:
    monkeypatch.setattr(spreadsheets, "decoded", lambda *_, limit: ["S"])
    book = Workbook(b"PK\3\4 xl/workbook.bin", "a.xlsb")
    assert book.note("S").startswith("Cells with errors, and formulas without a stored value")
