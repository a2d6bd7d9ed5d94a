from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from hitsndiffs.results.metrics import accuracy, average_ranks

NUMBERS = st.lists(st.integers(-5, 5), min_size=2, max_size=20)


@given(NUMBERS)
def test_ranks_are_scipys(values):
    np.testing.assert_array_equal(average_ranks(np.array(values, float)), rankdata(values))


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=25))
def test_accuracy_is_scipys_spearman(pairs):
    a, b = np.array(pairs, dtype=float).T
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert np.isnan(accuracy(a, b))
    else:
        assert accuracy(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_users_without_a_score_are_left_out():
    assert accuracy([1, 2, 3, np.nan], [1, np.nan, 3, 4]) == 1.0
    assert np.isnan(accuracy([np.nan], [1.0]))


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        accuracy([1, 2], [1, 2, 3])


def test_scipys_statistics_are_not_loaded():
    code = "import hitsndiffs.results.metrics, sys; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
