"""Which end is up: decile entropy for any number of users, and what callers know."""

from __future__ import annotations

import naive_spectral as naive
import numpy as np
import pytest
from factory import examples, make_responses, random_table, seeds, tables
from hypothesis import assume, given
from hypothesis import strategies as st

from hitsndiffs import InputError, rank
from hitsndiffs.data.lookup import known_options
from hitsndiffs.engines import open_engine
from hitsndiffs.order.orientation import MOST_CONFIDENCE, _ends, orient, undecided


def orientation(table, scores, **known):
    r = make_responses(table)
    return orient(np.asarray(scores, dtype=float), open_engine(r), **known)


# -- decile entropy ------------------------------------------------------------------------------


@given(
    tables(users=(20, 60), items=(2, 8), missing=False),
    seeds,
)
@examples(60)
def test_sign_is_that_of_the_papers_decile_entropy(table, seed):
    scores = np.random.default_rng(seed).permutation(len(table)).astype(float)
    tenth = len(table) // 10
    order = np.argsort(scores)
    bottom = naive.entropy_of_users(table, order[:tenth])
    top = naive.entropy_of_users(table, order[-tenth:])
    assume(abs(top - bottom) > 1e-6)
    found = orientation(table, scores)
    assert found.how == "decile entropy"
    assert found.sign == naive.decile_sign(table, scores)
    assert found.margin == pytest.approx(abs(top - bottom) / (top + bottom))


@given(tables(users=(2, 40)), seeds)
@examples(100)
def test_reversed_scores_turn_the_sign_and_nothing_else(table, seed):
    table = table[(table >= 0).any(axis=1)]
    assume(len(table) >= 2)
    scores = np.random.default_rng(seed).standard_normal(len(table))
    scores -= scores.mean()
    one, other = orientation(table, scores), orientation(table, -scores)
    assert one.sign == -other.sign
    assert one.how == other.how
    assert one.margin == pytest.approx(other.margin, abs=1e-9)
    assert 0 <= one.margin <= 1
    assert 0.5 <= one.confidence <= MOST_CONFIDENCE


@pytest.mark.parametrize("m", [4, 5, 6, 7, 9, 10, 15, 19, 20, 35])
def test_the_end_that_agrees_is_up_for_any_number_of_users(m):
    """The upper half chose one option everywhere, the lower half scatters."""
    rng = np.random.default_rng(0)
    table = np.where(np.arange(m)[:, None] >= m // 2, 0, rng.integers(1, 9, (m, 12)))
    for sign in (1, -1):
        found = orientation(table, sign * np.arange(m))
        assert found.sign == sign
        assert found.how == "decile entropy"
        assert found.margin == pytest.approx(1.0)
        assert found.confidence > 0.6


def test_three_users_are_settled_by_the_most_common_answers():
    table = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 2]])
    for sign in (1, -1):
        found = orientation(table, sign * np.array([1.0, 0.2, -1.2]))
        assert (found.sign, found.how) == (sign, "majority")


def test_two_unanimous_ends_of_unequal_size_are_not_told_apart_by_rounding():
    """Both ends agree on everything; one of them left some cells empty. Majority decides then."""
    table = np.zeros((30, 4), dtype=int)
    table[10:] = 1
    table[0, :2] = -1
    found = orientation(table, np.r_[np.full(10, 1.0), np.full(20, -0.5)])
    assert (found.sign, found.how) == (-1, "majority")


def test_a_tie_across_the_edge_of_a_decile_shares_its_places():
    """20 users, so two at each end; below the best three tie for one place, and each counts ⅓."""
    table = np.random.default_rng(2).integers(0, 3, (20, 5))
    scores = np.arange(20.0)
    scores[16:19] = 18.0
    table[16:] = [[0, 0, 0, 1, 2], [0, 1, 0, 2, 2], [0, 0, 1, 0, 2], [0, 1, 2, 2, 2]]
    shares = np.array([1 / 3, 1 / 3, 1 / 3, 1]) / 2
    top = 0.0
    for column in table[16:].T:
        p = np.bincount(column, weights=shares)
        top -= (p[p > 0] * np.log(p[p > 0])).sum()
    bottom = 5 * naive.entropy_of_users(table, [0, 1])
    found = orientation(table, scores)
    assert found.margin == pytest.approx(abs(top - bottom) / (top + bottom))
    # which of the tied users comes first in the data changes nothing
    for order in ([17, 16, 18], [18, 17, 16]):
        again = table.copy()
        again[16:19] = table[order]
        assert orientation(again, scores).margin == pytest.approx(found.margin)


