"""Write the page of all formats: ``PYTHONPATH=tests python -m formats docs/formats.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from formats.table import page

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
