"""Operators, leading axes and solvers against dense matrices written from the paper."""

from __future__ import annotations

from functools import cache

import naive_spectral as naive
import numpy as np
import pytest
from factory import c1p_table, consistent_tables, examples, make_responses, random_table, tables
from hypothesis import assume, given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.errors import InputError
from hitsndiffs.spectral import SOLVERS, Averaging, Laplacian, leading_axes, solve
from hitsndiffs.spectral.solvers import iterate


def answered(table):
    """Only users with answers (the operators are defined for those)."""
    table = table[(table >= 0).any(axis=1)]
    assume(len(table) >= 2)
    return table


def opened(table, **kwargs):
    r = make_responses(table, **kwargs)
    return open_engine(r)


def cosine(a, b):
    return abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b)


def is_same_axis(a, b, tol):
    """Equal up to shift, scale and sign."""
    a, b = a - a.mean(), b - b.mean()
    return cosine(a, b) > 1 - tol


# -- the paper's matrices ------------------------------------------------------------------------


@given(tables())
@examples(60)
def test_operators_are_the_papers_matrices(table):
    table = answered(table)
    c = naive.C(table)
    sums = opened(table)
    np.testing.assert_allclose(Averaging.of(sums).dense(), naive.U(c), atol=1e-12)
    np.testing.assert_allclose(Laplacian.of(sums).dense(), naive.L(c), atol=1e-9)


@given(tables())
@examples(60)
def test_rows_of_u_sum_to_one_and_answer_counts_are_stationary(table):
    table = answered(table)
    sums = opened(table)
    U = Averaging.of(sums)
    np.testing.assert_allclose(U(np.ones(len(table))), 1.0)
    np.testing.assert_allclose(U.stationary @ U.dense(), U.stationary, atol=1e-12)


@given(tables(missing=False))
@examples(40)
def test_u_is_symmetric_for_equal_answer_counts(table):
    sums = opened(table)
    u = Averaging.of(sums).dense()
    np.testing.assert_allclose(u, u.T, atol=1e-12)


def test_u_is_not_symmetric_for_unequal_answer_counts():
    sums = opened([[0, 0], [0, -1], [1, 0]])
    u = Averaging.of(sums).dense()
    assert np.abs(u - u.T).max() > 0.1


@given(tables())
@examples(60)
def test_u_is_similar_to_a_symmetric_matrix_with_eigenvalues_from_0_to_1(table):
    c = naive.C(answered(table))
    of_u = np.sort(np.linalg.eigvals(naive.U(c)).real)
    symmetric = np.linalg.eigvalsh(naive.symmetric(c))
    np.testing.assert_allclose(of_u, symmetric, atol=1e-7)
    assert symmetric.min() > -1e-9
    assert symmetric.max() == pytest.approx(1.0)


@given(tables())
@examples(60)
def test_lemma_1_differences_of_eigenvectors_of_u_are_eigenvectors_of_u_diff(table):
    c = naive.C(answered(table))
    m = len(c)
    np.testing.assert_allclose(
        naive.T(m) @ naive.S(m), np.eye(m) - np.outer(np.ones(m), np.eye(m)[0])
    )
    values, vectors = np.linalg.eig(naive.U(c))
    u_diff = naive.U_diff(c)
    for value, x in zip(values.real, vectors.real.T, strict=True):
        y = naive.S(m) @ x
        np.testing.assert_allclose(u_diff @ y, value * y, atol=1e-7)
    # and U_diff has no other eigenvalues: those of U without one 1
    of_diff = np.sort(np.linalg.eigvals(u_diff).real)
    np.testing.assert_allclose(of_diff, np.sort(values.real)[:-1], atol=1e-6)


@given(consistent_tables())
@examples(40)
def test_u_is_an_r_matrix_and_u_diff_non_negative_on_consistent_answers(table):
    c = naive.C(table)
    assert naive.is_P_matrix(c)
    sums = opened(table)
    assert naive.is_R_matrix(Averaging.of(sums).dense())
    assert naive.U_diff(c).min() > -1e-12


def test_the_r_matrix_check_can_fail():
    c = naive.C(c1p_table(0, 12, 8, 3))
    assert not naive.is_R_matrix(naive.U(c[[5, 0, 9, 3, 1, 7, 2, 11, 4, 6, 8, 10]]))


# -- solvers -------------------------------------------------------------------------------------


