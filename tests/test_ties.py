"""Equal answers, equal scores, shared ranks."""

from __future__ import annotations

import numpy as np
import pytest
from factory import c1p_table, examples, make_responses, tables
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.order.perfect import ordered_users
from hitsndiffs.order.ties import Levels, members, patterns, tie_groups, tie_limit

levels = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@given(tables(), st.booleans())
@examples(60)
def test_patterns_are_equal_where_answers_are(table, sparse):
    number = patterns(open_engine(make_responses(table, sparse=sparse)))
    for j, row in enumerate(table):
        same = (table == row).all(axis=1)
        assert ((number == number[j]) == same).all()


@given(levels)
def test_ties_share_the_best_rank(values):
    scores = np.array(values, dtype=float)
    ranks = Levels.of(scores, np.zeros(len(values), dtype=int)).ranks
    assert ranks.tolist() == [1 + sum(other > value for other in values) for value in values]


@given(levels, st.integers(0, 100))
def test_rounding_is_no_difference(values, seed):
    scores = np.array(values, dtype=float)
    noise = 1 + 1e-13 * np.random.default_rng(seed).standard_normal(len(values))
    assert tie_groups(scores * noise).tolist() == tie_groups(scores).tolist()


def test_tie_groups_count_from_the_top():
    assert tie_groups(np.array([2.0, 5.0, 2.0, 3.0])).tolist() == [2, 0, 2, 1]
    assert tie_groups(np.zeros(3)).tolist() == [0, 0, 0]
    assert tie_groups(np.array([1.0, 1.0 + 1e-6])).tolist() == [1, 0]
    assert tie_groups(np.zeros(0)).tolist() == []


def test_ranks_are_within_components():
    scores = np.array([5.0, 1.0, 9.0, 1.0, np.nan])
    ranks = Levels.of(scores, np.array([0, 1, 1, 0, -1])).ranks
    np.testing.assert_array_equal(ranks, [1, 2, 1, 2, np.nan])


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-2, 2)), max_size=15))
def test_levels_are_counted_from_the_top_component_after_component(users):
    """Against the plainest way: all (component, -score) pairs, sorted."""
    labels = np.array([c for c, _ in users], dtype=int)
    scores = np.array([np.nan if c < 0 else float(s) for c, s in users])
    levels = Levels.of(scores, labels)
    pairs = [(c, -s) for c, s in users]
    different = sorted({pair for pair in pairs if pair[0] >= 0})
    assert levels.level.tolist() == [different.index(p) if p[0] >= 0 else -1 for p in pairs]
    assert levels.sizes.tolist() == [pairs.count(pair) for pair in different]
    assert sorted(levels.order.tolist()) == [j for j, (c, _) in enumerate(users) if c >= 0]
    assert (np.diff(levels.level[levels.order]) >= 0).all()


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=15))
def test_members_lists_each_component_once(labels):
    labels = np.array(labels)
    parts = members(labels)
    assert [set(labels[p].tolist()) for p in parts] == [{c} for c in sorted(set(labels) - {-1})]
    assert sorted(np.concatenate([*parts, []]).tolist()) == np.flatnonzero(labels >= 0).tolist()


def engine_of(scores):
    """An engine with so many users."""
    return open_engine(make_responses(np.zeros((len(scores), 1), dtype=int)))


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=60), st.integers(0, 100))
def test_levelled_scores_are_the_middles_of_the_tie_groups(values, seed):
    noise = 1e-6 * np.random.default_rng(seed).uniform(size=len(values))
    scores = np.array(values) / 4 + noise
    groups = tie_groups(np.round(scores * 4) / 4)
    ends = [(scores[groups == group].min(), scores[groups == group].max()) for group in groups]
    expected = np.mean(ends, axis=1)
    np.testing.assert_allclose(
        engine_of(scores).levelled(scores, tie_limit(scores, 1e-3)),
        expected,
        rtol=1e-14,
        atol=1e-18,
    )


def test_levelled_takes_the_middle_of_what_is_nearly_equal():
    scores = np.array([1.0, 1.0 + 1e-8, -2.0, 0.5])
    flat = engine_of(scores).levelled(scores, tie_limit(scores, 1e-7))
    assert flat[0] == flat[1] == pytest.approx(1.0 + 5e-9, abs=1e-12)
    assert flat[2:].tolist() == [-2.0, 0.5]
    flat = engine_of(scores).levelled(scores, tie_limit(scores, 1e-12))
    np.testing.assert_array_equal(flat, scores)


# -- the order that is shown ---------------------------------------------------------------------


def ordered(table, scores, labels=None):
    r = make_responses(table)
    labels = np.zeros(len(table), dtype=int) if labels is None else np.array(labels)
    order, consistent = ordered_users(
        open_engine(r), Levels.of(np.array(scores, dtype=float), labels)
    )
    return order.tolist(), consistent


CHAIN = [[0, 0], [0, 1], [2, 1]]  # consistent only with the second in the middle


def test_a_tie_is_ordered_consistently_if_it_can_be():
    order, consistent = ordered([CHAIN[1], CHAIN[0], CHAIN[2]], [1, 1, 1])
    assert consistent
    assert order[1] == 0


@pytest.mark.parametrize("seed", range(6))
def test_everybody_tied_is_ordered_consistently_if_it_can_be(seed):
    order, consistent = ordered(c1p_table(seed, 9, 6, 3), np.zeros(9))
    assert consistent
    assert sorted(order) == list(range(9))


def test_scores_come_before_consistency():
    assert ordered(CHAIN, [1, 3, 2]) == ([1, 2, 0], False)
    assert ordered(CHAIN, [3, 2, 1]) == ([0, 1, 2], True)


def test_a_tie_that_cannot_be_consistent_keeps_equal_patterns_together():
    circle = [[0, 0, 5], [0, 1, 6], [2, 1, 5], [0, 0, 5]]
    order, consistent = ordered(circle, [1, 1, 1, 1])
    assert not consistent
    assert sorted(order) == [0, 1, 2, 3]
    assert abs(order.index(0) - order.index(3)) == 1


def test_an_option_that_skips_a_level_is_beyond_mending():
    """The first and last user share an answer that the three tied ones between do not give."""
    table = [[0, 9], [1, 0], [1, 1], [2, 1], [0, 8]]
    order, consistent = ordered(table, [3, 2, 2, 2, 1])
    assert not consistent
    assert order[0] == 0
    assert order[-1] == 4


@given(tables(users=(2, 14)), st.integers(0, 1000), st.booleans())
@examples(100)
def test_equal_answers_stand_together_in_the_order(table, seed, sparse):
    scores = np.random.default_rng(seed).integers(0, 3, len(table)).astype(float)
    r = make_responses(table, sparse=sparse)
    levels = Levels.of(scores, np.where(r.answers_per_user > 0, 0, -1))
    order, _ = ordered_users(open_engine(r), levels)
    assert (np.diff(levels.level[order]) >= 0).all()
    sheets = np.unique(table[order], axis=0, return_inverse=True)[1].reshape(-1)
    for level in np.unique(levels.level[order]):
        tied = sheets[levels.level[order] == level]
        assert np.count_nonzero(np.diff(tied)) == len(np.unique(tied)) - 1


def test_users_without_answers_are_not_in_the_order():
    order, consistent = ordered([[0, 0], [-1, -1], [0, 1]], [1, np.nan, 2], [0, -1, 0])
    assert order == [2, 0]
    assert consistent
