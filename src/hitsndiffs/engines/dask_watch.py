"""End work on a cluster that would wait forever for workers whose memory is full.

A worker starts nothing new while its memory is nearly full. If that does not change, the caller
waits forever for a result, without any message.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

from distributed import Client, Future

__all__ = ["Watch"]

#: Seconds between two checks of the workers, and how long all of them may wait for memory.
LOOK, PATIENCE = 2.0, 60.0


class Watch:
    """Ends the work in a ``with`` block with a :class:`MemoryError` if it only waits for memory.

    Parameters
    ----------
    client
        A connection to the scheduler.
    patience, look
        How many seconds work may stand still for lack of memory, and the seconds between checks.
    """

    def __init__(self, client: Client, patience: float = PATIENCE, look: float = LOOK) -> None:
        self._client, self._patience, self._look = client, patience, look
        self._over, self._stuck = threading.Event(), False
        self._before: set[Any] = set()

    def __enter__(self) -> Watch:
        self._before = set(self._client.futures)  # these belong to others
        self._thread = threading.Thread(target=self._watch, daemon=True, name="hitsndiffs-watch")
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(self._look)
        if self._stuck and error is not None:
            raise MemoryError("they have stopped with their memory full") from error

    def _watch(self) -> None:
        since: float | None = None
        while not self._over.wait(self._look):
            try:
                waits = _waits_for_memory(self._client)
            except Exception:  # the scheduler is gone: Dask tells the caller
                continue
            since = (since or time.monotonic()) if waits else None
            if since is not None and time.monotonic() - since >= self._patience:
                self._stuck = True
                self._give_up()

    def _give_up(self) -> None:
        pending = [
            Future(key, self._client)
            for key, state in list(self._client.futures.items())
            if key not in self._before and state.status == "pending"
        ]
        self._client.cancel(pending, reason="memory")


def _waits_for_memory(client: Client) -> bool:
    """Whether no worker is busy and some have paused because their memory is full."""
    workers = client.scheduler_info()["workers"].values()
    stopped = any(worker["status"] == "paused" for worker in workers)
    at_work = any(worker["metrics"]["task_counts"].get("executing") for worker in workers)
    return stopped and not at_work
