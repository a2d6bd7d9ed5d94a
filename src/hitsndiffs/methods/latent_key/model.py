"""The latent-key model: one unknown right answer per item; evidence decides which.

Abilities are ``θ ~ N(0, 1)``. Every option of an item is a candidate for its key: if it is the
key, a user chooses it with probability ``σ(a θ + b)``, ``a ≥ 0``, and otherwise one of the other
options, by an item-specific distribution with a flat Dirichlet prior that is integrated out. The
key is the more likely the more users chose it (``choosers + 1``). Slopes and intercepts have normal
priors whose means and variances come from all items.

Each candidate's evidence is a Laplace approximation over ``(a, b)``; the key's posterior is their
softmax within the item, and abilities follow from the likelihood averaged over it. One round is one
pass over the data, from options to users and back, with a column per grid point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import answers_here, covered_items, known_options
from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.candidates import (
    Curves,
    ItemBlock,
    expected_logs,
    item_blocks,
    weigh_candidates,
)
from hitsndiffs.methods.latent_key.grid import (
    NARROW,
    STEP,
    Posterior,
    normal_log_prior,
    posterior_of,
    spread_about,
)
from hitsndiffs.methods.probability import log_gamma

__all__ = ["Curves", "KeyFit", "KeyProblem", "Sizes", "applied", "fit_key", "weighed"]

Array = npt.NDArray[np.float64]

#: Log priors over the grid: of any user, and of one known to be strong (about the best in forty).
ORDINARY = normal_log_prior()
STRONG = normal_log_prior(2.0, 0.5)
#: How far scores to start from are spread.
START_SD = 0.5


@dataclass(frozen=True)
class Sizes:
    """What counts as large.

    Attributes
    ----------
    sample_users, sample_answers
        About so many users are in a sample, or more where the items have few answers: so many each.
    sample_items, sample_answers_of_user
        The same for items, and for the answers of the users.
    many_users, many_items
        With more than this, a fit that goes on from a solution may be settled after three rounds.
    """

    sample_users: int = 20_000
    sample_answers: int = 2_000
    sample_items: int = 2_000
    sample_answers_of_user: int = 500
    many_users: int = 20_000
    many_items: int = 4_000


@dataclass(frozen=True)
class KeyFit:
    """One solution of the model; everything in it is as long as the options are many.

    Attributes
    ----------
    problem
        The data.
    key
        P(option is the key of its item), one per option.
    logs
        What choosing each option says about ability, over the grid.
    evidence
        Lower bound of the log probability of the answers: what solutions are compared by.
    curves, rounds, converged
        The rest of the state.
    """

    problem: KeyProblem
    key: Array
    logs: Array
    evidence: float
    curves: Curves
    rounds: int
    converged: bool

    @cached_property
    def posterior(self) -> Posterior:
        """Of the abilities (user arrays)."""
        mean, sd, log_evidence = self.problem.data.mapped(
            self.logs, _described, *self.problem.strong_users
        ).T
        return Posterior(mean, sd, log_evidence)

    def weights(self) -> Array:
        """The whole posterior on the grid, one row per user: for small data."""
        return self.problem.data.mapped(self.logs, weighed, *self.problem.strong_users)


class KeyProblem:
    """The data of the model, and what the caller knows.

    Parameters
    ----------
    data
        The data; every user has answered something.
    witness
        How much each user counts as a witness (copies count less than one).
    answers
        Known right answers: their keys are certain.
    strong_user
        A user known to be strong: a prior on that user's ability.
    sizes
        What counts as large.
    """

    def __init__(
        self,
        data: Engine,
        witness: Array | None = None,
        *,
        answers: Mapping[Any, Any] | None = None,
        strong_user: Any = None,
        sizes: Sizes = Sizes(),  # noqa: B008  (it is frozen)
    ) -> None:
        self.data = data
        self.sizes = sizes
        self.items = data.items
        self.blocks: list[ItemBlock] = item_blocks(data)
        #: The user known to be strong; one who is not here, or has no answers, says nothing.
        self.strong = None if strong_user is None else data.user_number(strong_user)
        self.strong_users: tuple[Any, ...] = ()
        if self.strong is not None:
            self.strong_users = (data.marked(np.array([self.strong])),)
        self.known = np.full(data.n_options, -1.0)
        if answers:
            self._mark_known(answers)
        self.weigh(data.everybody if witness is None else witness)

    def weigh(self, witness: Array) -> None:
        """Set how much each user counts, and what follows from the counts alone."""
        self.witness = witness
        counts = self.data.choosers(witness)
        others = np.maximum(self.items.sizes[self.items.of_option], 2) - 1
        rest = self.items.sum(counts) - counts
        terms = log_gamma(counts + 1)
        distractors = self.items.sum(terms) - terms + log_gamma(others) - log_gamma(rest + others)
        popularity = np.log((counts + 1) / self.items.sum(counts + 1))
        self.fixed = distractors + popularity

    def _mark_known(self, answers: Mapping[Any, Any]) -> None:
        """1 for a known right option, 0 for the others of its item; -1 stays for unknown items."""
        self.known[covered_items(self.items, answers)[self.items.of_option]] = 0.0
        self.known[known_options(self.items, answers_here(self.items, answers))] = 1.0

    def settle(self, key: Array) -> Array:
        """The key's posterior, with what is known put in."""
        return np.where(self.known >= 0, self.known, key)

    def reported(self, key: Array) -> Array:
        """The key's posterior, NaN for items whose known right answer nobody chose."""
        return np.where(self.items.sum(key) > 0, key, np.nan)


