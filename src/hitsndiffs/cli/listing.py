"""``hnd methods``: what there is, and when to use which."""

from __future__ import annotations

import json

from hitsndiffs.cli.text import for_people, show_table, tab_separated

__all__ = ["list_methods"]


def list_methods(*, as_json: bool = False) -> None:
    """Show every method with what it does and when to use it."""
    from hitsndiffs.methods import METHODS

    rows = [(name, method.summary, method.use) for name, method in METHODS.items()]
    if as_json:
        fields = [{"name": name, "what": what, "when": when} for name, what, when in rows]
        print(json.dumps(fields, indent=2, ensure_ascii=False))
    elif for_people():
        show_table(("name", "what it does", "when to use it"), rows, names=(0,), words=(1, 2))
    else:
        tab_separated(("name", "what", "when"), rows)
