"""How far a round is from the limit: one read of the packed bytes at the memory's bandwidth."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from harness import Report, arguments, measure
from kernels import dense_responses

from hitsndiffs.data.pool import available_cores
from hitsndiffs.engines import scaled
from hitsndiffs.engines.threads import ThreadsEngine


def main() -> None:
    options = arguments("A round against one read of its bytes.")
    report = Report("How far a round is from one read of the packed bytes")
    users = 100_000 if options.quick else 1_000_000
    data = dense_responses(users, 100, 3, 0.0)
    rng = np.random.default_rng(0)
    weights, scale = rng.standard_normal(data.n_options), rng.random(users)
    large = np.ones(2**24 if options.quick else 2**27)  # far beyond any cache
    target = np.empty_like(large)
    cores = available_cores()
    parts = np.array_split(large, cores)
    one, all_cores = ThreadsEngine(data, 1), ThreadsEngine(data, cores)
    with ThreadPoolExecutor(cores) as pool:
        timings = measure(
            {
                "NumPy sum, one thread": large.sum,
                f"NumPy sum, {cores} threads": lambda: list(pool.map(np.sum, parts)),
                "NumPy copy, one thread": lambda: np.copyto(target, large),
                "round, one thread": lambda: one.through(weights, scaled, scale),
                f"round, {cores} threads": lambda: all_cores.through(weights, scaled, scale),
            },
            min(options.repeats, 7),
        )
    report.compare(f"{users:,} × 100 × 3", timings, "round, one thread")
    moved = one.layout.nbytes + scale.nbytes
    for threads, word in ((1, "one thread"), (cores, f"{cores} threads")):
        bandwidth = large.nbytes / timings[f"NumPy sum, {word}"].median
        took = timings[f"round, {word}"].median
        report.fact(
            f"limit, {word}",
            threads=threads,
            bandwidth_gb_s=round(bandwidth / 1e9, 1),
            packed_mb=round(one.layout.nbytes / 1e6, 1),
            read_mb=round(moved / 1e6, 1),
            limit_ms=round(moved / bandwidth * 1e3, 2),
            round_ms=round(took * 1e3, 2),
            times_the_limit=round(took / (moved / bandwidth), 1),
        )
    report.save(options.json)


if __name__ == "__main__":
    main()
