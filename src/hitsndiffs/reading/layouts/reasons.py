"""Why a column is what it is, in words that the plan shows."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import Role

__all__ = [
    "BESIDE",
    "GOES",
    "KEYED",
    "REASONS",
    "REMARK",
    "ROLE_OF_KIND",
    "SAID",
    "SERIES",
    "UNLIKE",
]

#: By the kind of the cells.
REASONS = {
    "time": "its cells are times",
    "mail": "its cells are e-mail addresses",
    "link": "its cells are addresses",
    "score": "its cells are points or percentages",
    "counter": "it counts the rows",
    "measure": "its cells are numbers that hardly repeat, not choices",
    "different": "no two cells are alike",
    "text": "its cells are free text: hardly any two are alike",
    "empty": "it is empty",
    "record": "its cells are records",
}
ROLE_OF_KIND: dict[str, Role] = {
    "time": "time",
    "mail": "identity",
    "link": "unused",
    "score": "points",
    "counter": "unused",
    "measure": "points",
    "different": "identity",
    "text": "comment",
    "empty": "unused",
    "record": "unused",
}
SAID = {
    "points": "points",
    "time": "a time",
    "status": "a status",
    "comment": "a comment",
    "attempt": "the number of an attempt",
    "identity": "something about the person",
    "row": "a row number",
    "key": "a key",
}
#: By what is beside the column.
REMARK = "the same text in many columns, and nobody's answer to the others"
KEYED = "named like a key, and numbered like an item"
SERIES = "named in a series"
GOES = "it goes with"
BESIDE = "it stands beside the items and is not named like them"
UNLIKE = "neither named nor answered like the items"
