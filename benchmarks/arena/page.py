"""The page: targets first, then the tables they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.arena import doubt_tables, real_tables, simulated_tables, structure_tables
from benchmarks.arena.calibration import Record
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

A whole run is made to fit into about forty minutes of one core: 3 runs of every simulated setting
(10 of the paper's for `auto`, `hnd-robust` and `hnd`; 1 for `grm` and `latent-key`), 2 parts of
every real set, 60 data sets of every kind of structure for `auto` and its confidence (`python -m
benchmarks.arena.calibration`, first) and 20 for its rivals. It can be stopped at any time; the same
commands go on with what is missing.

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
        READING,
        "## Targets",
        targets,
        *([REMARKS.read_text(encoding="utf-8").strip()] if REMARKS.exists() else []),
        real_tables.section(results),
        simulated_tables.section(results),
        structure_tables.section(results, signs),
        doubt_tables.section(results),
    ]
    return "\n\n".join(parts) + "\n"