def fit_key(
    problem: KeyProblem,
    start: KeyFit | Posterior | Array,
    *,
    curves: Curves | None = None,
    max_rounds: int = 150,
    tol: float = 1e-6,
) -> KeyFit:
    """Fit the model.

    Parameters
    ----------
    problem
        The data.
    start
        A solution to go on from (of these items), the abilities of one (of other items), or one
        score per user.
    curves
        Where the fits of the curves begin (default: those of the solution).
    max_rounds, tol
        The rounds end when the evidence grows by less than ``tol`` of it.
    """
    data = problem.data
    if isinstance(start, KeyFit):
        curves = start.curves if curves is None else curves
        chosen, _ = _expect(problem, start.logs)
    else:
        mean, sd = _placed(start, data)
        chosen = data.through(np.empty((data.n_options, 0)), _spread, mean, sd, problem.witness)
    sizes = problem.sizes
    large = data.n_users > sizes.many_users or data.n_items > sizes.many_items
    warm = curves is not None or isinstance(start, Posterior)
    least = 2 if large and warm else 9
    curves = Curves.start(data.n_options) if curves is None else curves
    before = -np.inf
    fit = None
    for rounds in range(1, max_rounds + 1):
        found = weigh_candidates(
            problem.blocks,
            curves,
            chosen,
            problem.fixed,
            problem.known,
            steps=8 if rounds == 1 else 2,
            threads=data.threads,
        )
        key = found.key
        chosen, of_users = _expect(problem, found.logs)
        about_key = key * (found.prior - np.log(np.maximum(key, 1e-300)))
        evidence = float(of_users + about_key.sum())
        curves = found.pooled() if rounds % 2 == 0 else found.curves
        settled = rounds > least and abs(evidence - before) < 0.02 + tol * abs(evidence)
        fit = KeyFit(problem, key, found.logs, evidence, curves, rounds, settled)
        if settled:
            break
        before = evidence
    assert fit is not None
    return fit


def _placed(start: Posterior | Array, data: Engine) -> tuple[Array, Array]:
    """Mean and spread of abilities to start from, wide enough for the grid to tell them apart."""
    if isinstance(start, Posterior):
        return start.mean, np.maximum(start.sd, NARROW * STEP)
    return start, START_SD * data.everybody


def applied(problem: KeyProblem, fit: KeyFit) -> KeyFit:
    """A solution found for some of the users, taken for others who answered the same items."""
    logs = expected_logs(problem.blocks, fit.key, fit.curves, problem.data.threads)
    return replace(fit, problem=problem, logs=logs)


def _expect(problem: KeyProblem, logs: Array) -> tuple[Array, float]:
    """How many chose each option, over the grid of abilities; and the users' log evidence."""
    chosen, evidence = problem.data.through(logs, _expected, problem.witness, *problem.strong_users)
    return chosen, float(evidence[0])


# The steps: what is done with a block of users.


def _with_prior(sums: Array, strong: npt.NDArray[np.bool_] | None) -> Array:
    ordinary = np.asarray(ORDINARY, like=sums)
    if strong is None or not strong.any():
        return sums + ordinary
    return sums + np.where(strong[:, None], np.asarray(STRONG, like=sums), ordinary)


def _expected(
    sums: Array, witness: Array, strong: npt.NDArray[np.bool_] | None = None
) -> tuple[Array, Array]:
    weights, _, _, log_evidence = posterior_of(_with_prior(sums, strong))
    weights *= witness[:, None]
    return weights, (witness @ log_evidence).reshape(1)


def _described(sums: Array, strong: npt.NDArray[np.bool_] | None = None) -> Array:
    return np.column_stack(posterior_of(_with_prior(sums, strong))[1:])


def weighed(sums: Array, strong: npt.NDArray[np.bool_] | None = None) -> Array:
    """Posterior weights on the grid, one row per user."""
    return posterior_of(_with_prior(sums, strong))[0]


def _spread(_: Array, mean: Array, sd: Array, witness: Array) -> Array:
    return spread_about(mean, sd) * witness[:, None]
