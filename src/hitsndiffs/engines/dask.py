"""The cluster engine: parts of the users on the workers of a Dask cluster, Dask user arrays.

Every worker holds its parts packed and makes the same passes over them as the threaded engine. Only
option-length arrays travel: weights to the workers, and sums back, added up on the way. User arrays
are Dask arrays with one chunk per part. If a worker is lost, its parts and arrays are made again
from the files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise, repeat
from operator import getitem
from typing import Any, ClassVar

import dask.array as da
import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import dask_order as orders
from hitsndiffs.engines.base import Engine, Step, option_words
from hitsndiffs.engines.dask_blocks import Blocks
from hitsndiffs.engines.dask_order import Buckets
from hitsndiffs.engines.dask_parts import Part, extreme_ends, highest, together
from hitsndiffs.engines.gram import few_sets
from hitsndiffs.engines.links import all_are_linked
from hitsndiffs.errors import InputError

__all__ = ["DaskEngine"]

Array = Any  # a dask.array.Array

#: A subset of the users with at most this many answers is processed in the caller's process.
SMALL = 50_000_000
#: Number of labels fetched as examples.
SHOWN = 1000


class DaskEngine(Blocks):
    """The sums on a cluster; it takes the parameters of :class:`Blocks`."""

    name: ClassVar[str] = "dask"
    arrays: ClassVar[str] = "dask"
    in_memory: ClassVar[bool] = False
    threads = 1

    # -- the sums ---------------------------------------------------------------------------

    def choices(self, weights: Floats) -> Array:
        """``C w``."""
        weights = np.asarray(weights, dtype=np.float64)
        return self._array(Part.choices, self._given(weights), columns=weights.shape[1:])

    def choosers(self, scores: Any) -> Floats:
        """``Cᵀ s``."""
        sums: Floats = self._total(Part.choosers, arrays=[scores])
        return sums

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, part by part."""
        return self._total(Part.through, weights, step, arrays=arrays)

    def mapped(self, weights: Floats, step: Step, *arrays: Any) -> Array:
        """``step(C w, …)`` as a block of user arrays."""
        return self._array(Part.mapped, self._given(weights), step, arrays=arrays, columns=None)

    def extremes(self, positions: Any, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        act = partial(Part.extremes, first_items=first_items)
        low, high = self._total(act, arrays=[positions], join=extreme_ends)
        return low, high

    def fingerprints(self, words: Any = None) -> Array:
        """A 64-bit number per answer sheet."""
        given = self._given(option_words(self.n_options) if words is None else words)
        return self._array(Part.fingerprints, given, dtype=np.uint64)

    @cached_property
    def gram(self) -> Floats | None:
        """``Cᵀ C`` if everybody answered everything and there are few options."""
        if not self.is_complete or not few_sets(self.items):
            return None
        found: Floats = self._total(getattr, "gram")
        return found

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return self._array(getattr, "everybody")

    # -- order ------------------------------------------------------------------------------

    def levelled(self, x: Any, limit: float) -> Any:
        """Values in a chain get the midpoint of its ends."""
        return self._levels(x, limit)[:, 1]

    def ranks(self, x: Any, limit: float) -> Any:
        """Rank 1 is the highest; values in a chain share a rank."""
        return self._levels(x, limit)[:, 0]

    def _levels(self, x: Any, limit: float) -> Any:
        buckets = Buckets.of(self, self.blocks(x))
        ends = self.each(orders.chain_ends, repeat(limit), *buckets.pieces)
        joined = orders.meet_across(ends, buckets.above, limit)
        more = list(zip(joined, buckets.above.tolist(), repeat(limit), strict=False))
        return self._answered(buckets, orders.levelled, more, (2,))

    def values_at(self, x: Any, places: Sequence[int]) -> list[float]:
        """The values at some places in sorted order, lowest first."""
        return orders.found_at(self.each, self.blocks(x), list(places))

    def top(self, x: Any, count: int) -> Ints:
        """The numbers of the users with the highest values, best first."""
        found = self.each(highest, self.blocks(x), repeat(count))
        values = np.concatenate([v for v, _ in found])
        users = np.concatenate([i + s for (_, i), s in zip(found, self._starts, strict=False)])
        return np.asarray(users[np.lexsort((users, -values))][:count], dtype=np.int64)

    def _answered(
        self,
        buckets: Buckets,
        act: Callable[..., Any],
        more: list[tuple[Any, ...]],
        columns: tuple[int, ...] = (),
    ) -> Array:
        return self._held(lambda keys: buckets.answered(self, act, more, keys), columns)

    # -- users and parts --------------------------------------------------------------------

    def user_number(self, label: Any) -> int | None:
        """The place of the user with this label (compared as text), or ``None``."""
        text = str(label).strip()
        found = self.each(Part.user_number, self.parts, repeat(text))
        for number, first in zip(found, self._starts, strict=False):
            if number is not None:
                return int(first + number)
        return None

    def user_labels(self, users: Ints) -> npt.NDArray[Any]:
        """Labels of a few users."""
        found: npt.NDArray[Any] = self._of_few(Part.user_labels, users, 0)
        return found

    @property
    def some_users(self) -> npt.NDArray[Any]:
        """Labels of the first users."""
        return self.user_labels(np.arange(min(SHOWN, self.n_users)))

    def answer_sheets(self, users: Ints) -> Floats:
        """The answer sheets of a few users: one column each, 1 for the options chosen."""
        found: Floats = self._of_few(Part.answer_sheets, users, 1)
        return found

    def user_array(self, x: npt.NDArray[Any]) -> Array:
        """A user array from values in this process."""
        return da.from_array(x, chunks=(self._sizes, *((n,) for n in x.shape[1:])))

    def marked(self, users: Ints) -> Array:
        """A user array that is true for a few users, made where the users are."""
        users = np.sort(np.asarray(users, dtype=np.int64))
        bounds = pairwise(np.searchsorted(users, self._starts))
        own = [users[a:b] - first for (a, b), first in zip(bounds, self._starts, strict=False)]
        return self._held(
            lambda keys: self.calls(Part.marked, self.parts, own, keys=keys), dtype=np.bool_
        )

    def kept(self, x: Any) -> Array:
        """A user array that is computed now and stays on the workers."""
        self.blocks(x)
        return self._made[x.name].array

    def reduced(self, act: Callable[..., Any], *arrays: Any) -> Any:
        """The sum of ``act(*blocks)`` over the parts."""
        return self._total(Part.reduced, act, arrays=arrays)

    def picked(self, x: Any, users: Any) -> npt.NDArray[Any]:
        """A user array's values for a few users, in this process."""
        return np.concatenate(self.each(getitem, self.blocks(x), self.blocks(users)))

    @cached_property
    def responses(self) -> Responses:
        """The answers themselves, fetched if they are few."""
        if self.n_responses > SMALL:
            raise self.cannot_serve("This")
        return together(self.each(getattr, self.parts, repeat("responses")))

    def collect(self, x: Any) -> npt.NDArray[Any]:
        """A user array as a NumPy array in this process."""
        if not isinstance(x, da.Array):
            return np.asarray(x)
        return np.concatenate(self.client.gather(self.blocks(x)))

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users, given by numbers or a Boolean user array, and which options remain.

        Few answers are fetched and processed here; many stay on the workers.
        """
        chosen = users if isinstance(users, da.Array) else self.marked(np.asarray(users))
        parts = self._on_parts(Part.with_users, blocks=[self.blocks(chosen)])
        counted = self.each(Part.counted, parts)
        counts = sum(count for _, count in counted)
        if counts.sum() <= SMALL:
            return _opened(together(self.each(getattr, parts, repeat("responses"))), keep_options)
        if not keep_options and (counts == 0).any():
            raise InputError(
                "A subset this large cannot be split off on a cluster if it leaves some options "
                "unused. Rank these users separately, from their own files."
            )
        kept = [(part, size) for part, (size, _) in zip(parts, counted, strict=True) if size]
        return self._of([part for part, _ in kept], [n for _, n in kept]), np.arange(self.n_options)

    def _of(self, parts: list[Any], sizes: Sequence[int], items: Items | None = None) -> DaskEngine:
        """Other parts, on the same cluster."""
        return DaskEngine(
            self.client, parts, sizes, items or self.items, self.notes, self.here_up_to
        )

    def components(self, linked_by: str) -> Any:
        """The number of each user's connected component: always 0, as all must be linked."""
        if not all_are_linked(self, self.n_users, linked_by):
            raise InputError(
                f"Not all users can be compared with each other (they share no {linked_by}), and "
                "the dask engine does not rank separate groups. Rank one group at a time, a sample "
                "of the users, or use the auto engine on one machine."
            )
        return 0.0 * self.everybody


def _opened(local: Responses, keep_options: bool) -> tuple[Engine, Ints]:
    from hitsndiffs.engines.opening import open_engine

    if keep_options:
        return open_engine(local), np.arange(local.n_options)
    part, options = local.restrict(np.arange(local.n_users))
    return open_engine(part), options
