"""Copied answer sheets: how much each user counts as a witness.

Users whose answers agree far beyond what their abilities explain (copying, or many runs of one
language model) are not independent witnesses. Each user gets the weight ``1 / (1 + copies)``, where
``copies`` is the number of other users who agree beyond doubt. Nothing of size m² is kept: small
data are compared in blocks of users, large ones by fingerprints of answer patterns that are too
unlikely to arise twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import open_engine
from hitsndiffs.engines.base import option_words
from hitsndiffs.methods.latent_key.grid import STEP, THETA
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem
from hitsndiffs.methods.probability import normal_quantile
from hitsndiffs.order.ties import patterns

if TYPE_CHECKING:
    from hitsndiffs.methods.latent_key.sampling import Sample

__all__ = ["Witnesses", "find_witnesses", "near_equals", "option_probabilities"]

Array = npt.NDArray[np.float64]

#: Chance of counting an independent pair as copies, over all pairs of one user.
LEVEL = 0.01
#: Pairs are compared one by one while responses × users stays below this.
PAIRWISE_UP_TO = 1.5e9
#: Values in one block of options × users.
BLOCK_SIZE = 4_000_000
#: A copied answer is the source's with this probability.
FAITHFUL = 0.9
#: Before anything is seen, a user copies with this probability, from any of the others alike.
COPIES = 0.1
#: Fewest common items for a comparison.
COMMON = 4
#: Two users' answers are nearly the same when they agree on this share of so many items.
NEAR, NEAR_COMMON = 0.8, 15


@dataclass(frozen=True)
class Witnesses:
    """How much each user counts, and how well copying explains the rest.

    Attributes
    ----------
    weights
        Between 0 and 1: one over the number of users with practically the same answers.
    copy_logs
        Log probability of each user's answers, taken as a copy of those users'.
    """

    weights: Array
    copy_logs: Array

    def of(self, sample: Sample) -> Witnesses:
        """Those of a sample."""
        return Witnesses(sample.picked(self.weights), sample.picked(self.copy_logs))

    def joined(self, other: Witnesses) -> Witnesses:
        """The copies that either of the two sees."""
        mine = self.weights <= other.weights
        return Witnesses(
            np.where(mine, self.weights, other.weights),
            np.where(mine, self.copy_logs, other.copy_logs),
        )


def find_witnesses(
    problem: KeyProblem, fit: KeyFit, *, pairwise_up_to: float = PAIRWISE_UP_TO
) -> Witnesses:
    """Find users who agree beyond what a solution of the model explains by their abilities.

    Parameters
    ----------
    problem
        The data.
    fit
        A solution: it says how much agreement abilities explain.
    pairwise_up_to
        Pairs are compared one by one while responses × users stays below this.
    """
    r = problem.data
    if r.n_users < 4:
        return Witnesses(r.everybody, 0.0 * r.everybody)
    if r.n_responses * r.n_users <= pairwise_up_to:
        found = _pairwise(*_here(problem, fit))
        return Witnesses(r.user_array(found.weights), r.user_array(found.copy_logs))
    copies = _banded_copies(problem, fit)
    # every answer taken from the source; without this price a solution would gain by seeing copies
    price = np.log(COPIES / r.n_users) + r.answers_per_user * np.log(FAITHFUL)
    return Witnesses(1 / (1 + copies), np.where(copies > 0, price, 0.0))


def near_equals(problem: KeyProblem, least: float = 0.0) -> Array:
    """For each user, the number of others with nearly the same answers (0 for large data).

    Whether able users or copies of one sheet, only a solution can say; this is to start from.
    Where nobody in a sample has ``least`` such others, zeros come back.
    """
    m = problem.data.n_users
    none = 0.0 * problem.data.everybody
    if problem.data.n_responses * m > PAIRWISE_UP_TO:
        return none
    problem, data = _here(problem)[0], problem.data
    size = int(np.clip(BLOCK_SIZE // max(problem.data.n_options, m), 1, 512))
    sample = np.unique(np.linspace(0, m - 1, min(m, size)).astype(int))
    if _near_equals_of(problem, sample).max() < least:
        return none
    blocks = np.array_split(np.arange(m), -(-m // size))
    return data.user_array(np.concatenate([_near_equals_of(problem, users) for users in blocks]))


def _here(problem: KeyProblem, fit: KeyFit | None = None) -> tuple[KeyProblem, Any]:
    """Small data with NumPy's arrays, wherever they are: pairs of users are compared here."""
    data = problem.data
    if data.arrays == "numpy":
        return problem, fit
    here = KeyProblem(open_engine(data.responses), data.collect(problem.witness))
    here.known, here.strong = problem.known, problem.strong
    here.strong_users = tuple(data.collect(marks) for marks in problem.strong_users)
    return here, None if fit is None else replace(fit, problem=here)


def _near_equals_of(problem: KeyProblem, users: npt.NDArray[np.int64]) -> Array:
    chosen = problem.data.sheets(users)
    agreement = problem.data.choices(chosen)
    common = problem.data.choices(problem.items.sum(chosen))
    alike = (agreement >= NEAR * common) & (common >= NEAR_COMMON)
    return np.asarray(alike.sum(axis=0) - alike[users, np.arange(len(users))], dtype=float)


