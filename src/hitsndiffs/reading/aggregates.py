"""Refuse reports that sum up the answers: statistics per question, counts per answer."""

from __future__ import annotations

from hitsndiffs.data.encoding.names import listed, recognise
from hitsndiffs.reading.build import FileTable, column_cells
from hitsndiffs.reading.formats.base import Refusal
from hitsndiffs.reading.vocabulary import plain, tokens

__all__ = ["refuse_aggregates"]

_STATISTICS = {
    "difficulty", "discrimination", "biserial", "pointbiserial", "variance", "mean", "median",
    "stddev", "standarddeviation", "facility", "facilityindex", "discriminationindex", "pvalue",
    "responses", "nresponses", "count", "frequency", "correctcount", "percentcorrect", "stdev",
    "itemvariance", "alpha", "reliability",
}  # fmt: skip
_COUNTS = {"count", "counts", "n", "votes", "nvotes", "frequency", "freq", "percent"}
#: A table of counts has few columns.
_FEW = 4


def refuse_aggregates(table: FileTable) -> None:
    """Refuse a report with statistics per question, or counts per answer: it holds no answers."""
    if not table.has_header or len(table.names) >= 60:
        return
    item = recognise("item", table.names)
    if not item or recognise("user", table.names):
        return
    counted = {plain(name) for name in table.names} & _COUNTS
    cells = column_cells(table, item[0])
    several = len(set(cells)) < len(cells) and recognise("option", table.names)
    if counted and several and len(table.names) <= _FEW:
        raise Refusal(
            "a table of counts per answer, without the answers of the people",
            "export the answers that each person gave",
        )
    said = {
        plain(name) for name in table.names
        if plain(name) in _STATISTICS or any(word in _STATISTICS for word in tokens(name))
    }  # fmt: skip
    if len(said) >= 2:
        raise Refusal(
            f"a report with statistics per question ({listed(sorted(said), most=3)}), without the "
            "answers of the people",
            "export the answers that each person gave",
        )
