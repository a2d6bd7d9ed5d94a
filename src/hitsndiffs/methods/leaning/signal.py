"""Two labels shared by all items: leaning, ability and difficulty in one model.

Where every item is answered by the same two labels (true/false, yes/no), people differ in two ways:
how able they are, and how much they lean to one label. The answers of those who say "true" to
everything agree with each other, so leaning looks like ability to every method that does not know
of it. Here it is part of the model (signal detection with an unknown truth). If label ``k`` is
right for item ``i``, user ``j`` chooses it with probability

    σ(a θ_j + s_k λ_j + b_i),        s = +1 for one label, -1 for the other,

with ability ``θ ~ N(0, 1)``, leaning ``λ`` from a distribution that is learnt, one slope ``a`` for
all items, and an intercept per item, normal about the mean of its label. Those means are from 0 up:
once leaning is taken out, people are on average right more often than wrong. That is what tells the
right way up; without it the truth and its opposite would fit alike.

Abilities and leanings live on a grid (all pairs). A round is one ``choosers`` and one ``choices``
with a column per pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.grid import Posterior, posterior_of

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine

__all__ = ["LeaningFit", "LeaningProblem", "Signal", "fit_leaning"]

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Points of ability, and how many points of leaning.
ABILITIES: Array = np.linspace(-4.0, 4.0, 15)
LEANINGS = 15
#: Leanings reach at least, and at most, so far to either side (logits).
NARROWEST, WIDEST = 2.0, 6.0
#: Intercepts and the slope have these priors, worth so many items.
MEAN, VARIANCE, PSEUDO = 1.0, 1.0, 10.0
SLOPE, SLOPE_VARIANCE = 1.0, 0.25
#: Each label is right in so many further items, and each leaning is that of so many further users.
PSEUDO_LABEL, PSEUDO_LEANING = 2.0, 2.5


@dataclass(frozen=True)
class Signal:
    """What belongs to the items and to the population.

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
    intercepts: Array
    means: Array
    variance: float
    shares: Array
    leanings: Array


@dataclass(frozen=True)
class LeaningFit:
    """One solution of the model.

    Attributes
    ----------
    key
        P(option is the right one of its item), one per option.
    ability, leaning
        What is known of each user.
    evidence
        Lower bound of the log probability of the answers.
    signal
        The rest of the state.
    rounds, converged
        Of the iteration.
    """

    key: Array
    ability: Posterior
    leaning: Posterior
    evidence: float
    signal: Signal
    rounds: int
    converged: bool


class LeaningProblem:
    """The data of the model, and what the caller knows.

    Parameters
    ----------
    data
        The data, in memory; every user has answered something.
    numbers
        Which of the two labels (0 or 1) each option has.
    known
        1 for a known right option, 0 for the others of its item, -1 elsewhere.
    ability_prior
        Log weights of the abilities on :data:`ABILITIES`, one row or a row per user.
    """

    def __init__(self, data: Engine, numbers: Ints, known: Array, ability_prior: Array) -> None:
        self.data, self.numbers, self.known = data, numbers, known
        self.ability_prior = ability_prior
        self.sign: Array = np.where(numbers == 1, 1.0, -1.0)
        ones = data.choices((numbers == 1).astype(float))
        self.lean: Array = np.log((ones + 0.5) / (data.answers_per_user - ones + 0.5))
        middle = float(np.median(self.lean))
        reach = float(np.clip(np.abs(self.lean - middle).max() + 1.0, NARROWEST, WIDEST))
        self.points: Array = middle + reach * np.linspace(-1.0, 1.0, LEANINGS)
        self.witness: Array = np.ones(data.n_users)

    def weigh(self, witness: Array) -> None:
        """Set how much each user counts as a witness."""
        self.witness = witness

    def start(self, weights: Array) -> Array:
        """A first posterior over all pairs from weights of the abilities."""
        step = self.points[1] - self.points[0]
        near = np.exp(-0.5 * ((self.lean[:, None] - self.points) / max(step / 2, 0.4)) ** 2)
        near /= near.sum(axis=1, keepdims=True)
        return _pairs(weights, near)

    def settle(self, key: Array) -> Array:
        """The key's posterior, with what is known put in."""
        return np.where(self.known >= 0, self.known, key)


def fit_leaning(
    problem: LeaningProblem,
    pairs: Array,
    *,
    signal: Signal | None = None,
    max_rounds: int = 60,
    tol: float = 1e-6,
) -> LeaningFit:
    """Fit the model from a first posterior over all pairs of ability and leaning."""
    data, items = problem.data, problem.data.items
    fit = None
    before = -np.inf
    key = problem.settle(items.share(data.choosers(problem.witness)))
    signal = _first(problem) if signal is None else signal
    for rounds in range(1, max_rounds + 1):
        chosen = data.choosers(problem.witness[:, None] * pairs)
        answered = items.sum(chosen)
        signal, bend = _newton(problem, signal, key, chosen, answered, 8 if rounds == 1 else 2)
        right, wrong = _log_curves(problem, signal)
        prior = _log_prior(problem, signal, bend)
        logs = np.einsum("oc,oc->o", chosen, right - wrong) + np.einsum("oc,oc->o", answered, wrong)
        key = problem.settle(items.softmax(logs + prior))
        k = key[:, None]
        about = items.sum(k * wrong) + k * (right - wrong)
        sums = data.choices(about).reshape(data.n_users, len(ABILITIES), LEANINGS)
        sums = sums + problem.ability_prior[..., None] + np.log(signal.leanings)
        ability = posterior_of(_log_sum(sums, 2), points=ABILITIES)
        leaning = posterior_of(_log_sum(sums, 1), points=problem.points)
        pairs = _pairs(ability.weights, leaning.weights)
        doubt = key * (prior - np.log(np.maximum(key, 1e-300)))
        evidence = float(problem.witness @ ability.log_evidence + doubt.sum())
        settled = rounds > 9 and abs(evidence - before) < 0.02 + tol * abs(evidence)
        fit = LeaningFit(key, ability, leaning, evidence, signal, rounds, settled)
        if settled:
            break
        before = evidence
        signal = _pooled(problem, signal, key, bend, leaning.weights, both=rounds % 2 == 0)
    assert fit is not None
    return fit


