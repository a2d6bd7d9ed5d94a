"""Two users side by side: who is better, judged by the items that both answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.words import count, per_cent
from hitsndiffs.methods.probability import normal_cdf
from hitsndiffs.results.uncertainty import beliefs_of

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["Difference", "Versus", "versus"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """An item that two users answered differently.

    Attributes
    ----------
    item
        Its label.
    a, b
        The two answers.
    a_right, b_right
        How likely each is the right one; ``None`` for methods without a key.
    """

    item: Any
    a: Any
    b: Any
    a_right: float | None
    b_right: float | None


@dataclass(frozen=True)
class Versus:
    """Two users side by side.

    Attributes
    ----------
    a, b
        The users.
    probability
        That ``a`` is above ``b``.
    shared
        How many items both answered.
    items
        The items on which they differ, those that speak most for one of them first.
    """

    a: Any
    b: Any
    probability: float
    shared: int
    items: tuple[Difference, ...] = field(repr=False)

    def __str__(self) -> str:
        """One sentence."""
        first, second, chance = self.a, self.b, self.probability
        if chance < 0.5:
            first, second, chance = second, first, 1 - chance
        return (
            f"{first} is above {second} with a probability of {per_cent(chance)}: they differ on "
            f"{len(self.items)} of {count(self.shared, 'item')} that both answered."
        )


def versus(ranking: Ranking, a: Any, b: Any) -> Versus:
    """Compare two users (see :meth:`hitsndiffs.Ranking.versus`)."""
    users = np.array([ranking.user_number(a), ranking.user_number(b)])
    r, fit = ranking.responses, ranking.fit
    indptr, chosen = r.some_rows(users)
    mine, theirs = chosen[indptr[0] : indptr[1]], chosen[indptr[1] : indptr[2]]
    _, at, there = np.intersect1d(r.option_items[mine], r.option_items[theirs], return_indices=True)
    mine, theirs = mine[at].astype(np.int64), theirs[there].astype(np.int64)
    held = fit.key_probabilities
    worth = held if held is not None else fit.option_weights
    gain = np.zeros(len(mine)) if worth is None else worth[mine] - worth[theirs]
    chance = _probability(ranking, users, gain)
    differ = np.flatnonzero(mine != theirs)
    differ = differ[np.argsort(-np.abs(gain[differ]), kind="stable")]
    labels = r.option_labels
    items = tuple(
        Difference(
            item=python_value(r.items[r.option_items[mine[i]]]),
            a=python_value(labels[mine[i]]),
            b=python_value(labels[theirs[i]]),
            a_right=None if held is None else float(held[mine[i]]),
            b_right=None if held is None else float(held[theirs[i]]),
        )
        for i in differ.tolist()
    )
    return Versus(
        python_value(r.users[users[0]]), python_value(r.users[users[1]]), chance, len(mine), items
    )


def _probability(
    ranking: Ranking,
    users: npt.NDArray[np.int64],
    gain: Vector,
) -> float:
    """How likely the first user is above the second.

    On the items that both answered, what their answers differ by is a paired sample: items that
    are hard for everybody drop out. With few shared items the scores know more, and are used.
    """
    if users[0] == users[1]:
        return 0.5
    if (
        ranking.components[users[0]] != ranking.components[users[1]]
        or (ranking.components[users] < 0).any()
    ):
        return 0.5  # they cannot be compared
    z = _by_scores(ranking, users)
    answered = ranking.responses.answers_per_user[users]
    if len(gain) >= 0.5 * answered.max() and (ranking.by == "correct" or not np.isfinite(z)):
        z = _by_pairs(ranking, gain)
    chance = 0.5 if not np.isfinite(z) else float(normal_cdf(np.array([z]))[0])
    if ranking.verdict.doubt in ("unknown", "direction"):
        sure = ranking.confidence or 0.0
        chance = sure * chance + (1 - sure) * 0.5
    return chance


def _by_scores(ranking: Ranking, users: npt.NDArray[np.int64]) -> float:
    everybody = (ranking.components == ranking.components[users[0]]) & np.isfinite(
        ranking.standard_errors
    )
    if not everybody[users].all() or everybody.sum() < 2:
        return float("nan")
    beliefs = beliefs_of(ranking.scores[everybody], ranking.own_errors[everybody])
    at = np.searchsorted(np.flatnonzero(everybody), users)
    spread = sqrt(float((beliefs.sd[at] ** 2).sum()))
    apart = float(beliefs.mean[at[0]] - beliefs.mean[at[1]])
    return apart / spread if spread > 0 else float("nan")


def _by_pairs(ranking: Ranking, gain: Vector) -> float:
    """The mean gain over its spread; both shrunk by how much users differ in all."""
    n = len(gain)
    mean, squares = float(gain.mean()), float((gain**2).sum())
    # the variance of a sum of paired differences, with one item more that speaks for neither
    variance = (squares + 1) / n**2
    prior = _prior(ranking)
    if prior is not None:
        mean, variance = mean * prior / (prior + variance), prior * variance / (prior + variance)
    return mean / sqrt(variance) if variance > 0 else 0.0


def _prior(ranking: Ranking) -> float | None:
    """The variance of the difference between two users' true shares, if that is known."""
    if ranking.by != "correct":
        return None
    users = (ranking.components == 0) & np.isfinite(ranking.own_errors)
    if users.sum() < 3:
        return None
    total = float(ranking.scores[users].var(ddof=1))
    return 2 * max(total - float((ranking.own_errors[users] ** 2).mean()), 1e-3 * total, 1e-12)
