"""Items with several options: GRM, Bock, Samejima, and their ideal limit C1P.

Appendix "Multinomial (Polytomous) Models" of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from hitsndiffs.errors import InputError
from hitsndiffs.irt.base import (
    FloatArray,
    ResponseModel,
    abilities_column,
    letters,
    parameters,
    same_shape,
)

__all__ = ["C1P", "GRM", "Bock", "Samejima"]


class Graded(ResponseModel):
    """Ordered options with ``k - 1`` thresholds between them; the top one is correct."""

    thresholds: FloatArray

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.thresholds)

    @property
    def n_options(self) -> int:
        """One more than there are thresholds."""
        return int(self.thresholds.shape[1]) + 1

    @property
    def option_labels(self) -> tuple[str, ...]:
        """Letters; ``A`` is the worst option and the last letter the correct one."""
        return letters(self.n_options)

    @property
    def quality(self) -> FloatArray:
        """The position of each option in the order."""
        return np.tile(np.arange(self.n_options, dtype=float), (self.n_items, 1))

    def _check_thresholds(self) -> None:
        parameters(self, 2, thresholds=self.thresholds)
        unsorted = np.flatnonzero((np.diff(self.thresholds, axis=1) < 0).any(axis=1))
        if len(unsorted):
            raise InputError(
                f"{type(self).__name__}: the thresholds of an item must not decrease; item "
                f"{unsorted[0]} has {self.thresholds[unsorted[0]].tolist()}. Sort each row."
            )


@dataclass(frozen=True, eq=False, repr=False)
class GRM(Graded):
    """Graded response model: ``P_h = σ(a(θ - b_h)) - σ(a(θ - b_{h+1}))``.

    Examples
    --------
    >>> model = GRM(discrimination=[8.0], thresholds=[[-0.2, 0.2]])
    >>> model.probabilities([0.0]).round(3).tolist()
    [[[0.168, 0.664, 0.168]]]
    """

    name: ClassVar[str] = "grm"
    discrimination: FloatArray
    thresholds: FloatArray

    def __post_init__(self) -> None:
        self._check_thresholds()
        parameters(self, 1, least=0.0, discrimination=self.discrimination)
        if len(self.discrimination) != len(self.thresholds):
            raise InputError(
                f"GRM: {len(self.discrimination)} discriminations for "
                f"{len(self.thresholds)} items; give one per item."
            )

    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """Differences between neighbouring chances of passing a threshold."""
        distance = abilities_column(theta)[:, None] - self.thresholds.T[:, None, :]
        passed = np.ones((self.n_options + 1, *distance.shape[1:]))
        passed[-1] = 0.0
        passed[1:-1] = expit(self.discrimination * distance)
        return np.moveaxis(np.maximum(passed[:-1] - passed[1:], 0.0), 0, 2)


@dataclass(frozen=True, eq=False, repr=False)
class C1P(Graded):
    """Consistent answers: a user's option is the number of thresholds below the ability.

    This is the GRM with ``a → ∞`` (Heaviside steps). Sorted by ability, the choosers of every
    option are consecutive.

    Examples
    --------
    >>> C1P([[0.3, 0.6]]).probabilities([0.5]).tolist()
    [[[0.0, 1.0, 0.0]]]
    """

    name: ClassVar[str] = "c1p"
    thresholds: FloatArray

    def __post_init__(self) -> None:
        self._check_thresholds()

    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """One for the option the user chooses, zero for the rest."""
        above = abilities_column(theta)[:, None] > self.thresholds.T[:, None, :]
        passed = above.sum(axis=0)
        chosen: FloatArray = (passed[:, :, None] == np.arange(self.n_options)).astype(float)
        return chosen


class Nominal(ResponseModel):
    """Options with a slope and an intercept each; the steepest one is correct."""

    slopes: FloatArray
    intercepts: FloatArray

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.slopes)

    @property
    def n_options(self) -> int:
        """Number of options of every item."""
        return int(self.slopes.shape[1])

    @property
    def option_labels(self) -> tuple[str, ...]:
        """Letters in no particular order of quality."""
        return letters(self.n_options)

    @property
    def quality(self) -> FloatArray:
        """The slopes: the steeper, the better."""
        return self.slopes

    @property
    def discrimination(self) -> FloatArray:
        """``a`` of the form ``a(θ - b)``: the slopes."""
        return self.slopes

    @property
    def difficulty(self) -> FloatArray:
        """``b`` of the form ``a(θ - b)``: ``-β / α`` (NaN where the slope is 0)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.slopes == 0.0, np.nan, -self.intercepts / self.slopes)


