"""Whether answers are ratings: opinions, marks or sliders, of which none is right or wrong.

Two things give ratings away. Their words are matters of opinion ("strongly agree"). Or their
numbers act as a scale: an answer to one item tells more about the same user's other answers when
numbers are taken as amounts than when they are mere names of options, or when all that counts is
whether it is the usual answer. In a test the numbers are names, and able people give the usual
answers.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.data.arrays import Array, Floats

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["ratings_in"]

#: So many users and items are looked at.
MOST_USERS, MOST_ITEMS = 1500, 300
#: Answers are ratings where this share of the items has options that say so.
MOST = 0.5
#: How much more the numbers tell than usual answers, and than the same numbers as mere names. One
#: of the two ratios was at most 1.1 in 40 tests and crowds; both were above 1.5 in ten surveys,
#: sliders and sets of marks.
MORE = 1.4
#: How many standard errors what the numbers tell is above chance.
CLEAR = 3.0
#: So often the numbers of each item change places, to be mere names.
SHUFFLES = 20
#: Words of opinions.
OPINION = re.compile(
    r"\b((strongly|somewhat|completely|tend to|totally) )?(dis)?agree\b|\b(dis)?satisfied\b"
    r"|\b(un)?favou?rabl[ey]\b|\b(un)?important\b|\b(un)?likely to\b|\bvery (un)?likely\b"
    r"|\bstimme\b.*\bzu\b|\btrifft\b.*\bzu\b|\b(un)?zufrieden\b|\b(un)?wichtig\b"
    r"|\bd.accord\b|\b(in)?satisfaite?\b|\b(de acuerdo|en desacuerdo|(in)?satisfech[oa])\b",
    re.IGNORECASE,
)


def ratings_in(responses: Responses, seed: int = 0) -> str:
    """An option that shows that these answers are ratings; empty if they are none.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> ratings_in(hnd.Responses.from_wide([["agree", "disagree"], ["agree", "agree"]]))
    "such as 'agree'"
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
    usual = max(found, key=lambda option: int(responses.choosers_per_option[option]))
    return f"such as '{texts[usual]}'"


def _scale(responses: Responses, texts: list[str], seed: int) -> str:
    values = np.array([_number(text) for text in texts])
    several = np.bincount(responses.option_items[np.isfinite(values)], minlength=responses.n_items)
    (items,) = np.nonzero(several > 2)  # two numbers are a scale and the usual answer alike
    if len(items) < max(3, MOST * responses.n_items):
        return ""
    chosen = _some_answers(responses, items, seed)
    scale, error = _runs_through(_numbers(chosen, values))
    if scale < CLEAR * error or scale < MORE * _runs_through(_usual(chosen))[0]:
        return ""
    rng = np.random.default_rng(seed)
    names = [_runs_through(_numbers(chosen, values, rng))[0] for _ in range(SHUFFLES)]
    if scale < MORE * max(names):
        return ""
    found = sorted({float(value) for value in values if value == value})
    return f"{found[0]:g} to {found[-1]:g}"


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _some_answers(responses: Responses, items: Array, seed: int) -> Array:
    """The options that some users chose, users × some items; -1 where there is no answer."""
    rng = np.random.default_rng(seed)
    users = np.arange(responses.n_users)
    if len(users) > MOST_USERS:
        users = np.sort(rng.choice(users, MOST_USERS, replace=False))
    if len(items) > MOST_ITEMS:
        items = np.sort(rng.choice(items, MOST_ITEMS, replace=False))
    column = np.full(responses.n_items, -1)
    column[items] = np.arange(len(items))
    starts, chosen = responses.some_rows(users)
    rows = np.repeat(np.arange(len(users)), np.diff(starts))
    places = column[responses.option_items[chosen]]
    kept = places >= 0
    table = np.full((len(users), len(items)), -1)
    table[rows[kept], places[kept]] = chosen[kept]
    return table


def _numbers(chosen: Array, values: Floats, rng: np.random.Generator | None = None) -> Floats:
    """The numbers that were chosen; with a generator, each item's numbers change places."""
    table = np.full(chosen.shape, np.nan)
    for item, own in enumerate(chosen.T):
        options, places = np.unique(own, return_inverse=True)
        numbers = np.where(options < 0, np.nan, values[options])
        (told,) = np.nonzero(np.isfinite(numbers))
        if rng is not None:
            numbers[told] = numbers[rng.permutation(told)]
        table[:, item] = numbers[places]
    return table


def _usual(chosen: Array) -> Floats:
    """Whether each answer is the one that most users gave to the item."""
    counts = [np.bincount(own[own >= 0], minlength=1) for own in chosen.T]
    usual = chosen == np.array([int(own.argmax()) for own in counts])
    return np.where(chosen < 0, np.nan, usual.astype(float))


def _runs_through(values: Floats) -> tuple[float, float]:
    """How far the items' values go together, and the standard error by chance.

    This is the mean squared correlation of two items over the users who answered both, less what
    chance gives.
    """
    told = np.isfinite(values)
    n = told.sum(axis=0)
    centred = np.where(told, values - np.nansum(values, axis=0) / np.maximum(n, 1), 0.0)
    answered = told.astype(float)
    both = answered.T @ answered
    spread = (centred**2).T @ answered
    pairs = (both > 3) & (spread > 0) & (spread.T > 0)
    np.fill_diagonal(pairs, False)
    if not pairs.any():
        return 0.0, math.inf
    found = (centred.T @ centred)[pairs] ** 2 / (spread * spread.T)[pairs]
    chance = 1 / (both[pairs] - 1)
    weights = both[pairs] / both[pairs].sum()
    return float(weights @ (found - chance)), float(
        np.sqrt(4 * (weights * chance) @ (weights * chance))
    )
