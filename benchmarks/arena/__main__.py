"""Run the arena and write its page: ``python -m benchmarks.arena``."""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arena import real
from benchmarks.arena.calibration import Record, records_of
from benchmarks.arena.doubt_tables import MISCONCEPTIONS
from benchmarks.arena.measuring import ANCHORED, CONTESTANTS
from benchmarks.arena.page import page
from benchmarks.arena.peers import PEERS
from benchmarks.arena.running import Cell, Store, run
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.structure_tables import ASKED, BESIDE
from benchmarks.arena.structures import STRUCTURES
from benchmarks.arena.summary import RIGHT, Results

#: What the paper's settings compare over more runs than the rest.
COMPARED = ("auto", "hnd-robust", "hnd")
#: These are slow, and there for comparison only: fewer runs.
SLOW, SLOW_RUNS = ("grm", "latent-key"), 1
#: The arena shares its machine: never more processes than this.
MOST_JOBS = 2


#: What each number of runs is of.
ABOUT = {
    "settings": "each simulated setting",
    "paper": "the paper's settings",
    "structures": "each kind of structure",
    "parts": "parts of each real set",
}


@dataclass(frozen=True)
class Runs:
    """How often each thing is tried: settings, the paper's settings, structures, parts."""

    settings: int = 3
    paper: int = 10
    structures: int = 20
    parts: int = 2


def planned(runs: Runs, data: str = "*", methods: str = "*") -> list[Cell]:
    """All cells, those that matter most first; an interrupted run then has whole tables."""
    told = ("auto + 2 asked answers",)
    everyone = (*CONTESTANTS, *told, *PEERS)
    cells: list[Cell] = [(c, f"real/{name}", 0) for name in real.present() for c in everyone]
    for seed in range(max(runs.settings, runs.paper, runs.structures)):
        for name in SETTINGS:
            if seed < runs.settings:
                cells += [(c, name, seed) for c in CONTESTANTS if c not in SLOW or seed < SLOW_RUNS]
                cells += [(c, name, seed) for c in ANCHORED if name in MISCONCEPTIONS]
            elif kind(name) == "paper" and seed < runs.paper:
                cells += [(c, name, seed) for c in COMPARED]
        if seed < runs.structures:
            cells += [(c, f"structure/{each}", seed) for each in STRUCTURES for c in BESIDE]
        if seed < runs.parts:
            cells += [("auto", f"part/{name}", seed) for name in real.present()]
    return [cell for cell in cells if _chosen(cell[1], data) and _chosen(cell[0], methods)]


def mending(signs: list[Record], runs: Runs, data: str = "*", methods: str = "*") -> list[Cell]:
    """Wrong rankings of the kinds where a question should help: once more, with two answers."""
    told = ("auto + 2 asked answers", "auto + 2 known answers")
    cells = [
        (c, f"structure/{each['kind']}", each["seed"])
        for each in signs
        if each["kind"] in ASKED and each["seed"] < runs.structures and each["rho"] <= RIGHT
        for c in told
    ]
    return [cell for cell in cells if _chosen(cell[1], data) and _chosen(cell[0], methods)]


def _chosen(name: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))


def main(arguments: list[str] | None = None) -> None:
    """Read the options, run what is not finished, write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    for field, about in ABOUT.items():
        usual = getattr(Runs, field)
        parser.add_argument(f"--{field}-runs", type=int, default=usual, help=f"runs of {about}")
    parser.add_argument("--data", default="*", help="only these data sets: real/*,paper/grm*")
    parser.add_argument("--methods", default="*", help="only these methods: auto,hnd*")
    parser.add_argument("--out", type=Path, default=Path("docs/arena.md"), help="the page")
    parser.add_argument("--cache", type=Path, default=Path(".arena"), help="finished cells")
    parser.add_argument("--jobs", type=int, default=2, help=f"processes, {MOST_JOBS} at most")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no more after")
    given = parser.parse_args(arguments)

    store, signs = Store(given.cache), records_of(given.cache / "signs.jsonl")
    runs = Runs(**{field: getattr(given, f"{field}_runs") for field in ABOUT})
    jobs = min(max(given.jobs, 1), MOST_JOBS)
    try:
        cells = planned(runs, given.data, given.methods)
        cells += mending(signs, runs, given.data, given.methods)
        run(cells, store, jobs, given.minutes)
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from here.", file=sys.stderr)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page(Results(store.records), signs), encoding="utf-8")


if __name__ == "__main__":
    # However the run is stopped, the worker processes end with it and the page is written.
    for _signal in (signal.SIGINT, signal.SIGTERM):
        signal.signal(_signal, signal.default_int_handler)
    main()
