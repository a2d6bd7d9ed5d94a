"""The protocol of an engine, and the choice between engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.responses import Responses

__all__ = ["ENGINES", "Sums", "open_sums"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.integer[Any]]

ENGINES = ("auto", "numpy", "threads")


class Sums(Protocol):
    """What a method may ask of the data; a vector or a block of vectors (one per column)."""

    n_users: int
    n_options: int

    def choices(self, weights: Vector) -> Vector:
        """``C w``: for each user, the sum over the options the user chose."""

    def choosers(self, scores: Vector) -> Vector:
        """``Cᵀ s``: for each option, the sum over the users who chose it."""

    def through_users(self, weights: Vector, scale: Vector) -> Vector:
        """``Cᵀ (scale * (C w))``: from options to options, one pass over the data."""

    def extremes(self, positions: IntVector) -> tuple[IntVector, IntVector]:
        """For each option, the smallest and the largest position among its choosers."""


def open_sums(responses: Responses, engine: str = "auto", threads: int | None = None) -> Sums:
    """Return the sums of some responses (kept with them, so the layout is built once).

    Parameters
    ----------
    responses
        The data.
    engine
        ``"numpy"`` (SciPy's sparse products), ``"threads"`` (packed bytes, Numba) or ``"auto"``.
    threads
        Number of threads for the threaded engine; all cores when not given.
    """
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    if engine == "auto":
        engine = "numpy"
    from hitsndiffs.sums.numpy import NumpySums

    made: Sums = responses._cached(f"sums/{engine}", lambda: NumpySums(responses))
    return made
