"""What the caller knows: known answers choose among the possible meanings of the answers.

Each meaning (see :mod:`.meanings`) predicts the known answers more or less well. If no solution
does, the model itself is wrong for these data: it takes a mistake that many share for the truth,
and a fit that starts at the truth drifts away from it. Then people may be placed along the
strongest axes of the answers, each weighted by its agreement with the known ones, and the right
option of every item is the one whose choosers stand highest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.methods.keys import key_from_scores
from hitsndiffs.methods.latent_key.confidence import DISAGREE
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.meanings import Meaning, meanings
from hitsndiffs.methods.latent_key.modes import Mode, correlation
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.latent_key.solutions import Search, Surprise

__all__ = ["informed"]

#: Rounds to refit a solution with the known keys put in.
REFIT_ROUNDS = 15
#: A solution is sure of a key with at least this probability.
SURE_OF_KEY = 0.9
#: Smallest probability of a right answer that nobody gave.
LEAST_UNSEEN = 0.02
#: Meanings of the answers that are less likely than this are left out.
LEAST_TOLD = 1e-3


def informed(found: Search, problem: Problem) -> Search:
    """Weight the meanings by how well they predict the known answers, and put these in.

    If none of the meanings is right, popular options are likely. The chosen order agrees best, on
    average, with all meanings. ``problem`` has the same data as the search, and the known answers.
    """
    right = problem.known == 1.0
    all_ = [each for each in meanings(found) if not _refuted(each, right)]
    popular = problem.items.share(problem.data.choosers(found.once) + 1)
    left = max(1 - sum(each.chance for each in all_), 1e-6)
    chances = np.array([*(each.chance for each in all_), left])
    logs = np.array([_foreseen(problem, likely) for likely in (*(m.likely for m in all_), popular)])
    logs += np.log(np.maximum(chances, 1e-9))
    weights = np.exp(logs - logs.max())
    modes, told = _in_order(found, problem, all_, (weights / weights.sum())[:-1])
    problem.weigh(modes[0].witnesses.weights)
    surprises = _surprises(found, right)
    return replace(found, problem=problem, modes=modes, told=told, surprises=surprises)


def _refuted(meaning: Meaning, right: Flags) -> bool:
    """Whether known answers rule it out: one label is right everywhere in it, but another is."""
    mode = meaning.mode
    return mode is not None and mode.one_label is not None and bool((mode.fit.key[right] < 1).any())


def _foreseen(problem: Problem, likely: Floats) -> float:
    """Log probability of the known answers; one that nobody gave counts against a sure key."""
    items, right = problem.items, problem.known == 1.0
    most = np.maximum.reduceat(likely, items.starts[:-1])
    unseen = (items.total((problem.known >= 0).astype(float)) > 0) & (items.total(1.0 * right) == 0)
    others = np.log(np.maximum(1 - most[unseen], LEAST_UNSEEN))
    return float(np.log(likely[right]).sum() + others.sum())


def _in_order(
    found: Search, problem: Problem, all_: list[Meaning], weights: Floats
) -> tuple[list[Mode], tuple[float, ...]]:
    """The order that agrees best with all, then those that disagree with it; and their chances.

    Meanings that agree about who is good support each other.
    """
    agree = np.array([[correlation(a.ability, b.ability) for b in all_] for a in all_])
    left = np.ones(len(all_), dtype=bool)
    modes: list[Mode] = []
    told: list[float] = []
    rank = agree @ weights
    while left.any() and (not modes or float(weights[left].max()) >= LEAST_TOLD):
        first = int(np.argmax(np.where(left, rank, -np.inf)))
        joined = left & (agree[first] >= DISAGREE)
        joined[first] = True
        place = _place(all_, np.where(agree[first] > 0, weights, 0.0))
        modes.append(_fitted(found, problem, all_[first].mode, place))
        told.append(float(weights[joined].sum()))
        left &= ~joined
        rank = weights
    order = [0, *(1 + np.argsort([-each for each in told[1:]], kind="stable")).tolist()]
    return [modes[i] for i in order], tuple(told[i] for i in order)


def _place(all_: list[Meaning], weights: Floats) -> Any:
    """Everybody's place along the axes, each weighted by how likely it is."""
    place: Any = 0.0
    for each, weight in zip(all_, weights.tolist(), strict=True):
        if each.mode is None:
            place = place + weight * each.ability / max(float(each.ability.std()), 1e-12)
    return place


def _fitted(found: Search, problem: Problem, mode: Mode | None, place: Any) -> Mode:
    """Fit a solution, or people's places along the axes, with the known answers put in."""
    if mode is None:  # hold the key: the model alone would abandon it
        witnesses = found.best.witnesses
        problem = problem.holding(key_from_scores(problem.data, place))
        problem.weigh(witnesses.weights)
        scores = normal_scores(problem.data, place)
        fit = problem.fit(scores, max_rounds=2 * REFIT_ROUNDS)
        return Mode(("known answers",), fit, witnesses)
    if mode.one_label is not None:
        return mode
    problem.weigh(mode.witnesses.weights)
    return replace(mode, fit=problem.fit(mode.fit, max_rounds=REFIT_ROUNDS))


def _surprises(found: Search, right: Flags) -> tuple[Surprise, ...]:
    """Known answers where the best solution without them was sure of another option."""
    key, items = found.best.fit.key, found.problem.items
    made = []
    for option in np.flatnonzero(right).tolist():
        first, last = items.starts[items.of_option[option] :][:2]
        held = first + int(np.argmax(key[first:last]))
        if held != option and key[held] >= SURE_OF_KEY:
            made.append(Surprise(option, held, float(key[held])))
    return tuple(made)
