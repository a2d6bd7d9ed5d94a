"""``hnd marks``: marks under a key, sections of a test, and items unfair to a group."""

from __future__ import annotations

from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import show_cells
from hitsndiffs.errors import InputError

__all__ = ["marks"]


def marks(
    *,
    key: str | None = None,
    accept: list[str] | None = None,
    without: list[str] | None = None,
    blanks: str = "wrong",
    sections: str | None = None,
    compare_groups: str | None = None,
    source: Source,
    result: Result,
) -> None:
    """Mark the answers with a key."""
    import numpy as np

    from hitsndiffs.results.cells import Cells, Kind, Tabled
    from hitsndiffs.results.marks import marks as marked
    from hitsndiffs.results.parts import differences, parts

    result.check(source.paths)
    r = source.read(quiet=result.quiet)
    right = source.key(key, r, quiet=result.quiet)
    if right is None:
        raise InputError(
            "marks need the right answers, and the file holds none; give them with --key FILE "
            "(columns item, answer). Without a key, 'hnd rank' ranks the users."
        )
    more = dict(_accepted(one) for one in accept or [])
    found = marked(r, right, accept=more, drop=without or (), blanks=blanks)
    cells = found.cells()
    beside: dict[str, Tabled] = {}
    shown: dict[str, Cells] = {}
    if sections is not None:
        own = parts(r, right, source.item_groups(sections, "--sections"))
        beside["sections"] = own
        by_section = {name: share for name, share in own.by_user().items()
                      if name not in cells.columns}  # fmt: skip
        kinds: dict[str, Kind] = dict.fromkeys(by_section, "share")
        cells = Cells({**cells.columns, **by_section}, {**cells.kinds, **kinds})
        shown["Sections"] = own.cells()
    if compare_groups is not None:
        of_user = source.user_groups(compare_groups, "--compare-groups")
        other = differences(r, right, of_user)
        beside["differences"] = other
        shown["Between groups"] = other.cells().only(other.standing_out())
    best_first = np.argsort(-np.nan_to_num(found.marks, nan=-1.0), kind="stable")

    def show() -> None:
        show_cells(cells.only(best_first))
        for heading, table in shown.items():
            if len(table):
                print()
                show_cells(table, heading=heading)

    told = {name: one.cells().records() for name, one in beside.items()}
    result.say(str(found), *map(str, beside.values()))
    result.give(found, cells=cells, facts=told, people=show)
    result.note(r.notes)


def _accepted(said: str) -> tuple[str, str]:
    item, sign, answer = said.partition("=")
    if not (item.strip() and sign and answer.strip()):
        raise InputError(f"--accept {said}: expected an item and an answer, as in q07=B.")
    return item.strip(), answer.strip()
