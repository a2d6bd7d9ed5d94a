"""Copied answer sheets: how much each user counts as a witness.

Users whose answers agree far beyond what their abilities explain (copying, or many runs of one
language model) are not independent witnesses. Each user gets the weight ``1 / (1 + copies)``, where
``copies`` is the number of other users who agree beyond doubt. Small data are compared pair by
pair, in blocks of users; large data by fingerprints of answer patterns that are too unlikely to
arise twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.data.encoding.option_book import is_blank
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.engines.base import option_words
from hitsndiffs.errors import InputError
from hitsndiffs.methods.draws import item_words, user_draws
from hitsndiffs.methods.latent_key.grid import at_place
from hitsndiffs.methods.latent_key.pairs import Counts
from hitsndiffs.methods.latent_key.problem import Problem, Solution
from hitsndiffs.methods.probability import normal_quantile
from hitsndiffs.order.ties import patterns

if TYPE_CHECKING:
    from hitsndiffs.methods.latent_key.sampling import Sample

__all__ = ["Witnesses", "excess_spread", "find_witnesses", "group_weights", "near_equals"]

#: Chance of counting an independent pair as copies, over all pairs of one user.
LEVEL = 0.01
#: Pairs are compared one by one while responses × users stays below this.
PAIRWISE_UP_TO = 1.5e9
#: Values in one block of options × users.
BLOCK_SIZE = 4_000_000
#: A copied answer is the source's with this probability.
FAITHFUL = 0.9
#: Prior probability that a user copies; all others are equally likely sources.
COPIES = 0.1
#: Fewest common items for a comparison, and the smallest variance of an agreement.
COMMON, LEAST_VARIANCE = 4, 0.25
#: Two users' answers are nearly the same when they agree on this share of the items beyond chance,
#: over at least this many items that both answered.
NEARLY_SAME, NEAR_COMMON = 0.5, 15
#: Users in the sample that shows how far pairs agree beyond what a solution expects.
EXCESS_USERS = 100
#: Large data are compared on this many bands of items.
BANDS = 6


@dataclass(frozen=True)
class Witnesses:
    """How much each user counts, and how well copying explains the rest.

    Attributes
    ----------
    weights
        Between 0 and 1: one over the number of users with practically the same answers.
    copy_logs
        Log probability of each user's answers as a copy of those users' answers.
    """

    weights: Floats
    copy_logs: Floats

    def of(self, sample: Sample) -> Witnesses:
        """The values for a sample."""
        return Witnesses(sample.picked(self.weights), sample.picked(self.copy_logs))

    def joined(self, other: Witnesses) -> Witnesses:
        """The copies that either of the two finds."""
        mine = self.weights <= other.weights
        return Witnesses(
            np.where(mine, self.weights, other.weights),
            np.where(mine, self.copy_logs, other.copy_logs),
        )


def find_witnesses(
    problem: Problem, fit: Solution, *, pairwise_up_to: float = PAIRWISE_UP_TO
) -> Witnesses:
    """Find users who agree beyond what a solution of the model explains by their abilities."""
    r = problem.data
    if r.n_users < 4:
        return Witnesses(r.everybody, 0.0 * r.everybody)
    if r.n_responses * r.n_users <= pairwise_up_to:
        found = _pairwise(*_here(problem, fit))
        return Witnesses(r.user_array(found.weights), r.user_array(found.copy_logs))
    copies = _banded_copies(problem, fit)
    # the price of copying every answer; without it a solution would gain by seeing copies
    price = np.log(COPIES * np.maximum(copies, 1.0) / r.n_users)
    price = price + r.answers_per_user * np.log(FAITHFUL)
    return Witnesses(1 / (1 + copies), np.where(copies > 0, price, 0.0))


def near_equals(problem: Problem, apart: Callable[[Ints], Flags] | None = None) -> Any:
    """For each user, the number of others with nearly the same answers (0 for large data).

    Answers are nearly the same if two users agree on half of the items beyond chance, which is the
    agreement of two people who draw their answers from everybody's. Only a solution can tell able
    users from copies of one sheet; this is a starting point.

    ``apart``: for given users (columns), the options (rows) to leave out of their answers.
    """
    m = problem.data.n_users
    if problem.data.n_responses * m > PAIRWISE_UP_TO:
        return 0.0 * problem.data.everybody
    of, here = problem.data, _here(problem)[0]
    data, items = here.data, problem.items
    share = items.share(data.choosers_per_option.astype(float))
    by_chance = items.sum(share**2)[:, None]
    size = int(np.clip(BLOCK_SIZE // max(data.n_options, m), 1, 512))
    others = np.empty(m)
    for users in np.array_split(np.arange(m), -(-m // size)):
        chosen = data.answer_sheets(users)
        if apart is not None:
            chosen = np.where(apart(users), 0.0, chosen)
        answered = items.sum(chosen)
        if apart is None:
            agree, common = here.pairs.of(users)
        else:
            agree, common = data.choices(chosen), data.choices(answered)
        chance = data.choices(answered * by_chance)
        beyond = agree - chance
        alike = (beyond >= NEARLY_SAME * (common - chance)) & (common >= NEAR_COMMON)
        others[users] = alike.sum(axis=0) - alike[users, np.arange(len(users))]
    return of.user_array(others)


def group_weights(data: Engine, group: Mapping[Any, Any]) -> Any:
    """One over the size of each user's group; a user without a group is a group of one.

    Users are compared as text.
    """
    if not data.in_memory:
        raise data.cannot_serve("Counting by groups")
    names = {str(user).strip(): str(of) for user, of in group.items() if not is_blank(of)}
    users = [str(user).strip() for user in data.user_labels(np.arange(data.n_users))]
    here = [names[user] for user in users if user in names]
    if not here:
        some = ", ".join(repr(user) for user in users[:3])
        raise InputError(
            f"The groups name none of the users; users are for example {some}. Say which user "
            "belongs to which group."
        )
    sizes = Counter(here)
    return data.user_array(
        np.array([1.0 / sizes[names[user]] if user in names else 1.0 for user in users])
    )


def _here(problem: Problem, fit: Solution | None = None) -> tuple[Problem, Any]:
    """Small data as NumPy arrays, wherever they are held: pairs are compared in this process."""
    data = problem.data
    if data.arrays == "numpy":
        return problem, fit
    here = problem.part(
        open_engine(data.responses), data.collect(problem.witness), np.arange(data.n_options)
    )
    return here, None if fit is None else replace(fit, problem=here)


def _pairwise(problem: Problem, fit: Solution) -> Witnesses:
    """Compare all pairs, a block of users at a time."""
    m, q = problem.data.n_users, problem.data.n_options
    size = int(np.clip(BLOCK_SIZE // max(q, m), 1, 512))
    curves = fit.probabilities()
    spread = _spread(problem, fit, curves, size)
    threshold = -float(normal_quantile(np.array(LEVEL / m))) * spread
    copies, logs = np.empty(m), np.zeros(m)
    for first in range(0, m, size):
        users = np.arange(first, min(first + size, m))
        alike = _alike(_agreement(problem, fit, curves, users), users, threshold, problem)
        copies[users] = alike.sum(axis=0)
        copied = copies[users] > 0
        logs[users[copied]] = _copy_logs(problem, users[copied], alike[:, copied].astype(float))
    return Witnesses(1 / (1 + copies), logs)


def _spread(problem: Problem, fit: Solution, curves: Floats, size: int) -> float:
    """How much wider the agreement of pairs spreads than the model expects, in a sample of them.

    Equal sheets count once: a large group of copies would hide behind its own agreement.
    """
    different = np.unique(patterns(problem.data), return_index=True)[1]
    if len(different) > size:  # who is in the sample follows from the answers
        draws = user_draws(problem.data, 1, seed=11)[different, 0]
        some = different[np.argsort(draws, kind="stable")[:size]]
    else:
        some = different
    sample = _agreement(problem, fit, curves, some).standardised()
    sample[some, np.arange(len(some))] = 0.0
    compared = np.abs(sample[different])
    compared = compared[compared != 0]
    return max(1.0, float(np.median(compared) / 0.6745)) if len(compared) else 1.0


def excess_spread(fit: Solution) -> float:
    """How much more pairs of users agree or disagree than a solution expects (at least 1).

    1 for large data, where pairs are not compared.
    """
    problem = fit.problem
    m = problem.data.n_users
    if m < 4 or problem.data.n_responses * m > PAIRWISE_UP_TO:
        return 1.0
    problem, fit = _here(problem, fit)
    return _spread(problem, fit, fit.probabilities(), EXCESS_USERS)


def _copy_logs(problem: Problem, users: Ints, alike: Floats) -> Floats:
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
    chosen = data.answer_sheets(users)
    likely = FAITHFUL * share + (1 - FAITHFUL) * popularity
    # in a sample there may be options that nobody chose
    logs = (chosen * np.log(np.maximum(likely, 1e-300))).sum(axis=0)
    sources = np.maximum(alike.sum(axis=0), 1.0)  # any of those who are alike may be the source
    return np.asarray(logs + np.log(COPIES * sources / problem.data.n_users))


@dataclass(frozen=True)
class _Agreement:
    """How often all users (rows) agree with some users (columns), and how often they should.

    Attributes
    ----------
    found, expected
        Number of items on which two users agree, and the number expected from their abilities.
    common
        Number of items that both answered.
    per_item
        The expected agreement per item, by the first user's place on the grid.
    place
        Each user's place on the grid.
    """

    found: Counts
    expected: Floats
    common: Counts
    per_item: Floats
    place: Ints

    def standardised(self) -> Floats:
        """Agreement beyond expectation, in standard errors; 0 where few items are common."""
        variance = np.maximum(self.expected * (1 - self.per_item[self.place]), LEAST_VARIANCE)
        z = (self.found - self.expected) / np.sqrt(variance)
        z[self.common < COMMON] = 0.0
        return np.asarray(z)


def _agreement(problem: Problem, fit: Solution, curves: Floats, users: Ints) -> _Agreement:
    """Compare everybody with some users.

    The expected agreement of two users is computed over the items that the second one answered,
    with abilities rounded to the grid, and scaled to the items that both answered.
    """
    chosen = problem.data.answer_sheets(users)
    answered = problem.items.sum(chosen)
    found, common = problem.pairs.of(users)
    per_item = curves.T @ (curves[:, fit.places[users]] * answered) / chosen.sum(axis=0)
    expected = per_item[fit.places] * common
    return _Agreement(found, expected, common, per_item, fit.places)


def _alike(all_pairs: _Agreement, users: Ints, threshold: float, problem: Problem) -> Flags:
    """Who agrees with whom beyond doubt, on enough of the items where that was not expected.

    Hardly any pair does, so only pairs whose agreement would suffice at the smallest variance are
    checked in full.
    """
    beyond = all_pairs.found - all_pairs.expected
    alike: Flags = beyond > threshold * np.sqrt(LEAST_VARIANCE)
    alike[users, np.arange(len(users))] = False
    one, other = np.nonzero(alike)
    expected, common = all_pairs.expected[one, other], all_pairs.common[one, other]
    per_item = all_pairs.per_item[all_pairs.place[one], other]
    variance = np.maximum(expected * (1 - per_item), LEAST_VARIANCE)
    few = beyond[one, other]
    alike[one, other] = (
        (few / np.sqrt(variance) > threshold)
        & (few / np.maximum(common - expected, 1e-9) >= problem.least_copied)
        & (common >= COMMON)
    )
    return alike


def _banded_copies(problem: Problem, fit: Solution) -> Any:
    """Number of others who share a pattern that is too unlikely to arise twice.

    The items are dealt into bands by how often they and their options were chosen. If a user's
    pattern on a band has a probability below ``LEVEL / m`` given the user's ability, nobody else
    should have it by chance.
    """
    data = problem.data
    log_p = np.log(np.maximum(fit.probabilities(), 1e-12))
    place = fit.places
    words = option_words(data.n_options)
    band_of_item = np.argsort(np.argsort(item_words(data), kind="stable")) % BANDS
    copies = 0.0 * data.everybody
    for band in range(-1, BANDS):  # -1: the whole sheet
        inside = np.ones(data.n_options, dtype=bool)
        if band >= 0:
            inside = (band_of_item == band)[data.items.of_option]
        sizes = data.how_many(data.fingerprints(np.where(inside, words, np.uint64(0))))
        if float(sizes.max()) == 1.0:  # nobody shares a pattern
            continue
        log_probability = data.mapped(log_p * inside[:, None], at_place, place)[:, 0]
        unlikely = log_probability < np.log(LEVEL / data.n_users)
        copies = np.maximum(copies, np.where(unlikely, sizes - 1.0, 0.0))
    return copies
