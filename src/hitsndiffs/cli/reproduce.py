"""``hnd reproduce``: the paper's figures, next to the paper's values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hitsndiffs.cli.text import show_rows
from hitsndiffs.errors import InputError

__all__ = ["fetch_data", "reproduce_figures", "show_figures"]


def show_figures() -> None:
    """List the figures."""
    from hitsndiffs.paper import list_figures

    rows = [(name, title, str(points)) for name, title, points in list_figures()]
    show_rows(("figure", "what it shows", "points"), rows, names=(0,), words=(1,))


def reproduce_figures(figures: Sequence[str], **how: Any) -> int:
    """Run figures and print a summary; return the exit code."""
    from hitsndiffs.paper import reproduce
    from hitsndiffs.paper.real import require_data

    if not figures:
        raise InputError("Name a figure, or all; hnd reproduce --list shows what there is.")
    if list(figures) == ["real"]:
        require_data()
    found = reproduce(figures, **how)
    for line in found.summary():
        print(line)
    if found.outcome.interrupted:
        return 130
    if not found.ok:
        return 1
    return 2 if found.outcome.without_data else 0


def fetch_data(folder: Path) -> None:
    """Fetch the paper's real data sets."""
    from hitsndiffs.paper.fetching import fetch_data as fetch
    from hitsndiffs.paper.real import FOLDER_VARIABLE

    files = fetch(folder)
    print(f"{len(files)} files fetched and checked. Now: export {FOLDER_VARIABLE}={folder}")
