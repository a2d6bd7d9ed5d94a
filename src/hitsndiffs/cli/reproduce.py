"""``hnd reproduce``: the paper's figures, beside the paper's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitsndiffs.cli.text import for_people, show_table, tab_separated
from hitsndiffs.errors import InputError

__all__ = ["reproduce_figures", "show_figures"]


def show_figures() -> None:
    """List the figures."""
    from hitsndiffs.paper import list_figures

    rows = [(name, title, str(points)) for name, title, points in list_figures()]
    heads = ("figure", "what it shows", "points")
    if for_people():
        show_table(heads, rows, names=(0,), words=(1,))
    else:
        tab_separated(heads, rows)


def reproduce_figures(figures: Sequence[str], **how: Any) -> int:
    """Run figures and print what was found; return the exit code."""
    from hitsndiffs.paper import reproduce

    if not figures:
        raise InputError("Name a figure, or all; hnd reproduce --list shows what there is.")
    found = reproduce(figures, **how)
    for line in found.summary():
        print(line)
    if found.outcome.interrupted:
        return 130
    return 0 if found.ok else 1
