"""The Dask engine beside the threaded one: time, the client's memory, overhead and bytes per pass.

``python benchmarks/cluster.py --answers 1e7 1e8`` writes wide Parquet files to a folder of its own,
has two worker processes read and rank them, and ranks the same files with threads.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from pathlib import Path

import numpy as np

ITEMS, OPTIONS = 100, 3


def write_files(folder: Path, users: int, files: int) -> None:
    """Answers of users with one ability each, letters, some files."""
    import polars as pl

    letters = np.array(["A", "B", "C", "D"][:OPTIONS])
    for number in range(files):
        rng = np.random.default_rng(number)
        count = users // files
        ability = rng.standard_normal(count)
        columns = {"student": [f"student-{number:03d}-{u:07d}" for u in range(count)]}
        for item in range(ITEMS):
            right = rng.random(count) < 1 / (1 + np.exp(-(ability + (item % 5 - 2) / 2)))
            codes = np.where(right, 0, rng.integers(1, OPTIONS, count))
            columns[f"q{item:03d}"] = letters[(codes + item) % OPTIONS]
        pl.DataFrame(columns).write_parquet(folder / f"answers-{number:03d}.parquet")


def peak_gib() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**20


def on_cluster(folder: Path, workers: int, method: str) -> dict[str, float]:
    from distributed import Client, LocalCluster

    from hitsndiffs.engines.base import scaled
    from hitsndiffs.reading.cluster import read_on_cluster
    from hitsndiffs.results.cluster import rank_on_cluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        before = peak_gib()
        start = time.perf_counter()
        data = read_on_cluster(folder, client)
        read = time.perf_counter() - start
        data.choosers_per_option, data.gram  # noqa: B018 - counted once
        start = time.perf_counter()
        ranking = rank_on_cluster(data, method)
        best = ranking.top(5)
        rank = time.perf_counter() - start
        weights = np.random.default_rng(0).standard_normal(data.n_options)
        passes = []
        for _ in range(5):
            start = time.perf_counter()
            data.through(weights, scaled, data.everybody)
            passes.append(time.perf_counter() - start)
        parts = len(data.part_futures())
        return {
            "users": data.n_users, "parts": parts, "read_s": round(read, 2),
            "rank_s": round(rank, 2), "pass_s": round(min(passes), 4),
            "client_peak_gib": round(peak_gib(), 2), "client_before_gib": round(before, 2),
            "bytes_per_pass": int(parts * 2 * weights.nbytes), "best_rank": float(best["rank"][0]),
        }  # fmt: skip


def on_threads(folder: Path, method: str) -> dict[str, float]:
    import hitsndiffs as hnd
    from hitsndiffs.engines import open_engine
    from hitsndiffs.engines.base import scaled

    start = time.perf_counter()
    data = hnd.read_responses(sorted(map(str, folder.glob("*.parquet"))))
    read = time.perf_counter() - start
    start = time.perf_counter()
    hnd.rank(data, method=method, engine="threads")
    rank = time.perf_counter() - start
    engine = open_engine(data, "threads")
    weights = np.random.default_rng(0).standard_normal(engine.n_options)
    passes = []
    for _ in range(5):
        start = time.perf_counter()
        engine.through(weights, scaled, engine.everybody)
        passes.append(time.perf_counter() - start)
    return {"read_s": round(read, 2), "rank_s": round(rank, 2), "pass_s": round(min(passes), 4),
            "peak_gib": round(peak_gib(), 2)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", nargs="*", type=float, default=[1e7, 1e8])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--method", default="hnd")
    parser.add_argument("--json", help="write the results to this file")
    options = parser.parse_args()
    found = []
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_files(folder, int(answers) // ITEMS, options.files)
            row = {"answers": int(answers)}
            row["dask"] = on_cluster(folder, options.workers, options.method)
            row["threads"] = on_threads(folder, options.method)
            print(json.dumps(row), flush=True)
            found.append(row)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
