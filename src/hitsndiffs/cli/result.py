"""How a command that finds a table ends: it is written, shown, passed on, and talked about."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.options import Json, Quiet, Raw, Table
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, note, say, show_cells, show_json
from hitsndiffs.data.files import Writer, text_writer, write_whole

if TYPE_CHECKING:
    from hitsndiffs.results.cells import Cells, Tabled

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

    def note(self, notes: Iterable[str], *, explain: bool = False) -> None:
        """Say what there is to note; what goes without saying only to those who ask for it."""
        note(notes, explain=explain, quiet=self.quiet)

    def files(self, cells: Callable[[], Cells], as_json: Callable[[], str]) -> dict[Path, Writer]:
        """What writes the table, or everything as JSON, to the file that was asked for."""
        if self.out is None:
            return {}
        if self.out.suffix.lower() == ".json":
            return {self.out: text_writer(as_json() + "\n")}
        return {self.out: table_writer(cells().frame(), self.out, raw=self.raw)}

    def show(
        self, cells: Callable[[], Cells], people: Callable[[], None], as_json: Callable[[], str]
    ) -> None:
        """Show the table: as JSON, to people, or to programs (unless it went into a file)."""
        if self.as_json:
            show_json(as_json())
        elif for_people():
            people()
        elif self.out is None:
            sys.stdout.write(cells().tab_separated())

    def give(
        self,
        found: Tabled,
        *,
        cells: Cells | None = None,
        facts: Mapping[str, Any] | None = None,
        people: Callable[[], None] | None = None,
        heading: str = "",
    ) -> None:
        """Write a table, and show it.

        Parameters
        ----------
        found
            What was found.
        cells
            Its table, if it is not the whole one.
        facts
            What else stands beside the table in JSON.
        people
            Shows it to a person (default: the whole table).
        heading
            What people read above the table.
        """
        table = found.cells() if cells is None else cells

        def as_json() -> str:
            from hitsndiffs.results.cells import jsonable

            whole = {**jsonable(found.facts()), **(facts or {}), found.ROWS: table.records()}
            return json.dumps(whole, indent=2, ensure_ascii=False)

        write_whole(self.files(lambda: table, as_json))
        self.show(lambda: table, people or partial(show_cells, table, heading=heading), as_json)
