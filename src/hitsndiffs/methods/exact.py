"""A perfect order wherever there is one: the axis's own, or the one that the PQ-tree finds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hitsndiffs.engines import Engine
from hitsndiffs.methods.axis import oriented_fit, standard_errors, standardised
from hitsndiffs.methods.fitted import Fit
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.perfect import (
    PerfectOrder,
    checked_order,
    may_be_perfect,
    ordered_users,
    perfect_order,
)
from hitsndiffs.order.ties import Levels
from hitsndiffs.spectral import Averaging, Solution

__all__ = ["along", "perfected"]


#: Numbers of orders up to this are written out.
WRITTEN_OUT = 10**9


def perfected(
    data: Engine, fit: Fit, *, answers: Mapping[Any, Any] | None = None, strong_user: Any = None
) -> Fit:
    """Put the users in a perfect order if there is one and the scores do not follow it yet.

    The paper pads rows to equal numbers of answers (Appendix B) and has to solve again. The PQ-tree
    needs neither equal numbers of answers nor an axis that is distinct from the next.
    """
    if not data.in_memory or not may_be_perfect(data, fit.scores):
        return fit
    scores = data.collect(fit.scores)
    order, certified = ordered_users(data, Levels.of(scores, np.zeros(data.n_users, int)))
    if certified:
        found = checked_order(data, order)
        assert found is not None
        return replace(fit, perfect=found, notes=(*_several(found), *fit.notes))
    found = perfect_order(data, scores)
    if found is None:
        return fit
    exact = along(data, found, answers=answers, strong_user=strong_user)
    why = (
        "The axis alone misses the perfect order of these answers; scores are steps along it, one "
        "for every option that begins or ends between two users."
    )
    return replace(
        exact,
        eigenvalues=fit.eigenvalues,
        n_iterations=fit.n_iterations,
        eigenvalue=fit.eigenvalue,
        notes=(why, *exact.notes),
    )


def along(
    data: Engine,
    found: PerfectOrder,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: Any = None,
) -> Fit:
    """Score users by the steps along a perfect order, the right way up."""
    U = Averaging.of(data)
    s = np.empty(data.n_users)
    s[found.order] = found.steps
    s = data.user_array(s)
    s = standardised(U, s) if float(s.max()) > float(s.min()) else 0.0 * s
    w = U.weights(s)
    fit = oriented_fit(
        data,
        scores=s,
        weights=w,
        standard_errors=standard_errors(U, w, U.scores(w), 1.0),
        found=Solution(s, 1.0, 0, 0.0, True),
        values=None,
        solver="pq-tree",
        answers=answers,
        strong_user=strong_user,
    )
    assert fit.option_weights is not None
    scoring = Scoring(fit.option_weights)  # newcomers get the mean weight of their options
    return replace(fit, perfect=found, scoring=scoring, notes=(*_several(found), *fit.notes))


def _several(found: PerfectOrder) -> list[str]:
    """Say so when other orders explain the answers as well."""
    number = found.n_orders
    if number is None:
        return [
            "Whether other orders explain every answer too was not counted: it would take long."
        ]
    if number <= 2:
        return []
    others = number // 2  # an order and its reverse are one
    said = f"{others:,}" if others <= WRITTEN_OUT else f"About 10^{math.log10(others):.0f}"
    return [
        f"{said} orders explain every answer, not counting their reverses; this is the one that "
        "follows the scores best."
    ]
