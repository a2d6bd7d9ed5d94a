"""``hnd score``: newcomers placed by a saved ranking."""

from __future__ import annotations

from pathlib import Path

from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source

__all__ = ["score"]


def score(*, model: Path, source: Source, result: Result) -> None:
    """Place newcomers by a saved ranking, without ranking everybody again."""
    from hitsndiffs.results.saving import load

    result.check([*source.paths, str(model)])
    ranking = load(model)
    placed = ranking.score(source.read(quiet=result.quiet))
    result.say(str(placed))
    result.give(placed)
    result.note(placed.notes)
