"""The command ``hnd``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``hnd`` with these arguments (default: those of the process); return the exit code.

    0: done; 1: an error in the program; 2: the input cannot be used as given; 130: interrupted;
    141: the reader of the output has closed the pipe.
    """
    try:
        from hitsndiffs.cli.outcome import run

        return run(arguments)
    except KeyboardInterrupt:  # before the command starts, or after it has ended
        return 130
