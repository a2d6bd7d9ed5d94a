"""The cluster engine: parts of the users on the workers of a Dask cluster, user arrays of Dask.

Every worker holds its parts packed and makes the same passes over them as the threaded engine. What
travels is as long as the options are many: weights to the workers, sums back, added up pair by pair
on the way. User arrays are Dask arrays with one chunk per part. Parts and arrays are made again from
the files when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.delayed import Delayed, delayed
from distributed import Client

from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import dask_order as orders
from hitsndiffs.engines import dask_parts as work
from hitsndiffs.engines.base import Engine, Step, option_words
from hitsndiffs.engines.links import all_are_linked
from hitsndiffs.errors import InputError

__all__ = ["DaskEngine"]

Vector = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Array = da.Array

#: How many sums are added up by one task.
FAN_IN = 8
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
    threads = 1

    def __init__(
        self,
        client: Client,
        parts: Sequence[Any],
        sizes: Sequence[int],
        items: Items,
        notes: Sequence[str] = (),
    ) -> None:
        self.client = client
        self.items = items
        self.notes = tuple(notes)
        self._parts = list(parts)
        self._sizes = tuple(sizes)
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        self.n_users = int(self._starts[-1])

    # -- the sums ---------------------------------------------------------------------------

    def choices(self, weights: Vector) -> Array:
        """``C w``."""
        weights = np.asarray(weights, dtype=np.float64)
        given = delayed(weights, pure=False)
        return self._array(
            [_call(work.choices, part, given) for part in self._parts], weights.shape[1:]
        )

    def choosers(self, scores: Any) -> Vector:
        """``Cᵀ s``."""
        blocks = self._blocks(scores)
        return self._total(
            _call(work.choosers, part, block)
            for part, block in zip(self._parts, blocks, strict=True)
        )

    def through(self, weights: Vector, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, part by part."""
        given, act = delayed(weights, pure=False), delayed(step, pure=False, traverse=False)
        blocks = [self._blocks(array) for array in arrays]
        return self._total(
            _call(work.through, part, given, act, *own)
            for part, *own in zip(self._parts, *blocks, strict=True)
        )

    def mapped(self, weights: Vector, step: Step, *arrays: Any) -> Array:
        """``step(C w, …)`` as a block of user arrays."""
        given, act = delayed(weights, pure=False), delayed(step, pure=False, traverse=False)
        blocks = [self._blocks(array) for array in arrays]
        made = [
            _call(work.mapped, part, given, act, *own)
            for part, *own in zip(self._parts, *blocks, strict=True)
        ]
        futures = self.client.compute(made)
        columns = self.client.submit(np.shape, futures[0]).result()[1:]
        return self._array([delayed(future) for future in futures], columns)

    def extremes(self, positions: Any, first_items: int | None = None) -> tuple[Any, Any]:
        """First and last position of each option's choosers."""
        blocks = self._blocks(positions)
        ends = [
            _call(work.extremes, part, block, first_items)
            for part, block in zip(self._parts, blocks, strict=True)
        ]
        low, high = self._result(_tree(orders.extreme_ends, ends))
        return low, high

    def fingerprints(self, words: Any = None) -> Array:
        """A 64-bit number per answer sheet."""
        given = delayed(option_words(self.n_options) if words is None else words, pure=False)
        made = [_call(work.fingerprints, part, given) for part in self._parts]
        return self._array(made, (), np.uint64)

    @cached_property
    def gram(self) -> Vector | None:
        """``Cᵀ C`` where everybody answered everything and the options are few."""
        if not self.is_complete or not work.few_sets(self.items):
            return None
        return self._total(_call(work.gram, part) for part in self._parts)

    @cached_property
    def answers_per_user(self) -> Array:
        """How many items each user answered, as real numbers."""
        return self.choices(np.ones(self.n_options))

    @property
    def everybody(self) -> Array:
        """A user array of ones."""
        return da.ones(self.n_users, chunks=(self._sizes,))

    # -- order ------------------------------------------------------------------------------

    def levels(self, x: Any, limit: float) -> tuple[Any, Any]:
        """Rank of each value, ties within the limit shared, and the mean of its level."""
        buckets = _Buckets(self, x)
        chains = self._result(
            delayed([_call(work.ends_of, number, limit, *buckets.parts) for number in buckets])
        )
        ends = orders.meet_across(chains, limit)
        found = buckets.answered(orders.levelled, [(end, limit) for end in ends], (2,))
        return found[:, 0], found[:, 1]

    def average_ranks(self, x: Any) -> Any:
        """Places from 1 up, lowest first; equal values share the mean of theirs."""
        buckets = _Buckets(self, x)
        return buckets.answered(orders.average_ranks, [(int(n),) for n in buckets.below])

    def how_many(self, x: Any) -> Any:
        """For each user, how many have the same value."""
        buckets = _Buckets(self, x)
        return buckets.answered(orders.how_many, [() for _ in buckets])

    def value_at(self, x: Any, place: int) -> float:
        """The value at a place of the order, lowest first."""
        buckets = _Buckets(self, x)
        number = int(np.searchsorted(buckets.below, place, side="right")) - 1
        there = _call(orders.in_bucket, number, *buckets.parts)
        return float(
            self._result(_call(orders.value_at, there, place - int(buckets.below[number])))
        )

    def top(self, x: Any, count: int) -> Ints:
        """Numbers of the users with the highest values, best first."""
        blocks = self._blocks(x)
        found = self._result(delayed([_call(work.highest, block, count) for block in blocks]))
        values = np.concatenate([v for v, _ in found])
        users = np.concatenate([i + s for (_, i), s in zip(found, self._starts, strict=False)])
        return np.asarray(users[np.lexsort((users, -values))][:count], dtype=np.int64)

    # -- users and parts --------------------------------------------------------------------

    def user_number(self, label: Any) -> int | None:
        """Place of a user named by its label (compared as text), or ``None``."""
        text = str(label).strip()
        found = self._result(delayed([_call(work.user_number, p, text) for p in self._parts]))
        for number, first in zip(found, self._starts, strict=False):
            if number is not None:
                return int(first + number)
        return None

    def user_labels(self, users: Ints) -> npt.NDArray[Any]:
        """Labels of a few users."""
        return self._of_few(work.user_labels, users, lambda found: np.concatenate(found))

    @property
    def some_users(self) -> npt.NDArray[Any]:
        """Labels of the first users."""
        return self.user_labels(np.arange(min(SHOWN, self.n_users)))

    def sheets(self, users: Ints) -> Vector:
        """The answer sheets of a few users: a column each, 1 for the options chosen."""
        return self._of_few(work.sheets, users, lambda found: np.concatenate(found, axis=1), axis=1)

    def collect(self, x: Any) -> npt.NDArray[Any]:
        """A user array as a NumPy array in this process."""
        return np.asarray(self._result(x)) if isinstance(x, da.Array) else np.asarray(x)

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users, given by a user array of truth values, and which options are left.

        Few answers are fetched and worked on here; many stay on the workers.
        """
        chosen = users if isinstance(users, da.Array) else self._marked(users)
        blocks = self._blocks(chosen)
        parts = [
            _call(work.restricted, part, block)
            for part, block in zip(self._parts, blocks, strict=True)
        ]
        futures = self.client.compute(parts)
        counted = self._result(delayed([_call(work.counted, f) for f in futures]))
        sizes = [size for size, _ in counted]
        counts = np.sum([count for _, count in counted], axis=0)
        if counts.sum() <= SMALL:
            pieces = self._result(delayed([delayed(f) for f in futures]))
            local = work.together([p.engine.responses for p in pieces if p is not None])
            return _opened(local, keep_options)
        if not keep_options and (counts == 0).any():
            raise InputError(
                "The users fall into groups that cannot be compared with each other, and the "
                "largest is too large to be taken apart on a cluster. Rank one group at a time."
            )
        kept = [(f, size) for f, size in zip(futures, sizes, strict=True) if size]
        made = DaskEngine(
            self.client, [f for f, _ in kept], [size for _, size in kept], self.items, self.notes
        )
        return made, np.arange(self.n_options)

    def restrict_items(self, items: Ints) -> tuple[Engine, Ints]:
        """All users with some items, and which options are left."""
        keep = np.isin(self.items.of_option, items)
        options = np.flatnonzero(keep & (self.choosers_per_option > 0))
        parts = self.client.compute(
            [_call(work.with_options, part, options) for part in self._parts]
        )
        numbers, sizes = np.unique(self.items.of_option[options], return_counts=True)
        kept = Items(
            self.items.labels[numbers],
            self.items.option_labels[options],
            np.concatenate([[0], np.cumsum(sizes)]),
        )
        return DaskEngine(self.client, parts, self._sizes, kept, self.notes), options

    def components(self, linked_by: str) -> Any:
        """Number of each user's connected component."""
        answered = self.answers_per_user > 0
        everybody = int(self._result(answered.sum()))
        if everybody and all_are_linked(self, everybody, linked_by):
            return da.where(answered, 0, -1)
        raise InputError(
            "Not all users can be compared with each other (they share no "
            f"{linked_by}), and engine='dask' does not rank groups apart. Rank one group at a "
            'time, a sample (--sample N), or use engine="auto" on one machine.'
        )

    # -- plumbing ---------------------------------------------------------------------------

    def _array(self, made: list[Any], columns: tuple[int, ...], dtype: Any = np.float64) -> Array:
        """A user array from one block per part; it is made now and stays on the workers."""
        blocks = [
            da.from_delayed(block, shape=(size, *columns), dtype=dtype)
            for block, size in zip(made, self._sizes, strict=True)
        ]
        return self.client.persist(da.concatenate(blocks, axis=0))

    def _blocks(self, x: Any) -> list[Delayed]:
        """One block of a user array per part."""
        if not isinstance(x, da.Array):
            x = da.from_array(np.asarray(x), chunks=-1)
        chunks = (self._sizes, *((n,) for n in x.shape[1:]))
        return list(x.rechunk(chunks).to_delayed(optimize_graph=False).ravel())

    def _total(self, sums: Any) -> Any:
        return self._result(_tree(orders.added, list(sums)))

    def _result(self, lazy: Any) -> Any:
        return self.client.compute(lazy).result()

    def _marked(self, users: Any) -> Array:
        marks = np.zeros(self.n_users, dtype=bool)
        marks[np.asarray(users)] = True
        return da.from_array(marks, chunks=(self._sizes,))

    def _of_few(
        self, act: Callable[..., Any], users: Ints, join: Callable[..., Any], axis: int = 0
    ) -> Any:
        """What parts say of a few users, in the order given."""
        users = np.asarray(users, dtype=np.int64)
        owner = np.searchsorted(self._starts, users, side="right") - 1
        asked = np.unique(owner).tolist()
        found = self._result(
            delayed(
                [_call(act, self._parts[p], users[owner == p] - self._starts[p]) for p in asked]
            )
        )
        places = np.concatenate([np.flatnonzero(owner == p) for p in asked])
        joined = join(found)
        return np.take(joined, np.argsort(places), axis=axis)


