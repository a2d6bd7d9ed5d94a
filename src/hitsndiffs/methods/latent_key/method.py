"""The latent-key estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.progress import step
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.draws import user_draws
from hitsndiffs.methods.fitted import AlikeUsers
from hitsndiffs.methods.latent_key.base import ByReading
from hitsndiffs.methods.latent_key.common_errors import off_together
from hitsndiffs.methods.latent_key.leanings import LeaningProblem
from hitsndiffs.methods.latent_key.learnt import FoundSolution, KeySearch
from hitsndiffs.methods.latent_key.modes import Mode
from hitsndiffs.methods.latent_key.problem import Problem, Solution
from hitsndiffs.methods.latent_key.reading import in_words, questions_of, readings_of
from hitsndiffs.methods.latent_key.search import Search
from hitsndiffs.methods.latent_key.together import fit_all
from hitsndiffs.methods.probability import normal_quantile

__all__ = ["LatentKey"]

#: Resampling is used with fewer users or items than this, up to this many responses × resamples.
FEW = 60
RESAMPLE_UP_TO = 3_000_000
#: With fewer answers per item than this, it cannot be learnt how hard items are.
FEW_PER_ITEM = 12


@dataclass(kw_only=True, eq=False)
class LatentKey(ByReading):
    """One unknown right answer per item; the evidence decides which.

    Parameters
    ----------
    axes
        Start from this many leading axes, both ways up, and from the consensus.
    resamples
        Refits with users reweighted at random, over which the key is averaged (small data).
    max_iterations
        Most rounds of the final fit.
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
        """The result, given the solutions."""
        readings = readings_of(found)
        asked = questions_of(found)
        step("fitting the best solution")
        chosen = found.for_everybody(found.distinct[self._reading_of(len(found.distinct))])

        # 2. the chosen solution, fitted with every user; copies count by the root of their weight
        problem = chosen.fit.problem.weighing(np.sqrt(chosen.witnesses.weights))
        final = problem.fit(chosen.fit, max_rounds=self.max_iterations)
        if found.sample is not None:
            readings = tuple(replace(r, correct=problem.right_shares(r.key)) for r in readings)

        # 3. the key, averaged over resampled users where the data are small, and over two models
        # where items have few answers
        key = self._averaged_key(problem, final)
        if chosen.one_label is None:
            key = _with_confusions(found, problem, key)
        correct = problem.right_shares(key)
        # 4. errors: everybody's own, and the one that all shares have in common
        own, common = final.share_errors(), final.common_errors(key)
        return Fit(
            scores=correct,
            option_weights=key,
            key_probabilities=problem.reported(key),
            correct=correct,
            abilities=final.posterior.mean,
            standard_errors=own if common is None else np.sqrt(own**2 + common**2),
            common_errors=common,
            ability_errors=final.posterior.sd,
            confidence=readings[self.reading - 1].probability,
            converged=final.converged,
            n_iterations=final.rounds,
            notes=(*in_words(found, readings, asked), *off_together(own, common)),
            readings=readings,
            questions=asked,
            alike=_alike(found, chosen, final),
            learnt=KeySearch(
                solutions=tuple(FoundSolution(mode.starts, mode.evidence) for mode in found.modes),
                lead=found.lead,
                signs=found.signs,
                population=final.population,
            ),
        )

    def _averaged_key(self, problem: Problem, final: Solution) -> Floats:
        """Half the key's posterior, half its mean over fits with random user weights.

        Each weight is an Exp(1) draw, paired with its opposite (small where it was large), so half
        of the chance in the mean cancels out.
        """
        r = problem.data
        few = min(r.n_users, r.n_items) < FEW
        small = r.n_responses * self.resamples <= RESAMPLE_UP_TO
        if self.resamples == 0 or not (few and small) or r.n_users < 3:
            return final.key
        draws = user_draws(r, (self.resamples + 1) // 2).T
        draws = np.concatenate([draws, 1 - draws])[: self.resamples]
        equal = r.how_many(r.fingerprints())
        weights = [_drawn(draw, equal) for draw in draws]
        drawn = [problem.weighing(problem.witness * w / w.mean()) for w in weights]
        fits = fit_all(drawn, [final] * len(drawn), "averaging the key", max_rounds=10)
        mean = sum(fit.key for fit in fits) / self.resamples
        return problem.settle((final.key + mean) / 2)


def _with_confusions(found: Search, problem: Problem, key: Floats) -> Floats:
    """The key, averaged with that by confusion matrices where all items share two labels.

    This is for items with few answers: these do not show how hard an item is, and a model without
    difficulty errs on other items.
    """
    data, other = problem.data, found.confusions
    few = data.n_responses < FEW_PER_ITEM * data.n_items
    if other is None or not few or not isinstance(problem, LeaningProblem):
        return key
    return problem.settle((key + other) / 2)


def _drawn(draw: Floats, equal: Floats) -> Any:
    """Means of Exp(1) draws, one for each user with the same answers: they share one weight.

    For several users, it uses that the cube root of a gamma variable is nearly normal.
    """
    alone = -np.log1p(-np.clip(draw, 0.0, 1 - 1e-12))
    normal = normal_quantile(np.clip(draw, 1e-12, 1 - 1e-12))
    together = np.maximum(1 - 1 / (9 * equal) + normal / (3 * np.sqrt(equal)), 0.0) ** 3
    return np.where(equal > 1, together, alone)


def _alike(found: Search, chosen: Mode, final: Solution) -> AlikeUsers:
    """The users whom the chosen solution takes as copies of each other."""
    data, copies = final.problem.data, chosen.witnesses.weights
    if found.habits is not None and found.sample is None:
        copies = copies / found.habits.weights
    alike = copies < 1 - 1e-9
    first = tuple(int(user) for user in data.first(alike, 100))
    return AlikeUsers(int(alike.sum()), first, float(1 - copies.mean()))
