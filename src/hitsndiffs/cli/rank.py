"""``hnd rank``: a file of answers in, a ranking out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from hitsndiffs.cli.options import (
    METHOD,
    OUTPUT,
    CompareGroups,
    Engine,
    Explain,
    Key,
    Sections,
    Seed,
    Threads,
    method_option,
    option,
)
from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.data.pool import limited_threads

__all__ = ["ORDER", "Job", "rank"]

#: Options that the method takes as they are; and with them all that say what the order is.
PARAMETERS = ("strong_user", "reading", "solver", "seed", "engine", "threads")
ORDER = ("method", "by", "bootstrap", "sample", "answers", "group", "key", *PARAMETERS, "use_key")


@dataclass(frozen=True, kw_only=True)
class Job:
    """What ``hnd rank`` is asked to do."""

    key: Key = None
    answers: Annotated[
        str | None,
        option(
            "q09=D,q03=A|FILE",
            "Right answers that you are sure of, or a file of them (columns item, answer).",
        ),
    ] = None
    result: Result
    key_out: Annotated[Path | None, option("FILE", "Write the likely answer key.")] = None
    report: Annotated[
        Path | None,
        option(
            "FILE.html",
            "Write a self-contained HTML report.",
        ),
    ] = None
    versus: Annotated[
        tuple[str, str] | None,
        option("A B", "Is A better than B? And the items on which they differ."),
    ] = None
    pairs: Annotated[
        bool, option("", "How likely each of the best is above each other.", "--pairs")
    ] = False
    short_form: Annotated[
        bool, option("", "How many items would do for the same order, and which.", "--short-form")
    ] = False
    top: Annotated[int | None, option("N", "Show the best N only.")] = None
    everybody: Annotated[bool, option("", "Show everybody.", "--all")] = False
    explain: Explain = False
    method: Annotated[
        str | None, method_option("One of those that 'hnd methods' lists.", panel=METHOD)
    ] = None
    by: Annotated[
        str | None,
        option(
            "correct|ability",
            "Rank by the expected share of right answers, or by latent ability.",
            panel=METHOD,
        ),
    ] = None
    group: Annotated[
        str | None,
        option(
            "COLUMN|FILE",
            "The column of the users' groups (runs of one model, a team), or a file of users "
            "and groups. Each group counts once.",
            panel=METHOD,
        ),
    ] = None
    reading: Annotated[
        int | None,
        option("N", "Rank by another reading of the answers (2, 3, …).", panel=METHOD),
    ] = None
    use_key: Annotated[
        bool,
        option("", "Use the key that the file holds as known answers.", "--use-key", panel=METHOD),
    ] = False
    strong_user: Annotated[
        str | None, option("NAME", "A user who is certainly good.", panel=METHOD)
    ] = None
    solver: Annotated[
        str | None,
        option("NAME", "How a spectral method is computed: lanczos, power, …", panel=METHOD),
    ] = None
    sample: Annotated[
        int | None, option("N", "Rank N users only, drawn at random.", panel=METHOD)
    ] = None
    bootstrap: Annotated[
        int | None,
        option("N", "Errors from this many random halves of the items (slow).", panel=METHOD),
    ] = None
    seed: Seed = None
    engine: Engine = None
    scheduler: Annotated[
        str | None,
        option(
            "tcp://HOST:PORT",
            "A Dask cluster to work on (--engine dask; without it, this machine).",
            panel=METHOD,
        ),
    ] = None
    threads: Threads = None
    source: Source
    sections: Sections = None
    compare_groups: CompareGroups = None
    save: Annotated[
        Path | None,
        option("FILE", "Keep the ranking, for 'hnd score' and hnd.load.", panel=OUTPUT),
    ] = None
    clusters: Annotated[
        str | None,
        option(
            "COLUMN|FILE|names",
            "With --versus: items that belong together (a passage, a template) count as one "
            "witness; 'names': by what is before the number in an item's name.",
            panel=OUTPUT,
        ),
    ] = None

    def said(self, names: Iterable[str]) -> dict[str, Any]:
        """The options of these names that were given."""
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value not in (None, False)}

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the method that were given."""
        return self.said(PARAMETERS)


def rank(job: Job) -> None:
    """Rank the users of a file, best first, and infer the answer key.

    On a terminal you get a table; through a pipe every user, with tabs between the columns.
    """
    with limited_threads(job.threads):
        if job.scheduler is not None or job.engine == "dask":
            from hitsndiffs.cli.cluster import rank_files

            rank_files(job)
        else:
            from hitsndiffs.cli.ranking import rank_file

            rank_file(job)
