"""The page for people without a terminal: drop files in, see how they are read, get the report.

The server (:mod:`.app`) only moves files and texts. Reading a visitor's files and ranking run in
separate processes (:mod:`.worker`) with limits on time and memory.
"""

from __future__ import annotations

from hitsndiffs.show.web.settings import Settings

__all__ = ["Settings"]
