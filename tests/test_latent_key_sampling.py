"""Many users: solutions are looked for in a sample, and hold for all."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam as an_exam
from cases_of_ability import with_own_letters
from factory import make_responses

from hitsndiffs import rank
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import ThreadsEngine
from hitsndiffs.methods.latent_key import model, sampling
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.sampling import take_sample


def exam(seed, **sizes):
    table, ability = an_exam(seed, **sizes)
    return with_own_letters(table), ability


@pytest.fixture
def few_are_many(monkeypatch):
    """Samples of about 400 users, so that small tables serve."""
    monkeypatch.setattr(KeyProblem, "sampled_users", 400)
    monkeypatch.setattr(sampling, "ANSWERS", 200)
    monkeypatch.setattr(model, "MANY_USERS", 400)


def problem_of(r, **known):
    return KeyProblem(open_engine(r), **known)


@pytest.mark.parametrize("answered", [1.0, 0.7, 0.3])
def test_a_sample_leads_to_the_same_solution(answered, monkeypatch, few_are_many):
    r = make_responses(exam(3, users=3000, items=20, answered=answered)[0])
    assert len(take_sample(problem_of(r)).users) < 1500
    quick = rank(r, "latent-key")
    monkeypatch.setattr(KeyProblem, "sampled_users", 10_000)
    assert take_sample(problem_of(r)).is_whole
    slow = rank(r, "latent-key")
    assert quick.answer_key() == slow.answer_key()
    np.testing.assert_allclose(quick.scores, slow.scores, atol=0.01)
    np.testing.assert_allclose(quick.abilities, slow.abilities, atol=0.05)
    assert abs(quick.confidence - slow.confidence) < 0.02


def test_the_sample_holds_the_answers_of_its_users(few_are_many):
    r = make_responses(exam(4, users=2000, items=12, answered=0.8)[0])
    problem = problem_of(r, strong_user=r.users[7], answers={3: 0})
    sample = take_sample(problem)
    assert 200 < len(sample.users) < 800
    assert 7 in sample.users
    part = sample.problem.data.responses
    assert part.n_options == r.n_options
    np.testing.assert_array_equal(part.users, r.users[sample.users])
    weights = np.random.default_rng(0).random(r.n_options)
    np.testing.assert_allclose(
        sample.problem.data.choices(weights), problem.data.choices(weights)[sample.users]
    )
    np.testing.assert_array_equal(sample.problem.known, problem.known)
    assert sample.users[sample.problem.strong] == 7


def test_the_sample_does_not_depend_on_the_order_of_the_users(few_are_many):
    table, _ = exam(5, users=1500, items=10)
    order = np.random.default_rng(1).permutation(len(table))
    one, other = make_responses(table), make_responses(table[order])
    chosen = take_sample(problem_of(one)).users
    again = take_sample(problem_of(other)).users
    assert sorted(order[again]) == chosen.tolist()


@pytest.mark.parametrize("answered", [1.0, 0.6])
def test_some_of_many_items_lead_to_the_same_solution(answered, monkeypatch):
    monkeypatch.setattr(sampling, "ITEMS", 150)
    monkeypatch.setattr(sampling, "ANSWERS_OF_USER", 50)
    monkeypatch.setattr(model, "MANY_ITEMS", 300)
    r = make_responses(exam(7, users=25, items=900, answered=answered)[0])
    problem = problem_of(r, strong_user=r.users[3], answers={5: 0})
    sample = take_sample(problem)
    part = sample.problem
    assert part.data.n_items == 150
    assert part.strong == 3
    np.testing.assert_array_equal(part.known >= 0, (part.items.labels == 5)[part.items.of_option])
    quick = rank(r, "latent-key")
    monkeypatch.setattr(sampling, "ITEMS", 10_000)
    assert take_sample(problem).is_whole
    slow = rank(r, "latent-key")
    same = [quick.answer_key()[item] == slow.answer_key()[item] for item in slow.answer_key()]
    assert np.mean(same) > 0.995
    np.testing.assert_allclose(quick.scores, slow.scores, atol=0.002)
    assert abs(quick.confidence - slow.confidence) < 0.02


def test_items_with_few_answers_want_more_users(few_are_many):
    table, _ = exam(6, users=2000, items=60, answered=0.05)  # about 100 answers per item
    assert take_sample(problem_of(make_responses(table))).is_whole


@pytest.mark.parametrize("layout", ["packed", "sparse"])
def test_posteriors_in_blocks_are_those_of_all_rows_at_once(layout):
    """The threaded engine works block of users by block of users."""
    r = make_responses(exam(8, users=3000, items=12, answered=0.8)[0])
    start = np.random.default_rng(2).normal(size=r.n_users)
    whole, parts = (
        KeyProblem(data, strong_user=5).fit(start, max_rounds=3)
        for data in (NumpyEngine(r), ThreadsEngine(r, 2, layout=layout))
    )
    np.testing.assert_allclose(parts.key, whole.key, rtol=1e-9, atol=1e-12)
    assert parts.evidence == pytest.approx(whole.evidence, rel=1e-12)
    np.testing.assert_allclose(parts.weights(), whole.weights(), rtol=1e-9, atol=1e-12)
    for name in ("mean", "sd", "log_evidence"):
        np.testing.assert_allclose(
            getattr(parts.posterior, name), getattr(whole.posterior, name), rtol=1e-9
        )
