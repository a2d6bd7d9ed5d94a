"""GLAD, MACE and minimax entropy against other implementations and naive optimisers."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from factory import make_responses
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logsumexp

import hitsndiffs as hnd

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
