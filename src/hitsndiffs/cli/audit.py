"""``hnd audit``: which answers in a key look wrong."""

from __future__ import annotations

from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import show_cells
from hitsndiffs.errors import InputError

__all__ = ["audit"]

#: Items shown where key and answers do not fit each other.
SHOWN = 20


def audit(*, key: str | None = None, source: Source, result: Result) -> None:
    """Check an answer key: which of its answers look wrong."""
    from hitsndiffs.results.audit import audit

    result.check(source.paths)
    r = source.read(quiet=result.quiet)
    if key is None and r.key is None:
        raise InputError(f"{source.name} holds no key; name one with --key.")
    found = audit(r, r.key if key is None else key)
    cells = found.cells()

    def show() -> None:
        rows = [row for row, verdict in enumerate(cells.values("verdict")) if verdict]
        rows = rows if found.fits else list(range(min(SHOWN, len(cells))))
        if rows:
            show_cells(cells.only(rows))

    result.note((*r.notes, *found.notes))
    result.say(str(found))
    result.give(found, cells=cells, people=show)
