"""Simple rankings that share no code with the model: starts of fits, and witnesses of doubt.

* the majority; where labels are shared, votes centred on the labels' shares;
* the leading axes of the item-centred answers, both ways up (HnD with its second mend);
* hierarchical Dawid-Skene and the double-centred axis, where labels are shared.

Where two labels are shared, a solution and its mirror (every key exchanged, abilities reversed)
are equally likely, so the likelihood cannot decide which way is up. Three witnesses can: the mean
informedness of the users under the key, P(says 1 | key 1) − P(says 1 | key 0), and the correlations
of the score with hierarchical Dawid–Skene and with the double-centred axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.data.ones import Ones
from hitsndiffs.engines import Engine
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.labels import label_numbers

__all__ = [
    "DISAGREE", "DoubleAxis", "Witnesses", "correlation", "double_centred", "on_double_centred",
    "rank_correlation",
]  # fmt: skip

#: Orders that correlate less than this disagree about who is good.
DISAGREE = 0.5

#: What the witnesses of direction count for: learnt on 633 parts of real sets, right in .99 of
#: them, and the rest called toss-ups.
INFORMED, BY_CONFUSIONS, BY_AXIS = 1.3, 2.3, 1.5
#: Right less often than by guessing, by so many standard errors, is no chance.
CLEARLY = 2.5
#: Pseudo-answers by the pooled row, for each row of a confusion matrix.
POOLED = 4.0


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
    """Simple keys and rankings of a table's answers, each made once.

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
    def confusions(self) -> Floats:
        """The key by hierarchical Dawid–Skene."""
        return confusions(self.table)

    @cached_property
    def axis(self) -> Floats:
        """The key by the double-centred axis."""
        return self.table.hard(double_centred(self.table).weights, 1.0)

    def starts(self) -> dict[str, Floats]:
        """Keys to start from, by name; both ends of the first two axes are among them."""
        table = self.table
        found = {"majority": table.softmax(2 * np.log(np.maximum(table.counts, 1e-9)))}
        if table.coded:
            found["centred votes"] = table.hard(table.centred_votes)
        for number, axis in enumerate(self.axes.T[:2], start=1):
            found[f"axis {number}"] = table.hard(axis)
            found[f"axis {number} reversed"] = table.hard(-axis)
        if table.two:
            found["confusions"] = self.confusions
            found["double-centred"] = table.items.share(0.9 * self.axis + 0.05)
        return found

    def agree(self, key: Floats, other: Floats) -> float:
        """Rank correlation of the scores by two keys."""
        here, score = self.here, self.table.score
        return rank_correlation(score(key)[here], score(other)[here])

    @property
    def majority(self) -> Floats:
        """The key of most votes."""
        return self.table.hard(self.table.counts, 1.0)

    # -- which way up -----------------------------------------------------------------------

    def against(self, key: Floats) -> bool:
        """Whether a key for two labels is held to be upside down."""
        return self.table.two and self.direction(key) < 0

    def direction(self, key: Floats) -> float:
        """Log odds that a key for two labels is the right way up (the sum of the witnesses)."""
        return (
            INFORMED * float(np.sign(self.informed(key)))
            + BY_CONFUSIONS * self.agree(key, self.confusions)
            + BY_AXIS * self.agree(key, self.axis)
        )

    def informed(self, key: Floats) -> float:
        """The users' mean informedness under a key for two labels, in standard errors.

        Of two camps that contradict each other, one user more decides nothing.
        """
        table, first = self.table, self.table.labels[0] == 0
        of_item = sums(np.where(first, key, 0.0), table.of_option, table.n_items)
        said, right = first[table.option].astype(float), of_item[table.item]

        def share(weights: Floats) -> Floats:  # of label 1 among a user's answers
            mine = sums(weights * said, table.user, table.n_users)
            return np.asarray((mine + 0.5) / (sums(weights, table.user, table.n_users) + 1))

        each = (share(right) - share(1 - right))[self.here]
        return float(each.mean() / max(each.std() / np.sqrt(max(len(each) - 1, 1)), 1e-9))

    def contrary(self, key: Floats) -> float:
        """The share of users clearly below guessing (0 for two labels, which have mirrors)."""
        table = self.table
        if table.two:
            return 0.0
        guess = (1 / table.options_each)[table.item]
        expected = sums(guess, table.user, table.n_users)
        error = np.sqrt(sums(guess * (1 - guess), table.user, table.n_users))
        below = (expected - table.right(key)) > CLEARLY * np.maximum(error, 1e-9)
        return float(below[self.here].mean())


def centred_axes(table: Table, count: int = 2, rounds: int = 40) -> Floats:
    """Option weights along the leading axes of the item-centred, shrunken answers."""
    m = table.n_users
    w = (1 / np.sqrt(table.counts + 1))[:, None]
    r = (1 / np.sqrt(table.per_user + 1))[:, None]
    share = table.shares[:, None]
    space = np.linalg.qr(np.random.default_rng(0).standard_normal((m, min(count, m))))[0]
    for _ in range(rounds):
        sums_of = table.choosers(r * space)
        weights = w * (sums_of - share * table.items.sum(sums_of))
        back = w * weights
        space = r * table.choices(back - table.items.sum(share * back))
        space = np.linalg.qr(space)[0]
    found: Floats = weights / w / (table.counts + 1)[:, None]
    return found


