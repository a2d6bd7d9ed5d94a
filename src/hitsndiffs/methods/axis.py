"""Shared by the two methods that rank by an axis: scale, orientation, notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.lookup import answers_here
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.keys import key_from_scores
from hitsndiffs.order.orientation import Orientation, orient, undecided
from hitsndiffs.spectral import Averaging, Solution

__all__ = [
    "OPEN_DIRECTION",
    "nobody_differs",
    "oriented_fit",
    "standard_errors",
    "standardised",
    "with_key",
]

#: Two axes whose values are this close (relatively) are equally strong.
REPEATED = 1e-6
#: The note of an order whose better end is open.
OPEN_DIRECTION = "Nothing in the answers shows which end is better; the order may be upside down."


def standardised(U: Averaging, s: Floats) -> Any:
    """Scale to mean 0 and variance 1, users weighted by their number of answers."""
    s = U.centred(s)
    return s / np.sqrt(float(U.stationary @ s**2))


def oriented_fit(
    data: Engine,
    *,
    scores: Floats,
    weights: Floats,
    standard_errors: Floats,
    found: Solution,
    values: Floats | None,
    solver: str,
    answers: Mapping[Any, Any] | None,
    strong_user: Any,
) -> Fit:
    """Turn an axis the right way up, and say how sure that is (:func:`with_key` adds the key).

    Parameters
    ----------
    data
        The data.
    scores, weights, standard_errors
        Of the users, of the options (the mean score of their choosers), and of the scores; the
        sign is still open.
    found, values, solver
        What the solver found, the eigenvalues (strongest axis first), and the solver's name.
    answers, strong_user
        What the caller knows (see :func:`hitsndiffs.order.orientation.orient`).
    """
    known = answers_here(data.items, answers)
    strong = None if strong_user is None else data.user_number(strong_user)
    orientation = orient(scores, data, answers=known, strong_user=strong)
    asked = bool(known) or strong is not None
    repeated = _is_repeated(values)
    up = orientation.sign > 0
    scores, weights = ((x + 0.0 if up else 0.0 - x) for x in (scores, weights))  # no -0.0
    return Fit(
        scores=scores,
        option_weights=weights,
        standard_errors=standard_errors,
        orientation=orientation,
        eigenvalues=values,
        confidence=0.0 if repeated else orientation.confidence,
        converged=found.converged,
        n_iterations=found.iterations,
        notes=tuple(_notes(repeated, orientation, asked)),
        solver=solver,
        residual=found.residual,
        eigenvalue=found.value,
    )


def with_key(data: Engine, fit: Fit) -> Fit:
    """The same fit with the key that its scores imply."""
    key = key_from_scores(data, fit.scores, means=fit.option_weights)
    return replace(fit, key_probabilities=key)


def standard_errors(U: Averaging, w: Floats, s: Floats, value: float) -> Any:
    """A score is a mean of item contributions: its error is their spread over √(answers)."""
    data = U.data
    squares = (w / value) ** 2
    if data.is_complete:  # equal numbers of answers: less work per user
        n = data.n_items
        errors = np.sqrt(np.maximum(data.choices(squares / n) - s * s, 0.0) / max(n - 1, 1))
        return errors if n > 1 else errors + np.nan
    answers = U.answers
    variance = np.maximum(data.choices(squares) / answers - s * s, 0.0) / np.maximum(answers - 1, 1)
    return np.where(answers > 1, np.sqrt(variance), np.nan)


def nobody_differs(data: Engine) -> Fit:
    """The result when all users gave the same answers."""
    zero = 0.0 * data.everybody
    return Fit(
        scores=zero,
        option_weights=np.zeros(data.n_options),
        key_probabilities=key_from_scores(data, zero, means=np.zeros(data.n_options)),
        standard_errors=zero + np.nan,
        orientation=undecided(np.zeros(1)),
        eigenvalues=np.zeros(1),
        confidence=0.0,
        notes=("All users gave the same answers: nothing tells them apart.",),
    )


def _is_repeated(values: Floats | None) -> bool:
    """Whether the two strongest axes are equally strong."""
    if values is None or len(values) < 2:
        return False
    return bool(abs(values[0] - values[1]) <= REPEATED * max(abs(values[0]), abs(values[1])))


def _notes(repeated: bool, orientation: Orientation, asked: bool) -> list[str]:
    notes = []
    if repeated:
        notes.append(
            "Two axes are equally strong (a repeated eigenvalue): the order is not determined by "
            "the data."
        )
    if asked and orientation.how not in ("known answers", "strong user"):
        notes.append(
            "The known answers or strong user do not show which end is better (everybody or nobody "
            "chose those answers, or the user is in the middle)."
        )
    if not orientation.decided:
        notes.append(OPEN_DIRECTION)
    return notes
