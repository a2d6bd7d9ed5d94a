"""``hnd methods`` and ``hnd formats``: what is available, and when to use it."""

from __future__ import annotations

import json

from hitsndiffs.cli.text import for_people, show_json, show_table, tab_separated

__all__ = ["list_formats", "list_methods"]


def list_methods(*, as_json: bool = False) -> None:
    """Show every method with what it does and when to use it."""
    from hitsndiffs.methods import METHODS

    rows = [(name, method.summary, method.use) for name, method in METHODS.items()]
    if as_json:
        fields = [{"name": name, "what": what, "when": when} for name, what, when in rows]
        show_json(json.dumps(fields, indent=2, ensure_ascii=False))
    elif for_people():
        show_table(("name", "what it does", "when to use it"), rows, names=(0,), words=(1, 2))
    else:
        tab_separated(("name", "what", "when"), rows)


def list_formats(*, as_json: bool = False) -> None:
    """Show every export that is recognised, and the plain tables."""
    from hitsndiffs.reading.formats import FORMATS

    rows = [(format.name, format.title, format.about) for format in FORMATS]
    rows += [
        (
            "csv, tsv, xlsx",
            "a table",
            "one row per user, per answer or per item; .ods and .xls too",
        ),
        ("parquet, jsonl", "a table", "one row (or record) per user or per answer"),
    ]
    if as_json:
        fields = [{"name": name, "what": what, "about": about} for name, what, about in rows]
        show_json(json.dumps(fields, indent=2, ensure_ascii=False))
    elif for_people():
        show_table(("name", "what it is", "about"), rows, names=(0,), words=(1, 2))
    else:
        tab_separated(("name", "what", "about"), rows)
