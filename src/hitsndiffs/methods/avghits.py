"""avgHITS: HITS with means instead of sums (Section III-B of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.spectral import Averaging

__all__ = ["AvgHITS"]


@dataclass(kw_only=True, eq=False)
class AvgHITS(Method):
    """HITS with means instead of sums: the stepping stone to HnD, not a ranking by itself.

    Options get the mean score of their choosers, users the mean weight of their options. The
    fixed point is the ones vector (everybody has the same score), which is why HnD looks at the
    next axis. Use it to see that; use ``hnd`` to rank.

    Parameters
    ----------
    tol, max_iterations
        The rounds end when no score changes by more than ``tol``.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB")])
    >>> AvgHITS().fit(r).scores_.round(9).tolist()
    [1.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "avghits"
    summary: ClassVar[str] = "averaging HITS: everybody ends up equal (the stepping stone to HnD)"
    use: ClassVar[str] = "only to see why HnD takes the second axis"
    linked_by: ClassVar[str] = "options"

    tol: float = 1e-12
    max_iterations: int = 100_000

    def _fit(self, data: Engine) -> Fit:
        U = Averaging.of(data)
        s = 0.5 + np.random.default_rng(self.seed).random(data.n_users)
        s /= U.stationary @ s  # every round keeps this product at 1
        change, rounds = np.inf, 0
        while change > self.tol and rounds < self.max_iterations:
            new = U(s)
            change = float(np.abs(new - s).max())
            s = new
            rounds += 1
        return Fit(
            scores=s,
            option_weights=U.weights(s),
            converged=change <= self.tol,
            n_iterations=rounds,
            notes=("The fixed point of avgHITS is the same score for everybody: use hnd to rank.",),
            residual=change,
        )
