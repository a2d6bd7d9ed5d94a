"""Answers that tell nobody apart: the result says so, with no certificate and confidence 0."""

from __future__ import annotations

import numpy as np

from hitsndiffs.engines import Engine
from hitsndiffs.methods.fitted import Choice, Fit
from hitsndiffs.order.orientation import undecided

__all__ = ["tells_nothing"]

#: If a smaller share of the answers was given by more than one user, they look random.
LEAST_SHARED = 0.02


def tells_nothing(data: Engine) -> Fit | None:
    """The result if all users answered alike or (almost) no answer is shared; else ``None``."""
    counts = data.choosers_per_option
    if data.n_users < 2:
        return None
    if (data.items.sizes == 1).all():
        return _equal(data, "All users gave the same answers: nothing tells them apart")
    shared = int(counts[counts > 1].sum())
    if shared == 0:
        return _equal(
            data,
            "No two users gave the same answer to any item, so nothing can be compared. Are these "
            "answers, or measurements? Options must be the same text to be the same option",
        )
    if shared < LEAST_SHARED * data.n_responses and data.n_responses >= 100:
        return _equal(
            data,
            f"Only {shared / data.n_responses:.1%} of the answers were given by more than one "
            "user: they look like numbers drawn at random, and rank nobody",
        )
    return None


def _equal(data: Engine, why: str) -> Fit:
    zero = 0.0 * data.everybody
    counts = data.choosers_per_option.astype(float)
    return Fit(
        scores=zero,
        option_weights=np.zeros(data.n_options),
        key_probabilities=data.items.share(counts),
        standard_errors=zero + np.nan,
        orientation=undecided(np.zeros(1)),
        confidence=0.0,
        choice=Choice(None, why),
    )
