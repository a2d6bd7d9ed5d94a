"""Special functions agree with SciPy's, for short arrays and for long ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special as oracle

from hitsndiffs.methods import probability


@pytest.mark.parametrize("size", [7, 50_000])
def test_log_gamma(size):
    x = np.linspace(1.0, 900.0, size)
    np.testing.assert_allclose(probability.log_gamma(x), oracle.gammaln(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", [(4, 5, 2), (500, 50, 4)])
def test_normal_cdf(shape):
    x = np.linspace(-20.0, 9.0, np.prod(shape)).reshape(shape)
    np.testing.assert_allclose(probability.normal_cdf(x), oracle.ndtr(x), rtol=1e-12)


@pytest.mark.parametrize("size", [7, 50_000])
def test_normal_quantile(size):
    p = np.linspace(1e-9, 1 - 1e-9, size)
    np.testing.assert_allclose(
        probability.normal_quantile(p), oracle.ndtri(p), rtol=1e-12, atol=1e-14
    )


def test_normal_quantile_of_one_number():
    assert float(probability.normal_quantile(np.array(0.975))) == pytest.approx(1.959963984540054)


def test_digamma_is_scipys():
    from scipy.special import digamma

    x = np.concatenate([np.logspace(-8, 6, 500), np.linspace(0.01, 30, 500)])
    np.testing.assert_allclose(probability.digamma(x), digamma(x), rtol=1e-11, atol=1e-11)