@dataclass(frozen=True, eq=False, repr=False)
class Bock(Nominal):
    """Bock's nominal model: ``P_h ∝ exp(α_h θ + β_h)``.

    Examples
    --------
    >>> Bock(slopes=[[0.0, 8.0, 16.0]], intercepts=[[0.0, 1.6, 0.0]]).probabilities(
    ...     [0.0]
    ... ).round(3).tolist()
    [[[0.144, 0.712, 0.144]]]
    >>> Bock.from_difficulty([[1.0, 2.0]], [[0.5, 0.25]]).intercepts.tolist()
    [[-0.5, -0.5]]
    """

    name: ClassVar[str] = "bock"
    slopes: FloatArray
    intercepts: FloatArray

    def __post_init__(self) -> None:
        parameters(self, 2, slopes=self.slopes, intercepts=self.intercepts)
        same_shape(self, "slopes", "intercepts")

    @classmethod
    def from_difficulty(cls, discrimination: npt.ArrayLike, difficulty: npt.ArrayLike) -> Bock:
        """From discriminations and difficulties: ``P_h ∝ exp(a_h (θ - b_h))``."""
        a = np.asarray(discrimination, dtype=np.float64)
        return cls(slopes=a, intercepts=-a * np.asarray(difficulty, dtype=np.float64))

    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """The softmax of the options' logits."""
        return softmax(theta, self.slopes, self.intercepts)


@dataclass(frozen=True, eq=False, repr=False)
class Samejima(Nominal):
    """Bock's model with a hidden "don't know" option whose choosers guess evenly.

    ``P_h ∝ exp(α_h θ + β_h) + exp(α_0 θ + β_0) / k``. With ``β_0 → -∞`` (``-inf`` is allowed) it
    is Bock's model.

    Examples
    --------
    >>> model = Samejima.from_difficulty([[2.0, 4.0]], [[0.0, 0.0]])
    >>> model.unsure_slope.tolist(), model.probabilities([-9.0]).round(3).tolist()
    ([-6.0], [[[0.5, 0.5]]])
    """

    name: ClassVar[str] = "samejima"
    slopes: FloatArray
    intercepts: FloatArray
    unsure_slope: FloatArray
    unsure_intercept: FloatArray

    def __post_init__(self) -> None:
        parameters(self, 2, slopes=self.slopes, intercepts=self.intercepts)
        same_shape(self, "slopes", "intercepts")
        parameters(self, 1, unsure_slope=self.unsure_slope)
        parameters(self, 1, least=-np.inf, unsure_intercept=self.unsure_intercept)
        same_shape(self, "unsure_slope", "unsure_intercept")
        if len(self.unsure_slope) != len(self.slopes):
            raise InputError(
                f"Samejima: {len(self.unsure_slope)} slopes of the unsure option for "
                f"{len(self.slopes)} items; give one per item."
            )

    @classmethod
    def from_difficulty(cls, discrimination: npt.ArrayLike, difficulty: npt.ArrayLike) -> Samejima:
        """As in the paper's data: all logits of an item sum to zero.

        The slope and the intercept of "don't know" are minus the sums of the others'.
        """
        known = Bock.from_difficulty(discrimination, difficulty)
        return cls(
            slopes=known.slopes,
            intercepts=known.intercepts,
            unsure_slope=-known.slopes.sum(axis=1),
            unsure_intercept=-known.intercepts.sum(axis=1),
        )

    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """The softmax with the hidden option, whose share goes to all options evenly."""
        chances = softmax(
            theta,
            np.column_stack([self.slopes, self.unsure_slope]),
            np.column_stack([self.intercepts, self.unsure_intercept]),
        )
        return chances[:, :, :-1] + chances[:, :, -1:] / self.n_options


def softmax(theta: npt.ArrayLike, slopes: FloatArray, intercepts: FloatArray) -> FloatArray:
    """``exp(α_h θ + β_h)`` over its sum within the item; safe for any slope a model may have."""
    # Options come first in memory: sums over a long last axis are far faster than over a short one.
    logits = abilities_column(theta)[:, None] * slopes.T[:, None, :]
    logits += intercepts.T[:, None, :]
    logits -= logits.max(axis=0)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=0)
    return np.moveaxis(logits, 0, 2)
