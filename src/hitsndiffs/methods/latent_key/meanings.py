"""Possible meanings of the answers, and the right answers that each of them predicts.

Besides the solutions of a search, ability may be one of the strongest axes of the answers, either
way up. Where many users share a mistake, a fit that starts at the truth drifts away from it; and
when the best solution is wrong, the strongest axis is mostly right. Where users have answering
habits, confusion matrices give one more order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.methods.latent_key.confidence import DISAGREE, NATS
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.modes import Mode, correlation
from hitsndiffs.methods.latent_key.solutions import HALVED, Search
from hitsndiffs.methods.probability import normal_cdf

__all__ = ["Meaning", "clusters", "doubted", "meanings"]

#: Odds of keys are raised to this power: users are alike in unseen ways, so keys are less sure than
#: the answers say.
SURENESS = 0.7
#: In addition, a key errs this often; then the right option is one with able choosers.
KEY_ERRORS = 0.04
#: Spread of choosers' leads in ability from item to item, beyond chance (in SDs of ability).
UNEVEN = 0.2
#: Smallest probability of an option, before they are normalised.
KEY_FLOOR = 0.005
#: Where users have habits, and none of the solutions is right, confusion matrices have this share.
CONFUSED = 0.5
#: The axes get this share of the probability that no solution is right, each in proportion to this
#: power of its strength.
AXES, POWER = 0.75, 4.0
#: Largest lead in evidence of one way up of an axis over the other (in units of :data:`NATS`).
MOST_TURNED = 2.0
#: Largest probability of a solution before right answers are known: where most users share a
#: mistake, the wrong solution explains the answers as well as a right one does elsewhere.
MOST_LIKELY = 0.5


@dataclass(frozen=True)
class Meaning:
    """One possible meaning of the answers.

    Attributes
    ----------
    chance
        How likely it is.
    ability
        Of the users.
    likely
        How likely each option is the right one.
    mode
        The solution; ``None`` if ability is an axis.
    """

    chance: float
    ability: Any
    likely: Floats
    mode: Mode | None = None


def meanings(found: Search) -> list[Meaning]:
    """The solutions, and the axes both ways up; the remainder to 1: none of them is right."""
    made = []
    for mode, probability in zip(found.distinct, found.probabilities, strict=True):
        chance, key = min(probability, MOST_LIKELY), mode.fit.key
        if mode.one_label is None:
            key = _competing(found, mode.fit)[0]
        else:  # unlikely by the data's structure: it must explain them well
            chance /= 1 + (found.best.evidence - mode.evidence) / HALVED
        ability = mode.fit.posterior.mean
        made.append(Meaning(chance, ability, doubted(found, key, ability), mode))
    axes, data = found.shrinkage.axes, found.problem.data
    if found.habits is not None and found.confusions is not None:
        chance = CONFUSED * (1 - sum(each.chance for each in made))
        right = found.problem.right_shares(found.confusions)
        made.append(Meaning(chance, right, doubted(found, found.confusions, right)))
    strength = np.asarray(axes.values, dtype=float) ** POWER
    left = AXES * (1 - sum(each.chance for each in made)) / max(float(strength.sum()), 1e-300)
    for axis, share in zip(axes.scores.T, left * strength, strict=True):
        one, other = (_competing(found, normal_scores(data, way)) for way in (axis, -axis))
        lead = float(np.clip((one[1] - other[1]) / NATS, -MOST_TURNED, MOST_TURNED))
        for way, key, ahead in ((axis, one[0], lead), (-axis, other[0], -lead)):
            chance = float(share / (1 + np.exp(-ahead)))
            made.append(Meaning(chance, way, doubted(found, key, way)))
    return made


def clusters(found: list[Meaning]) -> Ints:
    """A number for each meaning: those that agree about who is good share the likeliest one's."""
    numbers = np.full(len(found), -1)
    for first in np.argsort([-each.chance for each in found], kind="stable"):
        if numbers[first] >= 0:
            continue
        for i, other in enumerate(found):
            if numbers[i] < 0 and correlation(other.ability, found[first].ability) >= DISAGREE:
                numbers[i] = first
        numbers[first] = first
    return numbers


def _competing(found: Search, start: Any) -> tuple[Floats, float]:
    """The key after one more round in which users who are alike count as one; and the evidence.

    Where many users say the same, a solution's own key is surer than the answers allow.
    """
    fit = found.problem.weighing(found.alone).fit(start, max_rounds=1)
    return fit.key, fit.evidence


def doubted(found: Search, key: Floats, ability: Floats) -> Floats:
    """How likely each option is the right one, for a key that may err.

    Where it errs, the right option is still one whose choosers are able.
    """
    data, once = found.problem.data, found.alone
    counts = np.maximum(data.choosers(once), 1e-9)
    ability = (ability - float(ability.mean())) / max(float(ability.std()), 1e-12)
    sums = data.choosers(once * ability)
    others = np.maximum(data.items.sum(counts) - counts, 1e-9)
    lead = sums / counts - (data.items.sum(sums) - sums) / others
    z = lead / np.sqrt(1 / counts + 1 / others + UNEVEN**2)
    able = data.items.share(normal_cdf(z) + 1e-12)
    key = data.items.share(np.maximum(np.nan_to_num(key), 1e-12) ** SURENESS)
    two = (data.items.sizes == 2)[data.items.of_option]
    able = np.where(two, 1 - key, able)  # with two options, the other one is right
    likely = (1 - KEY_ERRORS) * key + KEY_ERRORS * able
    return data.items.share(np.maximum(likely, KEY_FLOOR))
