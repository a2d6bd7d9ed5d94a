"""Connections to the page: who begins a request and does not finish it is not waited for."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PATIENCE", "Connection", "patient"]

#: Seconds for the head of a request, and between two pieces of its body.
PATIENCE = 10.0


class Connection(H11Protocol):
    """A connection that is closed where the head of a request does not come in time.

    Open connections are counted by the system: a thousand of them would keep everybody else out.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._late = self.loop.call_later(PATIENCE, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take a piece, which may complete the head of a request."""
        super().data_received(data)
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop()
        elif self._late is None:  # else the time is running
            self._late = self.loop.call_later(PATIENCE, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
        self._late = None


def patient(receive: Receive) -> Receive:
    """Return a ``receive`` that refuses a body whose next piece does not come in time."""
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:  # then it waits for the visitor to hang up, as long as the answer takes
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), PATIENCE)
        except TimeoutError:
            raise HTTPException(408, "What was sent did not arrive; send it again.") from None
        is_whole = not message.get("more_body", False)
        return message

    return received
