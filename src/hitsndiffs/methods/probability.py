"""Special functions that spare small data the import of ``scipy.special``.

That import takes as long as fitting a small data set. Short arrays are therefore computed value by
value with Python's own functions, which agree to the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats

__all__ = [
    "STEADY",
    "digamma",
    "log_gamma",
    "logistic",
    "normal_cdf",
    "normal_quantile",
]

#: Decimals kept between rounds: where two answers are equally good, rounding errors that depend on
#: the order of the rows must not grow until they decide.
STEADY = 10


#: Half the logarithm of 2π.
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
#: Quantiles, and the normal CDF, of arrays up to these sizes are computed value by value.
SHORT = 2_000
SHORT_CDF = 40_000


def log_gamma(x: npt.ArrayLike) -> Floats:
    """Logarithm of the gamma function, for numbers above 0: ten steps up, then Stirling's series.

    >>> log_gamma(np.array([1.0, 4.0])).round(6).tolist()
    [0.0, 1.791759]
    """
    x = np.asarray(x, dtype=float)
    # the product of x + k, k = 0 … 9, in pairs: (x + k)(x + 9 - k) = t + k(9 - k)
    t = x * (x + 9)
    steps = np.log(t * (t + 8) * (t + 14)) + np.log((t + 18) * (t + 20))
    y = x + 10
    u = 1 / (y * y)
    series = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / y
    return np.asarray((y - 0.5) * np.log(y) - y + HALF_LOG_TAU + series - steps)


def digamma(x: Any) -> Any:
    """Derivative of :func:`log_gamma`, for numbers above 0: ten steps up, then Stirling's series.

    Works on arrays of any engine.

    >>> digamma(np.array([1.0, 4.0])).round(6).tolist()
    [-0.577216, 1.256118]
    """
    # the sum of 1 / (x + k), k = 0 … 9, in pairs: (x + k)(x + 9 - k) = t + k(9 - k)
    t = x * (x + 9)
    steps = (2 * x + 9) * (1 / t + 1 / (t + 8) + 1 / (t + 14) + 1 / (t + 18) + 1 / (t + 20))
    y = x + 10
    u = 1 / (y * y)
    series = u * (1 / 12 - u * (1 / 120 - u * (1 / 252 - u * (1 / 240 - u * (1 / 132)))))
    return np.log(y) - 0.5 / y - series - steps


def normal_cdf(x: Floats) -> Floats:
    """P(a standard normal variable is below x).

    >>> normal_cdf(np.array([0.0, 1.96])).round(3).tolist()
    [0.5, 0.975]
    """
    if x.size <= SHORT_CDF:
        return 0.5 * _each(math.erfc, x * -math.sqrt(0.5))
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def normal_quantile(p: Any) -> Any:
    """The inverse of :func:`normal_cdf`, for probabilities between 0 and 1 (arrays of any engine).

    >>> normal_quantile(np.array([0.5, 0.975])).round(2).tolist()
    [0.0, 1.96]
    """
    if isinstance(p, np.ndarray) and p.size <= SHORT:
        from statistics import NormalDist

        return _each(NormalDist().inv_cdf, p)
    if type(p).__module__.startswith("cupy"):
        from cupyx.scipy.special import ndtri
    else:
        from scipy.special import ndtri
    return ndtri(p)


def _each(function: Callable[[float], float], x: Floats) -> Floats:
    return np.array([function(v) for v in x.ravel().tolist()], dtype=float).reshape(x.shape)


def logistic(logits: Floats) -> Floats:
    """``1 / (1 + exp(-logits))``, in place: the logits are overwritten.

    >>> logistic(np.array([0.0, np.log(3), -1e4])).round(2).tolist()
    [0.5, 0.75, 0.0]
    """
    np.negative(logits, out=logits)
    np.minimum(logits, 80.0, out=logits)  # beyond, the chance is 0 and the power overflows
    np.exp(logits, out=logits)
    logits += 1.0
    return np.divide(1.0, logits, out=logits)
