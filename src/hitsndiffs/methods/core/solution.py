"""What a fit finds: keys, abilities, and what all users and items have in common."""

from __future__ import annotations

from dataclasses import dataclass

from hitsndiffs.data.arrays import Floats

__all__ = ["Habit", "Population", "Solution"]


@dataclass(frozen=True)
class Population:
    """What is learnt about all users and items together.

    Attributes
    ----------
    mean, variance
        Of the abilities.
    difficulty, slope, leaning
        Variances of difficulties, log slopes and leanings.
    lean
        Mean of the leanings.
    share
        Log share of each class among the keys.
    """

    mean: float
    variance: float
    difficulty: float
    slope: float
    leaning: float
    lean: float
    share: Floats


@dataclass(frozen=True, eq=False)
class Habit:
    """P(each answer was given by habit), and what habits add to each user's log probability."""

    by_habit: Floats
    gain: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """One solution.

    Attributes
    ----------
    key
        P(option is the key of its item).
    ability, ability_error, leaning
        Of each user.
    difficulty, slope
        Of each option as a candidate key (the slope is e^s).
    population
        What is learnt about all.
    evidence
        Log probability of the answers.
    chance
        The variance of each user's number of right answers that is chance.
    rounds, converged
        Of the fit.
    habit
        Which answers were given by habit, in a model that has habits.
    """

    key: Floats
    ability: Floats
    ability_error: Floats
    leaning: Floats
    difficulty: Floats
    slope: Floats
    population: Population
    evidence: float
    chance: Floats
    rounds: int = 0
    converged: bool = False
    habit: Habit | None = None
