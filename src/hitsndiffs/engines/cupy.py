"""The GPU engine: the answers in a graphics card's memory, user arrays of CuPy.

Everything that is as long as the users are many stays on the card; what is as long as the options
are many comes back as NumPy arrays. Steps of a pass get CuPy arrays, on which NumPy's functions
work as they do on NumPy's own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import cupy as cp
import numpy as np
import numpy.typing as npt

from hitsndiffs.data.items import Items
from hitsndiffs.data.pool import available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Step, option_words, scaled
from hitsndiffs.engines.cupy_launch import largest_sizes
from hitsndiffs.engines.cupy_layout import DeviceLayout, DevicePacked
from hitsndiffs.engines.cupy_rows import DeviceRows
from hitsndiffs.engines.gram import MOST_SETS, OptionSets
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.memory import MemoryEngine
from hitsndiffs.engines.threads import packable
from hitsndiffs.errors import InputError

__all__ = ["CupyEngine"]

Array = Any  # a cupy.ndarray
Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Numbers in a block of users that a step works on at a time.
STEP_NUMBERS = 2**25
#: User arrays of 8 bytes that a method has at a time, besides the answers.
ARRAYS_AT_ONCE = 12


class CupyEngine(MemoryEngine):
    """The sums on a GPU, the same bits in every run.

    Parameters
    ----------
    responses, threads, asked
        As for :class:`MemoryEngine`; threads are for work on options.
    """

    name: ClassVar[str] = "cupy"
    arrays: ClassVar[str] = "cupy"
    #: The last scale that a linear round was given, and its largest value.
    _scale: tuple[Any, float] = (None, 0.0)
    #: The last user array that was sorted, and its values in order.
    _sorted: tuple[Any, Any] = (None, None)

    def __init__(
        self, responses: Responses, threads: int | None = None, *, asked: str = "cupy"
    ) -> None:
        super().__init__(responses, threads, asked=asked)
        groups = packable(responses)
        _check_memory(responses, groups)
        self.layout: DeviceLayout
        if groups is None:
            self.layout = DeviceRows(*responses.rows, responses.n_options)
        elif responses.is_dense:
            self.layout = DevicePacked.of_codes(groups, responses.codes)
        else:
            self.layout = DevicePacked.of_rows(groups, *responses.rows)

    @classmethod
    def of_layout(cls, items: Items, layout: DeviceLayout) -> CupyEngine:
        """An engine of answers that are on the device already (parts of them cannot be taken)."""
        made = cls.__new__(cls)
        made.items, made.layout, made.n_users = items, layout, layout.n_users
        made.threads = available_cores()
        return made

    @cached_property
    def choosers_per_option(self) -> Ints:
        """How many users chose each option."""
        return np.rint(self.choosers(self.everybody)).astype(np.int64)

    @cached_property
    def answers_per_user(self) -> Array:
        """How many items each user answered, as real numbers."""
        return cp.rint(self.choices(np.ones(self.n_options)))

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return cp.ones(self.n_users)

    @cached_property
    def gram(self) -> Vector | None:
        """``Cᵀ C``, where everybody answered everything and the options are few."""
        few = self.n_options - self.n_items <= MOST_SETS
        layout = self.layout
        if not (few and self.is_complete and isinstance(layout, DevicePacked)) or layout.n_wide:
            return None
        return OptionSets.of(self.items.starts).all_pairs(cp.asnumpy(layout.pairs()), self.n_users)

    def collect(self, x: Any) -> npt.NDArray[Any]:
        """A user array as a NumPy array."""
        return cp.asnumpy(x)  # type: ignore[no-any-return]

    def choices(self, weights: Vector) -> Array:
        """``C w``."""
        given = cp.asarray(weights, dtype=cp.float64)
        if given.ndim == 1:
            return self.layout.choices(given[:, None])[:, 0]
        return self.layout.choices(given)

    def choosers(self, scores: Array) -> Vector:
        """``Cᵀ s``."""
        given = cp.asarray(scores, dtype=cp.float64)
        found = self._summed(given[:, None] if given.ndim == 1 else given)
        return cp.asnumpy(found[:, 0] if given.ndim == 1 else found)  # type: ignore[no-any-return]

    def through(self, weights: Vector, step: Step, *arrays: Any) -> Any:
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

    def mapped(self, weights: Vector, step: Step, *arrays: Any) -> Array:
        """``step(C w, …)`` as a block of user arrays."""
        return cp.concatenate([part for _, part in self._stepped(weights, step, arrays)])

    def extremes(self, positions: Array, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        given = cp.asarray(positions)
        options = int(self.items.starts[min(first_items or self.n_items, self.n_items)])
        low, high = self.layout.extremes(given.astype(cp.int64))
        kind = given.dtype
        return cp.asnumpy(low[:options].astype(kind)), cp.asnumpy(high[:options].astype(kind))

    def fingerprints(self, words: npt.NDArray[np.uint64] | None = None) -> Array:
        """A 64-bit number per answer sheet."""
        words = option_words(self.n_options) if words is None else words
        return self.layout.choices(cp.asarray(words)[:, None])[:, 0]

    def sheets(self, users: Any) -> Vector:
        """The answer sheets of a few users."""
        return self.layout.sheets(np.asarray(self.collect(users), dtype=np.int64))

    def subset(self, users: Any, *, keep_options: bool = False) -> Any:
        """Some users on the GPU, and which options are left."""
        return super().subset(self.collect(users), keep_options=keep_options)

    # -- order over users -------------------------------------------------------------------

    def user_array(self, x: npt.NDArray[Any]) -> Array:
        """A user array from values in the processor's memory."""
        return cp.asarray(x)

    def where(self, marks: Any) -> Array:
        """The users for whom a user array is true."""
        return cp.flatnonzero(marks)

    def levelled(self, x: Array, limit: float) -> Array:
        """Values in a chain get the middle of its ends."""
        order = cp.argsort(x)
        ordered = x[order]
        apart = cp.diff(ordered) > limit
        found = x
        if not bool(apart.all()):
            end = cp.ones(1, dtype=bool)
            begins = cp.concatenate([end, apart])
            middles = (ordered[begins] + ordered[cp.concatenate([apart, end])]) / 2
            ordered = middles[cp.cumsum(begins) - 1]
            found = cp.empty_like(x)
            found[order] = ordered
        self._sorted = found, ordered
        return found

    def ranks(self, x: Array, limit: float) -> Array:
        """Rank 1 is the highest; values in a chain share one."""
        ordered = cp.sort(x)
        apart = cp.diff(ordered) > limit
        highs = ordered[cp.concatenate([apart, cp.ones(1, dtype=bool)])]
        chain_end = highs[cp.searchsorted(highs, x, side="left")]
        below = cp.searchsorted(ordered, chain_end, side="right")
        return 1.0 + self.n_users - below

    def average_ranks(self, x: Array) -> Array:
        """Places from 1 up, lowest first; equal values share the mean of theirs."""
        ordered = cp.sort(x)
        first = cp.searchsorted(ordered, x, side="left")
        return (first + cp.searchsorted(ordered, x, side="right") + 1) / 2

    def how_many(self, x: Array) -> Array:
        """For each user, how many have the same value."""
        ordered = cp.sort(x)
        first = cp.searchsorted(ordered, x, side="left")
        return (cp.searchsorted(ordered, x, side="right") - first).astype(cp.float64)

    def value_at(self, x: Array, place: int) -> float:
        """The value at a place of the order, lowest first."""
        values, ordered = self._sorted
        return float(ordered[place] if values is x else cp.partition(x, place)[place])

    @cached_property
    def _one(self) -> Array:
        return cp.ones(1)

    # -- parts of a pass --------------------------------------------------------------------

    def _linear(self, weights: Vector, scale: Array) -> Vector:
        """One pass; a scale of one number is the same for all users."""
        weights = np.asarray(weights, dtype=np.float64)
        if self._scale[0] is not scale:  # a solver gives the same one every time
            self._scale = scale, float(largest_sizes(scale[:, None])[0])
        largest = np.maximum.reduceat(np.abs(weights), self.items.starts[:-1]).sum()
        bound = float(largest) * (1 + 1e-6) * self._scale[1]
        if not np.isfinite(bound):
            return self.choosers(self.choices(weights) * scale)
        return cp.asnumpy(self.layout.through(cp.asarray(weights), scale, bound))  # type: ignore[no-any-return]

    def _summed(self, scores: Array, first: int = 0) -> Array:
        """``Cᵀ s``; a score that is no number makes none of its options' sums."""
        if bool(cp.isfinite(largest_sizes(scores)).all()):
            return self.layout.choosers(scores, first)
        bad = ~cp.isfinite(scores)
        sums = self.layout.choosers(cp.where(bad, 0.0, scores), first)
        return cp.where(self.layout.choosers(bad.astype(cp.float64), first) > 0, cp.nan, sums)

    def _stepped(self, weights: Vector, step: Step, arrays: tuple[Any, ...]) -> Any:
        """What a step makes of each block of users, with the block's first user."""
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
    """Say so when the card has not enough memory, and what fits."""
    if groups is None:
        answers = 4 * len(responses.rows[1]) + 8 * responses.n_users
    else:
        answers = (4 * -(-groups.n_narrow // 4) + 2 * (groups.n_groups - groups.n_narrow)) * (
            responses.n_users
        )
    needed = answers + 8 * ARRAYS_AT_ONCE * responses.n_users
    free = cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes()
    if needed > free:
        fit = int(responses.n_users * (free / needed))
        raise InputError(
            f"The engine cupy needs about {needed / 2**30:.1f} GiB on the GPU for "
            f"{responses.n_users:,} users and has {free / 2**30:.1f} GiB free; about {fit:,} "
            "users fit. Rank a sample of them, or use the engine threads."
        )