class DoubleAxis(NamedTuple):
    """The double-centred axis: option weights, user scores, rounds, and the last change."""

    weights: Floats
    scores: Floats
    rounds: int
    change: float


def double_centred(
    table: Table, shrink: float = 5.0, rounds: int = 100, tol: float = 1e-5
) -> DoubleAxis:
    """The axis left when the users' and the items' uses of the labels are taken out.

    The upper end is where the centred votes are.
    """
    numbers, k = table.labels
    m, n = table.n_users, table.n_items
    label = numbers[table.option]
    base = np.bincount(label, minlength=k) / len(label)
    user = np.bincount(table.user * k + label, minlength=m * k).reshape(m, k)
    usual = (user + shrink * base) / (table.per_user[:, None] + shrink)
    counts = np.bincount(table.item * k + label, minlength=n * k).reshape(n, k)
    rest = (counts + base) / (table.per_item[:, None] + 1) - base
    asked = Ones(table.indptr, table.item, n)
    said = Ones(table.indptr, table.item * k + label, n * k)
    asked_back, said_back = asked.T, said.T
    scores, weights = np.ones(m), rest.copy()
    change, done = np.inf, 0
    while done < rounds and change > tol:
        # the residual 1[says l] - user's share - item's share + base is never formed
        left = said @ weights.ravel() - ((asked @ weights) * usual).sum(1)
        left -= asked @ (rest * weights).sum(1)
        new = left / (asked @ (weights**2).sum(1) + 1e-3)
        new /= max(float(np.sqrt((new**2).mean())), 1e-9)
        back = (said_back @ new).reshape(n, k) - asked_back @ (new[:, None] * usual)
        back -= (asked_back @ new)[:, None] * rest
        weights = back / ((asked_back @ new**2)[:, None] + 1.0)
        change = float(np.abs(new - scores).max())
        scores = new
        done += 1
    of_options = weights[table.of_option, numbers]
    sign = 1.0 if float((of_options * table.centred_votes).sum()) >= 0 else -1.0
    return DoubleAxis(sign * of_options, sign * scores, done, change)


def on_double_centred(data: Engine, weights: Floats, shrink: float = 5.0) -> Any:
    """Everybody's place on a double-centred axis, by its option weights (a user array).

    One pass over the answers, on any engine.
    """
    items, counts = data.items, data.choosers_per_option.astype(float)
    names, numbers = label_numbers(items)
    label = np.eye(len(names))[numbers]
    base = counts @ label / counts.sum()
    mine = items.total(label * weights[:, None])
    rest = items.total(label * counts[:, None]) + base
    rest = rest / (data.answers_per_item + 1)[:, None] - base
    columns = np.column_stack([(mine * rest).sum(axis=1), (mine**2).sum(axis=1), mine])
    columns = np.column_stack([columns[items.of_option], label])
    columns[:, 0] = weights - columns[:, 0]
    return data.choices(columns, partial(_placed, base=base.tolist(), shrink=shrink))[:, 0]


def _placed(sums: Any, base: list[float], shrink: float) -> Any:
    """The regression of what the margins leave on the weights, for a block of users."""
    k, left = len(base), sums[:, 0]
    answers = sums[:, 2 + k :].sum(axis=1) + shrink
    for label, usual in enumerate(base):
        left = left - (sums[:, 2 + k + label] + shrink * usual) / answers * sums[:, 2 + label]
    return (left / (sums[:, 1] + 1e-3))[:, None]


def confusions(table: Table, rounds: int = 60) -> Floats:
    """The key by hierarchical Dawid-Skene: confusion matrices with pooled rows as priors."""
    numbers, k = table.labels
    m, n = table.n_users, table.n_items
    label = numbers[table.option]
    truth = table.by_label.copy()
    said = []
    for each in range(k):
        mine = label == each
        begins = np.searchsorted(table.user[mine], np.arange(m + 1))
        said.append(Ones(begins, table.item[mine], n))
    back = [part.T for part in said]
    for _ in range(rounds):
        counts = np.stack([part @ truth for part in said], axis=2)  # user, truth, answer
        pooled = counts.sum(axis=0) + 1 + np.eye(k)
        pooled /= pooled.sum(axis=1, keepdims=True)
        counts += POOLED * pooled
        logs = np.log(counts / counts.sum(axis=2, keepdims=True))
        value = np.log((truth.sum(axis=0) + 1) / (n + k)) + sum(
            back[each] @ logs[:, :, each] for each in range(k)
        )
        value -= value.max(axis=1, keepdims=True)
        new = np.exp(value)
        new /= new.sum(axis=1, keepdims=True)
        settled = np.abs(new - truth).max() < 1e-4
        truth = new
        if settled:
            break
    return table.items.share(truth[table.of_option, numbers])
