"""A short form of a test: the items that keep the order of the users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.methods.core.table import Table
from hitsndiffs.results.cells import Cells, Tabled
from hitsndiffs.results.metrics import accuracy

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["ShortForm", "short_form"]


#: In how many ways the users are split into those who choose the items and those who check them.
SPLITS = 10


def short_form(ranking: Ranking, sizes: Sequence[int] | None = None, *, seed: int = 0) -> ShortForm:
    """Which items would do for the same order, and how well they keep it for other users.

    Items are chosen one by one: the next is the one with which the number of right answers follows
    the whole test's best. To see how well that works, half of the users choose the items, and the
    order of the other half by these items is compared with their order by all items.

    Parameters
    ----------
    ranking
        A ranking by a method that knows how likely each option is to be right.
    sizes
        Numbers of items to try; by default 5, 10, 15, 20, 30, 50, 70, 100, …
    seed
        For the random halves.
    """
    if ranking.key_chances is None:
        raise InputError(
            f"Method '{ranking.method}' does not say how likely each option is to be right; rank "
            "with method='auto'."
        )
    right = _right(ranking)
    n = right.shape[1]
    if len(right) < 4:
        raise InputError(
            f"a short form needs at least four users with answers; got {count(len(right), 'user')}."
        )
    wanted = (5, *(b * k // 10 for b in (10, 100, 1000) for k in (10, 15, 20, 30, 50, 70)))
    tried = sorted({int(k) for k in (wanted if sizes is None else sizes) if 1 <= k < n})
    if not tried:
        raise InputError(f"sizes must name a number of items below {n:,}, the whole test.")
    kept = np.zeros((SPLITS, len(tried)))
    rng = np.random.default_rng(seed)
    for split in range(SPLITS):
        order = rng.permutation(len(right))
        choose, check = order[: len(order) // 2], order[len(order) // 2 :]
        items = _chosen(right[choose], tried[-1])
        whole = right[check].sum(1)
        for column, k in enumerate(tried):
            kept[split, column] = accuracy(whole, right[check][:, items[:k]].sum(1))
    return ShortForm(ranking, _chosen(right, tried[-1]), tuple(tried), np.nanmean(kept, axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class ShortForm(Tabled):
    """The items that keep the order; see :func:`short_form`.

    Attributes
    ----------
    items
        Item numbers, the most useful first.
    sizes, kept
        Numbers of items, and the rank correlation with the whole test for users who did not
        choose the items.
    """

    ranking: Ranking
    items: Ints
    sizes: tuple[int, ...]
    kept: Floats

    responses = property(attrgetter("ranking.responses"), doc="The answers.")

    def cells(self) -> Cells:
        """One row per size: ``items``, ``order_kept`` (1 = the same order), and what it adds.

        ``adds`` names the items that the row before does not have.
        """
        labels = self.ranking.responses.items
        new = [self.items[a:b] for a, b in pairwise((0, *self.sizes))]
        columns = {
            "items": np.array(self.sizes),
            "order_kept": np.floor(100 * self.kept) / 100,
            "adds": [", ".join(str(labels[i]) for i in own) for own in new],
        }
        return Cells.of(columns, words="adds")

    def sentence(self, enough: float = 0.95) -> str:
        """How many items keep the order (a rank correlation of ``enough`` with all items)."""
        n = self.ranking.responses.n_items
        for k, kept in zip(self.sizes, self.kept, strict=True):
            if kept >= enough:
                return (
                    f"{count(k, 'item')} of {n:,} would give nearly the same order (rank "
                    f"correlation {_floor(kept)}, for users who had no part in choosing them)."
                )
        return (
            f"{self.sizes[-1]:,} of {n:,} items do not keep the order (rank correlation "
            f"{_floor(self.kept[-1])}, below {enough:.2f})."
        )


def _floor(share: float) -> str:
    """Two decimals, never rounded up to what a number does not reach."""
    return f"{np.floor(100 * share) / 100:.2f}"


def _right(ranking: Ranking) -> Floats:
    """Users of the largest component × items: how likely the user's answer is right."""
    right = Table.of(ranking.data).cells(np.asarray(ranking.key_chances, dtype=float))
    return np.asarray(right[ranking.components == 0])


def _chosen(right: Floats, most: int) -> Ints:
    """Items in the order in which they make the number right follow the whole test's best."""
    x = right - right.mean(0)
    whole = x.sum(1)
    with_whole, own = x.T @ whole, (x**2).sum(0)
    chosen: list[int] = []
    total = np.zeros(len(x))
    free = np.ones(x.shape[1], dtype=bool)
    for _ in range(min(most, x.shape[1])):
        covariance = total @ whole + with_whole
        variance = total @ total + 2 * (x.T @ total) + own
        gain = np.where(free, covariance / np.sqrt(np.maximum(variance, 1e-12)), -np.inf)
        best = int(np.argmax(gain))
        chosen.append(best)
        free[best] = False
        total = total + x[:, best]
    return np.array(chosen, dtype=np.int64)
