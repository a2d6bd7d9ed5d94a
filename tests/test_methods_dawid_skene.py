"""Dawid–Skene: against plain loops and against crowd-kit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from factory import examples, make_responses, random_answers
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_methods import full_confusions, one_coin
from scipy.special import digamma

from hitsndiffs.errors import InputError
from hitsndiffs.methods import DawidSkene, Majority

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")

TABLES = st.builds(
    random_answers,
    users=st.integers(3, 8),
    items=st.integers(2, 6),
    options=st.integers(2, 4),
    missing=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 10_000),
)


@examples(30)
@given(TABLES, st.sampled_from([0.5, 1.0, 3.0]))
def test_one_coin_is_its_formula(answers, smoothing):
    rates, key = one_coin(answers, 6, smoothing)
    fitted = DawidSkene(smoothing=smoothing, tol=0, max_iterations=6).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.scores_, np.clip(rates, 1e-10, 1 - 1e-10), atol=1e-7)
    np.testing.assert_allclose(fitted.key_probabilities_, key, atol=1e-7)


@examples(20, usual=20)
@given(TABLES, st.sampled_from([0.5, 2.0]))
def test_full_is_its_formula(answers, smoothing):
    assume((answers >= 0).any(axis=0).all())
    assume(all((answers == c).any(axis=0).sum() != 1 for c in range(4)))
    confusion, truth = full_confusions(answers, 4, smoothing)
    fitted = DawidSkene(model="full", smoothing=smoothing, tol=0, max_iterations=4).fit(
        make_responses(answers)
    )
    np.testing.assert_allclose(fitted.fit_.learnt.confusions, confusion, atol=1e-7)
    prior = truth.mean(axis=0)
    np.testing.assert_allclose(
        fitted.scores_, [(c.diagonal() * prior).sum() for c in confusion], atol=1e-7
    )


@examples(20, usual=10)
@given(TABLES)
def test_hierarchical_is_its_formula(answers):
    """Before anything is learnt about how alike users are: one answer of the average user each."""
    assume((answers >= 0).any(axis=0).all())
    assume(all((answers == c).any(axis=0).sum() != 1 for c in range(4)))

    def expected_logs(counts):
        return digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))

    confusion, _ = full_confusions(
        answers,
        2,
        logs_of=expected_logs,
        pooled_of=lambda pooled: (pooled + 0.1) / (pooled + 0.1).sum(axis=0),
    )
    fitted = DawidSkene(model="hierarchical", tol=0, max_iterations=2).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.fit_.learnt.confusions, confusion, atol=1e-6)


def crowd(users=15, items=60, labels=3, missing=0.4, seed=0):
    """Crowd labels over one label set, every label seen in every item, and their long table."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, items)
    skill = rng.uniform(0.4, 0.95, users)
    answers = np.where(
        rng.random((users, items)) < skill[:, None], truth, rng.integers(0, labels, (users, items))
    )
    answers[rng.random(answers.shape) < missing] = -1
    answers[:labels] = np.arange(labels)[:, None]
    long = pd.DataFrame(
        [(i, j, answers[j, i]) for j in range(users) for i in range(items) if answers[j, i] >= 0],
        columns=["task", "worker", "label"],
    )
    return answers, long


def fit_crowdkit(aggregator, long):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return aggregator.fit(long)


#: Crowd-kit takes seconds to import.
with_crowdkit = pytest.mark.xdist_group("crowd-kit")


@with_crowdkit
def test_majority_agrees_with_crowdkit():
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long = crowd(missing=0.1, seed=1)
    counts = np.array([[(answers[:, i] == c).sum() for c in range(3)] for i in range(60)])
    ranked = np.sort(counts, axis=1)
    clear = np.flatnonzero(ranked[:, -1] > ranked[:, -2])  # crowd-kit does not share ties
    theirs = fit_crowdkit(aggregation.MajorityVote(), long[long.task.isin(clear)])
    ours = Majority().fit(make_responses(answers[:, clear]))
    np.testing.assert_allclose(ours.scores_, theirs.skills_.sort_index(), rtol=1e-12)
    np.testing.assert_allclose(
        ours.key_probabilities_.reshape(-1, 3), theirs.probas_.sort_index(), rtol=1e-12
    )


