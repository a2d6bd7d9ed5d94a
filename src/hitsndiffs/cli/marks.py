"""``hnd marks``: marks under a key, sections of a test, and items unfair to a group."""

from __future__ import annotations

from typing import Annotated, Any

from hitsndiffs.cli.options import option
from hitsndiffs.cli.outputs import group_file, read_groups
from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import show_cells
from hitsndiffs.errors import InputError

__all__ = ["marks"]

#: What stands above the further tables.
HEADINGS = {"sections": "Sections", "differences": "Between groups"}


def marks(
    *,
    key: Annotated[
        str | None,
        option("FILE", "The right answers (columns item, answer); several as A;C."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        option("ITEM=ANSWER", "Accept this answer, too (q07=B); may be given several times."),
    ] = None,
    without: Annotated[
        list[str] | None,
        option("ITEM", "This item does not count; may be given several times.", "--without"),
    ] = None,
    blanks: Annotated[
        str, option("wrong|skip", "Whether a blank is wrong or does not count for that user.")
    ] = "wrong",
    sections: Annotated[
        str | None,
        option(
            "COLUMN|FILE|names",
            "The section of each item (a file: columns item, section): sub-scores, and whether "
            "they add anything.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        option(
            "COLUMN|FILE",
            "The group of each user (a file: columns user, group): items harder for one of two.",
        ),
    ] = None,
    source: Source,
    result: Result,
) -> None:
    """Mark the answers with a key."""
    import numpy as np

    from hitsndiffs.reading import read_key
    from hitsndiffs.results.marks import marks as marked
    from hitsndiffs.results.parts import Differences, Parts, differences, parts

    result.check(source)
    groups = group_file(group)
    r, _ = source.read_with_plan(quiet=result.quiet, group=group if groups is None else None)
    right: Any = r.key if key is None else read_key(key, r)
    if right is None:
        raise InputError(
            "marks need the right answers, and the file holds none; give them with --key FILE "
            "(columns item, answer). Without a key, 'hnd rank' ranks the users."
        )
    more = dict(_accepted(one) for one in accept or [])
    found = marked(r, right, accept=more, drop=without or (), blanks=blanks)
    beside: dict[str, Parts | Differences] = {}
    if sections is not None:
        beside["sections"] = parts(r, right, source.item_groups(sections, "--sections"))
    if group is not None:
        of_user = (r.groups or {}) if groups is None else read_groups(groups)
        beside["differences"] = differences(r, right, of_user)
    cells = found.cells()
    best_first = np.argsort(-np.nan_to_num(found.marks, nan=-1.0), kind="stable")

    def show() -> None:
        show_cells(cells.only(best_first))
        for name, other in beside.items():
            print()
            show_cells(other.cells(), heading=HEADINGS[name])

    told = {name: other.cells().records() for name, other in beside.items()}
    result.say(str(found), *map(str, beside.values()))
    result.give(cells, {**found.facts(), **told}, rows=found.ROWS, show=show)
    result.note((*getattr(right, "notes", ()), *r.notes))


def _accepted(said: str) -> tuple[str, str]:
    item, sign, answer = said.partition("=")
    if not (item.strip() and sign and answer.strip()):
        raise InputError(f"--accept {said}: expected an item and an answer, as in q07=B.")
    return item.strip(), answer.strip()
