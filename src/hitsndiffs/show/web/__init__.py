"""The page for people without a terminal: drop files in, see how they are read, get the report.

The server (:mod:`.app`) only moves files and texts. Whatever looks into a file of a visitor, and
every fit, runs in a process of its own (:mod:`.worker`) with a limit on time and memory.
"""

from __future__ import annotations

from hitsndiffs.show.web.settings import Settings

__all__ = ["Settings"]
