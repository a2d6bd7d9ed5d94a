"""The latent-key model: one unknown right answer per item; evidence decides which.

Abilities are ``θ ~ N(0, 1)``. Every option of an item is a candidate for its key: if it is the
key, a user chooses it with probability ``σ(a θ + b)``, ``a ≥ 0``, and otherwise one of the other
options, by an item-specific distribution with a flat Dirichlet prior that is integrated out. The
more users chose an option, the likelier it is the key (``choosers + 1``). Slopes and intercepts
have normal priors whose means and variances come from all items.

Each candidate's evidence is a Laplace approximation over ``(a, b)``; the key's posterior is their
softmax within the item, and abilities follow from the likelihood averaged over it. One round is one
pass over the data, from options to users and back, with a column per grid point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.engines import Engine
from hitsndiffs.engines.base import Step
from hitsndiffs.methods.latent_key.candidates import (
    Curves,
    Weighed,
    about_key,
    expected_logs,
    weigh_candidates,
)
from hitsndiffs.methods.latent_key.common_errors import common_errors
from hitsndiffs.methods.latent_key.grid import (
    NARROW_PEAK,
    STEP,
    THETA,
    Posterior,
    nearest,
    normal_log_prior,
    posterior_of,
    spread_about,
)
from hitsndiffs.methods.latent_key.learnt import Population
from hitsndiffs.methods.latent_key.problem import START_SD, Problem, Sizes, Solution, Start
from hitsndiffs.methods.probability import STEADY, log_gamma, logistic

__all__ = [
    "Curves",
    "CurvesFit",
    "KeyFit",
    "KeyProblem",
    "Posteriors",
    "Sizes",
    "begun",
    "chosen_about",
    "expect",
    "key_round",
    "stepping",
    "weights_of",
    "with_prior",
]

#: From log posteriors, one row per user, to weights, means, spreads and log evidence.
Posteriors = Callable[[Floats], tuple[Floats, Floats, Floats, Floats]]
#: Log priors over the grid: of any user, and of one known to be strong (about the best in forty).
ORDINARY = normal_log_prior()
STRONG = normal_log_prior(2.0, 0.5)


@dataclass(frozen=True)
class CurvesFit(Solution):
    """A solution with curves over the grid of abilities.

    Attributes
    ----------
    curves
        Slope and intercept of every candidate.
    """

    curves: Curves

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the abilities (user arrays)."""
        data = self.problem.data
        found = data.mapped(self.logs, stepping(data, _described), *self.problem.strong_users)
        return Posterior(*found.T)

    @cached_property
    def places(self) -> Any:
        """The grid point nearest to each user's ability."""
        return nearest(self.posterior.mean)

    @property
    def population(self) -> Population:
        """Means of the slopes and intercepts of the likely keys."""
        return Population(float(self.curves.mean_slope), float(self.curves.mean_intercept))


@dataclass(frozen=True)
class KeyFit(CurvesFit):
    """One solution of the model."""

    problem: KeyProblem

    def probabilities(self) -> Floats:
        """P(option | ability), one row per option, one column per point of the grid."""
        items = self.problem.items
        counts = (self.problem.data.choosers(self.problem.witness) + 0.5)[:, None]
        popularity = counts / items.sum(counts)
        c, key = self.curves, self.key[:, None]
        right = logistic(c.lines)
        spill = key * (1 - right) / np.maximum(items.sum(counts) - counts, 1e-9)
        keyless = 1 - items.sum(key)  # nobody chose the item's known right answer
        return np.asarray(key * right + counts * (items.sum(spill) - spill) + keyless * popularity)

    def share_errors(self) -> Any:
        """Standard errors of the expected shares of right answers: chance, and doubt about keys.

        The first part is the spread of the number of right answers at the user's ability, the
        second the spread of the key given the data; both are sums over the user's items.
        """
        c, key, data = self.curves, self.key, self.problem.data
        p = logistic(c.lines)
        chance = self.problem.items.sum(key[:, None] * p * (1 - p))
        columns = np.column_stack([self.logs, chance, key * (1 - key)])
        strong = self.problem.strong_users
        return data.mapped(
            columns, stepping(self.problem.data, _share_errors), data.answers_per_user, *strong
        )[:, 0]

    def common_errors(self, key: Floats) -> Any:
        """The error that all shares under a key have in common (see :mod:`.common_errors`)."""
        return common_errors(self.problem, key)


class KeyProblem(Problem):
    """The data of the latent-key model, and what the caller knows."""

    def weigh(self, witness: Floats) -> None:
        """Set how much each user counts, and what follows from the counts alone."""
        super().weigh(witness)
        self.fixed: Floats = self.of_counts(self.data.choosers(witness))

    def of_counts(self, counts: Floats) -> Floats:
        """Log prior of every candidate by popularity, and log probability of the wrong options."""
        others = np.maximum(self.items.sizes[self.items.of_option], 2) - 1
        rest = np.maximum(self.items.sum(counts) - counts, 0.0)
        terms = log_gamma(counts + 1)
        distractors = self.items.sum(terms) - terms + log_gamma(others) - log_gamma(rest + others)
        popularity = np.log((counts + 1) / self.items.sum(counts + 1))
        return np.asarray(distractors + popularity)

    def _first_rounds(self, start: Start) -> int:
        """Fewer for large data that start from a solution."""
        large = (
            self.data.n_users > self.sizes.many_users or self.data.n_items > self.sizes.many_items
        )
        warm = isinstance(start, Solution | Posterior)
        return 2 if large and warm else super()._first_rounds(start)

    def begin(self, start: Start) -> Any:
        """The curves to start from, and how many chose each option, over the grid of abilities."""
        return begun(self, start, self.data.n_options)

    def round(self, state: Any, rounds: int) -> tuple[KeyFit, Any]:
        """The solution after a round, and what the next one needs."""
        found, evidence, state = key_round(self, state, rounds, expect)
        return KeyFit(self, found.key, found.logs, float(evidence), rounds, state[0]), state

    def applied(self, solution: Solution) -> KeyFit:
        """Apply a solution found for some of the users to these, who answered the same items."""
        assert isinstance(solution, KeyFit)
        logs = expected_logs(self, solution.key, solution.curves)
        return replace(solution, problem=self, logs=logs)


