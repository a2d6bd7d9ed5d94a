"""The options' part of a round where all items share two labels (see :mod:`.leanings`).

Each of an item's two options is a candidate for its key. Over the grid of abilities and leanings a
candidate's odds of being chosen, if it is the key, are ``exp(b)`` times those of its label. So it
needs no exponentials over the grid, and sums over the grid are products with a few columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.methods.latent_key.candidates import Weighed, for_blocks

if TYPE_CHECKING:
    from hitsndiffs.methods.latent_key.leanings import LeaningProblem

__all__ = [
    "ABILITIES",
    "LEANINGS",
    "SLOPE",
    "SLOPE_VARIANCE",
    "Signal",
    "label_lines",
    "log_odds_against",
    "told",
    "weigh_labels",
]

#: The points of ability, and the number of points of leaning.
ABILITIES: Floats = np.linspace(-4.0, 4.0, 13)
LEANINGS = 11
#: The ability of every pair; and its powers 1, θ and θ², for sums over all pairs.
THETA: Floats = np.repeat(ABILITIES, LEANINGS)
POWERS: Floats = THETA[:, None] ** np.arange(3)
#: Newton steps in the first round, and in every other.
FIRST_STEPS, STEPS = 6, 1
#: Prior mean and variance of the intercepts, and how many items they are worth.
MEAN, VARIANCE, PSEUDO = 1.0, 1.0, 10.0
#: Log-normal prior of the slope: ranking assumes that people differ in ability.
SLOPE, SLOPE_VARIANCE = 1.0, 0.25
#: Pseudo-counts: further items in which each label is right, and further users with a leaning.
PSEUDO_LABEL, PSEUDO_LEANING = 2.0, 2.5


@dataclass(frozen=True)
class Signal:
    """The parameters of the items and of the population.

    Attributes
    ----------
    slope
        How much ability counts.
    intercepts
        How easily each option is seen to be right, if it is.
    means, variance
        Of the intercepts, by label.
    shares
        How often each label is right.
    leanings
        Share of the users at each point of leaning.
    """

    slope: float
    intercepts: Floats
    means: Floats
    variance: float
    shares: Floats
    leanings: Floats

    @classmethod
    def start(cls, n_options: int) -> Signal:
        """All candidates alike."""
        spread = np.full(LEANINGS, 1.0 / LEANINGS)
        intercepts = np.full(n_options, MEAN / 2)
        return cls(SLOPE, intercepts, np.full(2, MEAN), VARIANCE, np.full(2, 0.5), spread)

    def pooled(self, label: Ints, key: Floats, bend: Floats, leanings: Floats) -> Signal:
        """The same, with the population estimated anew from the likely keys and the leanings.

        ``bend`` is the second derivative in each intercept; ``leanings`` says how many users are at
        each point of leaning.
        """
        of_label = np.eye(2)[label]
        total = key @ of_label
        b = self.intercepts
        everywhere = max(float((key @ b + PSEUDO * MEAN) / (key.sum() + PSEUDO)), 0.0)
        means = np.maximum(((key * b) @ of_label + PSEUDO * everywhere) / (total + PSEUDO), 0.0)
        away = (b - means[label]) ** 2 + np.minimum(1 / bend, self.variance)
        variance = float((key @ away + PSEUDO * VARIANCE) / (key.sum() + PSEUDO))
        weights = leanings + PSEUDO_LEANING / LEANINGS
        return replace(
            self,
            means=means,
            variance=min(max(variance, 0.05), 16.0),
            shares=(total + PSEUDO_LABEL) / (total.sum() + 2 * PSEUDO_LABEL),
            leanings=weights / weights.sum(),
        )


def label_lines(slope: float, points: Floats) -> Floats:
    """``a θ + s λ`` over all pairs, one row per label."""
    lean = np.tile(points, len(ABILITIES))
    return np.stack([slope * THETA - lean, slope * THETA + lean])


def log_odds_against(lines: Floats, label: Ints, intercepts: Floats) -> Floats:
    """``-log(1 - p)`` over all pairs, one row per candidate (``lines``: one row per label)."""
    return np.asarray(np.log(_one_and_odds(np.exp(lines), label, intercepts)))


def told(
    items: Items, lines: Floats, label: Ints, intercepts: Floats, key: Floats, against: Floats
) -> Floats:
    """What choosing an option says: its log likelihood averaged over the key.

    ``against`` (see :func:`log_odds_against`) is overwritten.
    """
    against *= key[:, None]
    of_label = np.eye(2)[label] * key[:, None]
    about = np.column_stack([of_label, key * intercepts]) @ np.vstack([lines, np.ones(len(THETA))])
    about -= items.sum(against)
    return about


def weigh_labels(
    problem: LeaningProblem, signal: Signal, key: Floats, chosen: Floats, *, rounds: int, held: bool
) -> Weighed[Signal]:
    """Fit all candidates' intercepts, and let the two candidates of each item compete.

    The slope takes one step, given the likely keys, unless it is held. ``signal`` and ``key`` are
    starting values; ``chosen`` says how many chose each option, over all pairs.
    """
    label, certain, blocks = problem.numbers, problem.certain, problem.blocks
    intercepts, bend, prior, weighed = np.empty((4, len(chosen)))
    logs = np.empty_like(chosen)
    slopes = np.zeros((len(blocks), 2))
    lines = label_lines(signal.slope, problem.points)
    odds = np.exp(lines)

    def work(number: int) -> None:
        part, items = blocks[number].options, blocks[number].items
        mine, b = label[part], signal.intercepts[part]
        count, mean = chosen[part], signal.means[mine]
        answered = items.sum(count)
        sums = count @ POWERS
        others = items.sum(sums) - sums
        for _ in range(FIRST_STEPS if rounds == 1 else STEPS):
            # if the candidate is the key: how many would not choose it
            miss = _one_and_odds(odds, mine, b)
            np.divide(1.0, miss, out=miss)
            missed = answered * miss
            missing = missed @ POWERS
            miss *= missed
            spread = missing - miss @ POWERS
            rest = missing - others
            curve = spread[:, 0] + 1 / signal.variance
            step = (rest[:, 0] - (b - mean) / signal.variance) / curve
            b = np.clip(b + np.clip(step, -2.0, 2.0), -12.0, 12.0)
        likely = key[part]
        slopes[number] = likely @ rest[:, 1], likely @ (spread[:, 2] - spread[:, 1] ** 2 / curve)
        width = -0.5 * np.log(signal.variance * curve)
        width -= (b - mean) ** 2 / (2 * signal.variance)
        prior[part] = width + np.log(signal.shares[mine])
        against = np.log(_one_and_odds(odds, mine, b))
        fit = np.where(mine == 1, count @ lines[1], count @ lines[0]) + b * sums[:, 0]
        fit += prior[part] - np.einsum("oc,oc->o", answered, against)
        weighed[part] = np.where(certain[part] >= 0, certain[part], items.softmax(fit))
        logs[part] = told(items, lines, mine, b, weighed[part], against)
        intercepts[part], bend[part] = b, curve

    for_blocks(problem, work)
    slope = signal.slope
    if not held:
        up, curve = slopes.sum(axis=0)
        up -= np.log(slope / SLOPE) / (SLOPE_VARIANCE * slope)
        # half a step, since whole steps may oscillate
        slope += 0.5 * float(np.clip(up / (curve + 1 / (SLOPE_VARIANCE * slope**2)), -0.6, 0.6))
    fitted = replace(signal, intercepts=intercepts, slope=min(max(slope, 0.05), 8.0))
    return Weighed(fitted, weighed, prior, logs, bend)


def _one_and_odds(odds: Floats, label: Ints, intercepts: Floats) -> Floats:
    """``1 + exp(a θ + s λ + b)``, one row per candidate, from the odds of the labels."""
    here = odds[label]
    here *= np.exp(intercepts)[:, None]
    here += 1.0
    return here
