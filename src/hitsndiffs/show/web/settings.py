"""Settings of the page: addresses, sizes, times."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["Settings", "is_loopback", "size"]

MEGABYTE = 1_000_000


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


@dataclass(frozen=True)
class Settings:
    """Limits of the page.

    Parameters
    ----------
    host, port
        Where the page listens.
    max_upload
        Bytes that one visitor may send at once.
    max_files
        Files that one visitor may send at once.
    time_limit
        Seconds that one piece of work may take.
    memory_limit
        Bytes that one piece of work may hold.
    workers
        Pieces of work at the same time; others wait.
    max_waiting
        Pieces of work that may wait.
    max_visits
        Visits that are kept; a new one replaces the one idle longest.
    max_disk
        Bytes that all visits may keep in their folders.
    idle
        Seconds until an idle visit is forgotten.
    patience
        Seconds to wait for the next bytes of an upload.
    examples
        File name → function that makes its text.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    max_upload: int = 100 * MEGABYTE
    max_files: int = 500
    time_limit: float = 600.0
    memory_limit: int = field(default_factory=lambda: min(4 << 30, _half_of_memory()))
    workers: int = field(default_factory=lambda: max(1, min(4, os.cpu_count() or 1)))
    max_waiting: int = 100
    max_visits: int = 200
    max_disk: int = 2000 * MEGABYTE
    idle: float = 1800.0
    patience: float = 30.0
    examples: Mapping[str, Callable[[], str]] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the page."""
        return is_loopback(self.host)

    def answers_to(self, host: str) -> bool:
        """Tell whether a request was meant for this page, by the host that it names.

        A name that an outside DNS server gives to this machine is refused: a foreign page could
        use it to reach this page (DNS rebinding). Numeric addresses cannot be misused this way.

        Examples
        --------
        >>> local = Settings()
        >>> local.answers_to("localhost:8765"), local.answers_to("evil.example:8765")
        (True, False)
        >>> local.answers_to("192.0.2.7"), Settings(host="0.0.0.0").answers_to("192.0.2.7")
        (False, True)
        """
        name = _host_name(host)
        if name == "localhost" or is_loopback(name):
            return True
        if self.is_local:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in (self.host.lower(), socket.gethostname().lower())
        return True


def _host_name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(name: str) -> bool:
    """Tell whether a name or an address can only mean this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def size(n_bytes: float) -> str:
    """Return a size in readable units.

    >>> size(800), size(12_300), size(100_000_000), size(4 << 30)
    ('800 bytes', '12 kB', '100 MB', '4.3 GB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    if n_bytes < MEGABYTE:
        return f"{n_bytes / 1000:.0f} kB"
    if n_bytes < 1000 * MEGABYTE:
        return f"{n_bytes / MEGABYTE:.0f} MB"
    return f"{n_bytes / (1000 * MEGABYTE):.1f} GB"
