"""Running cells (one method on one data set) in processes, and the file that keeps the results."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.arena import real
from benchmarks.arena.measuring import case_of, measure

__all__ = ["Cell", "Record", "read", "run", "write"]

#: (contestant, data set, seed)
Cell = tuple[str, str, int]
#: The figures of a cell.
Record = dict[str, Any]
#: A process has one thread: there are as many processes as cores.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """The contestants that one data set still needs."""

    data: str
    seed: int
    contestants: tuple[str, ...]


def read(path: Path) -> dict[Cell, Record]:
    """The finished cells of a file; none if there is no file."""
    if not path.exists():
        return {}
    found = {}
    for record in json.loads(path.read_text(encoding="utf-8")):
        found[record.pop("contestant"), record.pop("data"), record.pop("seed")] = record
    return found


def write(path: Path, records: dict[Cell, Record]) -> None:
    """Keep finished cells, a line each, in an order that does not depend on the run."""
    lines = [
        json.dumps({"contestant": cell[0], "data": cell[1], "seed": cell[2], **records[cell]})
        for cell in sorted(records)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def run(
    cells: Iterable[Cell], done: dict[Cell, Record], jobs: int, minutes: float = float("inf")
) -> None:
    """Run the cells that are not done, and enter them; after some minutes none is begun."""
    end = time.monotonic() + 60 * minutes
    wanted = list(cells)
    todo = _grouped([cell for cell in wanted if cell not in done])
    for job, records in _results(todo, jobs, end):
        for contestant, record in records.items():
            done[contestant, job.data, job.seed] = record
        _progress(f"{len(done)}/{len(wanted)} cells, {job.data} {job.seed}")
    _progress("")


def _results(todo: list[Job], jobs: int, end: float) -> Iterator[tuple[Job, dict[str, Record]]]:
    if jobs == 1 or len(todo) < 2:
        for job in todo:
            if time.monotonic() < end:
                yield job, _work(job)
        return
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    # Not forked: threads of the parent would be lost in the children.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(_work, job): job for job in todo}
        try:
            for future in as_completed(running):
                if not future.cancelled():
                    yield running[future], future.result()
                if time.monotonic() > end:
                    for other in running:
                        other.cancel()  # those that have begun go on
        except BaseException:
            pool.shutdown(cancel_futures=True)  # waits; leaving the block would run them all
            raise


def _work(job: Job) -> dict[str, Record]:
    case = case_of(job.data, job.seed)
    return {contestant: measure(contestant, case, job.seed) for contestant in job.contestants}


def _grouped(cells: list[Cell]) -> list[Job]:
    """One job per simulated data set; for real ones, one per contestant, the largest sets first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for contestant, data, seed in cells:
        alone = [contestant] if data.startswith("real/") else []
        groups.setdefault((data, str(seed), *alone), []).append(contestant)
    found = [Job(data, int(seed), tuple(names)) for (data, seed, *_), names in groups.items()]
    return sorted(found, key=lambda job: -_size(job.data))


def _size(data: str) -> int:
    return real.size(data.removeprefix("real/")) if data.startswith("real/") else 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text[:78]:<78}", end="" if text else "\r", file=sys.stderr, flush=True)
