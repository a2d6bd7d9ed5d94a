"""The latent-key model: one unknown right answer per item; evidence decides which.

Abilities are ``θ ~ N(0, 1)``. Every option of an item is a candidate for its key: if it is the
key, a user chooses it with probability ``σ(a θ + b)``, ``a ≥ 0``, and otherwise one of the other
options, by an item-specific distribution with a flat Dirichlet prior that is integrated out. The
key is the more likely the more users chose it (``choosers + 1``). Slopes and intercepts have normal
priors whose means and variances come from all items.

Each candidate's evidence is a Laplace approximation over ``(a, b)``; the key's posterior is their
softmax within the item, and abilities follow from the likelihood averaged over it. One round is one
``choosers`` and one ``choices`` on a block with a column per grid point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.items import Within
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Sums
from hitsndiffs.methods.latent_key.candidates import (
    Curves,
    ItemBlock,
    expected_logs,
    item_blocks,
    weigh_candidates,
)
from hitsndiffs.methods.latent_key.grid import Posterior, normal_log_prior, posterior_of
from hitsndiffs.methods.probability import log_gamma
from hitsndiffs.order.orientation import known_options, user_is_here, user_number

__all__ = ["Curves", "KeyFit", "KeyProblem", "ability_posterior", "fit_key"]

Array = npt.NDArray[np.float64]

#: With more users or items than this, a fit that goes on from a solution may be settled after
#: three rounds.
MANY_USERS, MANY_ITEMS = 20_000, 4_000
#: Prior for a user known to be strong: about the best one in forty.
STRONG = normal_log_prior(2.0, 0.5)


@dataclass(frozen=True)
class KeyFit:
    """One solution of the model.

    Attributes
    ----------
    key
        P(option is the key of its item), one per option.
    posterior
        Of the abilities.
    evidence
        Lower bound of the log probability of the answers: what solutions are compared by.
    curves, rounds, converged
        The rest of the state.
    """

    key: Array
    posterior: Posterior
    evidence: float
    curves: Curves
    rounds: int
    converged: bool


class KeyProblem:
    """The data of the model, and what the caller knows.

    Parameters
    ----------
    responses, sums
        The data; every user has answered something.
    witness
        How much each user counts as a witness (copies count less than one).
    answers
        Known right answers: their keys are certain.
    strong_user
        A user known to be strong: a prior on that user's ability.
    """

    def __init__(
        self,
        responses: Responses,
        sums: Sums,
        witness: Array | None = None,
        *,
        answers: Mapping[Any, Any] | None = None,
        strong_user: Any = None,
    ) -> None:
        self.responses, self.sums = responses, sums
        self.within = Within(responses)
        self.blocks: list[ItemBlock] = item_blocks(responses)
        self.log_prior: Array = normal_log_prior()
        self.strong: int | None = None
        if user_is_here(responses, strong_user):  # one without answers says nothing
            self.strong = user_number(responses, strong_user)
            self.log_prior = np.tile(self.log_prior, (responses.n_users, 1))
            self.log_prior[self.strong] = STRONG
        self.known = np.full(responses.n_options, -1.0)
        if answers:
            self._mark_known(answers)
        self.weigh(np.ones(responses.n_users) if witness is None else witness)

    def weigh(self, witness: Array) -> None:
        """Set how much each user counts, and what follows from the counts alone."""
        self.witness = witness
        counts = self.sums.choosers(witness)
        others = np.maximum(self.within.sizes[self.within.items], 2) - 1
        rest = self.within.sum(counts) - counts
        terms = log_gamma(counts + 1)
        distractors = self.within.sum(terms) - terms + log_gamma(others) - log_gamma(rest + others)
        popularity = np.log((counts + 1) / self.within.sum(counts + 1))
        self.fixed = distractors + popularity

    def _mark_known(self, answers: Mapping[Any, Any]) -> None:
        """1 for a known right option, 0 for the others of its item; -1 stays for unknown items."""
        place = {str(label).strip(): i for i, label in enumerate(self.responses.items)}
        for item in answers:
            i = place.get(str(item).strip())
            if i is not None:
                first, last = self.responses.item_starts[i : i + 2]
                self.known[first:last] = 0.0
        self.known[known_options(self.responses, answers)] = 1.0

    def settle(self, key: Array) -> Array:
        """The key's posterior, with what is known put in."""
        return np.where(self.known >= 0, self.known, key)

    def reported(self, key: Array) -> Array:
        """The key's posterior, NaN for items whose known right answer nobody chose."""
        return np.where(self.within.sum(key) > 0, key, np.nan)


def fit_key(
    problem: KeyProblem,
    weights: Array,
    *,
    curves: Curves | None = None,
    warm: bool = False,
    max_rounds: int = 150,
    tol: float = 1e-6,
) -> KeyFit:
    """Fit the model from a first posterior of the abilities (rows of grid weights).

    A fit that goes on from a solution has its curves, or is said to be ``warm``.
    """
    r = problem.responses
    large = r.n_users > MANY_USERS or r.n_items > MANY_ITEMS
    least = 2 if large and (warm or curves is not None) else 9
    curves = Curves.start(problem.responses.n_options) if curves is None else curves
    before = -np.inf
    fit = None
    for rounds in range(1, max_rounds + 1):
        chosen = problem.sums.choosers(problem.witness[:, None] * weights)
        found = weigh_candidates(
            problem.blocks,
            curves,
            chosen,
            problem.fixed,
            problem.known,
            steps=8 if rounds == 1 else 2,
            threads=problem.sums.threads,
        )
        key = found.key
        posterior = _posterior(problem, found.logs)
        weights = posterior.weights
        about_key = key * (found.prior - np.log(np.maximum(key, 1e-300)))
        evidence = float(problem.witness @ posterior.log_evidence + about_key.sum())
        curves = found.pooled() if rounds % 2 == 0 else found.curves
        settled = rounds > least and abs(evidence - before) < 0.02 + tol * abs(evidence)
        fit = KeyFit(key, posterior, evidence, curves, rounds, settled)
        if settled:
            break
        before = evidence
    assert fit is not None
    return fit


def ability_posterior(problem: KeyProblem, key: Array, curves: Curves) -> Posterior:
    """What the answers say about abilities, given the key's posterior and all curves."""
    logs = expected_logs(problem.blocks, key, curves, problem.sums.threads)
    return _posterior(problem, logs)


def _posterior(problem: KeyProblem, logs: Array) -> Posterior:
    return posterior_of(problem.sums.choices(logs) + problem.log_prior, problem.sums.threads)
