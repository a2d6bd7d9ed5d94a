"""``hnd labels``: how far labellers agree, what each one does, and what to label next."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import show_cells
from hitsndiffs.data.progress import working
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.results.cells import Cells, Tabled
    from hitsndiffs.results.labelling import Workers
    from hitsndiffs.results.ranking import Ranking

__all__ = ["labels"]


def labels(
    *,
    worker: str | None = None,
    next: int | None = None,
    each: int | None = None,
    pairs: int | None = None,
    predicted: str | None = None,
    seed: int | None = None,
    source: Source,
    result: Result,
) -> None:
    """Look at labels: agreement, what each labeller does, what to label next."""
    from hitsndiffs.results.agreement import agreement
    from hitsndiffs.results.labelling import next_labels, workers
    from hitsndiffs.results.rank import rank

    result.check(source.paths)
    if sum(value is not None for value in (worker, next, pairs, predicted)) > 1:
        raise InputError("give one of --worker, --next, --pairs and --predicted at a time.")
    r = source.read(quiet=result.quiet)
    cells: Cells | None = None
    show: Callable[[], None] | None = None
    found: Tabled
    said = heading = ""
    facts: dict[str, Any] = {}
    if pairs is not None:
        found = agreed = agreement(r)
        heading, cells = "Pairs", agreed.cells(most=pairs)
    elif predicted is not None:
        heading, found = "Surprisingly popular", source.surprising(r, predicted)
    else:
        with working("Ranking", quiet=result.quiet, told=True):
            ranking = rank(r, seed=seed or 0)
        if next is not None:
            heading, found = "What to label next", next_labels(ranking, next, each=each)
        elif worker is not None:
            found = of_all = workers(ranking)
            heading, cells = worker, of_all.confusion_cells(worker)
            said = of_all.about(worker)
        else:
            found, agreed = workers(ranking), agreement(r)
            facts, show = agreed.facts(), partial(_show, found, ranking)
            result.say(str(agreed))
    result.say(said or str(found))
    result.give(found, cells=cells, facts=facts, heading=heading, people=show)
    result.note(r.notes)


def _show(found: Workers, ranking: Ranking) -> None:
    """The labellers who stand out, then those with the most answers; shares right where known."""
    import numpy as np

    from hitsndiffs.cli.screen import BEST, WHOLE_UP_TO
    from hitsndiffs.results.cells import Cells

    cells = found.cells()
    names = ("user", "answers", "most_used", "share", "follows")
    shown = {name: cells.columns[name] for name in names}
    shown["follows"] = found.follows.round(1)
    if ranking.correct is not None and ranking.verdict.allows_numbers:
        shown["right"] = ranking.correct
    shown["remark"] = cells.columns["remark"]
    quiet = np.array([not remark for remark in cells.values("remark")])
    order = np.lexsort((-cells.columns["answers"], quiet))
    most = len(order) if len(order) <= WHOLE_UP_TO else max(BEST, int((~quiet).sum()))
    table = Cells(shown, {**cells.kinds, "right": "share"}, {"right": "likely right"})
    show_cells(table.only(order[:most]))
    if most < len(order):
        rest = count(len(order) - most, "more user")
        print(f"… and {rest}: --out labellers.csv keeps them")
