"""Order and names do not matter: permuted and renamed data give the same result to 1e-9."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from factory import examples, make_responses, random_table, some
from hypothesis import example, given
from hypothesis import strategies as st

from hitsndiffs import Responses, rank, simulate
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.in_order import with_open_places
from hitsndiffs.order.canonical import Colouring, canonical

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.changes import METHODS, Case, check, responses

#: Two blocks that share an option each with a third: their axes are equally strong.
TWINS = np.array(
    [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [2, 0, 0], [2, 2, 0], [0, 0, 2], [0, 0, 3]]
)


@examples(40, usual=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["hnd", "abh", "hits", "majority", "dawid-skene", "pooled-investment"]),
    st.sampled_from(["users", "items", "options", "names", "everything"]),
    st.integers(1, 3),
)
@example(4340, "hnd", "items", 1)  # the smaller of two groups may be upside down, and that is said
def test_order_and_names_do_not_matter(seed: int, method: str, change: str, copies: int) -> None:
    table = np.repeat(random_table(seed, 6, 5, 3, graded=seed % 2 == 0), copies, axis=0)
    check(Case(table, method, change, seed))


@pytest.mark.parametrize("method", ["hnd", "abh", "hnd-robust"])
@pytest.mark.parametrize("seed", some(range(3), 1))
def test_equally_strong_axes(method: str, seed: int) -> None:
    for change in ("users", "items", "options", "everything"):
        check(Case(TWINS, method, change, seed))


#: Tables on which order once changed a result (found by fuzzing): rows of answers, "." for none.
EVEN = json.loads((Path(__file__).parent / "even_tables.json").read_text())
#: Every third first: neighbours are alike.
EVEN_ORDER = [n for first in range(3) for n in range(first, len(EVEN), 3)]


@pytest.mark.parametrize("number", some(EVEN_ORDER, 12))
def test_even_tables(number: int) -> None:
    case = EVEN[number]
    rows = [[-1 if mark == "." else int(mark) for mark in row] for row in case["table"]]
    came = check(Case(np.array(rows), case["method"], case["change"], case["seed"]))
    assert came in ("ranked", "undetermined, and said")


@examples(25)
@given(st.integers(0, 10_000), st.sampled_from(METHODS))
def test_options_renamed_item_by_item(seed: int, method: str) -> None:
    table = random_table(seed, 7, 4, 3, graded=seed % 2 == 0)
    check(Case(table, method, "options item by item", seed))


def moved(table: Any, rng: Any) -> tuple[Any, Any]:
    """A table with users, items and options in another order, and who stands where."""
    users, items = rng.permutation(len(table)), rng.permutation(table.shape[1])
    codes = np.column_stack([np.where(c < 0, -1, rng.permutation(9)[c]) for c in table.T])
    return codes[users][:, items], users


@examples(60)
@given(st.integers(0, 10_000), st.integers(3, 8), st.integers(1, 5), st.integers(2, 3))
def test_one_order_for_the_same_answers(seed: int, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, k, (m, n))
    other, _ = moved(table, rng)
    one = canonical(Colouring(open_engine(responses(table)))).responses
    two = canonical(Colouring(open_engine(responses(other)))).responses
    assert np.array_equal(one.codes, two.codes)
    assert np.array_equal(one.item_starts, two.item_starts)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_answers_are_the_same_in_that_order(sparse: bool) -> None:
    table = random_table(3, 9, 6, 3, missing=0.3)
    table[:, 0] = np.maximum(table[:, 0], 0)
    r = make_responses(table, sparse=sparse)
    found = canonical(Colouring(open_engine(r)))

    def answers(x: Any) -> set[Any]:
        indptr, options = x.rows
        who = np.repeat(np.arange(x.n_users), np.diff(indptr))
        items = x.items[x.option_items[options]]
        labels = x.option_labels[options]
        return set(zip(x.users[who].tolist(), items.tolist(), labels.tolist(), strict=True))

    assert answers(found.responses) == answers(r)
    assert found.responses.is_dense == r.is_dense
    assert np.array_equal(r.users[found.users], found.responses.users)
    assert np.array_equal(r.option_labels[found.options], found.responses.option_labels)


@examples(40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 3))
def test_users_of_one_colour_can_be_exchanged(seed: int, m: int, n: int) -> None:
    table = np.random.default_rng(seed).integers(0, 2, (m, n))
    colouring = Colouring(open_engine(responses(table)))

    def partition(rows: Any) -> Any:
        """The items as partitions of the users, whatever the names of options and items."""
        return sorted(tuple((c[:, None] == c[None, :]).ravel().tolist()) for c in rows.T)

    here = partition(table)
    for one, other in itertools.combinations(range(m), 2):
        same = any(
            partition(table[list(order)]) == here
            for order in itertools.permutations(range(m))
            if order[one] == other
        )
        assert (colouring.first.users[one] == colouring.first.users[other]) == same


def test_which_options_are_of_one_item_tells_users_apart():
    """Six users in a ring share an option each with their neighbours; two are of one item."""
    table = np.full((6, 5), -1)
    table[[0, 1], 0], table[[2, 3], 0] = 0, 1
    for item, pair in enumerate([[1, 2], [3, 4], [4, 5], [5, 0]], start=1):
        table[pair, item] = 0
    colours = Colouring(open_engine(responses(table))).first.users
    same = np.equal.outer(colours, colours)
    assert [np.flatnonzero(row).tolist() for row in same[:3]] == [[0, 3], [1, 2], [1, 2]]
    assert np.flatnonzero(same[4]).tolist() == [4, 5]


#: The first and the last user can be exchanged, which turns the order upside down.
MIRRORED = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize("known", ["known_users", "known_options"])
def test_what_the_caller_knows_tells_users_apart(known: str) -> None:
    data = open_engine(responses(MIRRORED))
    free, told = Colouring(data), Colouring(data, **{known: np.array([0])})
    assert free.first.users[0] == free.first.users[3]
    assert told.first.users[0] != told.first.users[3]


def test_the_same_order_upside_down_is_said_once() -> None:
    notes = " ".join(rank(responses(MIRRORED), "hnd").notes)
    assert "upside down" in notes
    assert "Nothing in the answers tells" not in notes


def test_users_whom_nothing_tells_apart_at_different_places_are_named() -> None:
    colouring = Colouring(open_engine(responses(MIRRORED)))
    assert colouring.first.users[0] == colouring.first.users[3]
    fit = Fit(scores=np.array([2.0, 1.0, -1.0, -2.0]), confidence=0.9)
    said = with_open_places(fit, colouring)
    assert said.confidence == 0.5
    assert "the order is not determined" in said.notes[-1]
    assert "user-00" in said.notes[-1]
    # what differs by rounding is levelled, without a word
    fit = Fit(scores=np.array([1.0, 1.0 + 1e-12, 1.0, 1.0]), confidence=0.9)
    level = with_open_places(fit, colouring)
    assert level.notes == ()
    assert np.ptp(level.scores) == 0
    assert level.confidence == 0.9


@pytest.mark.parametrize(("model", "seed"), [("samejima", 0), ("grm", 2)])
def test_letters_that_say_nothing_across_items_hardly_matter(model: str, seed: int) -> None:
    """How often a letter is right is learnt, so renaming item by item may move the last digits."""
    r = simulate(model, users=50, items=25, options=3, seed=seed).responses
    codes, rng = r.codes.T.astype(int), np.random.default_rng(0)
    other = np.column_stack([rng.permutation(3)[column] for column in codes.T])
    one, two = (rank(Responses.from_wide(table.astype(str))) for table in (codes, other))
    np.testing.assert_allclose(one.scores, two.scores, atol=2e-3)
    assert abs(one.confidence - two.confidence) < 0.15


def test_a_long_chain_is_put_in_order_within_its_budget() -> None:
    """Each user shares one answer with the next: colours travel one step in a round."""
    m = 20_000
    table = {
        "user": np.repeat(np.arange(m), 2)[1:-1],
        "item": np.repeat(np.arange(m - 1), 2),
        "option": ["x"] * (2 * m - 2),
    }
    colouring = Colouring(open_engine(Responses.from_long(table)))
    found = canonical(colouring)
    assert colouring.rounds_left == 0
    assert sorted(found.users.tolist()) == list(range(m))
