"""From scores or weights to a likely answer key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.lookup import covered_items, right_options
from hitsndiffs.engines import Engine
from hitsndiffs.methods.probability import normal_cdf

__all__ = [
    "best_option_probabilities",
    "key_from_scores",
    "key_given",
    "right_errors",
    "share_errors",
]


def right_errors(data: Engine, key: Floats, accuracy: Floats, answers: Floats) -> Any:
    """Standard error of a user's share of right answers: chance, and doubt about the key.

    Chance is that of the user's number of answers, each right with the (smoothed) accuracy: even a
    user whose few answers all seem right may err.
    """
    chance = answers * accuracy * (1 - accuracy)
    doubt = data.choices(key * (1 - key))
    return np.sqrt(chance + doubt) / answers


def share_errors(data: Engine, weights: Floats, shares: Floats, answers: Floats) -> Floats:
    """Standard error of a user's mean weight: the spread over items, divided by √answers."""
    n = answers
    spread = np.maximum(data.choices(weights**2) - n * shares**2, 0.0)
    return np.where(n > 1, np.sqrt(spread / np.maximum(n - 1, 1) / np.maximum(n, 1)), np.nan)


def key_given(data: Engine, known: Mapping[Any, Any], guessed: Floats) -> Floats:
    """1 for right options where the key is known, and guesses elsewhere.

    NaN for all options of an item whose right option nobody chose. All of ``known`` must be items
    of the data.
    """
    right = np.zeros(data.n_options)
    right[right_options(data.items, known)] = 1.0
    chosen = data.items.sum(right) > 0
    covered = covered_items(data.items, known)[data.items.of_option]
    return np.where(covered, np.where(chosen, right, np.nan), guessed)


def key_from_scores(data: Engine, scores: Floats, means: Floats | None = None) -> Floats:
    """How likely each option is the best of its item: the one whose choosers are ablest.

    The mean score of an option's choosers (``means``, if already known) is an estimate with an
    error; options chosen by few are pulled towards the mean of all (a one-way random-effects model,
    by moments), and the probability is that of being the largest of independent normal variables.
    """
    counts = data.choosers_per_option.astype(float)
    if means is None:
        means = data.choosers(scores) / np.maximum(counts, 1e-300)
    n, q = counts.sum(), len(counts)
    if data.is_complete:
        squares = data.n_items * float(data.reduced(_squares, scores))
    else:
        squares = float(data.reduced(_squares, scores, data.answers_per_user))
    within = (squares - float((counts * means**2).sum())) / max(n - q, 1)
    centre = float((counts * means).sum() / n)
    between_sum = float((counts * (means - centre) ** 2).sum())
    size = n - (counts**2).sum() / n
    between = max((between_sum - (q - 1) * within) / max(size, 1e-300), 1e-3 * within, 1e-12)
    precision = 1 / between + counts / max(within, 1e-12)
    mean = (counts * (means - centre) / max(within, 1e-12)) / precision
    return best_option_probabilities(data, mean, np.sqrt(1 / precision))


def _squares(scores: Any, answers: Any = None) -> Any:
    squares = scores * scores
    return (squares if answers is None else squares * answers).sum()


def best_option_probabilities(data: Engine, mean: Floats, spread: Floats) -> Floats:
    """P(option is the largest of its item) for independent normal variables, by quadrature."""
    starts, sizes = data.items.starts[:-1], np.diff(data.items.starts)
    result = np.empty(len(mean))
    for size in np.unique(sizes):
        options = starts[sizes == size][:, None] + np.arange(size)
        for some in np.array_split(options, len(options) * size // 5000 + 1):
            result[some] = _largest(mean[some], spread[some])
    return data.items.share(result)


#: Where each variable's distribution is evaluated, in its own standard deviations; and the most
#: places per item.
DEVIATIONS = np.linspace(-4.5, 4.5, 25)
NODES = 400


def _largest(mean: Floats, spread: Floats) -> Floats:
    """For each row, P(variable is the row's largest).

    The variables' widths can differ by orders of magnitude (one chooser, or thousands). So the
    places of all variables are pooled, and P(a variable falls between two places) is exact.
    """
    places = (mean[:, :, None] + spread[:, :, None] * DEVIATIONS).reshape(len(mean), -1)
    places.sort(axis=1)
    if places.shape[1] > NODES:
        places = places[:, np.linspace(0, places.shape[1] - 1, NODES).astype(int)]
    below = normal_cdf((places[:, :, None] - mean[:, None, :]) / spread[:, None, :])
    others_below = below.prod(axis=2, keepdims=True) / np.maximum(below, 1e-300)
    middle = (others_below[:, 1:] + others_below[:, :-1]) / 2
    found: Floats = (np.diff(below, axis=1) * middle).sum(axis=1)
    return found