def option_probabilities(problem: KeyProblem, fit: KeyFit, theta: Array) -> Array:
    """P(option | ability) of the model, one row per option, one column per ability."""
    within = problem.items
    counts = (problem.data.choosers(problem.witness) + 0.5)[:, None]
    popularity = counts / within.sum(counts)
    c, key = fit.curves, fit.key[:, None]
    right = 1 / (1 + np.exp(-(c.slopes[:, None] * theta + c.intercepts[:, None])))
    spill = key * (1 - right) / np.maximum(within.sum(counts) - counts, 1e-9)
    keyless = 1 - within.sum(key)  # nobody chose the item's known right answer
    return np.asarray(key * right + counts * (within.sum(spill) - spill) + keyless * popularity)


def _pairwise(problem: KeyProblem, fit: KeyFit) -> Witnesses:
    """Compare all pairs, a block of users at a time."""
    m, q = problem.data.n_users, problem.data.n_options
    size = int(np.clip(BLOCK_SIZE // max(q, m), 1, 512))
    curves = option_probabilities(problem, fit, THETA)
    # real agreement spreads more than the model's: scale by what is seen in a sample of pairs,
    # equal sheets being taken once (a large group of copies would hide behind its own agreement)
    different = np.unique(patterns(problem.data), return_index=True)[1]
    some = np.linspace(0, len(different) - 1, min(len(different), size)).astype(int)
    sample = _excess(problem, fit, curves, different[some])[different]
    compared = np.abs(sample[sample != 0])
    spread = max(1.0, float(np.median(compared) / 0.6745)) if len(compared) else 1.0
    threshold = -float(normal_quantile(np.array(LEVEL / m))) * spread
    copies, logs = np.empty(m), np.zeros(m)
    for first in range(0, m, size):
        users = np.arange(first, min(first + size, m))
        alike = (_excess(problem, fit, curves, users) > threshold).astype(float)
        copies[users] = alike.sum(axis=0)
        copied = copies[users] > 0
        logs[users[copied]] = _copy_logs(problem, users[copied], alike[:, copied])
    return Witnesses(1 / (1 + copies), logs)


def _copy_logs(problem: KeyProblem, users: npt.NDArray[np.int64], alike: Array) -> Array:
    """Log probability of users' answers, each drawn from the answers of those who are alike."""
    if len(users) == 0:
        return np.zeros(0)
    data, within = problem.data, problem.items
    votes = data.choosers(alike)
    cast = within.sum(votes)
    counts = problem.data.choosers_per_option.astype(float)
    popularity = (counts / within.sum(counts))[:, None]
    share = np.divide(
        votes, cast, out=np.broadcast_to(popularity, votes.shape).copy(), where=cast > 0
    )
    chosen = data.sheets(users)
    logs = (chosen * np.log(FAITHFUL * share + (1 - FAITHFUL) * popularity)).sum(axis=0)
    return np.asarray(logs + np.log(COPIES / problem.data.n_users))


def _excess(problem: KeyProblem, fit: KeyFit, curves: Array, users: npt.NDArray[np.int64]) -> Array:
    """Standardised agreement beyond expectation: all users (rows) with some users (columns).

    What two users should agree on is computed over the items that the second one answered, with
    the first one's ability rounded to the grid, and scaled to the items that both answered.
    """
    data, within = problem.data, problem.items
    chosen = data.sheets(users)
    answered = within.sum(chosen)
    agreement = data.choices(chosen)
    common = data.choices(answered)
    place = _places(fit)
    per_item = curves.T @ (curves[:, place[users]] * answered) / chosen.sum(axis=0)
    expected = per_item[place] * common
    variance = np.maximum(expected * (1 - per_item[place]), 0.25)
    z = (agreement - expected) / np.sqrt(variance)
    z[common < COMMON] = 0.0
    z[users, np.arange(len(users))] = 0.0
    return np.asarray(z)


def _places(fit: KeyFit) -> npt.NDArray[np.int64]:
    """The grid point nearest to each user's ability."""
    nearest = np.rint((fit.posterior.mean - THETA[0]) / STEP)
    return np.clip(nearest, 0, len(THETA) - 1).astype(np.int64)


def _banded_copies(problem: KeyProblem, fit: KeyFit, bands: int = 6) -> Array:
    """Number of others who share a pattern that is too unlikely to arise twice.

    The items are dealt into bands. A user's pattern on a band has some probability given the
    user's ability; where it is below ``LEVEL / m`` nobody else should have it by chance.
    """
    data = problem.data
    log_p = np.log(np.maximum(option_probabilities(problem, fit, THETA), 1e-12))
    place = _places(fit)
    words = option_words(data.n_options)
    band_of_item = np.random.default_rng(1).permutation(data.n_items) % bands
    copies = 0.0 * data.everybody
    for band in range(-1, bands):  # -1: the whole sheet
        inside = np.ones(data.n_options, dtype=bool)
        if band >= 0:
            inside = (band_of_item == band)[data.items.of_option]
        log_probability = data.mapped(log_p * inside[:, None], _at_place, place)[:, 0]
        sizes = data.how_many(data.fingerprints(np.where(inside, words, np.uint64(0))))
        unlikely = log_probability < np.log(LEVEL / data.n_users)
        copies = np.maximum(copies, np.where(unlikely, sizes - 1.0, 0.0))
    return copies


def _at_place(sums: Array, place: npt.NDArray[np.int64]) -> Array:
    return np.take_along_axis(sums, place[:, None], axis=1)
