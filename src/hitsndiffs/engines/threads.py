"""The threaded engine: compiled passes over packed bytes or option numbers, on several threads.

Both layouts work on *tables*: the weights of what a user's stored numbers mean, and the sums of
the users' values. Packed bytes need one table of 256 summed weights per group of items on the way
to the users, and one of 256 sums on the way back, which is then spread out to the options. Sparse
rows use the options' weights and sums themselves.

Every chunk of users has its own sums. Chunks do not depend on the number of threads, so the results
are bit for bit the same for any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar, Protocol

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Floats, Ints
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Engine, Step, scaled
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.numpy import MemoryEngine
from hitsndiffs.errors import InputError

__all__ = ["PackedLayout", "SparseLayout", "ThreadsEngine", "build_layout", "packable"]


#: Responses held as rows are packed if that takes at most this many bytes per response.
PACK_UP_TO = 2.0
#: A part of the data stays on the threaded engine from this many responses on.
PARTS_FROM = 200_000
#: Number of users in a block: their sums (32 KiB) and four tables stay in the nearest caches.
BLOCK = 4096
#: Minimum and maximum number of chunks of users. In between, their sums take an eighth of the
#: answers' memory.
CHUNKS = 2, 64
#: If the options but the last of each item are at most this many, the pairs of options are counted
#: once, which costs about ten rounds; every further round is then nearly free.
MOST_SETS = 500
#: 64-bit words of each set of users processed at a time: a tile of all sets fits in the cache.
TILE = 256


class Layout(Protocol):
    """How the answers are stored, and the passes over some of the users.

    Tables and values have one row per column of the weights or scores. ``offset`` is the first user
    in ``sums`` or ``values``.
    """

    #: Memory for the answers, in bytes; the length of a table; users in a chunk: its bounds.
    nbytes: int
    length: int
    bounds: list[int]

    def tables(self, weights: Array) -> Array:
        """The tables that give the users their sums."""

    def look_up(self, first: int, last: int, tables: Array, sums: Array, offset: int) -> None:
        """Write the sums of the users ``first … last - 1``."""

    def add_up(self, first: int, last: int, values: Floats, offset: int, into: Floats) -> None:
        """Add the values of the users ``first … last - 1`` to tables of sums."""

    def through(self, first: int, last: int, tables: Floats, scale: Floats, into: Floats) -> None:
        """Both passes at once, each user's sums times one number."""

    def collected(self, tables: Floats) -> Floats:
        """The options' sums from tables of sums, one column each."""


class PackedLayout:
    """Several neighbouring items in one byte (see :mod:`hitsndiffs.engines.grouping`).

    The numbers are stored block of users by block, and within a block quad by quad. The inner loops
    then run along users with four tables of 2 KiB in the cache, and one memory access fetches four
    codes. One pass over 0.2 to 0.3 bytes per response serves both sums.

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
        from hitsndiffs.engines import threads_kernels as kernels

        self._kernels, self._n_options = kernels, responses.n_options
        self._groups, self.length = groups, groups.table_length
        self._tables = groups.members, groups.starts, groups.item_starts, groups.n_codes
        n_users = responses.n_users
        self._quads = np.zeros(n_users * groups.n_quads, dtype=np.uint32)
        self._wide = np.empty(n_users * groups.n_wide, dtype=np.uint16)
        self.nbytes = self._quads.nbytes + self._wide.nbytes
        self._data = self._quads, self._wide, groups.wide_starts, BLOCK
        n_blocks = -(-n_users // BLOCK)
        n_chunks = max(1, min(_chunks(self.nbytes, self.length), n_blocks))
        self.bounds = [min(n_users, n_blocks * c // n_chunks * BLOCK) for c in range(n_chunks + 1)]
        run(n_blocks, lambda block: self._pack(responses, block * BLOCK))

    def _pack(self, r: Responses, first: int) -> None:
        """Pack one block of users."""
        g, last = self._groups, min(first + BLOCK, r.n_users)
        self._kernels.pack(
            r.some_codes(first, last), g.members, g.starts, g.n_codes, g.n_narrow,
            self._quads[first * g.n_quads : last * g.n_quads],
            self._wide[first * g.n_wide : last * g.n_wide],
        )  # fmt: skip

    @property
    def is_complete(self) -> bool:
        """Whether everybody answered every item."""
        return bool((self._groups.n_codes == np.diff(self._groups.item_starts)).all())

    def tables(self, weights: Array) -> Array:
        """The summed weights of every code of every group."""
        tables = np.zeros((weights.shape[1], self.length), dtype=weights.dtype)
        given = np.ascontiguousarray(weights)
        self._kernels.fill_tables(given, *self._tables, self._groups.table_starts, tables)
        return tables

    def look_up(self, first: int, last: int, tables: Array, sums: Array, offset: int) -> None:
        """Write the sums of the users ``first … last - 1``."""
        self._kernels.look_up(*self._data, first, last, tables, sums, offset)

    def add_up(self, first: int, last: int, values: Floats, offset: int, into: Floats) -> None:
        """Add the values of the users ``first … last - 1`` to tables of sums."""
        self._kernels.add_up(*self._data, first, last, values, offset, into)

    def through(self, first: int, last: int, tables: Floats, scale: Floats, into: Floats) -> None:
        """Both passes at once, each user's sums times one number."""
        self._kernels.through(*self._data, first, last, tables, scale, into)

    def collected(self, tables: Floats) -> Floats:
        """The options' sums from those of the codes."""
        sums = np.empty((self._n_options, len(tables)))
        self._kernels.spread(tables, *self._tables, self._groups.table_starts, sums)
        return sums


