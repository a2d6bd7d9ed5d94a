"""The Dask engine beside the threaded one: time, memory, overhead and bytes per pass; a cost model.

``python benchmarks/cluster.py --answers 1e7 1e8`` writes wide Parquet files to a folder of its own,
has two worker processes read and rank them, and ranks the same files with threads. Processor time
is given beside the clock's, because it says more where a machine has other work. ``--folder`` names
files that are there already. ``--model FILE`` fits the cost model to the figures of earlier runs.
"""

from __future__ import annotations

import argparse
import json
import logging
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ITEMS, OPTIONS = 100, 3
#: Passes whose processor time is measured together.
PASSES = 20


def write_files(folder: Path, users: int, files: int) -> None:
    """Answers of users with one ability each, letters; a file at a time is in memory."""
    import pyarrow as pa
    import pyarrow.parquet

    letters, count = pa.array(["A", "B", "C", "D"][:OPTIONS]), users // files
    for number in range(files):
        rng = np.random.default_rng(number)
        ability = rng.standard_normal(count, dtype=np.float32)
        columns = {"student": pa.array([f"student-{number:03d}-{u:07d}" for u in range(count)])}
        for item in range(ITEMS):
            right = 1 / (1 + np.exp(-(ability + (item % 5 - 2) / 2)))
            wrong = 1 + (rng.random(count, dtype=np.float32) * (OPTIONS - 1)).astype(np.int8)
            codes = np.where(rng.random(count, dtype=np.float32) < right, 0, wrong)
            codes = ((codes + item) % OPTIONS).astype(np.int8)
            chosen = pa.DictionaryArray.from_arrays(pa.array(codes), letters)
            columns[f"q{item:03d}"] = chosen.cast(pa.string())
        path = folder / f"answers-{number:03d}.parquet"
        pyarrow.parquet.write_table(pa.table(columns), path, compression="zstd")


def peak_gib() -> float:
    """The most memory that this process had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**20


def nothing(part: Any) -> float:  # noqa: ARG001
    """What a message costs: a pass that does nothing."""
    return 0.0


class Clock:
    """Seconds, and processor seconds of this process and of the workers."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.start = self._now()

    def _now(self) -> tuple[float, float, float]:
        workers = self.client.run(time.process_time).values() if self.client else ()
        return time.perf_counter(), time.process_time(), float(sum(workers))

    def __call__(self) -> dict[str, float]:
        """What has passed since the start."""
        names = ("s", "client_cpu_s", "workers_cpu_s")
        passed = [b - a for a, b in zip(self.start, self._now(), strict=True)]
        return {name: round(x, 2) for name, x in zip(names, passed, strict=True)}


