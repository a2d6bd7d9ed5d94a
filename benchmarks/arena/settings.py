"""Simulated settings of the arena: what goes wrong in real data, one cause at a time.

Each setting is a function of a seed that returns a :class:`Case`: the responses, the key, and the
abilities. Users of copied or repeated sheets are judged by their true share of right answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from hitsndiffs import Responses
from hitsndiffs.irt import simulate

__all__ = ["SETTINGS", "Case"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Responses with the truth behind them."""

    responses: Responses
    key: dict[str, str]
    abilities: Array | None = None


def _irt(model: str, seed: int, **options: object) -> Case:
    sim = simulate(model, seed=seed, **options)  # type: ignore[arg-type]
    return Case(sim.responses, sim.key, sim.abilities)


def _table(codes: npt.NDArray[np.int64], key: npt.NDArray[np.int64], theta: Array | None) -> Case:
    """From users × items codes (-1: no answer) and the right code of each item."""
    items = [f"item-{i:03d}" for i in range(codes.shape[1])]
    users = [f"user-{j:03d}" for j in range(codes.shape[0])]
    responses = Responses.from_wide(codes, users=users, items=items)
    return Case(responses, {i: str(k) for i, k in zip(items, key.tolist(), strict=True)}, theta)


def _test(
    rng: np.random.Generator, users: int, items: int, options: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
    """A multiple-choice test: 2PL with item-specific distractors; codes, key, abilities."""
    theta = rng.standard_normal(users)
    a, b = rng.lognormal(0.0, 0.3, items), rng.normal(-0.2, 1.0, items)
    right = rng.random((users, items)) < 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    key = rng.integers(options, size=items)
    shares = rng.dirichlet(np.ones(options - 1), size=items)
    wrong = (rng.random((users, items))[:, :, None] > shares.cumsum(1)).sum(axis=2)
    wrong = np.minimum(wrong, options - 2)
    codes = np.where(right, key, wrong + (wrong >= key))
    return codes, key, theta


def _copies(seed: int, *, users: int = 120, items: int = 40, sources: int = 3) -> Case:
    """A third of the users copy nine answers in ten from a few sources."""
    rng = np.random.default_rng(seed)
    codes, key, _ = _test(rng, users, items, 4)
    copying = np.arange(users // 3)
    source = users // 3 + rng.choice(users - users // 3, sources, replace=False)
    for j in copying:
        taken = rng.random(items) < 0.9
        codes[j, taken] = codes[rng.choice(source), taken]
    return _table(codes, key, None)


def _repeated(seed: int, *, models: int = 20, runs: int = 30, items: int = 60) -> Case:
    """Every user is present thirty times with noise, as with repeated runs of one model."""
    rng = np.random.default_rng(seed)
    codes, key, theta = _test(rng, models, items, 4)
    again = np.repeat(codes, runs, axis=0)
    noise = rng.random(again.shape) < 0.1
    again[noise] = rng.integers(4, size=int(noise.sum()))
    return _table(again, key, np.repeat(theta, runs))


def _biased(seed: int, *, users: int, items: int, per_item: int | None) -> Case:
    """One label set for all items; workers lean to one label (two coins each)."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < 0.35).astype(np.int64)
    lean = rng.normal(0.0, 1.2, users)
    skill = rng.normal(1.0, 0.7, users)
    chance_one = 1 / (1 + np.exp(-(lean[:, None] + skill[:, None] * (2 * truth - 1))))
    codes = (rng.random((users, items)) < chance_one).astype(np.int64)
    if per_item is not None:
        asked = rng.random((users, items)).argsort(axis=0) < per_item
        codes = np.where(asked, codes, -1)
    return _table(codes, truth, None)


def _misconception(
    seed: int, *, users: int = 200, items: int = 30, share: float = 0.6, hard: float = 0.8
) -> Case:
    """On some items a wrong option attracts the middle: only the ablest get past it."""
    rng = np.random.default_rng(seed)
    codes, key, theta = _test(rng, users, items, 4)
    lured = rng.random(items) < share
    lure = (key + 1) % 4
    knows = rng.random((users, items)) < 1 / (1 + np.exp(-2 * (theta[:, None] - hard)))
    falls = rng.random((users, items)) < 1 / (1 + np.exp(-2 * (theta[:, None] + 0.8)))
    guess = rng.integers(4, size=(users, items))
    lured_codes = np.where(knows, key, np.where(falls, lure, guess))
    codes = np.where(lured, lured_codes, codes)
    return _table(codes, key, theta)


#: Name → how to make one data set of it from a seed.
SETTINGS: dict[str, Callable[[int], Case]] = {
    **{
        f"paper/{model}": partial(lambda seed, model: _irt(model, seed), model=model)
        for model in ("grm", "bock", "samejima", "c1p", "half-moon", "american-experience")
    },
    **{
        f"paper/{model}/{what} {n}": partial(
            lambda seed, model, what, n: _irt(model, seed, **{what: n}), model=model, what=what, n=n
        )
        for model in ("grm", "bock", "samejima")
        for what, n in (("users", 25), ("items", 25), ("amax", 2.5), ("bmax", 1.0))
    },
    **{
        f"long tail/{model}": partial(
            lambda seed, model: _irt(model, seed, users=300, answers_per_user=10), model=model
        )
        for model in ("grm", "bock", "samejima")
    },
    **{
        f"blocks/{model}": partial(
            lambda seed, model: _irt(model, seed, users=200, blocks=4), model=model
        )
        for model in ("grm", "bock", "samejima")
    },
    "copies/few sources": _copies,
    "copies/repeated runs": _repeated,
    "biased/dense": partial(_biased, users=40, items=200, per_item=None),
    "biased/sparse": partial(_biased, users=100, items=500, per_item=6),
    **{
        f"misconception/{share:.0%} of items": partial(_misconception, share=share)
        for share in (0.3, 0.6, 0.9)
    },
}
