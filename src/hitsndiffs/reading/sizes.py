"""Size thresholds for reading files."""

from __future__ import annotations

from dataclasses import dataclass

from hitsndiffs.data.factor import SHORT

__all__ = ["DEFAULT", "NO_LIMIT", "Sizes"]

NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a file is read, but never the result.

    Parameters
    ----------
    memory
        Bytes of memory that may be used.
    held
        Bytes of a file that may be held at once, as text or unpacked.
    head
        Bytes that recognition looks at.
    chunk
        Bytes of text parsed at a time.
    small
        Tables below this many bytes are read with the csv module, which saves importing Polars.
    short
        Columns below this many cells are coded by a plain loop.
    threaded
        Pieces with at least this many cells are coded by several threads.
    parallel
        Several files with at least this many bytes in all are converted by several processes.
    """

    memory: int = NO_LIMIT
    held: int = NO_LIMIT
    head: int = 1 << 20
    chunk: int = 16 << 20
    small: int = 2 << 20
    short: int = SHORT
    threaded: int = 1_000_000
    parallel: int = 32 << 20


DEFAULT = Sizes()
