"""Where the latent-key model starts from: the leading axes, both ways up, and the consensus."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.spectral.shrinkage import Shrinkage

__all__ = ["both_ways", "consensus"]

Array = npt.NDArray[np.float64]


def consensus(problem: KeyProblem, rounds: int = 50) -> Array:
    """One-coin agreement: each user's share of answers that agree with the weighted majority."""
    r, sums, within = problem.responses, problem.sums, problem.within
    answers = r.answers_per_user
    counts = sums.choosers(problem.witness)
    per_vote = np.log(np.maximum(within.sizes, 2) - 1)[within.items]
    p = np.full(r.n_users, 0.7)
    for _ in range(rounds):
        votes = sums.choosers(problem.witness * np.log(p / (1 - p))) + counts * per_vote
        key = problem.settle(within.softmax(votes))
        new = np.clip((sums.choices(key) + 0.5) / (answers + 1), 0.01, 0.99)
        change = float(np.abs(new - p).max())
        p = new
        if change < 1e-6:
            break
    return p


def both_ways(found: Shrinkage) -> dict[str, Array]:
    """Scores along the leading axes, both ways up."""
    starts = {}
    for a, axis in enumerate(found.axes.scores.T):
        if np.ptp(axis) > 0:
            starts[f"axis {a + 1}"] = axis
            starts[f"axis {a + 1} reversed"] = -axis
    return starts
