"""Tables in memory to codes: all kinds of tables, labels, missing answers, and mistakes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import KINDS, answers, content

from hitsndiffs.data.cells import Skipped, in_order, normalise
from hitsndiffs.data.encode import OptionBook
from hitsndiffs.data.factor import factorise
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError

# -- wide -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_responses(kind):
    table = KINDS[kind](
        {
            "worker": ["ann", "bob", "cat"],
            "whole": [1, 2, 1],
            "gaps": [3, None, 0],
            "texts": ["B", " A", "B "],
            "halves": [0.5, None, 2.0],
            "negative": [-1, 7, 7],
        }
    )
    r = Responses.from_wide(table)
    assert r.kind == kind
    assert r.users.tolist() == ["ann", "bob", "cat"]
    assert r.items.tolist() == ["whole", "gaps", "texts", "halves", "negative"]
    assert r.option_labels.tolist() == [1, 2, 0, 3, "A", "B", "0.5", "2", 7]
    assert r.codes.tolist() == [[0, 1, 0], [1, 255, 0], [1, 0, 1], [0, 255, 1], [255, 0, 0]]
    assert r.codes.dtype == np.uint8
    assert r.notes == ("Recognised 'worker' as the user column.", "Taken as no answer: -1.")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_stay_numbers_and_texts_stay_texts(kind):
    r = Responses.from_wide(KINDS[kind]({"id": [30, 10], "a": [2, 1], "b": ["2", "1"]}))
    assert r.users.tolist() == [30, 10]
    assert r.users.dtype.kind == "i"
    assert r.option_labels.tolist() == [1, 2, "1", "2"]


def test_booleans_are_texts_in_every_kind():
    columns = {"id": [1, 2, 3], "a": [True, False, None]}
    for kind, make in KINDS.items():
        r = Responses.from_wide(make(columns))
        assert r.option_labels.tolist() == ["False", "True"], kind
        assert r.codes.tolist() == [[1, 0, 255]], kind


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2], [3, -1]]),
        np.array([[1, 2], [3, -1]], dtype=np.int8),
        np.array([[1.0, 2.0], [3.0, np.nan]]),
        np.array([[1, 2], [3, None]], dtype=object),
        [[1, 2], [3, None]],
        ((1, 2.0), (3, float("nan"))),
        [np.array([1, 2]), np.array([3, -5])],
    ],
)
def test_arrays_and_rows_of_numbers(array):
    r = Responses.from_wide(array)
    assert (r.users.tolist(), r.items.tolist()) == ([0, 1], [0, 1])
    assert r.option_labels.tolist() == [1, 3, 2]
    assert r.codes.tolist() == [[0, 1], [0, 255]]
    assert r.kind == "numpy"


@pytest.mark.parametrize("dtype", ["U3", "S3", object])
def test_arrays_of_text(dtype):
    r = Responses.from_wide(np.array([["b", ""], ["a", " A "]], dtype=dtype))
    assert r.option_labels.tolist() == ["a", "b", "A"]
    assert r.codes.tolist() == [[1, 0], [255, 0]]


def test_one_number_written_in_three_ways_is_one_option():
    r = Responses.from_wide([[1], ["1.0"], [" 1 "], ["x"], [1.0]])
    assert r.option_labels.tolist() == ["1", "x"]
    assert r.codes.tolist() == [[0, 0, 0, 1, 0]]


@pytest.mark.parametrize("blank", [None, float("nan"), np.nan, pd.NA, "", "  ", "NA", "null", -2])
def test_what_counts_as_no_answer(blank):
    r = Responses.from_wide([["A", blank], [blank, "B"]])
    assert answers(r) == {(0, 0): "A", (1, 1): "B"}


def test_users_without_answers_stay_and_items_without_answers_go():
    r = Responses.from_wide({"user": ["a", "b", "c"], "x": [1, 2, None], "y": [None] * 3})
    assert r.users.tolist() == ["a", "b", "c"]
    assert r.items.tolist() == ["x"]
    assert r.answers_per_user.tolist() == [1, 1, 0]
    assert "Dropped 1 item that nobody answered: 'y'." in r.notes


def test_rows_with_neither_name_nor_answer_go():
    r = Responses.from_wide({"user": ["a", None, "c"], "x": [1, None, 2]})
    assert r.users.tolist() == ["a", "c"]
    assert r.codes.tolist() == [[0, 1]]
    assert "Dropped 1 row with neither a user name nor an answer." in r.notes


def test_options_are_ordered_by_size_or_by_text():
    r = Responses.from_wide(np.array([[10, "b"], [9, "a"], [100, "B"]], dtype=object))
    assert r.option_labels.tolist() == [9, 10, 100, "B", "a", "b"]


def test_the_index_of_a_pandas_table_names_the_users():
    frame = pd.DataFrame({"x": [1, 2], "y": [2, 1]}, index=["u7", "u3"])
    r = Responses.from_wide(frame)
    assert r.users.tolist() == ["u7", "u3"]
    assert r.notes == ("Took the index of the table as the names of the users.",)
    assert Responses.from_wide(frame.reset_index(drop=True)).users.tolist() == [0, 1]


def test_pandas_columns_of_every_type():
    frame = pd.DataFrame(
        {
            "student": ["a", "b", "c"],
            "nullable": pd.array([1, None, 2], dtype="Int64"),
            "category": pd.Categorical(["x", None, "y"], categories=["unused", "y", "x"]),
            "mixed": pd.Series([1, "1.0", "z"], dtype=object),
            7: [0, 1, 1],
        }
    )
    r = Responses.from_wide(frame)
    assert r.items.tolist() == ["nullable", "category", "mixed", 7]
    assert r.option_labels.tolist() == [1, 2, "x", "y", "1", "z", 0, 1]
    assert r.codes.tolist() == [[0, 255, 1], [0, 255, 1], [0, 0, 1], [0, 1, 1]]


def test_a_lazy_frame_is_collected():
    lazy = pl.LazyFrame({"user": ["a", "b"], "q": ["x", "y"]})
    assert Responses.from_wide(lazy).kind == "polars"


def test_labels_can_be_given():
    r = Responses.from_wide(np.array([[0, 1], [1, 1]]), users=["ann", "bob"], items=["p", "q"])
    assert (r.users.tolist(), r.items.tolist()) == (["ann", "bob"], ["p", "q"])


def test_a_second_column_of_names_is_left_out():
    table = {"student_id": [1, 2, 3], "name": ["a", "b", "c"], "q": [0, 1, 0]}
    r = Responses.from_wide(table)
    assert (r.users.tolist(), r.items.tolist()) == ([1, 2, 3], ["q"])
    assert "Left out 'name', which also names the users." in r.notes


def test_a_column_that_is_hardly_an_item_is_noted():
    table = {"user": list(range(20)), "time": list(range(20)), "q": [0, 1] * 10}
    note = "No two users gave the same answer to 'time'; leave the column out if it is not an item."
    assert note in Responses.from_wide(table).notes
    del table["time"]
    assert len(Responses.from_wide(table).notes) == 1


@pytest.mark.parametrize(
    "name", ["user", "Worker", "SUBJECT_ID", "student", "model", "Student Name", "participant-id"]
)
def test_user_columns_are_recognised_by_the_names_people_have(name):
    r = Responses.from_wide({"q1": [1, 2], name: ["a", "b"]})
    assert r.users.tolist() == ["a", "b"]


@pytest.mark.parametrize(("n_options", "dtype"), [(254, np.uint8), (255, np.uint16)])
def test_codes_are_as_narrow_as_they_can_be(n_options, dtype):
    r = Responses.from_wide(np.arange(n_options)[:, None])
    assert r.codes.dtype == dtype
    assert r.codes[0].tolist() == list(range(n_options))


def test_an_item_with_more_options_than_codes_is_held_as_rows():
    r = Responses.from_wide(np.arange(70_000)[:, None])
    assert not r.is_dense
    assert (r.rows[1] == np.arange(70_000)).all()


def test_few_answers_are_held_as_rows():
    table = np.full((8, 8), -1)
    np.fill_diagonal(table, 3)
    table[:, 0] = 3
    r = Responses.from_wide(table)
    assert not r.is_dense  # 15 of 64 cells
    indptr, options = r.rows
    assert indptr.tolist() == [0, 1, 3, 5, 7, 9, 11, 13, 15]
    assert options.dtype == np.int32
    assert options[:5].tolist() == [0, 0, 1, 0, 2]
    table[0, 1] = 3
    assert Responses.from_wide(table).is_dense  # 16 of 64 cells


cells = st.one_of(
    st.none(), st.integers(-3, 300), st.sampled_from(["A", "b", " b", "10", "9", "", "NA", "2.0"])
)
tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=2, max_size=8)
)


@given(tables)
def test_wide_tables_keep_every_answer_and_nothing_else(rows):
    expected = {
        (j, i): str(normalise(cell))
        for j, row in enumerate(rows)
        for i, cell in enumerate(row)
        if normalise(cell) is not None
    }
    if not expected:
        with pytest.raises(InputError, match="holds an answer"):
            Responses.from_wide(rows)
        return
    r = Responses.from_wide(rows)
    assert {cell: str(label) for cell, label in answers(r).items()} == expected
    assert (r.choosers_per_option > 0).all()
    assert (np.diff(r.item_starts) > 0).all()


@given(tables, st.randoms())
def test_wide_to_long_and_back(rows, random):
    try:
        wide = Responses.from_wide([[None if c is None else str(c) for c in row] for row in rows])
    except InputError:
        return
    triples = [
        (user, item, label) for (user, item), label in answers(wide).items()
    ] + [(user, 0, None) for user in wide.users.tolist()]  # fmt: skip
    random.shuffle(triples)
    users, items, options = (list(column) for column in zip(*triples, strict=True))
    long = Responses.from_long({"user": users, "item": items, "option": options})
    assert answers(long) == answers(wide)
    assert set(long.users.tolist()) == set(wide.users.tolist())


@examples(30)
@given(tables)
def test_dense_and_sparse_layouts_agree(rows):
    try:
        r = Responses.from_wide(rows)
    except InputError:
        return
    padded = [[*row, *[None] * 40] for row in rows]
    padded[0][-1] = padded[1][-1] = "z"
    wide = Responses.from_wide([[*row, "z" if k < 2 else None] for k, row in enumerate(rows)])
    sparse = Responses.from_wide(padded)
    assert content(wide)[2:] == content(sparse)[2:]
    assert r.n_responses + 2 == sparse.n_responses


# -- mistakes ---------------------------------------------------------------------------------

WIDE_MISTAKES = {
    "no items": ({"user": ["a", "b"]}, {}, "no item columns"),
    "one user": ([["A", "B"]], {}, r"only one user was found \('0'\).*at least two"),
    "no rows": ([], {}, "no item columns"),
    "no rows in a frame": (pl.DataFrame({"user": [], "q": []}), {}, "no rows of answers"),
    "all empty": ([[None, "NA"], [-1, ""]], {}, "none of the 4 cells holds an answer"),
    "users twice": (
        {"user": ["a", "b", "a"], "q": [1, 2, 3]},
        {},
        r"the user 'a' is named in rows 1 and 3 \(counting from 1\) of column 'user'",
    ),
    "items twice": (
        pd.DataFrame([[1, 2], [2, 1]], columns=["q", "q"]),
        {},
        "columns 1 and 2 are both called 'q'.*rename",
    ),
    "items twice in arrow": (
        pa.table([[1, 2], [2, 1]], names=["q", "q"]),
        {},
        "columns 1 and 2 are both called 'q'",
    ),
    "items twice by spaces": ({"q": [1, 2], "q ": [1, 2]}, {}, "both called 'q'"),
    "unknown user column": (
        {"students": ["a", "b"], "q": [1, 2]},
        {"user": "student"},
        r"no column 'student' \(did you mean 'students'\?\), given as user;",
    ),
    "user and users": ({"s": [1, 2]}, {"user": "s", "users": [1, 2]}, "not both"),
    "too few users": (np.ones((3, 2)), {"users": ["a"]}, "got 1 labels for 3 rows"),
    "too few items": (np.ones((3, 2)), {"items": ["a"]}, "got 1 labels for 2 columns"),
    "ragged": ([[1, 2], [1]], {}, "row 1 has 2 and row 2 has 1.*write None"),
    "text row": ([[1, 2], "ab"], {}, "row 2 is 'ab'"),
    "one dimension": (np.arange(3), {}, r"two dimensions.*shape \(3,\)"),
    "a number": (5, {}, "a table was expected.*got int"),
    "a path": ("answers.csv", {}, r"got the text 'answers.csv'.*read_responses\(\)"),
    "answers without a name": ({"user": ["a", None], "q": [1, 2]}, {}, "row 2.*no user name"),
    "columns of lists": (pl.DataFrame({"id": [1, 2], "q": [[1], [2]]}), {}, "'q' holds lists"),
}


@pytest.mark.parametrize("case", WIDE_MISTAKES)
def test_mistakes_in_wide_tables(case):
    table, arguments, message = WIDE_MISTAKES[case]
    with pytest.raises(InputError, match=message) as caught:
        Responses.from_wide(table, **arguments)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


# -- options ----------------------------------------------------------------------------------


def test_leading_zeros_are_text():
    assert [normalise(text) for text in ("0", "00", "01", "0.0", "+1")] == [0, "00", "01", 0, 1]


@given(st.lists(st.one_of(st.integers(0, 10**6), st.sampled_from("abc")), unique=True))
def test_the_order_of_options_is_one_order(options):
    ordered = [options[k] for k in in_order(options)]
    if all(isinstance(option, int) for option in options):
        assert ordered == sorted(options)
    else:
        assert [str(option) for option in ordered] == sorted(map(str, options))


@given(st.lists(st.one_of(st.none(), st.integers(-5, 400)), min_size=1), st.booleans())
def test_all_kinds_of_columns_of_numbers_have_the_same_options(values, ordered):
    null = np.array([value is None for value in values])
    numbers = np.array([0 if value is None else value for value in values])
    columns = [
        values,
        np.where(null, np.nan, numbers),
        pl.Series(values, dtype=pl.Int64),
        pl.Series(values, dtype=pl.Float64),
        pd.Series(values, dtype="Int64"),
        numbers if not null.any() else values,
    ]
    expected = [None if value is None or value < 0 else value for value in values]
    for column in columns:
        found = factorise(column, ordered=ordered, short=0)
        table = np.append(OptionBook().number(found.labels, Skipped()), -1)
        options = list(dict.fromkeys(o for v in found.labels if (o := normalise(v)) is not None))
        cells = table[np.minimum(found.numbers.astype(np.int64), len(found.labels))]
        assert [None if c < 0 else options[c] for c in cells.tolist()] == expected
