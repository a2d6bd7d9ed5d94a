"""Long tables in memory to codes: labels, repeated answers, and mistakes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import KINDS, answers

from hitsndiffs.data.encode import encode_long
from hitsndiffs.data.factor import factorise, joined
from hitsndiffs.data.labels import Place
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError

# -- long -------------------------------------------------------------------------------------

LONG = {
    "worker": ["b", "a", "b", "a", "c"],
    "task": [7, 7, 5, 5, 7],
    "label": ["yes", "no", "no", None, "yes"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_long_tables_of_every_kind(kind):
    r = Responses.from_long(KINDS[kind](LONG))
    assert r.kind == kind
    assert r.users.tolist() == ["b", "a", "c"]
    assert r.items.tolist() == [7, 5]
    assert r.option_labels.tolist() == ["no", "yes", "no"]
    assert r.codes.tolist() == [[1, 0, 1], [0, 255, 255]]
    assert r.notes == (
        "Took 'worker' as the user, 'task' as the item and 'label' as the option column.",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_long_numbers_stay_numbers(kind):
    table = KINDS[kind]({"u": [9, 2, 9], "i": [1, 1, 2], "o": [10.0, 9.0, 10.0]})
    r = Responses.from_long(table, user="u", item="i", option="o")
    assert r.users.tolist() == [9, 2]
    assert r.option_labels.tolist() == [9, 10, 10]
    assert r.notes == ()


@pytest.mark.parametrize("spread", [1, 40])
@pytest.mark.parametrize(
    ("duplicates", "kept"), [("first", {("a", 0): "x"}), ("last", {("a", 0): "z"})]
)
def test_the_first_or_the_last_of_two_answers_can_be_kept(spread, duplicates, kept):
    others = [(f"u{k}", k, "x") for k in range(spread)]
    rows = [("a", 0, "x"), ("a", 0, "y"), *others, ("a", 0, "z")]
    user, item, option = (list(column) for column in zip(*rows, strict=True))
    r = Responses.from_long({"user": user, "item": item, "option": option}, duplicates=duplicates)
    assert r.is_dense == (spread == 1)
    assert {cell: label for cell, label in answers(r).items() if cell[0] == "a"} == kept
    assert r.n_responses == spread + 1
    assert any("Dropped 2 answers" in note and duplicates in note for note in r.notes)
    assert "y" not in r.option_labels.tolist()


@pytest.mark.parametrize("spread", [1, 40])
def test_repeats_of_the_same_answer_are_dropped(spread):
    rows = [("a", 0, "x"), ("a", 0, " x")] + [(f"u{k}", k, "x") for k in range(spread)]
    user, item, option = (list(column) for column in zip(*rows, strict=True))
    r = Responses.from_long({"user": user, "item": item, "option": option})
    assert r.n_responses == spread + 1
    assert "Dropped 1 answer that only repeated the same answer." in r.notes


def test_rows_of_long_data_can_come_in_any_order():
    rng = np.random.default_rng(0)
    user, item = (axis.ravel() for axis in np.meshgrid(range(60), range(50)))
    kept = rng.random(len(user)) < 0.1
    user, item = user[kept], item[kept]
    option = (user * 7 + item) % 4
    order = rng.permutation(len(user))
    frame = pl.DataFrame({"user": user, "item": item, "option": option})
    mixed = Responses.from_long(frame[order])
    assert answers(mixed) == answers(Responses.from_long(frame))
    assert not mixed.is_dense


@pytest.mark.parametrize("pairs", [0, 10**6])
def test_options_of_very_many_items(pairs):
    users, items, options = (factorise(LONG[name]) for name in ("worker", "task", "label"))
    found = encode_long(users, items, options, place=Place(), table_pairs=pairs)
    assert found.option_labels.tolist() == ["no", "yes", "no"]
    assert found.codes.tolist() == [[1, 0, 1], [0, 255, 255]]


def test_arrays_records_and_dates():
    columns = {
        "user": np.array(["b", "a", "b"]),
        "item": np.array([2, 1, 1], dtype=object),
        "option": np.array(["2020-01-02", "2020-01-01", "2020-01-01"], dtype="datetime64[D]"),
    }
    r = Responses.from_long(columns)
    assert r.users.tolist() == ["b", "a"]
    assert r.option_labels.tolist() == ["2020-01-02", "2020-01-01"]
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert answers(Responses.from_long(records)) == answers(r)


def test_values_that_cannot_be_labels():
    with pytest.raises(InputError, match="must be numbers or texts"):
        Responses.from_long({"user": [[1], [2]], "item": "xx", "option": "AB"})


LONG_MISTAKES = {
    "two answers": (
        {"user": "aba", "item": "xxx", "option": "ABC"},
        {},
        r"rows 1 and 3 \(counting from 1\): the user 'a' answered the item 'x' with 'A' and with "
        "'C'.*set duplicates to first",
    ),
    "nobody answered": ({"user": "ab", "item": "xx", "option": ["", None]}, {}, "nothing to rank"),
    "one user": ({"user": "aa", "item": "xy", "option": "AB"}, {}, "only one user"),
    "no option column": (
        {"user": "ab", "item": "xx", "mark": "AB"},
        {},
        "none of the columns 'user', 'item' and 'mark' is named like the option.*is the option",
    ),
    "unknown column": (
        {"user": "ab", "item": "xx", "label": "AB"},
        {"option": "lable"},
        r"no column 'lable' \(did you mean 'label'\?\), given as option;",
    ),
    "one column twice": (
        {"user": "ab", "item": "xx", "label": "AB"},
        {"user": "item", "item": "item"},
        "three different columns",
    ),
    "no user": ({"user": ["a", " "], "item": "xx", "option": "AB"}, {}, "row 2.*'user'.*no user"),
    "no item": (
        {"user": "ab", "item": ["x", None], "option": "AB"}, {}, "row 2.*column 'item'.*no item"
    ),
    "different lengths": (
        {"user": "ab", "item": "x", "option": "AB"}, {}, "'item' has 1 entries where 'user' has 2"
    ),
    "unknown choice": (
        {"user": "ab", "item": "xx", "option": "AB"}, {"duplicates": "best"}, "got 'best'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LONG_MISTAKES)
def test_mistakes_in_long_tables(case):
    table, arguments, message = LONG_MISTAKES[case]
    with pytest.raises(InputError, match=message):
        Responses.from_long(table, **arguments)


# -- numbering labels in order of first appearance ----------------------------------------------


def naive(values):
    seen: dict[object, int] = {}
    numbers = [-1 if v is None else seen.setdefault(v, len(seen)) for v in values]
    return list(seen), numbers


#: A few signs of one to four bytes: which sign it is does not matter here.
TEXTS = st.text("a \x00é€😀", max_size=4)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä" * 20]), TEXTS)))
def test_texts_in_pieces(values):
    column = pl.Series(values, dtype=pl.String)
    found = joined([factorise(column[k : k + 4], short=0) for k in range(0, len(values), 4)])
    assert (found.labels, found.numbers.tolist()) == naive(values)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))))
def test_integers_with_gaps(values):
    found = factorise(pl.Series(values, dtype=pl.Int64), short=0)
    assert (found.labels, found.numbers.tolist()) == naive(values)
