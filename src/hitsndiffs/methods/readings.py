"""Readings: the distinct solutions of a model, and the questions that would decide between them.

Answers can be read in more than one way: with one key, with another, or with good and bad users
swapped. By default a method ranks by the first reading; the others are part of the result. Where
readings take different options as right, one known right answer tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.order.numbering import ITEM_NUMBERS, PER_OPTION, PER_USER

__all__ = ["Question", "Reading", "questions"]

#: Most questions kept in a result.
KEPT_QUESTIONS = 5
#: Gains take into account the answers to the questions before this one (counted from 1).
JOINTLY = 2
#: Among items with at least this share of the largest gain, the least known answer is asked for.
ALIKE = 0.8


@dataclass(frozen=True)
class Reading:
    """One way to read the answers.

    Attributes
    ----------
    probability
        How likely it is the right one. For the reading that is ranked by, this is the ranking's
        confidence. The remainder to 1 is left for readings that were not found.
    evidence
        Log probability of the answers if it is right (a lower bound).
    agreement
        Correlation of its shares of right answers with those of the first reading.
    says
        What it assumes, in words.
    key
        How likely each option is the right one of its item.
    correct
        Everybody's expected share of right answers.
    """

    probability: float
    evidence: float
    agreement: float
    says: str
    key: Floats = field(metadata=PER_OPTION)
    correct: Floats = field(metadata=PER_USER)


@dataclass(frozen=True)
class Question:
    """An item whose right answer would tell readings apart.

    Attributes
    ----------
    item
        Its number.
    gain
        How much its answer is expected to tell (nats), after earlier questions.
    """

    item: int = field(metadata=ITEM_NUMBERS)
    gain: float


def questions(
    items: Items,
    keys: Sequence[Floats],
    probabilities: Sequence[float],
    answers: Ints,
    open_: Floats,
) -> tuple[Question, ...]:
    """The items whose right answers tell most about which key holds, the best first.

    The gain of a question is the mutual information between its right answer and the keys, given
    the answers to earlier questions (see :data:`JOINTLY`). Among items with nearly the same gain,
    the first is the one whose right answer would be least known even if the key were known: that
    answer is worth having in itself. Ties go to items with more answers.

    Parameters
    ----------
    items
        The items.
    keys
        For each reading, how likely each option is the right one.
    probabilities
        How likely each reading is.
    answers
        Number of answers to each item.
    open_
        1 for items that may be asked, 0 for those whose answer is known.
    """
    weights = np.asarray(probabilities, dtype=float)
    if len(keys) < 2 or weights.sum() <= 0:
        return ()
    table = np.stack([items.share(np.nan_to_num(key)) for key in keys])
    states = [(1.0, weights / weights.sum())]  # after each answer: its chance, the readings'
    unknown = states[0][1] @ _entropies(items, table) * (1 - 1e-6 / np.maximum(answers, 1))
    asked: list[Question] = []
    for turn in range(min(KEPT_QUESTIONS, items.n_items)):
        gain = np.zeros(items.n_items)
        for chance, readings in states:
            gain += chance * _information(items, table, readings)
        gain = np.where(open_ > 0, gain, -1.0) * (1 - 1e-6 / np.maximum(answers, 1))
        for question in asked:
            gain[question.item] = -1.0
        if gain.max() <= 1e-9:
            break
        best = int(np.argmax(np.where(gain >= ALIKE * gain.max(), unknown, -1.0)))
        asked.append(Question(best, float(gain[best])))
        if turn + 1 < JOINTLY:
            states = _after(items, table, states, best)
    return tuple(asked)


def _information(items: Items, table: Floats, readings: Floats) -> Floats:
    """Mutual information between each item's right answer and the reading."""
    mean = readings @ table
    whole = _entropies(items, mean[None])[0]
    return np.asarray(whole - readings @ _entropies(items, table))


def _entropies(items: Items, table: Floats) -> Floats:
    """The entropy of each item's right answer, for each reading."""
    each = -table * np.log(np.maximum(table, 1e-300))
    return np.stack([items.total(row) for row in each])


def _after(
    items: Items, table: Floats, states: list[tuple[float, Floats]], item: int
) -> list[tuple[float, Floats]]:
    """The readings' chances after each possible right answer to the item."""
    made = []
    first, last = items.starts[item : item + 2]
    for chance, readings in states:
        for option in range(first, last):
            joint = readings * table[:, option]
            if joint.sum() > 1e-12:
                made.append((chance * float(joint.sum()), joint / joint.sum()))
    return made
