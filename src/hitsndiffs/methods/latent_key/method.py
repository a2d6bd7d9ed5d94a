"""The latent-key estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.progress import step, tracked
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.draws import user_draws
from hitsndiffs.methods.latent_key.base import Searching
from hitsndiffs.methods.latent_key.grid import THETA
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, fit_key, weighed
from hitsndiffs.methods.latent_key.search import Search

__all__ = ["LatentKey"]

Array = npt.NDArray[np.float64]

#: Resampled fits are made for few users or few items, while responses × resamples is not too much.
FEW = 60
RESAMPLE_UP_TO = 3_000_000


@dataclass(kw_only=True, eq=False)
class LatentKey(Searching):
    """One unknown right answer per item; the evidence decides which.

    Parameters
    ----------
    axes
        Start from this many leading axes, both ways up, and from the consensus.
    resamples
        Refits with users reweighted at random, over which the key is averaged (small data).
    max_iterations
        Limit of rounds of the final fit.
    answers, strong_user
        Known right answers and a user known to be strong: evidence like any other.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("ABCA"), list("ABCB"), list("ABDA"), list("CDCA")])
    >>> LatentKey().fit(r).correct_.argmax().item()
    0
    """

    name: ClassVar[str] = "latent-key"
    summary: ClassVar[str] = "one unknown right answer per item, chosen by evidence"
    use: ClassVar[str] = "tests, quizzes, language models: items with one right answer each"

    resamples: int = 15
    max_iterations: int = 150

    def _fit(self, data: Engine) -> Fit:
        # 1. distinct solutions from several starts; the evidence chooses
        found = self._search(data)
        return self.from_search(found)

    def from_search(self, found: Search) -> Fit:
        """The result, once the solutions are known."""
        problem = found.problem
        data = problem.data

        step("fitting the best solution")
        # 2. the chosen solution, fitted with every user, copies counting by their square root
        problem.weigh(np.sqrt(found.witness))
        chosen = found.best.fit
        final = fit_key(
            problem,
            chosen,
            max_rounds=self.max_iterations,
        )

        # 3. the key, averaged over resampled users where the data are small
        key = self._averaged_key(problem, final)
        correct = data.choices(key) / data.answers_per_user
        return Fit(
            scores=correct,
            option_weights=key,
            key_probabilities=problem.reported(key),
            correct=correct,
            abilities=final.posterior.mean,
            standard_errors=correct_errors(problem, final),
            ability_errors=final.posterior.sd,
            confidence=found.confidence,
            converged=final.converged,
            n_iterations=final.rounds,
            notes=() if found.confidence >= 0.8 else (found.doubt,),
            details=_details(found, final),
        )

    def _averaged_key(self, problem: KeyProblem, final: KeyFit) -> Array:
        """Half the key's posterior, half its mean over users weighted by Exp(1) draws."""
        r = problem.data
        few = min(r.n_users, r.n_items) < FEW
        small = r.n_responses * self.resamples <= RESAMPLE_UP_TO
        if self.resamples == 0 or not (few and small) or r.n_users < 3:
            return final.key
        draws = user_draws(problem.data, self.resamples)
        witness = problem.witness
        total = np.zeros_like(final.key)
        for draw in tracked(-np.log1p(-draws.T), "averaging the key", self.resamples):
            problem.weigh(witness * draw / draw.mean())
            total += fit_key(problem, final, max_rounds=10).key
        problem.weigh(witness)
        return problem.settle((final.key + total / self.resamples) / 2)


def correct_errors(problem: KeyProblem, fit: KeyFit) -> Any:
    """Standard error of the expected share correct: chance in the answers, doubt about the key.

    The first part is the spread of the number of right answers at the user's ability, the second
    the spread of the key given the data; both are sums over the user's items.
    """
    c, key = fit.curves, fit.key
    p = 1 / (1 + np.exp(-(c.slopes[:, None] * THETA + c.intercepts[:, None])))
    chance = problem.items.sum(key[:, None] * p * (1 - p))
    doubt = key * (1 - key)
    columns = np.column_stack([fit.logs, chance, doubt])
    return problem.data.mapped(
        columns, _share_errors, problem.data.answers_per_user, *problem.strong_users
    )[:, 0]


def _share_errors(sums: Array, answers: Array, strong: npt.NDArray[np.bool_] | None = None) -> Any:
    grid = len(THETA)
    weights = weighed(sums[:, :grid], strong)
    by_ability = (sums[:, grid : 2 * grid] * weights).sum(axis=1)
    return (np.sqrt(by_ability + sums[:, 2 * grid]) / answers)[:, None]


def _details(found: Search, final: KeyFit) -> dict[str, Any]:
    data, alike = found.problem.data, found.witness < 1
    return {
        "solutions": [
            {"starts": list(mode.starts), "evidence": mode.evidence} for mode in found.modes
        ],
        "lead": found.lead,
        "copies": float(1 - found.witness.mean()),
        "n_alike": int(alike.sum()),
        "alike": [str(user) for user in data.user_labels(data.first(alike, 100))],
        "mean_slope": final.curves.mean_slope,
        "mean_intercept": final.curves.mean_intercept,
    }
