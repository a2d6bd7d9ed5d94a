"""Two labels shared by all items: leaning, ability and difficulty in one model.

Where every item is answered by the same two labels (true/false, yes/no), people differ in two ways:
how able they are, and how much they lean to one label. The answers of those who say "true" to
everything agree with each other, so leaning looks like ability to every method that ignores it.
Here it is part of the model (signal detection with an unknown truth). If label ``k`` is right for
item ``i``, user ``j`` chooses it with probability

    σ(a θ_j + s_k λ_j + b_i),        s = +1 for one label, -1 for the other,

with ability ``θ ~ N(0, 1)``, leaning ``λ`` from a distribution that is learnt, one slope ``a`` for
all items, and an intercept per item, normal about the mean of its label. Those means are at least
0: once leaning is taken out, people are on average right more often than wrong. This decides which
way is up; without it the truth and its opposite would fit equally well.

Abilities and leanings live on a grid of all pairs. A round is one pass over the data, from options
to users and back, with a column per pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import label_numbers
from hitsndiffs.methods.latent_key.candidates import about_key
from hitsndiffs.methods.latent_key.grid import Posterior, nearest, normal_log_prior, normalised
from hitsndiffs.methods.latent_key.leaning_candidates import (
    ABILITIES,
    LEANINGS,
    SLOPE,
    SLOPE_VARIANCE,
    Signal,
    label_lines,
    log_odds_against,
    told,
    weigh_labels,
)
from hitsndiffs.methods.latent_key.learnt import Population
from hitsndiffs.methods.latent_key.problem import START_SD, Problem, Sizes, Solution, Start
from hitsndiffs.methods.probability import STEADY, logistic

__all__ = ["LeaningFit", "LeaningProblem"]

#: Sums over leanings, at every ability; and over abilities, at every leaning.
MARGINS: Floats = np.hstack(
    [
        np.repeat(np.eye(len(ABILITIES)), LEANINGS, axis=0),
        np.tile(np.eye(LEANINGS), (len(ABILITIES), 1)),
    ]
)
#: Log priors of the abilities: of any user, and of one known to be strong.
ORDINARY_ABILITY = normal_log_prior(points=ABILITIES)
STRONG_ABILITY = normal_log_prior(2.0, 0.5, ABILITIES)
#: Smallest and largest reach of the leanings to either side of the middle (logits).
NARROWEST, WIDEST = 2.0, 6.0
#: For how many rounds the slope is held at first: keys and abilities must settle before the model
#: learns how much ability counts.
HELD = 6


@dataclass(frozen=True)
class LeaningFit(Solution):
    """One solution of the model.

    Attributes
    ----------
    signal
        The parameters of the items and of the population.
    """

    problem: LeaningProblem
    signal: Signal

    @cached_property
    def described(self) -> Any:
        """Mean, spread and log evidence of every user's ability; mean and spread of the leaning."""
        p = self.problem
        return p.data.mapped(self.logs, p.describe(self.signal), *p.strong_users)

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the abilities (user arrays)."""
        mean, sd, log_evidence = self.described[:, :3].T
        return Posterior(mean, sd, log_evidence)

    @property
    def leaning(self) -> Any:
        """How far each user leans to the second label, in logits (a user array)."""
        return self.described[:, 3]

    def probabilities(self) -> Floats:
        """P(option) at every pair of ability and leaning."""
        p = logistic(self.problem.lines(self.signal))
        key = self.key[:, None]
        keyless = 1 - self.problem.items.sum(self.key)  # nobody chose the known right answer
        wrong = _of_other(key * (1 - p), self.problem.other)
        return np.asarray(key * p + wrong + 0.5 * keyless[:, None])

    @cached_property
    def places(self) -> Any:
        """The pair nearest to each user's ability and leaning."""
        leaning = nearest(self.leaning, self.problem.points)
        return nearest(self.posterior.mean, ABILITIES) * LEANINGS + leaning

    def share_errors(self) -> Any:
        """Standard errors of the expected shares of right answers: chance, and doubt about keys.

        Chance is that of the user's own answers, each right with the probability given by ability,
        leaning and item.
        """
        p = logistic(self.problem.lines(self.signal))
        chance = self.key[:, None] * p * (1 - p)
        chance += _of_other(chance, self.problem.other)
        return self._errors_at_places(chance)

    @property
    def population(self) -> Population:
        """The slope, and how often each label is right."""
        labels = (str(label) for label in label_numbers(self.problem.items)[0])
        shares = tuple(zip(labels, self.signal.shares.tolist(), strict=True))
        return Population(self.signal.slope, label_shares=shares)


