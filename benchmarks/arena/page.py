"""The page: targets first, then the tables they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.arena import doubt_tables, real_tables, simulated_tables, structure_tables
from benchmarks.arena.calibration import Record
from benchmarks.arena.real import ALL
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.summary import Results, table

__all__ = ["page"]

#: Written by hand: where a target is missed, the cause, and what was tried.
REMARKS = Path(__file__).with_name("remarks.md")

READING = """\
This page is made by `make arena` (`python -m benchmarks.arena`); do not edit it by hand. The real
data sets are not part of this project: the variable `HITSNDIFFS_DATA` names their folder.

Every method ranks the users of every data set from their answers alone. The truth (an answer key,
or the abilities that a simulation used) only judges. The figures are

- **Spearman**: rank correlation with the truth, 1 = the same order, 0 = no relation, −1 = reversed;
- **key**: share of the items whose right answer the method finds;
- **confidence**: how sure the method says it is of having found ability, and the right way up;
- **seconds**: processor time of one fit on one core.

RUNS. A whole run fits into about forty minutes of one core; it can be stopped at any
time, and the same commands (`python -m benchmarks.arena.calibration`, then `make arena`) go on with
what is missing.

*Met within error* means: the mean misses the target by less than two standard errors."""


def page(results: Results, signs: Sequence[Record] = ()) -> str:
    """The whole page in Markdown, from the finished cells and the records of confidence."""
    verdicts = [
        *real_tables.verdicts(results),
        *simulated_tables.verdicts(results),
        *structure_tables.verdicts(results, signs),
        *doubt_tables.verdicts(results),
    ]
    targets = table(
        ["target", "found", "verdict"], [[v.target, v.figure, v.outcome] for v in verdicts]
    )
    parts = [
        "# Arena: all methods on all data",
        READING.replace("RUNS", _runs(results, signs)),
        "## Targets",
        targets,
        *([REMARKS.read_text(encoding="utf-8").strip()] if REMARKS.exists() else []),
        real_tables.section(results),
        simulated_tables.section(results),
        structure_tables.section(results, signs),
        doubt_tables.section(results),
    ]
    return "\n\n".join(parts) + "\n"


def _runs(results: Results, signs: Sequence[Record]) -> str:
    """How often each thing was tried."""

    def most(names: Iterable[str]) -> int:
        return max((len(results.records("auto", name)) for name in names), default=0)

    rest = most(name for name in SETTINGS if kind(name) != "paper")
    paper = most(name for name in SETTINGS if kind(name) == "paper")
    of_kinds = Counter(each["kind"] for each in signs).values()
    parts = most(f"part/{name}" for name in ALL)
    return (
        f"Runs of `auto` on this page: {rest} of every simulated setting, {paper} of the paper's, "
        f"{min(of_kinds, default=0)} to {max(of_kinds, default=0)} of every kind of structure, "
        f"{parts} on parts of every real set"
    )
