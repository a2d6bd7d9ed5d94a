"""Right-or-wrong items: 1PL, 2PL, 3PL and GLAD (appendix "Binary models" of the paper)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from hitsndiffs.irt.base import (
    FloatArray,
    ResponseModel,
    abilities_column,
    parameters,
    same_shape,
)

__all__ = ["Glad", "OnePL", "ThreePL", "TwoPL"]


class Binary(ResponseModel):
    """Items that are answered right or wrong: option 0 is ``wrong``, option 1 is ``right``."""

    @property
    @abstractmethod
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """``a`` and ``b`` of each item."""

    def right(self, theta: npt.ArrayLike) -> FloatArray:
        """The chance of a right answer, ``σ(a(θ - b))``: ``(len(theta), n_items)``."""
        a, b = self.curves
        chance: FloatArray = expit(a * (abilities_column(theta)[:, None] - b))
        return chance

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.curves[0])

    @property
    def n_options(self) -> int:
        """Two: wrong and right."""
        return 2

    @property
    def option_labels(self) -> tuple[str, ...]:
        """``("wrong", "right")``."""
        return ("wrong", "right")

    @property
    def quality(self) -> FloatArray:
        """Right is better than wrong."""
        return np.tile([0.0, 1.0], (self.n_items, 1))

    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """The chance of wrong and right, ``(len(theta), n_items, 2)``."""
        right = self.right(theta)
        return np.stack([1.0 - right, right], axis=2)


@dataclass(frozen=True, eq=False, repr=False)
class OnePL(Binary):
    """1PL (Rasch): ``σ(θ - b)``.

    Examples
    --------
    >>> OnePL([0.0, 1.0]).right([0.0]).round(3).tolist()
    [[0.5, 0.269]]
    """

    name: ClassVar[str] = "1pl"
    difficulty: FloatArray

    def __post_init__(self) -> None:
        parameters(self, 1, difficulty=self.difficulty)

    @property
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """1 and ``b``."""
        return np.ones_like(self.difficulty), self.difficulty


@dataclass(frozen=True, eq=False, repr=False)
class TwoPL(Binary):
    """2PL: ``σ(a(θ - b))``; with all ``a = 1`` it is the 1PL.

    Examples
    --------
    >>> TwoPL(discrimination=[2.0], difficulty=[0.5]).right([0.5, 1.0]).round(3).tolist()
    [[0.5], [0.731]]
    """

    name: ClassVar[str] = "2pl"
    discrimination: FloatArray
    difficulty: FloatArray

    def __post_init__(self) -> None:
        parameters(self, 1, discrimination=self.discrimination, difficulty=self.difficulty)
        same_shape(self, "discrimination", "difficulty")

    @property
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """``a`` and ``b``."""
        return self.discrimination, self.difficulty


@dataclass(frozen=True, eq=False, repr=False)
class ThreePL(TwoPL):
    """3PL: ``c + (1 - c) σ(a(θ - b))``; with all ``c = 0`` it is the 2PL.

    Examples
    --------
    >>> ThreePL(discrimination=[2.0], difficulty=[0.0], guessing=[0.25]).right([0.0]).tolist()
    [[0.625]]
    """

    name: ClassVar[str] = "3pl"
    guessing: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters(self, 1, least=0.0, most=1.0, guessing=self.guessing)
        same_shape(self, "discrimination", "difficulty", "guessing")

    def right(self, theta: npt.ArrayLike) -> FloatArray:
        """``c + (1 - c) σ(a(θ - b))``."""
        return self.guessing + (1.0 - self.guessing) * super().right(theta)


@dataclass(frozen=True, eq=False, repr=False)
class Glad(Binary):
    """GLAD: ``σ(aθ)``, the 2PL with all difficulties 0.

    Examples
    --------
    >>> Glad([3.0]).right([0.0, 1.0]).round(3).tolist()
    [[0.5], [0.953]]
    """

    name: ClassVar[str] = "glad"
    discrimination: FloatArray

    def __post_init__(self) -> None:
        parameters(self, 1, discrimination=self.discrimination)

    @property
    def curves(self) -> tuple[FloatArray, FloatArray]:
        """``a`` and 0."""
        return self.discrimination, np.zeros_like(self.discrimination)
