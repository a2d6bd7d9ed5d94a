"""How simulated data sets are made: a function of a seed for each thing that goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hitsndiffs import Responses
from hitsndiffs.irt import simulate

__all__ = [
    "Case",
    "biased",
    "copies",
    "exam",
    "from_model",
    "made_case",
    "misconception",
    "repeated",
]

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

#: Models whose abilities are drawn from N(0, 1); the others' are uniform on [0, 1].
NORMAL = ("half-moon", "american-experience")


@dataclass(frozen=True)
class Case:
    """Responses with the truth behind them.

    Attributes
    ----------
    responses, key
        The answers, and the right option of each item that somebody answered.
    abilities
        True abilities, where users have one.
    expected
        For each user the share of right answers that the model expects on the items answered.
    normal
        Whether the abilities come from N(0, 1), as methods suppose.
    shares
        The share of each user's answers that are right, where not one key for all says it.
    """

    responses: Responses
    key: dict[str, str]
    abilities: Array | None = None
    expected: Array | None = None
    normal: bool = False
    shares: Array | None = None


class Sheets(NamedTuple):
    """Everybody's answers (users × items), the right ones, abilities, chance of being right."""

    codes: Codes
    key: Codes
    theta: Array
    chance: Array


def from_model(model: str, seed: int, **options: Any) -> Case:
    """One of the library's own response models."""
    sim = simulate(model, seed=seed, **options)
    items = [int(label.rpartition("-")[2]) - 1 for label in sim.responses.items]
    right = np.take_along_axis(
        sim.model.probabilities(sim.abilities), sim.model.correct[None, :, None], axis=2
    )[:, items, 0]
    codes = sim.responses.codes.T
    expected = _mean_where(right, codes != np.iinfo(codes.dtype).max)
    return Case(sim.responses, sim.key, sim.abilities, expected, model in NORMAL)


def exam(seed: int, *, users: int, items: int, options: int = 4, answered: float = 1.0) -> Case:
    """A multiple-choice test, with some answers missing at random."""
    rng = np.random.default_rng(seed)
    sheets = _sheets(rng, users, items, options)
    if answered < 1:
        sheets.codes[rng.random(sheets.codes.shape) >= answered] = -1
    return made_case(sheets.codes, sheets.key, sheets.theta, sheets.chance, normal=True)


def copies(seed: int, *, users: int = 120, items: int = 40, sources: int = 3) -> Case:
    """A third of the users copy nine answers in ten from a few sources."""
    rng = np.random.default_rng(seed)
    codes, key, _, _ = _sheets(rng, users, items, 4)
    copying = np.arange(users // 3)
    source = users // 3 + rng.choice(users - users // 3, sources, replace=False)
    for j in copying:
        taken = rng.random(items) < 0.9
        codes[j, taken] = codes[rng.choice(source), taken]
    return made_case(codes, key)


def repeated(seed: int, *, models: int = 20, runs: int = 30, items: int = 60) -> Case:
    """Every user is present thirty times with noise, as with repeated runs of one model."""
    rng = np.random.default_rng(seed)
    codes, key, theta, _ = _sheets(rng, models, items, 4)
    again = np.repeat(codes, runs, axis=0)
    noise = rng.random(again.shape) < 0.1
    again[noise] = rng.integers(4, size=int(noise.sum()))
    return made_case(again, key, np.repeat(theta, runs))


def biased(seed: int, *, users: int, items: int, per_item: int | None) -> Case:
    """One label set for all items; workers lean to one label (two coins each)."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < 0.35).astype(np.int64)
    lean = rng.normal(0.0, 1.2, users)
    skill = rng.normal(1.0, 0.7, users)
    chance_one = _logistic(lean[:, None] + skill[:, None] * (2 * truth - 1))
    codes = (rng.random((users, items)) < chance_one).astype(np.int64)
    if per_item is not None:
        asked = rng.random((users, items)).argsort(axis=0) < per_item
        codes = np.where(asked, codes, -1)
    return made_case(codes, truth, None, np.where(truth == 1, chance_one, 1 - chance_one))


def misconception(
    seed: int, *, users: int = 200, items: int = 30, share: float = 0.6, hard: float = 0.8
) -> Case:
    """On some items a wrong option attracts the middle: only the ablest get past it."""
    rng = np.random.default_rng(seed)
    codes, key, theta, chance = _sheets(rng, users, items, 4)
    lured = rng.random(items) < share
    lure = (key + 1) % 4
    to_know = _logistic(2 * (theta[:, None] - hard))
    to_fall = _logistic(2 * (theta[:, None] + 0.8))
    knows = rng.random((users, items)) < to_know
    falls = rng.random((users, items)) < to_fall
    guess = rng.integers(4, size=(users, items))
    lured_codes = np.where(knows, key, np.where(falls, lure, guess))
    lured_chance = to_know + (1 - to_know) * (1 - to_fall) / 4
    codes = np.where(lured, lured_codes, codes)
    return made_case(codes, key, theta, np.where(lured, lured_chance, chance), normal=True)


def _sheets(rng: np.random.Generator, users: int, items: int, options: int) -> Sheets:
    """A multiple-choice test: 2PL with item-specific distractors."""
    theta = rng.standard_normal(users)
    a, b = rng.lognormal(0.0, 0.3, items), rng.normal(-0.2, 1.0, items)
    chance = _logistic(a * (theta[:, None] - b))
    right = rng.random((users, items)) < chance
    key = rng.integers(options, size=items)
    shares = rng.dirichlet(np.ones(options - 1), size=items)
    wrong = (rng.random((users, items))[:, :, None] > shares.cumsum(1)).sum(axis=2)
    wrong = np.minimum(wrong, options - 2)
    codes = np.where(right, key, wrong + (wrong >= key))
    return Sheets(codes, key, theta, chance)


def made_case(
    codes: Codes,
    key: Codes,
    theta: Array | None = None,
    chance: Array | None = None,
    *,
    normal: bool = False,
) -> Case:
    """From users × items codes (-1: no answer) and the right code of each item."""
    items = [f"item-{i:03d}" for i in range(codes.shape[1])]
    users = [f"user-{j:03d}" for j in range(codes.shape[0])]
    responses = Responses.from_wide(codes, users=users, items=items)
    here = set(responses.items.tolist())
    known = {i: str(k) for i, k in zip(items, key.tolist(), strict=True) if i in here}
    expected = None if chance is None else _mean_where(chance, codes >= 0)
    return Case(responses, known, theta, expected, normal)


def _mean_where(values: Array, where: npt.NDArray[np.bool_]) -> Array:
    """Each row's mean over the cells that count (NaN where none does)."""
    count = where.sum(axis=1)
    total = (values * where).sum(axis=1)
    mean: Array = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))
