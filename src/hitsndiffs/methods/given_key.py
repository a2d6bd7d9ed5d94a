"""A key that may err, as evidence: how likely each option is the right one, and how often it errs.

A given key is mostly right, so it says who is able better than any ranking without a key. Then the
able say which of its entries are wrong. Both are solved together, in rounds:

1. *Ability* of a user, for each item from the answers to all other items: the sum of what the
   answers say, weighted by how well the items tell users apart.
2. *Features* of an option, six numbers: how its choice goes with ability, how popular it is,
   with the able and with the weak, how able its choosers are, and how far all this is from chance.
3. *Evidence*: a conditional logit over the options of each item (one of them is right). Its slopes
   start from those of real tests (:data:`SLOPES`) and are adapted to these data.
4. *Probability*: evidence times the prior, by which the given option is right but for the error
   rate, and all others share that rate. The error rate is the mean probability of being wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.data.items import Items

__all__ = ["GivenKey", "Sheets", "fit_given_key"]

#: Slopes of the six features, and how far a test may be from them: measured on 30 real tests.
SLOPES = np.array([-1.222, 0.992, 0.632, 0.311, 1.526, 1.046])
PRECISION = np.linalg.inv(0.2**2 * np.eye(6) + np.outer(SLOPES, SLOPES))
#: The error rate's prior, in items wrong and right: one in fourteen.
WRONG, RIGHT = 1.5, 20.0
#: Features of an item with more answers than this say more, of one with fewer less, by this power.
TYPICAL, GROWTH = 100, 0.2
#: Rounds, and steps of each with the same abilities. More change no probability by more than .01.
ROUNDS, STEPS = 6, 3
#: How much an item without an entry counts for the slopes.
UNKEYED = 0.3


@dataclass(frozen=True, eq=False)
class Sheets:
    """Answers, one by one: who chose which option.

    Attributes
    ----------
    user, option
        One number each per answer.
    items
        The items; they may have options that nobody chose.
    n_users
        Number of users.
    """

    user: Ints
    option: Ints
    items: Items
    n_users: int

    def per_user(self, values: Floats) -> Floats:
        """The sum over each user's answers."""
        return np.bincount(self.user, values, self.n_users).astype(float)

    def per_item(self, values: Floats) -> Floats:
        """The sum over each item's answers."""
        item = self.items.of_option[self.option]
        return np.bincount(item, values, self.items.n_items).astype(float)

    def per_option(self, values: Any = None) -> Floats:
        """The sum over the answers of those who chose each option."""
        return np.bincount(self.option, values, self.items.n_options).astype(float)


@dataclass(frozen=True)
class GivenKey:
    """What a given key and the answers say together.

    Attributes
    ----------
    probabilities
        For each option, how likely it is the right one.
    evidence
        The same by the answers alone, whatever the item's own entry in the key says.
    error_rate
        The share of the key's entries that are wrong.
    association
        For each option, the correlation of its choice with ability, in standard errors.
    ability
        The mean ability of its choosers (over users, ability has mean 0 and variance 1).
    """

    probabilities: Floats
    evidence: Floats
    error_rate: float
    association: Floats
    ability: Floats


def fit_given_key(sheets: Sheets, given: Ints) -> GivenKey:
    """Weigh a key against the answers.

    Parameters
    ----------
    sheets
        The answers.
    given
        For each item the number of the option that the key names, or -1.
    """
    items = sheets.items
    stated = np.zeros(items.n_options, dtype=bool)
    stated[given[given >= 0]] = True
    has = (given >= 0)[items.of_option]
    others = np.maximum(items.sizes - 1, 1)[items.of_option]
    counted = (items.total(sheets.per_option()) > 1) * np.where(given >= 0, 1.0, UNKEYED)
    counted = counted[items.of_option]
    rate, slopes = WRONG / (WRONG + RIGHT), SLOPES
    key = items.softmax(_prior(stated, has, others, rate))
    for _ in range(ROUNDS):
        ability = _abilities(sheets, key)
        x, association = _features(sheets, ability)
        for _ in range(STEPS):
            evidence = items.softmax(x @ slopes)
            key = items.softmax(x @ slopes + _prior(stated, has, others, rate))
            slopes = _slopes(items, x, key, counted, slopes)
            wrong = float((1 - key[stated]).sum())
            rate = float(np.clip((WRONG + wrong) / (WRONG + RIGHT + stated.sum()), 0.002, 0.5))
    means = sheets.per_option(ability) / np.maximum(sheets.per_option(), 1)
    return GivenKey(key, evidence, rate, association, means)