def well_separated(table):
    table = answered(table)
    assume(naive.connected(table))
    values, vector = naive.second_axis(naive.C(table))
    assume(values[1] > 1e-3)
    assume(len(values) < 3 or values[1] - values[2] > 0.02 * values[1])
    return table, values[1], vector


@given(tables(items=(2, 12)), st.sampled_from(SOLVERS))
@examples(120)
def test_solvers_find_the_second_axis_of_u(table, solver):
    table, value, vector = well_separated(table)
    found = solve(opened(table), solver)
    assert found.converged
    assert found.value == pytest.approx(value, abs=1e-6)
    assert is_same_axis(found.vector, vector, 1e-8)


@cache
def larger(*shape):
    """Answers, and the second axis of their matrix."""
    table = random_table(3, *shape, missing=0.2)
    table = table[(table >= 0).any(axis=1)]
    return table, naive.second_axis(naive.C(table))[1]


@pytest.mark.xdist_group("larger data")  # each axis is found once
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(500, 6, 3), (450, 300, 2), (520, 120, 4)])
def test_solvers_agree_on_larger_data(solver, shape):
    """Beyond the sizes that are solved densely, on the options' side and on the users'."""
    table, vector = larger(*shape)
    found = solve(opened(table), solver)
    assert found.converged
    assert is_same_axis(found.vector, vector, 1e-8)


def test_power_is_algorithm_1():
    """The same number of rounds from the same start gives the same scores."""
    table = random_table(5, 14, 6, 3)
    sums = opened(table)
    start = np.random.default_rng(7).uniform(size=13)
    found = solve(sums, "power", seed=7, tol=0.0, max_iterations=9)
    np.testing.assert_allclose(
        found.vector, naive.algorithm_1(naive.C(table), start, 9), atol=1e-12
    )
    assert found.iterations == 9
    assert not found.converged


def test_deflation_counts_the_rounds_of_both_vectors():
    """The left eigenvector takes a power iteration of its own."""
    data = opened(random_table(5, 200, 40, 3, missing=0.2))
    power, deflation = (
        solve(data, solver, tol=1e-5).iterations for solver in ("power", "deflation")
    )
    assert deflation > power + 2
    # the left eigenvector is the one that is known: the answer counts
    U = Averaging.of(data)
    np.testing.assert_allclose(U.transposed(U.stationary), U.stationary, atol=1e-14)


def test_solver_is_deterministic_under_its_seed():
    sums = opened(random_table(5, 14, 6, 3))
    for solver in SOLVERS:
        first, again = (solve(sums, solver, seed=4).vector for _ in range(2))
        np.testing.assert_array_equal(first, again)


def test_unknown_solver_says_what_there_is():
    said = r"lanczos, power, arnoldi, deflation; got 'magic'"
    with pytest.raises(InputError, match=said):
        solve(opened([[0, 1], [0, 0]]), "magic")


def test_direct_solver_refuses_what_does_not_fit():
    with pytest.raises(InputError, match="at most 20,000 users"):
        solve(opened(np.arange(20_001)[:, None] % 2), "arnoldi")


def test_iterate_ends_at_zero():
    found = iterate(lambda d: 0 * d, np.ones(3), 1e-8, 10)
    assert (found.value, found.iterations, found.residual, found.converged) == (0.0, 1, 0.0, True)
    np.testing.assert_allclose(found.vector, np.ones(3) / np.sqrt(3))


# -- leading axes --------------------------------------------------------------------------------


def dense_axes(table, lam=0.0, mu=0.0, centred=False):
    """The definition: options get shrunken deviations, users get shrunken means of them."""
    c = naive.C(table)
    answers, counts = c.sum(axis=1), c.sum(axis=0)
    a = c / np.sqrt(answers + mu)[:, None] / np.sqrt(counts + lam)
    if centred:
        item = np.concatenate(
            [np.full(len(set(col.tolist()) - {-1}), i) for i, col in enumerate(table.T)]
        )
        same = (item[:, None] == item).astype(float)
        q = np.eye(len(counts)) - same * counts / (same @ counts)[:, None]
        half = np.sqrt(counts + lam)
        a = (a * half) @ q / half
    else:
        for side in (0, 1):
            # the mean over all answers: of the scores, and of the weights
            k = answers / np.sqrt(answers + mu) if side == 0 else counts / np.sqrt(counts + lam)
            k = k / np.linalg.norm(k)
            a = a - np.outer(k, k @ a) if side == 0 else a - np.outer(a @ k, k)
    values, vectors = np.linalg.eigh(a @ a.T)
    return values[::-1], vectors[:, ::-1] / np.sqrt(answers + mu)[:, None]


