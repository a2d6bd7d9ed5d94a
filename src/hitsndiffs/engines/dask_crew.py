"""A pass over the parts with one message to each worker and one back.

A task of Dask's goes through the scheduler's books, which costs some milliseconds each. A pass is
therefore asked for directly: all workers get the same short message (what to do, the weights, the
names of user arrays), each adds up over the parts that it holds, and sends back one sum. Where a
worker is gone, or holds too little, the caller falls back on tasks, which bring back what was lost.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from distributed import Client, Future

from hitsndiffs.engines.dask_order import added

__all__ = ["Crew", "key_of"]

#: Most bytes that all workers together send back; longer sums are added up on the way, by tasks.
MOST_BYTES = 2**26
#: A worker remembers which parts are its own for so many engines.
REMEMBERED = 64
#: What a worker answers that does not hold its parts' blocks of a user array.
ELSEWHERE = "elsewhere"

#: Worker and crew → the numbers and keys of the worker's own parts.
_own: OrderedDict[tuple[str, str], list[tuple[int, Any]]] = OrderedDict()


def key_of(name: str, number: int, columns: int = 0) -> Any:
    """The key of a part's block of a user array: that of Dask's arrays."""
    return (name, number, *(0,) * columns)


class Crew:
    """The workers, and which of the parts each of them works on.

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
        join: Callable[..., Any] = added,
    ) -> Any:
        """The sum of ``act(part, *given, *blocks)`` over all parts, or ``None``.

        Parameters
        ----------
        act, given
            What to do with each part, and what is the same for all.
        arrays
            Of each user array the name and the number of further axes; blocks have the keys of
            :func:`key_of`.
        size
            About how many bytes each worker sends back.
        join
            From some parts' results to one (default: their sum).
        """
        if not self._workers and not self._placed():
            return None
        if size * len(self._workers) > MOST_BYTES:
            return None
        found = self._asked(sum_of_own, self._name, act, given, arrays, join)
        sums: list[Any] = [found.get(worker) for worker in self._workers]
        if not all(isinstance(each, tuple) for each in sums):
            if ELSEWHERE not in sums:
                self._workers = []  # next time: who holds what then
            return None
        return join(*(each[0] for each in sums))

    def _placed(self) -> bool:
        """Give every part to one of the workers that hold it; false where one is held by none."""
        holders = self._client.who_has(self._parts)
        own: dict[str, list[tuple[int, Any]]] = {}
        for number, part in enumerate(self._parts):
            workers = holders.get(part.key)
            if not workers:
                return False
            least = min(workers, key=lambda worker: (len(own.get(worker, ())), worker))
            own.setdefault(least, []).append((number, part.key))
        self._name = uuid4().hex
        # sums are added in the order of the parts
        self._workers = sorted(own, key=lambda worker: own[worker][0])
        self._asked(remember, self._name, own)
        return True

    def _asked(self, act: Callable[..., Any], *given: Any) -> dict[str, Any]:
        """What each worker answers: an error, where it cannot."""
        try:
            return dict(self._client.run(act, *given, workers=self._workers, on_error="return"))
        except (OSError, ValueError, KeyError):  # a worker that is gone
            return {}


# -- on the workers ------------------------------------------------------------------------------


def remember(name: str, own: dict[str, list[tuple[int, Any]]], dask_worker: Any) -> None:
    """Note which parts are this worker's."""
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

    ``None`` where it does not hold what it should, or what is asked for cannot be done.
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
        return None  # a task says what is wrong, or mends it
    return (join(*sums),)
