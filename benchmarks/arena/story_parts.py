"""What stories are told with: a test, a crowd, and answers drawn, left out or replaced."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.arena.cases import Array, Codes

__all__ = ["Bools", "Exam", "Rng", "Story", "blanked", "drawn", "keyed", "logistic", "workers"]

Rng = np.random.Generator
Bools = npt.NDArray[np.bool_]


class Story(NamedTuple):
    """One data set with the truth behind it.

    Attributes
    ----------
    codes
        Users × items: the option chosen, -1 for no answer.
    key
        The right option of each item; None where none is right, or not the same for all users.
    right
        Which answers are right; None where there is nothing to find.
    """

    codes: Codes
    key: Codes | None = None
    right: Bools | None = None


def logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def keyed(codes: Codes, key: Codes) -> Story:
    """A story in which one option of every item is right."""
    return Story(codes, key, codes == key)


def drawn(rng: Rng, shares: Array, users: int) -> Codes:
    """Everybody's answers, drawn from the shares of each item's options (items × options)."""
    past = rng.random((users, len(shares), 1)) > shares.cumsum(axis=1)
    return np.asarray(past.sum(axis=2).clip(max=shares.shape[1] - 1))


def blanked(rng: Rng, codes: Codes, answered: float) -> Codes:
    """Only this share of the answers is given."""
    return np.where(rng.random(codes.shape) < answered, codes, -1)


def workers(rng: Rng, key: Codes, labels: int, skill: Array) -> Codes:
    """Workers who know the label as often as their skill says, and else draw one at random."""
    shape = (len(skill), len(key))
    return np.where(rng.random(shape) < skill[:, None], key, rng.integers(labels, size=shape))


class Exam:
    """A multiple-choice test: abilities, difficulties, the key, and everybody's answers.

    ``alike`` is small where one wrong option of an item attracts nearly all who do not know.
    """

    def __init__(
        self, rng: Rng, users: int, items: int, *, options: int = 4, ease: float = 0.3,
        guessing: bool = True, alike: float = 1.0, theta: Array | None = None,
    ) -> None:  # fmt: skip
        self.rng, self.options, self.users, self.items = rng, options, users, items
        self.theta = rng.standard_normal(users) if theta is None else theta
        slope, self.hard = rng.lognormal(0.0, 0.3, items), rng.normal(-ease, 1.0, items)
        floor = 1 / options if guessing else 0.0
        self.chance = floor + (1 - floor) * logistic(slope * (self.able - self.hard))
        self.key: Codes = rng.integers(options, size=items)
        wrong = drawn(rng, rng.dirichlet(np.full(options - 1, alike), size=items), users)
        self.codes: Codes = np.where(self.often(self.chance), self.key, wrong + (wrong >= self.key))

    @property
    def able(self) -> Array:
        """Abilities, as a column."""
        return self.theta[:, None]

    def often(self, share: Array | float) -> Bools:
        """Answers at random, as often as this share says."""
        return self.rng.random((self.users, self.items)) < share

    def some_users(self, share: float) -> Bools:
        """Users at random, as a column."""
        return self.rng.random((self.users, 1)) < share

    def some_items(self, share: float) -> Bools:
        """Items at random, as a row."""
        return self.rng.random(self.items) < share

    def late(self, share: float) -> Bools:
        """What users do not reach: on average they do this share, the able ones more."""
        luck = self.rng.standard_normal((self.users, 1))
        reached = self.items * (share + 0.2 * self.able + 0.15 * luck)
        return np.arange(self.items) >= np.maximum(reached, 3)

    def wrong(self) -> Codes:
        """A wrong option of each item, the same for all."""
        other = self.rng.integers(1, self.options, size=self.items)
        return np.asarray((self.key + other) % self.options)

    def put(self, where: Bools, answers: Codes | int) -> None:
        """Replace some answers."""
        self.codes = np.where(where, answers, self.codes)

    def story(self) -> Story:
        """The answers as they are now, with the key."""
        return keyed(self.codes, self.key)
