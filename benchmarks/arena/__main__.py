"""Run the arena and write its page: ``python -m benchmarks.arena``."""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
from pathlib import Path

from benchmarks.arena import real
from benchmarks.arena.doubt_tables import MISCONCEPTIONS
from benchmarks.arena.measuring import ANCHORED, CONTESTANTS
from benchmarks.arena.page import page
from benchmarks.arena.peers import PEERS
from benchmarks.arena.running import Cell, Store, run
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.summary import Results

#: What the paper's settings compare over more runs than the rest.
COMPARED = ("auto", "hnd-robust", "hnd")
#: The slowest method is told the key and only there for comparison: fewer runs.
SLOW, SLOW_RUNS = "grm", 2
#: The arena shares its machine: never more processes than this.
MOST_JOBS = 2


def planned(runs: int, paper_runs: int, data: str = "*", methods: str = "*") -> list[Cell]:
    """All cells, those that matter most first; an interrupted run then has whole tables."""
    everyone = (*CONTESTANTS, *PEERS)
    cells: list[Cell] = [(c, f"real/{name}", 0) for name in real.present() for c in everyone]
    for seed in range(max(runs, paper_runs)):
        for name in SETTINGS:
            if seed < runs:
                cells += [(c, name, seed) for c in CONTESTANTS if c != SLOW or seed < SLOW_RUNS]
                cells += [(c, name, seed) for c in ANCHORED if name in MISCONCEPTIONS]
            elif kind(name) == "paper" and seed < paper_runs:
                cells += [(c, name, seed) for c in COMPARED]
        if seed < runs:
            cells += [("auto", f"part/{name}", seed) for name in real.present()]
    return [cell for cell in cells if _chosen(cell[1], data) and _chosen(cell[0], methods)]


def _chosen(name: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, run what is not finished, write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each simulated setting")
    parser.add_argument("--paper-runs", type=int, default=20, help="runs of the paper's settings")
    parser.add_argument("--data", default="*", help="only these data sets: real/*,paper/grm*")
    parser.add_argument("--methods", default="*", help="only these methods: auto,hnd*")
    parser.add_argument("--out", type=Path, default=Path("docs/arena.md"), help="the page")
    parser.add_argument("--cache", type=Path, default=Path(".arena"), help="finished cells")
    parser.add_argument("--jobs", type=int, default=2, help=f"processes, {MOST_JOBS} at most")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no more after")
    given = parser.parse_args(arguments)

    store = Store(given.cache)
    cells = planned(given.runs, given.paper_runs, given.data, given.methods)
    try:
        run(cells, store, min(max(given.jobs, 1), MOST_JOBS), given.minutes)
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from here.", file=sys.stderr)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page(Results(store.records)), encoding="utf-8")


if __name__ == "__main__":
    # However the run is stopped, the worker processes end with it and the page is written.
    for _signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_signal, signal.default_int_handler)
    main()
