"""Many fits in one process: does memory grow? ``python benchmarks/leaks.py [--fits 10000]``."""

from __future__ import annotations

import argparse
import gc
import tracemalloc
from pathlib import Path

import polars as pl

import hitsndiffs as hnd

METHODS = ("majority", "hnd", "dawid-skene", "hits", "pooled-investment")


def resident() -> float:
    """MiB that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=30)
    parser.add_argument("--traced", action="store_true", help="count Python's blocks too (slow)")
    given = parser.parse_args()
    sim = hnd.simulate("grm", users=given.users, items=10, options=3, seed=0)
    rows = [[str(code) for code in row] for row in sim.responses.codes.T.tolist()]
    frame = pl.DataFrame(rows, schema=[f"q{i}" for i in range(10)], orient="row")
    if given.traced:
        tracemalloc.start()
    step = max(given.fits // 10, 1)
    first = None
    for number in range(1, given.fits + 1):
        responses = hnd.Responses.from_wide(frame)
        hnd.rank(responses, METHODS[number % len(METHODS)]).table()
        if number % step == 0:
            gc.collect()
            now = resident()
            first = now if first is None else first
            traced = tracemalloc.get_traced_memory()[0] / 2**20 if given.traced else float("nan")
            print(f"{number:>7,} fits: {now:7.1f} MiB resident, {traced:6.2f} traced", flush=True)
    assert first is not None
    print(f"Growth after the first tenth: {resident() - first:+.1f} MiB.")


if __name__ == "__main__":
    main()
