"""What is refused before the page sees it: foreign hosts, other sites, endless requests."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import secrets
import socket
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitsndiffs.show.web.settings import Settings, is_loopback, size

__all__ = ["Guard", "TooLarge", "TooSlow", "patient_protocol"]

#: Bytes allowed for the parts of a form around its files.
AROUND = 1_000_000
#: The rest of a refused body is received for up to this many bytes and seconds: a client that is
#: cut off while it sends misses the answer.
LEFT, LINGER = 200_000_000, 10.0
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?")


class TooLarge(Exception):
    """The body is larger than allowed."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Guard:
    """Middleware that refuses requests not meant for this page, and adds security headers.

    * The ``Host`` must be a name of this machine, compared as a whole: a foreign name that points
      here is refused (DNS rebinding).
    * A ``POST`` from a browser must come from a page of this server (``Origin``,
      ``Sec-Fetch-Site``).
    * A body is limited in size, and its bytes must keep coming.
    * The content security policy has a new nonce each time; nothing is cached or framed.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                _dress(MutableHeaders(scope=message), nonce)
            await send(message)

        refused = self._refused(scope, Headers(scope=scope))
        if refused is not None:
            await _drain(receive)
            await _answer(scope, *refused)(scope, receive, dressed)
            return
        await self.app(scope, self._bounded(receive), dressed)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[str, int] | None:
        s = self.settings
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not answers_to(s, hosts[0]):
            return f"This page answers at http://{s.host}:{s.port}/ only.", 400
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return "This page answers GET, HEAD and POST only.", 405
        if scope["method"] == "POST" and not _from_here(headers):
            return "This request came from another site, and was refused.", 403
        length = headers.get("content-length", "0")
        if not re.fullmatch("[0-9]{1,18}", length) or int(length) > s.max_upload + AROUND:
            return f"At most {size(s.max_upload)} can be sent at once.", 413
        return None

    def _bounded(self, receive: Receive) -> Receive:
        came, is_whole = 0, False

        async def bounded() -> Message:
            nonlocal came, is_whole
            if is_whole:  # from now on only a disconnect can come
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), self.settings.patience)
            except TimeoutError:
                raise TooSlow from None
            came += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if came > self.settings.max_upload + AROUND:
                await _drain(receive)
                raise TooLarge
            return message

        return bounded


def answers_to(settings: Settings, host: str) -> bool:
    """Tell whether a request was meant for this page, by the host that it names.

    Starlette's ``TrustedHostMiddleware`` looks at what stands before the first colon (in the
    versions before 1.0), which lets ``localhost:1@evil`` pass and refuses ``[::1]``.

    Examples
    --------
    >>> local = Settings()
    >>> [answers_to(local, host) for host in ("localhost:8765", "[::1]:8765", "127.0.0.1")]
    [True, True, True]
    >>> [answers_to(local, host) for host in ("[::1].evil.com", "localhost:1@evil", "evil:80", "")]
    [False, False, False, False]
    >>> answers_to(local, "192.0.2.7"), answers_to(Settings(host="0.0.0.0"), "192.0.2.7")
    (False, True)
    """
    found = HOST.fullmatch(host.lower())
    if found is None:
        return False
    name = found[1] or found[2]
    if is_loopback(name):
        return True
    if settings.is_local:
        return False
    with contextlib.suppress(ValueError):  # no foreign name can be pointed at an address
        ipaddress.ip_address(name)
        return True
    return name in (settings.host.lower(), socket.gethostname().lower())


def _from_here(headers: Headers) -> bool:
    """Tell whether a request comes from this server's pages, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() == f"http://{headers['host'].lower()}"


async def _drain(receive: Receive) -> None:
    came = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while came <= LEFT:
                message = await receive()
                came += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _answer(scope: Scope, sentence: str, status: int) -> Any:
    headers = {"Connection": "close"}
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": sentence}, status, headers)
    return PlainTextResponse(sentence + "\n", status, headers)


def _dress(headers: MutableHeaders, nonce: str) -> None:
    headers.setdefault(
        "Content-Security-Policy",
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'",
    )
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "same-origin"  # the address of a piece of work stays here
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
    headers["Cache-Control"] = "no-store"


def patient_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with a limit on how long the head of a request may take.

    uvicorn itself waits for ever for the rest of a head, so that a few half-open connections would
    keep everybody else out.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._expect()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._expect()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _expect(self) -> None:
            """Start the clock between requests, unless it runs; stop it while one is answered."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop()
            elif self._late is None:
                self._late = self.loop.call_later(seconds, self._end)

        def _stop(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _end(self) -> None:
            self._late = None
            is_answering = self.cycle is not None and not self.cycle.response_complete
            if not is_answering and not self.transport.is_closing():
                self.transport.close()

    return Patient
