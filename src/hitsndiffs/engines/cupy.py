"""The GPU engine: answers in the GPU's memory, user arrays as CuPy arrays.

User-length arrays stay on the GPU; option-length arrays come back as NumPy arrays. Steps of a pass
get CuPy arrays, on which NumPy's functions work as usual.

There are two layouts, as on the threaded engine: packed bytes (several items in one byte, see
:mod:`hitsndiffs.engines.grouping`) and option numbers for sparse data. Packed bytes are stored user
after user, four groups to a 32-bit number, so neighbouring threads read neighbouring numbers. The
kernels are plain CUDA C++.

Sums over users are sums of integers: each score is rounded to a multiple of a unit, which is chosen
from the largest score. They do not depend on the order in which threads add, so results are the
same, bit for bit, in every run. The unit is about 2⁻³⁷ of the largest score.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, ClassVar

import cupy as cp
import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.layouts import Rows
from hitsndiffs.data.pool import available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Step, scaled
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.numpy import MemoryEngine
from hitsndiffs.engines.threads import packable
from hitsndiffs.errors import InputError

__all__ = ["CupyEngine", "DevicePacked", "DeviceRows"]

Array = Any  # a cupy.ndarray

#: Numbers in a block of users that a step processes at a time.
STEP_NUMBERS = 2**25
#: Number of 8-byte user arrays that a method holds at a time, besides the answers.
ARRAYS_AT_ONCE = 12
#: Threads of a block.
THREADS = 1024
#: Users a block handles before it flushes its sums; a power of two.
BATCH = 8192
#: Shared memory of a block (bytes), and the maximum number of copies of the sums. As many copies as
#: fit are kept: with one, neighbouring users with the same answers would wait for each other.
SHARED_MEMORY, MOST_COPIES = 220 * 1024, 4
#: Maximum number of quads (four groups, 1024 codes each) that one pass keeps in shared memory.
MOST_QUADS = 24
#: Codes sent to the device at a time (bytes).
UPLOAD_BYTES = 2**28


class CupyEngine(MemoryEngine):
    """The sums on a GPU, bit for bit the same in every run.

    Parameters
    ----------
    responses, threads
        As for :class:`MemoryEngine`; threads are used for work on options.
    """

    name: ClassVar[str] = "cupy"
    arrays: ClassVar[str] = "cupy"
    #: The scale of the last linear round, and its largest absolute value.
    _scale: tuple[Any, float] = (None, 0.0)

    def __init__(self, responses: Responses, threads: int | None = None) -> None:
        super().__init__(responses, threads, asked="cupy")
        groups = packable(responses)
        _check_memory(responses, groups)
        self.layout: DevicePacked | DeviceRows
        if groups is None:
            self.layout = DeviceRows(*responses.rows, responses.n_options)
        else:
            self.layout = DevicePacked.of(groups, responses)

    @classmethod
    def of_layout(cls, items: Items, layout: DevicePacked) -> CupyEngine:
        """An engine for answers already on the device; it cannot take some users or items only."""
        made = cls.__new__(cls)
        made.items, made.layout, made.n_users = items, layout, layout.n_users
        made.threads = available_cores()
        return made

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return cp.ones(self.n_users)

    def user_array(self, x: Any) -> Array:
        """A user array from values in the host's memory."""
        return cp.asarray(x)

    def collect(self, x: Any, users: Any = None) -> npt.NDArray[Any]:
        """A user array as a NumPy array, whole or for some users."""
        own = x if users is None else cp.asarray(x)[cp.asarray(users)]
        return cp.asnumpy(own)  # type: ignore[no-any-return]

    def rows(self, users: Ints | None = None) -> Rows:
        """The options that some users chose (default: all)."""
        if "responses" in vars(self):
            return super().rows(users)
        assert isinstance(self.layout, DevicePacked)
        return self.layout.rows(np.arange(self.n_users) if users is None else users)

    def choices(self, weights: Any, step: Step | None = None, *arrays: Any) -> Array:
        """``C w``, or ``step(C w, …)`` block by block."""
        if step is not None:
            return cp.concatenate([part for _, part in self._stepped(weights, step, arrays)])
        kind = cp.uint64 if weights.dtype == np.uint64 else cp.float64
        given = cp.asarray(weights, dtype=kind)
        found = self.layout.choices(given[:, None] if given.ndim == 1 else given)
        return found[:, 0] if given.ndim == 1 else found

    def choosers(self, scores: Array) -> Floats:
        """``Cᵀ s``."""
        given = cp.asarray(scores, dtype=cp.float64)
        found = self._summed(given[:, None] if given.ndim == 1 else given)
        return cp.asnumpy(found[:, 0] if given.ndim == 1 else found)  # type: ignore[no-any-return]

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, block by block; the linear step is one kernel."""
        if step is scaled and np.ndim(weights) == 1:
            same = arrays[0] is self.everybody
            return self._linear(weights, self._one if same else cp.asarray(arrays[0]))
        if step is scaled:
            columns = [self.through(column, scaled, *arrays) for column in weights.T]
            return np.stack(columns, axis=1)
        sums, aside = None, None
        for first, stepped in self._stepped(weights, step, arrays):
            block, beside = stepped if isinstance(stepped, tuple) else (stepped, None)
            part = self._summed(block, first)
            sums = part if sums is None else sums + part
            if beside is not None:
                aside = beside if aside is None else aside + beside
        found = cp.asnumpy(sums)
        return found if aside is None else (found, cp.asnumpy(aside))

    def values_at(self, x: Array, places: Sequence[int]) -> list[float]:
        """The values at some places in sorted order, lowest first."""
        ordered = cp.sort(x)
        return [float(ordered[place]) for place in places]

    @cached_property
    def _one(self) -> Array:
        return cp.ones(1)

    # -- parts of a pass --------------------------------------------------------------------

    def _linear(self, weights: Floats, scale: Array) -> Floats:
        """One linear pass; a scale with one entry applies to all users."""
        weights = np.asarray(weights, dtype=np.float64)
        if self._scale[0] is not scale:  # a solver passes the same one every time
            self._scale = scale, float(largest_sizes(scale[:, None])[0])
        largest = np.maximum.reduceat(np.abs(weights), self.items.starts[:-1]).sum()
        bound = float(largest) * (1 + 1e-6) * self._scale[1]
        if not np.isfinite(bound):
            return self.choosers(self.choices(weights) * scale)
        found = self.layout.through(cp.asarray(weights), scale, bound)
        return cp.asnumpy(found)  # type: ignore[no-any-return]

    def _summed(self, scores: Array, first: int = 0) -> Array:
        """``Cᵀ s``; a score that is not finite makes the sums of its options NaN."""
        if not scores.shape[1]:
            return cp.zeros((self.n_options, 0))
        largest = largest_sizes(scores)
        if bool(cp.isfinite(largest).all()):
            return self.layout.choosers(scores, first, largest)
        bad = ~cp.isfinite(scores)
        sums = self.layout.choosers(cp.where(bad, 0.0, scores), first)
        return cp.where(self.layout.choosers(bad.astype(cp.float64), first) > 0, cp.nan, sums)

    def _stepped(self, weights: Floats, step: Step, arrays: tuple[Any, ...]) -> Any:
        """Yield, for each block of users, its first user and the result of the step."""
        given = cp.asarray(weights, dtype=cp.float64)
        size = max(1024, STEP_NUMBERS // max(given.shape[1], 1))
        for first in range(0, self.n_users, size):
            last = min(first + size, self.n_users)
            sums = (
                self.layout.choices(given, first, last)
                if given.shape[1]
                else cp.empty((last - first, 0))
            )
            yield first, step(sums, *(array[first:last] for array in arrays))


def _check_memory(responses: Responses, groups: Groups | None) -> None:
    """Raise an error if the GPU has too little memory, saying how many users fit."""
    if groups is None:
        answers = 4 * len(responses.rows[1]) + 8 * responses.n_users
    else:
        answers = groups.bytes_per_user * responses.n_users
    needed = answers + 8 * ARRAYS_AT_ONCE * responses.n_users
    free = cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes()
    if needed > free:
        fit = int(responses.n_users * (free / needed))
        raise InputError(
            f"The cupy engine needs about {needed / 2**30:.1f} GiB on the GPU for "
            f"{responses.n_users:,} users and has {free / 2**30:.1f} GiB free; about {fit:,} "
            "users fit. Rank a sample of them, or use the threads engine."
        )


# -- answers on the device ----------------------------------------------------------------------


class DevicePacked:
    """Packed bytes on the device.

    Parameters
    ----------
    groups
        Which items share a byte.
    quads, wide
        The packed numbers, ``(n_quads, n_users)`` of 32 bits and ``(n_wide, n_users)`` of 16.
    """

    def __init__(self, groups: Groups, quads: Array, wide: Array) -> None:
        self.groups, self._quads, self._wide = groups, quads, wide
        self.n_quads, self.n_users = quads.shape
        self.n_wide = len(wide)
        self.n_options = int(groups.item_starts[-1])
        self._find_tables()

    @classmethod
    def empty(cls, groups: Groups, n_users: int) -> DevicePacked:
        """Room for the answers of some users."""
        quads = cp.zeros((groups.n_quads, n_users), dtype=cp.uint32)
        wide = cp.empty((groups.n_wide, n_users), dtype=cp.uint16)
        return cls(groups, quads, wide)

    @classmethod
    def of(cls, groups: Groups, r: Responses) -> DevicePacked:
        """Send answers to the device, piece by piece, and pack them there."""
        made = cls.empty(groups, r.n_users)
        piece = max(1, UPLOAD_BYTES // max(2 * r.n_items, 1))
        for first in range(0, r.n_users, piece):
            made.fill(cp.asarray(r.some_codes(first, first + piece)), first)
        return made

    def fill(self, codes: Array, first: int) -> None:
        """Pack codes that are on the device, for the users from ``first`` on."""
        members, starts, _, n_codes, _ = self._groups
        count, groups = codes.shape[1], self.groups
        launch(
            "pack_bytes" if codes.dtype == np.uint8 else "pack_shorts",
            (-(-count // 256), len(groups.starts) - 1),
            (codes, np.int64(count), np.int64(first), np.int64(self.n_users),
             np.int32(groups.n_narrow), members, starts, n_codes, self._quads, self._wide),
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Memory for the answers, in bytes."""
        return int(self._quads.nbytes + self._wide.nbytes)

    def choices(self, weights: Array, first: int = 0, last: int | None = None) -> Array:
        """``C w`` for each column of ``weights``: floats, or unsigned integers that wrap around."""
        last = self.n_users if last is None else last
        columns = weights.shape[1]
        kind = "whole" if weights.dtype == cp.uint64 else "doubles"
        table = self._filled(weights, kind)
        scores = cp.empty((last - first, columns), dtype=weights.dtype)
        most = 2**30 // columns  # indices have 32 bits
        for start in range(first, last, most):
            count = min(most, last - start)
            launch(
                f"choices_{kind}",
                (cover(count * columns),),
                (self._quads, self._wide, np.int64(self.n_users), np.int64(start),
                 np.uint32(count), np.int32(self.n_quads), np.int32(self.n_wide),
                 self._wide_starts, table, np.int32(columns), scores[start - first :]),
            )  # fmt: skip
        return scores

    def choosers(self, scores: Array, first: int = 0, largest: Array = None) -> Array:
        """``Cᵀ s`` for each column of ``scores``, over the users from ``first`` on.

        ``largest`` is each column's largest absolute score, if known.
        """
        count, columns = scores.shape
        steps = tuple(np.int64(step // 8) for step in scores.strides)
        largest = largest_sizes(scores) if largest is None else largest
        units = units_of(largest, self.n_users)
        totals = cp.zeros((columns, self._length), dtype=cp.int64)
        fixed = 1.0 / units
        bits = whole_range(self.n_users)[1]
        length = np.int64(self._length)
        for start in range(0, self.n_quads, MOST_QUADS):
            n_quads = min(MOST_QUADS, self.n_quads - start)
            kernel, shared = round_kernel("choosers", n_quads)
            batch = min(BATCH, max(THREADS, -(-count // processors())))
            grid = (min(-(-count // batch), processors()), columns)
            kernel(
                grid,
                (THREADS,),
                (self._quads[start:], np.int64(self.n_users), np.int64(first), np.int64(count),
                 scores, *steps, fixed, np.int32(bits), np.int32(batch), length,
                 totals[:, 1024 * start :]),
                shared_mem=shared,
            )  # fmt: skip
        if self.n_wide:
            launch(
                "choosers_wide",
                (cover(count), columns),
                (self._wide, np.int64(self.n_users), np.int64(first), np.int64(count),
                 np.int32(self.n_wide), self._wide_starts, scores, *steps, fixed, length,
                 totals),
            )  # fmt: skip
        return self._spread(totals, units)

    def _spread(self, totals: Array, units: Array) -> Array:
        """Turn the totals of codes into sums of options, column by column."""
        columns = len(units)
        options = cp.empty((self.n_options, columns))
        launch(
            "spread",
            (-(-32 * self.n_options * columns // 256),),
            (totals, np.int64(self._length), np.int32(self.n_options), np.int32(columns),
             units, *self._places, options),
        )  # fmt: skip
        return options

    def through(self, weights: Array, scale: Array, bound: float) -> Array:
        """``Cᵀ (scale * (C w))`` for one vector; no score is larger than ``bound``.

        A round keeps 38 bits of every score.
        """
        fits = 0 < shared_bytes("through", self.n_quads) <= SHARED_MEMORY
        if not fits or self.n_quads > MOST_QUADS or self.n_wide:
            scores = self.choices(weights[:, None]) * scale.reshape(-1, 1)
            return self.choosers(scores)[:, 0]
        kernel, shared = round_kernel("through", self.n_quads)
        top, bits = whole_range(self.n_users)
        unit = bound / top if bound > 0 else 1.0
        totals = cp.zeros((1, self._length), dtype=cp.int64)
        batch = min(BATCH, max(THREADS, -(-self.n_users // processors())))
        kernel(
            (min(-(-self.n_users // batch), processors()),),
            (THREADS,),
            (self._quads, np.int64(self.n_users), self._filled(weights[:, None], "doubles"),
             scale.astype(cp.float64, copy=False),
             np.int32(len(scale) == 1), np.float64(1.0 / unit), np.int32(bits), np.int32(batch),
             totals),
            shared_mem=shared,
        )  # fmt: skip
        return self._spread(totals, cp.full(1, unit))[:, 0]

    def rows(self, users: Ints) -> Rows:
        """The options that a few users chose."""
        g, places = self.groups, cp.asarray(users)
        quads, wide = cp.asnumpy(self._quads[:, places]), cp.asnumpy(self._wide[:, places])
        chosen = np.empty((len(users), len(g.n_codes)), dtype=np.int64)
        for group in range(len(g.starts) - 1):
            if group < g.n_narrow:
                rest = quads[group // 4] >> np.uint32(8 * (group % 4)) & np.uint32(255)
            else:
                rest = wide[group - g.n_narrow]
            rest = rest.astype(np.int64)
            for item in g.members[g.starts[group] : g.starts[group + 1]].tolist():
                chosen[:, item] = g.item_starts[item] + rest % g.n_codes[item]
                rest //= g.n_codes[item]
        given = chosen < g.item_starts[1:]
        return np.concatenate([[0], np.cumsum(given.sum(axis=1))]), chosen[given].astype(np.int32)

    # -- tables -----------------------------------------------------------------------------

    def _find_tables(self) -> None:
        """Find where each group's table begins, and where each option's codes are in it."""
        g = self.groups
        self._length = g.table_length
        sizes = np.multiply.reduceat(g.n_codes[g.members], g.starts[:-1])
        self._longest = int(sizes.max())
        self._wide_starts = cp.asarray(g.wide_starts)
        self._groups = tuple(
            cp.asarray(part) for part in (g.members, g.starts, g.item_starts, g.n_codes,
                                          g.table_starts)
        )  # fmt: skip
        n_options = np.diff(g.item_starts)
        group, stride = np.empty((2, len(g.n_codes)), dtype=np.int64)
        for number, (first, last) in enumerate(pairwise(g.starts)):
            items = g.members[first:last]
            group[items], stride[items] = number, np.cumprod([1, *g.n_codes[items[:-1]]])
        by_item = (g.table_starts[group], sizes[group], stride, g.n_codes)
        place = np.arange(self.n_options) - np.repeat(g.item_starts[:-1], n_options)
        self._places = tuple(
            cp.asarray(part) for part in (*(np.repeat(each, n_options) for each in by_item), place)
        )

    def _filled(self, weights: Array, kind: str) -> Array:
        """The summed weights of every code of every group."""
        columns = weights.shape[1]
        table = cp.zeros((self._length, columns), dtype=weights.dtype)
        launch(
            f"fill_{kind}",
            (-(-self._longest * columns // 256), len(self.groups.starts) - 1),
            (cp.ascontiguousarray(weights), np.int32(columns), *self._groups, table),
        )
        return table


class DeviceRows:
    """Each user's option numbers on the device, for sparse data."""

    def __init__(self, indptr: Any, options: Any, n_options: int) -> None:
        self._indptr = cp.asarray(indptr, dtype=cp.int64)
        self._options = cp.asarray(options, dtype=cp.int32)
        self.n_users, self.n_options = len(indptr) - 1, n_options

    @property
    def nbytes(self) -> int:
        """Memory for the answers, in bytes."""
        return int(self._indptr.nbytes + self._options.nbytes)

    def choices(self, weights: Array, first: int = 0, last: int | None = None) -> Array:
        """``C w`` for each column of ``weights``."""
        last = self.n_users if last is None else last
        columns = weights.shape[1]
        kind = "whole" if weights.dtype == cp.uint64 else "doubles"
        given = cp.ascontiguousarray(weights)
        scores = cp.empty((last - first, columns), dtype=weights.dtype)
        most = 2**30 // columns
        for start in range(first, last, most):
            count = min(most, last - start)
            launch(
                f"choices_rows_{kind}",
                (cover(count * columns),),
                (self._indptr, self._options, np.int64(start), np.uint32(count), given,
                 np.int32(columns), scores[start - first :]),
            )  # fmt: skip
        return scores

    def choosers(self, scores: Array, first: int = 0, largest: Array = None) -> Array:
        """``Cᵀ s`` for each column of ``scores``, over the users from ``first`` on."""
        count, columns = scores.shape
        steps = tuple(np.int64(step // 8) for step in scores.strides)
        largest = largest_sizes(scores) if largest is None else largest
        units = units_of(largest, self.n_users)
        totals = cp.zeros((columns, self.n_options), dtype=cp.int64)
        launch(
            "choosers_rows",
            (cover(count), columns),
            (self._indptr, self._options, np.int64(first), np.int64(count), scores, *steps,
             1.0 / units, np.int64(self.n_options), totals),
        )  # fmt: skip
        return cp.ascontiguousarray((totals * units[:, None]).T)

    def through(
        self,
        weights: Array,
        scale: Array,
        bound: float,  # noqa: ARG002
    ) -> Array:
        """``Cᵀ (scale * (C w))`` for one vector."""
        return self.choosers(self.choices(weights[:, None]) * scale.reshape(-1, 1))[:, 0]


# -- launching kernels, and the integers that sums are made of ------------------------------------


@lru_cache(maxsize=1)
def _kernels() -> Any:
    return cp.RawModule(code=_source("cupy_kernels.cu"), options=("-std=c++17",))


@lru_cache(maxsize=64)
def kernel_named(name: str) -> Any:
    """A kernel of ``cupy_kernels.cu``."""
    return _kernels().get_function(name)


@lru_cache(maxsize=64)
def round_kernel(name: str, n_quads: int) -> tuple[Any, int]:
    """A kernel compiled for a number of quads, and the shared memory it needs."""
    copies = MOST_COPIES
    while copies > 1 and shared_bytes(name, n_quads, copies) > SHARED_MEMORY:
        copies //= 2
    shared = shared_bytes(name, n_quads, copies)
    defines = {"N_QUADS": n_quads, "COPIES": copies, "THREADS": THREADS}
    options = ("-std=c++17", *(f"-D{key}={value}" for key, value in defines.items()))
    module = cp.RawModule(code=_source("cupy_rounds.cu"), options=options)
    kernel = module.get_function(name)
    kernel.max_dynamic_shared_size_bytes = shared
    return kernel, shared


def shared_bytes(name: str, n_quads: int, copies: int = 1) -> int:
    """Bytes of shared memory for the tables and sums of this many quads."""
    return n_quads * 1024 * (8 * (name == "through") + 8 * copies)


def _source(name: str) -> str:
    return resources.files("hitsndiffs.engines").joinpath(name).read_text(encoding="utf-8")


def launch(
    name: str, grid: tuple[int, ...], arguments: tuple[Any, ...], threads: int = 256
) -> None:
    """Launch a kernel of ``cupy_kernels.cu``; an empty grid does nothing."""
    if all(grid):
        kernel_named(name)(grid, (threads,), arguments)


def cover(length: int, threads: int = 256, most: int = 2**16) -> int:
    """How many blocks of threads cover ``length`` places, in one or several turns."""
    return min(most, -(-length // threads))


def largest_sizes(scores: Array) -> Array:
    """The largest absolute score in each column; NaN if one of them is NaN."""
    count, columns = scores.shape
    sizes = cp.zeros(columns, dtype=cp.uint64)
    steps = tuple(np.int64(step // 8) for step in scores.strides)
    launch("largest", (cover(count, most=1024), columns), (scores, np.int64(count), *steps, sizes))
    return sizes.view(cp.float64)


def units_of(largest: Array, n_users: int) -> Array:
    """The unit of each column's integers, from the column's largest absolute score.

    It is a power of two, so ones and halves become integers with few bits set.
    """
    most = whole_range(n_users)[0]
    exponents = cp.frexp(largest / most)[1]
    return cp.where(largest > 0, cp.ldexp(cp.ones_like(largest), exponents), 1.0)


def whole_range(n_users: int) -> tuple[float, int]:
    """The largest integer that a score may become, and the number of bits in its lower half."""
    bits = 33 - BATCH.bit_length()  # the sum over a batch stays within 32 bits
    total = min(2 * bits, 62 - max(n_users, 1).bit_length())  # the sum of all within 64 bits
    return 2.0 ** (total - 1) - 1, bits


@lru_cache(maxsize=1)
def processors() -> int:
    """How many multiprocessors the GPU has."""
    return int(cp.cuda.Device().attributes["MultiProcessorCount"])
