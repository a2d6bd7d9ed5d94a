"""HnD with both margins out: ability is what neither the user nor the item explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.core.witnesses import double_centred
from hitsndiffs.methods.keys import best_option_probabilities, share_errors
from hitsndiffs.methods.labels import need_shared

__all__ = ["DoubleCentred"]

#: Weights that differ by less (of the largest) are equal but for rounding.
EQUAL = 1e-9
#: Standard errors by which the votes go along with the weights where they tell the direction. Of
#: crowds with as many misled users as able ones, 8 % are then upside down unsaid (17 % with two).
TELLING = 3.0


@dataclass(kw_only=True, eq=False)
class DoubleCentred(Method):
    """The axis that is left when users' and items' uses of the labels are taken out.

    Where all items share their labels (yes and no, A to D, classes of images), the strongest axis
    is often who says *yes* most. So each user's share of each label and each item's share of it
    leave the one-hot table first,

    ``R[u, i, l] = 1[u says l on i] - share(u, l) - share(i, l) + share(l)``,

    and what is left is fitted by rank one, ``R[u, i, l] ≈ t[u] c[i, l]``, by turns: for each user,
    and for each item, a regression through the origin. ``R`` is never made: each turn is a few
    sums over answers. The direction is that of the votes centred on the labels' shares. The key is
    each item's label with the largest ``c``, and the score is the share of answers that are right
    under it; ``t`` is the ability.

    Parameters
    ----------
    shrink
        Every user's shares of the labels are credited with this many answers by the average user.
    tol, max_iterations
        The rounds end when no ability changes by more than ``tol`` (their mean square is 1).

    Notes
    -----
    The key's probabilities take the abilities for known. With few or weak users they are too sure.

    With the items' margin alone this is homogeneity analysis, as HnD is (Section III of the paper);
    taking out both margins is the interaction of a two-way table (Gabriel 1978, *JRSS B* 40:186).

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> told = ["ynynyn", "ynynyn", "ynynyy", "ynynnn", "yyynyy", "nnnynn"]
    >>> DoubleCentred().fit(Responses.from_wide([list(t) for t in told])).scores_.round(2).tolist()
    [0.83, 0.83, 1.0, 0.67, 0.83, 0.17]
    """

    name: ClassVar[str] = "double-centred"
    summary: ClassVar[str] = "HnD after both users' and items' use of the labels is taken out"
    use: ClassVar[str] = "items that share their labels, where some people lean to one of them"
    reads_labels: ClassVar[bool] = True

    shrink: float = 5.0
    tol: float = 1e-6
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        need_shared(data.items, "Method 'double-centred'", "it takes out users' use of each label")
        table = Table.of(data)
        axis = double_centred(table, self.shrink, self.max_iterations, self.tol)
        weights = axis.weights
        best = weights >= data.items.max(weights) - EQUAL * np.abs(weights).max()
        key = data.items.share(best.astype(float))
        n = data.answers_per_user
        right = data.choices(key) / n
        return Fit(
            scores=right,
            option_weights=weights,
            key_probabilities=best_option_probabilities(data, weights, _errors(table, axis.scores)),
            correct=right,
            abilities=axis.scores,
            standard_errors=share_errors(data, key, right, n),
            converged=axis.change <= self.tol,
            n_iterations=axis.rounds,
            residual=axis.change,
            notes=_toss_up(table, weights),
        )


def _errors(table: Table, scores: Floats) -> Floats:
    """Standard errors of the weights: those of the slopes of regressions on the scores.

    They are taken for independent, and are not: shares add up to 1. The factor makes the errors of
    differences right where all labels are equally frequent, and always where there are two.
    """
    k = table.labels[1]
    share = (table.counts + 0.5) / (table.per_item[table.of_option] + 1.0)
    chance = share * (1 - share) * k / max(k - 1, 1)
    spread = sums(scores[table.user] ** 2, table.item, table.n_items)[table.of_option] + 1.0
    found: Floats = np.sqrt(chance / spread)
    return found


def _toss_up(table: Table, weights: Floats) -> tuple[str, ...]:
    """Say so where the votes hardly tell the direction."""
    votes = table.centred_votes
    size = float(np.sqrt((weights @ weights) * (votes @ votes)))
    free = table.n_options - table.n_items  # shares of an item add up to 1
    if size > 0 and abs(float(weights @ votes)) / size * np.sqrt(free) >= TELLING:
        return ()
    return (
        "Which end of the ranking is the better one may be a toss-up: the votes, centred on how "
        "often each label is used, hardly tell.",
    )
