"""What everybody's share of right answers may be off by together.

An item's key is found from two things: its choosers are abler than the others, and it is popular.
Where several options rise with ability (graded answers, attractive half-truths), ability hardly
tells them apart and popularity decides, item after item in the same direction. Every share is then
too high, or too low, by a like amount; the order does not change. How much it may be is seen by
asking ability alone: with the key whose choosers do best on the *other* items, how far would the
shares move?
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.probability import normal_cdf

__all__ = ["common_errors", "key_by_ability", "off_together"]

Array = npt.NDArray[np.float64]

#: The mean of an option's choosers is taken with so many more, who are as able as all.
MORE_CHOOSERS = 3.0
#: The shift to the key by ability alone, in standard errors: 95 % intervals then cover 95 % of the
#: shares over the arena's settings (Bock and Samejima 94 %, tests 97 %).
SHIFT_PART = 0.75
#: The common error is told where it is this much of one's own, and not below this.
SAID, LEAST_SAID = 1.0, 0.05


def common_errors(problem: Problem, key: Array) -> Any:
    """The error that all shares have in common, for each user.

    Parameters
    ----------
    problem
        The data, and the known answers.
    key
        P(option is the key of its item), by which the shares are computed.
    """
    data = problem.data
    other = np.where(problem.known >= 0, key, key_by_ability(data, key))
    return SHIFT_PART * abs(data.choices(key - other) / data.answers_per_user)


def key_by_ability(data: Engine, key: Array) -> Array:
    """How likely each option is the key, if only ability tells: that with the ablest choosers.

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
    n = data.answers_per_user
    right = data.choices(key)
    share = right / n
    spread = np.sqrt(float((n * (share - float(share.mean())) ** 2).sum()) / float(n.sum()))
    if spread == 0.0:
        return key
    others = np.maximum(n - 1, 1)
    # the choosers' shares on the other items, summed; then their mean, with some more choosers
    total = data.choosers(right / others) - key * data.choosers(1.0 / others)
    of_item = items.sum(total) / items.sum(counts)
    mean = (total + MORE_CHOOSERS * of_item) / (counts + MORE_CHOOSERS)
    width = 1 / (counts + MORE_CHOOSERS)
    # abler than the two best of the other options
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
    """Say so where the shares' common error is larger than everybody's own."""
    if common is None or float(common.mean()) <= max(SAID * float(own.mean()), LEAST_SAID):
        return []
    return [
        "Able users are split over several options of an item, and which is the right one is hard "
        "to tell: all shares of right answers may be off together by up to "
        f"{2 * float(common.mean()):.0%}. "
        "The order does not depend on it."
    ]
