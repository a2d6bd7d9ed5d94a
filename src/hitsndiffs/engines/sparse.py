"""The sparse layout: each user's option numbers, one after another, without values.

These are the rows of the responses themselves, so nothing is copied. One pass over 4 bytes per
response serves both sums; on the way from options to options, each chunk of users has its own
table of the options' weights and sums, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.engines import sparse_kernels as kernels
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.pool import Run
    from hitsndiffs.data.responses import Responses

__all__ = ["SparseLayout"]


#: Minimum and maximum number of chunks of users, each with its own sums. In between, their tables
#: take an eighth of the option numbers' memory. The number of threads plays no part.
CHUNKS = 2, 64
#: Users processed at a time if there are many columns.
PART = 4096


class SparseLayout:
    """Option numbers of some responses, and the passes over them.

    Parameters
    ----------
    responses
        The data; their rows are used without copying.
    """

    def __init__(self, responses: Responses) -> None:
        indptr, options = responses.rows
        self.n_users, self.n_options = responses.n_users, responses.n_options
        self._indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        self._options = np.ascontiguousarray(options, dtype=np.int32)
        if len(options) and not (options.min() >= 0 and options.max() < self.n_options):
            raise InputError(
                f"rows must hold option numbers from 0 to {self.n_options - 1}; "
                f"got {options.min()} to {options.max()}."
            )
        wanted = int(np.clip(len(options) // (32 * max(self.n_options, 1)), *CHUNKS))
        shares = np.linspace(0, len(options), wanted + 1).astype(np.int64)
        inner = np.searchsorted(self._indptr, shares[1:-1])
        self._bounds = [0, *inner.tolist(), self.n_users]
        self._tables: list[Floats] = []  # reused from round to round: new memory costs time

    @property
    def nbytes(self) -> int:
        """Memory for the responses, in bytes."""
        return self._indptr.nbytes + self._options.nbytes

    @property
    def is_complete(self) -> bool:
        """Whether everybody is known to have answered every item; not checked here."""
        return False

    @property
    def scratch_per_column(self) -> int:
        """Scratch memory for one column of a block of vectors."""
        return 16 * self._n_chunks * self.n_options

    def choices(self, weights: Array, run: Run) -> Array:
        """``C w`` for each column of ``weights``, which are floats or 64-bit words.

        Each column of the result is contiguous.
        """
        given = np.ascontiguousarray(weights.T)
        scores = np.empty((len(given), self.n_users), dtype=given.dtype)

        def work(piece: int) -> None:
            column, users, indptr = self._piece(piece)
            kernels.choices(indptr, self._options, given[column], scores[column, users])

        run(self._n_chunks * len(given), work)
        return scores.T

    def choosers(self, scores: Floats, run: Run) -> Floats:
        """``Cᵀ s`` for each column of ``scores``."""
        partials = np.zeros((scores.shape[1] * self._n_chunks, self.n_options, 1))

        def work(piece: int) -> None:
            column, users, indptr = self._piece(piece)
            given = np.ascontiguousarray(scores[users, column])
            kernels.choosers(indptr, self._options, given, partials[piece, :, 0])

        run(len(partials), work)
        return self._collect(partials, run)

    def through_users(self, weights: Floats, scale: Floats, run: Run) -> Floats:
        """``Cᵀ (scale * (C w))`` for each column of ``weights``."""
        given = np.ascontiguousarray(weights.T)
        shape = (len(given) * self._n_chunks, self.n_options, 2)
        tables = self._tables.pop() if self._tables else np.empty(shape)
        if tables.shape != shape:
            tables = np.empty(shape)

        def work(piece: int) -> None:
            column, users, indptr = self._piece(piece)
            kernels.through(indptr, self._options, given[column], scale[users], tables[piece])

        run(len(tables), work)
        sums = self._collect(tables, run)
        if len(given) == 1:
            self._tables.append(tables)
        return sums

    def through(self, weights: Floats, step: Callable[[Floats, slice], Any], run: Run) -> Any:
        """``Cᵀ step(C w)``, chunk by chunk."""
        given = np.ascontiguousarray(weights)
        made: list[Any] = [None] * self._n_chunks

        def work(chunk: int) -> None:
            partial, side = None, None
            for users in self._parts(chunk):
                stepped = step(self._sums_of(users, given), users)
                values, beside = stepped if isinstance(stepped, tuple) else (stepped, None)
                if partial is None:
                    partial = np.zeros((self.n_options, values.shape[1]))
                rows = self._indptr[users.start : users.stop + 1]
                kernels.add_up_columns(rows, self._options, np.ascontiguousarray(values), partial)
                side = beside if side is None else side + beside
            made[chunk] = partial, side

        run(self._n_chunks, work)
        filled = [(partial, side) for partial, side in made if partial is not None]
        sums, total = filled[0]
        for partial, side in filled[1:]:
            sums += partial
            total = None if total is None else total + side
        return sums if total is None else (sums, total)

    def mapped(self, weights: Floats, step: Callable[[Floats, slice], Floats], run: Run) -> Floats:
        """``step(C w)``."""
        given = np.ascontiguousarray(weights)
        made: list[list[Floats]] = [[] for _ in range(self._n_chunks)]

        def work(chunk: int) -> None:
            for users in self._parts(chunk):
                made[chunk].append(step(self._sums_of(users, given), users))

        run(self._n_chunks, work)
        return np.concatenate([values for chunk in made for values in chunk])

    def _parts(self, chunk: int) -> Iterator[slice]:
        """Yield the users of a chunk, some at a time; a chunk may be empty."""
        first, last = self._bounds[chunk], self._bounds[chunk + 1]
        for start in range(first, last, PART):
            yield slice(start, min(start + PART, last))

    def _sums_of(self, users: slice, weights: Floats) -> Floats:
        sums = np.zeros((users.stop - users.start, weights.shape[1]))
        rows = self._indptr[users.start : users.stop + 1]
        kernels.look_up_columns(rows, self._options, weights, sums)
        return sums

    def extremes(self, positions: Ints, run: Run, first_items: int) -> tuple[Ints, Ints]:  # noqa: ARG002
        """Smallest and largest position of each option's choosers, for all options."""
        shape = (self._n_chunks, self.n_options)
        lows = np.full(shape, np.iinfo(np.int64).max)
        highs = np.full(shape, np.iinfo(np.int64).min)

        def work(piece: int) -> None:
            _, users, indptr = self._piece(piece)
            kernels.extremes(indptr, self._options, positions[users], lows[piece], highs[piece])

        run(self._n_chunks, work)
        return lows.min(axis=0), highs.max(axis=0)

    # -- parts of a pass --------------------------------------------------------------------

    @property
    def _n_chunks(self) -> int:
        return len(self._bounds) - 1

    def _piece(self, piece: int) -> tuple[int, slice, Ints]:
        """Column, users and their part of ``indptr``: one piece per chunk and column."""
        column, chunk = divmod(piece, self._n_chunks)
        first, last = self._bounds[chunk], self._bounds[chunk + 1]
        return column, slice(first, last), self._indptr[first : last + 1]

    def _collect(self, partials: Floats, run: Run) -> Floats:
        """Add up the chunks' sums, in order."""
        columns = len(partials) // self._n_chunks
        by_column = partials.reshape(columns, self._n_chunks, *partials.shape[1:])
        sums = np.empty((columns, self.n_options))
        run.split(
            self.n_options,
            lambda first, last: kernels.add_in_order(by_column, first, last, sums),
            least=16384,
        )
        return sums.T
