"""A pass over the parts with one message to each worker and one back.

The scheduler spends a few milliseconds on every Dask task. A pass is therefore requested directly:
all workers get the same short message (what to do, the weights, the names of user arrays), and each
adds up over the parts it holds and sends back one sum. If a worker is gone or lacks data, the
caller falls back to tasks, which restore what was lost.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future

from hitsndiffs.data.arrays import Array

__all__ = ["Crew", "added", "extreme_ends", "key_of", "largest"]


#: Maximum number of bytes that all workers together send back; tasks add up longer sums on the way.
MOST_BYTES = 2**26
#: A worker remembers its own parts for this many crews.
REMEMBERED = 64
#: The reply of a worker that does not hold its parts' blocks of a user array.
ELSEWHERE = "elsewhere"

#: Worker and crew → the numbers and keys of the worker's own parts.
_own: OrderedDict[tuple[str, str], list[tuple[int, Any]]] = OrderedDict()


def key_of(name: str, number: int, columns: int = 0) -> Any:
    """The key of a part's block of a user array, as in Dask arrays."""
    return (name, number, *(0,) * columns)


class Crew:
    """The workers, and which parts each of them works on.

    Parameters
    ----------
    client
        A connection to the scheduler.
    parts
        The parts, on the workers.
    """

    def __init__(self, client: Client, parts: Sequence[Future]) -> None:
        self._client, self._parts = client, list(parts)
        self._name = ""
        self._workers: list[str] = []

    def total(
        self,
        act: Callable[..., Any],
        given: tuple[Any, ...],
        arrays: tuple[Any, ...],
        size: int,
        join: Callable[..., Any],
    ) -> Any:
        """The sum of ``act(part, *given, *blocks)`` over all parts, or ``None``.

        Parameters
        ----------
        act, given
            What to do with each part, and the arguments that are the same for all.
        arrays
            The name and the number of further axes of each user array; blocks have the keys of
            :func:`key_of`.
        size
            About how many bytes each worker sends back.
        join
            Joins the results of several parts: :func:`added`, for example.
        """
        if not self._workers and not self._placed():
            return None
        if size * len(self._workers) > MOST_BYTES:
            return None
        found = self._asked(sum_of_own, self._name, act, given, arrays, join)
        sums: list[Any] = [found.get(worker) for worker in self._workers]
        if not all(isinstance(each, tuple) for each in sums):
            if ELSEWHERE not in sums:
                self._workers = []  # place the parts again next time
            return None
        return join(*(each[0] for each in sums))

    def _placed(self) -> bool:
        """Assign every part to one of the workers that hold it; false if some part has none."""
        holders = self._client.who_has(self._parts)
        own: dict[str, list[tuple[int, Any]]] = {}
        for number, part in enumerate(self._parts):
            workers = holders.get(part.key)
            if not workers:
                return False
            least = min(workers, key=lambda worker: (len(own.get(worker, ())), worker))
            own.setdefault(least, []).append((number, part.key))
        self._name = uuid4().hex
        # sums are added in the order of the workers' first parts
        self._workers = sorted(own, key=lambda worker: own[worker][0])
        self._asked(remember, self._name, own)
        return True

    def _asked(self, act: Callable[..., Any], *given: Any) -> dict[str, Any]:
        """Return each worker's reply, or its error."""
        try:
            return dict(self._client.run(act, *given, workers=self._workers, on_error="return"))
        except (OSError, ValueError, KeyError):  # a worker is gone
            return {}


# -- on the workers ------------------------------------------------------------------------------


def remember(name: str, own: dict[str, list[tuple[int, Any]]], dask_worker: Any) -> None:
    """Remember which parts are this worker's own."""
    _own[dask_worker.address, name] = own.get(dask_worker.address, [])
    while len(_own) > REMEMBERED:
        _own.popitem(last=False)


async def sum_of_own(
    name: str,
    act: Callable[..., Any],
    given: tuple[Any, ...],
    arrays: tuple[Any, ...],
    join: Callable[..., Any],
    dask_worker: Any,
) -> tuple[Any] | str | None:
    """Add up over this worker's parts, as many at a time as it has threads.

    Returns ``None`` if parts are missing here or the work fails.
    """
    own, held = _own.get((dask_worker.address, name)), dask_worker.data
    if not own or not all(key in held for _, key in own):
        return None
    if not all(key_of(array, number, axes) in held for array, axes in arrays for number, _ in own):
        return ELSEWHERE
    loop = asyncio.get_running_loop()

    def work(number: int, key: Any) -> Any:
        blocks = (held[key_of(array, number, axes)] for array, axes in arrays)
        return act(held[key], *given, *blocks)

    executor = dask_worker.executors["default"]
    made = [loop.run_in_executor(executor, work, *each) for each in own]
    sums = await asyncio.gather(*made, return_exceptions=True)
    if any(isinstance(each, BaseException) for each in sums):
        return None  # the caller falls back to tasks, which repair this or report the error
    return (join(*sums),)


# -- joining the parts' results ----------------------------------------------------------------


def added(*sums: Any) -> Any:
    """Add up sums over options, and side sums if they come in pairs with these."""
    if isinstance(sums[0], tuple):
        return tuple(added(*each) for each in zip(*sums, strict=True))
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return total


def largest(*sizes: float) -> float:
    """The largest of some sizes; NaN if one is NaN."""
    return float(np.max(sizes))


def extreme_ends(*ends: tuple[Array, Array]) -> tuple[Array, Array]:
    """The smallest of the smallest and the largest of the largest positions."""
    lows, highs = zip(*ends, strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)
