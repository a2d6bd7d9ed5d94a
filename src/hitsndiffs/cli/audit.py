"""``hnd audit``: which answers in a key look wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from hitsndiffs.cli.options import option
from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import show_columns
from hitsndiffs.errors import InputError

__all__ = ["audit"]

#: Items shown where key and answers do not fit each other.
SHOWN = 20


def audit(
    *,
    key: Annotated[
        Path | None, option("FILE", "The key (columns item, answer), if the file holds none.")
    ] = None,
    source: Source,
    result: Result,
) -> None:
    """Check an answer key: which of its answers look wrong."""
    from hitsndiffs.results.audit import Audit, audit

    def show(found: Audit, columns: dict[str, Any]) -> None:
        rows = [row for row, verdict in enumerate(columns["verdict"]) if verdict]
        rows = rows if found.fits else list(range(min(SHOWN, len(columns["item"]))))
        wrong = ["–" if p is None else f"{100 * p:.0f} %" for p in columns["probability_wrong"]]
        shown = {
            "item": columns["item"],
            "key": ["–" if given is None else given for given in columns["given"]],
            "likely": columns["likely"],
            "wrong": wrong,
            "verdict": columns["verdict"],
        }
        if rows:
            show_columns({name: [cells[row] for row in rows] for name, cells in shown.items()},
                         names=3)  # fmt: skip

    result.check(source)
    r = source.read(quiet=result.quiet)
    given = r.key if key is None else key
    if given is None:
        raise InputError(f"{source.name} holds no key; name one with --key.")
    found = audit(r, given)
    columns = found.columns()
    result.note((*r.notes, *found.notes))
    facts = {"sentence": str(found), "error_rate": found.error_rate, "fits": found.fits}
    result.give(columns, facts, rows="items", show=lambda: show(found, columns))
    result.say(str(found))
