"""The threaded engine: compiled passes over packed bytes or option numbers, on several threads.

Importing this module does not import Numba; :func:`build_layout` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Layout", "ThreadSums", "build_layout"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
IntVector = npt.NDArray[np.integer[Any]]

#: Responses held as rows are packed when that costs at most this many bytes per response.
PACK_UP_TO = 2.0
#: Columns of a block are worked on together while their scratch memory is within this.
SCRATCH = 128 * 2**20


class Layout(Protocol):
    """What the engine asks of a layout; vectors are blocks here, one column or more."""

    n_users: int
    n_options: int

    @property
    def nbytes(self) -> int:
        """Memory for the responses, in bytes."""

    @property
    def is_complete(self) -> bool:
        """Whether everybody is known to have answered every item."""

    @property
    def scratch_per_column(self) -> int:
        """Memory that one column needs while it is worked on."""

    def choices(self, weights: Floats, run: Run) -> Floats:
        """``C w``."""

    def choosers(self, scores: Floats, run: Run) -> Floats:
        """``Cᵀ s``."""

    def through_users(self, weights: Floats, scale: Floats, run: Run) -> Floats:
        """``Cᵀ (scale * (C w))``."""

    def extremes(self, positions: Ints, run: Run) -> tuple[Ints, Ints]:
        """Smallest and largest position of each option's choosers."""


def build_layout(responses: Responses, threads: int | None = None, layout: str = "auto") -> Layout:
    """Bring responses into the layout in which the kernels read them.

    Parameters
    ----------
    responses
        The data.
    threads
        Number of threads that build; all cores when not given. The layout is the same for any.
    layout
        ``"packed"``, ``"sparse"``, or ``"auto"``: packed for dense data, and for others when
        packing does not take more memory than half of the option numbers.
    """
    if layout not in ("auto", "packed", "sparse"):
        raise InputError(f"layout must be one of auto, packed, sparse; got {layout!r}.")
    from hitsndiffs.data import jit

    if layout != "sparse":
        groups = Groups.of(responses.item_starts, _items_with_gaps(responses))
        small = groups.bytes_per_user * responses.n_users <= PACK_UP_TO * _size(responses)
        if groups.fit and (layout == "packed" or responses.is_dense or small):
            from hitsndiffs.engines.packed import PackedLayout

            jit.load("hitsndiffs.engines.packed_kernels")
            return PackedLayout(responses, groups, Run(threads or available_cores()))
        if layout == "packed":
            raise InputError(
                "the packed layout takes items with fewer than 65536 options; "
                f"got one with {int(np.diff(responses.item_starts).max())}. Use the sparse layout."
            )
    from hitsndiffs.engines.sparse import SparseLayout

    jit.load("hitsndiffs.engines.sparse_kernels")
    return SparseLayout(responses)


def _size(responses: Responses) -> int:
    """Number of cells of a dense table, or of responses held as rows."""
    if responses.is_dense:
        return responses.n_users * responses.n_items
    return len(responses.rows[1])


def _items_with_gaps(responses: Responses) -> npt.NDArray[np.bool_]:
    """For each item, whether somebody did not answer it."""
    if responses.is_dense:
        codes = responses.codes
        widths = np.diff(responses.item_starts)
        return np.asarray(codes.max(axis=1, initial=0) >= widths)
    return np.asarray(responses.answers_per_item < responses.n_users)


class ThreadSums:
    """The two sums on threads (see :class:`hitsndiffs.engines.Sums`).

    The results do not depend on the number of threads, not even in the last bit.

    Parameters
    ----------
    layout
        From :func:`build_layout`.
    threads
        Number of threads; all cores when not given.
    """

    def __init__(self, layout: Layout, threads: int | None = None) -> None:
        self.n_users, self.n_options = layout.n_users, layout.n_options
        self.layout = layout
        self.threads = threads or available_cores()
        self._run = Run(self.threads)

    def choices(self, weights: Floats) -> Floats:
        """``C w`` (see :meth:`hitsndiffs.engines.Sums.choices`)."""
        return self._by_columns(
            lambda block: self.layout.choices(block, self._run), weights, "weights", self.n_options
        )

    def choosers(self, scores: Floats) -> Floats:
        """``Cᵀ s`` (see :meth:`hitsndiffs.engines.Sums.choosers`)."""
        return self._by_columns(
            lambda block: self.layout.choosers(block, self._run), scores, "scores", self.n_users
        )

    def through_users(self, weights: Floats, scale: Floats) -> Floats:
        """``Cᵀ (scale * (C w))`` in one pass."""
        scale = np.ascontiguousarray(scale, dtype=np.float64)
        _check("scale", scale, self.n_users, dimensions=(1,))
        return self._by_columns(
            lambda block: self.layout.through_users(block, scale, self._run),
            weights,
            "weights",
            self.n_options,
        )

    def extremes(self, positions: IntVector) -> tuple[IntVector, IntVector]:
        """First and last position of each option's choosers."""
        wanted = np.asarray(positions)
        _check("positions", wanted, self.n_users, dimensions=(1,))
        low, high = self.layout.extremes(np.ascontiguousarray(wanted, dtype=np.int64), self._run)
        return low.astype(wanted.dtype), high.astype(wanted.dtype)

    def _by_columns(self, work: Any, vectors: Floats, name: str, length: int) -> Floats:
        vectors = np.asarray(vectors, dtype=np.float64)
        _check(name, vectors, length, dimensions=(1, 2))
        block = vectors[:, None] if vectors.ndim == 1 else vectors
        at_once = max(1, SCRATCH // max(1, self.layout.scratch_per_column))
        parts = [
            work(block[:, first : first + at_once])
            for first in range(0, max(1, block.shape[1]), at_once)
        ]
        sums: Floats = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return sums[:, 0] if vectors.ndim == 1 else sums


def _check(name: str, array: npt.NDArray[Any], length: int, dimensions: tuple[int, ...]) -> None:
    if array.ndim not in dimensions or len(array) != length:
        kinds = " or ".join("a vector" if d == 1 else "a block of columns" for d in dimensions)
        raise ValueError(f"{name} must be {kinds} of length {length}; got shape {array.shape}.")