class _Buckets:
    """The users' values sorted into buckets on the workers."""

    def __init__(self, engine: DaskEngine, x: Any) -> None:
        self.engine = engine
        blocks = engine.client.compute(engine._blocks(x))
        some = engine._result(delayed([_call(orders.sampled, block) for block in blocks]))
        edges = orders.splitters([each for each in some if len(each)], len(blocks))
        self.parts = engine.client.compute(
            [_call(orders.sort_and_cut, block, edges) for block in blocks]
        )
        sizes = engine._result(delayed([_call(orders.bucket_sizes, p) for p in self.parts]))
        self.sizes = np.sum(sizes, axis=0)
        #: How many values are below each bucket.
        self.below = np.cumsum(self.sizes) - self.sizes

    def __iter__(self) -> Any:
        return iter(range(len(self.sizes)))

    def answered(
        self, act: Callable[..., Any], more: list[tuple[Any, ...]], columns: tuple[int, ...] = ()
    ) -> Array:
        """What ``act`` finds for every value of each bucket, back with the users."""
        n_parts = len(self.parts)
        buckets = [
            _call(orders.act_on, act, number, *self.parts, *more[number], n_parts=n_parts)
            for number in self
        ]
        back = [
            _call(orders.brought_back, part, number, *buckets)
            for number, part in enumerate(self.parts)
        ]
        return self.engine._array(back, columns)


def _call(act: Callable[..., Any], *arguments: Any, **named: Any) -> Delayed:
    return delayed(act, pure=False)(*arguments, **named)


def _tree(join: Callable[..., Any], parts: list[Any]) -> Any:
    """Join the parts' results, some at a time, always in the same order."""
    while len(parts) > 1:
        parts = [
            _call(join, *parts[first : first + FAN_IN]) if first + 1 < len(parts) else parts[first]
            for first in range(0, len(parts), FAN_IN)
        ]
    return parts[0]


def _opened(local: Responses, keep_options: bool) -> tuple[Engine, Ints]:
    from hitsndiffs.engines.opening import open_engine

    if keep_options:
        return open_engine(local), np.arange(local.n_options)
    part, options = local.restrict(np.arange(local.n_users))
    return open_engine(part), options
