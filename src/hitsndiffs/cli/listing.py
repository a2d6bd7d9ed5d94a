"""``hnd methods`` and ``hnd formats``: what is available, and when to use it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hitsndiffs.cli.text import for_people, say, show_cells, show_json

__all__ = ["formats", "methods"]


def methods(as_json: bool = False) -> None:
    """List the methods: what each does, and when to use it."""
    from hitsndiffs.methods import METHODS

    rows = [(name, method.summary, method.use) for name, method in METHODS.items()]
    _show(rows, {"name": "name", "what": "what it does", "when": "when to use it"}, as_json)


def formats(as_json: bool = False) -> None:
    """List the exports that are recognised, and the plain tables that can be read."""
    from hitsndiffs.reading.exports import FORMATS

    mark = "" if as_json else " *"
    rows = [(f.name, f.title, f.about if f.tried else f"{f.about}{mark}") for f in FORMATS]
    rows += [
        (
            "csv, tsv, xlsx",
            "a table",
            "one row per user, per answer or per item; .ods and .xls too",
        ),
        (
            "parquet, jsonl",
            "a table",
            "one row (or record) per user or per answer; nested JSON too",
        ),
    ]
    _show(rows, {"name": "name", "what": "what it is", "about": "about"}, as_json)
    if not as_json and for_people():
        say("* Written from the tool's documentation or source, not tried on a real file.")


def _show(rows: list[tuple[str, str, str]], headings: Mapping[str, str], as_json: bool) -> None:
    from hitsndiffs.results.cells import Cells

    columns = dict(zip(headings, map(list, zip(*rows, strict=True)), strict=True))
    name, *words = headings
    cells = Cells(columns, {name: "label", **dict.fromkeys(words, "words")}, headings)
    if as_json:
        show_json(json.dumps(cells.records(), indent=2, ensure_ascii=False))
    else:
        show_cells(cells)
