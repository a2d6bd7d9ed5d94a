"""Commands on a terminal of their own; used by the documentation and by the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


def run_on_terminal(
    command: str | Sequence[str],
    *,
    columns: int = 80,
    kind: str = "xterm",
    folder: Path | None = None,
    seconds: int = 120,
) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and all that it printed.

    Parameters
    ----------
    command
        A line for the shell, or a program and its arguments.
    columns
        The width of the terminal.
    kind
        What it says it is (``TERM``).
    folder
        Where the command runs.
    seconds
        How long it may take once it has closed the terminal.
    """
    import fcntl
    import pty
    import struct
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    running = subprocess.Popen(
        command,
        shell=isinstance(command, str),
        stdin=child,
        stdout=child,
        stderr=child,
        cwd=folder,
        env={**env, "TERM": kind},
    )
    os.close(child)
    chunks = []
    while True:
        try:
            chunk = os.read(parent, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(parent)
    return running.wait(timeout=seconds), b"".join(chunks).decode().replace("\r\n", "\n")
