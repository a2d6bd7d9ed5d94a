"""HITS, TruthFinder, the investments, majority, true answers, avgHITS: against plain loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from factory import examples, make_responses, random_answers
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_methods import (
    hits,
    investment,
    majority,
    one_hot,
    truthfinder,
)

from hitsndiffs.engines import open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods import (
    HITS,
    AvgHITS,
    Investment,
    Majority,
    PooledInvestment,
    TrueAnswer,
    TruthFinder,
)
from hitsndiffs.methods.truthfinder import log_of_sums
from hitsndiffs.results.metrics import accuracy

TABLES = st.builds(
    random_answers,
    users=st.integers(3, 9),
    items=st.integers(1, 6),
    options=st.integers(2, 4),
    missing=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 10_000),
)
QUICK = examples(30)


@QUICK
@given(TABLES, st.sampled_from(["published", "text"]))
def test_truthfinder_is_its_formula(answers, formula):
    # undivided trust grows towards 1, where doubts are lost: two rounds
    rounds = 5 if formula == "published" else 2
    s, w = truthfinder(answers, rounds=rounds, divided=formula == "published")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        method = TruthFinder(formula=formula, tol=0, max_iterations=rounds)
        fitted = method.fit(make_responses(answers))
    np.testing.assert_allclose(fitted.option_weights_, w, rtol=1e-8, atol=1e-15)
    assume(not fitted.fit_.notes)
    np.testing.assert_allclose(fitted.scores_, s, rtol=1e-8, atol=1e-15)


@QUICK
@given(TABLES, st.sampled_from([1.0, 1.2, 1.4]))
def test_investment_is_its_formula(answers, exponent):
    trust, belief = investment(answers, exponent)
    fitted = Investment(exponent=exponent).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, trust, rtol=1e-9)
    np.testing.assert_allclose(fitted.key_probabilities_, belief, rtol=1e-9)


@QUICK
@given(TABLES, st.integers(1, 12))
def test_pooled_investment_is_its_formula(answers, rounds):
    trust, belief = investment(answers, 1.4, rounds, pooled=True)
    fitted = PooledInvestment(rounds=rounds).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, trust, rtol=1e-9)
    np.testing.assert_allclose(fitted.key_probabilities_, belief, rtol=1e-9)


@QUICK
@given(TABLES)
def test_majority_is_the_agreement_with_the_most_chosen(answers):
    fitted = Majority().fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, majority(answers), rtol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_hits_is_its_formula(missing):
    answers = random_answers(10, 12, 3, missing, seed=3)
    s, w = hits(answers)
    fitted = HITS(tol=1e-12).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, s, rtol=1e-9)
    np.testing.assert_allclose(fitted.option_weights_, w, rtol=1e-9)


def test_hits_is_the_first_eigenvector_when_everybody_answers_everything():
    answers = random_answers(20, 15, 3, seed=4)
    C, _ = one_hot(answers)
    first = np.abs(np.linalg.eigh(C @ C.T)[1][:, -1])
    fitted = HITS(tol=1e-12).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, first / first.max(), rtol=1e-8)


def test_hits_agrees_with_networkx():
    networkx = pytest.importorskip("networkx")
    answers = random_answers(15, 10, 3, seed=5)
    C, _ = one_hot(answers)
    graph = networkx.DiGraph()
    graph.add_edges_from((f"u{j}", f"o{o}") for j, o in np.argwhere(C > 0))
    hubs, _ = networkx.hits(graph, max_iter=1000, tol=1e-12)
    expected = np.array([hubs[f"u{j}"] for j in range(len(C))])
    fitted = HITS(tol=1e-12).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, expected / expected.max(), rtol=1e-6)


def test_iterations_that_are_cut_short_say_so():
    r = make_responses(random_answers(20, 15, 3, seed=6))
    with pytest.warns(ConvergenceWarning, match="hits stopped after 2 rounds"):
        fitted = HITS(max_iterations=2).fit(r)
    assert not fitted.converged_
    assert np.isfinite(fitted.scores_).all()


def two_option_test(users, items=40, seed=0):
    rng = np.random.default_rng(seed)
    ability = rng.standard_normal(users)
    difficulty = rng.uniform(-2, 2, items)
    p = 0.2 + 0.8 / (1 + np.exp(-1.5 * (ability[:, None] - difficulty)))
    return (rng.random((users, items)) < p).astype(int), ability


@pytest.mark.parametrize("users", [100, 3000])
def test_truthfinder_still_ranks_when_products_of_doubts_vanish(users):
    answers, ability = two_option_test(users)
    fitted = TruthFinder().fit(make_responses(answers))
    assert np.isfinite(fitted.scores_).all()
    # as good with thousands of users (where the plain formula gives all the same score) as with 100
    assert accuracy(ability, fitted.scores_) > 0.5
    assert len(np.unique(fitted.scores_)) > 20
    # and the inferred key keeps the popular options apart from the others
    counts = fitted.key_probabilities_
    assert counts.max() > 1 - 1e-12
    assert np.isfinite(counts).all()


def test_truthfinder_ranks_alike_in_both_domains():
    answers, _ = two_option_test(60, 20, seed=1)
    r = make_responses(answers)
    fitted = TruthFinder(tol=1e-12).fit(r)
    assert fitted.fit_.notes == ()
    assert fitted.scores_.max() <= 1
    sums = open_engine(r)
    doubt = fitted._log_doubts(sums.choosers(np.log1p(-fitted.scores_)), sums)
    assert accuracy(fitted.scores_, -doubt) > 1 - 1e-9


def test_log_of_sums_spans_any_range():
    answers = random_answers(15, 6, 4, seed=2)
    sums = open_engine(make_responses(answers))
    C, _ = one_hot(answers)
    logs = np.random.default_rng(0).uniform(-5000, -10, C.shape[1])
    expected = [np.logaddexp.reduce(logs[row > 0]) for row in C]
    np.testing.assert_allclose(log_of_sums(sums, logs), expected, rtol=1e-13)


def test_shared_pluralities_count_in_part():
    fitted = Majority().fit(make_responses([[0, 0], [0, 1], [1, 2], [1, 2]]))
    assert fitted.scores_.tolist() == [0.25, 0.25, 0.75, 0.75]
    assert fitted.correct_.tolist() == fitted.scores_.tolist()


def test_true_answer_counts_right_answers():
    answers = np.array([[0, 0, 1], [0, 1, -1], [1, -1, -1], [-1, -1, 1]])
    r = make_responses(answers, items=["p", "q", "r"])
    fitted = TrueAnswer(key={"p": 0, "q": 0, "zz": 3}).fit(r)
    # the last user answered nothing that the key covers: the mean of all, 3 of 5
    np.testing.assert_allclose(fitted.scores_, [1.0, 0.5, 0.0, 0.6])
    assert any("1 of 3 items" in note for note in fitted.fit_.notes)
    assert any("1 users answered no item" in note for note in fitted.fit_.notes)
    assert fitted.key_probabilities_[:4].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_true_answer_has_no_key_where_nobody_was_right():
    fitted = TrueAnswer(key={0: 7, 1: 0}).fit(make_responses([[0, 0], [1, 1]]))
    assert fitted.scores_.tolist() == [0.5, 0.0]
    assert np.isnan(fitted.key_probabilities_[:2]).all()


def test_true_answer_needs_a_key_for_these_data():
    r = make_responses([[0, 0], [1, 1]])
    with pytest.raises(InputError, match="give a key"):
        TrueAnswer().fit(r)
    with pytest.raises(InputError, match="'no such item'"):
        TrueAnswer(key={"no such item": 1}).fit(r)


def test_avghits_ends_at_the_ones_vector():
    fitted = AvgHITS().fit(make_responses(random_answers(12, 9, 3, 0.2, seed=1)))
    np.testing.assert_allclose(fitted.scores_, 1.0, atol=1e-9)
    assert fitted.n_iterations_ > 1


def test_a_share_of_right_answers_may_be_that_of_one_answer():
    answers = np.array([[0, -1, -1], [1, -1, -1], [0, 1, -1], [1, 1, 0], [-1, -1, 1]])
    key = np.array([0, 1, 0])
    told = TrueAnswer(key=dict(enumerate(key.tolist()))).fit(make_responses(answers))
    right = ((answers == key) & (answers >= 0)).sum(axis=1)
    np.testing.assert_allclose(told.scores_, right / (answers >= 0).sum(axis=1))
