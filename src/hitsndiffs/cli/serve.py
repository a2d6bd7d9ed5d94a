"""``hnd serve``: the page for people without a terminal."""

from __future__ import annotations

from typing import Any

from hitsndiffs.cli.text import say
from hitsndiffs.errors import InputError

__all__ = ["serve"]


def serve(
    host: str | None = None,
    port: int | None = None,
    no_open: bool = False,
    max_upload: str | None = None,
    max_memory: str | None = None,
    time_limit: int | None = None,
    quiet: bool = False,
    debug: bool = False,
) -> None:
    """Open a page for people without a terminal: drop files in, get the report.

    Files and results stay on this machine, and are removed when you close its tab. Programs can
    send a file to POST /api/rank.
    """
    from hitsndiffs.irt.examples import EXAMPLES
    from hitsndiffs.show.web.server import address, check_extra, listen, run
    from hitsndiffs.show.web.settings import Settings

    check_extra()
    given: dict[str, Any] = {"host": host, "port": port, "time_limit": _seconds(time_limit)}
    given["max_upload"] = _bytes("--max-upload", max_upload)
    given["memory_limit"] = _bytes("--max-memory", max_memory)
    told = {name: value for name, value in given.items() if value is not None}
    opened, settings = listen(Settings(examples=EXAMPLES, **told))
    say(f"The page is at {address(settings)} (Ctrl+C ends it).", quiet=quiet)
    if not settings.is_local:
        say(
            "Warning: everybody who can reach this machine can use it, and what they send is not "
            "encrypted.",
            quiet=quiet,
        )
    run(settings, opened, show=not no_open, debug=debug)


def _seconds(said: int | None) -> int | None:
    if said is not None and said < 1:
        raise InputError(f"--time-limit is in seconds, at least 1; got {said}.")
    return said


def _bytes(option: str, said: str | None) -> int | None:
    from hitsndiffs.reading.options import memory_limit

    if said is None:
        return None
    try:
        return memory_limit(said)
    except InputError:
        raise InputError(f"{option} takes a size such as 500MB or 4GB; got {said!r}.") from None
