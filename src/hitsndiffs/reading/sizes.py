"""From which sizes on a file is read in another way."""

from __future__ import annotations

from dataclasses import dataclass

from hitsndiffs.data.encoding.series import SHORT

__all__ = ["DEFAULT", "NO_LIMIT", "Sizes"]

NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how a file is read; never what is read.

    Parameters
    ----------
    held
        Bytes that may be held at once.
    head
        Bytes that recognition looks at.
    chunk
        Bytes of text that are parsed at a time.
    small
        Up to this many bytes a table is read with the csv module, which spares the import of
        Polars.
    scanned
        From this many bytes on it is worth loading the compiled kernels.
    tables, largest_tables
        Bytes of the kernels' tables for one chunk from which on they hold fewer texts, and at most.
    short
        Below this many cells a column is coded by a plain loop.
    threaded
        From this many cells on a piece is coded by several threads.
    parallel
        From this many bytes in several files on, they are converted by several processes.
    """

    held: int = NO_LIMIT
    head: int = 1 << 20
    chunk: int = 16 << 20
    small: int = 2 << 20
    scanned: int = 8 << 20
    tables: int = 32 << 20
    largest_tables: int = 128 << 20
    short: int = SHORT
    threaded: int = 1_000_000
    parallel: int = 32 << 20


DEFAULT = Sizes()
