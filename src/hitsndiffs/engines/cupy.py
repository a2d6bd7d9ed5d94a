"""The GPU engine: answers in the GPU's memory, user arrays as CuPy arrays.

User-length arrays stay on the GPU; option-length arrays come back as NumPy arrays. Steps of a pass
get CuPy arrays, on which NumPy's functions work as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import cupy as cp
import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Words
from hitsndiffs.data.items import Items
from hitsndiffs.data.pool import available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Step, option_words, scaled
from hitsndiffs.engines.cupy_launch import largest_sizes
from hitsndiffs.engines.cupy_layout import DevicePacked
from hitsndiffs.engines.cupy_rows import DeviceRows
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.memory import MemoryEngine
from hitsndiffs.engines.threads import packable
from hitsndiffs.errors import InputError

__all__ = ["CupyEngine"]

Array = Any  # a cupy.ndarray

#: Numbers in a block of users that a step processes at a time.
STEP_NUMBERS = 2**25
#: Number of 8-byte user arrays that a method holds at a time, besides the answers.
ARRAYS_AT_ONCE = 12


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
        elif responses.is_dense:
            self.layout = DevicePacked.of_codes(groups, responses.codes)
        else:
            self.layout = DevicePacked.of_rows(groups, *responses.rows)

    @classmethod
    def of_layout(cls, items: Items, layout: DevicePacked | DeviceRows) -> CupyEngine:
        """An engine for answers already on the device; it cannot take some users or items only."""
        made = cls.__new__(cls)
        made.items, made.layout, made.n_users = items, layout, layout.n_users
        made.threads, made.gives_answers = available_cores(), False
        return made

    @cached_property
    def answers_per_user(self) -> Array:
        """How many items each user answered, as real numbers."""
        if self.is_complete:
            return cp.full(self.n_users, float(self.n_items))
        return cp.rint(self.choices(np.ones(self.n_options)))

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return cp.ones(self.n_users)

    def collect(self, x: Any) -> npt.NDArray[Any]:
        """A user array as a NumPy array."""
        return cp.asnumpy(x)  # type: ignore[no-any-return]

    def choices(self, weights: Floats) -> Array:
        """``C w``."""
        given = cp.asarray(weights, dtype=cp.float64)
        if given.ndim == 1:
            return self.layout.choices(given[:, None])[:, 0]
        return self.layout.choices(given)

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

    def mapped(self, weights: Floats, step: Step, *arrays: Any) -> Array:
        """``step(C w, …)`` as a block of user arrays."""
        return cp.concatenate([part for _, part in self._stepped(weights, step, arrays)])

    def extremes(self, positions: Array, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        given = cp.asarray(positions)
        options = int(self.items.starts[min(first_items or self.n_items, self.n_items)])
        low, high = self.layout.extremes(given.astype(cp.int64))
        kind = given.dtype
        return cp.asnumpy(low[:options].astype(kind)), cp.asnumpy(high[:options].astype(kind))

    def fingerprints(self, words: Words | None = None) -> Array:
        """A 64-bit number per answer sheet."""
        words = option_words(self.n_options) if words is None else words
        return self.layout.choices(cp.asarray(words)[:, None])[:, 0]

    def answer_sheets(self, users: Any) -> Floats:
        """The answer sheets of a few users."""
        return self.layout.answer_sheets(np.asarray(self.collect(users), dtype=np.int64))

    def subset(self, users: Any, *, keep_options: bool = False) -> Any:
        """Some users on the GPU, and which options remain."""
        return super().subset(self.collect(users), keep_options=keep_options)

    # -- order over users -------------------------------------------------------------------

    def user_array(self, x: npt.NDArray[Any]) -> Array:
        """A user array from values in the host's memory."""
        return cp.asarray(x)

    def reduced(self, act: Callable[..., Any], *arrays: Any) -> Any:
        """The sum of ``act(*blocks)`` over blocks of users; the result must not be user-sized."""
        total: Any = None
        for first in range(0, self.n_users, STEP_NUMBERS):
            part = act(*(cp.asarray(array)[first : first + STEP_NUMBERS] for array in arrays))
            total = part if total is None else total + part
        return cp.asnumpy(total)

    def levelled(self, x: Array, limit: float) -> Array:
        """Values in a chain get the midpoint of its ends."""
        order = cp.argsort(x)
        ordered = x[order]
        apart, end = cp.diff(ordered) > limit, cp.ones(1, dtype=bool)
        begins = cp.concatenate([end, apart])
        middles = (ordered[begins] + ordered[cp.concatenate([apart, end])]) / 2
        found = cp.empty_like(x)
        found[order] = middles[cp.cumsum(begins) - 1]
        return found

    def ranks(self, x: Array, limit: float) -> Array:
        """Rank 1 is the highest; values in a chain share a rank."""
        ordered = cp.sort(x)
        apart = cp.diff(ordered) > limit
        highs = ordered[cp.concatenate([apart, cp.ones(1, dtype=bool)])]
        chain_end = highs[cp.searchsorted(highs, x, side="left")]
        below = cp.searchsorted(ordered, chain_end, side="right")
        return 1.0 + self.n_users - below

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
        answers = (4 * -(-groups.n_narrow // 4) + 2 * (groups.n_groups - groups.n_narrow)) * (
            responses.n_users
        )
    needed = answers + 8 * ARRAYS_AT_ONCE * responses.n_users
    free = cp.cuda.runtime.memGetInfo()[0] + cp.get_default_memory_pool().free_bytes()
    if needed > free:
        fit = int(responses.n_users * (free / needed))
        raise InputError(
            f"The cupy engine needs about {needed / 2**30:.1f} GiB on the GPU for "
            f"{responses.n_users:,} users and has {free / 2**30:.1f} GiB free; about {fit:,} "
            "users fit. Rank a sample of them, or use the threads engine."
        )