class SparseLayout:
    """Each user's option numbers, one after another, without values.

    These are the rows of the responses themselves, so nothing is copied. One pass over 4 bytes per
    response serves both sums.

    Parameters
    ----------
    responses
        The data; their rows are used without copying.
    """

    is_complete = False  # not looked for

    def __init__(self, responses: Responses) -> None:
        from hitsndiffs.engines import threads_kernels as kernels

        self._kernels, self.length = kernels, responses.n_options
        indptr, options = responses.rows
        indptr = np.ascontiguousarray(indptr, dtype=np.int64)
        options = np.ascontiguousarray(options, dtype=np.int32)
        if len(options) and not (options.min() >= 0 and options.max() < self.length):
            raise InputError(
                f"rows must hold option numbers from 0 to {self.length - 1}; "
                f"got {options.min()} to {options.max()}."
            )
        self._data = indptr, options
        self.nbytes = indptr.nbytes + options.nbytes
        shares = np.linspace(0, len(options), _chunks(options.nbytes, self.length) + 1)
        inner = np.searchsorted(indptr, shares[1:-1].astype(np.int64))
        self.bounds = [0, *inner.tolist(), responses.n_users]

    def tables(self, weights: Array) -> Array:
        """The options' weights."""
        return np.ascontiguousarray(weights.T)

    def look_up(self, first: int, last: int, tables: Array, sums: Array, offset: int) -> None:
        """Write the sums of the users ``first … last - 1``."""
        self._kernels.look_up_rows(*self._data, first, last, tables, sums, offset)

    def add_up(self, first: int, last: int, values: Floats, offset: int, into: Floats) -> None:
        """Add the values of the users ``first … last - 1`` to tables of sums."""
        self._kernels.add_up_rows(*self._data, first, last, values, offset, into)

    def through(self, first: int, last: int, tables: Floats, scale: Floats, into: Floats) -> None:
        """Both passes at once, each user's sums times one number."""
        self._kernels.through_rows(*self._data, first, last, tables, scale, into)

    def collected(self, tables: Floats) -> Floats:
        """The options' sums."""
        return tables.T


