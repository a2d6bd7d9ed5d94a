"""The cluster engine: parts of the users on the workers of a Dask cluster, Dask user arrays.

Every worker holds its parts packed and makes the same passes over them as the threaded engine. Only
option-length arrays travel: weights to the workers, and sums back, added up on the way. User arrays
are Dask arrays with one chunk per part. If a worker is lost, its parts and arrays are made again
from the files.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from operator import getitem
from typing import Any, ClassVar, NamedTuple
from uuid import uuid4

import dask.array as da
import numpy as np
from distributed import Client, Future, futures_of

from hitsndiffs.data.arrays import Array as NumpyArray
from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import label_array, label_bytes
from hitsndiffs.data.layouts import Rows, some_rows
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import dask_order as orders
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.base import Engine, Step, scaled
from hitsndiffs.engines.dask_order import IN_BUCKET, Buckets
from hitsndiffs.engines.threads import MOST_SETS, ThreadsEngine
from hitsndiffs.errors import InputError

__all__ = ["HERE", "DaskEngine", "Part"]

Array = Any  # a dask.array.Array

#: A subset of the users with at most this many answers is processed in the caller's process.
SMALL = 50_000_000
#: With at most this many answers in all, methods are fitted in the caller's process: it is faster.
HERE = 5_000_000
#: How many sums one task adds up.
FAN_IN = 8
#: Arrays over options up to this size travel with every task (bytes).
INLINE = 2**16


# -- on the workers ------------------------------------------------------------------------------


class Part(ThreadsEngine):
    """Some users' answers, packed, with all options."""

    def __init__(self, responses: Responses) -> None:
        super().__init__(responses, threads=1)  # a worker runs a task per thread

    def __sizeof__(self) -> int:
        """The size, from which the scheduler sees what moving it costs: work goes to the part."""
        responses = self.responses
        held = (responses.codes,) if responses.is_dense else responses.rows
        answers = self.layout.nbytes + sum(array.nbytes for array in held)
        return 10**6 + answers + label_bytes(responses.users)

    def __reduce__(self) -> Any:
        return Part, (self.responses,)

    def choices(self, weights: NumpyArray, step: Step | None = None, *arrays: Any) -> Any:
        """``C w``, or ``step(C w, …)``, stored user after user."""
        return np.ascontiguousarray(super().choices(weights, step, *arrays))

    def with_users(self, users: NumpyArray) -> Part:
        """Some users, by number or marked, with all options."""
        return Part(self.responses.select(users, keep_options=True))

    def counted(self) -> tuple[int, Ints]:
        """How many users there are, and how many of them chose each option."""
        return self.n_users, self.choosers_per_option


def same(x: Any) -> Any:
    """Return the argument: a task that can be run again if its worker is lost."""
    return x


