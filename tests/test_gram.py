"""How many users chose both of two options, counted with bits, against products of ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.data.pool import Run
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.base import scaled
from hitsndiffs.engines.threads import pairs_of_options


def _codes(widths, users, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, k, users) for k in widths]).astype(np.uint8)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(1, 200), st.integers(0, 99))
def test_pairs_are_those_of_the_matrix_of_ones(widths, users, seed):
    codes = _codes(widths, users, seed)
    ones = np.concatenate(
        [codes[i][:, None] == np.arange(k) for i, k in enumerate(widths)], axis=1
    ).astype(float)
    starts = np.concatenate([[0], np.cumsum(widths)])
    np.testing.assert_array_equal(pairs_of_options(codes, starts, Run(1)), ones.T @ ones)


@pytest.mark.parametrize("threads", [1, 3])
def test_many_users_and_threads(threads):
    codes = _codes([3, 4, 2], 70_000, 1)
    r = Responses(
        users=np.arange(70_000), items=np.arange(3), option_labels=np.array(list("ABCABCDAB")),
        item_starts=np.array([0, 3, 7, 9]), codes=codes,
    )  # fmt: skip
    data = open_engine(r, "threads", threads)
    w = np.random.default_rng(2).standard_normal(9)
    np.testing.assert_allclose(
        data.through(w, scaled, data.everybody),
        data.through(w, scaled, np.ones(70_000)),
        rtol=1e-12,
        atol=1e-8,
    )


def test_there_is_none_where_somebody_did_not_answer():
    codes = _codes([3, 3], 100, 3)
    codes[0, 5] = 255
    r = Responses(
        users=np.arange(100), items=np.arange(2), option_labels=np.array(list("ABCABC")),
        item_starts=np.array([0, 3, 6]), codes=codes,
    )  # fmt: skip
    assert open_engine(r, "threads")._pairs is None
