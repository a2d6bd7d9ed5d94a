"""Run the page on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.show.web.settings import Settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

__all__ = ["address", "check_extra", "configured", "listen", "run"]

#: Modules that the page needs, and the packages that hold them.
NEEDED = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "python_multipart": "python-multipart",
    "jinja2": "jinja2",
}
#: Seconds for the head of a request, and between two pieces of its body.
PATIENCE = 10.0


def check_extra(needed: Mapping[str, str] = NEEDED) -> None:
    """Raise an error that names the missing packages, before anything is started."""
    from importlib.util import find_spec

    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        raise MissingExtraError(
            f"The page needs {', '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: pip install 'hitsndiffs[web]'."
        )


def listen(settings: Settings) -> tuple[socket.socket, Settings]:
    """Open the socket; the returned settings name its port."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        opened.close()
        if isinstance(error, OverflowError):
            said = f"the port is a number from 0 to 65535; got {settings.port}."
        elif error.errno == errno.EADDRINUSE:
            said = f"port {settings.port} is in use; choose another one (0: any that is free)."
        else:
            said = (
                f"{settings.host}:{settings.port} cannot be listened on "
                f"({error.strerror or error}); choose another host or port."
            )
        raise InputError(said) from None
    opened.listen()  # an early visitor waits until the page is ready
    return opened, replace(settings, port=opened.getsockname()[1])


def address(settings: Settings) -> str:
    """Return the URL of the page."""
    host = socket.gethostname() if settings.host in ("0.0.0.0", "::") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"


def run(
    settings: Settings, opened: socket.socket, *, show: bool = False, debug: bool = False
) -> None:
    """Serve the page until it is stopped.

    Parameters
    ----------
    settings, opened
        From :func:`listen`.
    show
        Whether to open it in the browser.
    debug
        Whether to print on the terminal where an error came from.
    """
    import webbrowser

    import uvicorn

    from hitsndiffs.show.web.app import make_app

    config = configured(make_app(settings), debug=debug)
    if not debug:
        logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    if show:
        threading.Timer(0.8, webbrowser.open, [address(settings)]).start()
    # uvicorn re-raises the signal that stopped it: exit normally, so that cleanup runs
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[opened])


def configured(app: Starlette, *, debug: bool = False) -> uvicorn.Config:
    """Return how the page is served."""
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):
        """A connection that is closed where a request that was begun does not go on in time.

        Open connections are counted by the system: a thousand would keep everybody else out.
        """

        late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            cycle = self.cycle
            is_head = cycle is None or cycle.response_complete  # its time is running, if it began
            if not is_head:
                self.stop()
            if self.late is None and (is_head or cycle.more_body):
                self.wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self.stop()
            super().connection_lost(exc)

        def wait(self) -> None:
            self.late = self.loop.call_later(PATIENCE, self.transport.abort)

        def stop(self) -> None:
            if self.late is not None:
                self.late.cancel()
            self.late = None

    return uvicorn.Config(
        app,
        http=Connection,
        log_level="error" if debug else "critical",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=3,
        lifespan="on",
        ws="none",
    )
