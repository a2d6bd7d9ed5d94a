"""What is wrong with an item, and which users only guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

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
    "item_columns",
    "item_remarks",
    "judged_items",
    "option_columns",
    "settled",
]

Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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


def best_options(items: Items, probabilities: Vector) -> tuple[Ints, Vector]:
    """For each item, its likeliest option (-1 if there is none) and how likely it is."""
    p = np.where(np.isnan(probabilities), -1.0, probabilities)
    best = np.maximum.reduceat(p, items.starts[:-1])
    first = np.flatnonzero(p >= best[items.of_option])[::-1]
    option = np.full(items.n_items, -1, dtype=np.int64)
    option[items.of_option[first]] = first
    option[best < 0] = -1
    return option, best


def settled(items: Items, chances: Vector) -> tuple[int, str]:
    """How many answers of the likely key are expected to be right, and that in words."""
    best = best_options(items, chances)[1]
    n = round(float(best[best >= 0].sum()))
    return n, f"About {n:,} of the {count(items.n_items, 'answer')} of the likely key are right."


@dataclass(frozen=True)
class Remark:
    """What there is to say about an item.

    Attributes
    ----------
    text
        The text; empty if there is nothing to say.
    kind
        Whether its given key looks wrong, two answers look right, or the key stays open.
    """

    text: str = ""
    kind: Literal["mis-keyed", "double-keyed", "open", ""] = ""


def item_columns(
    data: Engine,
    scores: Vector,
    probabilities: Vector | None,
    key: Mapping[Any, Any] | None = None,
    chances: Vector | None = None,
) -> dict[str, Any]:
    """Columns of the item table (see :meth:`hitsndiffs.Ranking.items`).

    Parameters
    ----------
    data, scores
        The data, and one score per user.
    probabilities
        How likely each option is to be the right one, if the ranking is right.
    key
        An answer key to compare with the answers.
    chances
        The same whether the ranking is right or not (see :attr:`Found.key_chances`).
    """
    return judged_items(data, scores, probabilities, key, chances)[0]


def judged_items(
    data: Engine,
    scores: Vector,
    probabilities: Vector | None,
    key: Mapping[Any, Any] | None = None,
    chances: Vector | None = None,
) -> tuple[dict[str, Any], list[Remark]]:
    """The columns of :func:`item_columns`, and the remarks with their kinds."""
    columns: dict[str, Any] = {
        "item": data.items.labels,
        "answers": data.answers_per_item,
        "options": np.diff(data.items.starts),
    }
    if probabilities is None:
        return columns, [Remark()] * data.n_items
    option, sure = best_options(data.items, probabilities)
    here = np.maximum(option, 0)
    known = option >= 0
    strong_share, strong_answers = _strong_shares(data, scores)
    discrimination = _discriminations(data, scores)
    columns["key"] = _labels(data, option)
    likely = sure if chances is None else chances[here]
    columns["confidence"] = np.where(known, likely, np.nan)
    share = data.choosers_per_option[here] / data.answers_per_item
    columns["share"] = np.where(known, share, np.nan)
    columns["discrimination"] = np.where(known, discrimination[here], np.nan)
    columns["strong_share"] = np.where(known, strong_share[here], np.nan)
    if key is not None:
        columns["given_key"] = _labels(data, _given_options(data, key))
        for i, answer in _unchosen(data, key).items():
            columns["given_key"][i] = answer
    strong = _Strong(strong_share, strong_answers, discrimination)
    remarks = _remarks(data, strong, option, sure, key)
    columns["remark"] = [remark.text for remark in remarks]
    return columns, remarks


def item_remarks(
    data: Engine, scores: Vector, probabilities: Vector, key: Mapping[Any, Any] | None = None
) -> list[Remark]:
    """What there is to say about each item (see :func:`item_columns`)."""
    option, sure = best_options(data.items, probabilities)
    strong = _Strong(*_strong_shares(data, scores), _discriminations(data, scores))
    return _remarks(data, strong, option, sure, key)


def _remarks(
    data: Engine, strong: _Strong, option: Ints, sure: Vector, key: Mapping[Any, Any] | None
) -> list[Remark]:
    given = None if key is None else _given_options(data, key)
    unchosen = {} if key is None else _unchosen(data, key)
    return [
        _nobody_chose(data, unchosen[i], option[i], sure[i])
        if i in unchosen
        else _remark(data, i, option, sure, strong, given)
        for i in range(data.n_items)
    ]


def option_columns(data: Engine, scores: Vector, groups: int) -> dict[str, Any]:
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


def guessing(data: Engine, correct: Vector) -> Ints:
    """Users whose expected share correct is not above what guessing would give."""
    answers = data.collect(data.answers_per_user)
    n = np.maximum(answers, 1)
    per_item = 1 / np.diff(data.items.starts)
    chance = data.collect(data.choices(per_item[data.items.of_option])) / n
    error = np.sqrt(chance * (1 - chance) / n)
    return np.flatnonzero((answers > 0) & (correct < chance + CHANCE * error) & (chance < 1))


def _labels(data: Engine, options: Ints) -> npt.NDArray[Any]:
    """Labels of some options, ``None`` for -1."""
    labels = np.full(len(options), None, dtype=object)
    labels[options >= 0] = data.items.option_labels[options[options >= 0]]
    return labels


@dataclass(frozen=True)
class _Strong:
    """What the ablest users did, option by option."""

    share: Vector
    answers: Vector
    discrimination: Vector


def _strong_shares(data: Engine, scores: Vector) -> tuple[Vector, Vector]:
    """The share of strong users answering the item who chose each option, and their number."""
    known = np.isfinite(scores)
    cut = np.quantile(scores[known], 1 - ABLEST)
    strong = known & (scores >= cut)
    if cut == scores[known].min() and (scores[known] > cut).any():
        strong = known & (scores > cut)  # most users tie at the lowest score: not all are strong
    chosen = data.choosers(strong.astype(float))
    answered = data.items.sum(chosen)
    none = np.full_like(chosen, np.nan)
    return np.divide(chosen, answered, out=none, where=answered > 0), answered


def _discriminations(data: Engine, scores: Vector) -> Vector:
    """Correlation between choosing an option and the score, among those who answered the item."""
    within = data.items
    s = np.where(np.isfinite(scores), scores, 0.0)
    counts = data.choosers_per_option.astype(float)
    answers = within.sum(counts)
    totals, squares = data.choosers(s), data.choosers(s**2)
    mean = within.sum(totals) / answers
    variance = np.maximum(within.sum(squares) / answers - mean**2, 0.0)
    share = counts / answers
    covariance = share * (totals / counts - mean)
    size = np.sqrt(variance * share * (1 - share))
    return np.asarray(np.divide(covariance, size, out=np.zeros_like(size), where=size > 1e-12))


def _given_options(data: Engine, key: Mapping[Any, Any]) -> Ints:
    given = np.full(data.n_items, -1, dtype=np.int64)
    options = known_options(data.items, key)
    given[data.items.of_option[options]] = options
    return given


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


def _remark(
    data: Engine, i: int, option: Ints, sure: Vector, strong: _Strong, given: Ints | None
) -> Remark:
    """One plain remark on an item, or an empty one."""
    here = int(option[i])
    if here < 0:
        return Remark()
    label = str(data.items.option_labels[here])
    if given is not None and given[i] >= 0 and given[i] != here and sure[i] >= DOUBTED:
        return Remark(f"mis-keyed? the answers point to {label}", "mis-keyed")
    first, last = data.items.starts[i : i + 2]
    if strong.answers[here] >= ENOUGH:
        shares = np.nan_to_num(strong.share[first:last])
        others = np.where(np.arange(first, last) == here, -1.0, shares)
        other = first + int(np.argmax(others))
        both = strong.share[here] + strong.share[other]
        z = strong.discrimination[other] * np.sqrt(data.answers_per_item[i])
        able = strong.share[other] >= SECOND_SHARE and z >= ABLER
        if last - first > 1 and both >= BOTH and able:
            second = data.items.option_labels[other]
            said = f"two right answers? strong users choose {second} too"
            return Remark(said, "double-keyed")
        if shares[here - first] < AGREED:
            return Remark("strong users disagree", "open")
    return Remark("the key is not settled", "open") if sure[i] < 0.6 else Remark()
