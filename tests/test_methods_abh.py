"""ABH: its solvers against each other, against a dense eigen-solver, and on consistent data."""

from __future__ import annotations

import naive_spectral as naive
import numpy as np
import pytest
from c1p_cases import consistent_answers
from factory import examples, make_responses, random_answers
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods import ABH, HND
from hitsndiffs.methods.abh import _standard_errors
from hitsndiffs.results.metrics import accuracy
from hitsndiffs.spectral import FIEDLER_SOLVERS, Averaging, Laplacian, fiedler


def laplacian(answers):
    return naive.L(naive.C(answers))


def same_up_to_sign(a, b, tolerance):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return min(np.abs(a - b).max(), np.abs(a + b).max()) <= tolerance


@pytest.mark.parametrize("solver", FIEDLER_SOLVERS)
@pytest.mark.parametrize(("users", "missing"), [(12, 0.0), (30, 0.3), (420, 0.1)])
def test_every_solver_finds_the_fiedler_vector(solver, users, missing):
    answers = random_answers(users, 15, 3, missing, seed=1)
    values, vectors = np.linalg.eigh(laplacian(answers))
    r = make_responses(answers)
    found = fiedler(open_engine(r), solver, tol=1e-10)
    assert found.converged
    assert found.value == pytest.approx(values[1], rel=1e-8)
    v = found.vector - found.vector.mean()
    assert same_up_to_sign(v, vectors[:, 1], 1e-4)


def test_direct_iterates_on_the_dense_matrix_when_it_is_large():
    answers = random_answers(300, 15, 3, seed=2)
    r = make_responses(answers)
    found = fiedler(open_engine(r), "direct", eigh_up_to=100)
    values, vectors = np.linalg.eigh(laplacian(answers))
    assert found.values == pytest.approx(values[1:3], rel=1e-9)
    assert same_up_to_sign(found.vector, vectors[:, 1], 1e-6)


@examples(25)
@given(st.integers(4, 25), st.integers(0, 10_000), st.sampled_from(FIEDLER_SOLVERS))
def test_consistent_answers_are_put_in_order(users, seed, solver):
    answers, ability = consistent_answers(users, 60, 3, np.random.default_rng(seed))
    fitted = ABH(solver=solver, tol=1e-11).fit(make_responses(answers))
    scores = fitted.scores_[np.argsort(ability)]
    steps = np.diff(scores if scores[-1] >= scores[0] else scores[::-1])
    assert steps.min() > -1e-6 * np.abs(scores).max()


def test_scores_are_an_eigenvector_and_so_are_their_weights():
    answers = random_answers(25, 12, 3, seed=3)
    r = make_responses(answers)
    fitted = ABH().fit(r)
    value = fitted.fit_.eigenvalue
    s = fitted.scores_
    np.testing.assert_allclose(laplacian(answers) @ s, value * s, atol=1e-6 * value)
    C = naive.C(answers)
    np.testing.assert_allclose(fitted.option_weights_, C.T @ s / C.sum(axis=0), atol=1e-12)
    d = laplacian(answers).diagonal() + C.sum(axis=1)
    reported = d.max() * (1 - fitted.fit_.eigenvalues)
    np.testing.assert_allclose(reported, np.linalg.eigvalsh(laplacian(answers))[1:3], rtol=1e-9)


def test_standard_errors_are_those_of_a_ratio_of_item_sums():
    answers = random_answers(14, 9, 3, 0.2, seed=4)
    r = make_responses(answers)
    sums = open_engine(r)
    fitted = ABH().fit(r)
    s, value = fitted.scores_, fitted.fit_.eigenvalue
    C = naive.C(answers)
    expected = []
    for j in range(len(C)):
        chosen = np.flatnonzero(C[j])
        counts = C.sum(axis=0)[chosen]
        residuals = (C.T @ s)[chosen] - s[j] * counts
        spread = residuals.var(ddof=1) if len(chosen) > 1 else np.nan
        expected.append(np.sqrt(len(chosen) * spread) / (counts.sum() - value))
    np.testing.assert_allclose(fitted.standard_errors_, expected, rtol=1e-6)
    again = _standard_errors(Laplacian.of(sums), Averaging.of(sums), -s, value)
    np.testing.assert_allclose(again, expected, rtol=1e-6)


def test_a_larger_shift_takes_more_rounds_to_the_same_vector():
    r = make_responses(consistent_answers(30, 40, 3, np.random.default_rng(1))[0])
    usual = ABH(solver="power", tol=1e-9).fit(r)
    largest = float(Laplacian.of(open_engine(r)).degrees.max())
    slow = ABH(solver="power", tol=1e-9, beta=4 * largest).fit(r)
    assert slow.n_iterations_ > 2 * usual.n_iterations_
    np.testing.assert_allclose(slow.scores_, usual.scores_, atol=1e-4)


def test_power_that_is_cut_short_says_so():
    r = make_responses(random_answers(20, 10, 3, seed=1))
    with pytest.warns(ConvergenceWarning, match="abh stopped after 3 rounds"):
        ABH(solver="power", max_iterations=3).fit(r)


def test_direct_refuses_what_would_not_fit():
    r = make_responses(random_answers(20_001, 3, 3))
    with pytest.raises(InputError, match="use the solver lanczos"):
        ABH(solver="direct").fit(r)
    with pytest.raises(InputError, match="use the solver lanczos"):
        HND(solver="arnoldi").fit(r)


def test_lanczos_settles_with_many_users():
    rng = np.random.default_rng(0)
    ability = rng.random(20_000)
    p = 1 / (1 + np.exp(-6 * (ability[:, None] - rng.random(50))))
    r = make_responses((rng.random(p.shape) < p).astype(int))
    fitted = ABH().fit(r)
    assert fitted.converged_
    assert fitted.n_iterations_ < 1000
    assert fitted.fit_.residual < 1e-7


def test_known_answers_and_strong_users_turn_the_order():
    answers, ability = consistent_answers(20, 30, 3, np.random.default_rng(5))
    r = make_responses(answers)
    best = int(np.argmax(ability))
    assert accuracy(ability, ABH(strong_user=best).fit(r).scores_) > 0.9
    upside_down = ABH(strong_user=int(np.argmin(ability))).fit(r)
    assert accuracy(ability, upside_down.scores_) < -0.9
    key = {i: int(answers[:, i].max()) for i in range(30)}
    assert accuracy(ability, ABH(answers=key).fit(r).scores_) > 0.9
