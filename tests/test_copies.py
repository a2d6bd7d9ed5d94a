"""Copied answer sheets: how much each user counts as a witness."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam, with_own_letters
from factory import examples, make_responses, random_answers, some
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import accuracy, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key import copies
from hitsndiffs.methods.latent_key.copies import PAIRWISE_UP_TO, find_witnesses
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.model import KeyProblem, weights_of
from hitsndiffs.methods.latent_key.modes import consensus
from hitsndiffs.methods.latent_key.pairs import KEPT, Pairs

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


def fitted(table, **known):
    r = make_responses(table)
    problem = KeyProblem(open_engine(r, "numpy"), **known)
    return problem, problem.fit(normal_scores(problem.data, consensus(problem)), max_rounds=15)


def with_copies(seed, copied=5, noise=0.0, **size):
    """A test in which the last users are (near-)copies of user 0's sheet."""
    table, ability = exam(seed, **size)
    rng = np.random.default_rng(seed)
    sheet = np.tile(table[0], (copied, 1))
    other = rng.integers(0, 4, sheet.shape)
    sheet = np.where(rng.random(sheet.shape) < noise, other, sheet)
    return np.vstack([table, sheet]), np.r_[ability, np.full(copied, ability[0])]


@examples(30)
@given(st.integers(2, 9), st.integers(1, 6), st.integers(0, 10_000), st.sampled_from([0, KEPT]))
def test_what_pairs_have_in_common(users, items, seed, kept):
    answers = random_answers(users, items, 3, 0.3, seed)
    some = np.random.default_rng(seed).permutation(users)[:3]
    agree, common = Pairs(open_engine(make_responses(answers)), kept).of(some)
    one, other = answers[:, None], answers[some]
    np.testing.assert_array_equal(common, ((one >= 0) & (other >= 0)).sum(axis=2))
    np.testing.assert_array_equal(agree, ((one == other) & (one >= 0)).sum(axis=2))


@pytest.mark.parametrize("pairwise", [True, False])
def test_exact_copies_share_one_weight(pairwise):
    table, _ = with_copies(0, users=60, items=60)
    found = find_witnesses(*fitted(table), pairwise_up_to=PAIRWISE_UP_TO if pairwise else 0)
    group = [0, *range(60, 65)]
    np.testing.assert_allclose(found.weights[group], 1 / 6)
    np.testing.assert_allclose(np.delete(found.weights, group), 1)
    assert (found.copy_logs[group] < 0).all()
    assert (np.delete(found.copy_logs, group) == 0).all()


def test_copying_explains_copies_better_than_ability_does():
    table, _ = with_copies(1, users=60, items=60)
    problem, fit = fitted(table)
    found = find_witnesses(problem, fit)
    p = fit.probabilities()
    by_ability = problem.data.choices(np.log(p)) * weights_of(fit)
    assert (found.copy_logs[60:] > by_ability[60:].sum(axis=1)).all()
    assert problem.data.n_users == 65


@pytest.mark.parametrize("seed", some(range(4), 2))
@pytest.mark.parametrize("answered", [1.0, 0.4])
def test_honest_users_are_not_flagged(seed, answered):
    table, ability = exam(seed, users=120, items=40, answered=answered)
    found = find_witnesses(*fitted(table))
    assert np.mean(found.weights < 1) < 0.03
    strong = np.argsort(-ability)[:20]
    assert (found.weights[strong] < 1).sum() <= 1


def test_near_copies_are_found_too():
    table, _ = with_copies(2, copied=8, noise=0.1, users=80, items=60)
    found = find_witnesses(*fitted(table))
    group = [0, *range(80, 88)]
    assert (found.weights[group] < 0.3).all()
    assert np.mean(np.delete(found.weights, group) < 1) < 0.05


