"""How a command that finds a table ends: it is written, shown, passed on, and talked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hitsndiffs.cli.options import Json, Quiet, Table
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, pipe_columns, say, show_columns, show_json
from hitsndiffs.data.files import text_writer, write_whole

__all__ = ["Result"]

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """Where a table goes."""

    out: Table = None
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
        self.say(*(f"Note: {note}" for note in notes))

    def give(
        self,
        columns: Columns,
        facts: Mapping[str, Any],
        *,
        rows: str = "rows",
        show: Callable[[], None] | None = None,
        raw: bool = False,
    ) -> None:
        """Write the table, and show it.

        Parameters
        ----------
        columns
            The table.
        facts
            What stands beside it in JSON.
        rows
            What JSON calls the rows of the table.
        show
            Shows it to a person (default: all columns, the first of them names).
        raw
            Whether cells that look like formulas are written as they are.
        """
        if self.out is not None and self.out.suffix.lower() != ".json":
            from hitsndiffs.results.values import to_frame

            frame = to_frame(columns, "polars")
            write_whole({self.out: table_writer(frame, self.out, raw=raw)})
        elif self.out is not None:
            write_whole({self.out: text_writer(_json(columns, facts, rows) + "\n")})
        if self.as_json:
            show_json(_json(columns, facts, rows))
        elif not for_people():
            pipe_columns(columns)
        elif show is not None:
            show()
        else:
            show_columns(columns)


def _json(columns: Columns, facts: Mapping[str, Any], rows: str) -> str:
    from hitsndiffs.results.values import jsonable, records

    whole = {**jsonable(facts), rows: records(columns)}
    return json.dumps(whole, indent=2, ensure_ascii=False)
