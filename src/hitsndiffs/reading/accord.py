"""How far answers agree within items, and within users: one number tells tests from other tables.

In a test of knowledge, users who answer the same item often agree, and one user's answers to
different items do not. In opinions, marks and sliders, one user's answers are as much alike as the
answers to one item. In what is no table of answers, neither agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Accord", "accord", "accord_of", "hits", "numbers_of", "pairs"]

#: Of larger data, about this many answers (of whole users) are looked at.
ENOUGH = 500_000
Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Accord:
    """Agreement beyond chance, within items and within users: 1 is full, 0 is that of chance."""

    items: float
    users: float


def numbers_of(texts: list[str]) -> Numbers:
    """Number texts in order of appearance.

    Examples
    --------
    >>> numbers_of(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    index: dict[str, int] = {}
    return np.array([index.setdefault(text, len(index)) for text in texts], dtype=np.int64)


def pairs(groups: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return how often each group meets each value: the group of every pair, and its count.

    Examples
    --------
    >>> owners, counts = pairs(np.array([0, 1, 0]), np.array([7, 7, 7]))
    >>> owners.tolist(), counts.tolist()
    ([0, 1], [2, 1])
    """
    width = int(values.max(initial=0)) + 1
    both = groups * width + values
    if (int(groups.max(initial=0)) + 1) * width <= len(both):  # counted without sorting
        counts = np.bincount(both)
        (found,) = np.nonzero(counts)
        return found // width, counts[found]
    found, counts = np.unique(both, return_counts=True)
    return found // width, counts


def agree(groups: Numbers, answers: Numbers) -> float:
    """Return how far answers in the same group agree, beyond chance.

    Chance is that two answers from anywhere are alike. Groups count by their answers; those with a
    single answer say nothing.

    Examples
    --------
    >>> agree(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    """
    if not len(answers):
        return 0.0
    shares = np.bincount(answers) / len(answers)
    chance = float(shares @ shares)
    owners, counts = pairs(groups, answers)
    sizes = np.bincount(groups)
    same = np.bincount(owners, weights=counts * (counts - 1.0), minlength=len(sizes))
    told = sizes > 1
    if not told.any() or chance >= 1:
        return 0.0
    alike = float((same[told] / (sizes[told] - 1)).sum() / sizes[told].sum())
    return (alike - chance) / (1 - chance)


def hits(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how often two columns agree, beyond what their shares would give by chance.

    Examples
    --------
    >>> hits("ABAB", "ABAB"), hits("AABB", "ABAB")
    (0.5, 0.0)
    """
    if not one:
        return -1.0
    alike = sum(a == b for a, b in zip(one, other, strict=True)) / len(one)
    shares = [Counter(own) for own in (one, other)]
    chance = sum(n * shares[1][text] for text, n in shares[0].items()) / len(one) ** 2
    return alike - chance


def accord_of(users: Numbers, items: Numbers, answers: Numbers) -> Accord:
    """Return the agreement within items and users; each array has a number per answer."""
    return Accord(agree(items, answers), agree(users, answers))


def accord(responses: Responses, seed: int = 0) -> Accord:
    """Return the agreement of responses within items and within users.

    Options with the same label are the same answer. Of large data, some users are looked at.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> quiz = hnd.simulate("bock", users=200, items=30, options=4, seed=1).responses
    >>> found = accord(quiz)
    >>> found.items > 0.02 > abs(found.users)
    True
    """
    m = responses.n_users
    some = np.arange(m)
    if responses.n_responses > ENOUGH:
        wanted = max(2, m * ENOUGH // responses.n_responses)
        some = np.sort(np.random.default_rng(seed).choice(m, wanted, replace=False))
    starts, chosen = responses.some_rows(some)
    labels = numbers_of([str(label) for label in responses.option_labels.tolist()])
    users = np.repeat(np.arange(len(some)), np.diff(starts))
    return accord_of(users, responses.option_items[chosen], labels[chosen])
