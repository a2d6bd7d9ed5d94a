"""How a command that finds a table ends: it is written, shown, passed on, and talked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.options import Json, Quiet, Raw, Table
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, note, say, show_cells, show_json
from hitsndiffs.data.files import text_writer, write_whole

if TYPE_CHECKING:
    from hitsndiffs.results.cells import Cells

__all__ = ["Result"]


@dataclass(frozen=True)
class Result:
    """Where a table goes."""

    out: Table = None
    raw: Raw = False
    as_json: Json = False
    quiet: Quiet = False

    def check(self, source: Source, *more: str) -> None:
        """Refuse a file that cannot be written, before any work is done."""
        check_target(self.out, "--out", [*source.paths, *more])

    def say(self, *sentences: str) -> None:
        """Say something besides the table."""
        for sentence in sentences:
            say(sentence, quiet=self.quiet)

    def note(self, notes: Iterable[str]) -> None:
        """Say what there is to note."""
        note(notes, quiet=self.quiet)

    def give(
        self,
        cells: Cells,
        facts: Mapping[str, Any],
        *,
        rows: str = "rows",
        show: Callable[[], None] | None = None,
        heading: str = "",
    ) -> None:
        """Write the table, and show it.

        Parameters
        ----------
        cells
            The table.
        facts
            What stands beside it in JSON.
        rows
            What JSON calls the rows of the table.
        show
            Shows it to a person (default: the whole table).
        heading
            What people read above the table.
        """
        as_json = self.as_json or (self.out is not None and self.out.suffix.lower() == ".json")
        text = _json(cells, facts, rows) if as_json else ""
        if self.out is not None and self.out.suffix.lower() == ".json":
            write_whole({self.out: text_writer(text + "\n")})
        elif self.out is not None:
            write_whole({self.out: table_writer(cells.frame(), self.out, raw=self.raw)})
        if self.as_json:
            show_json(text)
        elif show is not None and for_people():
            show()
        else:
            show_cells(cells, heading=heading)


def _json(cells: Cells, facts: Mapping[str, Any], rows: str) -> str:
    from hitsndiffs.results.cells import jsonable

    whole = {**jsonable(facts), rows: cells.records()}
    return json.dumps(whole, indent=2, ensure_ascii=False)
