"""The numbers of the model, in one place, each with its reason.

``python -m benchmarks.arena.ablation`` switches each term off and moves each number, and prints
what that costs on real sets.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "OFF", "Settings"]

#: A variance that leaves its term out of the model.
OFF = 1e-6


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The terms of the model, its priors, and how long and on how much it is fitted.

    Attributes
    ----------
    distractors, class_share, laplace, truncated, witnesses, habits
        Terms of the model (see :mod:`.model`); off, they are left out. Truncated: abilities are
        normal above chance, and none are below. Witnesses: users who answer alike count as one.
        Habits: some answers are given whatever is asked.
    ability_mean, ability_variance, difficulty_variance, slope_variance, leaning_variance
        Of users and items before anything is seen; :data:`OFF` leaves a term out.
    user_weight, item_weight
        These variances count like that many users or items.
    least_variance, most_variance
        Of abilities: users are not all alike, and nobody is worlds apart.
    share_weight
        The share of each class counts like that many items of it.
    common_errors
        Dirichlet prior of the wrong options: 1 = any shares of them are equally likely.
    most_candidates
        Options of an item that can be its key: the most frequent ones.
    least_key
        A candidate less likely than this after some rounds is left out.
    screen_rounds, rounds
        Rounds from a start, and with the best readings.
    kept_readings
        So many readings are fitted to the end.
    same_reading
        Keys that differ by less than this share are one reading.
    compared_pairs, fitted_pairs
        Answers × candidates on which readings are compared, and on which the best one is fitted.
    marks_prior, marks_least
        Log odds that one label is right in every item (marks, not answers); with fewer answers of
        a user or to an item, how hard items are can hardly be told from leaning.
    habit_gain, habit_share, habit_weight
        Habits need to explain the answers better by so many nats; their share at the start, and
        how many answers' worth of the common share is added to each user's.
    """

    distractors: bool = True
    class_share: bool = True
    laplace: bool = True
    truncated: bool = True
    witnesses: bool = True
    habits: bool = True

    ability_mean: float = 1.0
    ability_variance: float = 1.0
    difficulty_variance: float = 1.0
    slope_variance: float = 0.1
    leaning_variance: float = 0.3
    user_weight: float = 2.0
    item_weight: float = 4.0
    least_variance: float = 0.1
    most_variance: float = 4.0
    share_weight: float = 50.0
    common_errors: float = 1.0

    most_candidates: int = 8
    least_key: float = 1e-5
    screen_rounds: int = 5
    rounds: int = 30
    kept_readings: int = 6
    same_reading: float = 0.02
    compared_pairs: int = 120_000
    fitted_pairs: int = 1_500_000
    marks_prior: float = -5.0
    marks_least: float = 15.0
    habit_gain: float = 20.0
    habit_share: float = 0.1
    habit_weight: float = 5.0


DEFAULT = Settings()
