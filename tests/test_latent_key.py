"""The latent-key model against a naive implementation, and on inputs that break naive ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import naive_key
import numpy as np
import pytest
from cases_of_ability import exam
from factory import examples, make_responses, some, tables
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.stats import norm

from hitsndiffs import accuracy, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key import candidates
from hitsndiffs.methods.latent_key.candidates import Curves
from hitsndiffs.methods.latent_key.grid import (
    STEP,
    THETA,
    normal_log_prior,
    normal_scores,
    posterior_of,
    spread_about,
)
from hitsndiffs.methods.latent_key.model import KeyProblem, weights_of
from hitsndiffs.methods.latent_key.modes import consensus
from hitsndiffs.methods.latent_key.posterior_kernel import compiled_posterior_of
from hitsndiffs.methods.latent_key.problem import START_SD
from hitsndiffs.methods.latent_key.search import correlation, search

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


def problem_of(table, **known):
    r = make_responses(table)
    return KeyProblem(open_engine(r, "numpy"), **known)


def a_start(m, seed=0):
    return np.random.default_rng(seed).normal(size=m)


# -- one round, against the oracle ----------------------------------------------------------------


def compare_a_round(table, monkeypatch, witness=None, known=None, strong=None):
    problem = problem_of(table, answers=known, strong_user=None if strong is None else strong[0])
    if witness is not None:
        problem.weigh(witness)
    start = a_start(len(table))
    # the oracle maximises each candidate to the end; so does the model here
    monkeypatch.setattr(candidates, "fit_curves", partial(candidates.fit_curves, steps=60))
    found = problem.fit(start, max_rounds=1)
    key, posterior, evidence = naive_key.one_round(
        table, spread_about(start, np.full(len(start), START_SD)), witness, known, strong
    )
    np.testing.assert_allclose(found.key, [key[k] for k in sorted(key)], atol=1e-7)
    np.testing.assert_allclose(weights_of(found), posterior, atol=1e-6)
    assert found.evidence == pytest.approx(evidence, rel=1e-7)
    np.testing.assert_allclose(found.posterior.mean, posterior @ naive_key.GRID, atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_one_round_is_that_of_the_oracle(missing, monkeypatch):
    table, _ = exam(2, users=14, items=6, answered=1 - missing)
    compare_a_round(table, monkeypatch)


def test_one_round_with_witness_weights(monkeypatch):
    table, _ = exam(3, users=12, items=5)
    compare_a_round(table, monkeypatch, witness=np.random.default_rng(0).uniform(0.1, 1, 12))


def test_one_round_with_known_answers_and_a_strong_user(monkeypatch):
    table, _ = exam(4, users=12, items=5, answered=0.8)
    prior = np.exp(-0.5 * ((naive_key.GRID - 2.0) / 0.5) ** 2)
    compare_a_round(table, monkeypatch, known={0: 0, 3: 1}, strong=(7, prior / prior.sum()))


def test_counts_alone_are_popularity_and_a_flat_dirichlet():
    table = np.array([[0], [0], [0], [0], [1], [1], [2]])
    problem = problem_of(table)
    # key 0: the others are 1, 1, 2 in order: 2 options, (2! 1!) · 1! / (3+1)!
    expected = [
        np.log(2 / 24) + np.log(5 / 10),
        np.log(24 * 1 / 720) + np.log(3 / 10),
        np.log(24 * 2 / 5040) + np.log(2 / 10),
    ]
    np.testing.assert_allclose(problem.fixed, expected)


@given(tables(users=(5, 25), items=(4, 12)))
@examples(15, usual=15)
def test_the_evidence_does_not_fall(table):
    table = table[(table >= 0).any(axis=1)]
    assume(len(table) > 2)
    problem = problem_of(table)
    start = a_start(len(table))
    fixed = pytest.MonkeyPatch()
    fixed.setattr(Curves, "pooled", lambda curves, *_: curves)  # the population as it is
    try:
        values = [problem.fit(start, max_rounds=n).evidence for n in range(1, 10)]
    finally:
        fixed.undo()
    # Laplace's widths are not part of what a round maximises, so a little may be lost
    assert np.diff(values).min() > -0.02


def test_evidence_and_key_do_not_depend_on_blocks():
    table, _ = exam(5, users=20, items=12)
    start = a_start(20)
    whole = problem_of(table).fit(start, max_rounds=4)
    problem = problem_of(table)
    problem.blocks = candidates.item_blocks(problem.data, 7)
    assert len(problem.blocks) > 4
    parts = problem.fit(start, max_rounds=4)
    np.testing.assert_allclose(parts.key, whole.key, rtol=1e-9)


# -- posteriors on the grid -----------------------------------------------------------------------

FINE = np.linspace(-6, 6, 3001)


@pytest.mark.parametrize("items", some([20, 2000, 150, 60, 400], 3))
def test_posteriors_are_those_of_a_fine_grid_however_narrow(items):
    rng = np.random.default_rng(items)
    slopes, levels = rng.uniform(0.6, 2.0, items), rng.normal(0, 1.2, items)
    ability = rng.uniform(-2, 2, 60)
    right = rng.random((60, items)) < naive_key.sigmoid(np.outer(ability, slopes) + levels)

    def logs(theta):
        eta = np.outer(slopes, theta) + levels[:, None]
        return right @ eta - np.logaddexp(0, eta).sum(axis=0)

    laid, mean_found, sd_found, evidence_found = posterior_of(logs(THETA) + normal_log_prior())
    fine = logs(FINE) - 0.5 * FINE**2 - np.log(np.exp(-0.5 * THETA**2).sum() * STEP)
    top = fine.max(axis=1, keepdims=True)
    raised = np.exp(fine - top)
    weights = raised / raised.sum(axis=1, keepdims=True)
    mean = weights @ FINE
    inside = np.abs(mean) < 2.5  # the coarse grid ends at 4
    sd = np.sqrt(weights @ FINE**2 - mean**2)
    step = FINE[1] - FINE[0]
    assert (np.abs(mean_found - mean) < 1e-3 + 0.01 * sd)[inside].all()  # for any draw
    np.testing.assert_allclose(sd_found[inside], sd[inside], rtol=0.03)
    evidence = (top[:, 0] + np.log(raised.sum(axis=1) * step))[inside]
    np.testing.assert_allclose(evidence_found[inside], evidence, rtol=1e-4, atol=0.01)
    np.testing.assert_allclose(laid.sum(axis=1), 1)
    np.testing.assert_allclose(laid @ THETA, mean_found, atol=1e-9)
    assert (laid >= -1e-12).all()


@given(tables(users=(1, 6), items=(1, 3)))
@examples(15, usual=15)
def test_any_log_values_give_a_proper_posterior(table):
    rng = np.random.default_rng(int(np.abs(table).sum()))
    logs = rng.normal(scale=10.0 ** rng.integers(-3, 5), size=(20, len(THETA)))
    weights, mean, sd, log_evidence = posterior_of(logs)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights >= -1e-12).all()
    assert (np.abs(mean) <= 4).all()
    assert np.isfinite(sd).all()
    assert np.isfinite(log_evidence).all()


def test_ties_start_at_the_same_place():
    data = open_engine(make_responses(np.zeros((4, 1), dtype=int)))
    scores = normal_scores(data, np.array([0.1, 0.5, 0.5, 0.9]))
    np.testing.assert_allclose(scores, norm.ppf([1 / 8, 1 / 2, 1 / 2, 7 / 8]), atol=1e-8)
    assert scores[1] == scores[2]
    found = spread_about(scores, np.full(4, START_SD))
    assert (np.diff(found[[0, 1, 3]] @ THETA) > 0.3).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


# -- inputs that break things ---------------------------------------------------------------------

rng = np.random.default_rng(0)
ODD = {
    "two users": np.array([[0, 0, 1, 2], [0, 1, 1, 0]]),
    "one item": np.array([[0], [0], [1], [2], [0]]),
    "all identical": np.zeros((6, 4), dtype=int),
    "nobody agrees": np.tile(np.arange(12)[:, None], (1, 5)),
    "every option once": rng.permuted(np.tile(np.arange(10)[:, None], (1, 4)), axis=0),
    "users who answered once": np.where(np.eye(9, 6, dtype=bool), 0, -1) + 0,
    "one user": np.array([[0, 1, 2]]),
    "three users, two items": np.array([[0, 0], [0, 1], [1, 1]]),
    "hundreds of items": rng.integers(0, 2, (5, 300)),
}
ODD["users who answered once"][6:] = [[0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("name", list(ODD))
def test_it_is_safe_on_any_input(name):
    with np.errstate(all="raise", under="ignore"):
        ranking = rank(make_responses(ODD[name]), "latent-key", resamples=2)
    assert np.isfinite(ranking.scores).all()
    assert ((ranking.scores >= 0) & (ranking.scores <= 1)).all()
    assert np.isfinite(ranking.abilities).all()
    assert (ranking.fit.ability_errors > 0).all()
    assert np.isfinite(ranking.standard_errors).all()
    assert np.isfinite(ranking.fit.key_probabilities).all()
    assert 0 <= ranking.confidence <= 1


@given(tables(users=(2, 15), items=(1, 8)))
@examples(10, usual=10)
def test_users_with_equal_answers_get_equal_results(table):
    table = np.vstack([table, table[:2]])
    ranking = rank(make_responses(table), "latent-key", resamples=2)
    np.testing.assert_allclose(ranking.scores[-2:], ranking.scores[:2], atol=1e-8)
    np.testing.assert_allclose(ranking.abilities[-2:], ranking.abilities[:2], atol=1e-6)


# -- what it finds --------------------------------------------------------------------------------


def test_it_finds_key_and_order_of_a_test():
    table, ability = exam(6)
    ranking = rank(make_responses(table), "latent-key")
    assert accuracy(ability, ranking.scores) > 0.85
    assert np.mean([option == 0 for option in ranking.answer_key().values()]) > 0.9
    assert accuracy((table == 0).mean(axis=1), ranking.scores) > 0.95
    solutions = ranking.fit.learnt.solutions
    assert solutions[0].evidence == max(s.evidence for s in solutions)
    starts = [name for s in solutions for name in s.starts]
    assert len(starts) == len(set(starts))
    axes = {f"axis {a}{way}" for a in (1, 2, 3) for way in ("", " reversed")}
    assert axes | {"consensus"} <= set(starts)


def test_known_answers_are_certain_and_a_strong_user_is_high():
    table, _ = exam(7, users=40, items=15)
    r = make_responses(table)
    told = rank(r, "latent-key", answers={0: 0, 4: 2}, resamples=2)
    key = told.answer_key(with_confidence=True)
    assert key[0] == (0, 1.0)
    assert key[4] == (2, 1.0)
    weakest = int(np.argmin((table == 0).sum(axis=1)))
    before = rank(r, "latent-key", resamples=2).abilities[weakest]
    after = rank(r, "latent-key", strong_user=weakest, resamples=2).abilities
    assert after[weakest] > before + 0.5


def test_a_known_answer_that_nobody_gave_is_no_other_options_glory():
    table, _ = exam(7, users=40, items=15)
    r = make_responses(table)
    told = rank(r, "latent-key", answers={3: "none of these"})
    assert 3 not in told.answer_key()
    assert set(told.answer_key()) == set(range(15)) - {3}
    assert np.isfinite(told.scores).all()
    told.to_json()
    item = r.option_items == 3
    assert (told.fit.option_weights[item] == 0).all()  # everybody was wrong there
    assert told.fit.option_weights[~item].sum() == pytest.approx(14)


def test_consensus_weighs_users_by_how_often_they_agree():
    table, ability = exam(8, users=60, items=25)
    p = consensus(problem_of(table))
    assert accuracy(ability, p) > 0.8
    assert ((p > 0) & (p < 1)).all()


def test_modes_are_distinct_and_the_rival_disagrees():
    table, _ = exam(9, users=60, items=20)
    r = make_responses(table)
    found = search(open_engine(r, "numpy"))
    means = [mode.fit.posterior.mean for mode in found.modes]
    for k, mean in enumerate(means):
        assert all(correlation(mean, other) <= 0.99 for other in means[:k])
    if found.rival is not None:
        assert correlation(found.rival.fit.posterior.mean, means[0]) < 0.5
        assert found.lead == pytest.approx(found.best.evidence - found.rival.evidence)
    tied = replace(found, modes=[found.modes[0], found.modes[0]])
    assert tied.rival is None


def test_many_users_are_fitted_quickly():
    table, ability = exam(10, users=20_000, items=20)
    problem = problem_of(table)
    found = problem.fit(normal_scores(problem.data, consensus(problem)), max_rounds=6)
    assert accuracy(ability, found.posterior.mean) > 0.8


@example(seed=2307578, sharpness=18.0, skewness=0.25, n_points=21)
@given(
    seed=st.integers(0, 2**32 - 1),
    sharpness=st.floats(0.01, 200.0),
    skewness=st.floats(-0.5, 0.5),
    n_points=st.sampled_from([7, 21]),
)
def test_compiled_posteriors_are_those_of_numpy(seed, sharpness, skewness, n_points):
    rng = np.random.default_rng(seed)
    points = np.linspace(-4, 4, n_points)
    middle = rng.normal(scale=2, size=(40, 1))
    off = points - middle
    logs = -sharpness * rng.uniform(0, 1, (40, 1)) * (off**2 + skewness * off**3 / 8)
    compiled, plain = compiled_posterior_of(logs, points), posterior_of(logs, points)
    for place in (0, 1, 3):  # weights, means, log evidence
        np.testing.assert_allclose(compiled[place], plain[place], rtol=1e-9, atol=1e-11)
    # variances are differences of squares: it is they that rounding leaves exact, not their roots
    np.testing.assert_allclose(compiled[2] ** 2, plain[2] ** 2, rtol=1e-9, atol=1e-12)
