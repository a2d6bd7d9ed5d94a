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
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, applied, fit_key

__all__ = ["Sample", "take_sample"]

Array = npt.NDArray[np.float64]

#: About so many users are in a sample, or more where the items have few answers: so many each.
USERS, ANSWERS = 20_000, 2_000
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

    problem: KeyProblem
    users: npt.NDArray[np.int64]
    whole: KeyProblem

    @property
    def is_whole(self) -> bool:
        """Whether the sample is everything."""
        return self.problem is self.whole

    def fit(self, scores: Array, max_rounds: int) -> KeyFit:
        """Fit from everybody's scores (on the grid's scale), with the sample's answers."""
        return fit_key(self.problem, scores[self.users], max_rounds=max_rounds)

    def for_all(self, fit: KeyFit, max_rounds: int) -> KeyFit:
        """Go on from a sample's solution with all answers."""
        if self.is_whole:
            return fit
        if len(self.users) == self.whole.data.n_users:  # some items: they tell the abilities
            return fit_key(self.whole, fit.posterior.mean, warm=True, max_rounds=max_rounds)
        return fit_key(self.whole, applied(self.whole, fit), max_rounds=max_rounds)


def take_sample(problem: KeyProblem) -> Sample:
    """Choose the users, or the items, among which to look; everything where that is little."""
    r = problem.data
    if r.n_users * LARGEST >= USERS:
        return _some_users(problem)
    if r.n_items * LARGEST >= ITEMS:
        return _some_items(problem)
    return Sample(problem, np.arange(r.n_users), problem)


def _some_users(problem: KeyProblem) -> Sample:
    """Who is chosen depends on the answers, not on the order of the users."""
    r = problem.data
    share = max(USERS / r.n_users, ANSWERS / float(np.median(r.answers_per_item)))
    if share > LARGEST:
        return Sample(problem, np.arange(r.n_users), problem)
    chosen = user_draws(r, 1)[:, 0] < share
    strong_user = None
    if problem.strong is not None:
        chosen[problem.strong] = True
        strong_user = r.user_labels(np.array([problem.strong]))[0]
    users = np.flatnonzero(chosen)
    part, _ = r.subset(users, keep_options=True)
    sample = KeyProblem(part, problem.witness[users], strong_user=strong_user)
    sample.known = problem.known
    return Sample(sample, users, problem)


def _some_items(problem: KeyProblem) -> Sample:
    """Every so many-th item, from those with the clearest majority to those with none."""
    r, everybody = problem.data, np.arange(problem.data.n_users)
    share = max(ITEMS / r.n_items, ANSWERS_OF_USER / float(np.median(r.answers_per_user)))
    if share > LARGEST:
        return Sample(problem, everybody, problem)
    counts = r.choosers_per_option.astype(float)
    majority = np.maximum.reduceat(counts, r.items.starts[:-1]) / r.answers_per_item
    by_majority = np.lexsort((r.answers_per_item, -majority))
    part, options = r.restrict_items(by_majority[:: int(1 / share)])
    strong = problem.strong
    strong_user = None if strong is None else r.user_labels(np.array([strong]))[0]
    sample = KeyProblem(part, problem.witness, strong_user=strong_user)
    sample.known = problem.known[options]
    return Sample(sample, everybody, problem)
