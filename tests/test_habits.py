"""Answering habits as part of the latent-key model."""

import numpy as np
import pytest
from engine_cases import ELSEWHERE, quick
from factory import make_responses, some

from hitsndiffs import accuracy, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.habits import HabitProblem, habits_of
from hitsndiffs.methods.latent_key.model import KeyProblem, Sizes, weights_of
from hitsndiffs.methods.latent_key.search import search


def a_test(seed, users=80, items=20, options=3):
    """A test in which many weak users answer one letter to half of the items or more."""
    rng = np.random.default_rng(seed)
    ability = rng.standard_normal(users)
    key = rng.integers(options, size=items)
    knows = rng.random((users, items)) < 1 / (1 + np.exp(-1.5 * ability[:, None]))
    codes = np.where(knows, key, rng.integers(options, size=(users, items)))
    habit = (ability < 0) & (rng.random(users) < 0.6)
    lazy = rng.random((users, items)) < rng.uniform(0.5, 1.0, users)[:, None]
    codes = np.where(habit[:, None] & lazy, 1, codes)
    return codes, key, habit


def test_without_habits_the_model_is_the_latent_key():
    codes, _, _ = a_test(1)
    data = open_engine(make_responses(codes))
    score = np.linspace(-1, 1, data.n_users)
    plain = KeyProblem(data).fit(score, max_rounds=12)
    none = HabitProblem(data, labels=()).fit(score, max_rounds=12)
    assert none.evidence == pytest.approx(plain.evidence, abs=1e-6)
    assert none.key == pytest.approx(plain.key, abs=1e-6)
    assert none.posterior.mean == pytest.approx(plain.posterior.mean, abs=1e-6)
    assert none.probabilities() == pytest.approx(plain.probabilities())
    assert weights_of(none) == pytest.approx(weights_of(plain))


def test_probabilities_of_every_class_sum_to_one():
    codes, _, _ = a_test(2)
    data = open_engine(make_responses(codes))
    fit = HabitProblem(data, labels=(0, 1)).fit(np.linspace(-1, 1, data.n_users), max_rounds=5)
    assert data.items.total(fit.probabilities()) == pytest.approx(1.0)


@pytest.mark.parametrize("engine", ["strict", "cupy"])
def test_habits_are_found_where_user_arrays_are_not_those_of_numpy(engine):
    made = make_responses(a_test(1)[0])
    expected = quick("latent-key").fit(made)
    found = quick("latent-key").fit(ELSEWHERE[engine](made))
    assert any("whatever is asked" in note for note in expected.fit_.notes)
    assert found.fit_.notes == expected.fit_.notes
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=1e-6)


@pytest.mark.parametrize("seed", some(range(4), 1))
def test_habits_are_told_from_ability(seed):
    codes, key, habit = a_test(seed)
    truth = (codes == key).mean(axis=1)
    found = search(open_engine(make_responses(codes)))
    assert isinstance(found.problem, HabitProblem)
    chance = 1 - found.best.fit.described[:, 3]
    assert chance[habit].mean() > 0.8
    assert chance[~habit].mean() < 0.3
    assert accuracy(truth, rank(make_responses(codes), resamples=2).scores) > 0.9


def test_many_users_with_habits(monkeypatch):
    """A sample finds them, on an engine with compiled steps as without."""
    few = Sizes(sample_users=500, sample_answers=250, many_users=1_000)  # as if that were many
    monkeypatch.setattr(HabitProblem, "usual_sizes", few)
    codes, key, _ = a_test(0, users=1_300)
    r = make_responses(codes)
    found = search(open_engine(r))
    assert found.sample is not None
    assert isinstance(found.sample.whole, HabitProblem)
    assert found.sample.whole.data.n_users == 1_300
    best = np.maximum.reduceat(found.best.fit.key, found.problem.items.starts[:-1])
    right = found.best.fit.key[found.problem.items.starts[:-1] + key]
    assert (right == best).mean() > 0.9
    score = np.linspace(-1, 1, r.n_users)
    by_engine = [
        HabitProblem(open_engine(r, engine), labels=(1,)).fit(score, max_rounds=3)
        for engine in ("numpy", "threads")
    ]
    numpy, threads = by_engine
    assert threads.evidence == pytest.approx(numpy.evidence)
    assert threads.described == pytest.approx(numpy.described, abs=1e-7)


def test_few_habits_do_not_matter():
    codes, _, habit = a_test(3)
    assert habits_of(open_engine(make_responses(codes[~habit]))) is None


def test_a_solution_of_some_users_is_taken_for_all():
    codes, _, _ = a_test(4, users=60)
    r = make_responses(codes)
    whole = HabitProblem(open_engine(r), labels=(1,))
    part, _ = whole.data.subset(np.arange(30), keep_options=True)
    some = whole.part(part, np.ones(30), np.arange(whole.data.n_options))
    fit = some.fit(np.linspace(-1, 1, 30), max_rounds=5)
    everybody = whole.applied(fit)
    assert everybody.posterior.mean[:30] == pytest.approx(fit.posterior.mean)
