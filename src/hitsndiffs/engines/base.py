"""The protocol of an engine, and the choice between engines."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.pool import available_cores
from hitsndiffs.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["ENGINES", "THREADS_FROM", "Sums", "open_sums"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.integer[Any]]

ENGINES = ("auto", "numpy", "threads")

#: From this many responses on, the threaded engine is clearly faster; compiling its kernels, which
#: happens once, takes some seconds.
THREADS_FROM = 2_000_000

logger = logging.getLogger("hitsndiffs")


class Sums(Protocol):
    """What a method may ask of the data; a vector or a block of vectors (one per column)."""

    n_users: int
    n_options: int
    #: How many threads a method may use for what it does with the sums.
    threads: int

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
        ``"numpy"`` (SciPy's sparse products), ``"threads"`` (packed bytes, Numba) or ``"auto"``:
        threads from :data:`THREADS_FROM` responses on, when Numba can be imported.
    threads
        Number of threads for the threaded engine; all cores when not given. The results are the
        same for any number.

    Examples
    --------
    >>> import numpy as np
    >>> from hitsndiffs.data.responses import Responses
    >>> codes = np.array([[0, 0, 1], [0, 1, 255]], dtype=np.uint8)
    >>> responses = Responses(
    ...     users=np.arange(3), items=np.arange(2), option_labels=np.array(list("ABBC")),
    ...     item_starts=np.array([0, 2, 4]), codes=codes,
    ... )
    >>> open_sums(responses).choices(np.array([1.0, 10.0, 100.0, 1000.0])).tolist()
    [101.0, 1001.0, 10.0]
    """
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    if threads is not None and threads < 1:
        raise InputError(f"threads must be at least 1; got {threads}.")
    if engine == "threads" or (engine == "auto" and _is_large(responses)):
        try:
            return _thread_sums(responses, threads)
        except ImportError as error:
            if engine == "threads":
                raise MissingExtraError(
                    f'engine="threads" needs Numba, which cannot be imported ({error}). '
                    'Install it, or use engine="numpy".'
                ) from error
            logger.info("Numba cannot be imported (%s): using the slower engine.", error)
    from hitsndiffs.engines.numpy import NumpySums

    made: NumpySums = responses._cached("sums/numpy", lambda: NumpySums(responses))
    return made.on(threads or available_cores())


def _thread_sums(responses: Responses, threads: int | None) -> Sums:
    from hitsndiffs.engines.threads import ThreadSums, build_layout

    layout = responses._cached("sums/threads", lambda: build_layout(responses, threads))
    sums = ThreadSums(layout, threads)
    # Counts are sums of ones, and far quicker this way than from the codes.
    if layout.is_complete:
        everything = responses.n_items
        responses._cached("answers_per_user", lambda: np.full(sums.n_users, everything))
    responses._cached("answers_per_user", lambda: _counts(sums.choices(np.ones(sums.n_options))))
    responses._cached("choosers_per_option", lambda: _counts(sums.choosers(np.ones(sums.n_users))))
    return sums


def _counts(sums: Vector) -> npt.NDArray[np.int64]:
    return np.rint(sums).astype(np.int64)


def _is_large(responses: Responses) -> bool:
    dense = responses.is_dense
    size = responses.n_users * responses.n_items if dense else len(responses.rows[1])
    if size < THREADS_FROM:
        return False
    from hitsndiffs.data.jit import is_switched_off

    return not is_switched_off()
