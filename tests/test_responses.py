"""Responses: counts, layouts, parts, immutability, pickling."""

from __future__ import annotations

import copy
import pickle

import naive_spectral as naive
import numpy as np
import pytest
from factory import examples, make_responses, seeds, tables
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import Responses


def one_hot(r):
    """The response matrix, from the rows."""
    indptr, options = r.rows
    c = np.zeros((r.n_users, r.n_options))
    for j in range(r.n_users):
        c[j, options[indptr[j] : indptr[j + 1]]] = 1
    return c


@given(tables(), st.booleans())
@examples(80)
def test_counts_are_those_of_the_response_matrix(table, sparse):
    r = make_responses(table, sparse=sparse)
    c = naive.C(table)
    np.testing.assert_array_equal(one_hot(r), c)
    assert r.is_dense is not sparse
    assert (r.n_users, r.n_options, r.n_responses) == (*c.shape, int(c.sum()))
    assert r.n_items == (table >= 0).any(axis=0).sum()
    assert r.is_complete == bool((table[:, r.items] >= 0).all())
    np.testing.assert_array_equal(r.answers_per_user, c.sum(axis=1))
    np.testing.assert_array_equal(r.choosers_per_option, c.sum(axis=0))
    np.testing.assert_array_equal(r.answers_per_item, (table >= 0).sum(axis=0)[r.items])
    for option, item in enumerate(r.option_items):
        assert r.item_starts[item] <= option < r.item_starts[item + 1]


