"""What is wrong with an item, and which users only guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.cells import normalise
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import known_options
from hitsndiffs.data.words import count
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError

__all__ = [
    "Remark",
    "best_options",
    "guessing",
    "judged_items",
    "option_columns",
    "settled",
]

#: The strong users: the ablest of those with a score, this share of them.
ABLEST = 0.25
#: A given key is doubted when another option is this likely.
DOUBTED = 0.9
#: Strong users disagree when fewer than this share of them chose the likely key.
AGREED = 0.5
#: Two answers may be right if the second has this share of the strong users, both together have
#: this share, and the second one's choosers are abler than the others by this many standard errors
#: (choosers of a wrong answer are weaker). At least this many strong users must have answered.
SECOND_SHARE, BOTH, ABLER, ENOUGH = 0.2, 0.7, 3.0, 15
#: A user guesses if the share correct is not above chance by this many standard errors.
CHANCE = 1.645


def best_options(items: Items, probabilities: Floats) -> tuple[Ints, Floats]:
    """For each item, its likeliest option (-1 if there is none) and how likely it is."""
    p = np.where(np.isnan(probabilities), -1.0, probabilities)
    best = np.maximum.reduceat(p, items.starts[:-1])
    first = np.flatnonzero(p >= best[items.of_option])[::-1]
    option = np.full(items.n_items, -1, dtype=np.int64)
    option[items.of_option[first]] = first
    option[best < 0] = -1
    return option, best


def settled(items: Items, chances: Floats) -> tuple[int, str]:
    """How many answers of the likely key are expected to be right, and that in words."""
    best = best_options(items, chances)[1]
    n = round(float(best[best >= 0].sum()))
    return n, f"About {n:,} of the {count(items.n_items, 'answer')} of the likely key are right."


@dataclass(frozen=True)
class Remark:
    """What there is to say about an item, and of what kind it is; empty if there is nothing."""

    text: str = ""
    kind: Literal["mis-keyed", "double-keyed", "open", ""] = ""


def judged_items(
    data: Engine,
    scores: Floats,
    probabilities: Floats | None,
    key: Mapping[Any, Any] | None = None,
    chances: Floats | None = None,
) -> tuple[dict[str, Any], list[Remark]]:
    """Columns of the item table (see :meth:`hitsndiffs.Ranking.items`), and what stands out.

    ``probabilities`` say how likely each option is the right one if the ranking is right,
    ``chances`` whether it is or not (:attr:`Found.key_chances`). A key is held against them.
    """
    columns: dict[str, Any] = {
        "item": data.items.labels,
        "answers": data.answers_per_item,
        "options": np.diff(data.items.starts),
    }
    if probabilities is None:
        return columns, [Remark()] * data.n_items
    option, sure = best_options(data.items, probabilities)
    here, known = np.maximum(option, 0), option >= 0
    strong = _Strong.of(data, scores)
    columns["key"] = _labels(data, option)
    found = {
        "confidence": sure if chances is None else chances[here],
        "share": data.choosers_per_option[here] / data.answers_per_item,
        "discrimination": strong.discrimination[here],
        "strong_share": strong.share[here],
    }
    columns |= {name: np.where(known, values, np.nan) for name, values in found.items()}
    given, unchosen = np.full(data.n_items, -1, dtype=np.int64), {}
    if key is not None:
        options = known_options(data.items, key)
        given[data.items.of_option[options]] = options
        unchosen = _unchosen(data, key)
        columns["given_key"] = _labels(data, given)
        columns["given_key"][list(unchosen)] = list(unchosen.values())
    remarks = [
        _nobody_chose(data, unchosen[i], option[i], sure[i])
        if i in unchosen
        else _remark(data, i, option[i], sure[i], strong, given[i])
        for i in range(data.n_items)
    ]
    columns["remark"] = [remark.text for remark in remarks]
    return columns, remarks


def option_columns(data: Engine, scores: Floats, groups: int) -> dict[str, Any]:
    """Columns of the option table: the share of each ability group that chose the option."""
    if groups < 1:
        raise InputError(f"groups must be a whole number from 1 up; got {groups!r}.")
    users = np.flatnonzero(np.isfinite(scores))
    place = np.empty(len(users), dtype=np.int64)
    place[np.argsort(scores[users], kind="stable")] = np.arange(len(users)) * groups // len(users)
    member = np.zeros((data.n_users, groups))
    member[users, place] = 1.0
    chosen = data.choosers(member)
    answered = data.items.sum(chosen)
    shares = np.divide(chosen, answered, out=np.full_like(chosen, np.nan), where=answered > 0)
    columns: dict[str, Any] = {
        "item": data.items.labels[data.items.of_option],
        "option": data.items.option_labels,
        "choosers": data.choosers_per_option,
    }
    for g in range(groups):
        columns[f"share_group_{g + 1}"] = shares[:, g]
    return columns


def guessing(data: Engine, correct: Floats) -> Ints:
    """Users whose expected share correct is not above what guessing would give."""
    answers = data.collect(data.answers_per_user)
    n = np.maximum(answers, 1)
    per_item = 1 / np.diff(data.items.starts)
    chance = data.collect(data.choices(per_item[data.items.of_option])) / n
    error = np.sqrt(chance * (1 - chance) / n)
    return np.flatnonzero((answers > 0) & (correct < chance + CHANCE * error) & (chance < 1))


def _labels(data: Engine, options: Ints) -> Array:
    """Labels of some options, ``None`` for -1."""
    labels = np.full(len(options), None, dtype=object)
    labels[options >= 0] = data.items.option_labels[options[options >= 0]]
    return labels


@dataclass(frozen=True)
class _Strong:
    """Of each option, the share of the ablest users (answering the item) who chose it.

    Also how many of them answered the item, and how choosing the option goes with the score (their
    correlation, among all who answered the item).
    """

    share: Floats
    answers: Floats
    discrimination: Floats

    @classmethod
    def of(cls, data: Engine, scores: Floats) -> _Strong:
        """Look at the ablest of those with a score."""
        known = np.isfinite(scores)
        cut = np.quantile(scores[known], 1 - ABLEST)
        strong = known & (scores >= cut)
        if cut == scores[known].min() and (scores[known] > cut).any():
            strong = known & (
                scores > cut
            )  # most users tie at the lowest score: not all are strong
        s, total = np.where(known, scores, 0.0), data.items.sum
        by_strong, sums, squares = data.choosers(np.stack([strong, s, s**2], axis=1)).T
        answered = total(by_strong)
        none = np.full_like(by_strong, np.nan)
        share = np.divide(by_strong, answered, out=none, where=answered > 0)
        counts = data.choosers_per_option.astype(float)
        answers = total(counts)
        mean, part = total(sums) / answers, counts / answers
        variance = np.maximum(total(squares) / answers - mean**2, 0.0)
        covariance = part * (sums / counts - mean)
        size = np.sqrt(variance * part * (1 - part))
        zero = np.zeros_like(size)
        return cls(share, answered, np.divide(covariance, size, out=zero, where=size > 1e-12))


def _unchosen(data: Engine, key: Mapping[Any, Any]) -> dict[int, Any]:
    """Items whose right answer under the key nobody chose, and that answer."""
    found = {}
    for item, answer in key.items():
        i, text = data.items.places[str(item).strip()], normalise(answer)
        if text is not None and not data.items.options_named(i, str(text)):
            found[i] = answer
    return found


def _nobody_chose(data: Engine, answer: Any, option: int, sure: float) -> Remark:
    """The remark on an item whose key nobody chose."""
    said = f"mis-keyed? nobody chose {answer}"
    if option >= 0 and sure >= DOUBTED:
        said += f", the answers point to {data.items.option_labels[option]}"
    return Remark(said, "mis-keyed")


def _remark(data: Engine, i: int, here: int, sure: float, strong: _Strong, given: int) -> Remark:
    """One plain remark on an item, or an empty one."""
    if here < 0:
        return Remark()
    labels = data.items.option_labels
    if given >= 0 and given != here and sure >= DOUBTED:
        return Remark(f"mis-keyed? the answers point to {labels[here]}", "mis-keyed")
    first, last = data.items.starts[i : i + 2]
    if strong.answers[here] >= ENOUGH:
        shares = np.nan_to_num(strong.share[first:last])
        others = np.where(np.arange(first, last) == here, -1.0, shares)
        other = first + int(np.argmax(others))
        both = strong.share[here] + strong.share[other]
        z = strong.discrimination[other] * np.sqrt(data.answers_per_item[i])
        able = strong.share[other] >= SECOND_SHARE and z >= ABLER
        if last - first > 1 and both >= BOTH and able:
            said = f"two right answers? strong users choose {labels[other]} too"
            return Remark(said, "double-keyed")
        if shares[here - first] < AGREED:
            return Remark("strong users disagree", "open")
    return Remark("the key is not settled", "open") if sure < 0.6 else Remark()