def _first(problem: LeaningProblem) -> Signal:
    n = problem.data.n_options
    spread = np.exp(-0.5 * ((problem.points[:, None] - problem.lean) / 0.5) ** 2).sum(axis=1)
    spread += PSEUDO_LEANING / LEANINGS
    return Signal(
        SLOPE, np.full(n, MEAN / 2), np.full(2, MEAN), VARIANCE, np.full(2, 0.5),
        spread / spread.sum(),
    )  # fmt: skip


def _lines(problem: LeaningProblem, signal: Signal) -> Array:
    """``a θ + s λ + b`` over all pairs, one row per option."""
    both = problem.sign[:, None, None] * problem.points
    lines = both + signal.intercepts[:, None, None] + signal.slope * ABILITIES[:, None]
    return np.asarray(lines.reshape(len(both), -1))


def _log_curves(problem: LeaningProblem, signal: Signal) -> tuple[Array, Array]:
    eta = _lines(problem, signal)
    wrong = -np.log1p(np.exp(-np.abs(eta))) - np.maximum(eta, 0.0)
    return eta + wrong, wrong


def _newton(
    problem: LeaningProblem,
    signal: Signal,
    key: Array,
    chosen: Array,
    answered: Array,
    steps: int,
) -> tuple[Signal, Array]:
    """Fit the intercepts of all candidates, and the slope of the likely keys; and the curvature."""
    theta = np.repeat(ABILITIES, LEANINGS)
    mean = signal.means[problem.numbers]
    b, a = signal.intercepts, signal.slope
    for _ in range(steps):
        p = 1 / (1 + np.exp(-_lines(problem, replace(signal, intercepts=b, slope=a))))
        expected = answered * p
        rest = chosen - expected
        spread = expected * (1 - p)
        bend = spread.sum(axis=1) + 1 / signal.variance
        step = (rest.sum(axis=1) - (b - mean) / signal.variance) / bend
        cross = spread @ theta
        slope_up = key @ (rest @ theta) - (a - SLOPE) / SLOPE_VARIANCE
        slope_bend = key @ (spread @ theta**2 - cross**2 / bend) + 1 / SLOPE_VARIANCE
        b = np.clip(b + np.clip(step, -2.0, 2.0), -12.0, 12.0)
        a = float(np.clip(a + np.clip(slope_up / slope_bend, -0.3, 0.3), 0.05, 8.0))
    return replace(signal, intercepts=b, slope=a), bend


def _log_prior(problem: LeaningProblem, signal: Signal, bend: Array) -> Array:
    """Log prior of each candidate, with the width of its intercept's posterior (Laplace)."""
    away = signal.intercepts - signal.means[problem.numbers]
    width = -0.5 * np.log(signal.variance * bend)
    right = np.log(signal.shares[problem.numbers])
    return np.asarray(-(away**2) / (2 * signal.variance) + width + right)


def _pooled(
    problem: LeaningProblem, signal: Signal, key: Array, bend: Array, leaning: Array, *, both: bool
) -> Signal:
    """The population, learnt anew."""
    n = len(np.unique(problem.data.items.of_option))
    label = np.eye(2)[problem.numbers]
    total = key @ label
    shares = (total + PSEUDO_LABEL) / (n + 2 * PSEUDO_LABEL)
    weights = problem.witness @ leaning + PSEUDO_LEANING / LEANINGS
    signal = replace(signal, shares=shares, leanings=weights / weights.sum())
    if not both:
        return signal
    b = signal.intercepts
    everywhere = max(float((key @ b + PSEUDO * MEAN) / (key.sum() + PSEUDO)), 0.0)
    means = np.maximum((key * b) @ label + PSEUDO * everywhere, 0.0) / (total + PSEUDO)
    away = (b - means[problem.numbers]) ** 2 + np.minimum(1 / bend, signal.variance)
    variance = float((key @ away + PSEUDO * VARIANCE) / (key.sum() + PSEUDO))
    return replace(signal, means=means, variance=float(np.clip(variance, 0.05, 16.0)))


def _pairs(ability: Array, leaning: Array) -> Array:
    return np.asarray((ability[:, :, None] * leaning[:, None, :]).reshape(len(ability), -1))


def _log_sum(x: Array, axis: int) -> Array:
    top = x.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis))
