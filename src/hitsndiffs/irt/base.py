"""What all response models share: probabilities, a key, and drawing answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError

__all__ = ["ResponseModel", "letters"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: Abilities and item parameters stay within this, so no product of two overflows.
HUGE = 1e100

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


class ResponseModel(ABC):
    """Items, and how likely a user of some ability is to choose each of their options.

    A model is a small frozen object that holds the item parameters. Option ``h`` of item ``i`` has
    the label ``option_labels[h]``; ``correct[i]`` is the number of the correct one.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def n_items(self) -> int:
        """Number of items."""

    @property
    @abstractmethod
    def n_options(self) -> int:
        """Number of options of every item."""

    @property
    @abstractmethod
    def option_labels(self) -> tuple[str, ...]:
        """The labels of the options, the same for every item."""

    @property
    @abstractmethod
    def quality(self) -> FloatArray:
        """How good each option is, ``(n_items, n_options)``; the best is the correct one."""

    @abstractmethod
    def probabilities(self, theta: npt.ArrayLike) -> FloatArray:
        """The chance of each option, ``(len(theta), n_items, n_options)``.

        Parameters
        ----------
        theta
            Abilities, one per user.
        """

    @property
    def correct(self) -> IntArray:
        """The number of the correct option of each item."""
        best: IntArray = np.argmax(self.quality, axis=1)
        return best

    @property
    def order(self) -> IntArray:
        """For each item, its option numbers from worst to best, ``(n_items, n_options)``."""
        return np.argsort(self.quality, axis=1, kind="stable")

    def sample(self, theta: npt.ArrayLike, rng: np.random.Generator) -> Codes:
        """Draw every user's answer to every item.

        Exactly one uniform number per answer is taken from ``rng``, user by user, so drawing in
        parts gives the same answers as drawing all at once.

        Returns
        -------
        codes
            ``(len(theta), n_items)``, the number of the chosen option.
        """
        chances = self.probabilities(theta)
        levels = rng.random(chances.shape[:2])
        codes = np.zeros(levels.shape, dtype=np.uint8 if self.n_options < 255 else np.uint16)
        bound = np.zeros_like(levels)
        for option in range(self.n_options - 1):
            bound += chances[:, :, option]
            codes += levels >= bound
        return codes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items × {self.n_options} options)"


def letters(count: int) -> tuple[str, ...]:
    """Option labels ``A … Z, AA, AB …``.

    Examples
    --------
    >>> letters(3), letters(28)[-2:]
    (('A', 'B', 'C'), ('AA', 'AB'))
    """
    labels = []
    for number in range(1, count + 1):
        label = ""
        while number:
            number, place = divmod(number - 1, 26)
            label = chr(ord("A") + place) + label
        labels.append(label)
    return tuple(labels)


def abilities_column(theta: npt.ArrayLike) -> FloatArray:
    """Abilities as a float vector, or an error that says what came instead."""
    values = np.asarray(theta, dtype=np.float64)
    bad = np.count_nonzero(~(np.abs(values) <= HUGE))
    if values.ndim > 1 or bad:
        raise InputError(
            f"abilities must be a vector of numbers within ±{HUGE:g}; "
            f"got an array of shape {values.shape} with {bad} that are not."
        )
    return np.atleast_1d(values)


def parameters(
    owner: object,
    ndim: int,
    *,
    least: float = -HUGE,
    most: float = HUGE,
    **given: Any,
) -> None:
    """Check item parameters and store them, read-only, on a frozen model.

    Parameters
    ----------
    owner
        The model.
    ndim
        1: one number per item; 2: one row per item.
    least, most
        The range that every number must lie in.
    given
        The parameters by name.
    """
    for name, value in given.items():
        array = np.array(value, dtype=np.float64, ndmin=ndim)
        where = f"{type(owner).__name__}: {name}"
        if array.ndim != ndim or array.size == 0:
            shape = "one number per item" if ndim == 1 else "one row per item"
            raise InputError(f"{where} must hold {shape}; got an array of shape {array.shape}.")
        good = (array >= least) & (array <= most)
        if not good.all():
            place = tuple(int(axis[0]) for axis in np.nonzero(~good))
            raise InputError(
                f"{where} must hold numbers from {least:g} to {most:g}; "
                f"got {array[place]} at place {place}."
            )
        array.flags.writeable = False
        object.__setattr__(owner, name, array)


def same_shape(owner: object, *names: str) -> None:
    """Require that some stored parameters have the same shape."""
    shapes = [getattr(owner, name).shape for name in names]
    if len(set(shapes)) > 1:
        said = ", ".join(f"{n} {s}" for n, s in zip(names, shapes, strict=True))
        raise InputError(f"{type(owner).__name__}: these must have one shape; got {said}.")
