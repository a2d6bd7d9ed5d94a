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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.grid import THETA, Posterior, normal_log_prior, posterior_of
from hitsndiffs.orientation import known_options, user_is_here, user_number
from hitsndiffs.responses import Responses
from hitsndiffs.sums import Sums
from hitsndiffs.within import Within

__all__ = ["Curves", "KeyFit", "KeyProblem", "ability_posterior", "fit_key"]

Array = npt.NDArray[np.float64]

#: Candidates handled at once: their curves over the grid fit the cache.
CHUNK = 1024
#: With more users than this, a fit that goes on from a solution may be settled after three rounds.
MANY = 20_000
#: Prior for a user known to be strong: about the best one in forty.
STRONG = normal_log_prior(2.0, 0.5)


@dataclass(frozen=True)
class Curves:
    """Slope and intercept of every candidate key, and the population they come from."""

    slopes: Array
    intercepts: Array
    mean_slope: float = 1.0
    var_slope: float = 0.25
    mean_intercept: float = 0.0
    var_intercept: float = 2.25

    @classmethod
    def start(cls, n_options: int) -> Curves:
        """All candidates alike."""
        return cls(np.ones(n_options), np.zeros(n_options))


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
        from scipy.special import gammaln

        self.witness = witness
        counts = self.sums.choosers(witness)
        others = np.maximum(self.within.sizes[self.within.items], 2) - 1
        rest = self.within.sum(counts) - counts
        terms = gammaln(counts + 1)
        distractors = self.within.sum(terms) - terms + gammaln(others) - gammaln(rest + others)
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
    max_rounds: int = 150,
    tol: float = 1e-6,
) -> KeyFit:
    """Fit the model from a first posterior of the abilities (rows of grid weights)."""
    many = problem.responses.n_users > MANY
    least = 9 if curves is None or not many else 2
    curves = Curves.start(problem.responses.n_options) if curves is None else curves
    before = -np.inf
    fit = None
    for rounds in range(1, max_rounds + 1):
        chosen = problem.sums.choosers(problem.witness[:, None] * weights)
        answered = problem.within.sum(chosen)
        curves, curvature = _newton(curves, chosen, answered, steps=8 if rounds == 1 else 2)
        log_right, log_wrong = _log_curves(curves)
        prior = _log_prior(curves, curvature) + problem.fixed
        fit_of_candidate = (chosen * log_right + (answered - chosen) * log_wrong).sum(axis=1)
        key = problem.settle(problem.within.softmax(fit_of_candidate + prior))

        posterior = ability_posterior(problem, key, curves)
        weights = posterior.weights
        about_key = key * (prior - np.log(np.maximum(key, 1e-300)))
        evidence = float(problem.witness @ posterior.log_evidence + about_key.sum())
        if rounds % 2 == 0:
            curves = _pool(curves, key, curvature)
        settled = rounds > least and abs(evidence - before) < 0.02 + tol * abs(evidence)
        fit = KeyFit(key, posterior, evidence, curves, rounds, settled)
        if settled:
            break
        before = evidence
    assert fit is not None
    return fit


def ability_posterior(problem: KeyProblem, key: Array, curves: Curves) -> Posterior:
    """What the answers say about abilities, given the key's posterior and all curves."""
    logs = _expected_logs(problem, key, *_log_curves(curves))
    threads = getattr(problem.sums, "threads", 1)
    return posterior_of(problem.sums.choices(logs) + problem.log_prior, threads)


@dataclass(frozen=True)
class _Curvature:
    """Second derivatives of each candidate's log posterior in slope and intercept."""

    slope: Array
    intercept: Array
    determinant: Array


def _newton(c: Curves, chosen: Array, answered: Array, steps: int) -> tuple[Curves, _Curvature]:
    """Maximise each candidate's log posterior in ``(a, b)``, a cacheful of candidates at a time."""
    parts = [
        _newton_part(c, slice(first, first + CHUNK), chosen, answered, steps)
        for first in range(0, len(c.slopes), CHUNK)
    ]
    a, b, h_aa, h_bb, det = (np.concatenate(column) for column in zip(*parts, strict=True))
    return replace(c, slopes=a, intercepts=b), _Curvature(h_aa, h_bb, det)


def _newton_part(
    c: Curves, part: slice, chosen: Array, answered: Array, steps: int
) -> tuple[Array, Array, Array, Array, Array]:
    """Damped Newton steps; slope, intercept, and the curvature at the end."""
    a, b = c.slopes[part], c.intercepts[part]
    chosen, answered = chosen[part], answered[part]
    squares = THETA**2
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(a[:, None] * THETA + b[:, None])))
        residual = chosen - answered * p
        information = answered * p * (1 - p)
        grad_a = residual @ THETA - (a - c.mean_slope) / c.var_slope
        grad_b = residual.sum(axis=1) - (b - c.mean_intercept) / c.var_intercept
        h_aa = information @ squares + 1 / c.var_slope
        h_ab = information @ THETA
        h_bb = information.sum(axis=1) + 1 / c.var_intercept
        det = np.maximum(h_aa * h_bb - h_ab**2, 1e-10)
        a = np.clip(a + np.clip((h_bb * grad_a - h_ab * grad_b) / det, -1, 1), 0.0, 8.0)
        b = np.clip(b + np.clip((h_aa * grad_b - h_ab * grad_a) / det, -2, 2), -12.0, 12.0)
    return a, b, h_aa, h_bb, det


def _log_curves(c: Curves) -> tuple[Array, Array]:
    """Log probability of choosing each candidate, and of not choosing it, over the grid."""
    eta = c.slopes[:, None] * THETA + c.intercepts[:, None]
    wrong = -(np.maximum(eta, 0) + np.log1p(np.exp(-np.abs(eta))))
    return eta + wrong, wrong


def _log_prior(c: Curves, h: _Curvature) -> Array:
    """Log prior of slope and intercept, with the width of their posterior (Laplace)."""
    return np.asarray(
        -((c.slopes - c.mean_slope) ** 2) / (2 * c.var_slope)
        - (c.intercepts - c.mean_intercept) ** 2 / (2 * c.var_intercept)
        - 0.5 * np.log(c.var_slope * c.var_intercept)
        - 0.5 * np.log(h.determinant)
    )


def _expected_logs(problem: KeyProblem, key: Array, right: Array, wrong: Array) -> Array:
    """What choosing an option says about ability: its log likelihood averaged over the key."""
    k = key[:, None]
    return problem.within.sum(k * wrong) + k * (right - wrong)


def _pool(c: Curves, key: Array, h: _Curvature) -> Curves:
    """Means and variances of slopes and intercepts over the likely keys (and ten pseudo-items)."""
    pseudo = 10.0
    total = key.sum() + pseudo
    mean_a = float(np.clip(((key * c.slopes).sum() + pseudo) / total, 0.2, 5.0))
    mean_b = float((key * c.intercepts).sum() / total)
    spread_a = (c.slopes - mean_a) ** 2 + np.minimum(h.intercept / h.determinant, c.var_slope)
    spread_b = (c.intercepts - mean_b) ** 2 + np.minimum(h.slope / h.determinant, c.var_intercept)
    return replace(
        c,
        mean_slope=mean_a,
        mean_intercept=mean_b,
        var_slope=float(np.clip(((key * spread_a).sum() + pseudo * 0.25) / total, 0.01, 4.0)),
        var_intercept=float(np.clip(((key * spread_b).sum() + pseudo * 2.25) / total, 0.05, 16.0)),
    )