def highest(values: NumpyArray, count: int) -> tuple[NumpyArray, Ints]:
    """The highest values of a part, and their places."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[~np.isnan(values[order])]
    return values[order], order


def together(parts: list[Responses]) -> Responses:
    """Join the users of several parts, which have the same options."""
    users = label_array([user for part in parts for user in part.users.tolist()])
    codes, rows = None, None
    if all(part.is_dense for part in parts):
        codes = np.concatenate([part.codes for part in parts], axis=1)
    else:
        pairs = [part.rows for part in parts]
        counts = np.concatenate([np.diff(indptr) for indptr, _ in pairs])
        options = np.concatenate([options for _, options in pairs])
        rows = np.concatenate([[0], np.cumsum(counts)]), options
    return parts[0]._changed(users=users, codes=codes, rows=rows)


# -- joining the parts' results ----------------------------------------------------------------


def added(*sums: Any) -> Any:
    """Add up sums over options, and side sums if they come in pairs with these."""
    if isinstance(sums[0], tuple):
        return tuple(added(*each) for each in zip(*sums, strict=True))
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return total


# -- the engine ----------------------------------------------------------------------------------


class Held(NamedTuple):
    """A user array whose blocks are on the workers."""

    array: Any
    blocks: list[Future]


class DaskEngine(Engine):
    """The sums on a cluster.

    Parameters
    ----------
    client
        A connection to the scheduler.
    parts
        Futures of :class:`Part`, on the workers.
    sizes
        How many users each part has.
    items
        Items and options of all parts.
    notes
        Sentences about what was dropped or assumed.
    here_up_to
        Up to this many answers, methods fetch them and are fitted in the caller's process.
    """

    name: ClassVar[str] = "dask"
    arrays: ClassVar[str] = "dask"
    threads = 1

    def __init__(
        self,
        client: Client,
        parts: Sequence[Future],
        sizes: Sequence[int],
        items: Items,
        notes: Sequence[str] = (),
        here_up_to: int = HERE,
    ) -> None:
        self.here_up_to = here_up_to
        self.users_in_bucket = IN_BUCKET
        self.client = client
        self.items = items
        self.notes = tuple(notes)
        self.parts = list(parts)
        self._made: dict[str, Held] = {}
        self._sizes = tuple(sizes)
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        self.n_users = int(self._starts[-1])

    # -- the sums ---------------------------------------------------------------------------

    def choices(self, weights: NumpyArray, step: Step | None = None, *arrays: Any) -> Array:
        """``C w``, or ``step(C w, …)``."""
        weights = np.asarray(weights)
        if step is not None:
            return self._array(
                Part.choices, self._given(weights), step, arrays=arrays, columns=None
            )
        kind = weights.dtype if weights.dtype == np.uint64 else np.float64
        return self._array(
            Part.choices, self._given(weights), columns=weights.shape[1:], dtype=kind
        )

    def choosers(self, scores: Any) -> Floats:
        """``Cᵀ s``."""
        sums: Floats = self._total(Part.choosers, arrays=[scores])
        return sums

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``, part by part."""
        if step is scaled and arrays[0] is self.everybody and self._pairs is not None:
            return self._pairs @ weights
        return self._total(Part.through, weights, step, arrays=arrays)

    @cached_property
    def _pairs(self) -> Floats | None:
        """How many users chose two options, for all pairs, if everybody answered everything."""
        if not self.is_complete or self.n_options - self.n_items > MOST_SETS:
            return None
        found: Floats = self._total(getattr, "_pairs")
        return found

    @cached_property
    def everybody(self) -> Array:
        """A user array of ones."""
        return self._array(getattr, "everybody")

    # -- user arrays ------------------------------------------------------------------------

    def user_array(self, x: Any) -> Array:
        """A user array from values in this process; the engine's own is computed and kept."""
        if not isinstance(x, da.Array):
            return da.from_array(x, chunks=(self._sizes, *((n,) for n in x.shape[1:])))
        self.blocks(x)
        return self._made[x.name].array

    def collect(self, x: Any, users: Any = None) -> NumpyArray:
        """A user array as a NumPy array in this process, whole or for some users."""
        if not isinstance(x, da.Array):
            return np.asarray(x if users is None else x[users])
        if users is None:
            return np.concatenate(self.client.gather(self.blocks(x)))
        if isinstance(users, da.Array):
            return np.concatenate(self.each(getitem, self.blocks(x), self.blocks(users)))
        found = self._of_few(getitem, self.blocks(x), users)
        return np.concatenate([values for _, values in found])[_back(found)]

    def levelled(self, x: Any, limit: float) -> Any:
        """Values in a chain get the midpoint of its ends."""
        return self._levels(x, limit)[:, 1]

    def ranks(self, x: Any, limit: float) -> Any:
        """Rank 1 is the highest; values in a chain (gaps of at most ``limit``) share a rank."""
        return self._levels(x, limit)[:, 0]

    def _levels(self, x: Any, limit: float) -> Any:
        buckets = Buckets.of(self, self.blocks(x))
        ends = self.each(orders.chain_ends, repeat(limit), *buckets.pieces)
        joined = orders.meet_across(ends, buckets.above, limit)
        more = list(zip(joined, buckets.above.tolist(), repeat(limit), strict=False))
        return self._held(lambda keys: buckets.answered(self, orders.levelled, more, keys), (2,))

    def values_at(self, x: Any, places: Sequence[int]) -> list[float]:
        """The values at some places in sorted order, lowest first."""
        return orders.found_at(self.each, self.blocks(x), list(places))

    def top(self, x: Any, count: int) -> Ints:
        """The numbers of the users with the highest values, best first."""
        found = self.each(highest, self.blocks(x), repeat(count))
        values = np.concatenate([v for v, _ in found])
        users = np.concatenate([i + s for (_, i), s in zip(found, self._starts, strict=False)])
        return np.asarray(users[np.lexsort((users, -values))][:count], dtype=np.int64)

    # -- users and parts --------------------------------------------------------------------

    def user_labels(self, users: Ints) -> NumpyArray:
        """Labels of a few users."""
        found = self._of_few(Part.user_labels, self.parts, users)
        return np.concatenate([labels for _, labels in found])[_back(found)]

    def user_number(self, label: Any) -> int | None:
        """The place of the user with this label (compared as text), or ``None``."""
        text = str(label).strip()
        found = self.each(Part.user_number, self.parts, repeat(text))
        for number, first in zip(found, self._starts, strict=False):
            if number is not None:
                return int(first + number)
        return None

    def rows(self, users: Ints | None = None) -> Rows:
        """The options that some users chose (default: all)."""
        if users is None:
            return self.responses.rows
        found = self._of_few(Part.rows, self.parts, users)
        counts = np.concatenate([np.diff(indptr) for _, (indptr, _) in found])
        options = np.concatenate([options for _, (_, options) in found])
        return some_rows((np.concatenate([[0], np.cumsum(counts)]), options), _back(found))

    @cached_property
    def responses(self) -> Responses:
        """The answers themselves, fetched if they are few."""
        if self.n_responses > SMALL:
            raise self.cannot_serve("This")
        return together(self.each(getattr, self.parts, repeat("responses")))

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users, given by numbers or a Boolean user array, and which options remain.

        Few answers are fetched and processed here; many stay on the workers.
        """
        if isinstance(users, da.Array):
            chosen: list[Any] = self.blocks(users)
        else:
            ordered = np.sort(np.asarray(users, dtype=np.int64))
            cuts = np.split(ordered, np.searchsorted(ordered, self._starts[1:-1]))
            chosen = [own - first for own, first in zip(cuts, self._starts, strict=False)]
        parts = self.calls(Part.with_users, self.parts, chosen)
        counted = self.each(Part.counted, parts)
        counts = sum(count for _, count in counted)
        if counts.sum() <= SMALL:
            local = together(self.each(getattr, parts, repeat("responses")))
            part, options = local.restrict(np.arange(local.n_users), keep_options=keep_options)
            return open_engine(part), options
        if not keep_options and (counts == 0).any():
            raise InputError(
                "A subset this large cannot be split off on a cluster if it leaves some options "
                "unused. Rank these users separately, from their own files."
            )
        kept = [(part, size) for part, (size, _) in zip(parts, counted, strict=True) if size]
        parts, sizes = [part for part, _ in kept], [size for _, size in kept]
        made = DaskEngine(self.client, parts, sizes, self.items, self.notes, self.here_up_to)
        return made, np.arange(self.n_options)

    # -- work on the parts ------------------------------------------------------------------

    def call(self, act: Callable[..., Any], *arguments: Any) -> Future:
        """Run a function on a worker; its result stays there."""
        return self.client.submit(act, *arguments, pure=False)

    def calls(
        self,
        act: Callable[..., Any],
        *arguments: Iterable[Any],
        keys: list[Any] | str | None = None,
    ) -> list[Future]:
        """Run a function once per set of arguments, in one message; results stay on the workers.

        ``keys`` are the names of the results, or their common prefix.
        """
        rows = list(zip(*arguments, strict=False))  # constant arguments never end
        columns = [list(column) for column in zip(*rows, strict=True)]
        named: dict[str, Any] = {} if keys is None else {"key": keys}
        made: list[Future] = self.client.map(act, *columns, pure=False, **named)
        return made

    def each(self, act: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """Fetch the results of some calls; they must be short."""
        found: list[Any] = self.client.gather(self.calls(act, *arguments))
        return found

    def blocks(self, x: Any) -> list[Future]:
        """One block of a user array per part, on the workers."""
        if not isinstance(x, da.Array):
            x = self.user_array(np.asarray(x))
        if x.name not in self._made:
            chunks = (self._sizes, *((n,) for n in x.shape[1:]))
            kept = self.client.persist(x.rechunk(chunks))
            futures = {future.key: future for future in futures_of(kept)}
            numbers = range(len(self._sizes))
            made = [futures[key_of(kept.name, n, x.ndim - 1)] for n in numbers]
            self._remember(x, Held(kept, made))
        return self._made[x.name].blocks

    def _on_parts(
        self,
        act: Callable[..., Any],
        *given: Any,
        blocks: Sequence[list[Future]] = (),
        keys: list[Any] | None = None,
    ) -> list[Future]:
        """``act(part, *given, *blocks)`` for each part, with its blocks of user arrays."""
        return self.calls(act, self.parts, *map(repeat, given), *blocks, keys=keys)

    def _given(self, x: NumpyArray) -> Any:
        """An argument for all parts: sent with each task, or only once if it is long."""
        return x if x.nbytes <= INLINE else self.call(same, x)

    def _joined(self, join: Callable[..., Any], parts: list[Future]) -> Future:
        """Join the parts' results, some at a time, in a fixed order."""
        while len(parts) > 1:
            parts = [
                self.call(join, *parts[first : first + FAN_IN])
                for first in range(0, len(parts), FAN_IN)
            ]
        return parts[0]

    def _total(
        self,
        act: Callable[..., Any],
        *given: Any,
        arrays: Sequence[Any] = (),
        join: Callable[..., Any] = added,
    ) -> Any:
        """The sum of ``act(part, *given, *blocks)`` over the parts."""
        arrays = [x if isinstance(x, da.Array) else self.user_array(np.asarray(x)) for x in arrays]
        blocks = [self.blocks(array) for array in arrays]
        sent = (self._given(x) if isinstance(x, np.ndarray) else x for x in given)
        return self._joined(join, self._on_parts(act, *sent, blocks=blocks)).result()

    def _array(
        self,
        act: Callable[..., Any],
        *given: Any,
        arrays: Sequence[Any] = (),
        columns: tuple[int, ...] | None = (),
        dtype: Any = np.float64,
    ) -> Array:
        """``act(part, *given, *blocks)`` for each part, as a user array that stays on the workers.

        If ``columns`` is ``None``, there is one further axis, and a worker is asked for its length.
        """
        blocks = [self.blocks(array) for array in arrays]
        return self._held(
            lambda keys: self._on_parts(act, *given, blocks=blocks, keys=keys), columns, dtype
        )

    def _held(
        self,
        make: Callable[[list[Any]], list[Future]],
        columns: tuple[int, ...] | None = (),
        dtype: Any = np.float64,
    ) -> Array:
        """A user array from one block per part; ``make`` is given the blocks' keys."""
        name, axes = f"users-{uuid4().hex}", 1 if columns is None else len(columns)
        made = make([key_of(name, number, axes) for number in range(len(self.parts))])
        if columns is None:
            columns = self.call(np.shape, made[0]).result()[1:]
        graph = {block.key: block for block in made}
        array = da.Array(graph, name, (self._sizes, *((int(n),) for n in columns)), dtype=dtype)
        self._remember(array, Held(array, made))
        return array

    def _remember(self, x: Array, held: Held) -> None:
        """Keep an array's blocks, so that they are made only once, while the array is in use."""
        self._made[x.name] = held
        weakref.finalize(x, self._made.pop, x.name, None)

    def _of_few(
        self, act: Callable[..., Any], parts: list[Any], users: Ints
    ) -> list[tuple[Ints, Any]]:
        """``act(part, users)`` for the parts that have any of these users: their places, and it."""
        users = np.asarray(users, dtype=np.int64)
        owner = np.searchsorted(self._starts, users, side="right") - 1
        asked = np.unique(owner).tolist() or [0]
        own = [users[owner == p] - self._starts[p] for p in asked]
        found = self.each(act, [parts[p] for p in asked], own)
        return [(np.flatnonzero(owner == p), each) for p, each in zip(asked, found, strict=True)]


def _back(found: list[tuple[Ints, Any]]) -> Ints:
    """Where, in the parts' results one after another, the users stand in the order asked for."""
    return np.argsort(np.concatenate([places for places, _ in found]))


def key_of(name: str, number: int, columns: int = 0) -> Any:
    """The key of a part's block of a user array, as in Dask arrays."""
    return (name, number, *(0,) * columns)
