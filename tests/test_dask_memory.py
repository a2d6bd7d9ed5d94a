"""Workers without enough memory: killed by their nannies, and one sentence says so."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest
from commands import Here

pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")

import dask  # noqa: E402
import pyarrow.parquet  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

from hitsndiffs.reading.cluster import ended_if_stuck  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("cluster without memory"),
]

#: What a worker may have beside what it takes to load the libraries (bytes).
ROOM = 120 * 2**20


def loaded():
    """Memory of a worker that has done nothing but load what reading needs."""
    import polars  # noqa: F401
    import psutil

    import hitsndiffs.engines.dask_frames
    import hitsndiffs.reading.cluster_files  # noqa: F401

    return psutil.Process().memory_info().rss


@pytest.fixture(scope="module")
def small():
    """A worker that has room for little: its nanny ends it, and starts another."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    kind = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    tries = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with tries, LocalCluster(**kind, memory_limit="2GiB") as cluster:
        with Client(cluster, set_as_default=False) as client:
            limit = next(iter(client.run(loaded).values())) + ROOM
        next(iter(cluster.workers.values())).memory_manager.memory_limit = limit
        yield cluster


def write_large(path, users=150_000, items=100):
    """Some megabytes on disk that are 240 as texts in memory."""
    letters = pa.array(["A", "B", "C"])
    codes = pa.array(np.arange(users, dtype=np.int8) % 3)
    texts = pa.DictionaryArray.from_arrays(codes, letters).cast(pa.string())
    columns = {"student": pa.array([f"student-{u}" for u in range(users)])}
    columns |= {f"q{i}": texts for i in range(items)}
    pyarrow.parquet.write_table(pa.table(columns), path)


def test_workers_killed_for_memory_are_said_and_nothing_is_written(small, tmp_path, capsys):
    source, out = tmp_path / "answers", tmp_path / "out"
    source.mkdir()
    write_large(source / "a.parquet")
    done = Here(capsys)(
        "rank", str(source), "--engine", "dask", "--scheduler", small.scheduler_address,
        "--method", "hnd", "--out", str(out),
    )  # fmt: skip
    assert done.code != 0
    said = done.err.strip().splitlines()[-1]
    assert "memory" in said, done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["answers"]


def test_a_watch_lets_work_through(small):
    with Client(small) as client:
        client.wait_for_workers(1, timeout=60)
        with ended_if_stuck(client, 0.0, look=0.05):
            assert client.submit(sum, [1, 2], pure=False).result() == 3
            time.sleep(0.2)


def hold(share, limit, dask_worker):
    """Fill a worker's memory up to a share of what it may have by its nanny."""
    import psutil

    dask_worker.memory_manager.memory_limit = limit
    free = share * limit - psutil.Process().memory_info().rss
    dask_worker.held = np.ones(int(free), dtype=np.uint8)


def test_waiting_for_workers_that_have_stopped_ends(small):
    """Between 80 and 95 per cent a worker begins nothing, and lives on: the last use of it."""
    with Client(small) as client:
        client.wait_for_workers(1, timeout=60)
        mine = client.submit(abs, -1, pure=False)
        assert mine.result() == 1
        nanny = next(iter(small.workers.values()))
        client.run(hold, 0.88, nanny.memory_manager.memory_limit)
        until = time.monotonic() + 30
        while "paused" not in str(client.scheduler_info()["workers"]) and time.monotonic() < until:
            time.sleep(0.1)
        with pytest.raises(MemoryError, match="memory full"), ended_if_stuck(client, 1.0, look=0.2):
            client.submit(abs, -2, pure=False).result()
        assert mine.status == "finished"  # what was there before is left alone