def _prior(stated: Flags, has: Flags, others: Floats, rate: float) -> Floats:
    return np.where(has, np.where(stated, np.log(1 - rate), np.log(rate / others)), 0.0)


def _abilities(sheets: Sheets, key: Floats) -> Floats:
    """Ability of each answer's user by all other answers, standardised within the item."""
    item = sheets.items.of_option[sheets.option]
    n = np.maximum(sheets.per_item(np.ones(len(item))), 1)
    right = key[sheets.option]
    beyond = right - (sheets.per_item(right) / n)[item]
    spread = sheets.per_item(beyond**2) / n + 1e-4
    weight = np.ones(len(n))
    ability = beyond
    for last in (False, True):
        said, noise = weight[item] * beyond, weight[item] ** 2 * spread[item]
        ability = sheets.per_user(said)[sheets.user] - said
        ability = ability / (sheets.per_user(noise)[sheets.user] - noise + 1.0)
        ability = ability - (sheets.per_item(ability) / n)[item]
        scale = np.sqrt(sheets.per_item(ability**2) / n)
        ability = ability / (scale[item] + 0.25 * np.sqrt((ability**2).mean()) + 1e-9)
        if last:
            break
        # items that tell users apart count for more; their slopes are shrunk to the mean slope
        slope, error = sheets.per_item(beyond * ability) / (spread * n), 1 / (spread * n)
        mean = max(float(slope.mean()), 1e-3)
        between = max(float(slope.var() - error.mean()), 0.05 * mean**2)
        weight = np.clip((slope * between + mean * error) / (between + error) / mean, 0.1, 3.0)
    return ability


def _features(sheets: Sheets, ability: Floats) -> tuple[Floats, Floats]:
    """Six numbers per option, and the correlation of its choice with ability in standard errors."""
    items, counts = sheets.items, sheets.per_option()
    n = items.sum(counts)
    share = (counts + 0.3) / (n + 0.3 * items.sizes[items.of_option])
    total = sheets.per_option(ability)
    r = total / np.maximum(n, 1) / np.sqrt(share * (1 - share) + 0.5 / (n + 1)) * n / (n + 5)
    z = r * np.sqrt(n)

    def among(weight: Floats) -> Floats:
        """The option's share of the weight of the item's answers, against its usual share."""
        chosen = sheets.per_option(weight)
        return np.log((chosen + 0.6 * share) / (items.sum(chosen) + 0.6)) - np.log(share)

    able, weak = (1 / (1 + np.exp(-3 * (side * ability - 0.7))) for side in (1, -1))
    mean = total / (counts + 3)
    x = [4 * r, np.log(share), among(able), -among(weak), 2 * mean, np.sign(z) * np.log1p(abs(z))]
    return np.stack(x, axis=1) * (np.maximum(n, 1) / TYPICAL)[:, None] ** GROWTH, z


def _slopes(items: Items, x: Floats, key: Floats, weight: Any, slopes: Floats) -> Floats:
    """Slopes of a conditional logit with a prior (Newton)."""
    for _ in range(6):
        p = items.softmax(x @ slopes)
        gradient = ((key - p) * weight) @ x - PRECISION @ (slopes - SLOPES)
        away = x - items.sum(p[:, None] * x)
        curvature = away.T @ (away * (p * weight)[:, None]) + PRECISION
        slopes = slopes + np.clip(np.linalg.solve(curvature, gradient), -2, 2)
    return slopes
