"""The command ``hnd``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``hnd`` with some arguments (default: those of the process); return the exit code.

    0: done; 1: a fault of the program; 2: the input cannot be used as given; 130: interrupted;
    141: nobody reads the output any more.
    """
    try:
        from hitsndiffs.cli.outcome import run

        return run(arguments)
    except KeyboardInterrupt:  # before there is anything to say, or after all has been said
        return 130
