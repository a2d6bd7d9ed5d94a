"""Chance that belongs to the data: draws that depend on the answers, not on order or names.

Resampling users at random would make a result depend on the order of the rows. Here every option
has pseudo-random numbers that follow from how often it was chosen, and every user those that follow
from the options chosen: the same data give the same draws in any order and under any labels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Sums

__all__ = ["option_draws", "user_draws"]

Array = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


def option_draws(responses: Responses, count: int, seed: int = 0) -> Array:
    """Uniform numbers in [0, 1), one row per option; options chosen equally often share theirs.

    >>> r = Responses.from_wide([["A", "x"], ["B", "x"]])
    >>> option_draws(r, 2).shape
    (3, 2)
    """
    chosen = responses.choosers_per_option.astype(np.uint64)
    answered = responses.answers_per_item.astype(np.uint64)[responses.option_items]
    counts = _mixed(chosen) ^ _mixed(_mixed(answered))
    turns = np.arange(count, dtype=np.uint64) + np.uint64(1 + 1000 * seed)
    return _uniform(counts[:, None] ^ _mixed(turns)[None, :])


def user_draws(responses: Responses, sums: Sums, count: int, seed: int = 0) -> Array:
    """Uniform numbers in [0, 1), one row per user; users with equal answers share theirs.

    The sum of the chosen options' numbers, cut after its leading digits: nearly equal answers still
    give unrelated numbers.
    """
    total = sums.choices(option_draws(responses, count, seed))
    return np.asarray((total * 4096.0) % 1.0)


def _mixed(x: Words) -> Words:
    """Splitmix64: every bit of the input moves every bit of the output."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _uniform(x: Words) -> Array:
    return np.asarray((_mixed(x) >> np.uint64(11)).astype(np.float64) * 2.0**-53)
