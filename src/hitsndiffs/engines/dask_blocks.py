"""Parts of the users on the workers of a Dask cluster, and user arrays with one block per part.

The building blocks of the cluster engine: calls to all parts, sums over them, and arrays that stay
where they are made.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple
from uuid import uuid4

import dask.array as da
import numpy as np
import numpy.typing as npt
from distributed import Client, Future, futures_of

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.items import Items
from hitsndiffs.engines.base import Engine
from hitsndiffs.engines.dask_order import IN_BUCKET
from hitsndiffs.engines.dask_parts import added, same

__all__ = ["HERE", "Blocks"]

Array = Any  # a dask.array.Array

#: How many sums one task adds up.
FAN_IN = 8
#: Arrays over options up to this size travel with every task (bytes).
INLINE = 2**16
#: With at most this many answers in all, methods are fitted in the caller's process: it is faster.
HERE = 5_000_000


def key_of(name: str, number: int, columns: int = 0) -> Any:
    """The key of a part's block of a user array, as in Dask arrays."""
    return (name, number, *(0,) * columns)


class Held(NamedTuple):
    """A user array whose blocks are on the workers."""

    array: Any
    blocks: list[Future]


class Blocks(Engine):
    """Base class of the cluster engine.

    Parameters
    ----------
    client
        A connection to the scheduler.
    parts
        Futures of :class:`~hitsndiffs.engines.dask_parts.Part`, on the workers.
    sizes
        How many users each part has.
    items
        Items and options of all parts.
    notes
        Sentences about what was dropped or assumed.
    here_up_to
        Up to this many answers, methods fetch them and are fitted in the caller's process.
    """

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

    def _given(self, x: npt.NDArray[Any]) -> Any:
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

    def _of_few(self, act: Callable[..., Any], users: Ints, axis: int) -> Any:
        """The parts' results for a few users, in the given order."""
        users = np.asarray(users, dtype=np.int64)
        if not len(users):
            return self.call(act, self.parts[0], users).result()
        owner = np.searchsorted(self._starts, users, side="right") - 1
        asked = np.unique(owner).tolist()
        own = [users[owner == p] - self._starts[p] for p in asked]
        found = self.each(act, [self.parts[p] for p in asked], own)
        places = np.concatenate([np.flatnonzero(owner == p) for p in asked])
        return np.take(np.concatenate(found, axis=axis), np.argsort(places), axis=axis)
