"""Every number of the core, in one place, with its reason.

``python -m benchmarks.arena.ablation`` switches each of them off or moves it, and prints what that
costs on real sets.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Settings"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The terms of the model, its priors, and how long and on how much it is fitted.

    Attributes
    ----------
    difficulty, slope, leaning, distractors, class_share, laplace, truncated
        Terms of the model (see :mod:`.model`); off, they are left out. Truncated: abilities are
        normal above chance, and none are below.
    copies, direction, habits
        Users with the same unusual answers, and runs of one source, count as one; witnesses decide
        the direction of two labels; some answers are given by habit, whatever is asked.
    ability_mean, ability_variance, ability_weight
        Abilities before anything is seen: two thirds of a two-option test are right. The weight
        counts like that many users.
    least_mean, least_variance, most_variance
        Users know more than chance on average, and are not all alike: below, the reading is upside
        down or says nothing.
    difficulty_variance, slope_variance, slope_most, item_weight
        Of items, before anything is seen; the weight counts like that many items.
    leaning_variance
        Of users' leanings between two labels; weighted like abilities.
    share_weight
        The share of each class counts like that many items of it.
    common_errors
        Dirichlet prior of the wrong options: 1 = any shares of them are equally likely.
    most_candidates
        Options of an item that can be its key: the most frequent ones.
    least_key
        A candidate less likely than this after some rounds is left out.
    screen_rounds, rounds, final_rounds
        Rounds from a start; with the best readings; with all answers.
    kept_readings, late_gain
        So many readings are fitted to the end; the evidence that this adds, at most (nats).
    same_reading
        Keys that differ by less than this share are one reading.
    compared_pairs, fitted_pairs
        Answers × candidates on which readings are compared, and on which the best one is fitted.
    upside_down
        What a reading loses whose users know less than chance (nats).
    marks_prior, said_marks
        Log odds that one label is right in every item (marks, not answers): in general, and where
        the words say so (right and wrong).
    marks_per_user, marks_per_item
        With fewer answers, leaning can hardly be told from ability, or how hard items are.
    ease, ease_sd
        Mean ability in marks, and its spread: tests are rather easy than hard.
    habit_gain, habit_share, habit_weight, most_habits
        Habits need to explain the answers better by so many nats; their share at the start, and
        how many answers' worth of the common share is added to each user's; labels, at most.
    """

    difficulty: bool = True
    slope: bool = True
    leaning: bool = True
    distractors: bool = True
    class_share: bool = True
    laplace: bool = True
    truncated: bool = True
    copies: bool = True
    direction: bool = True
    habits: bool = True

    ability_mean: float = 1.0
    ability_variance: float = 1.0
    ability_weight: float = 2.0
    least_mean: float = 0.05
    least_variance: float = 0.1
    most_variance: float = 4.0
    difficulty_variance: float = 1.0
    slope_variance: float = 0.1
    slope_most: float = 0.6
    item_weight: float = 4.0
    leaning_variance: float = 0.3
    share_weight: float = 50.0
    common_errors: float = 1.0

    most_candidates: int = 8
    least_key: float = 1e-5
    screen_rounds: int = 5
    rounds: int = 30
    final_rounds: int = 10
    kept_readings: int = 6
    late_gain: float = 100.0
    same_reading: float = 0.02
    compared_pairs: int = 120_000
    fitted_pairs: int = 1_500_000
    upside_down: float = 20.0
    marks_prior: float = -3.0
    said_marks: float = 1.4
    marks_per_user: float = 15.0
    marks_per_item: float = 12.0
    ease: float = 0.6
    ease_sd: float = 0.7
    habit_gain: float = 20.0
    habit_share: float = 0.1
    habit_weight: float = 5.0
    most_habits: int = 10


DEFAULT = Settings()
