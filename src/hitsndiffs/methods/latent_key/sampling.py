"""Large data: solutions are found on a sample, and then fitted to everything.

A solution (keys, slopes, intercepts) belongs to the items, and a few thousand users determine it
well. Abilities belong to the users, and a few thousand items determine them well. The rounds that
lead from a start to a solution are therefore made with a sample; all users and items join in for
the last few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.draws import item_words, sampled_users
from hitsndiffs.methods.latent_key.problem import Problem, Solution

__all__ = ["Sample", "take_sample"]

#: A sample larger than this share is not worthwhile.
LARGEST_SAMPLE = 0.5


@dataclass(frozen=True)
class Sample:
    """A sample of the users or of the items, or everything.

    Attributes
    ----------
    problem
        The problem with the sample's answers.
    users
        Who is in the sample; ``None`` for everybody.
    whole
        The problem with all answers.
    """

    problem: Problem
    users: Any
    whole: Problem

    @property
    def is_whole(self) -> bool:
        """Whether the sample is everything."""
        return self.problem is self.whole

    def fit(self, scores: Floats, max_rounds: int) -> Solution:
        """Fit from everybody's scores (on the grid's scale), with the sample's answers."""
        return self.problem.fit(self.picked(scores), max_rounds=max_rounds)

    def picked(self, x: Any) -> Any:
        """A user array's values for the sample."""
        return x if self.users is None else self.whole.data.picked(x, self.users)

    def for_all(self, fit: Solution, max_rounds: int) -> Solution:
        """Continue a sample's solution with all answers."""
        if self.is_whole:
            return fit
        if self.users is None:  # some items: their solution gives the abilities
            return self.whole.fit(fit.posterior, max_rounds=max_rounds)
        return self.whole.fit(self.whole.applied(fit), max_rounds=max_rounds)


def take_sample(problem: Problem) -> Sample:
    """Choose a sample of the users or of the items; everything if the data are small."""
    r = problem.data
    if r.n_users * LARGEST_SAMPLE >= problem.sizes.sample_users:
        return _some_users(problem)
    if r.n_items * LARGEST_SAMPLE >= problem.sizes.sample_items:
        return _some_items(problem)
    return Sample(problem, None, problem)


def _some_users(problem: Problem) -> Sample:
    """Sample users; who is chosen depends on the answers, not on the order of the users."""
    r = problem.data
    sizes = problem.sizes
    answers = float(np.median(r.answers_per_item))
    share = max(sizes.sample_users / r.n_users, sizes.sample_answers / answers)
    chosen = sampled_users(r, share) if share <= LARGEST_SAMPLE else None
    if chosen is None:
        return Sample(problem, None, problem)
    if problem.strong is not None:
        chosen = chosen | problem.strong_users[0]
    users = r.where(chosen)
    part, _ = r.subset(users, keep_options=True)
    sample = problem.part(part, r.picked(problem.witness, users), np.arange(r.n_options))
    return Sample(sample, users, problem)


def _some_items(problem: Problem) -> Sample:
    """Take every k-th item, sorted from the clearest majority to none."""
    r = problem.data
    sizes = problem.sizes
    answers = r.median(r.answers_per_user)
    share = max(sizes.sample_items / r.n_items, sizes.sample_answers_of_user / answers)
    if share > LARGEST_SAMPLE:
        return Sample(problem, None, problem)
    counts = r.choosers_per_option.astype(float)
    majority = np.maximum.reduceat(counts, r.items.starts[:-1]) / r.answers_per_item
    by_majority = np.lexsort((item_words(r), r.answers_per_item, -majority))
    part, options = r.restrict_items(by_majority[:: int(1 / share)])
    return Sample(problem.part(part, problem.witness, options), None, problem)
