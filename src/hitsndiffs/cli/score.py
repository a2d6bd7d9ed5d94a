"""``hnd score``: newcomers placed by a saved ranking."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from hitsndiffs.cli.inputs import Source
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.text import say, show_json, show_rows
from hitsndiffs.data.files import write_whole
from hitsndiffs.results.wording import count

__all__ = ["score_file"]


def score_file(
    model: Path, source: Source, *, out: Path | None, as_json: bool, raw: bool = False, quiet: bool
) -> None:
    """Read the ranking and the newcomers, place them, write, show."""
    from hitsndiffs.results.saving import load
    from hitsndiffs.results.values import to_frame

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
        [_whole(rank), str(user), _number(score), _number(error)]
        for user, rank, score, error in zip(*columns.values(), strict=True)
    ]
    show_rows(heads, rows, names=(1,))


def _whole(value: float) -> str:
    return "" if np.isnan(value) else str(int(value))


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4f}"
