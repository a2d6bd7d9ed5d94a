"""Which way up: witnesses of the direction of two labels.

Where two labels are shared, a solution and its mirror (every key exchanged, abilities reversed)
are equally likely, so the answers' likelihood cannot decide. Three witnesses can: the mean
informedness of the users under the key, P(says 1 | key 1) − P(says 1 | key 0), and the correlations
of the score with hierarchical Dawid–Skene and with the double-centred axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.methods.core.starts import centred_axes, confusions, double_centred
from hitsndiffs.methods.core.table import Table, sums

__all__ = ["Witnesses", "correlation", "rank_correlation"]

#: What the witnesses count for: learnt on 633 parts of real sets, right in .99 of them, and the
#: rest called toss-ups.
INFORMED, BY_CONFUSIONS, BY_AXIS = 1.3, 2.3, 1.5
#: Right less often than by guessing, by so many standard errors, is no chance.
CLEARLY = 2.5


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's correlation; 0 where one does not vary."""
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 1e-12 else 0.0


def rank_correlation(x: Floats, y: Floats) -> float:
    """Spearman's correlation; equal values share the middle of their places."""
    return correlation(_ranks(x), _ranks(y))


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    found: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return found


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Simple rankings that share no code with the model: they bound the confidence.

    Attributes
    ----------
    table
        The answers.
    """

    table: Table

    @cached_property
    def here(self) -> Flags:
        """Users who answered something."""
        return self.table.per_user > 0

    @cached_property
    def axes(self) -> Floats:
        """Option weights along the three leading axes of the item-centred answers."""
        return centred_axes(self.table, 3)

    @cached_property
    def majority(self) -> Floats:
        """The share of answers given by most."""
        return self.table.score(self.table.hard(self.table.counts, 1.0))

    @cached_property
    def confusions_key(self) -> Floats | None:
        """The key by hierarchical Dawid–Skene, where labels are shared."""
        return confusions(self.table) if self.table.coded else None

    @cached_property
    def confusions(self) -> Floats | None:
        """Scores by hierarchical Dawid–Skene, where labels are shared."""
        return None if self.confusions_key is None else self.table.score(self.confusions_key)

    @cached_property
    def axis_key(self) -> Floats | None:
        """The key by the double-centred axis, where labels are shared."""
        if not self.table.coded:
            return None
        return self.table.hard(double_centred(self.table).weights, 1.0)

    @cached_property
    def axis(self) -> Floats | None:
        """Scores by the double-centred axis, where labels are shared."""
        return None if self.axis_key is None else self.table.score(self.axis_key)

    def agree(self, score: Floats, other: Floats | None) -> float:
        """Rank correlation over the users who are here."""
        if other is None:
            return float("nan")
        return rank_correlation(score[self.here], other[self.here])

    def direction(self, key: Floats) -> float:
        """Log odds that a key for two labels is the right way up (the sum of the witnesses)."""
        table = self.table
        score = table.score(key)
        return (
            INFORMED * float(np.sign(self.informedness(key)))
            + BY_CONFUSIONS * self.agree(score, self.confusions)
            + BY_AXIS * self.agree(score, self.axis)
        )

    def among_users(self, key: Floats) -> float:
        """The users' mean informedness under a key for two labels, in standard errors.

        Of two camps that contradict each other, one user more decides nothing.
        """
        table = self.table
        first = table.labels[0] == 0
        of_item = sums(np.where(first, key, 0.0), table.of_option, table.n_items)
        said, right = first[table.option].astype(float), of_item[table.item]

        def share(weights: Floats) -> Floats:  # of label 1 among a user's answers
            mine = sums(weights * said, table.user, table.n_users)
            return np.asarray((mine + 0.5) / (sums(weights, table.user, table.n_users) + 1))

        each = (share(right) - share(1 - right))[self.here]
        return float(each.mean() / max(each.std() / np.sqrt(max(len(each) - 1, 1)), 1e-9))

    def contrary(self, key: Floats) -> float:
        """The share of users who are right clearly less often than by guessing."""
        table = self.table
        guess = (1 / table.options_each)[table.item]
        expected = sums(guess, table.user, table.n_users)
        error = np.sqrt(sums(guess * (1 - guess), table.user, table.n_users))
        below = (expected - table.right(key)) > CLEARLY * np.maximum(error, 1e-9)
        return float(below[self.here].mean())

    def informedness(self, key: Floats) -> float:
        """Mean over items: how the share of label 1 goes with its being right."""
        table = self.table
        first = table.labels[0] == 0
        # where an item has one option only, the other label's key is what is left
        of_item = sums(np.where(first, key, -key), table.of_option, table.n_items)
        votes = sums(np.where(first, table.shares, 0.0), table.of_option, table.n_items)
        asked = (table.per_item > 0) & (table.items.sizes > 1)
        if not asked.any():
            return 0.0
        of_item, votes = of_item[asked], votes[asked]
        return float(((of_item - of_item.mean()) * (votes - votes.mean())).sum())