@pytest.mark.parametrize("letters", [with_own_letters, np.copy], ids=["own letters", "one letter"])
def test_many_copies_do_not_become_the_truth(letters):
    rng = np.random.default_rng(3)
    table, _ = exam(3, users=60, items=40)
    weakest = int(np.argmin((table == 0).sum(axis=1)))
    clique = np.tile(table[weakest], (30, 1))
    noise = rng.random(clique.shape) < 0.05
    clique = np.where(noise, rng.integers(0, 4, clique.shape), clique)
    everybody = np.vstack([table, clique])
    truth = (everybody == 0).mean(axis=1)
    ranking = rank(make_responses(letters(everybody)), "latent-key", resamples=3)
    assert accuracy(truth, ranking.scores) > 0.9
    assert accuracy(truth, ranking.scores) > accuracy(
        truth, rank(make_responses(everybody), "majority").scores
    )
    assert ranking.fit.alike.count >= 31
    assert len(ranking.fit.alike.users) == ranking.fit.alike.count


def test_probabilities_of_options_sum_to_one():
    table, _ = exam(4, users=30, items=12)
    for known in ({}, {"answers": {2: 1, 5: "not given"}}):
        problem, fit = fitted(table, **known)
        p = fit.probabilities()
        assert (p > 0).all()
        np.testing.assert_allclose(problem.items.total(p), 1, atol=1e-6)


def test_seeing_copies_has_a_price_in_large_data_too():
    """Otherwise the solution that takes most users for copies would have the best evidence."""
    table, _ = with_copies(5, users=40, items=60)
    problem, fit = fitted(table)
    pairwise = find_witnesses(problem, fit)
    banded = find_witnesses(problem, fit, pairwise_up_to=0)
    group = [0, *range(40, 45)]
    np.testing.assert_allclose(banded.copy_logs[group], pairwise.copy_logs[group], rtol=0.5)


def test_three_users_are_too_few_to_compare():
    found = find_witnesses(*fitted(np.zeros((3, 20), dtype=int)))
    assert (found.weights == 1).all()


@pytest.mark.parametrize("copied", [30, 120])
@pytest.mark.parametrize("letters", [with_own_letters, np.copy], ids=["own letters", "one letter"])
def test_a_majority_of_exact_copies_cannot_hide_behind_its_own_agreement(copied, letters):
    table, _ = with_copies(5, copied=copied, users=60, items=40)
    ranking = rank(make_responses(letters(table)), "latent-key", resamples=0)
    assert ranking.fit.alike.count == copied + 1
    assert accuracy((table[:60] == 0).mean(axis=1), ranking.scores[:60]) > 0.95


@pytest.mark.parametrize("seed", some([5, 7], 1))
@pytest.mark.parametrize("letters", [with_own_letters, np.copy], ids=["own letters", "one letter"])
def test_a_third_of_near_copies_of_a_weak_sheet_is_not_the_truth(seed, letters):
    table, _ = with_copies(seed, copied=30, noise=0.05, users=60, items=40)
    truth = (table == 0).mean(axis=1)
    assert truth[0] <= 0.5
    ranking = rank(make_responses(letters(table)), "latent-key", resamples=0)
    assert accuracy(truth[:60], ranking.scores[:60]) > 0.95
    if letters is np.copy:  # leaning to the letter would look much the same: it must not be sure
        assert ranking.confidence < 0.8


def test_near_equals_are_counted_pair_by_pair():
    table, _ = with_copies(1, copied=3, noise=0.05, users=20, items=30, answered=0.7)
    r = make_responses(table)
    found = copies.near_equals(KeyProblem(open_engine(r, "numpy")))
    shares = [np.bincount(column[column >= 0]) / (column >= 0).sum() for column in table.T]
    by_chance = np.array([(share**2).sum() for share in shares])
    for user in range(r.n_users):
        both = (table >= 0) & (table[user] >= 0)
        same = ((table == table[user]) & both).sum(axis=1)
        chance = (both * by_chance).sum(axis=1)
        common = both.sum(axis=1)
        alike = (same - chance >= 0.5 * (common - chance)) & (common >= 15)
        assert found[user] == alike.sum() - alike[user]
