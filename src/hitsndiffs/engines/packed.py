"""The packed layout: several neighbouring items in one byte.

Items form a *group* while the product of their numbers of codes is at most 256 (an item has one
code per option, and one more for "no answer" only if somebody did not answer it). One byte per user
and group then holds the answers to all its items. A round of sums needs one table of 256 summed
weights per group on the way to the users, and one histogram of 256 sums per group on the way back.
An item with more than 256 codes forms its own *wide* group: a 16-bit number per user, and a table
with one entry per code.

Bytes are stored in blocks of users, and within a block four groups at a time. The inner loops then
run along users with four tables of 2 KiB in the cache, and one memory access fetches four codes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.engines import packed_kernels as kernels

if TYPE_CHECKING:
    from hitsndiffs.data.pool import Run
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.engines.grouping import Groups

__all__ = ["PackedLayout"]


#: Maximum and minimum number of users in a block. The scores of a block (at most 32 KiB) and four
#: tables stay in the nearest caches; a few thousand users still give blocks for several threads.
BLOCK, SMALLEST_BLOCK = 4096, 256
#: Users processed at a time if there are many columns.
PART = 1024
#: Maximum number of chunks of users with their own histograms, and the minimum number of users in
#: one. Neither depends on the number of threads, so the sums are bit for bit the same for any.
CHUNKS, SMALLEST_CHUNK = 64, 4096


class PackedLayout:
    """Packed bytes of some responses, and the passes over them.

    Parameters
    ----------
    responses
        The data; their codes or rows are not kept.
    groups
        Which items share a byte.
    run
        The threads to pack with.
    """

    def __init__(self, responses: Responses, groups: Groups, run: Run) -> None:
        self.n_users, self.n_options = responses.n_users, responses.n_options
        self.groups = groups
        self._block = SMALLEST_BLOCK
        while self._block < min(BLOCK, self.n_users // 16):
            self._block *= 2
        self._bounds = _chunk_bounds(self.n_users, self._block)
        self._wide_starts = groups.table_starts[groups.n_narrow :]
        n_quads, n_singles = divmod(groups.n_narrow, 4)
        self._packed = (
            np.empty(self.n_users * n_quads, dtype=np.uint32),
            np.empty(self.n_users * n_singles, dtype=np.uint8),
            np.empty(self.n_users * (groups.n_groups - groups.n_narrow), dtype=np.uint16),
        )
        if responses.is_dense:
            self._pack_codes(responses.codes, run)
        else:
            self._pack_rows(*responses.rows, run)

    @property
    def nbytes(self) -> int:
        """Memory for the responses, in bytes."""
        return sum(part.nbytes for part in self._packed)

    @property
    def is_complete(self) -> bool:
        """Whether everybody answered every item."""
        return bool((self.groups.n_codes == np.diff(self.groups.item_starts)).all())

    @property
    def scratch_per_column(self) -> int:
        """Scratch memory for one column of a block of vectors."""
        return 8 * self._n_chunks * self.groups.table_length

    def choices(self, weights: Array, run: Run) -> Array:
        """``C w`` for each column of ``weights``, which are floats or 64-bit words.

        Each column of the result is contiguous.
        """
        tables = self._tables(weights, run)
        scores = np.empty((weights.shape[1], self.n_users), dtype=weights.dtype)
        run.split(
            self._n_chunks,
            lambda first, last: kernels.choices(*self._users(first, last), tables, scores),
            least=1,
        )
        return scores.T

    def choosers(self, scores: Floats, run: Run) -> Floats:
        """``Cᵀ s`` for each column of ``scores``."""
        partials = self._partials(scores.shape[1])
        whole = scores.T.flags.c_contiguous

        def work(first: int, last: int) -> None:
            users = slice(*self._bounds[[first, last]])
            columns = scores.T if whole else np.ascontiguousarray(scores[users].T)
            offset = 0 if whole else users.start
            kernels.choosers(*self._chunks(first, last), columns, offset, partials)

        run.split(self._n_chunks, work, least=1)
        return self._collect(partials, run)

    def through_users(self, weights: Floats, scale: Floats, run: Run) -> Floats:
        """``Cᵀ (scale * (C w))`` for each column of ``weights``."""
        tables = self._tables(weights, run)
        partials = self._partials(weights.shape[1])

        def work(first: int, last: int) -> None:
            buffer = np.empty(self._block)
            kernels.through(*self._chunks(first, last), tables, scale, buffer, partials)

        run.split(self._n_chunks, work, least=1)
        return self._collect(partials, run)

    def through(self, weights: Floats, step: Callable[[Floats, slice], Any], run: Run) -> Any:
        """``Cᵀ step(C w)``: a block's sums stay in the cache between the two passes."""
        table = self._tables(weights, run).T.ravel()
        made: list[Any] = [None] * self._n_chunks

        def work(chunk: int) -> None:
            partial, side = None, None
            for part in self._parts(chunk):
                stepped = step(self._sums_of(part, weights.shape[1], table), slice(*part[2:]))
                values, beside = stepped if isinstance(stepped, tuple) else (stepped, None)
                if partial is None:
                    partial = np.zeros(self.groups.table_length * values.shape[1])
                flat = np.ascontiguousarray(values).ravel()
                kernels.add_up_columns(
                    *self._packed, self._wide_starts, *part, values.shape[1], flat, partial
                )
                side = beside if side is None else side + beside
            made[chunk] = partial, side

        run(self._n_chunks, work)
        total = made[0][0]
        for partial, _ in made[1:]:
            total += partial
        columns = total.reshape(self.groups.table_length, -1).T
        sums = self._collect(np.ascontiguousarray(columns)[None], run)
        if made[0][1] is None:
            return sums
        return sums, np.sum([side for _, side in made], axis=0)

    def mapped(self, weights: Floats, step: Callable[[Floats, slice], Floats], run: Run) -> Floats:
        """``step(C w)``."""
        table = self._tables(weights, run).T.ravel()
        made: list[Floats] = []
        lock = threading.Lock()

        def work(chunk: int) -> None:
            for part in self._parts(chunk):
                values = step(self._sums_of(part, weights.shape[1], table), slice(*part[2:]))
                with lock:
                    if not made:
                        made.append(np.empty((values.shape[1], self.n_users)))
                made[0][:, part[2] : part[3]] = values.T

        run(self._n_chunks, work)
        return made[0].T

    def _parts(self, chunk: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the start and width of a chunk's blocks, and the bounds of some users in each."""
        end = int(self._bounds[chunk + 1])
        for start in range(int(self._bounds[chunk]), end, self._block):
            width = min(self._block, end - start)
            for first in range(start, start + width, PART):
                yield start, width, first, min(first + PART, start + width)

    def _sums_of(self, part: tuple[int, int, int, int], columns: int, table: Floats) -> Floats:
        sums = np.empty((part[3] - part[2], columns))
        kernels.look_up_columns(
            *self._packed, self._wide_starts, *part, columns, table, sums.reshape(-1)
        )
        return sums

    def extremes(self, positions: Ints, run: Run, first_items: int) -> tuple[Ints, Ints]:
        """Smallest and largest position of each option's choosers, at least for the first items."""
        looked = self.groups.narrow_up_to(first_items)
        shape = (self._n_chunks, self.groups.table_length)
        lows = np.full(shape, np.iinfo(np.int64).max)
        highs = np.full(shape, np.iinfo(np.int64).min)
        run(
            self._n_chunks,
            lambda c: kernels.extremes(
                *self._users(c, c + 1), positions, looked, lows[c], highs[c]
            ),
        )
        low, high = np.empty((2, self.n_options), dtype=np.int64)
        kernels.spread_extremes(lows.min(axis=0), highs.max(axis=0), *self.groups.arrays, low, high)
        return low, high

    # -- building ---------------------------------------------------------------------------

    def _pack_codes(self, codes: Array, run: Run) -> None:
        groups, whole = self.groups, codes.flags.c_contiguous

        def work(chunk: int) -> None:
            first, last = self._bounds[chunk : chunk + 2].tolist()
            part = codes if whole else np.ascontiguousarray(codes[:, first:last])
            kernels.pack_codes(
                part, 0 if whole else first, self._block, first, last,
                groups.members, groups.starts, groups.n_codes, groups.n_narrow,
                np.empty(self._block, dtype=np.int64), *self._packed,
            )  # fmt: skip

        run(self._n_chunks, work)

    def _pack_rows(self, indptr: Ints, options: npt.NDArray[np.int32], run: Run) -> None:
        indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        options = np.ascontiguousarray(options, dtype=np.int32)
        steps = self.groups.steps()

        def work(chunk: int) -> None:
            kernels.pack_rows(
                indptr, options, self._block, *self._bounds[chunk : chunk + 2].tolist(), *steps,
                self.groups.n_narrow, *self._packed,
            )  # fmt: skip

        run(self._n_chunks, work)

    # -- parts of a pass --------------------------------------------------------------------

    @property
    def _n_chunks(self) -> int:
        return len(self._bounds) - 1

    def _users(self, first: int, last: int) -> tuple[Any, ...]:
        """The answers of some chunks' users, for kernels that treat them as one range."""
        return *self._packed, self._wide_starts, self._block, *self._bounds[[first, last]].tolist()

    def _chunks(self, first: int, last: int) -> tuple[Any, ...]:
        """The same for kernels that keep the chunks apart."""
        return *self._packed, self._wide_starts, self._block, self._bounds, first, last

    def _tables(self, weights: Array, run: Run) -> Array:
        """The summed weights of every code of every group, for each column of ``weights``."""
        weights = np.ascontiguousarray(weights)
        tables = np.empty((weights.shape[1], self.groups.table_length), dtype=weights.dtype)
        groups = self.groups.arrays
        run.split(
            self.groups.n_groups,
            lambda first, last: kernels.fill_tables(weights, *groups, first, last, tables),
        )
        return tables

    def _partials(self, columns: int) -> Floats:
        return np.zeros((self._n_chunks, columns, self.groups.table_length))

    def _collect(self, partials: Floats, run: Run) -> Floats:
        """Turn the chunks' histograms into sums of options, column by column."""
        sums = np.empty((self.n_options, partials.shape[1]))
        groups = self.groups.arrays
        run.split(
            self.groups.n_groups,
            lambda first, last: kernels.spread(partials, *groups, first, last, sums),
        )
        return sums


def _chunk_bounds(n_users: int, block: int) -> Ints:
    n_blocks = -(-n_users // block)
    n_chunks = max(1, min(CHUNKS, n_blocks, n_users // SMALLEST_CHUNK))
    bounds = [min(n_users, n_blocks * c // n_chunks * block) for c in range(n_chunks + 1)]
    return np.array(bounds, dtype=np.int64)
