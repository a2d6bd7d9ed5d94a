"""Lanczos and Davidson iterations against the dense solver, on spectra of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from factory import c1p_table, examples, random_answers, some
from hypothesis import given
from hypothesis import strategies as st
from naive_methods import one_hot

from hitsndiffs.spectral.lanczos import highest_pairs

seeds = st.integers(0, 10_000)


def matrix_with(spectrum, seed=0):
    """A symmetric matrix with these eigenvalues and random axes."""
    size = len(spectrum)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]
    matrix = (turn * np.asarray(spectrum, dtype=float)) @ turn.T
    return (matrix + matrix.T) / 2


def check_pairs(matrix, found, count, vectors):
    expected = np.linalg.eigvalsh(matrix)[::-1][:count]
    scale = max(np.abs(np.linalg.eigvalsh(matrix)).max(), 1e-300)
    np.testing.assert_allclose(found.values[:vectors], expected[:vectors], atol=1e-10 * scale)
    assert found.vectors.shape == (len(matrix), min(vectors, len(matrix)))
    product = matrix @ found.vectors
    errors = np.linalg.norm(product - found.values[:vectors] * found.vectors, axis=0)
    assert (errors <= 1e-11 * scale).all()
    np.testing.assert_allclose(errors, found.residuals[:vectors], atol=1e-14 * scale)
    np.testing.assert_allclose(
        found.vectors.T @ found.vectors, np.eye(found.vectors.shape[1]), atol=1e-12
    )


@given(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.31, 1.0]), min_size=1, max_size=40),
       st.integers(1, 4), seeds)  # fmt: skip
@examples(150)
def test_few_different_values(spectrum, count, seed):
    """Repeated values, a rank much below the size, nothing but zeros, sizes down to 1."""
    matrix = matrix_with(spectrum, seed)
    found = highest_pairs(lambda x: matrix @ x, len(matrix), count, seed=seed)
    check_pairs(matrix, found, count, count)
    expected = np.sort(spectrum)[::-1][:count]
    np.testing.assert_allclose(found.values, expected, atol=1e-10)


@given(st.integers(1, 60), st.integers(1, 5), seeds, st.sampled_from([1e-8, 1.0, 1e8]))
@examples(80)
def test_random_symmetric_matrices_of_any_scale(size, count, seed, scale):
    values = scale * np.random.default_rng(seed).standard_normal(size)
    matrix = matrix_with(values, seed)
    found = highest_pairs(lambda x: matrix @ x, size, count, seed=seed)
    check_pairs(matrix, found, count, count)
    np.testing.assert_allclose(found.values, np.sort(values)[::-1][:count], atol=1e-9 * scale)


@pytest.mark.parametrize("apart", [0.0, 1e-14, 1e-10, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("next_value", [0.05, 0.5, 0.8])
def test_values_that_are_repeated_or_nearly_so_are_both_seen(apart, next_value):
    spectrum = np.concatenate([[1.0, 1.0 - apart], np.linspace(0, next_value, 198)])
    matrix = matrix_with(spectrum)
    for seed in some(range(10), 5):
        found = highest_pairs(lambda x: matrix @ x, 200, 2, vectors=1, seed=seed)
        assert found.values[0] - found.values[1] == pytest.approx(apart, abs=max(1e-11, apart / 99))


@given(st.floats(0.05, 0.99), st.floats(0.5, 1.0), seeds)
@examples(40)
def test_a_value_without_vector_tells_the_distance(second, third, seed):
    spectrum = np.concatenate([[1.0, second], np.linspace(0, second * third, 148)])
    matrix = matrix_with(spectrum, seed)
    found = highest_pairs(lambda x: matrix @ x, 150, 2, vectors=1, seed=seed)
    check_pairs(matrix, found, 2, 1)
    assert found.vectors.shape == (150, 1)
    assert 1 - found.values[1] == pytest.approx(1 - second, rel=1e-3)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_full_basis_is_cut_and_filled_again(count):
    spectrum = np.linspace(0, 1, 250) ** 0.5
    matrix = matrix_with(spectrum)
    roomy = highest_pairs(lambda x: matrix @ x, 250, count)
    tight = highest_pairs(lambda x: matrix @ x, 250, count, most=1)
    assert tight.products > roomy.products
    for found in (roomy, tight):
        check_pairs(matrix, found, count, count)


def test_clear_axes_cost_few_products():
    matrix = matrix_with(np.concatenate([[0.33, 0.07], np.linspace(0, 0.02, 298)]))
    products = [
        highest_pairs(lambda x: matrix @ x, 300, 2, vectors=1, seed=s).products for s in range(10)
    ]
    assert max(products) <= 15


def test_products_are_counted_and_limited():
    matrix, calls = matrix_with(np.linspace(0, 1, 200)), []

    def operator(x):
        calls.append(x)
        return matrix @ x

    found = highest_pairs(operator, 200, 2, max_products=7)
    assert found.products == len(calls) == 7
    assert found.residuals[0] > 1e-6
    assert 0.5 < found.values[0] < 1
    exact = np.linalg.norm(matrix @ found.vectors - found.values * found.vectors, axis=0)
    np.testing.assert_allclose(found.residuals, exact, rtol=1e-8)


def test_the_same_seed_gives_the_same_bits():
    matrix = matrix_with(np.linspace(0, 1, 120))
    first, again, other = (
        highest_pairs(lambda x: matrix @ x, 120, 2, seed=seed) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert (first.vectors != other.vectors).any()


def smallest_of_laplacian(users, items, kind, seed, **limits):
    """A Laplacian, and its smallest axes but the known one by Davidson iterations."""
    if kind == "consistent":
        table = c1p_table(seed, users, items, 2)
    else:
        table = random_answers(users, items, 3, 0.4 * (kind == "missing"), seed)
    C, _ = one_hot(table)
    degrees = (C @ C.T).sum(axis=1)
    L, beta, known = np.diag(degrees) - C @ C.T, degrees.max(), np.full(users, users**-0.5)
    limits = {"vectors": 1, "known": known, "diagonal": beta - degrees, "further": 40} | limits
    found = highest_pairs(lambda s: beta * s - L @ s, users, 2, seed=seed, most=20, **limits)
    return L, beta, found


@examples(25)
@given(
    st.integers(20, 120),
    st.sampled_from([5, 20, 60]),
    st.sampled_from(["noisy", "missing", "consistent"]),
    seeds,
)
def test_a_known_diagonal_and_axis(users, items, kind, seed):
    L, beta, found = smallest_of_laplacian(users, items, kind, seed, tol=1e-11)
    values, vectors = np.linalg.eigh(L)
    lowest = beta - found.values
    assert found.residuals[0] <= 1e-10 * beta
    assert lowest[0] == pytest.approx(values[1], abs=1e-8 * beta)
    if len(lowest) > 1:
        assert lowest[1] == pytest.approx(
            values[2], abs=1e-3 * (values[2] - values[1]) + 1e-8 * beta
        )
    if values[2] - values[1] > 1e-6 * beta:
        assert abs(found.vectors[:, 0] @ vectors[:, 1]) == pytest.approx(1.0, abs=1e-6)


def test_a_known_diagonal_saves_products():
    L, beta, found = smallest_of_laplacian(300, 30, "noisy", 1, tol=1e-11)
    np.testing.assert_allclose(beta - found.values, np.linalg.eigvalsh(L)[1:3], rtol=1e-6)
    assert found.products < 60
    _, _, plain = smallest_of_laplacian(300, 30, "noisy", 1, tol=1e-11, diagonal=None)
    assert plain.products > 2 * found.products


def test_with_a_diagonal_too_it_stops_at_its_limit_and_keeps_the_best():
    L, beta, found = smallest_of_laplacian(100, 30, "noisy", 2, max_products=5)
    assert found.products == 5
    assert found.residuals[0] > 1e-10 * beta
    assert beta - found.values[0] >= np.linalg.eigvalsh(L)[1]
    assert np.linalg.norm(found.vectors[:, 0]) == pytest.approx(1.0)


@pytest.mark.parametrize("further", [0, 3, np.inf])
def test_a_value_that_takes_long_is_left_out(further):
    """The second value is hard to tell from the many after it."""
    matrix = matrix_with(np.concatenate([[1.0], 0.9 - np.linspace(0, 0.1, 199)]))
    found = highest_pairs(lambda x: matrix @ x, 200, 2, vectors=1, further=further)
    assert found.values[0] == pytest.approx(1.0, abs=1e-11)
    assert len(found.values) == (2 if np.isinf(further) else 1)
