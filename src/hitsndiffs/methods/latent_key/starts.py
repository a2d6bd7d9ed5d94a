"""Starts of the latent-key model: the leading axes, both ways up, and the consensus."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.spectral.shrinkage import Shrinkage

__all__ = ["both_ways", "consensus"]

Array = npt.NDArray[np.float64]

#: Everybody's initial log odds of being right.
START_VOTE = float(np.log(0.7 / 0.3))


def consensus(problem: Problem, rounds: int = 50) -> Any:
    """One-coin agreement: each user's share of answers that agree with the weighted majority."""
    data, items = problem.data, problem.items
    counts = data.choosers(problem.witness)
    others = counts * np.log(np.maximum(items.sizes, 2) - 1)[items.of_option]
    key = problem.settle(items.softmax(counts * START_VOTE + others))
    for _ in range(rounds):
        votes = data.through(key[:, None], _votes, data.answers_per_user, problem.witness)[:, 0]
        new = problem.settle(items.softmax(votes + others))
        change = float(np.abs(new - key).max())
        key = new
        if change < 1e-6:
            break
    return data.mapped(key[:, None], _accuracy, data.answers_per_user)[:, 0]


def _accuracy(right: Array, answers: Array) -> Array:
    return np.clip((right + 0.5) / (answers[:, None] + 1), 0.01, 0.99)


def _votes(right: Array, answers: Array, witness: Array) -> Array:
    p = _accuracy(right, answers)
    return witness[:, None] * np.log(p / (1 - p))


def both_ways(found: Shrinkage, most: int) -> dict[str, Array]:
    """Scores along the leading axes (at most ``most``), both ways up."""
    starts = {}
    for a, axis in enumerate(found.axes.scores.T[:most]):
        if float(axis.max()) > float(axis.min()):
            starts[f"axis {a + 1}"] = axis
            starts[f"axis {a + 1} reversed"] = -axis
    return starts
