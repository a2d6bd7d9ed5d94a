"""Simulated answers with one known fault each, for tests of the methods for real data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from factory import Table

Vector = npt.NDArray[np.float64]


def exam(
    seed: int, users: int = 80, items: int = 30, options: int = 4, answered: float = 1.0
) -> tuple[Table, Vector]:
    """An ordinary test: option 0 is right, wrong options have their own popularity."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=users)
    slopes, levels = rng.uniform(0.8, 2.0, items), rng.normal(0.3, 0.8, items)
    right = rng.random((users, items)) < 1 / (1 + np.exp(-(np.outer(ability, slopes) + levels)))
    lures = rng.dirichlet(np.ones(options - 1), items)
    wrong = np.array([rng.choice(options - 1, users, p=p) for p in lures]).T + 1
    table = np.where(right, 0, wrong)
    table[rng.random((users, items)) >= answered] = -1
    silent = np.flatnonzero((table < 0).all(axis=1))
    table[silent, 0] = 0
    return table, ability


def with_own_letters(table: Table, seed: int = 0, options: int = 4) -> Table:
    """The same answers under other letters in every item: the right one is not always the first."""
    rng = np.random.default_rng(seed)
    turns = np.stack([rng.permutation(options) for _ in range(table.shape[1])])
    turned = turns[np.arange(table.shape[1]), np.maximum(table, 0)]
    return np.where(table < 0, -1, turned)


def biased_workers(seed: int, users: int = 25, items: int = 150) -> tuple[Table, Vector]:
    """Two labels; every worker has a sensitivity and a specificity of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    hit, reject = rng.uniform(0.35, 0.98, users), rng.uniform(0.35, 0.98, users)
    chance = np.where(truth[None, :], hit[:, None], 1 - reject[:, None])
    table = (rng.random((users, items)) < chance).astype(np.int64)
    return table, (table == truth[None, :]).mean(axis=1)


def two_camps(seed: int, users: int = 60, items: int = 30) -> Table:
    """Half the users know one key, the other half another one: nobody can say who is right."""
    rng = np.random.default_rng(seed)
    camp = np.arange(users) % 2
    follow = rng.random((users, items)) < rng.uniform(0.5, 0.95, users)[:, None]
    return np.where(follow, camp[:, None], rng.integers(0, 4, (users, items)))
