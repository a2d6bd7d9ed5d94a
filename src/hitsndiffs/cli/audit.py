"""``hnd audit``: which answers in a key look wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from hitsndiffs.cli.options import Json, Quiet, Table, option
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, say, show_json, show_table, six_digits, tab_separated
from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.errors import InputError

__all__ = ["audit"]


def audit(
    *,
    key: Annotated[
        Path | None, option("FILE", "The key (columns item, answer), if the file holds none.")
    ] = None,
    source: Source,
    out: Table = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check an answer key: which of its answers look wrong."""
    from hitsndiffs.results.audit import audit

    check_target(out, "--out", source.paths)
    r = source.read(quiet=quiet)
    given = r.key if key is None else key
    if given is None:
        raise InputError(f"{source.name} holds no key; name one with --key.")
    found = audit(r, given)
    for note in (*r.notes, *found.notes):
        say(f"Note: {note}", quiet=quiet)
    columns: dict[str, list[Any]] = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    report = {"sentence": str(found), "error_rate": found.error_rate, "fits": found.fits}
    whole = json.dumps({**report, "items": rows}, indent=2, ensure_ascii=False)
    if out is not None and out.suffix.lower() == ".json":
        write_whole({out: text_writer(whole + "\n")})
    elif out is not None:
        import polars as pl

        write_whole({out: table_writer(pl.DataFrame(columns, strict=False), out)})
    if as_json:
        show_json(whole)
        return
    if for_people():
        doubtful = [row for row in rows if row["verdict"]] if found.fits else rows[:SHOWN]
        if doubtful:
            print()
            show_table(
                ["item", "key", "likely", "wrong", ""],
                [_cells(row) for row in doubtful],
                names=(0, 1, 2, 4),
            )
            print()
    else:
        tab_separated(list(columns), ([six_digits(v) for v in row.values()] for row in rows))
    say(str(found), quiet=quiet)


#: Items shown where key and answers do not fit each other.
SHOWN = 20


def _cells(row: dict[str, Any]) -> list[str]:
    wrong = row["probability_wrong"]
    return [
        str(row["item"]),
        "–" if row["given"] is None else str(row["given"]),
        str(row["likely"]),
        "–" if wrong is None else f"{100 * wrong:.0f} %",
        str(row["verdict"]),
    ]
