"""All charts, by name. Each is defined once, for notebooks, reports and the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.charts.answers import answers_chart
from hitsndiffs.show.charts.items import items_chart, options_chart
from hitsndiffs.show.charts.ranking import ranking_chart
from hitsndiffs.show.charts.structure import agreement_chart, axes_chart, copies_chart
from hitsndiffs.show.theme import Spec, altair_chart

__all__ = ["CHARTS", "plot", "plot_comparison"]

#: Name → title and drawing function.
CHARTS: dict[str, tuple[str, Callable[..., Spec]]] = {
    "ranking": ("Users from best to worst, with 95 % intervals", ranking_chart),
    "answers": ("The answers, sorted by the result", answers_chart),
    "items": ("Items by difficulty and discrimination", items_chart),
    "options": ("Who chose which option", options_chart),
    "axes": ("The two strongest differences between users", axes_chart),
    "copies": ("Users who look alike", copies_chart),
}


def plot(ranking: Ranking, name: str = "ranking", **options: Any) -> Any:
    """Draw a ranking; see :meth:`hitsndiffs.Ranking.plot`."""
    if name not in CHARTS:
        raise InputError(f"There is no chart {name!r}; the charts are {', '.join(CHARTS)}.")
    title, draw = CHARTS[name]
    if options.get("as_read"):
        title = "The answers, in the order of the data"
    try:
        chart = draw(ranking, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(f"Chart {name!r} does not take this option: {error}.") from None
    return altair_chart({"title": title, **chart})


def plot_comparison(comparison: Comparison) -> Any:
    """Draw a comparison; see :meth:`hitsndiffs.Comparison.plot`."""
    return altair_chart({"title": "How alike the methods rank", **agreement_chart(comparison)})
