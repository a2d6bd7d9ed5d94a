"""Whether answers are ratings: opinions, marks or sliders, of which none is right or wrong.

Two things give ratings away. Their words are matters of opinion ("strongly agree"). Or their
numbers act as a scale: those who disagree about an item stand near each other on it, and some users
rate high throughout. In a test the numbers are names of options, and neither holds.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["ratings_in"]

#: Of larger data, about this many answers (of whole users) are looked at.
ENOUGH = 500_000
#: Answers are ratings where this share of the items has options that say so.
MOST = 0.5
#: The distance of two different answers, against options in any order, and the correlation of a
#: user's answers. In 44 tests and crowds one of the two was always on the other side; in five of
#: five surveys with numbers neither was.
NEAR, ALIKE = 0.92, 0.02
#: How many standard errors from chance both are, at least.
CLEAR = 2.0
#: Words of opinions.
OPINION = re.compile(
    r"\b((strongly|somewhat|completely|tend to|totally) )?(dis)?agree\b|\b(dis)?satisfied\b"
    r"|\b(un)?favou?rabl[ey]\b|\b(un)?important\b|\b(un)?likely to\b|\bvery (un)?likely\b"
    r"|\bstimme\b.*\bzu\b|\btrifft\b.*\bzu\b|\b(un)?zufrieden\b|\b(un)?wichtig\b"
    r"|\bd.accord\b|\b(in)?satisfaite?\b|\b(de acuerdo|en desacuerdo|(in)?satisfech[oa])\b",
    re.IGNORECASE,
)

Vector = npt.NDArray[np.float64]


def ratings_in(responses: Responses, seed: int = 0) -> str:
    """An option that shows that these answers are ratings; empty if they are none.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> ratings_in(hnd.Responses.from_wide([["agree", "disagree"], ["agree", "agree"]]))
    'agree'
    >>> ratings_in(hnd.simulate("bock", users=200, items=30, options=4, seed=1).responses)
    ''
    """
    texts = [str(label) for label in responses.option_labels.tolist()]
    return _opinion(responses, texts) or _scale(responses, texts, seed)


def _opinion(responses: Responses, texts: list[str]) -> str:
    found = [option for option, text in enumerate(texts) if OPINION.search(text)]
    items = np.unique(responses.option_items[found])
    if len(items) == 0 or len(items) < MOST * responses.n_items:
        return ""
    return texts[max(found, key=lambda option: int(responses.choosers_per_option[option]))]


def _scale(responses: Responses, texts: list[str], seed: int) -> str:
    values = np.array([_number(text) for text in texts])
    distances = _distances(responses, values)
    if len(distances) < max(3, MOST * responses.n_items):
        return ""
    if distances.mean() > NEAR or not _clearly(1 - distances):
        return ""
    alike = _alike_within_users(responses, values, seed)
    if alike.mean() < ALIKE or not _clearly(alike):
        return ""
    numbers = sorted({float(value) for value in values if value == value})
    return f"{numbers[0]:g} to {numbers[-1]:g}"


def _clearly(values: Vector) -> bool:
    """Whether the mean is above chance, which is 0."""
    if len(values) < 2:
        return False
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) > CLEAR * error


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _distances(responses: Responses, values: Vector) -> Vector:
    """How far apart two different answers to an item are, in places on its scale.

    One value per item with three numbers or more; 1 is what options in any order would give.
    """
    counts, starts = responses.choosers_per_option.astype(float), responses.item_starts
    found = []
    for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        own = values[first:last]
        order = np.argsort(own)[: int(np.isfinite(own).sum())]
        k, n = len(order), counts[first:last][order]
        pairs = n.sum() ** 2 - n @ n
        if k > 2 and pairs > 0:
            below = np.cumsum(n)[:-1]  # pairs are as far apart as there are borders between them
            found.append(2 * float(below @ (n.sum() - below)) / float(pairs) / ((k + 1) / 3))
    return np.array(found)


def _alike_within_users(responses: Responses, values: Vector, seed: int) -> Vector:
    """The mean correlation between the numbers that one user gives, for each user.

    What users agree on, and how much an item spreads, is taken out first.
    """
    m = responses.n_users
    some: npt.NDArray[Any] = np.arange(m)
    if responses.n_responses > ENOUGH:
        wanted = max(2, m * ENOUGH // responses.n_responses)
        some = np.sort(np.random.default_rng(seed).choice(m, wanted, replace=False))
    starts, chosen = responses.some_rows(some)
    users = np.repeat(np.arange(len(some)), np.diff(starts))
    told = np.isfinite(values[chosen])
    users, items, x = users[told], responses.option_items[chosen][told], values[chosen][told]
    n = np.maximum(np.bincount(items, minlength=responses.n_items), 1)
    x = x - (np.bincount(items, weights=x, minlength=responses.n_items) / n)[items]
    spread = np.sqrt(np.bincount(items, weights=x * x, minlength=responses.n_items) / n)
    x = x / np.where(spread > 0, spread, 1)[items]
    each = np.bincount(users, minlength=len(some))
    total = np.bincount(users, weights=x, minlength=len(some))
    squares = np.bincount(users, weights=x * x, minlength=len(some))
    several = each > 1
    pairs = (total**2 - squares)[several] / (each * (each - 1.0))[several]
    return np.asarray(pairs)
