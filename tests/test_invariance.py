"""Order and names do not matter: permuted and renamed data give the same result to 1e-9."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from factory import random_table
from hypothesis import given, settings
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.spectral import leading_axes
from hitsndiffs.spectral.repeated import colours, settled

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.changes import Case, check, responses

#: Two blocks that share an option each with a third: their axes are equally strong.
TWINS = np.array(
    [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [2, 0, 0], [2, 2, 0], [0, 0, 2], [0, 0, 3]]
)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["hnd", "abh", "hits", "majority", "dawid-skene", "pooled-investment"]),
    st.sampled_from(["users", "items", "options", "names", "everything"]),
    st.integers(1, 3),
)
def test_order_and_names_do_not_matter(seed: int, method: str, change: str, copies: int) -> None:
    table = np.repeat(random_table(seed, 6, 5, 3, graded=seed % 2 == 0), copies, axis=0)
    check(Case(table, method, change, seed))


@pytest.mark.parametrize("method", ["hnd", "abh", "hnd-robust"])
@pytest.mark.parametrize("seed", range(3))
def test_equally_strong_axes(method: str, seed: int) -> None:
    for change in ("users", "items", "options", "everything"):
        check(Case(TWINS, method, change, seed))


def test_the_mix_of_equally_strong_axes_follows_the_data() -> None:
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(9, 3)))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    near = rng.uniform(size=9)
    values = np.array([0.5, 0.5, 0.5])
    one, other = settled(values, basis, near), settled(values, basis @ turn, near)
    assert np.allclose(one, other, atol=1e-12)
    assert np.allclose(one.T @ one, np.eye(3), atol=1e-12)
    apart = settled(np.array([0.5, 0.4, 0.3]), basis, near)
    assert np.array_equal(apart, basis)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_colours_follow_the_answers_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(seed, 9, 5, 3, missing=0.2)
    table[:, 0] = np.maximum(table[:, 0], 0)
    users, items = rng.permutation(9), rng.permutation(5)
    first, _ = colours(open_engine(responses(table)))
    second, _ = colours(open_engine(responses(table[users][:, items], ("z{}", "{}?", "a{}"))))
    assert np.array_equal(first[users], second)


def test_large_and_small_solvers_choose_the_same_mix() -> None:
    data = open_engine(responses(np.repeat(TWINS, 4, axis=0)))
    small = leading_axes(data, 2)
    assert small.values[0] > 0
    turned = leading_axes(data, 2, seed=5)
    assert np.allclose(np.abs(small.scores), np.abs(turned.scores), atol=1e-9)
