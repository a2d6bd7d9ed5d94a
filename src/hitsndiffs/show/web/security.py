"""Checks on every request (host, origin, size), and security headers on every response."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitsndiffs.show.web.settings import Settings, size

__all__ = ["Guard", "TooLarge", "TooSlow"]

#: Bytes allowed for the parts of a form around its files.
AROUND = 1_000_000


#: A refused body is still received for up to this many bytes and seconds.
LEFT, LINGER = 200_000_000, 10.0


class TooLarge(Exception):
    """The body is larger than allowed."""


class TooSlow(Exception):
    """The body did not arrive in time."""


class Guard:
    """Refuses requests not meant for this page, and adds security headers to every response.

    * The host must be this machine: foreign names that point here are refused (DNS rebinding).
    * A ``POST`` from a browser must come from a page of this server (``Origin``,
      ``Sec-Fetch-Site``); forms also carry a token, which the page checks.
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

        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused is not None:
            await _drain(receive)
            await _answer(scope, *refused)(scope, receive, dressed)
            return
        await self.app(scope, self._bounded(receive), dressed)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[str, int] | None:
        s = self.settings
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not s.answers_to(hosts[0]):
            return f"This page answers at http://{s.host}:{s.port}/ only.", 400
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return "This page answers GET, HEAD and POST only.", 405
        if scope["method"] == "POST" and not _from_here(scope, headers):
            return "This request came from another site, and was refused.", 403
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > s.max_upload + AROUND:
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


async def _drain(receive: Receive) -> None:
    """Receive the rest of a body, within limits: a client that is cut off misses the answer."""
    came = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while came <= LEFT:
                message = await receive()
                came += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Tell whether a request comes from this server's pages, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    if origin == "null":  # what browsers send for forms of a page that sends no referrer
        return not scope["path"].startswith("/api/")
    return urlsplit(origin).netloc.lower() == headers["host"].lower()


def _answer(scope: Scope, sentence: str, status: int) -> Any:
    headers = {"Connection": "close"}
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": sentence}, status, headers)
    return PlainTextResponse(sentence + "\n", status, headers)


def _dress(headers: MutableHeaders, nonce: str) -> None:
    headers.setdefault(
        "Content-Security-Policy",
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'",
    )
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
    headers["Cache-Control"] = "no-store"
