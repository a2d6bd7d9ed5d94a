"""Davidson's method against a dense eigen-solver, on Laplacians easy and hard."""

from __future__ import annotations

import numpy as np
import pytest
from factory import examples, random_answers
from hypothesis import given
from hypothesis import strategies as st
from naive_methods import one_hot

from hitsndiffs.spectral.davidson import lowest


def laplacian_parts(C):
    overlap = C @ C.T
    degrees = overlap.sum(axis=1)
    return np.diag(degrees) - overlap, degrees


def consistent_matrix(users, items, seed):
    rng = np.random.default_rng(seed)
    ability, thresholds = rng.random(users), rng.random(items)
    above = (ability[:, None] > thresholds).astype(float)
    return np.column_stack([above, 1 - above])


@examples(25)
@given(
    st.integers(20, 120),
    st.sampled_from([5, 20, 60]),
    st.sampled_from(["noisy", "missing", "consistent"]),
    st.integers(0, 10_000),
)
def test_the_smallest_axis_is_found(users, items, kind, seed):
    if kind == "consistent":
        C = consistent_matrix(users, items, seed)
    else:
        C, _ = one_hot(random_answers(users, items, 3, 0.4 * (kind == "missing"), seed))
    L, degrees = laplacian_parts(C)
    values, vectors = np.linalg.eigh(L)
    found = lowest(lambda s: L @ s, degrees, np.full(users, users**-0.5), seed=seed)
    assert found.residual <= 1e-10
    assert found.values[0] == pytest.approx(values[1], abs=1e-8 * degrees.max())
    if len(found.values) > 1:
        assert found.values[1] >= values[2] - 1e-8 * degrees.max()
    gap = (values[2] - values[1]) / degrees.max()
    if gap > 1e-6:
        assert abs(found.vector @ vectors[:, 1]) == pytest.approx(1.0, abs=1e-6)


def test_the_next_value_is_found_where_users_stand_out():
    C, _ = one_hot(random_answers(300, 30, 3, seed=1))
    L, degrees = laplacian_parts(C)
    found = lowest(lambda s: L @ s, degrees, np.full(300, 300**-0.5))
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(L)[1:3], rtol=1e-6)
    assert found.iterations < 60


def test_it_stops_at_its_limit_and_keeps_the_best():
    C, _ = one_hot(random_answers(100, 30, 3, seed=2))
    L, degrees = laplacian_parts(C)
    found = lowest(lambda s: L @ s, degrees, np.full(100, 0.1), max_rounds=5)
    assert found.iterations == 5
    assert found.residual > 1e-10
    assert found.values[0] >= np.linalg.eigvalsh(L)[1]
    assert np.linalg.norm(found.vector) == pytest.approx(1.0)
