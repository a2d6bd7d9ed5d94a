"""Fits side by side are the fits one by one."""

import numpy as np
import pytest
from factory import examples, make_responses, tables
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key import together
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.together import fit_all


def check_same(problems, starts, max_rounds):
    found = fit_all(problems, starts, "", max_rounds=max_rounds)
    for problem, start, fit in zip(problems, starts, found, strict=True):
        alone = problem.fit(start, max_rounds=max_rounds)
        assert (fit.rounds, fit.converged) == (alone.rounds, alone.converged)
        assert fit.problem is problem
        assert fit.evidence == pytest.approx(alone.evidence, rel=1e-9)
        for ours, expected in (
            (fit.key, alone.key),
            (fit.logs, alone.logs),
            (fit.curves.slopes, alone.curves.slopes),
            (fit.posterior.mean, alone.posterior.mean),
        ):
            np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-8)
        for name in ("mean_slope", "var_slope", "mean_intercept", "var_intercept"):
            assert getattr(fit.curves, name) == pytest.approx(getattr(alone.curves, name), rel=1e-7)
    return found


@examples(25)
@given(tables(users=(3, 15), items=(2, 10)), st.integers(0, 99), st.booleans())
def test_from_several_starts_and_with_several_weights(table, seed, strong):
    table = table[(table >= 0).any(axis=1)]
    rng = np.random.default_rng(seed)
    data = open_engine(make_responses(table))
    known = {"strong_user": data.user_labels(np.array([0]))[0]} if strong else {}
    problem = KeyProblem(data, **known)
    starts = list(rng.normal(size=(4, data.n_users)))
    found = check_same([problem] * 4, starts, 25)
    weighed = [problem.weighing(rng.exponential(size=data.n_users)) for _ in range(3)]
    check_same(weighed, found[:1] * 3, 10)


def test_known_answers_and_held_keys_stay():
    rng = np.random.default_rng(5)
    table = rng.integers(0, 3, (20, 8))
    data = open_engine(make_responses(table))
    problem = KeyProblem(data, answers={2: 1, 5: 0})
    starts = list(rng.normal(size=(2, 20)))
    for fit in check_same([problem] * 2, starts, 12):
        np.testing.assert_array_equal(
            fit.key[problem.known >= 0], problem.known[problem.known >= 0]
        )
    check_same([problem.holding(fit.key)] * 2, starts, 12)


def test_large_data_and_other_engines_go_one_by_one(monkeypatch):
    monkeypatch.setattr(together, "_shared", lambda *_: pytest.fail("they shared their rounds"))
    table = np.random.default_rng(0).integers(0, 3, (6000, 4))
    for engine, users in (("numpy", 6000), ("threads", 40)):
        data = open_engine(make_responses(table[:users]), engine)
        starts = list(np.random.default_rng(1).normal(size=(2, users)))
        found = fit_all([KeyProblem(data)] * 2, starts, "", max_rounds=1)
        assert [fit.rounds for fit in found] == [1, 1]
