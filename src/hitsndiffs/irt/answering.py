"""Which items each user answers: all, a share, a long-tailed number, or blocks by design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError

__all__ = ["Answering"]

BoolArray = npt.NDArray[np.bool_]

#: The possible meanings of an answer probability.
MISSING = ("fixed", "pairs")


@dataclass(frozen=True)
class Answering:
    """How users come to answer some items and not others.

    Attributes
    ----------
    items
        Number of items.
    probability
        The share of the items that a user answers, or the probability of answering each.
    missing
        What the probability means. ``"fixed"``: every user answers
        ``int(items * probability)`` items chosen at random. ``"pairs"``: each user answers each
        item with that probability, so the number of answers varies.
    median
        Numbers of answers are long-tailed (log-normal) with this median; at least 1, at most all.
    tail
        The standard deviation of the logarithm of those numbers.
    blocks
        The items are cut into this many blocks, and every user is given two neighbouring ones (the
        blocks form a circle, so all users stay comparable).

    Examples
    --------
    >>> Answering(items=4, probability=0.5).draw(np.random.default_rng(0), 0, 3).sum(axis=1)
    array([2, 2, 2])
    >>> some = Answering(items=4, probability=0.5, missing="pairs")
    >>> some.draw(np.random.default_rng(0), 0, 3).sum(axis=1)
    array([3, 0, 1])
    >>> Answering(items=6, blocks=3).draw(np.random.default_rng(0), 0, 3).astype(int).tolist()
    [[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1]]
    """

    items: int
    probability: float = 1.0
    median: float | None = None
    tail: float = 1.0
    blocks: int | None = None
    missing: str = "fixed"

    def __post_init__(self) -> None:
        if not 0.0 < self.probability <= 1.0:
            raise InputError(
                f"answer_probability must be above 0 and at most 1; got {self.probability}."
            )
        if self.missing not in MISSING:
            raise InputError(f"missing must be one of {', '.join(MISSING)}; got {self.missing!r}.")
        if self.missing == "fixed" and self.probability < 1.0 and self._share < 1:
            raise InputError(
                f"answer_probability {self.probability} leaves none of the {self.items} items; "
                "raise it or simulate more items."
            )
        if self.median is not None and not self.median >= 1.0:
            raise InputError(f"answers_per_user must be a median of at least 1; got {self.median}.")
        if not self.tail >= 0.0:
            raise InputError(f"answers_tail must not be negative; got {self.tail}.")
        if self.blocks is not None and not 3 <= self.blocks <= self.items:
            raise InputError(
                f"blocks must be from 3 to the number of items ({self.items}); got {self.blocks}."
            )
        ways = [self.probability < 1.0, self.median is not None, self.blocks is not None]
        if sum(ways) > 1:
            raise InputError(
                "answer_probability, answers_per_user and blocks exclude each other; give one."
            )

    @property
    def complete(self) -> bool:
        """Whether every user answers every item."""
        return self.probability == 1.0 and self.median is None and self.blocks is None

    @property
    def _share(self) -> int:
        return int(self.items * self.probability + 1e-9)

    @property
    def density(self) -> float:
        """The approximate share of cells that will be answered."""
        if self.median is not None:
            return min(1.0, self.median * float(np.exp(self.tail**2 / 2)) / self.items)
        if self.blocks is not None:
            return 2.0 / self.blocks
        return self.probability

    def draw(self, rng: np.random.Generator, first: int, users: int) -> BoolArray:
        """Return which items the users ``first … first + users - 1`` answer, ``(users, items)``.

        Numbers are taken from ``rng`` user by user, so parts give the same result as the whole.
        """
        if self.blocks is not None:
            block = np.arange(self.items) * self.blocks // self.items
            user = np.arange(first, first + users)[:, None] % self.blocks
            given: BoolArray = (block == user) | (block == (user + 1) % self.blocks)
            return given
        if self.missing == "pairs":
            answered: BoolArray = rng.random((users, self.items)) < self.probability
            return answered
        # One more number per user than there are items: the first sets the number of answers.
        draws = rng.random((users, self.items + 1))
        keys = draws[:, 1:]
        last = np.sort(keys, axis=1)[np.arange(users), self._numbers(draws[:, 0]) - 1]
        return keys <= last[:, None]

    def _numbers(self, levels: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        if self.median is None:
            return np.full(len(levels), self._share)
        from scipy.special import ndtri

        scale = self.tail * np.asarray(ndtri(np.clip(levels, 1e-16, 1.0)))
        numbers = np.rint(self.median * np.exp(np.minimum(scale, 50.0)))
        return np.clip(numbers, 1, self.items).astype(np.int64)