CASES = st.fixed_dictionaries(
    {
        "lam": st.sampled_from([0.0, 0.3, 5.0]),
        "mu": st.sampled_from([0.0, 0.7, 4.0]),
        "centred": st.booleans(),
    }
)


def check_axes(table, found, values, vectors):
    held = int((values > 1e-10).sum())
    n = len(found.values)
    assert n == min(2, held)
    np.testing.assert_allclose(found.values, values[:n], atol=1e-9)
    if n and (held == 1 or values[0] - values[1] > 1e-3 * values[0]):
        assert cosine(found.scores[:, 0], vectors[:, 0]) > 1 - 1e-8
        assert found.residual < 1e-8
        assert found.converged


@given(tables(), CASES)
@examples(120)
def test_leading_axes_are_those_of_the_dense_matrix(table, how):
    table = answered(table)
    values, vectors = dense_axes(table, **how)
    check_axes(table, leading_axes(opened(table), 2, **how), values, vectors)


@pytest.mark.parametrize("how", [{}, {"lam": 2.0, "mu": 1.0}, {"lam": 2.0, "centred": True}])
@pytest.mark.parametrize("shape", [(60, 3, 3), (20, 15, 4)], ids=["options' side", "users' side"])
def test_lanczos_finds_what_the_dense_solver_finds(shape, how):
    table = random_table(2, *shape, missing=0.3)
    table = table[(table >= 0).any(axis=1)]
    sums = opened(table)
    dense = leading_axes(sums, 2, **how)
    check_axes(table, dense, *dense_axes(table, **how))
    lanczos = leading_axes(sums, 2, dense_up_to=0, **how)
    np.testing.assert_allclose(lanczos.values, dense.values, rtol=1e-8)
    for axis in range(2):
        assert cosine(lanczos.scores[:, axis], dense.scores[:, axis]) > 1 - 1e-8


@given(tables(missing=False, items=(2, 10)))
@examples(40)
def test_centring_changes_nothing_on_complete_data(table):
    sums = opened(table)
    plain, centred = (leading_axes(sums, 2, centred=c) for c in (False, True))
    assert len(plain.values) == len(centred.values)
    np.testing.assert_allclose(plain.values, centred.values, atol=1e-9)
    if len(plain.values) and (len(plain.values) == 1 or np.ptp(plain.values) > 1e-3):
        assert cosine(plain.scores[:, 0], centred.scores[:, 0]) > 1 - 1e-8


def test_centring_takes_away_who_answered_what():
    """Two halves that answered different items but for one: the first plain axis parts them."""
    table = random_table(0, 40, 12, 3)
    table[:20, :5] = -1
    table[20:, 5:11] = -1
    sums = opened(table)
    half = np.repeat([1.0, -1.0], 20)
    plain, centred = (leading_axes(sums, 1, centred=c).scores[:, 0] for c in (False, True))
    assert cosine(plain - plain.mean(), half) > 0.9
    assert cosine(centred - centred.mean(), half) < 0.5


@pytest.mark.parametrize("shape", [(2, 3), (5, 3), (40, 1), (600, 2)])
def test_identical_users_have_no_axis(shape):
    found = leading_axes(opened(np.zeros(shape, dtype=int)), 2)
    assert found.values.shape == (0,)
    assert found.scores.shape == (shape[0], 0)
    assert found.converged


def test_unfinished_lanczos_keeps_an_iterate_and_says_so():
    sums = opened(random_table(1, 300, 200, 3, graded=False))
    found = leading_axes(sums, 2, max_iterations=1, tol=1e-14, dense_up_to=0)
    assert not found.converged
    assert found.residual > 1e-6
    assert 0 < found.values[0] < 1
    assert np.isfinite(found.scores).all()


def test_sparse_and_dense_layouts_give_the_same_axes():
    table = random_table(9, 30, 8, 3, missing=0.3)
    table = table[(table >= 0).any(axis=1)]
    a, b = (leading_axes(opened(table, sparse=s), 2) for s in (False, True))
    np.testing.assert_allclose(a.values, b.values)
    np.testing.assert_allclose(a.scores, b.scores, atol=1e-12)
