"""GLAD: ability times how easy the item is (Whitehill and others 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.labels import sharing
from hitsndiffs.methods.probability import STEADY, logistic

__all__ = ["GLAD"]

#: Nearer to 0 the curvature there is taken.
NEAR = 1e-6
#: The logarithm of easiness moves by at most this much in a round.
LARGEST_STEP = 1.0


@dataclass(kw_only=True, eq=False)
class GLAD(Method):
    """Right answers follow the product of the user's ability and the item's easiness.

    User ``u`` is right on item ``i`` with probability ``1 / (1 + exp(-α[u] β[i]))``, ``β > 0``, and
    all wrong options are equally likely. Abilities ``α`` and ``log β`` are normal around 1 with
    variance 1. Fitted by expectation–maximisation, in turns: how likely each option is the right
    one; a step for every ability; and one for every ``log β``.

    Parameters
    ----------
    tol, max_iterations
        The rounds end when no option's probability and no ability changes by more than ``tol``.

    Notes
    -----
    Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009, *Whose vote should count more: optimal
    integration of labels from labelers of unknown expertise*, NIPS 22.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("BCC")])
    >>> (-GLAD().fit(r).scores_).argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "glad"
    summary: ClassVar[str] = "right answers follow ability times the item's easiness"
    use: ClassVar[str] = "crowd labels with easy and hard items; as a rival in comparisons"
    reads_labels: ClassVar[bool] = True

    tol: float = 1e-4
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        table = Table.of(data)
        user, item, option = table.user, table.item, table.option
        shared = sharing(data.items)
        sizes = data.items.sizes if shared.apart else np.full(table.n_items, len(shared.labels))
        wrong_options = np.log(np.maximum(sizes - 1.0, 1.0))[table.of_option] * table.counts
        ability, easy = np.ones(table.n_users), np.ones(table.n_items)  # easy: log β
        key, change, rounds = np.zeros(table.n_options), np.inf, 0
        while True:
            # E: how likely each option is the right one; log(P(right) / P(wrong)) is α β
            beta = np.exp(easy)
            logs = beta[table.of_option] * table.choosers(ability) + wrong_options
            new = table.softmax(np.round(logs, STEADY))
            change = max(change if rounds else 0.0, float(np.abs(new - key).max()))
            key = new
            x = ability[user] * beta[item]
            right = logistic(x.copy())
            if rounds == self.max_iterations or (rounds and change <= self.tol):
                break
            # M: a step for the abilities …
            slope = beta[item]
            uphill = sums((key[option] - right) * slope, user, table.n_users) - (ability - 1)
            step = uphill / (sums(_bend(x, right) * slope**2, user, table.n_users) + 1)
            ability = ability + step
            # … and one for log β
            x = ability[user] * slope
            right = logistic(x.copy())
            more = (key[option] - right) * x
            uphill = sums(more, item, table.n_items) - (easy - 1)
            bend = sums(_bend(x, right) * x**2 + np.maximum(-more, 0), item, table.n_items) + 1
            easy = easy + np.clip(uphill / bend, -LARGEST_STEP, LARGEST_STEP)
            change = float(np.abs(step).max())
            rounds += 1
        curvature = sums(right * (1 - right) * beta[item] ** 2, user, table.n_users) + 1
        return Fit(
            scores=ability,
            option_weights=key,
            key_probabilities=key,
            correct=table.score(key),
            abilities=ability,
            standard_errors=1 / np.sqrt(curvature),
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
        )


def _bend(x: Floats, right: Floats) -> Floats:
    """The curvature of a parabola that touches ``log P(right)`` at ``x`` and is nowhere above it.

    Steps to its top never overshoot (Jaakkola and Jordan 2000).
    """
    far = np.abs(x) > NEAR
    found: Floats = np.where(far, (right - 0.5) / np.where(far, x, 1.0), 0.25)
    return found