@given(tables())
@examples(40)
def test_the_two_layouts_hold_the_same(table):
    dense, sparse = make_responses(table), make_responses(table, sparse=True)
    np.testing.assert_array_equal(dense.codes, sparse.codes)
    for a, b in zip(dense.rows, sparse.rows, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_many_options_take_a_wider_code():
    r = make_responses([[j % 250] for j in range(250)], sparse=True)
    assert r.codes.dtype == np.uint8
    wide = Responses(
        users=np.arange(300),
        items=np.arange(1),
        option_labels=np.arange(300),
        item_starts=np.array([0, 300]),
        rows=(np.arange(301), np.arange(300)),
    )
    assert wide.codes.dtype == np.uint16
    np.testing.assert_array_equal(wide.codes[0], np.arange(300))


@given(tables(), seeds, st.booleans())
@examples(60)
def test_some_users_only(table, seed, sparse):
    rng = np.random.default_rng(seed)
    users = rng.permutation(len(table))[: rng.integers(1, len(table) + 1)]
    r = make_responses(table, sparse=sparse)
    part, options = r.restrict(users)
    chosen = naive.C(table)[users]
    np.testing.assert_array_equal(options, np.flatnonzero(chosen.any(axis=0)))
    np.testing.assert_array_equal(one_hot(part), chosen[:, options])
    np.testing.assert_array_equal(part.users, r.users[users])
    np.testing.assert_array_equal(part.option_labels, r.option_labels[options])
    np.testing.assert_array_equal(part.items[part.option_items], r.items[r.option_items[options]])


@given(tables(), seeds)
@examples(40)
def test_some_items_only(table, seed):
    rng = np.random.default_rng(seed)
    r = make_responses(table)
    items = rng.permutation(r.n_items)[: rng.integers(1, r.n_items + 1)]
    part, options = r.restrict(items=items)
    assert part.items.tolist() == r.items[np.sort(items)].tolist()
    assert part.n_users == r.n_users
    np.testing.assert_array_equal(one_hot(part), naive.C(table)[:, options])


# -- other labels, and several parts -------------------------------------------------------------


def cells_of(r):
    """User → item → option, by label."""
    found = {}
    for user, item, option in r.triples():
        assert (user, item) not in found
        found[user, item] = option
    return found


@st.composite
def parts(draw):
    """A few tables whose users, items and options overlap, some as full tables, some as rows."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        users = draw(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=5, unique=True))
        items = draw(st.lists(st.sampled_from("pqrs"), min_size=1, max_size=3, unique=True))
        cell = st.sampled_from([None, "A", "B", "10", "9"])
        rows = [[draw(cell) for _ in items] for _ in users]
        if len(users) > 1 and any(cell is not None for row in rows for cell in row):
            r = Responses.from_wide(np.array(rows, dtype=object), users=users, items=items)
            dense = draw(st.booleans())
            layout = {"codes": r.codes, "rows": None} if dense else {"codes": None, "rows": r.rows}
            found.append(r._changed(**layout))
    return found


@given(parts(), st.data())
@examples(150)
def test_selecting_and_relabelling_do_what_they_say(some, data):
    for r in some:
        before = cells_of(r)
        users = data.draw(st.lists(st.sampled_from(range(r.n_users)), unique=True))
        items = data.draw(st.lists(st.sampled_from(range(r.n_items)), unique=True))
        part = r.select(users, items)
        names, kept = set(r.users[users]), set(r.items[items])
        assert part.users.tolist() == r.users[users].tolist()
        assert cells_of(part) == {k: v for k, v in before.items() if k[0] in names and k[1] in kept}
        assert (part.choosers_per_option > 0).all()
        assert part.is_dense == r.is_dense
        flags = np.isin(np.arange(r.n_users), users)
        assert cells_of(r.select(flags, items)) == cells_of(part)
        whole = r.select(users, keep_options=True)
        assert whole.option_labels.tolist() == r.option_labels.tolist()
        assert cells_of(whole) == {k: v for k, v in before.items() if k[0] in names}
        new = {"A": "a", "B": None, "10": "a", "9": "10"}
        labels = [
            [new[label] for label in r.option_labels[a:b]]
            for a, b in zip(r.item_starts[:-1], r.item_starts[1:], strict=True)
        ]
        made = r.relabel(labels)
        assert cells_of(made) == {k: new[v] for k, v in before.items() if new[v] is not None}
        assert (made.choosers_per_option > 0).all()
        assert made.users.tolist() == r.users.tolist()


@given(parts())
@examples(150)
def test_joining_keeps_the_first_answer(some):
    if not some:
        return
    expected, lost, differ = {}, 0, False
    for r in some:
        for place, option in cells_of(r).items():
            lost += place in expected
            differ |= expected.setdefault(place, option) != option
    joined = Responses.concat(some)
    assert cells_of(joined) == expected
    assert joined.users.tolist() == list(dict.fromkeys(u for r in some for u in r.users.tolist()))
    assert (joined.choosers_per_option > 0).all()
    numbers = [
        set(joined.option_labels[a:b])
        for a, b in zip(joined.item_starts[:-1], joined.item_starts[1:], strict=True)
    ]
    assert sum(map(len, numbers)) == joined.n_options
    assert bool(joined.notes) == (lost > 0)
    assert any("more than once" in note for note in joined.notes) == differ


# -- immutable -----------------------------------------------------------------------------------


def test_attributes_cannot_be_set_or_deleted():
    r = make_responses([[0, 1], [1, 1]])
    with pytest.raises(AttributeError, match="immutable: cannot set 'users'"):
        r.users = np.arange(2)
    with pytest.raises(AttributeError, match="cannot set 'other'"):
        r.other = 1
    with pytest.raises(AttributeError, match="cannot delete 'items'"):
        del r.items


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays_are_read_only(sparse):
    r = make_responses([[0, 1], [1, 1]], sparse=sparse)
    names = ["users", "items", "option_labels", "item_starts", "option_items"]
    names += ["answers_per_user", "choosers_per_option", "answers_per_item"]
    for name in names:
        with pytest.raises(ValueError, match="read-only"):
            getattr(r, name)[0] = 0
    held = r.rows[1] if sparse else r.codes[0]
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 0


@pytest.mark.parametrize("copied", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy])
@pytest.mark.parametrize("sparse", [False, True])
def test_copies_hold_the_same_and_are_as_immutable(copied, sparse):
    r = make_responses([[0, 1], [1, -1], [1, 2]], users=["a", "b", "c"], sparse=sparse)
    r.answers_per_user  # noqa: B018 (a filled cache must not be in the way)
    again = copied(r)
    for name in ("users", "items", "option_labels", "item_starts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(r, name))
    np.testing.assert_array_equal(again.codes, r.codes)
    assert (again.is_dense, again.kind, again.notes) == (r.is_dense, r.kind, r.notes)
    with pytest.raises(ValueError, match="read-only"):
        again.item_starts[0] = 5
    with pytest.raises(AttributeError):
        again.kind = "pandas"


def test_one_layout_must_be_given():
    whole = {
        "users": np.arange(1),
        "items": np.arange(1),
        "option_labels": np.arange(1),
        "item_starts": np.array([0, 1]),
    }
    codes, rows = np.zeros((1, 1), dtype=np.uint8), (np.array([0, 1]), np.array([0]))
    for layout in ({}, {"codes": codes, "rows": rows}):
        with pytest.raises(ValueError, match="either codes"):
            Responses(**whole, **layout)


def test_repr_says_the_sizes():
    assert repr(make_responses([[0, 1], [1, -1]])) == (
        "Responses(2 users × 2 items, 3 options, 3 responses)"
    )
