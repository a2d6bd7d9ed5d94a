"""HITSnDIFFs: rank users by the second axis of averaging (Section III of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.keys import key_from_scores
from hitsndiffs.orientation import Orientation, answers_here, orient, user_is_here
from hitsndiffs.responses import Responses
from hitsndiffs.spectral import Averaging, leading_axes, solve
from hitsndiffs.sums import Sums

__all__ = ["HND", "standardised"]

Vector = npt.NDArray[np.float64]

#: An axis this weak separates nobody; two axes this close (relatively) are one.
NOTHING = 1e-12
REPEATED = 1e-6


@dataclass(kw_only=True, eq=False)
class HND(Method):
    """The paper's method, exact on consistent answers.

    Users are scored by the second eigenvector of ``U`` (Algorithm 1), which is the first axis of
    correspondence analysis; on consistent data with equal numbers of answers the order is the
    consecutive-ones order (Theorem 2).

    Parameters
    ----------
    solver
        ``"lanczos"`` (default), ``"power"`` (the paper's Algorithm 1), ``"arnoldi"`` (the
        paper's direct variant, small data) or ``"deflation"``.
    tol, max_iterations
        ``power`` and ``deflation`` stop when the unit vector changes by at most ``tol`` (L2).
    gap
        Whether to compute the next axis too, and so to see that the order is determined.
    answers, strong_user
        Known right answers, or a user known to be strong: they settle which end is up.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> (-HND().fit(r).scores_).argsort().tolist()
    [0, 1, 2, 3, 4]
    """

    name: ClassVar[str] = "hnd"
    summary: ClassVar[str] = "HITSnDIFFs, the paper's method: second axis of averaging"
    use: ClassVar[str] = "consistent or strongly graded answers; exact when a perfect order exists"
    linked_by: ClassVar[str] = "options"

    solver: str = "lanczos"
    tol: float = 1e-8
    max_iterations: int = 20_000
    gap: bool = True
    answers: Mapping[Any, Any] | None = None
    strong_user: Any = None

    def _fit(self, responses: Responses, sums: Sums) -> Fit:
        # 1. the second axis of U
        found = solve(
            responses,
            sums,
            self.solver,
            seed=self.seed,
            tol=self.tol,
            max_iterations=self.max_iterations,
        )
        values = found.values
        if values is None and self.gap:
            values = leading_axes(responses, sums, 2, seed=self.seed).values

        # 2. option weights, and scores from them: equal answers get equal scores
        U = Averaging.of(responses, sums)
        if found.value <= NOTHING:
            return _nobody_differs(responses, sums, found.iterations)
        s = standardised(U, found.vector)
        w = U.weights(s)
        s = U.scores(w) / found.value

        # 3. which end is up
        orientation = orient(
            s,
            responses,
            sums,
            answers=answers_here(responses, self.answers),
            strong_user=self.strong_user if user_is_here(responses, self.strong_user) else None,
        )
        s, w = orientation.sign * s, orientation.sign * w

        # 4. how sure
        return Fit(
            scores=s,
            option_weights=w,
            key_probabilities=key_from_scores(responses, sums, s),
            standard_errors=standard_errors(U, w, s, found.value),
            orientation=orientation,
            eigenvalues=values,
            confidence=orientation.confidence,
            converged=found.converged,
            n_iterations=found.iterations,
            notes=tuple(_notes(values, orientation)),
            details={"solver": self.solver, "residual": found.residual, "eigenvalue": found.value},
        )


def standardised(U: Averaging, s: Vector) -> Vector:
    """Mean 0 and variance 1, each user counted by the number of answers."""
    s = U.centred(s)
    return s / np.sqrt(U.stationary @ s**2)


def standard_errors(U: Averaging, w: Vector, s: Vector, value: float) -> Vector:
    """A score is a mean of item contributions: its error is their spread over √(answers)."""
    n = U.answers
    mean_square = U.sums.choices(w**2) / n / value**2
    variance = np.maximum(mean_square - s**2, 0.0) * n / np.maximum(n - 1, 1)
    return np.where(n > 1, np.sqrt(variance / n), np.nan)


def _nobody_differs(responses: Responses, sums: Sums, rounds: int) -> Fit:
    zero = np.zeros(responses.n_users)
    return Fit(
        scores=zero,
        option_weights=np.zeros(responses.n_options),
        key_probabilities=key_from_scores(responses, sums, zero),
        standard_errors=np.full(responses.n_users, np.nan),
        orientation=Orientation(1, "undecided", 0.0, 0.5),
        eigenvalues=np.zeros(1),
        confidence=0.0,
        n_iterations=rounds,
        notes=("All users gave the same answers: nothing tells them apart.",),
    )


def _notes(values: Vector | None, orientation: Orientation) -> list[str]:
    notes = []
    if values is not None and len(values) > 1 and values[0] - values[1] <= REPEATED * values[0]:
        notes.append(
            "Two axes are equally strong (a repeated eigenvalue): the order is not determined by "
            "the data."
        )
    if not orientation.decided:
        notes.append(
            "Nothing in the answers says which end is the better one; the order may be upside "
            "down. Give a known answer or a strong user."
        )
    return notes
