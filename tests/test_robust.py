"""Robust HnD: the paper's HnD where that is right, and better where it is not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from cases_of_ability import exam, two_camps, with_own_letters
from factory import consistent_tables, examples, make_responses, random_table, some
from hypothesis import given

from hitsndiffs import accuracy, rank, simulate
from hitsndiffs.methods.robust import choose_axis
from hitsndiffs.results.metrics import average_ranks

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


@pytest.mark.parametrize("seed", range(3))
def test_without_shrinkage_it_is_the_papers_hnd_up_to_sign_and_scale(seed):
    r = make_responses(random_table(seed, 25, 12, 4))
    plain = rank(r, "hnd").scores
    robust = rank(r, "hnd-robust", lam=0, mu=0)
    assert robust.fit.learnt.lam == robust.fit.learnt.mu == 0
    x, y = plain / np.linalg.norm(plain), robust.scores / np.linalg.norm(robust.scores)
    if robust.fit.learnt.axis == 1:
        np.testing.assert_allclose(y * np.sign(x @ y), x, atol=1e-8)
    else:
        assert abs(x @ y) < 0.99


def test_shrinkage_changes_the_scores():
    table, _ = exam(0, users=40, items=15, answered=0.4)
    r = make_responses(table)
    free, fixed = rank(r, "hnd-robust"), rank(r, "hnd-robust", lam=0, mu=0)
    assert free.fit.learnt.lam > 1
    assert free.fit.learnt.mu > 1
    assert abs(np.corrcoef(free.scores, fixed.scores)[0, 1]) < 0.98


@given(consistent_tables())
@examples(15, usual=15)
def test_a_certified_order_is_returned_as_it_is(table):
    r = make_responses(table)
    plain, robust = rank(r, "hnd"), rank(r, "hnd-robust")
    assert plain.consistent
    if np.ptp(plain.scores) > 0 and plain.n_components == 1:
        places, same = average_ranks(robust.scores), average_ranks(plain.scores)
        if plain.confidence <= 0.5 and (places != same).any():  # which end is up is open, and said
            places = len(places) + 1 - places
        np.testing.assert_array_equal(places, same)
    if np.ptp(robust.scores) > 0 and plain.n_components == 1:
        assert robust.consistent
        assert "Every single answer fits" in robust.notes[0]


@pytest.mark.parametrize("model", ["grm", "samejima"])
def test_the_long_tail_is_ranked_far_better_than_by_plain_hnd(model):
    gains = []
    for seed in some([1, 0], 1):
        sim = simulate(model, users=250, items=100, options=3, answers_per_user=10, seed=seed)
        scores = [rank(sim.responses, name).scores for name in ("hnd", "hnd-robust")]
        plain, robust = (accuracy(sim.abilities, s) for s in scores)
        gains.append(robust - plain)
    assert np.mean(gains) > 0.3


def test_known_answers_turn_the_sign():
    table, ability = exam(1, users=40, items=12)
    r = make_responses(table)
    right = rank(r, "hnd-robust", answers=dict.fromkeys(range(6), 0))
    assert np.corrcoef(right.scores, ability)[0, 1] > 0.6
    key = right.answer_key(with_confidence=True)
    assert all(key[i] == (0, 1.0) for i in range(6))
    # the very same data, but what most weak users chose is said to be right
    wrong_of = {
        i: int(np.bincount(column[column > 0]).argmax()) for i, column in enumerate(table.T)
    }
    wrong = rank(r, "hnd-robust", answers=wrong_of)
    assert np.corrcoef(wrong.scores, ability)[0, 1] < -0.3


def test_a_strong_user_turns_the_sign():
    r = make_responses(with_own_letters(two_camps(0)))  # one letter for all items is a habit
    for user in (0, 1):  # the two camps
        ranking = rank(r, "hnd-robust", strong_user=user)
        mine = np.arange(60) % 2 == user
        assert ranking.scores[mine].mean() > ranking.scores[~mine].mean()


def test_two_equal_camps_are_a_toss_of_a_coin_and_it_says_so():
    half = two_camps(1, users=40, items=20)[::2]
    table = np.vstack([half, np.array([1, 0, 2, 3])[half]])  # the same with 0 and 1 exchanged
    for name in ("hnd-robust", "latent-key", "auto"):
        ranking = rank(make_responses(table), name)
        assert ranking.confidence < 0.6
        assert any("strong user" in note for note in ranking.notes)


def test_a_strong_user_without_answers_says_nothing():
    table, _ = exam(1, users=30, items=10)
    table[7] = -1
    r = make_responses(table)
    for name in ("hnd-robust", "latent-key", "auto"):
        told, plain = rank(r, name, strong_user=7), rank(r, name)
        np.testing.assert_array_equal(told.scores, plain.scores)
        assert np.isnan(told.scores[7])


def agreeing(*agreements):
    """Axes with the given correlations with the key's best solution."""
    rng = np.random.default_rng(0)
    base = np.linalg.qr(np.c_[np.ones(50), rng.normal(size=(50, 1 + len(agreements)))])[0][:, 1:]
    axes = [a * base[:, 0] + np.sqrt(1 - a**2) * base[:, k + 1] for k, a in enumerate(agreements)]
    found = SimpleNamespace(axes=SimpleNamespace(scores=np.column_stack(axes)))
    return found, base[:, 0]


@pytest.mark.parametrize(
    ("agreements", "chosen"),
    [((0.9, 0.2, 0.1), 0), ((0.5, -0.6, 0.1), 0), ((0.2, 0.1, -0.9), 2), ((-0.3, 0.46, 0), 1)],
)
def test_another_axis_is_taken_only_when_it_agrees_clearly_better(agreements, chosen):
    place, found = choose_axis(*agreeing(*agreements))
    assert place == chosen
    np.testing.assert_allclose(found, agreements, atol=1e-9)


def test_a_rival_axis_is_reported_with_advice():
    # two halves of the items split the users in two ways that have nothing to do with each other
    across = np.arange(60).reshape(-1, 2, 2).swapaxes(1, 2).ravel()
    table = np.hstack([two_camps(3, items=60), two_camps(4, items=60)[across]])
    ranking = rank(make_responses(with_own_letters(table)), "hnd-robust")
    values = ranking.fit.eigenvalues
    place = ranking.fit.learnt.axis - 1
    rivals = [v for a, v in enumerate(values) if a != place and v > 0.9 * values[place]]
    said = any("A second axis is almost as strong" in note for note in ranking.notes)
    assert said == bool(rivals)
    assert rivals
    assert ranking.confidence < 0.8


def test_errors_are_the_spread_of_item_contributions():
    table = random_table(2, 30, 10, 4, missing=0.3)
    r = make_responses(table)
    ranking = rank(r, "hnd-robust")
    w = ranking.fit.option_weights
    mu = ranking.fit.learnt.mu
    indptr, options = r.rows
    for user in range(5):
        mine = w[options[indptr[user] : indptr[user + 1]]]
        n = len(mine)
        assert ranking.scores[user] == pytest.approx(mine.sum() / (n + mu))
        expected = np.sqrt(n) * mine.std(ddof=1) / (n + mu)
        assert ranking.fit.standard_errors[user] == pytest.approx(expected)
    # where halves of the items disagree more than that, all errors are wider by one factor
    factors = ranking.standard_errors / ranking.fit.standard_errors
    assert factors[0] >= 1
    np.testing.assert_allclose(factors, factors[0])
