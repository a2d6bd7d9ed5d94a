"""The GPU engine gives the processor's results, the same bits every time (needs a GPU)."""

from __future__ import annotations

import numpy as np
import pytest
from factory import make_responses

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.base import scaled
from hitsndiffs.errors import InputError
from hitsndiffs.methods import make


def _has_gpu() -> bool:
    try:
        open_engine(make_responses([[0, 1], [1, 1]]), "cupy")
    except InputError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not _has_gpu(), reason="there is no GPU here, or no CuPy")

CASES = {
    "one item": (7, [3], 0.0),
    "complete": (1000, [3] * 40, 0.0),
    "gaps": (3001, [4] * 17, 0.2),
    "wide items": (2000, [2, 300, 5, 1000], 0.1),
    "many groups": (500, [3] * 600, 0.1),
    "between": (500, [3] * 300, 0.0),
    "sparse": (400, [3] * 200, 0.97),
}


def _case(name):
    users, sizes, missing = CASES[name]
    rng = np.random.default_rng(len(name))
    table = np.stack([rng.integers(0, k, users) for k in sizes], axis=1)
    table[rng.random(table.shape) < missing] = -1
    return Responses.from_wide(table)


@needs_gpu
@pytest.mark.parametrize("name", CASES)
def test_every_pass_is_the_processors(name):
    responses = _case(name)
    cpu, gpu = open_engine(responses, "numpy"), open_engine(responses, "cupy")
    rng = np.random.default_rng(0)
    w = rng.standard_normal((cpu.n_options, 3))
    s = rng.standard_normal((cpu.n_users, 21))
    scale = rng.random(cpu.n_users)
    tolerance = {"rtol": 1e-9, "atol": 1e-9 * cpu.n_users}
    np.testing.assert_allclose(gpu.collect(gpu.choices(w)), cpu.choices(w), atol=1e-12)
    np.testing.assert_allclose(gpu.choosers(s), cpu.choosers(s), **tolerance)
    linear = gpu.through(w[:, 0], scaled, gpu.user_array(scale))
    np.testing.assert_allclose(linear, cpu.through(w[:, 0], scaled, scale), **tolerance)
    np.testing.assert_array_equal(linear, gpu.through(w[:, 0], scaled, gpu.user_array(scale)))
    np.testing.assert_array_equal(gpu.collect(gpu.fingerprints()), cpu.fingerprints())
    whole = rng.permutation(cpu.n_users).astype(float)
    np.testing.assert_array_equal(gpu.choosers(whole), cpu.choosers(whole))
    x = np.round(s[:, 0], 1)
    np.testing.assert_allclose(
        gpu.collect(gpu.levelled(gpu.user_array(x), 0.05)), cpu.levelled(x, 0.05)
    )


@needs_gpu
@pytest.mark.parametrize(
    "method",
    ["majority", "hits", "investment", "pooled-investment", "dawid-skene", "hnd", "latent-key"],
)
@pytest.mark.parametrize("name", ["complete", "gaps"])
def test_methods_are_the_processors(name, method):
    responses = _case(name)
    expected = make(method, engine="numpy").fit(responses)
    found = make(method, engine="cupy").fit(responses)
    again = make(method, engine="cupy").fit(responses)
    largest = np.abs(expected.scores_).max()
    np.testing.assert_allclose(found.scores_, expected.scores_, atol=1e-6 * largest)
    np.testing.assert_array_equal(found.scores_, again.scores_)


@pytest.mark.skipif(_has_gpu(), reason="there is a GPU")
def test_without_a_gpu_one_sentence_says_what_to_do():
    with pytest.raises(InputError, match="The cupy engine needs"):
        open_engine(make_responses([[0, 1], [1, 1]]), "cupy")
