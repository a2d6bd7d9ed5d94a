"""The cluster engine: parts of the users on the workers of a Dask cluster, user arrays of Dask.

Every worker holds its parts packed and makes the same passes over them as the threaded engine. What
travels is as long as the options are many: weights to the workers, sums back, added up on the way.
User arrays are Dask arrays with one chunk per part. Parts and arrays are made again from the files
when a worker is lost.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar
from uuid import uuid4

import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import dask_order as orders
from hitsndiffs.engines import dask_parts as work
from hitsndiffs.engines.base import Engine, Step, option_words
from hitsndiffs.engines.dask_order import Buckets
from hitsndiffs.engines.links import all_are_linked
from hitsndiffs.errors import InputError

__all__ = ["DaskEngine"]

Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Array = Any  # a dask.array.Array

#: How many sums are added up by one task.
FAN_IN = 8
#: Arrays over options up to this size travel with every task (bytes).
INLINE = 2**16
#: A part of the users with at most this many answers is worked on where the caller is.
SMALL = 50_000_000
#: Labels that are fetched to show as examples.
SHOWN = 1000


class DaskEngine(Engine):
    """The sums on a cluster.

    Parameters
    ----------
    client
        A connection to the scheduler.
    parts
        One :class:`~hitsndiffs.engines.dask_parts.Part` each, on the workers.
    sizes
        How many users each part has.
    items
        Items and options of all parts.
    notes
        Sentences on what was dropped or assumed.
    """

    name: ClassVar[str] = "dask"
    arrays: ClassVar[str] = "dask"
    in_memory: ClassVar[bool] = False
    threads = 1

    def __init__(
        self,
        client: Client,
        parts: Sequence[Future],
        sizes: Sequence[int],
        items: Items,
        notes: Sequence[str] = (),
    ) -> None:
        self.client = client
        self.items = items
        self.notes = tuple(notes)
        self._parts = list(parts)
        self._made: dict[str, list[Future]] = {}
        self._sizes = tuple(sizes)
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        self.n_users = int(self._starts[-1])

    # -- the sums ---------------------------------------------------------------------------

    def choices(self, weights: Vector) -> Array:
        """``C w``."""
        weights = np.asarray(weights, dtype=np.float64)
        made = self._on_parts(work.choices, self._given(weights))
        return self._array(made, weights.shape[1:])

    def choosers(self, scores: Any) -> Vector:
        """``Cᵀ s``."""
        sums: Vector = self._total(self._on_parts(work.choosers, arrays=[scores]))
        return sums

    def through(self, weights: Vector, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, part by part."""
        given = self._given(weights)
        return self._total(self._on_parts(work.through, given, step, arrays=arrays))

    def mapped(self, weights: Vector, step: Step, *arrays: Any) -> Array:
        """``step(C w, …)`` as a block of user arrays."""
        made = self._on_parts(work.mapped, self._given(weights), step, arrays=arrays)
        return self._array(made, self.call(np.shape, made[0]).result()[1:])

    def extremes(self, positions: Any, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        ends = self._on_parts(work.extremes, first_items, arrays=[positions])
        low, high = self._joined(orders.extreme_ends, ends).result()
        return low, high

    def fingerprints(self, words: Any = None) -> Array:
        """A 64-bit number per answer sheet."""
        given = self._given(option_words(self.n_options) if words is None else words)
        return self._array(self._on_parts(work.fingerprints, given), (), np.uint64)

    @cached_property
    def gram(self) -> Vector | None:
        """``Cᵀ C`` where everybody answered everything and the options are few."""
        if not self.is_complete or not work.few_sets(self.items):
            return None
        found: Vector = self._total(self._on_parts(work.gram))
        return found

    @cached_property
    def answers_per_user(self) -> Array:
        """How many items each user answered, as real numbers."""
        return self.choices(np.ones(self.n_options))

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return self._array([self.call(np.ones, size) for size in self._sizes], ())

    # -- order ------------------------------------------------------------------------------

    def levelled(self, x: Any, limit: float) -> Any:
        """Values in a chain get the middle of its ends."""
        return self._levels(x, limit)[:, 1]

    def ranks(self, x: Any, limit: float) -> Any:
        """Rank 1 is the highest; values in a chain share one."""
        return self._levels(x, limit)[:, 0]

    def _levels(self, x: Any, limit: float) -> Any:
        buckets = self._buckets(x)
        chains = self.each((work.ends_of, number, limit, *buckets.parts) for number in buckets)
        ends = orders.meet_across(chains, limit)
        return self._answered(buckets, orders.levelled, [(end, limit) for end in ends], (2,))

    def average_ranks(self, x: Any) -> Any:
        """Places from 1 up, lowest first; equal values share the mean of theirs."""
        buckets = self._buckets(x)
        return self._answered(buckets, orders.average_ranks, [(int(n),) for n in buckets.below])

    def how_many(self, x: Any) -> Any:
        """For each user, how many have the same value."""
        buckets = self._buckets(x)
        return self._answered(buckets, orders.how_many, [() for _ in buckets])

    def value_at(self, x: Any, place: int) -> float:
        """The value at a place of the order, lowest first."""
        buckets = self._buckets(x)
        number = int(np.searchsorted(buckets.below, place, side="right")) - 1
        inside = place - int(buckets.below[number])
        return float(self.call(orders.value_at, number, inside, *buckets.parts).result())

    def top(self, x: Any, count: int) -> Ints:
        """Numbers of the users with the highest values, best first."""
        found = self.each((work.highest, block, count) for block in self.blocks(x))
        values = np.concatenate([v for v, _ in found])
        users = np.concatenate([i + s for (_, i), s in zip(found, self._starts, strict=False)])
        return np.asarray(users[np.lexsort((users, -values))][:count], dtype=np.int64)

    def _buckets(self, x: Any) -> Buckets:
        return Buckets.of(self.call, self.each, self.blocks(x))

    def _answered(
        self,
        buckets: Buckets,
        act: Callable[..., Any],
        more: list[tuple[Any, ...]],
        columns: tuple[int, ...] = (),
    ) -> Array:
        return self._array(buckets.answered(self.call, act, more), columns)

    # -- users and parts --------------------------------------------------------------------

    def user_number(self, label: Any) -> int | None:
        """Place of a user named by its label (compared as text), or ``None``."""
        text = str(label).strip()
        found = self.each((work.user_number, part, text) for part in self._parts)
        for number, first in zip(found, self._starts, strict=False):
            if number is not None:
                return int(first + number)
        return None

    def user_labels(self, users: Ints) -> npt.NDArray[Any]:
        """Labels of a few users."""
        found: npt.NDArray[Any] = self._of_few(work.user_labels, users, 0)
        return found

    @property
    def some_users(self) -> npt.NDArray[Any]:
        """Labels of the first users."""
        return self.user_labels(np.arange(min(SHOWN, self.n_users)))

    def sheets(self, users: Ints) -> Vector:
        """The answer sheets of a few users: a column each, 1 for the options chosen."""
        found: Vector = self._of_few(work.sheets, users, 1)
        return found

    def user_array(self, x: npt.NDArray[Any]) -> Array:
        """A user array from values that are in this process."""
        return da.from_array(x, chunks=(self._sizes, *((n,) for n in x.shape[1:])))

    def kept(self, x: Any) -> Array:
        """A user array that is made now, and stays on the workers."""
        return self._array(self.blocks(x), x.shape[1:], x.dtype)

    def reduced(self, act: Callable[..., Any], *arrays: Any) -> Any:
        """The sum of ``act(*blocks)`` over the parts."""
        blocks = [self.blocks(array) for array in arrays]
        return self._total([self.call(act, *own) for own in zip(*blocks, strict=True)])

    def where(self, marks: Any) -> Any:
        """The users for whom a user array is true: the array itself."""
        return marks

    def picked(self, x: Any, users: Any) -> npt.NDArray[Any]:
        """A user array's values for a few users, in this process."""
        pairs = zip(self.blocks(x), self.blocks(users), strict=True)
        return np.concatenate(self.each((work.picked, *pair) for pair in pairs))

    def first(self, marks: Any, count: int) -> Ints:
        """Numbers of the first users for whom a user array is true."""
        found = self.each((work.first_places, block, count) for block in self.blocks(marks))
        numbers = [places + first for places, first in zip(found, self._starts, strict=False)]
        return np.concatenate(numbers)[:count].astype(np.int64)

    @cached_property
    def responses(self) -> Responses:
        """The answers themselves, brought here where they are few."""
        if self.n_responses > SMALL:
            raise self.cannot_serve("This")
        return work.together(self.each((work.answers, part) for part in self._parts))

    def collect(self, x: Any) -> npt.NDArray[Any]:
        """A user array as a NumPy array in this process."""
        if not isinstance(x, da.Array):
            return np.asarray(x)
        return np.concatenate(self.client.gather(self.blocks(x)))

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users, given by numbers or by a user array of truth values, and the options left.

        Few answers are fetched and worked on here; many stay on the workers.
        """
        chosen = users if isinstance(users, da.Array) else self.marked(np.asarray(users))
        parts = self._on_parts(work.restricted, arrays=[chosen])
        counted = self.each((work.counted, part) for part in parts)
        counts = np.sum([count for _, count in counted], axis=0)
        if counts.sum() <= SMALL:
            pieces = self.each((work.answers, part) for part in parts)
            return _opened(work.together([p for p in pieces if p is not None]), keep_options)
        if not keep_options and (counts == 0).any():
            raise InputError(
                "So many users cannot be taken apart on a cluster where some options are not "
                "theirs. Rank them by themselves, from files of their own."
            )
        kept = [(part, size) for part, (size, _) in zip(parts, counted, strict=True) if size]
        made = DaskEngine(
            self.client, [part for part, _ in kept], [n for _, n in kept], self.items, self.notes
        )
        return made, np.arange(self.n_options)

    def restrict_items(self, items: Ints) -> tuple[Engine, Ints]:
        """All users with some items, and which options are left."""
        options = np.flatnonzero(np.isin(self.items.of_option, items))
        parts = self._on_parts(work.with_options, options)
        numbers, sizes = np.unique(self.items.of_option[options], return_counts=True)
        kept = Items(
            self.items.labels[numbers],
            self.items.option_labels[options],
            np.concatenate([[0], np.cumsum(sizes)]),
        )
        return DaskEngine(self.client, parts, self._sizes, kept, self.notes), options

    def components(self, linked_by: str) -> Any:
        """Number of each user's connected component: 0, for all must be linked."""
        if not all_are_linked(self, self.n_users, linked_by):
            raise InputError(
                f"Not all users can be compared with each other (they share no {linked_by}), and "
                "the engine dask does not rank groups apart. Rank one group at a time, a sample of "
                "the users, or use the engine auto on one machine."
            )
        return 0.0 * self.everybody

    # -- plumbing ---------------------------------------------------------------------------

    def call(self, act: Callable[..., Any], *arguments: Any) -> Future:
        """Have a worker do something; its result stays there."""
        return self.client.submit(act, *arguments, pure=False)

    def each(self, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The results of some calls, here: they must be short."""
        found: list[Any] = self.client.gather([self.call(*call) for call in calls])
        return found

    def blocks(self, x: Any) -> list[Future]:
        """One block of a user array per part, on the workers."""
        if not isinstance(x, da.Array):
            x = self.user_array(np.asarray(x))
        if x.name in self._made:
            return self._made[x.name]
        chunks = (self._sizes, *((n,) for n in x.shape[1:]))
        made: list[Future] = self.client.compute(x.rechunk(chunks).to_delayed().ravel().tolist())
        self._remember(x, made)
        return made

    def part_futures(self) -> list[Future]:
        """The parts, on the workers."""
        return self._parts

    def _on_parts(
        self, act: Callable[..., Any], *given: Any, arrays: Sequence[Any] = ()
    ) -> list[Future]:
        """``act(part, *given, *blocks)`` for each part, with its blocks of user arrays."""
        blocks = [self.blocks(array) for array in arrays]
        return [
            self.call(act, part, *given, *own)
            for part, *own in zip(self._parts, *blocks, strict=True)
        ]

    def _given(self, x: npt.NDArray[Any]) -> Any:
        """What all parts need: sent along with each task, or, if it is long, once."""
        return x if x.nbytes <= INLINE else self.call(work.same, x)

    def _joined(self, join: Callable[..., Any], parts: list[Future]) -> Future:
        """Join the parts' results, some at a time, always in the same order."""
        while len(parts) > 1:
            parts = [
                self.call(join, *parts[first : first + FAN_IN])
                for first in range(0, len(parts), FAN_IN)
            ]
        return parts[0]

    def _total(self, sums: list[Future]) -> Any:
        return self._joined(orders.added, sums).result()

    def _array(self, made: list[Future], columns: Any, dtype: Any = np.float64) -> Array:
        """A user array from one block per part, which stays on the workers."""
        name = f"users-{uuid4().hex}"
        rest = tuple(int(n) for n in columns)
        graph = {(name, number, *(0,) * len(rest)): block for number, block in enumerate(made)}
        array = da.Array(graph, name, (self._sizes, *((n,) for n in rest)), dtype=dtype)
        self._remember(array, made)
        return array

    def _remember(self, x: Array, blocks: list[Future]) -> None:
        """An array's blocks are made once while somebody holds the array."""
        self._made[x.name] = blocks
        weakref.finalize(x, self._made.pop, x.name, None)

    def _of_few(self, act: Callable[..., Any], users: Ints, axis: int) -> Any:
        """What parts say of a few users, in the order given."""
        users = np.asarray(users, dtype=np.int64)
        if not len(users):
            return self.call(act, self._parts[0], users).result()
        owner = np.searchsorted(self._starts, users, side="right") - 1
        asked = np.unique(owner).tolist()
        found = self.each((act, self._parts[p], users[owner == p] - self._starts[p]) for p in asked)
        places = np.concatenate([np.flatnonzero(owner == p) for p in asked])
        return np.take(np.concatenate(found, axis=axis), np.argsort(places), axis=axis)


def _opened(local: Responses, keep_options: bool) -> tuple[Engine, Ints]:
    from hitsndiffs.engines.opening import open_engine

    if keep_options:
        return open_engine(local), np.arange(local.n_options)
    part, options = local.restrict(np.arange(local.n_users))
    return open_engine(part), options
