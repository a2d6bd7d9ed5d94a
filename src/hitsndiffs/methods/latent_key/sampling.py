"""Large data: solutions are looked for in a part of them, and then fitted to all.

With many users: what a solution consists of (keys, slopes, intercepts) belongs to the items, and
some thousand users determine it well. With many items it is the abilities that some thousand items
determine. The rounds that lead from a start to a solution are therefore made with a sample, and
everybody and everything joins in for the last few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.draws import user_draws
from hitsndiffs.methods.latent_key.problem import Problem, Solution

__all__ = ["Sample", "take_sample"]

Array = npt.NDArray[np.float64]

#: A sample has more users where the items have few answers: so many each.
ANSWERS = 2_000
#: The same for items, and for the answers of the users.
ITEMS, ANSWERS_OF_USER = 2_000, 500
#: A sample of more than this share is not worth it.
LARGEST = 0.5


@dataclass(frozen=True)
class Sample:
    """Some of the users, some of the items, or all.

    Attributes
    ----------
    problem
        The sample's answers.
    users
        Who they are.
    whole
        Everybody's answers.
    """

    problem: Problem
    users: npt.NDArray[np.int64]
    whole: Problem

    @property
    def is_whole(self) -> bool:
        """Whether the sample is everything."""
        return self.problem is self.whole

    def fit(self, scores: Array, max_rounds: int) -> Solution:
        """Fit from everybody's scores (on the grid's scale), with the sample's answers."""
        return self.problem.fit(scores[self.users], max_rounds=max_rounds)

    def for_all(self, fit: Solution, max_rounds: int) -> Solution:
        """Go on from a sample's solution with all answers."""
        if self.is_whole:
            return fit
        if len(self.users) == self.whole.data.n_users:  # some items: they tell the abilities
            return self.whole.fit(fit.posterior.mean, warm=True, max_rounds=max_rounds)
        return self.whole.fit(self.whole.applied(fit), max_rounds=max_rounds)


def take_sample(problem: Problem) -> Sample:
    """Choose the users, or the items, among which to look; everything where that is little."""
    r = problem.data
    if r.n_users * LARGEST >= problem.sampled_users:
        return _some_users(problem)
    if r.n_items * LARGEST >= ITEMS:
        return _some_items(problem)
    return Sample(problem, np.arange(r.n_users), problem)


def _some_users(problem: Problem) -> Sample:
    """Who is chosen depends on the answers, not on the order of the users."""
    r = problem.data
    share = max(problem.sampled_users / r.n_users, ANSWERS / float(np.median(r.answers_per_item)))
    if share > LARGEST:
        return Sample(problem, np.arange(r.n_users), problem)
    chosen = user_draws(r, 1)[:, 0] < share
    if problem.strong is not None:
        chosen[problem.strong] = True
    users = np.flatnonzero(chosen)
    part, options = r.subset(users, keep_options=True)
    return Sample(problem.part(part, users, options), users, problem)


def _some_items(problem: Problem) -> Sample:
    """Every so many-th item, from those with the clearest majority to those with none."""
    r, everybody = problem.data, np.arange(problem.data.n_users)
    share = max(ITEMS / r.n_items, ANSWERS_OF_USER / float(np.median(r.answers_per_user)))
    if share > LARGEST:
        return Sample(problem, everybody, problem)
    counts = r.choosers_per_option.astype(float)
    majority = np.maximum.reduceat(counts, r.items.starts[:-1]) / r.answers_per_item
    by_majority = np.lexsort((r.answers_per_item, -majority))
    part, options = r.restrict_items(by_majority[:: int(1 / share)])
    return Sample(problem.part(part, everybody, options), everybody, problem)
