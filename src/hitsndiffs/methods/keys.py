"""From scores or weights to a likely answer key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.orientation import known_options
from hitsndiffs.responses import Responses
from hitsndiffs.sums import Sums

__all__ = [
    "best_option_probabilities",
    "covered_items",
    "key_from_scores",
    "key_given",
    "share_errors",
    "share_within_items",
    "softmax_within_items",
]

Vector = npt.NDArray[np.float64]


def share_within_items(responses: Responses, weights: Vector) -> Vector:
    """Non-negative option weights divided by their sum within the item."""
    starts, items = responses.item_starts[:-1], responses.option_items
    totals = np.add.reduceat(weights, starts)
    sizes = np.diff(responses.item_starts)
    even = 1.0 / sizes
    safe = np.where(totals > 0, totals, 1.0)
    return np.where(totals[items] > 0, weights / safe[items], even[items])


def softmax_within_items(responses: Responses, logs: Vector) -> Vector:
    """Exponentials of option values, divided by their sum within the item (nothing overflows)."""
    starts, items = responses.item_starts[:-1], responses.option_items
    powers = np.exp(logs - np.maximum.reduceat(logs, starts)[items])
    return powers / np.add.reduceat(powers, starts)[items]


def share_errors(sums: Sums, weights: Vector, shares: Vector, answers: Vector) -> Vector:
    """Standard error of a user's mean weight: the spread over the items, over √answers."""
    n = answers
    spread = np.maximum(sums.choices(weights**2) - n * shares**2, 0.0)
    return np.where(n > 1, np.sqrt(spread / np.maximum(n - 1, 1) / np.maximum(n, 1)), np.nan)


def covered_items(responses: Responses, known: Mapping[Any, Any]) -> npt.NDArray[np.bool_]:
    """Which items a mapping by item names."""
    names = {str(item).strip() for item in known}
    return np.array([str(item).strip() in names for item in responses.items], dtype=bool)


def key_given(responses: Responses, known: Mapping[Any, Any], guessed: Vector) -> Vector:
    """1 for right options where the key is known, and guesses elsewhere.

    NaN for all options of an item whose right option nobody chose. All of ``known`` must be items
    of the data.
    """
    right = np.zeros(responses.n_options)
    right[known_options(responses, known)] = 1.0
    chosen = np.add.reduceat(right, responses.item_starts[:-1])[responses.option_items] > 0
    covered = covered_items(responses, known)[responses.option_items]
    return np.where(covered, np.where(chosen, right, np.nan), guessed)


def key_from_scores(responses: Responses, sums: Sums, scores: Vector) -> Vector:
    """How likely each option is the best of its item: the one whose choosers are ablest.

    The mean score of an option's choosers is an estimate with an error; options chosen by few are
    pulled towards the mean of all (a one-way random-effects model, by moments), and the
    probability is that of being the largest of independent normal variables.
    """
    counts = responses.choosers_per_option.astype(float)
    means = sums.choosers(scores) / counts
    squares = sums.choosers(scores**2)
    n, q = counts.sum(), len(counts)
    within = float((squares - counts * means**2).sum() / max(n - q, 1))
    centre = float((counts * means).sum() / n)
    between_sum = float((counts * (means - centre) ** 2).sum())
    size = n - (counts**2).sum() / n
    between = max((between_sum - (q - 1) * within) / max(size, 1e-300), 1e-3 * within, 1e-12)
    precision = 1 / between + counts / max(within, 1e-12)
    mean = (counts * (means - centre) / max(within, 1e-12)) / precision
    return best_option_probabilities(responses, mean, np.sqrt(1 / precision))


def best_option_probabilities(responses: Responses, mean: Vector, spread: Vector) -> Vector:
    """P(option is the largest of its item) for independent normal variables, by quadrature."""
    from scipy.special import log_ndtr

    starts, items = responses.item_starts[:-1], responses.option_items
    top = np.maximum.reduceat(mean, starts)[items]
    widest = np.maximum.reduceat(spread, starts)[items]
    grid = np.linspace(-8, 6, 141)
    result = np.zeros(len(mean))
    # integrate over the value z of the best: φ_o(z) Π_{h≠o} Φ_h(z)
    for g in grid:
        z = (top + g * widest - mean) / spread
        below = log_ndtr(z)
        others = np.add.reduceat(below, starts)[items] - below
        result += np.exp(-0.5 * z**2 + others) / spread * widest
    return share_within_items(responses, result)
