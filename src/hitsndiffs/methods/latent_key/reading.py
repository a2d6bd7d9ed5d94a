"""From the solutions of a search to readings, and to the questions that tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.words import per_cent
from hitsndiffs.methods.labels import says_followed, says_mark
from hitsndiffs.methods.latent_key.confidence import SHARED_MISTAKES
from hitsndiffs.methods.latent_key.leanings import LeaningFit
from hitsndiffs.methods.latent_key.meanings import Meaning, clusters, doubted, meanings
from hitsndiffs.methods.latent_key.modes import Mode, correlation
from hitsndiffs.methods.latent_key.solutions import Search
from hitsndiffs.methods.readings import Question, Reading, questions

__all__ = ["in_words", "questions_of", "readings_of"]

Array = npt.NDArray[np.float64]

#: Orders that correlate less than this disagree about who is good; and below this confidence, other
#: readings are noted.
CONTRADICTED, DOUBT = 0.5, 0.8
#: Smallest probability of a meaning of the answers when choosing what to ask.
LEAST_CHANCE = 1e-3
#: At most this many surprising known answers are named.
NAMED = 3


def readings_of(found: Search) -> tuple[Reading, ...]:
    """All readings, with their probabilities."""
    first = found.problem.right_shares(found.best.fit.key)
    made = []
    for mode, probability in zip(found.distinct, found.probabilities, strict=True):
        correct = found.problem.right_shares(mode.fit.key)
        made.append(
            Reading(
                probability=probability,
                evidence=mode.evidence,
                agreement=correlation(correct, first),
                says=_says(mode),
                key=mode.fit.key,
                correct=correct,
            )
        )
    return tuple(made)


def questions_of(found: Search, besides: Sequence[Reading] = ()) -> tuple[Question, ...]:
    """The items whose right answers would settle most (``besides``: readings by another model).

    Meanings of the answers that agree about who is good need not be told apart, so they are pooled.
    """
    data = found.problem.data
    all_ = meanings(found)
    all_ += [
        Meaning(each.probability, each.correct, doubted(found, each.key, each.correct))
        for each in besides
    ]
    numbers = clusters(all_)
    keys, weights = [], []
    for number in np.unique(numbers):
        mine = [each for each, n in zip(all_, numbers, strict=True) if n == number]
        chances = np.array([max(each.chance, LEAST_CHANCE) for each in mine])
        keys.append(chances @ np.stack([each.likely for each in mine]) / chances.sum())
        weights.append(float(chances.sum()))
    open_ = (data.items.total((found.problem.known >= 0).astype(float)) == 0).astype(float)
    return questions(data.items, keys, weights, data.answers_per_item, open_)


def in_words(
    found: Search, readings: tuple[Reading, ...], asked: tuple[Question, ...]
) -> list[str]:
    """Notes on a result: what it rests on, and what speaks against it."""
    notes = []
    best = found.best
    if best.one_label is not None:
        other = ", or rank by another reading"
        notes.append(says_mark(best.one_label, in_words=found.said_mark, or_else=other))
    elif found.followed is not None:
        notes.append(says_followed(*found.followed))
    notes += _of_known(found)
    if found.habits is not None and (said := found.habits.told(found.problem.data)):
        notes.append(said)
    if found.signs.excess > SHARED_MISTAKES:
        notes.append(
            "Users agree with each other far beyond what this order explains (shared mistakes, one "
            "source, a second trait): something other than ability is at work too."
        )
    other_rule = bool((found.once != best.witnesses.weights).any())  # otherwise groups were given
    if other_rule and found.by_other_rule < CONTRADICTED:
        notes.append(
            "It matters who counts as a witness: if users with nearly the same answers count as "
            f"one, the order changes (correlation {found.by_other_rule:.2f}). If they are runs "
            "of one model, a team or a class, say which group each belongs to."
        )
    if readings[0].probability >= DOUBT:
        return notes
    rivals = [r for r in readings[1:] if r.agreement < CONTRADICTED]
    if rivals:
        number = readings.index(rivals[0]) + 1
        said = (
            f"The answers can be read in {_ways(readings)} ways that disagree about who is good; "
            f"reading {number} has probability {per_cent(rivals[0].probability)}, and "
            "you can rank by it."
        )
        difference = _difference(found, readings[0], rivals[0], asked)
        notes.append(said + difference)
    return notes


def _ways(readings: tuple[Reading, ...]) -> int:
    """How many of the readings disagree with each other about who is good."""
    apart: list[Reading] = []
    for each in readings:
        if all(correlation(each.correct, other.correct) < CONTRADICTED for other in apart):
            apart.append(each)
    return len(apart)


def _of_known(found: Search) -> list[str]:
    """Note where known answers contradict what the users' answers alone say."""
    if not found.surprises:
        return []
    items = found.problem.items
    label = items.option_labels
    named = [
        f"{label[each.right]} is right in item {items.labels[items.of_option[each.right]]}, where "
        f"{label[each.held]} seemed right ({per_cent(each.sure)} sure)"
        for each in found.surprises[:NAMED]
    ]
    more = len(found.surprises) - len(named)
    rest = f"; and {more} more" if more else ""
    said = (
        f"Known answers contradict what the users' answers alone suggest: {'; '.join(named)}{rest}."
    )
    if found.best.fit.problem.held is not None:
        said += (
            " No solution predicted them, so people are placed along the strongest axes of the "
            "answers, weighted by agreement with the known ones."
        )
    return [said]


def _difference(found: Search, first: Reading, other: Reading, asked: tuple[Question, ...]) -> str:
    """The first asked item in which two readings take different options as right."""
    items = found.problem.items
    for question in asked:
        begin, end = items.starts[question.item : question.item + 2]
        mine = begin + int(np.argmax(np.nan_to_num(first.key[begin:end])))
        theirs = begin + int(np.argmax(np.nan_to_num(other.key[begin:end])))
        if mine != theirs:
            label = items.option_labels
            return (
                f" In item {items.labels[question.item]}, reading 1 takes {label[mine]} as right, "
                f"the other takes {label[theirs]}."
            )
    return ""


def _says(mode: Mode) -> str:
    if mode.one_label is not None:
        return f"{mode.one_label!r} is right in every item (marks, not answers)"
    if mode.fit.problem.held is not None:
        return (
            "ability lies along axes of the answers, weighted by agreement with the known answers"
        )
    if isinstance(mode.fit, LeaningFit):
        return "all items share two labels, and people lean more or less towards one of them"
    return "every item has one right answer of its own"
