"""Where results go: files are refused before any work is done, written, shown, passed on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.text import for_people, note, say, show_cells, show_json
from hitsndiffs.data.files import Writer, is_device, same_place, text_writer, write_whole
from hitsndiffs.data.formulas import without_formulas
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["TABLES", "Result", "check_targets"]

#: Endings of tables.
TABLES = (".csv", ".tsv", ".parquet", ".json")


@dataclass(frozen=True)
class Result:
    """Where a table goes."""

    out: Path | None = None
    raw: bool = False
    as_json: bool = False
    quiet: bool = False

    def check(self, read: Iterable[str]) -> None:
        """Refuse a file that cannot be written, before any work is done."""
        check_targets({"--out": self.out}, read)

    def say(self, *sentences: str) -> None:
        """Say something besides the table."""
        for sentence in sentences:
            say(sentence, quiet=self.quiet)

    def note(self, notes: Iterable[str], *, explain: bool = False) -> None:
        """Say what there is to note; what goes without saying only to those who ask for it."""
        note(notes, explain=explain, quiet=self.quiet)

    def table_writer(self, cells: Cells, path: Path) -> Writer:
        """What writes a table in the format of the file's ending.

        In CSV and TSV, cells that spreadsheets would run as formulas are escaped, unless ``raw``.
        """
        frame, ending = cells.frame(), path.suffix.lower()
        if ending == ".parquet":
            return lambda part: frame.write_parquet(part)
        if ending == ".json":
            return lambda part: frame.write_json(part)
        safe = frame if self.raw else without_formulas(frame)
        return lambda part: safe.write_csv(part, separator="\t" if ending == ".tsv" else ",")

    def files(self, cells: Callable[[], Cells], as_json: Callable[[], str]) -> dict[Path, Writer]:
        """What writes the table, or everything as JSON, to the file that was asked for."""
        if self.out is None:
            return {}
        if self.out.suffix.lower() == ".json":
            return {self.out: text_writer(as_json() + "\n")}
        return {self.out: self.table_writer(cells(), self.out)}

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
        """Write a table, and show it (``people`` shows it to a person: by default all of it).

        ``cells`` replace the whole table, ``facts`` stand beside it in JSON, and people read the
        ``heading`` above it.
        """
        table = found.cells() if cells is None else cells

        def as_json() -> str:
            from hitsndiffs.results.cells import jsonable

            whole = {**jsonable(found.facts()), **(facts or {}), found.ROWS: table.records()}
            return json.dumps(whole, indent=2, ensure_ascii=False)

        def show() -> None:
            print()
            (people or partial(show_cells, table, heading=heading))()

        write_whole(self.files(lambda: table, as_json))
        self.show(lambda: table, show, as_json)


def check_targets(
    targets: Mapping[str, Path | None],
    read: Iterable[str | None],
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuse files (by option) that cannot be written or are read, before any work is done.

    Their endings must be those of tables, or those given for the option (empty: any).
    """
    named = [(option, path) for option, path in targets.items() if path is not None]
    sources = [source for source in read if source is not None and os.path.exists(source)]
    for place, (option, path) in enumerate(named):
        _check_target(option, path, (endings or {}).get(option, TABLES))
        if any(same_place(path, Path(source)) for source in sources):
            raise InputError(f"{option} {path}: this is a file that is read; name another one.")
        for other, there in named[:place]:
            if same_place(path, there):
                raise InputError(f"{other} and {option} both name {path}; give each its own file.")


def _check_target(option: str, path: Path, endings: Sequence[str]) -> None:
    """Refuse a file of a format that is not known, or in a folder that cannot be written to."""
    if endings and path.suffix.lower() not in endings and not is_device(path):
        raise InputError(
            f"{option} {path}: the ending says what to write, and it must be one of "
            f"{', '.join(endings)}; got {path.suffix or 'none'}."
        )
    if path.is_dir():
        raise InputError(f"{option} {path}: this is a folder; name a file in it.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"{option} {path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK) and not is_device(path):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to.")