def on_cluster(folder: Path, workers: int, method: str) -> dict[str, Any]:
    """Read and rank on a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    from hitsndiffs.engines import dask_parts as work
    from hitsndiffs.engines.base import scaled
    from hitsndiffs.reading.cluster import read_on_cluster
    from hitsndiffs.results.cluster import rank_on_cluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(lambda: __import__("hitsndiffs.engines.dask_parts"))  # loading is not reading
        before, clock = peak_gib(), Clock(client)
        data = read_on_cluster(folder, client)
        read, clock = clock(), Clock(client)
        data.here_up_to = 0
        ranking = rank_on_cluster(data, method)
        best = ranking.top(5)
        rank = clock()
        weights = np.random.default_rng(0).standard_normal(data.n_options)
        sent = (work.through, (weights, scaled), ((data.everybody.name, 0),))
        found = data.through(weights, scaled, data.everybody)
        clock = Clock(client)
        for _ in range(PASSES):
            data.through(weights, scaled, data.everybody)
        ten = clock()
        return {
            "users": data.n_users, "parts": len(data.part_futures()), "read": read, "rank": rank,
            "pass_ms": _quickest(lambda: data.through(weights, scaled, data.everybody)),
            "pass_workers_cpu_ms": round(1e3 * ten["workers_cpu_s"] / PASSES, 1),
            "pass_client_cpu_ms": round(1e3 * ten["client_cpu_s"] / PASSES, 1),
            "empty_pass_ms": _quickest(lambda: data._total(nothing)),
            "client_peak_gib": round(peak_gib(), 2), "client_before_gib": round(before, 2),
            "workers_peak_gib": [round(x, 2) for x in client.run(peak_gib).values()],
            "bytes_per_worker_and_pass": len(pickle.dumps(sent)) + len(pickle.dumps(found)),
            "best_rank": float(best["rank"][0]),
        }  # fmt: skip


def _quickest(act: Any, turns: int = 15) -> float:
    """Milliseconds of the quickest of some turns."""
    took = []
    for _ in range(turns):
        start = time.perf_counter()
        act()
        took.append(time.perf_counter() - start)
    return round(1e3 * min(took), 2)


def on_threads(folder: Path, method: str) -> dict[str, Any]:
    """Read and rank with the threads of this machine."""
    import hitsndiffs as hnd
    from hitsndiffs.engines import open_engine
    from hitsndiffs.engines.base import scaled

    clock = Clock()
    data = hnd.read_responses(sorted(map(str, folder.glob("*.parquet"))))
    read, clock = clock(), Clock()
    hnd.rank(data, method=method, engine="threads")
    rank = clock()
    engine = open_engine(data, "threads")
    weights = np.random.default_rng(0).standard_normal(engine.n_options)
    return {
        "read": read, "rank": rank, "peak_gib": round(peak_gib(), 2),
        "pass_ms": _quickest(lambda: engine.through(weights, scaled, engine.everybody)),
    }  # fmt: skip


# -- the cost model ------------------------------------------------------------------------------


def fitted_model(rows: list[dict[str, Any]], workers: int) -> dict[str, float]:
    """Seconds of an empty pass, and a worker's processor seconds per answer.

    ``pass = latency + message * workers + per_answer * answers / workers``; what a message to one
    more worker costs is taken to be its bytes at 1 GB/s, and 0.1 ms of the scheduler.
    """
    answers = np.array([row["answers"] for row in rows], dtype=float)
    # processor time, which other work on the machine does not change much
    passes = np.array([row["dask"]["pass_workers_cpu_ms"] for row in rows]) / 1e3
    design = np.stack([np.full(len(rows), float(workers)), answers], axis=1)
    weight = 1 / passes  # relative errors: large data must not decide alone
    (_, per_answer), *_ = np.linalg.lstsq(design * weight[:, None], passes * weight)
    read = np.array([row["dask"]["read"]["workers_cpu_s"] for row in rows])
    rank = np.array([row["dask"]["rank"]["workers_cpu_s"] for row in rows])
    sent = float(np.mean([row["dask"]["bytes_per_worker_and_pass"] for row in rows]))
    return {
        "latency_s": float(min(row["dask"]["empty_pass_ms"] for row in rows) / 1e3),
        "message_s": 1e-4 + sent / 1e9,
        "pass_s_per_answer": float(per_answer),
        "read_s_per_answer": float((read / answers)[-1]),
        "rank_s_per_answer": float((rank / answers)[-1]),
    }


def table(model: dict[str, float]) -> list[dict[str, Any]]:
    """What the model says of 10, 100 and 1,000 workers of one core each."""
    found = []
    for answers in (1e9, 1e10, 1e11, 1e12):
        for workers in (10, 100, 1000):
            share = answers / workers
            message = model["latency_s"] + model["message_s"] * workers
            found.append({
                "answers": answers, "workers": workers,
                "messages_ms": round(1e3 * message, 1),
                "pass_ms": round(1e3 * (message + model["pass_s_per_answer"] * share), 1),
                "read_s": round(model["read_s_per_answer"] * share, 1),
                "rank_s": round(20 * message + model["rank_s_per_answer"] * share, 1),
            })  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", nargs="*", type=float, default=[1e7, 1e8])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="files that are there already")
    parser.add_argument("--method", default="hnd")
    parser.add_argument("--without-threads", action="store_true")
    parser.add_argument("--json", type=Path, help="add the results to this file")
    parser.add_argument("--model", type=Path, help="fit the cost model to such a file")
    options = parser.parse_args()
    if options.model:
        rows = json.loads(options.model.read_text(encoding="utf-8"))
        model = fitted_model(rows, options.workers)
        print(json.dumps(model))
        for line in table(model):
            print(json.dumps(line))
        return
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as name:
            folder = options.folder or Path(name)
            if options.folder is None:
                write_files(folder, int(answers) // ITEMS, options.files)
            row: dict[str, Any] = {"answers": int(answers)}
            row["dask"] = on_cluster(folder, options.workers, options.method)
            if not options.without_threads:
                row["threads"] = on_threads(folder, options.method)
        print(json.dumps(row), flush=True)
        if options.json:
            old = json.loads(options.json.read_text()) if options.json.exists() else []
            options.json.write_text(json.dumps([*old, row], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
