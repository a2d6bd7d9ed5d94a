"""The error that all shares of right answers have in common.

Two things identify an item's key: its choosers are abler than the others, and it is popular. Where
several options rise with ability (graded answers, attractive half-truths), ability hardly tells
them apart and popularity decides, item after item in the same direction. Then all shares are too
high, or too low, by a similar amount; the order does not change. To see how large this error may
be, ask ability alone: how far would the shares move with the key whose choosers do best on the
*other* items?

With few choosers they would also move by chance, even where only the key rises with ability (a
plain test). There the choosers of an item's wrong options are equally able, which can be tested.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.probability import normal_cdf

__all__ = ["common_errors", "key_by_ability", "off_together", "wrong_ones_differ"]

#: An option's mean includes this many further choosers of the item's average ability.
MORE_CHOOSERS = 3.0
#: The common error is this part of the shift to the key by ability alone: 95 % intervals then cover
#: about 95 % of the shares over the arena's settings.
SHIFT_PART = 0.75
#: The common error is noted if it exceeds this multiple of users' own errors, and this value.
SAID, LEAST_SAID = 1.0, 0.05


def common_errors(problem: Problem, key: Floats) -> Any:
    """The error that all shares of right answers by a key have in common, for each user."""
    data = problem.data
    other = np.where(problem.known >= 0, key, key_by_ability(data, key))
    part = SHIFT_PART * np.sqrt(wrong_ones_differ(data, key))  # otherwise the shift is chance
    return part * abs(data.choices(key - other) / data.answers_per_user)


def wrong_ones_differ(data: Engine, key: Floats) -> float:
    """The probability that choosers of an item's wrong options differ in ability, over all items.

    If they are alike, their squared differences, in units of what chance gives, are χ². This is
    compared with the difference that fits best, both equally likely a priori. The result is ½ where
    nothing speaks for a difference (a shift by chance alone cannot be ruled out), and 1 where items
    have one wrong option.

    >>> from hitsndiffs import simulate
    >>> from hitsndiffs.engines import open_engine
    >>> sim = simulate("samejima", seed=0)
    >>> items = sim.responses.items[sim.responses.structure.of_option]
    >>> labels = sim.responses.option_labels
    >>> key = np.array([float(sim.key[i] == x) for i, x in zip(items, labels, strict=True)])
    >>> wrong_ones_differ(open_engine(sim.responses), key) > 0.99
    True
    """
    items, counts = data.items, data.choosers_per_option.astype(float)
    spread, total = _on_other_items(data, key)
    wrong = (1 - key) * counts
    of_item = np.maximum(items.sum(wrong), 1e-9)
    mean = total / np.maximum(counts, 1e-9)
    away = mean - items.sum(wrong * mean) / of_item
    freedom = float(((1 - key) * (1 - wrong / of_item)).sum())
    if freedom < 1 or spread == 0.0:
        return 1.0
    ratio = max(float(wrong @ away**2) / (freedom * spread**2), 1.0)
    gain = freedom / 2 * (ratio - 1 - np.log(ratio))
    return float(1 / (1 + np.exp(-np.clip(gain, -700, 700))))


def _on_other_items(data: Engine, key: Floats) -> tuple[float, Floats]:
    """The spread of the shares of right answers, and their sums over each option's choosers.

    For an option's choosers these are the shares on the other items.
    """
    n = data.answers_per_user
    right = data.choices(key)
    share = right / n
    spread = np.sqrt(float((n * (share - float(share.mean())) ** 2).sum()) / float(n.sum()))
    others = np.maximum(n - 1, 1)
    return float(spread), data.choosers(right / others) - key * data.choosers(1.0 / others)


def key_by_ability(data: Engine, key: Floats) -> Floats:
    """How likely each option is the key by ability alone: the one with the ablest choosers.

    Ability is the share of right answers on the other items.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> data = open_engine(Responses.from_wide([list(s) for s in ("AAA", "AAB", "BBB")]))
    >>> key = np.array([1.0, 0.0, 1.0, 0.0, 0.5, 0.5])
    >>> key_by_ability(data, key).round(2).tolist()
    [0.76, 0.24, 0.76, 0.24, 0.76, 0.24]
    """
    items, counts = data.items, data.choosers_per_option.astype(float)
    spread, total = _on_other_items(data, key)
    if spread == 0.0:
        return key
    # the mean of the choosers, with some further ones
    of_item = items.sum(total) / items.sum(counts)
    mean = (total + MORE_CHOOSERS * of_item) / (counts + MORE_CHOOSERS)
    width = 1 / (counts + MORE_CHOOSERS)
    # the chance that they are abler than those of the two best other options
    chance, rest, compared = np.ones(len(mean)), mean, np.zeros(len(mean))
    for _ in range(3):
        best = items.max(rest)
        error = spread * np.sqrt(width + items.max(np.where(rest == best, width, 0.0)))
        other = (mean != best) & np.isfinite(best) & (compared < 2)
        chance *= np.where(other, normal_cdf((mean - np.where(other, best, mean)) / error), 1.0)
        compared = compared + other
        rest = np.where(rest == best, -np.inf, rest)
    return items.share(chance)


def off_together(own: Any, common: Any | None) -> list[str]:
    """Note where the shares' common error is larger than users' own errors."""
    if common is None or float(common.mean()) <= max(SAID * float(own.mean()), LEAST_SAID):
        return []
    return [
        "Able users are split over several options of an item, and which is the right one is hard "
        "to tell: all shares of right answers may be off together by up to "
        f"{200 * float(common.mean()):.0f} %. "
        "The order does not depend on it."
    ]
