"""``hnd score``: newcomers placed by a saved ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.options import Raw
from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source

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
    raw: Raw = False,
    result: Result,
) -> None:
    """Place newcomers by a saved ranking, without ranking everybody again."""
    from hitsndiffs.results.saving import load
    from hitsndiffs.results.wording import count

    result.check(source, str(model))
    ranking = load(model)
    placed = ranking.score(source.read(quiet=result.quiet))
    facts = {"ranked_users": placed.of, "notes": list(placed.notes)}
    result.give(placed.columns(), facts, rows="users", raw=raw)
    result.say(
        f"{count(len(placed), 'newcomer')}, placed among {count(placed.of, 'user')} by "
        f"{model} (method {ranking.method})."
    )
    result.note(placed.notes)
