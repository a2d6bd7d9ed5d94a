"""Answers in a GPU's memory, and the passes over them (CuPy; the kernels are plain CUDA C++).

There are two layouts, as on the threaded engine: packed bytes (several items in one byte, see
:mod:`hitsndiffs.engines.grouping`) and option numbers for sparse data. Packed bytes are stored user
after user, four groups to a 32-bit number, so neighbouring threads read neighbouring numbers.

Sums over users are sums of integers: each score is rounded to a multiple of a unit, which is chosen
from the largest score. They do not depend on the order in which threads add, so results are the
same, bit for bit, in every run. The unit is about 2⁻³⁷ of the largest score. A round can also work
with 17 bits per user, which is twice as fast; the errors of many users average out, to about 10⁻⁷
of the largest sum. That is too coarse for a solver that must end within 10⁻⁶ of the CPU's result,
so it has to be requested.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines.cupy_launch import (
    BATCH,
    SHARED_MEMORY,
    THREADS,
    cover,
    largest_sizes,
    launch,
    processors,
    round_kernel,
    shared_bytes,
    units_of,
    whole_range,
)
from hitsndiffs.engines.grouping import Groups

__all__ = ["DevicePacked"]

Array = Any  # a cupy.ndarray

#: Maximum number of quads (four groups, 1024 codes each) that one pass keeps in shared memory.
MOST_QUADS = 24
#: Codes sent to the device at a time (bytes).
UPLOAD_BYTES = 2**28


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
        n_quads = -(-groups.n_narrow // 4)
        quads = cp.zeros((n_quads, n_users), dtype=cp.uint32)
        wide = cp.empty((groups.n_groups - groups.n_narrow, n_users), dtype=cp.uint16)
        return cls(groups, quads, wide)

    @classmethod
    def of_codes(cls, groups: Groups, codes: Any) -> DevicePacked:
        """Send dense codes ``(n_items, n_users)`` to the device, piece by piece, and pack them."""
        n_items, n_users = codes.shape
        made = cls.empty(groups, n_users)
        piece = max(1, UPLOAD_BYTES // (max(n_items, 1) * codes.dtype.itemsize))
        for first in range(0, n_users, piece):
            part = np.ascontiguousarray(codes[:, first : first + piece])
            made.fill(cp.asarray(part), first)
        return made

    def fill(self, codes: Array, first: int) -> None:
        """Pack codes that are on the device, for the users from ``first`` on."""
        members, starts, _, n_codes, _ = self._groups
        count, groups = codes.shape[1], self.groups
        launch(
            "pack_bytes" if codes.dtype == np.uint8 else "pack_shorts",
            (-(-count // 256), groups.n_groups),
            (codes, np.int64(count), np.int64(first), np.int64(self.n_users),
             np.int32(groups.n_narrow), members, starts, n_codes, self._quads, self._wide),
        )  # fmt: skip

    @classmethod
    def of_rows(cls, groups: Groups, indptr: Any, options: Any) -> DevicePacked:
        """Pack the users' option numbers."""
        made = cls.empty(groups, len(indptr) - 1)
        option_groups, option_steps, nothing = groups.steps()
        as_bytes = made._quads.view(cp.uint8).reshape(made.n_quads, made.n_users, 4)
        for group, code in enumerate(nothing.tolist()):
            if group < groups.n_narrow:
                as_bytes[group // 4, :, group % 4] = code
            else:
                made._wide[group - groups.n_narrow] = code
        launch(
            "pack_rows",
            (-(-made.n_users // 256),),
            (cp.asarray(indptr, dtype=cp.int64), cp.asarray(options, dtype=cp.int32),
             np.int64(made.n_users), np.int32(groups.n_narrow), cp.asarray(option_groups),
             cp.asarray(option_steps), made._quads, made._wide),
        )  # fmt: skip
        return made

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

    def extremes(self, positions: Array) -> tuple[Array, Array]:
        """Smallest and largest position of each option's choosers."""
        lows = cp.full(self._length, np.iinfo(np.int64).max)
        highs = cp.full(self._length, np.iinfo(np.int64).min)
        launch(
            "extremes",
            (cover(self.n_users, most=1024),),
            (self._quads, self._wide, np.int64(self.n_users), np.int32(self.groups.n_narrow),
             np.int32(self.n_wide), self._wide_starts, positions, lows, highs),
        )  # fmt: skip
        low, high = cp.empty((2, self.n_options), dtype=cp.int64)
        launch(
            "spread_extremes",
            (-(-self.n_options // 256),),
            (lows, highs, np.int32(self.n_options), *self._places, low, high),
        )
        return low, high

    def answer_sheets(self, users: Ints) -> Floats:
        """The answer sheets of a few users: one column each, 1 for the options chosen."""
        g, places = self.groups, cp.asarray(users)
        quads, wide = cp.asnumpy(self._quads[:, places]), cp.asnumpy(self._wide[:, places])
        sheets = np.zeros((self.n_options, len(users)))
        for group in range(g.n_groups):
            if group < g.n_narrow:
                rest = quads[group // 4] >> np.uint32(8 * (group % 4)) & np.uint32(255)
            else:
                rest = wide[group - g.n_narrow]
            rest = rest.astype(np.int64)
            for item in g.members[g.starts[group] : g.starts[group + 1]].tolist():
                option = g.item_starts[item] + rest % g.n_codes[item]
                given = np.flatnonzero(option < g.item_starts[item + 1])
                sheets[option[given], given] = 1.0
                rest //= g.n_codes[item]
        return sheets

    # -- tables -----------------------------------------------------------------------------

    def _find_tables(self) -> None:
        """Find where each group's table begins, and where each option's codes are in it."""
        g = self.groups
        narrow = 256 * np.arange(g.n_narrow)
        lengths = np.diff(g.table_starts[g.n_narrow :])
        wide = 1024 * self.n_quads + np.concatenate([[0], np.cumsum(lengths)])
        table_starts = np.concatenate([narrow, wide[:-1]]).astype(np.int64)
        self._length = int(wide[-1])
        self._longest = int(max([256 * (g.n_narrow > 0), *lengths.tolist()]))
        self._wide_starts = cp.asarray(wide.astype(np.int64))
        self._groups = tuple(
            cp.asarray(part)
            for part in (g.members, g.starts, g.item_starts, g.n_codes, table_starts)
        )
        n_options = np.diff(g.item_starts)
        sizes = np.multiply.reduceat(g.n_codes[g.members], g.starts[:-1])
        by_item = (table_starts[g.item_groups], sizes[g.item_groups], g.strides, g.n_codes)
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
            (-(-self._longest * columns // 256), self.groups.n_groups),
            (cp.ascontiguousarray(weights), np.int32(columns), *self._groups, table),
        )
        return table
