"""The strongest axis with the help of a sample: that of all, in few products."""

from __future__ import annotations

import numpy as np
import pytest
from factory import make_responses, random_answers

from hitsndiffs.data.pool import Run
from hitsndiffs.engines.gram import gram_matrix
from hitsndiffs.engines.threads import ThreadsEngine
from hitsndiffs.spectral import leading_axes
from hitsndiffs.spectral.refined import refined_pair


def symmetric(size, seed):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = np.sort(np.concatenate([[1.0, 0.5], 0.3 * rng.random(size - 2)]))
    noise = rng.standard_normal((size, size))
    return axes @ np.diag(values) @ axes.T, noise + noise.T


@pytest.mark.parametrize("far", [1e-5, 1e-3])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_axis_of_the_large_operator(seed, far):
    exact, noise = symmetric(40, seed)
    found = refined_pair(lambda x: exact @ x, exact + far * noise / 40)
    values, vectors = np.linalg.eigh(exact)
    assert found is not None
    assert found.values[0] == pytest.approx(values[-1], abs=1e-12)
    assert found.values[1] == pytest.approx(values[-2], abs=1e-3)
    assert abs(vectors[:, -1] @ found.vectors[:, 0]) == pytest.approx(1, abs=1e-12)
    assert found.products <= 8


def test_rough_products_at_the_start_leave_nothing_behind():
    exact, noise = symmetric(40, 1)
    rng = np.random.default_rng(0)
    found = refined_pair(
        lambda x: exact @ x,
        exact + 1e-4 * noise / 40,
        roughly=lambda x: exact @ x + 1e-7 * rng.standard_normal(40),
    )
    assert found is not None
    vector = np.linalg.eigh(exact)[1][:, -1]
    assert abs(vector @ found.vectors[:, 0]) == pytest.approx(1, abs=1e-12)


def test_what_is_not_near_or_not_one_axis_is_left_to_others():
    exact, noise = symmetric(40, 2)
    assert refined_pair(lambda x: exact @ x, exact + 5 * noise) is None
    twice = np.diag(np.concatenate([[1.0, 1.0], np.linspace(0, 0.5, 30)]))
    assert refined_pair(lambda x: twice @ x, twice) is None


class WithSample(ThreadsEngine):
    """The threaded engine, which gives away the pairs of options of some users."""

    @property
    def sampled_pairs(self):
        codes = self.responses.codes[:, ::2]
        return gram_matrix(np.ascontiguousarray(codes), self.items.starts, Run(1)), codes.shape[1]


def test_an_engine_with_a_sample_gives_the_same_axis():
    rng = np.random.default_rng(5)
    able = rng.random((20_000, 1)) < 0.5
    answers = np.where(
        rng.random((20_000, 10)) < 0.2 + 0.6 * able, 0, 1 + random_answers(20_000, 10, 2, seed=1)
    )
    data = make_responses(answers)
    expected = leading_axes(ThreadsEngine(data), 2, scored=1)
    found = leading_axes(WithSample(data), 2, scored=1, only=True)
    assert found.iterations < expected.iterations
    np.testing.assert_allclose(
        found.scores, expected.scores, atol=1e-10 * np.abs(expected.scores).max()
    )