def key_round(
    problem: KeyProblem, state: Any, rounds: int, expect: Callable[[Any, Floats], Any]
) -> tuple[Weighed[Curves], Any, Any]:
    """A round for one fit, or for several side by side: candidates, evidence, and the new state."""
    curves, chosen = state
    found = weigh_candidates(problem, curves, np.round(chosen, STEADY), problem.fixed, rounds)
    chosen, of_users = expect(problem, found.logs)
    evidence = of_users + about_key(found.key, found.prior)
    return found, evidence, (found.fitted.pooled(found.key, found.curvature, rounds), chosen)


def _placed(start: Start, data: Engine) -> tuple[Floats, Floats]:
    """Mean and spread of abilities to start from; the spread is wide enough for the grid."""
    if isinstance(start, Solution):
        start = start.posterior
    if isinstance(start, Posterior):
        return start.mean, np.maximum(start.sd, NARROW_PEAK * STEP)
    return start, START_SD * data.everybody


def begun(problem: Problem, start: Start, n_curves: int) -> tuple[Curves, Floats]:
    """The curves to start from, and how many chose each option, over the grid of abilities."""
    if isinstance(start, CurvesFit):
        return start.curves, expect(problem, start.logs)[0]
    return Curves.start(n_curves), chosen_about(problem, start)


def chosen_about(problem: Problem, start: Start) -> Any:
    """How many chose each option, over the grid, with abilities spread about those of a start."""
    data = problem.data
    mean, sd = _placed(start, data)
    return data.through(np.empty((data.n_options, 0)), _spread, mean, sd, problem.witness)


def expect(problem: Problem, logs: Floats) -> tuple[Floats, float]:
    """How many chose each option, over the grid of abilities; and the users' log evidence."""
    chosen, evidence = problem.data.through(
        logs, stepping(problem.data, _expected), problem.witness, *problem.strong_users
    )
    return chosen, float(evidence[0])


def weights_of(fit: KeyFit) -> Any:
    """The whole posterior on the grid, one row per user: for small data."""
    data = fit.problem.data
    return data.mapped(fit.logs, stepping(data, _weighed), *fit.problem.strong_users)


def stepping(data: Engine, act: Callable[..., Any]) -> Step:
    """A step that uses posteriors; they are compiled if the engine's passes are."""
    if not data.compiles:
        return act
    from hitsndiffs.methods.latent_key.posterior_kernel import compiled_posterior_of

    return partial(act, posteriors=compiled_posterior_of)


# The steps of a pass, on a block of users.


def with_prior(sums: Floats, strong: Flags | None) -> Floats:
    """Log likelihoods over the grid, plus the users' log prior."""
    ordinary = np.asarray(ORDINARY, like=sums)
    if strong is None or not strong.any():
        return sums + ordinary
    return sums + np.where(strong[:, None], np.asarray(STRONG, like=sums), ordinary)


def _expected(
    sums: Floats,
    witness: Floats,
    strong: Flags | None = None,
    posteriors: Posteriors = posterior_of,
) -> tuple[Floats, Floats]:
    """Posterior weights on the grid times the users' weights; and their log evidence."""
    weights, _, _, log_evidence = posteriors(with_prior(sums, strong))
    weights *= witness[:, None]
    return weights, (witness @ log_evidence).reshape(1)


def _described(
    sums: Floats,
    strong: Flags | None = None,
    posteriors: Posteriors = posterior_of,
) -> Floats:
    """Mean, spread and log evidence of every user's ability."""
    return np.column_stack(posteriors(with_prior(sums, strong))[1:])


def _weighed(
    sums: Floats,
    strong: Flags | None = None,
    posteriors: Posteriors = posterior_of,
) -> Floats:
    """Posterior weights on the grid, one row per user."""
    return posteriors(with_prior(sums, strong))[0]


def _spread(_: Floats, mean: Floats, sd: Floats, witness: Floats) -> Any:
    """Weights on the grid about the scores to start from."""
    return spread_about(mean, sd) * witness[:, None]


def _share_errors(
    sums: Floats,
    answers: Floats,
    strong: Flags | None = None,
    posteriors: Posteriors = posterior_of,
) -> Any:
    grid = len(THETA)
    weights = _weighed(sums[:, :grid], strong, posteriors)
    by_ability = (sums[:, grid : 2 * grid] * weights).sum(axis=1)
    return (np.sqrt(by_ability + sums[:, 2 * grid]) / answers)[:, None]
