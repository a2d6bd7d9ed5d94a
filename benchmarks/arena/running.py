"""Running the cells that are not finished yet, and keeping those that are."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import hitsndiffs
from benchmarks.arena import real
from benchmarks.arena.measuring import ANCHORED, CONTESTANTS, OURS, case_of, measure
from benchmarks.arena.peers import PEERS
from benchmarks.arena.settings import SETTINGS
from hitsndiffs.methods import METHODS

__all__ = ["Cell", "Job", "Store", "fingerprint", "run"]

PACKAGE = Path(hitsndiffs.__file__).parent
HERE = Path(__file__).parent
#: What every cell rests on beside its method: how data are made, and how users are ordered.
COMMON = ("hitsndiffs.irt", "hitsndiffs.order.arrangement")
#: What the figures of the library's own methods rest on further (intervals).
OURS_TOO = ("hitsndiffs.results.ranking", "hitsndiffs.results.uncertainty")
#: Not followed: lists of public names and of all methods, and the roads into Responses.
NOT_FOLLOWED = (
    "hitsndiffs",
    "hitsndiffs.methods",
    "hitsndiffs.data.encoding",
)

#: (contestant, data set, seed)
Cell = tuple[str, str, int]


@dataclass(frozen=True)
class Job:
    """The contestants that one data set still needs."""

    data: str
    seed: int
    contestants: tuple[str, ...]


class Store:
    """Finished cells: JSON lines, added to and never rewritten.

    A cell counts as finished only while the source that it rests on is unchanged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cells.jsonl"
        self.records: dict[Cell, dict[str, Any]] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def add(self, cell: Cell, record: dict[str, Any]) -> None:
        """Keep a finished cell, in memory and on disk."""
        self.records[cell] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        contestant, data, seed = cell
        line = {"contestant": contestant, "data": data, "seed": seed}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | {"print": fingerprint(contestant, data), **record}) + "\n")

    def _take(self, line: str) -> None:
        try:
            record = json.loads(line)
            cell = record.pop("contestant"), record.pop("data"), record.pop("seed")
            if record.pop("print") == fingerprint(cell[0], cell[1]):
                self.records[cell] = record
        except (ValueError, KeyError):
            pass  # a line that was cut off, or of a contestant that is no more: run it again


def run(cells: list[Cell], store: Store, jobs: int, minutes: float = float("inf")) -> None:
    """Run the cells that the store does not have; an interruption keeps what is finished.

    After some minutes no further job is begun.
    """
    end = time.monotonic() + 60 * minutes
    todo = [cell for cell in cells if cell not in store.records]
    done = len(cells) - len(todo)
    for job, records in _results(_grouped(todo), jobs, end):
        for contestant, record in records.items():
            store.add((contestant, job.data, job.seed), record)
            done += 1
        _progress(f"{done}/{len(cells)} cells, {job.data} {job.seed}")
    _progress("")


def _results(todo: list[Job], jobs: int, end: float) -> Iterator[tuple[Job, dict[str, Any]]]:
    if jobs == 1 or len(todo) < 2:
        for job in todo:
            if time.monotonic() < end:
                yield job, _work(job)
        return
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


def _work(job: Job) -> dict[str, Any]:
    case = case_of(job.data, job.seed)
    return {contestant: measure(contestant, case, job.seed) for contestant in job.contestants}


def _grouped(cells: list[Cell]) -> list[Job]:
    """One job per simulated data set, in the order in which these come first.

    Real sets can be large: there every contestant is a job, and the data are kept in between.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for contestant, data, seed in cells:
        alone = [contestant] if data.startswith("real/") else []
        groups.setdefault((data, str(seed), *alone), []).append(contestant)
    return [Job(data, int(seed), tuple(names)) for (data, seed, *_), names in groups.items()]


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text[:78]:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def fingerprint(contestant: str, data: str) -> str:
    """A hash of what the figures of a contestant on a data set rest on."""
    text = _source(contestant) + _recipe(data)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _source(contestant: str) -> str:
    """The modules that a method imports, directly or not, and those that make data and judge.

    A change elsewhere (another method, the command line) leaves the cell alone.
    """
    arena = [(HERE / f"{name}.py").read_text() for name in ("cases", "real")]
    if contestant in PEERS:  # of the library they have nothing but the table of answers
        return "".join([(HERE / "peers.py").read_text(), *arena, _crowd_kit_version()])
    arena.append((HERE / "measuring.py").read_text())
    method = (CONTESTANTS | ANCHORED)[contestant].method
    ours = OURS_TOO if method in OURS else ()
    return "".join([_followed((METHODS[method].__module__, *COMMON, *ours)), *arena])


def _crowd_kit_version() -> str:
    try:
        return version("crowd-kit")
    except PackageNotFoundError:
        return "crowd-kit is not installed"


@cache
def _followed(modules: tuple[str, ...]) -> str:
    """The text of some modules and of all that they import."""
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name in found or file is None or (name in NOT_FOLLOWED and name not in modules):
            continue
        found[name] = file.read_text(encoding="utf-8")
        waiting.extend(_imports(found[name]))
    return "".join(found[name] for name in sorted(found))


@cache
def _recipe(data: str) -> str:
    """How a data set is made: a function with its settings, or the size of its file.

    That files are read as before is left to the tests of reading.
    """
    if data.startswith("structure/"):
        return data + (HERE / "structures.py").read_text()
    if data not in SETTINGS:
        return str(real.size(data.partition("/")[2]))
    made = SETTINGS[data]
    if isinstance(made, partial):
        return f"{made.func.__name__} {made.args} {sorted(made.keywords.items())}"
    return str(getattr(made, "__name__", made))


@cache
def _imports(source: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
            names.extend(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
    return names


def _file(module: str) -> Path | None:
    root, *rest = module.split(".")
    if root != "hitsndiffs":
        return None
    path = PACKAGE.joinpath(*rest)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file if file.exists() else None
