"""The threaded engine: compiled passes over packed bytes or option numbers, on several threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Flags, Floats, Words
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Engine, Step, option_words, scaled
from hitsndiffs.engines.gram import few_sets, gram_matrix
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.memory import MemoryEngine
from hitsndiffs.engines.opening import open_engine, stored_answers
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.engines.packed import PackedLayout
    from hitsndiffs.engines.sparse import SparseLayout

__all__ = ["ThreadsEngine", "build_layout", "packable"]

IntVector = npt.NDArray[np.integer[Any]]

#: Responses held as rows are packed if that takes at most this many bytes per response.
PACK_UP_TO = 2.0
#: A part of the data stays on the threaded engine from this many responses on.
PARTS_FROM = 200_000
#: Columns of a block are processed together while their scratch memory (bytes) is within this.
SCRATCH = 128 * 2**20


def build_layout(
    responses: Responses, threads: int | None = None, layout: str = "auto"
) -> PackedLayout | SparseLayout:
    """Convert responses to the layout that the kernels read.

    Parameters
    ----------
    responses
        The data.
    threads
        Number of threads to build with (default: all cores). It does not change the layout.
    layout
        ``"packed"``, ``"sparse"``, or ``"auto"``: packed for dense data, and for sparse data if
        packing takes at most half the memory of the option numbers.
    """
    if layout not in ("auto", "packed", "sparse"):
        raise InputError(f"layout must be one of auto, packed, sparse; got {layout!r}.")
    if layout != "sparse":
        groups = packable(responses, always=layout == "packed")
        if groups is not None:
            from hitsndiffs.engines.packed import PackedLayout

            return PackedLayout(responses, groups, Run(threads or available_cores()))
        if layout == "packed":
            raise InputError(
                "the packed layout takes items with fewer than 65536 options; "
                f"got one with {int(np.diff(responses.item_starts).max())}. Use the sparse layout."
            )
    from hitsndiffs.engines.sparse import SparseLayout

    return SparseLayout(responses)


def packable(responses: Responses, *, always: bool = False) -> Groups | None:
    """Which items share a byte; ``None`` if packing is not possible or does not pay."""
    groups = Groups.of(responses.item_starts, _items_with_gaps(responses))
    small = groups.bytes_per_user * responses.n_users <= PACK_UP_TO * stored_answers(responses)
    return groups if groups.fit and (always or responses.is_dense or small) else None


def _items_with_gaps(responses: Responses) -> Flags:
    """For each item, whether somebody did not answer it."""
    if responses.is_dense:
        codes = responses.codes
        widths = np.diff(responses.item_starts)
        return np.asarray(codes.max(axis=1, initial=0) >= widths)
    return np.asarray(responses.answers_per_item < responses.n_users)


class ThreadsEngine(MemoryEngine):
    """The sums on threads; the number of threads does not change even the last bit.

    Parameters
    ----------
    responses, threads, asked
        As for :class:`MemoryEngine`.
    layout
        See :func:`build_layout`.
    scratch
        Columns of a block are processed together while their scratch memory (bytes) is within this.
    """

    name: ClassVar[str] = "threads"

    def __init__(
        self,
        responses: Responses,
        threads: int | None = None,
        *,
        asked: str = "threads",
        layout: str = "auto",
        scratch: int = SCRATCH,
    ) -> None:
        super().__init__(responses, threads, asked=asked)
        self.scratch = scratch
        self.layout = build_layout(responses, self.threads, layout)

    def opened(self, part: Responses) -> Engine:
        """Open other answers; smaller parts also gain from threads, as the kernels are loaded."""
        return open_engine(part, self._asked, self.threads, threads_from=PARTS_FROM)

    @cached_property
    def answers_per_user(self) -> Floats:
        """How many items each user answered, as real numbers."""
        if self.layout.is_complete:
            return np.full(self.n_users, float(self.n_items))
        return np.rint(self.choices(np.ones(self.n_options)))

    @cached_property
    def gram(self) -> Floats | None:
        """``Cᵀ C`` if everybody answered everything and there are few options."""
        countable = self.layout.is_complete and self._responses.is_dense
        if not (countable and few_sets(self.items)):
            return None
        return gram_matrix(self._responses.codes, self.items.starts, self._run)

    def choices(self, weights: Floats) -> Floats:
        """``C w``."""
        return self._by_columns(
            lambda block: self.layout.choices(block, self._run), weights, "weights", self.n_options
        )

    def choosers(self, scores: Floats) -> Floats:
        """``Cᵀ s``."""
        return self._by_columns(
            lambda block: self.layout.choosers(block, self._run), scores, "scores", self.n_users
        )

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, block by block in the cache; the linear step is compiled."""
        if step is scaled:
            scale = np.ascontiguousarray(arrays[0], dtype=np.float64)
            _check("scale", scale, self.n_users, dimensions=(1,))
            return self._by_columns(
                lambda block: self.layout.through_users(block, scale, self._run),
                weights,
                "weights",
                self.n_options,
            )
        _check("weights", weights, self.n_options, dimensions=(2,))
        return self.layout.through(weights, _on_parts(step, arrays), self._run)

    def mapped(self, weights: Floats, step: Step, *arrays: Any) -> Floats:
        """``step(C w, …)`` as a block of user arrays."""
        _check("weights", weights, self.n_options, dimensions=(2,))
        return self.layout.mapped(weights, _on_parts(step, arrays), self._run)

    def extremes(
        self, positions: IntVector, first_items: int | None = None
    ) -> tuple[IntVector, IntVector]:
        """First and last position of each option's choosers."""
        wanted = np.asarray(positions)
        _check("positions", wanted, self.n_users, dimensions=(1,))
        items = min(first_items or self.n_items, self.n_items)
        numbers = np.ascontiguousarray(wanted, dtype=np.int64)
        low, high = self.layout.extremes(numbers, self._run, items)
        options = self.items.starts[items]
        return low[:options].astype(wanted.dtype), high[:options].astype(wanted.dtype)

    def fingerprints(self, words: Words | None = None) -> Words:
        """A 64-bit number per answer sheet."""
        words = option_words(self.n_options) if words is None else words
        return self.layout.choices(words[:, None], self._run)[:, 0]

    def _by_columns(
        self, work: Callable[[Floats], Floats], vectors: Floats, name: str, length: int
    ) -> Floats:
        vectors = np.asarray(vectors, dtype=np.float64)
        _check(name, vectors, length, dimensions=(1, 2))
        block = vectors[:, None] if vectors.ndim == 1 else vectors
        at_once = max(1, self.scratch // max(1, self.layout.scratch_per_column))
        parts = [
            work(block[:, first : first + at_once])
            for first in range(0, max(1, block.shape[1]), at_once)
        ]
        sums: Floats = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return sums[:, 0] if vectors.ndim == 1 else sums


def _on_parts(step: Step, arrays: tuple[Any, ...]) -> Callable[[Floats, slice], Any]:
    """The step for a slice of the users, with their parts of the arrays."""
    return lambda sums, users: step(sums, *(array[users] for array in arrays))


def _check(name: str, array: Array, length: int, dimensions: tuple[int, ...]) -> None:
    if array.ndim not in dimensions or len(array) != length:
        kinds = " or ".join("a vector" if d == 1 else "a block of columns" for d in dimensions)
        raise ValueError(f"{name} must be {kinds} of length {length}; got shape {array.shape}.")