def test_nothing_to_tell_the_ends_apart():
    table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = orientation(table, [1.0, 0.5, -0.5, -1.0])
    assert (found.how, found.margin, found.confidence) == ("undecided", 0.0, 0.5)
    assert not found.decided


@pytest.mark.parametrize(
    ("scores", "sign"), [([1, -1], 1), ([-1, 1], -1), ([1e-14, -1, 1], -1), ([0, 0], 1)]
)
def test_undecided_puts_the_first_user_up(scores, sign):
    assert undecided(np.array(scores, dtype=float)).sign == sign


# -- known answers -------------------------------------------------------------------------------


@given(st.integers(0, 500), st.booleans(), st.integers(1, 6))
@examples(50)
def test_known_answers_settle_it_either_way(seed, upside_down, n_known):
    """Whoever says that the weak users' answers are right gets the weak users on top."""
    rng = np.random.default_rng(seed)
    m, n = 16, 6
    table = np.where(np.arange(m)[:, None] < m // 2, 0, rng.integers(1, 5, (m, n)))
    table[0] = 1  # somebody among the strong who is wrong
    scores = np.linspace(1, -1, m)
    right = 1 if upside_down else 0
    known = {int(i): right for i in rng.choice(n, n_known, replace=False)}
    leads = [
        scores[table[:, i] == right].mean() - scores[table[:, i] != right].mean()
        for i in known
        if 0 < (table[:, i] == right).sum() < m
    ]
    assume(len({np.sign(lead) for lead in leads}) == 1)
    assume(min(map(abs, leads)) > 0.05)
    found = orientation(table, scores, answers=known)
    assert found.how == "known answers"
    assert 0 < found.margin <= 1
    assert found.sign == np.sign(leads[0])


def test_known_answers_turn_a_ranking_round():
    table = random_table(4, 30, 10, 3)
    free = rank(make_responses(table), method="hnd")
    best, worst = table[free.order[0]], table[free.order[-1]]
    same = rank(make_responses(table), method="hnd", answers=dict(enumerate(best.tolist())))
    turned = rank(make_responses(table), method="hnd", answers=dict(enumerate(worst.tolist())))
    np.testing.assert_allclose(same.scores, free.scores)
    np.testing.assert_allclose(turned.scores, -free.scores)
    np.testing.assert_allclose(turned.fit.option_weights, -free.fit.option_weights)
    assert same.orientation.how == turned.orientation.how == "known answers"


@pytest.mark.parametrize("answers", [{0: 7}, {2: 0}, {0: 7, 2: 0}])
def test_answers_that_say_nothing_give_way_to_the_entropy_and_it_is_said(answers):
    """Item 0's known answer nobody gave, item 2's everybody."""
    table = random_table(4, 30, 3, 3)
    table[:, 2] = 0
    free = rank(make_responses(table), method="hnd")
    found = rank(make_responses(table), method="hnd", answers=answers)
    assert found.orientation.how == free.orientation.how
    assert found.orientation.margin == pytest.approx(free.orientation.margin, abs=1e-12)
    np.testing.assert_allclose(found.scores, free.scores, atol=1e-12)
    assert any("do not show which end" in note for note in found.notes)


def test_known_answers_are_compared_as_options_are():
    r = make_responses([[1, 10], [2, 20]], items=["q1", "q2"])
    for item, answer in (("q1", 2), (" q1 ", "2"), ("q1", 2.0), ("q1", " 2.0")):
        assert known_options(r.structure, {item: answer}).tolist() == [1]
    assert known_options(r.structure, {"q1": 5, "q2": 20}).tolist() == [3]


def test_an_unknown_item_is_an_error():
    r = make_responses(random_table(0, 8, 3, 2), items=["q1", "q2", "q3"])
    with pytest.raises(InputError, match=r"item 'q9'.*'q1', 'q2', 'q3'"):
        rank(r, method="hnd", answers={"q1": 0, "q9": 0})


# -- a strong user -------------------------------------------------------------------------------


def test_a_strong_user_comes_out_above_the_middle():
    table = random_table(4, 30, 10, 3)
    r = make_responses(table, users=[f"u{j}" for j in range(30)])
    free = rank(r, method="hnd")
    for place in (0, 3, 26, 29):
        name = r.users[free.order[place]]
        found = rank(r, method="hnd", strong_user=name)
        assert found.orientation.how == "strong user"
        assert found.orientation.confidence == 1.0
        assert found.ranks[free.order[place]] <= 15
        np.testing.assert_allclose(found.scores, free.scores if place < 15 else -free.scores)
    extreme = rank(r, method="hnd", strong_user=r.users[np.argmax(np.abs(free.scores))])
    assert extreme.orientation.margin == 1.0


def test_a_strong_user_in_the_middle_says_nothing():
    table = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 2, 2]])
    found = orientation(table, [2.0, 1.0, 0.0, -1.0, -2.0], strong_user=2)
    assert found.how == "decile entropy"
    assert found == orientation(table, [2.0, 1.0, 0.0, -1.0, -2.0])


