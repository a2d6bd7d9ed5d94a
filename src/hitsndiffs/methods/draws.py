"""Pseudo-random draws that depend on the answers, not on order or names.

Resampling users at random would make a result depend on the order of the rows. Here a user's
numbers follow from how often the chosen options were chosen and their items answered: the same data
give the same draws in any order and under any labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Words
from hitsndiffs.data.mixing import mixed
from hitsndiffs.engines import Engine

__all__ = ["item_words", "sampled_users", "user_draws"]

#: A sample with fewer different answer sheets than this does not stand for all users, unless it is
#: small and most of its sheets are different.
FEWEST_SHEETS = 200


def user_draws(data: Engine, count: int, seed: int = 0) -> Floats:
    """Uniform numbers in [0, 1), one row per user; users with equal answers share theirs.

    They follow from an exact sum over the chosen options, which is the same on every engine.

    >>> from hitsndiffs import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> data = open_engine(Responses.from_wide([["A", "x"], ["B", "x"], ["A", "x"]]))
    >>> found = user_draws(data, 2)
    >>> found.shape, bool((found[0] == found[2]).all())
    ((3, 2), True)
    """
    prints = data.fingerprints(mixed(_option_words(data)))
    turns = mixed(np.arange(count, dtype=np.uint64) + np.uint64(1 + 1000 * seed))
    words = np.stack([mixed(prints ^ turn) for turn in turns], axis=1)
    draws: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return draws


def sampled_users(data: Engine, share: float, seed: int = 0, *, bring: bool = False) -> Any:
    """Mark about this share of the users; the sample's answers depend only on all answers.

    Users with equal answers are chosen together. Where this would leave few different answer
    sheets, the users are lined up by their sheets, and every k-th is chosen. This needs one number
    per user in this process. If the engine keeps its users elsewhere, and they may not be brought
    here (``bring``), the result is ``None``.
    """
    draws = user_draws(data, 1, seed)[:, 0]
    chosen = draws < share
    if share >= 1:
        return chosen
    fewest = min(FEWEST_SHEETS, share * data.n_users / 2)
    if int(chosen.sum()) >= fewest:
        values = data.collect(draws, chosen)
        if len(np.unique(values)) >= fewest:
            return chosen
    if data.arrays != "numpy" and not bring:
        return None
    marks = np.zeros(data.n_users, dtype=bool)
    marks[np.argsort(data.collect(draws), kind="stable")[:: int(1 / share)]] = True
    return data.user_array(marks)


def item_words(data: Engine) -> Words:
    """A number per item that follows from how often its options were chosen."""
    words: Words = mixed(np.add.reduceat(_option_words(data), data.items.starts[:-1]))
    return words


def _option_words(data: Engine) -> Words:
    """A number per option that follows from how often it was chosen and its item answered."""
    chosen = data.choosers_per_option.astype(np.uint64)
    answered = data.answers_per_item.astype(np.uint64)[data.items.of_option]
    words: Words = mixed(chosen) ^ mixed(mixed(answered))
    return words
