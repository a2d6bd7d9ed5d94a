"""The Dask engine beside the threaded one: time, memory, overhead and bytes per pass; a cost model.

``python benchmarks/cluster.py --answers 1e7 1e8 1e9`` writes wide Parquet files to a folder of its
own, has two worker processes read and rank them, ranks the same files with threads, and compares
the scores. Processor time is given beside the clock's, because it says more where a machine has
other work. ``--folder`` names files that are there already. ``--model FILE`` fits the cost model to
the figures of earlier runs.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pickle
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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


def join_files(folder: Path, path: Path) -> None:
    """The same rows in one file, which one machine reads quicker than several."""
    import pyarrow.parquet as parquet

    files = sorted(folder.glob("*.parquet"))
    with parquet.ParquetWriter(path, parquet.read_schema(files[0]), compression="zstd") as writer:
        for file in files:
            writer.write_table(parquet.read_table(file))


def peak_gib() -> float:
    """The most memory that this process had."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**20


def nothing(part: Any) -> float:  # noqa: ARG001
    """What a message costs: a pass that does nothing."""
    return 0.0


def moved(dask_worker: Any) -> int:
    """Bytes that came to a worker from others."""
    return sum(entry["total"] for entry in dask_worker.transfer_incoming_log)


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


def on_cluster(
    folder: Path, workers: int, method: str, memory: str
) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """Read and rank on a cluster on this machine; what was measured, and the scores."""
    from distributed import Client, LocalCluster

    from hitsndiffs.engines.base import scaled
    from hitsndiffs.engines.dask import Part
    from hitsndiffs.reading.cluster import read_on_cluster
    from hitsndiffs.results.cluster import rank_on_cluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    kind = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": memory}
    with LocalCluster(**kind, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(lambda: __import__("hitsndiffs.engines.dask"))  # loading is not reading
        between = lambda: sum(client.run(moved).values())  # noqa: E731
        before, clock = peak_gib(), Clock(client)
        data = read_on_cluster(folder, client)
        read, moved_by_reading, clock = clock(), between(), Clock(client)
        data.here_up_to = 0
        ranking = rank_on_cluster(data, method)
        best = ranking.top(5)
        rank, moved_by_ranking = clock(), between() - moved_by_reading
        clock = Clock(client)
        float(data.ranks(ranking.scores, 0.0).max())
        float(data.ranks(ranking.scores, 0.0).max())  # the order is made when this is
        order, so_far = clock(), between()
        weights = np.random.default_rng(0).standard_normal(data.n_options)
        sent = (Part.through, (weights, scaled), ((data.everybody.name, 0),))
        found = data.through(weights, scaled, data.everybody)
        clock = Clock(client)
        for _ in range(PASSES):
            data.through(weights, scaled, data.everybody)
        passes = clock()
        row = {
            "users": data.n_users, "parts": len(data.parts), "read": read, "rank": rank,
            "two_orders": order,
            "pass_ms": _quickest(lambda: data.through(weights, scaled, data.everybody)),
            "pass_workers_cpu_ms": round(1e3 * passes["workers_cpu_s"] / PASSES, 2),
            "pass_client_cpu_ms": round(1e3 * passes["client_cpu_s"] / PASSES, 2),
            "empty_pass_ms": _quickest(lambda: data._total(nothing), 100),
            "client_peak_gib": round(peak_gib(), 3), "client_before_gib": round(before, 3),
            "workers_peak_gib": [round(x, 2) for x in client.run(peak_gib).values()],
            "bytes_per_worker_and_pass": len(pickle.dumps(sent)) + len(pickle.dumps(found)),
            "mb_between_workers": {
                "reading": round(moved_by_reading / 1e6, 1),
                "ranking": round(moved_by_ranking / 1e6, 1),
                "passes": round((between() - so_far) / 1e6, 3),
            },
            "best_rank": float(best["rank"][0]),
        }  # fmt: skip
        return row, data.collect(ranking.scores)


def _quickest(act: Any, turns: int = 15) -> float:
    """Milliseconds of the quickest of some turns."""
    took = []
    for _ in range(turns):
        start = time.perf_counter()
        act()
        took.append(time.perf_counter() - start)
    return round(1e3 * min(took), 2)


def on_threads(path: Path, method: str, expected: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Read and rank one file with the threads of this machine, and compare the scores."""
    import hitsndiffs as hnd
    from hitsndiffs.engines import open_engine
    from hitsndiffs.engines.base import scaled

    clock = Clock()
    data = hnd.read_responses(path)
    read, clock = clock(), Clock()
    ranking = hnd.rank(data, method=method, engine="threads")
    rank = clock()
    apart = np.abs(ranking.scores - expected).max() / np.abs(expected).max()
    engine = open_engine(data, "threads")
    weights = np.random.default_rng(0).standard_normal(engine.n_options)
    return {
        "read": read, "rank": rank, "peak_gib": round(peak_gib(), 2),
        "largest_difference_of_a_score": float(apart),
        "pass_ms": _quickest(lambda: engine.through(weights, scaled, engine.everybody)),
    }  # fmt: skip


# -- what more workers cost ----------------------------------------------------------------------


def with_many(workers: int, method: str) -> dict[str, Any]:
    """An empty pass and a whole ranking of hardly any data: what remains is what workers cost.

    Scheduler and client are this process, and do one thing after another: its processor time is
    what grows with the workers, however many cores they have.
    """
    from distributed import Client, LocalCluster

    from hitsndiffs.data.responses import Responses
    from hitsndiffs.engines.dask import DaskEngine, Part
    from hitsndiffs.results.cluster import rank_on_cluster

    rng, each = np.random.default_rng(0), 200
    codes = rng.integers(0, OPTIONS, (each * workers, ITEMS))
    codes = np.where(rng.random((each * workers, 1)) < 0.5, codes, np.arange(ITEMS) % OPTIONS)
    responses = Responses.from_wide(codes)
    users = np.array_split(np.arange(each * workers), workers)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    kind = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**kind) as cluster, Client(cluster) as client:
        made = [
            client.submit(Part, responses.restrict(own, keep_options=True)[0], workers=[worker])
            for own, worker in zip(users, client.nthreads(), strict=True)
        ]
        sizes = [len(own) for own in users]
        data = DaskEngine(client, made, sizes, responses.structure, here_up_to=0)
        rank_on_cluster(data, method)  # everything is loaded
        data = DaskEngine(client, made, sizes, responses.structure, here_up_to=0)
        data.users_in_bucket = 1  # as many buckets as parts: many tasks
        messages, ask = [], data._total
        data._total = lambda *given, **how: (messages.append(1), ask(*given, **how))[1]  # type: ignore[method-assign]
        before, clock = _tasks(cluster.scheduler), Clock()
        rank_on_cluster(data, method)
        rank, tasks, asked = clock(), _tasks(cluster.scheduler) - before, len(messages)
        empty, clock = _quickest(lambda: data._total(nothing), 50), Clock()
        for _ in range(50):
            data._total(nothing)
        cpu = 1e3 * clock()["client_cpu_s"] / 50
    return {"workers": workers, "empty_pass_ms": empty, "empty_pass_client_cpu_ms": round(cpu, 3),
            "rank": rank, "tasks": tasks, "messages": asked}  # fmt: skip


def _tasks(scheduler: Any) -> int:
    """Tasks that were done so far."""
    return sum(prefix.state_counts["memory"] for prefix in scheduler.task_prefixes.values())


# -- the cost model ------------------------------------------------------------------------------


def fitted_model(rows: list[dict[str, Any]], many: list[dict[str, Any]]) -> dict[str, float]:
    """Milliseconds of messages and tasks, and a worker's processor nanoseconds per answer.

    ``pass = latency + message * workers + per_answer * answers / workers``. A ranking is some
    messages, tasks for each part and for each piece that a part sends to a bucket of an order, and
    ``per_answer * answers / workers``.
    """
    from scipy.optimize import nnls

    def per_answer(name: str) -> float:
        """Of processor time over answers; what loading and starting cost is left out."""
        first, *_, last = (row["dask"][name]["workers_cpu_s"] for row in rows)
        return float(last - first) / (rows[-1]["answers"] - rows[0]["answers"])

    passes = np.array([row["dask"]["pass_workers_cpu_ms"] for row in rows])
    counts = np.array([row["workers"] for row in many], dtype=float)
    ones = np.ones(len(counts))
    empty = np.array([row["empty_pass_client_cpu_ms"] for row in many])
    (latency, message), _ = nnls(np.stack([ones, counts], axis=1), empty)
    # of a ranking: tasks per part, and per piece that a part sends to a bucket (as many as parts)
    tasks = np.array([row["tasks"] for row in many])
    (per_part, per_piece), _ = nnls(np.stack([counts, counts**2], axis=1) / tasks[:, None], ones)
    return {
        "latency_ms": float(max(latency, min(row["dask"]["empty_pass_ms"] for row in rows))),
        "message_ms": float(message),
        "pass_ns": 1e6 * (passes[-1] - passes[0]) / (rows[-1]["answers"] - rows[0]["answers"]),
        "read_ns": 1e9 * per_answer("read"),
        "rank_ns": 1e9 * per_answer("rank"),
        "task_ms": 1e3 * many[-1]["rank"]["client_cpu_s"] / many[-1]["tasks"],
        "tasks_per_part": float(per_part), "tasks_per_piece": float(per_piece),
        "messages": float(many[-1]["messages"]),
    }  # fmt: skip


def table(model: dict[str, float]) -> list[dict[str, Any]]:
    """What the model says of 10, 100 and 1,000 workers of one core each."""
    from hitsndiffs.engines.dask_order import IN_BUCKET, how_many_buckets

    found = []
    for answers in (1e9, 1e10, 1e11, 1e12):
        for workers in (10, 100, 1000):
            share = answers / workers
            message = model["latency_ms"] + model["message_ms"] * workers
            buckets = how_many_buckets(int(answers / ITEMS), workers, IN_BUCKET)
            tasks = workers * (model["tasks_per_part"] + model["tasks_per_piece"] * buckets)
            overhead = 1e-3 * (model["messages"] * message + model["task_ms"] * tasks)
            found.append({
                "answers": answers, "workers": workers,
                "pass_ms": round(message + 1e-6 * model["pass_ns"] * share, 1),
                "read_s": round(1e-9 * model["read_ns"] * share, 1),
                "rank_s": round(overhead + 1e-9 * model["rank_ns"] * share, 1),
                "of_which_messages_and_tasks_s": round(overhead, 1),
            })  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", nargs="*", type=float, default=[1e7, 1e8])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="4.5GiB", help="what each worker may have")
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="files that are there already")
    parser.add_argument("--method", default="hnd")
    parser.add_argument("--without-threads", action="store_true")
    parser.add_argument("--json", type=Path, help="add the results to this file")
    parser.add_argument("--many", nargs="*", type=int, default=[], help="numbers of workers")
    parser.add_argument("--model", type=Path, help="fit the cost model to such a file")
    options = parser.parse_args()
    if options.model:
        rows = json.loads(options.model.read_text(encoding="utf-8"))
        many = [row for row in rows if "workers" in row]
        model = fitted_model([row for row in rows if "answers" in row], many)
        print(json.dumps(model))
        for line in table(model):
            print(json.dumps(line))
        return
    for answers in options.answers:
        with tempfile.TemporaryDirectory() as name:
            folder = options.folder or Path(name)
            if options.folder is None:
                write_files(folder, int(answers) // ITEMS, options.files)
            row: dict[str, Any] = {"answers": int(answers), "load": os.getloadavg()[0]}
            row["dask"], scores = on_cluster(
                folder, options.workers, options.method, options.memory
            )
            print(json.dumps(row), flush=True)
            if not options.without_threads:
                path = Path(name) / "one.parquet"
                join_files(folder, path)
                row["threads"] = on_threads(path, options.method, scores)
        print(json.dumps(row.get("threads")), flush=True)
        _keep(row, options.json)
    for workers in options.many:
        row = with_many(workers, options.method)
        print(json.dumps(row), flush=True)
        _keep(row, options.json)


def _keep(row: dict[str, Any], path: Path | None) -> None:
    if path is not None:
        old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        path.write_text(json.dumps([*old, row], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
