"""What a solution foresees of the right answers, if it may err about some of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.found import Search
from hitsndiffs.methods.probability import normal_cdf

__all__ = ["foreseen"]

Array = npt.NDArray[np.float64]

#: The key of a right solution is wrong this often, over the root of the number of witnesses, within
#: bounds; then the right option is one with able choosers.
KEY_ERRORS, FEWEST_ERRORS, MOST_ERRORS = 1.2, 0.1, 0.5
#: How much choosers' leads in ability differ from item to item, beyond chance (in their spread).
UNEVEN = 0.2
#: No answer is taken to be clearly less likely than this.
KEY_FLOOR = 0.04


def foreseen(found: Search, key: Array, ability: Array) -> Array:
    """How likely each option is the right one, for a solution whose key may err.

    Where it errs, the right option is still one whose choosers are able.

    Parameters
    ----------
    found
        The search: the data, and who counts as one witness.
    key
        P(option is the key of its item), by the solution.
    ability
        Of the users, by the solution.
    """
    data, once = found.problem.data, found.once
    counts = np.maximum(data.choosers(once), 1e-9)
    ability = (ability - float(ability.mean())) / max(float(ability.std()), 1e-12)
    sums = data.choosers(once * ability)
    others = np.maximum(data.items.sum(counts) - counts, 1e-9)
    lead = sums / counts - (data.items.sum(sums) - sums) / others
    z = lead / np.sqrt(1 / counts + 1 / others + UNEVEN**2)
    able = data.items.share(normal_cdf(z) + 1e-12)
    key = np.nan_to_num(key)
    two = (data.items.sizes == 2)[data.items.of_option]
    able = np.where(two, 1 - key, able)  # of two options there is but one other
    errors = min(max(KEY_ERRORS / np.sqrt(float(once.sum())), FEWEST_ERRORS), MOST_ERRORS)
    errors = np.where(two, FEWEST_ERRORS, errors)
    likely = (1 - errors) * key + errors * able
    return data.items.share(np.maximum(likely, KEY_FLOOR))
