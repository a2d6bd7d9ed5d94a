"""Settings of the page: address, sizes, times."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["Settings", "size"]

MEGABYTE = 1_000_000


def _share_of_memory() -> int:
    try:
        half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        half = 4 << 30
    return min(4 << 30, half)


@dataclass(frozen=True)
class Settings:
    """Limits of the page.

    Parameters
    ----------
    host, port
        Where the page listens.
    max_upload
        Bytes that may be sent at once.
    time_limit
        Seconds that one job may take.
    memory_limit
        Bytes that one job may hold.
    idle
        Seconds until an untouched piece of work is removed.
    away
        Seconds until a piece of work whose tab is closed is removed: another tab that shows it
        says so in that time (``page.js``).
    examples
        File name → function that makes its text.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    max_upload: int = 100 * MEGABYTE
    time_limit: float = 600.0
    memory_limit: int = field(default_factory=_share_of_memory)
    idle: float = 3600.0
    away: float = 90.0
    examples: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the page.

        >>> Settings().is_local, Settings(host="192.0.2.7").is_local
        (True, False)
        """
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def hosts(self) -> list[str]:
        """The names by which a browser may ask for the page.

        A foreign name that is pointed at this machine (DNS rebinding) is none of them. If others
        may reach the page, nobody can say by which name.
        """
        return ["localhost", "127.0.0.1", "[::1]", self.host] if self.is_local else ["*"]


def size(n_bytes: float) -> str:
    """Return a size in readable units.

    >>> size(800), size(12_300), size(100_000_000), size(4 << 30)
    ('800 bytes', '12 kB', '100 MB', '4.3 GB')
    """
    from rich.filesize import decimal

    return decimal(int(n_bytes), precision=int(n_bytes >= 1000 * MEGABYTE))
