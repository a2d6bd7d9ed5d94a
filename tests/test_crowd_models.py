"""Dawid–Skene, GLAD, MACE and minimax entropy: plain loops, other implementations, optimisers."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from factory import examples, make_responses, random_answers
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_methods import full_confusions, one_coin
from scipy.optimize import minimize
from scipy.special import digamma, expit, log_softmax, logsumexp

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.methods import DawidSkene, Majority

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")

LABELS = 3


def crowd(users=12, items=40, missing=0.2, seed=0):
    """Answers of careful and careless users; every item has all labels; crowd-kit's table."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, LABELS, items)
    skill = rng.uniform(0.3, 0.95, users)
    knows = rng.random((users, items)) < skill[:, None]
    answers = np.where(knows, key, rng.integers(0, LABELS, (users, items)))
    answers[rng.random(answers.shape) < missing] = -1
    answers[:LABELS] = np.arange(LABELS)[:, None]
    skill[:LABELS] = 0
    user, item = np.nonzero(answers >= 0)
    long = pd.DataFrame({"task": item, "worker": user, "label": answers[user, item]})
    return answers, long, key, skill


def fit_crowdkit(aggregator, long):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return aggregator.fit(long)


#: Crowd-kit takes seconds to import.
with_crowdkit = pytest.mark.xdist_group("crowd-kit")


# -- Dawid and Skene -----------------------------------------------------------------------------

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


@with_crowdkit
def test_majority_agrees_with_crowdkit():
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long, *_ = crowd(items=60, missing=0.1, seed=1)
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
    answers, long, *_ = crowd(users=15, items=60, missing=0.4)
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
    answers, long, *_ = crowd(users=15, items=60, missing=0.4)
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


# -- GLAD, MACE and minimax entropy --------------------------------------------------------------


def glad_posterior(answers, ability, easy):
    """Logarithm of the posterior of GLAD's parameters, the right answers summed out."""
    user, item = np.nonzero(answers >= 0)
    said = answers[user, item]
    right = expit(ability[user] * np.exp(easy)[item])
    each = np.repeat(np.log((1 - right) / (LABELS - 1))[:, None], LABELS, axis=1)
    each[np.arange(len(said)), said] = np.log(right)
    by_item = np.zeros((answers.shape[1], LABELS))
    np.add.at(by_item, item, each)
    priors = ((ability - 1) ** 2).sum() / 2 + ((easy - 1) ** 2).sum() / 2
    return logsumexp(by_item, axis=1).sum() - priors


@with_crowdkit
@pytest.mark.parametrize("seed", [0, 1])
def test_glad_agrees_with_crowdkit(seed):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long, key, _ = crowd(seed=seed)
    theirs = fit_crowdkit(aggregation.GLAD(n_iter=100, tol=-np.inf, silent=True), long)
    ours = hnd.GLAD(tol=1e-9, max_iterations=20_000).fit(make_responses(answers))
    np.testing.assert_allclose(ours.abilities_, theirs.alphas_.sort_index(), atol=2e-2)
    found = ours.key_probabilities_.reshape(-1, LABELS)
    np.testing.assert_allclose(found, theirs.probas_.sort_index(axis=0), atol=1e-2)
    assert (found.argmax(axis=1) == key).mean() > 0.8


def test_glad_finds_the_top_of_its_posterior():
    answers, *_ = crowd(seed=3)
    users, items = answers.shape
    ours = hnd.GLAD(tol=1e-9, max_iterations=20_000).fit(make_responses(answers))

    def down(x):
        return -glad_posterior(answers, x[:users], x[users:])

    best = minimize(down, np.ones(users + items), method="L-BFGS-B", options={"maxfun": 200_000})
    np.testing.assert_allclose(ours.abilities_, best.x[:users], atol=5e-3)


