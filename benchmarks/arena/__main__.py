"""Run the arena and write its page: ``python -m benchmarks.arena``."""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arena import real
from benchmarks.arena.measuring import ASKED, CONTESTANTS, KNOWN
from benchmarks.arena.page import MISCONCEPTIONS, page
from benchmarks.arena.peers import PEERS
from benchmarks.arena.running import Cell, read, run, write
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.story_kinds import STORIES
from benchmarks.arena.structures import STRUCTURES

#: What the paper's settings compare over more runs than the rest.
COMPARED = ("auto", "hnd-robust", "hnd")
#: These are slow, and there for comparison only: one run.
SLOW = ("grm",)
#: Whom the default meets on kinds of structures.
BESIDE = ("auto", ASKED, "majority", "hnd", "dawid-skene/hierarchical")


@dataclass(frozen=True)
class Runs:
    """How often each thing is tried."""

    settings: int = 3
    paper: int = 10
    structures: int = 20
    stories: int = 30
    parts: int = 2


#: What each number of runs is of.
ABOUT = {
    "settings": "each simulated setting",
    "paper": "the paper's settings",
    "structures": "each kind of structure",
    "stories": "each story made up to mislead",
    "parts": "parts of each real set",
}


def planned(runs: Runs, data: str = "*", methods: str = "*") -> list[Cell]:
    """The cells whose data set and contestant are among some patterns (with commas between)."""
    return [cell for cell in _all(runs) if _chosen(cell[1], data) and _chosen(cell[0], methods)]


def _all(runs: Runs) -> Iterator[Cell]:
    sets = real.present()
    for name in sets:
        yield from ((each, f"real/{name}", 0) for each in (*CONTESTANTS, *KNOWN, ASKED, *PEERS))
        yield from (("auto", f"part/{name}", seed) for seed in range(runs.parts))
    for name in SETTINGS:
        everyone = (*CONTESTANTS, *KNOWN) if name in MISCONCEPTIONS else CONTESTANTS
        for seed in range(runs.settings):
            yield from ((each, name, seed) for each in everyone if seed == 0 or each not in SLOW)
        for seed in range(runs.settings, runs.paper if kind(name) == "paper" else 0):
            yield from ((each, name, seed) for each in COMPARED)
    for name in STRUCTURES:
        for seed in range(runs.structures):
            yield from ((each, f"structure/{name}", seed) for each in BESIDE)
    for name in STORIES:
        for seed in range(runs.stories):
            yield from ((each, f"story/{name}", seed) for each in ("auto", ASKED))


def _chosen(name: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, run what is not finished, keep it, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    for field, about in ABOUT.items():
        usual = getattr(Runs, field)
        parser.add_argument(f"--{field}-runs", type=int, default=usual, help=f"runs of {about}")
    parser.add_argument("--data", default="*", help="only these data sets: real/*,paper/grm*")
    parser.add_argument("--methods", default="*", help="only these methods: auto,hnd*")
    parser.add_argument("--page", type=Path, default=Path("docs/arena.md"), help="the page")
    parser.add_argument(
        "--results", type=Path, default=Path(".arena/results.json"),
        help="the file of all figures; cells that are in it are not run again",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no more after")
    given = parser.parse_args(arguments)

    runs = Runs(**{field: getattr(given, f"{field}_runs") for field in ABOUT})
    results = read(given.results)
    try:
        run(planned(runs, given.data, given.methods), results, max(given.jobs, 1), given.minutes)
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from here.", file=sys.stderr)
    write(given.results, results)
    given.page.parent.mkdir(parents=True, exist_ok=True)
    before = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
    given.page.write_text(page(results, before), encoding="utf-8")


if __name__ == "__main__":
    # However the run is stopped, the worker processes end with it and the page is written.
    for _signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_signal, signal.default_int_handler)
    main()