@with_crowdkit
@pytest.mark.parametrize("rounds", [1, 5, 20])
def test_one_coin_agrees_with_crowdkit(rounds):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long = crowd()
    theirs = fit_crowdkit(aggregation.OneCoinDawidSkene(n_iter=rounds, tol=-np.inf), long)
    ours = DawidSkene(priors="labels", smoothing=0, tol=0, max_iterations=rounds).fit(
        make_responses(answers)
    )
    np.testing.assert_allclose(ours.scores_, theirs.skills_.sort_index(), atol=1e-7)
    np.testing.assert_allclose(
        ours.key_probabilities_.reshape(-1, 3), theirs.probas_.sort_index(), atol=1e-7
    )


@with_crowdkit
@pytest.mark.parametrize("rounds", [1, 5, 20])
def test_full_agrees_with_crowdkit(rounds):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long = crowd()
    theirs = fit_crowdkit(aggregation.DawidSkene(n_iter=rounds, tol=-np.inf), long)
    ours = DawidSkene(model="full", smoothing=0, tol=0, max_iterations=rounds).fit(
        make_responses(answers)
    )
    np.testing.assert_allclose(
        ours.key_probabilities_.reshape(-1, 3), theirs.probas_.sort_index(), atol=1e-7
    )
    np.testing.assert_allclose(ours.fit_.learnt.label_priors, theirs.priors_, atol=1e-7)
    found = ours.fit_.learnt.confusions
    for (worker, label), row in theirs.errors_.iterrows():
        np.testing.assert_allclose(found[worker, label], row.sort_index(), atol=1e-7)


def test_it_settles_and_finds_the_key():
    answers = random_answers(40, 30, 4, 0.2, seed=8)
    fitted = DawidSkene().fit(make_responses(answers))
    assert fitted.converged_
    best = fitted.key_probabilities_.reshape(30, -1).argmax(axis=1)
    assert (best == 0).all()


def test_thousands_of_users_do_not_underflow():
    rng = np.random.default_rng(0)
    answers = (rng.random((3000, 10)) > np.linspace(0.3, 0.9, 3000)[:, None]).astype(int)
    for model in ("one-coin", "full"):
        fitted = DawidSkene(model=model).fit(make_responses(answers))
        assert np.isfinite(fitted.scores_).all()
        assert np.isfinite(fitted.key_probabilities_).all()


def test_full_needs_one_label_set():
    answers = random_answers(6, 5, 3, seed=1) + 10 * np.arange(5)
    with pytest.raises(InputError, match=r"share one label set.*one-coin"):
        DawidSkene(model="full").fit(make_responses(answers))


def test_more_options_than_were_chosen_make_agreement_weigh_more():
    answers = random_answers(8, 6, 2, seed=2)
    few = DawidSkene(max_iterations=1).fit(make_responses(answers))
    many = DawidSkene(max_iterations=1, options_per_item=10).fit(make_responses(answers))
    assert many.key_probabilities_.max() >= few.key_probabilities_.max()
    assert not np.allclose(many.key_probabilities_, few.key_probabilities_)


def coverage(model, items, answered, seed):
    """How often the error bars about the share of right answers hold the true rates of 60 users."""
    rng = np.random.default_rng(seed)
    rates, key = rng.uniform(0.35, 0.95, 60), rng.integers(0, 4, items)
    wrong = (key + rng.integers(1, 4, (60, items))) % 4
    answers = np.where(rng.random((60, items)) < rates[:, None], key, wrong)
    answers[rng.random((60, items)).argsort(axis=1) >= answered] = -1
    fit = DawidSkene(model=model).fit(make_responses(answers)).fit_
    return np.mean(np.abs(fit.correct - rates) <= 1.96 * fit.correct_errors)


@pytest.mark.parametrize("model", ["one-coin", "full"])
@pytest.mark.parametrize(("items", "answered"), [(60, 60), (30, 6)])
def test_errors_hold_the_true_rates(model, items, answered):
    found = np.mean([coverage(model, items, answered, seed) for seed in range(8)])
    assert 0.84 <= found <= 0.985  # few answers per item: the key is surer of itself than it may be


@pytest.mark.parametrize("model", ["one-coin", "full"])
def test_a_perfect_sheet_is_no_certainty(model):
    answers = np.array([[0, 1, 2, 0, 1], [0, 1, 2, 0, 1], [0, 1, 2, 0, 2], [2, 1, 0, 0, 1]])
    fit = DawidSkene(model=model).fit(make_responses(answers)).fit_
    assert fit.correct[0] > 0.95
    assert 0.05 < fit.standard_errors[0] < 0.25