@with_crowdkit
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mace_agrees_with_crowdkit(seed):
    aggregation = pytest.importorskip("crowdkit.aggregation")
    answers, long, key, skill = crowd(seed=seed)
    theirs = fit_crowdkit(
        aggregation.MACE(n_restarts=3, n_iter=200, random_state=0, verbose=0), long
    )
    ours = hnd.MACE(tol=1e-9).fit(make_responses(answers))
    found = ours.key_probabilities_.reshape(-1, LABELS)
    np.testing.assert_allclose(found, theirs.probas_.sort_index(), atol=1e-3)
    # they keep exp(E log θ), whose odds are those of the digammas of the counts
    weights = theirs.spamming_[np.argsort(pd.factorize(long.worker)[1])]
    assert np.corrcoef(ours.scores_, weights[:, 1])[0, 1] > 0.99
    assert (found.argmax(axis=1) == key).mean() > 0.8
    assert hnd.accuracy(skill, ours.scores_) > 0.6


def test_mace_with_labels_of_their_own_guesses_all_options_alike():
    answers, _, key, skill = crowd(users=20, seed=4)
    own = np.where(answers >= 0, answers + LABELS * np.arange(answers.shape[1]), -1)
    ours = hnd.MACE().fit(make_responses(own))
    # a strategy that no data can move is the same as none
    fixed = hnd.MACE(strategy_prior=1e9).fit(make_responses(answers))
    np.testing.assert_allclose(ours.scores_, fixed.scores_, atol=1e-5)
    assert hnd.accuracy(skill, ours.scores_) > 0.6
    assert (ours.key_probabilities_.reshape(-1, LABELS).argmax(axis=1) == key).mean() > 0.8


def entropy_objective(answers, users, items, penalty):
    """The dual of minimax conditional entropy, the right answers summed out."""
    m, n = answers.shape
    total = 0.0
    for i in range(n):
        logs = np.zeros(LABELS)
        for u in range(m):
            if answers[u, i] >= 0:
                logs += log_softmax(users[u] + items[i], axis=1)[:, answers[u, i]]
        total += logsumexp(logs)
    of_user = penalty * LABELS**2
    return total - of_user / 2 * (users**2).sum() - of_user * n / m / 2 * (items**2).sum()


def test_minimax_entropy_finds_the_top_of_its_dual():
    answers, *_ = crowd(users=5, items=6, missing=0.1, seed=5)
    m, n = answers.shape
    size = LABELS**2
    penalty = 0.25
    fitted = hnd.MinimaxEntropy(tol=1e-8, max_iterations=20_000).fit(make_responses(answers))

    def down(x):
        users, items = x[: m * size], x[m * size :]
        shape = (-1, LABELS, LABELS)
        return -entropy_objective(answers, users.reshape(shape), items.reshape(shape), penalty)

    # a key is a start: from the votes, the first step goes the same way
    start = np.concatenate([np.tile(np.eye(LABELS).ravel() / 10, m), np.zeros(n * size)])
    best = minimize(down, start, method="L-BFGS-B", options={"maxfun": 500_000})
    users = best.x[: m * size].reshape(m, LABELS, LABELS)
    items = best.x[m * size :].reshape(n, LABELS, LABELS)
    logs = np.zeros((n, LABELS))
    for u, i in zip(*np.nonzero(answers >= 0), strict=True):
        logs[i] += log_softmax(users[u] + items[i], axis=1)[:, answers[u, i]]
    truth = np.exp(log_softmax(logs, axis=1))
    np.testing.assert_allclose(fitted.key_probabilities_.reshape(n, LABELS), truth, atol=1e-3)


def test_minimax_entropy_is_not_misled_by_items():
    """Items on which many take one label for another: better than the votes."""
    found = {"minimax-entropy": [], "majority": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        key = rng.integers(0, LABELS, 60)
        skill = rng.uniform(0.4, 0.95, 40)
        hard = rng.uniform(size=60) < 0.3
        right = rng.random((40, 60)) < np.where(hard, 0.55, 1.0) * skill[:, None]
        wrong = np.where(hard, 1, rng.integers(1, LABELS, (40, 60)))
        answers = (key + np.where(right, 0, wrong)) % LABELS
        for method, each in found.items():
            each.append(hnd.accuracy(skill, hnd.rank(answers, method).scores))
    assert np.mean(found["minimax-entropy"]) > np.mean(found["majority"])
    assert np.mean(found["minimax-entropy"]) > 0.8
