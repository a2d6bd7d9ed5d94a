"""ABH: rank users by the Fiedler vector (Atkins, Boman and Hendrickson 1998)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.axis import nobody_differs, oriented_fit, standardised, with_key
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.order.ties import patterns
from hitsndiffs.spectral import FIEDLER_SOLVERS, Averaging, Laplacian, fiedler

__all__ = ["ABH"]


@dataclass(kw_only=True, eq=False)
class ABH(Method):
    """The other spectral method that is exact on consistent answers.

    Users are scored by the second smallest eigenvector of the Laplacian ``L = D - C Cᵀ`` (Sections
    II-C and III-F of the paper). On noisy answers that vector singles out the few users who agree
    least with anybody, and HnD is the better choice; ABH is here for comparison.

    Parameters
    ----------
    solver
        ``"lanczos"`` (default; Davidson's preconditioned iterations, which share their basis with
        Lanczos iterations, linear in the number of responses), ``"power"`` (the paper's
        Algorithm 2, linear as well because ``D`` is kept as a vector) or ``"direct"`` (the dense
        Laplacian, small data).
    beta
        The shift of Algorithm 2; the largest entry of ``D`` when not given.
    tol, max_iterations
        ``power`` stops when the unit vector changes by at most ``tol`` (L2).
    answers, strong_user
        Known right answers, or a user known to be strong: they settle which end is up.

    Notes
    -----
    The reported eigenvalues are those of ``I - L/β`` (β is the largest entry of ``D``), so the
    strongest axis comes first here too.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> (-ABH().fit(r).scores_).argsort().tolist()
    [0, 1, 2, 3, 4]
    """

    name: ClassVar[str] = "abh"
    summary: ClassVar[str] = "Atkins, Boman and Hendrickson: second smallest axis of the Laplacian"
    use: ClassVar[str] = "perfectly consistent answers, and as a rival in comparisons"
    linked_by: ClassVar[str] = "options"
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {"solver": FIEDLER_SOLVERS}

    solver: str = "lanczos"
    beta: float | None = None
    tol: float = 1e-5
    max_iterations: int = 100_000
    answers: Mapping[Any, Any] | None = None
    strong_user: Any = None

    def _fit(self, data: Engine) -> Fit:
        if (data.choosers_per_option == data.n_users).all():
            return nobody_differs(data)

        # 1. the second smallest axis of L
        found = fiedler(
            data,
            self.solver,
            beta=self.beta,
            seed=self.seed,
            tol=self.tol,
            max_iterations=self.max_iterations,
        )

        # 2. equal answers get equal scores; an option's weight is the mean score of its choosers
        U, L = Averaging.of(data), Laplacian.of(data)
        s = standardised(U, _mean_by_pattern(found.vector, data))

        # 3. which end is up, and how sure
        fit = oriented_fit(
            data,
            scores=s,
            weights=U.weights(s),
            standard_errors=_standard_errors(L, U, s, found.value),
            found=found,
            values=None if found.values is None else 1 - found.values / L.degrees.max(),
            solver=self.solver,
            answers=self.answers,
            strong_user=self.strong_user,
        )

        # 4. the key that goes with the scores
        return with_key(data, fit)


def _mean_by_pattern(s: Floats, data: Engine) -> Floats:
    """Average over users with the same answers: rounding or a repeated eigenvalue may part them."""
    number = patterns(data)
    return (np.bincount(number, s) / np.bincount(number))[number]


def _standard_errors(L: Laplacian, U: Averaging, s: Floats, value: float) -> Floats:
    """From ``L s = λ s``, a score is a ratio of two sums over the user's options.

    ``s = Σ u / (Σ c - λ)`` with ``u = choosers(s)`` and ``c`` the number of choosers; the spread of
    the residuals ``u - s c`` over the user's items gives the error of the ratio.
    """
    n, c, u = U.answers, U.choosers, L.data.choosers(s)
    mean = (L.data.choices(u) - s * L.degrees) / n
    square = L.data.choices(u * u) - 2 * s * L.data.choices(u * c) + s * s * L.data.choices(c * c)
    variance = np.maximum(square / n - mean**2, 0.0) * n / np.maximum(n - 1, 1)
    below = np.maximum(L.degrees - value, 1e-12 * L.degrees)
    return np.where(n > 1, np.sqrt(n * variance) / below, np.nan)
