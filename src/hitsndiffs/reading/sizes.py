"""Size thresholds for reading files."""

from __future__ import annotations

from dataclasses import dataclass

from hitsndiffs.data.factor import SHORT

__all__ = ["DEFAULT", "NO_LIMIT", "Sizes"]

NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a file is read, but never the result."""

    #: Bytes of memory that may be used.
    memory: int = NO_LIMIT
    #: Bytes of a file that may be held at once, as text or unpacked.
    held: int = NO_LIMIT
    #: Bytes that recognition looks at.
    head: int = 1 << 20
    #: Bytes of text parsed at a time.
    chunk: int = 16 << 20
    #: Tables below this many bytes are held as rows of text, which saves importing Polars.
    small: int = 2 << 20
    #: Columns below this many cells are coded by a plain loop.
    short: int = SHORT
    #: Pieces with at least this many cells are coded by several threads.
    threaded: int = 1_000_000
    #: Several files with at least this many bytes in all are converted by several processes.
    parallel: int = 32 << 20


DEFAULT = Sizes()