def test_an_unknown_user_is_an_error_with_a_hint():
    r = make_responses(random_table(0, 8, 3, 2), users=["anna", *"bcdefgh"])
    with pytest.raises(InputError, match=r"no user 'ana'.*Did you mean 'anna'"):
        rank(r, method="hnd", strong_user="ana")
    assert open_engine(r).user_number(" anna ") == 0


def test_what_is_known_settles_only_the_component_it_is_about():
    def group(shift):
        return random_table(4, 12, 8, 3) + shift

    table = np.concatenate([group(0), group(10)])
    free = rank(make_responses(table), method="hnd")
    worst = int(free.order[11])
    assert free.components[worst] == 0
    found = rank(make_responses(table), method="hnd", strong_user=worst)
    np.testing.assert_allclose(found.scores[:12], -free.scores[:12])
    np.testing.assert_allclose(found.scores[12:], free.scores[12:])


def test_answers_come_before_the_strong_user():
    table = random_table(4, 30, 10, 3)
    free = rank(make_responses(table), method="hnd")
    best, worst = free.order[0], free.order[-1]
    found = rank(
        make_responses(table),
        method="hnd",
        answers=dict(enumerate(table[best].tolist())),
        strong_user=int(worst),
    )
    assert found.orientation.how == "known answers"
    np.testing.assert_allclose(found.scores, free.scores)


def engine_of(scores):
    """An engine with so many users."""
    return open_engine(make_responses(np.zeros((len(scores), 1), dtype=int)))


@given(
    st.lists(st.integers(1, 7), min_size=4, max_size=40),  # not all 0: ties are relative
    st.integers(1, 12),
    st.sampled_from([0.0, 1e-12]),
)
def test_the_ends_share_the_places_of_a_tie_at_their_edge(levels, size, noise):
    """Against the definition: the mean over all ways to order the users of every tie."""
    scores = np.array(levels) + noise * np.random.default_rng(0).random(len(levels))
    size = min(size, len(scores))
    for end, column in ((-1, 0), (1, 1)):
        expected = np.zeros(len(scores))
        left = size
        for level in sorted(set(levels), key=lambda level: end * level):
            tied = np.array(levels) == level
            expected[tied] = min(1.0, left / tied.sum())
            left = max(0, left - tied.sum())
        np.testing.assert_allclose(_ends(scores, engine_of(scores), size)[:, column], expected)