def _chunks(answers: int, length: int) -> int:
    """How many chunks of users have their own sums (``answers``: bytes)."""
    return int(np.clip(answers // (64 * max(length, 1)), *CHUNKS))


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
    groups = None if layout == "sparse" else packable(responses, always=layout == "packed")
    if groups is not None:
        return PackedLayout(responses, groups, Run(threads or available_cores()))
    if layout == "packed":
        raise InputError(
            "the packed layout takes items with fewer than 65536 options; "
            f"got one with {int(np.diff(responses.item_starts).max())}. Use the sparse layout."
        )
    return SparseLayout(responses)


def packable(responses: Responses, *, always: bool = False) -> Groups | None:
    """Which items share a byte; ``None`` if packing is not possible or does not pay."""
    groups = Groups.of(responses.item_starts, _items_with_gaps(responses))
    if not groups.fit:
        return None
    if always or responses.is_dense:
        return groups
    pays = groups.bytes_per_user * responses.n_users <= PACK_UP_TO * len(responses.rows[1])
    return groups if pays else None


def _items_with_gaps(responses: Responses) -> Flags:
    """For each item, whether somebody did not answer it."""
    if responses.is_dense:
        widths = np.diff(responses.item_starts)
        return np.asarray(responses.codes.max(axis=1, initial=0) >= widths)
    return np.asarray(responses.answers_per_item < responses.n_users)


class ThreadsEngine(MemoryEngine):
    """The sums on threads; the number of threads does not change even the last bit.

    Parameters
    ----------
    responses, threads, asked
        As for :class:`MemoryEngine`.
    layout
        See :func:`build_layout`.
    """

    name: ClassVar[str] = "threads"

    def __init__(
        self,
        responses: Responses,
        threads: int | None = None,
        *,
        asked: str = "threads",
        layout: str = "auto",
    ) -> None:
        super().__init__(responses, threads, asked=asked)
        self.layout = build_layout(responses, self.threads, layout)

    def opened(self, part: Responses) -> Engine:
        """Open other answers; smaller parts also gain from threads, as the kernels are loaded."""
        from hitsndiffs.engines import open_engine

        return open_engine(part, self._asked, self.threads, threads_from=PARTS_FROM)

    def choices(self, weights: Array, step: Step | None = None, *arrays: Any) -> Any:
        """``C w``, or ``step(C w, …)`` block by block."""
        tables = self._tables_of(weights)
        if step is not None:
            stepped = self._by_chunk(
                lambda c: [v for _, v in self._stepped(c, tables, step, arrays)]
            )
            return np.concatenate([values for chunk in stepped for values in chunk])
        sums = np.empty((len(tables), self.n_users), dtype=tables.dtype)
        self._by_chunk(lambda users: self.layout.look_up(*users, tables, sums, 0))
        return sums.T if np.ndim(weights) == 2 else sums[0]

    def choosers(self, scores: Floats) -> Floats:
        """``Cᵀ s``."""
        columns = _columns("scores", scores, self.n_users)

        def summed(users: tuple[int, int]) -> Floats:
            values = np.ascontiguousarray(columns[slice(*users)].T)
            sums = np.zeros((len(values), self.layout.length))
            self.layout.add_up(*users, values, users[0], sums)
            return sums

        return self._collected(self._by_chunk(summed), scores)

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, block by block in the cache; the linear step is compiled."""
        if step is scaled:
            return self._scaled(weights, arrays[0])
        tables = self._tables_of(weights)

        def summed(users: tuple[int, int]) -> tuple[Any, Any]:
            sums, side = None, None
            for (first, last), stepped in self._stepped(users, tables, step, arrays):
                values, beside = stepped if isinstance(stepped, tuple) else (stepped, None)
                own = np.ascontiguousarray(values.T)
                if sums is None:
                    sums = np.zeros((len(own), self.layout.length))
                self.layout.add_up(first, last, own, first, sums)
                side = beside if side is None else side + beside
            return sums, side

        found = [each for each in self._by_chunk(summed) if each[0] is not None]
        sums = self._collected([own for own, _ in found], weights)
        return sums if found[0][1] is None else (sums, reduce(add, [side for _, side in found]))

    def _scaled(self, weights: Floats, scale: Floats) -> Floats:
        """The linear pass; it needs no data if the pairs of options are counted already."""
        if scale is self.everybody and self._pairs is not None:
            return self._pairs @ weights
        tables, scale = self._tables_of(weights), np.ascontiguousarray(scale, dtype=np.float64)
        if scale.shape != (self.n_users,):
            raise ValueError(
                f"scale must be a vector of length {self.n_users}; got shape {scale.shape}."
            )

        def summed(users: tuple[int, int]) -> Floats:
            sums = np.zeros((len(tables), self.layout.length))
            self.layout.through(*users, tables, scale, sums)
            return sums

        return self._collected(self._by_chunk(summed), weights)

    @cached_property
    def _pairs(self) -> Floats | None:
        """``Cᵀ C`` if everybody answered everything and there are few options."""
        complete = self.layout.is_complete and self.responses.is_dense
        if not complete or self.n_options - self.n_items > MOST_SETS:
            return None
        return pairs_of_options(self.responses.codes, self.items.starts, self._run)

    # -- parts of a pass --------------------------------------------------------------------

    def _tables_of(self, weights: Array) -> Array:
        return self.layout.tables(_columns("weights", weights, self.n_options))

    def _by_chunk(self, work: Callable[[tuple[int, int]], Any]) -> list[Any]:
        """The results of some work on each chunk's users, in order."""
        bounds = self.layout.bounds
        found: list[Any] = [None] * (len(bounds) - 1)

        def take(chunk: int) -> None:
            found[chunk] = work((bounds[chunk], bounds[chunk + 1]))

        self._run(len(found), take)
        return found

    def _stepped(
        self, users: tuple[int, int], tables: Floats, step: Step, arrays: tuple[Any, ...]
    ) -> Iterator[tuple[tuple[int, int], Any]]:
        """Yield the bounds of a chunk's blocks, and the results of the step there."""
        for first in range(*users, BLOCK):
            last = min(first + BLOCK, users[1])
            sums = np.empty((len(tables), last - first))
            self.layout.look_up(first, last, tables, sums, first)
            yield (first, last), step(sums.T, *(array[first:last] for array in arrays))

    def _collected(self, sums: list[Floats], like: Array) -> Floats:
        """The options' sums from those of the chunks, added in order."""
        found = self.layout.collected(reduce(add, sums))
        return found if np.ndim(like) == 2 else found[:, 0]


def _columns(name: str, x: Array, length: int) -> Array:
    """One column or several, of floats or 64-bit words."""
    x = np.asarray(x)
    if x.ndim not in (1, 2) or len(x) != length:
        raise ValueError(
            f"{name} must be a vector or a block of columns of length {length}; "
            f"got shape {x.shape}."
        )
    x = x if x.dtype == np.uint64 else x.astype(np.float64, copy=False)
    return x[:, None] if x.ndim == 1 else x


def pairs_of_options(codes: Array, item_starts: Ints, run: Run) -> Floats:
    """Count the users who chose both options, for every pair: the matrix ``Cᵀ C``.

    It is counted with bit sets, one set of users per option but the last of each item: the last
    option's users are everybody without the others'.

    Parameters
    ----------
    codes
        ``(n_items, n_users)``; everybody must have answered everything.
    item_starts
        Where each item's options begin, and the end.
    run
        The threads.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [1, 0, 1]], dtype=np.uint8)
    >>> pairs_of_options(codes, np.array([0, 2, 4]), Run(1)).astype(int).tolist()
    [[2, 0, 1, 1], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 2]]
    """
    from hitsndiffs.engines.threads_kernels import count_pairs, fill_bits

    n_users, last = codes.shape[1], item_starts[1:] - 1
    counted = np.setdiff1d(np.arange(item_starts[-1]), last)
    items = np.searchsorted(item_starts, counted, side="right") - 1
    set_codes = (counted - item_starts[items]).astype(codes.dtype)
    n_tiles = -(-n_users // (64 * TILE))
    pieces = min(4 * run.threads, n_tiles)
    sizes = np.zeros((pieces, len(counted), len(counted)), dtype=np.uint64)

    def work(piece: int) -> None:
        bits = np.empty((len(counted), TILE), dtype=np.uint64)
        for tile in range(n_tiles * piece // pieces, n_tiles * (piece + 1) // pieces):
            users = codes[:, 64 * TILE * tile : 64 * TILE * (tile + 1)]
            fill_bits(np.ascontiguousarray(users), items, set_codes, bits)
            count_pairs(bits, sizes[piece])

    run(pieces, work)
    upper = sizes.sum(axis=0).astype(np.float64)
    sets = np.zeros((1 + len(counted), 1 + len(counted)))  # everybody, and the sets
    sets[0, 0], sets[1:, 1:] = n_users, upper + np.triu(upper, 1).T
    sets[0, 1:] = sets[1:, 0] = np.diag(upper)
    mix = np.zeros((int(item_starts[-1]), len(sets)))  # each option as a sum of these
    numbers = 1 + np.arange(len(counted))
    mix[last, 0], mix[counted, numbers], mix[last[items], numbers] = 1.0, 1.0, -1.0
    found: Floats = mix @ sets @ mix.T
    return found
