"""The sparse matrix of ones against SciPy's."""

from __future__ import annotations

import sys
from unittest.mock import patch

import numpy as np
import pytest
from factory import seeds
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from hitsndiffs.data.ones import Ones


@given(seeds, st.integers(1, 12), st.integers(1, 9), st.sampled_from([None, 0, 1, 5]))
def test_few_ones_are_added_as_scipy_does_to_the_last_bit(seed, rows, columns, k):
    rng = np.random.default_rng(seed)
    full = rng.random((rows, columns)) < 0.4
    ones = Ones(np.concatenate([[0], np.cumsum(full.sum(axis=1))]), np.nonzero(full)[1], columns)
    np.testing.assert_array_equal(ones.toarray(), full)
    np.testing.assert_array_equal(ones.T.toarray(), full.T)
    shape = () if k is None else (k,)
    with patch.dict(sys.modules, {"scipy.sparse": None}):  # as before SciPy is loaded
        weights, scores = rng.normal(size=(columns, *shape)), rng.normal(size=(rows, *shape))
        found, turned = ones @ weights, ones.T @ scores
    np.testing.assert_array_equal(found, csr_array(full.astype(float)) @ weights)
    np.testing.assert_array_equal(turned, csr_array(full.T.astype(float)) @ scores)
    words = rng.integers(0, 2**64, columns, dtype=np.uint64)
    np.testing.assert_array_equal(ones @ words, full.astype(np.uint64) @ words)


def test_many_ones_are_turned_by_scipy():
    full = np.random.default_rng(1).random((300, 100)) < 0.5  # more than a few
    ones = Ones(np.concatenate([[0], np.cumsum(full.sum(axis=1))]), np.nonzero(full)[1], 100)
    np.testing.assert_array_equal(ones.T.toarray(), full.T)
    assert ones.T @ np.arange(300.0) == pytest.approx(full.T @ np.arange(300.0))