class LeaningProblem(Problem):
    """The data of the model, and what the caller knows (see :class:`.Problem`)."""

    usual_sizes: ClassVar[Sizes] = Sizes(sample_users=3_000)
    least_copied: ClassVar[float] = 0.7
    steady: ClassVar[float] = 10 * Problem.steady

    @cached_property
    def numbers(self) -> Ints:
        """The number of each option's label: 0 or 1."""
        return label_numbers(self.items)[1]

    @cached_property
    def other(self) -> Ints:
        """Every option's other option, -1 where nobody chose one."""
        return _others(self.items)

    @cached_property
    def odds(self) -> Any:
        """Everybody's log odds of choosing the second label."""
        ones = self.data.choices((self.numbers == 1).astype(float))
        return np.log((ones + 0.5) / (self.data.answers_per_user - ones + 0.5))

    @cached_property
    def points(self) -> Floats:
        """The grid of leanings."""
        middle = self.data.median(self.odds)
        reach = min(max(float(abs(self.odds - middle).max()) + 1.0, NARROWEST), WIDEST)
        return middle + reach * np.linspace(-1.0, 1.0, LEANINGS)

    def part(self, data: Engine, witness: Any, options: Ints) -> LeaningProblem:
        """The same problem with some users or some options; leanings mean the same."""
        part = super().part(data, witness, options)
        part.points, part.numbers = self.points, self.numbers[options]
        return part

    def _first_rounds(self, start: Start) -> int:  # noqa: ARG002
        """Those with the slope held."""
        return HELD

    def begin(self, start: Start) -> Any:
        """Signal, key, how many chose each option, and for how many rounds the slope is held."""
        data = self.data
        if isinstance(start, LeaningFit):
            return start.signal, start.key, self._expect(start.logs, start.signal)[0], 0
        key = self.settle(self.items.share(data.choosers(self.witness)))
        none = np.empty((data.n_options, 0))
        start = start.posterior if isinstance(start, Solution) else start
        mean = start.mean if isinstance(start, Posterior) else start
        chosen = data.through(none, self._spread, mean, self.odds, self.witness)
        return Signal.start(data.n_options), key, chosen, HELD

    def round(self, state: Any, rounds: int) -> tuple[LeaningFit, Any]:
        """The solution after a round, and what the next one needs."""
        signal, key, chosen, held = state
        found = weigh_labels(self, signal, key, chosen, rounds=rounds, held=rounds <= held)
        signal, key = found.fitted, found.key
        chosen, side = self._expect(found.logs, signal)
        chosen = np.round(chosen, STEADY, out=chosen)
        evidence = float(side[0] + about_key(key, found.prior))
        evidence -= float(np.log(signal.slope / SLOPE) ** 2) / (2 * SLOPE_VARIANCE)
        fit = LeaningFit(self, key, found.logs, evidence, rounds, signal)
        return fit, (signal.pooled(self.numbers, key, found.curvature, side[1:]), key, chosen, held)

    def applied(self, solution: Solution) -> LeaningFit:
        """Apply a solution found for some of the users to these, who answered the same items."""
        assert isinstance(solution, LeaningFit)
        signal, label = solution.signal, self.numbers
        lines = label_lines(signal.slope, self.points)
        against = log_odds_against(lines, label, signal.intercepts)
        logs = told(self.items, lines, label, signal.intercepts, solution.key, against)
        return replace(solution, problem=self, logs=logs)

    def mirrored(self, solution: LeaningFit) -> LeaningFit:
        """The opposite reading to start from: every item's other label right, ability reversed."""
        signal = solution.signal
        single = self.other < 0
        other = np.where(single, signal.intercepts, signal.intercepts[self.other])
        key = self.settle(np.where(single, solution.key, solution.key[self.other]))
        turned = replace(signal, intercepts=-other, shares=signal.shares[::-1])
        return self.applied(replace(solution, key=key, signal=turned))

    def lines(self, signal: Signal) -> Floats:
        """``a θ + s λ + b`` over all pairs, one row per option."""
        lines = label_lines(signal.slope, self.points)[self.numbers]
        return np.asarray(lines + signal.intercepts[:, None])

    # -- steps of a pass, on a block of users ------------------------------------------------

    def describe(self, signal: Signal) -> Any:
        """The step that describes every user's ability and leaning."""
        leanings = np.log(signal.leanings)

        def step(sums: Floats, strong: Flags | None = None) -> Floats:
            return np.column_stack(
                [x for pair in self._posteriors(sums, leanings, strong) for x in pair[1:]]
            )

        return step

    def _expect(self, logs: Floats, signal: Signal) -> tuple[Floats, Floats]:
        """How many chose each option, over all pairs; the users' evidence, and their leanings."""
        leanings = np.log(signal.leanings)

        def step(
            sums: Floats, witness: Floats, strong: Flags | None = None
        ) -> tuple[Floats, Floats]:
            ability, leaning = self._posteriors(sums, leanings, strong)
            pairs = _pairs(ability[0] * witness[:, None], leaning[0])
            evidence = (witness @ ability[3]).reshape(1)
            return pairs, np.concatenate([evidence, witness @ leaning[0]])

        chosen, side = self.data.through(logs, step, self.witness, *self.strong_users)
        return chosen, side

    def _posteriors(
        self, sums: Floats, leanings: Floats, strong: Flags | None
    ) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        ordinary, unusual = (
            np.asarray((prior[:, None] + leanings).ravel(), like=sums)
            for prior in (ORDINARY_ABILITY, STRONG_ABILITY)
        )
        if strong is None:
            cells = sums + ordinary
        else:
            cells = sums + np.where(strong[:, None], unusual, ordinary)
        top = cells.max(axis=1, keepdims=True)
        cells -= top
        margins = np.exp(cells, out=cells) @ np.asarray(MARGINS, like=sums)
        margins += np.finfo(float).tiny
        logs, n = np.log(margins), len(ABILITIES)
        return (
            normalised(logs[:, :n], margins[:, :n], top, ABILITIES),
            normalised(logs[:, n:], margins[:, n:], top, self.points),
        )

    def _spread(self, _: Floats, score: Floats, odds: Floats, witness: Floats) -> Floats:
        """Weights over all pairs to start from, by scores and everybody's use of the labels."""
        width = max((self.points[1] - self.points[0]) / 2, 0.4)
        abilities, points = np.asarray(ABILITIES, like=score), np.asarray(self.points, like=score)
        ability = np.exp(-0.5 * ((score[:, None] - abilities) / START_SD) ** 2)
        leaning = np.exp(-0.5 * ((odds[:, None] - points) / width) ** 2)
        ability *= (witness / ability.sum(axis=1))[:, None]
        return _pairs(ability, leaning / leaning.sum(axis=1, keepdims=True))


def _of_other(x: Floats, other: Ints) -> Floats:
    """The rows of every option's other option; 0 where nobody chose one."""
    found = x[other]
    found[other < 0] = 0.0
    return found


def _others(items: Items) -> Ints:
    place = np.arange(items.n_options)
    first = items.starts[:-1][items.of_option]
    partner = 2 * first + 1 - place
    return np.where((items.sizes == 2)[items.of_option], partner, -1).astype(np.int64)


def _pairs(ability: Floats, leaning: Floats) -> Floats:
    return (ability[:, :, None] * leaning[:, None, :]).reshape(len(ability), -1)
