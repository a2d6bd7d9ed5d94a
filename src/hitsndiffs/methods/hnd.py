"""HITSnDIFFs: rank users by the second axis of averaging (Section III of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.axis import (
    nobody_differs,
    oriented_fit,
    standard_errors,
    standardised,
    with_key,
)
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.exact import perfected
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.ties import TIE, tie_limit
from hitsndiffs.spectral import SOLVERS, Averaging, Solution, leading_axes, solve

__all__ = ["HND"]

#: Scores further apart than this (relatively) are never taken for equal.
COARSEST = 1e-6


@dataclass(kw_only=True, eq=False)
class HND(Method):
    """The paper's method, exact on consistent answers.

    Users are scored by the second eigenvector of ``U`` (Algorithm 1), which is the first axis of
    correspondence analysis; on consistent data with equal numbers of answers the order is the
    consecutive-ones order (Theorem 2). Where numbers of answers differ, or several orders are
    perfect, the axis can miss it; the PQ-tree then finds it, for any pattern of missing answers.

    Parameters
    ----------
    solver
        ``"lanczos"`` (default), ``"power"`` (the paper's Algorithm 1), ``"arnoldi"`` (the
        paper's direct variant, small data) or ``"deflation"`` (the paper's, with a power iteration
        for the left eigenvector).
    tol, max_iterations
        ``power`` and ``deflation`` stop when the unit vector changes by at most ``tol`` (L2).
    gap
        Whether to compute the next axis too, which shows whether the order is determined.
    answers, strong_user
        Known right answers, or a user known to be strong: they settle which end is up.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> (-HND().fit(r).scores_).argsort().tolist()
    [0, 1, 2, 3, 4]
    """

    needs_memory: ClassVar[bool] = False
    name: ClassVar[str] = "hnd"
    summary: ClassVar[str] = "HITSnDIFFs, the paper's method: second axis of averaging"
    use: ClassVar[str] = "strongly graded answers; a perfect order is found whenever one exists"
    linked_by: ClassVar[str] = "options"
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {"solver": SOLVERS}

    solver: str = "lanczos"
    tol: float = 1e-8
    max_iterations: int = 20_000
    gap: bool = True
    answers: Mapping[Any, Any] | None = None
    strong_user: Any = None

    def _fit(self, data: Engine) -> Fit:
        if data.arrays != "numpy" and self.solver != "lanczos":
            raise data.cannot_serve(f"The solver {self.solver} (lanczos, the default, does not)")
        if (data.choosers_per_option == data.n_users).all():
            return nobody_differs(data)
        fit = self.without_key(data)
        # 5. the key that goes with the scores
        return with_key(data, fit)

    def without_key(self, data: Engine) -> Fit:
        """Everything but the answer key."""
        # 1. the second axis of U
        found = solve(
            data,
            self.solver,
            seed=self.seed,
            tol=self.tol,
            max_iterations=self.max_iterations,
        )
        values = found.values
        if values is None and self.gap:
            values = leading_axes(data, 2, scored=1, seed=self.seed).values

        # 2. option weights, and scores from them: equal answers get equal scores
        U = Averaging.of(data)
        s, w = found.vector, found.weights
        if w is None:
            w = U.weights(standardised(U, s))
            s = U.scores(w) / found.value
        s = data.levelled(s, tie_limit(s, _resolution(found, values)))

        # 3. which end is up, and how sure
        fit = oriented_fit(
            data,
            scores=s,
            weights=w,
            standard_errors=standard_errors(U, w, s, found.value),
            found=found,
            values=values,
            solver=self.solver,
            answers=self.answers,
            strong_user=self.strong_user,
        )
        assert fit.option_weights is not None
        fit = replace(fit, scoring=Scoring(fit.option_weights / max(found.value, 1e-300)))

        # 4. a perfect order, if there is one
        return perfected(data, fit, answers=self.answers, strong_user=self.strong_user)


def _resolution(found: Solution, values: Floats | None) -> float:
    """How far apart (relatively) scores must be for the solver to tell them apart.

    The solver's last change, scaled up to cover the changes still to come.
    """
    apart = 1e-2 if values is None or len(values) < 2 else 1 - values[1] / values[0]
    return float(np.clip(10 * found.residual / max(apart, 1e-2), TIE, COARSEST))
