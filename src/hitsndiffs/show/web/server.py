"""Run the page on this machine."""

from __future__ import annotations

import contextlib
import errno
import logging
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

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
    except OSError as error:
        opened.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(
                f"port {settings.port} is in use; choose another one (0: any that is free)."
            ) from None
        raise InputError(
            f"{settings.host}:{settings.port} cannot be listened on ({error.strerror or error}); "
            "choose another host or port."
        ) from None
    except OverflowError:
        opened.close()
        raise InputError(f"the port is a number from 0 to 65535; got {settings.port}.") from None
    opened.listen()  # an early visitor waits until the page is ready
    opened.set_inheritable(False)
    return opened, replace(settings, port=opened.getsockname()[1])


def address(settings: Settings) -> str:
    """Return the URL of the page."""
    host = settings.host
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
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

    from hitsndiffs.show.web.connection import Connection

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
