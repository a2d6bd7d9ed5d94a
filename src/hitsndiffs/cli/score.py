"""``hnd score``: newcomers placed by a saved ranking."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.options import Json, Quiet, Raw, Table
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import say, show_json, show_rows, whole
from hitsndiffs.data.files import write_whole

__all__ = ["score"]


def score(
    *,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A ranking that hnd rank --save wrote.", show_default=False
        ),
    ],
    source: Source,
    out: Table = None,
    raw: Raw = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Place newcomers by a saved ranking, without ranking everybody again."""
    from hitsndiffs.results.saving import load
    from hitsndiffs.results.values import to_frame
    from hitsndiffs.results.wording import count

    check_target(out, "--out", [*source.paths, str(model)])
    ranking = load(model)
    placed = ranking.score(source.read(quiet=quiet))
    if out is not None:
        frame = to_frame(placed.columns(), "polars")
        write_whole({out: table_writer(frame, out, raw=raw)})
    if as_json:
        show_json(json.dumps(placed.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
    say(
        f"{count(len(placed), 'newcomer')}, placed among {count(placed.of, 'user')} by "
        f"{model} (method {ranking.method}).",
        quiet=quiet,
    )
    for note in placed.notes:
        say(f"Note: {note}", quiet=quiet)
    if as_json:
        return
    columns = placed.columns()
    heads = ["rank", "user", "score", "error"]
    rows = [
        [whole(rank), str(user), _number(score), _number(error)]
        for user, rank, score, error in zip(*columns.values(), strict=True)
    ]
    show_rows(heads, rows, names=(1,))


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.4f}"
