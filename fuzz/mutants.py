"""Tests that cannot fail: ``python -m fuzz.mutants [--sample N] [--seed N] [room …]``.

Small faults are put into functions, one at a time (an operator, a comparison, a number), and a test
that calls the function must fail. What they let pass is listed: a test is missing there, or the
code does nothing. It needs cosmic-ray (``pip install cosmic-ray``), which says what a fault is.

All tests are collected once. A first run notes which functions each test calls. For every fault a
fork of this process gets the changed function and runs the tests that call it, the quickest first.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import importlib
import inspect
import json
import os
import random
import resource
import select
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from fuzz import ROOT

ROOMS = ["methods", "order", "spectral"]
#: Faults of these kinds are rarely faults: other names, and decorators.
NO_FAULTS = ("VariableReplacer", "VariableInserter", "RemoveDecorator", "ExceptionReplacer")
#: Tests of what people see, of reading and of the laboratory ask these rooms nothing new.
OTHER_TESTS = (
    "test_base*", "test_blas*", "test_cli*", "test_cupy*", "test_dask*", "test_docs*", "test_enc*",
    "test_faults*", "test_formats*", "test_fuzz*", "test_golden*", "test_large*", "test_page*",
    "test_paper*", "test_progress*", "test_reading_*", "test_reproduction*", "test_rooms*",
    "test_show*", "test_startup*", "test_threads*", "test_working*",
)  # fmt: skip
#: Seconds of tests for one fault (as they took without it), and seconds of a processor, and of a
#: busy machine, after which it has no end.
BUDGET, LIMIT, PATIENCE = 10.0, 40, 900.0

Name = tuple[str, str]  # a module's file and the qualified name of a function in it


class Fault:
    """A change of one function."""

    def __init__(self, path: Path, operator: str, count: int, line: int, function: str) -> None:
        self.path, self.operator, self.count = path, operator, count
        self.line, self.name = line, (str(path), function)

    def source(self) -> tuple[str, str]:
        """The text of the module without and with the fault."""
        right = self.path.read_text(encoding="utf-8")
        return right, str(mutate_code(right, get_operator(self.operator)(), self.count))

    def put_in(self) -> None:
        """Give the function of this process the changed code, wherever it is known."""
        wanted = _codes(compile(self.source()[1], str(self.path), "exec"))[self.name[1]]
        parts = self.path.relative_to(ROOT / "src").with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        found: Any = module
        for part in self.name[1].split("."):
            found = inspect.getattr_static(found, part)
        _function(found).__code__ = wanted

    def __str__(self) -> str:
        right, wrong = (text.split("\n") for text in self.source())
        is_now = next((b for a, b in zip(right, wrong, strict=False) if a != b), "")
        where = f"{self.path.relative_to(ROOT / 'src' / 'hitsndiffs')}:{self.line}"
        return f"{where}: {right[self.line - 1].strip()}  ->  {is_now.strip()}"


def _codes(code: CodeType) -> dict[str, CodeType]:
    """The functions of a module and the methods of its classes, by qualified name."""
    found = {}
    for own in code.co_consts:
        if isinstance(own, CodeType):
            found[own.co_qualname] = own
            if "<locals>" not in own.co_qualname:
                found |= _codes(own)
    return found


def _function(found: Any) -> FunctionType:
    """The plain function in what a module or class holds under its name."""
    for inside in ("__func__", "fget", "func", "__wrapped__"):
        while not isinstance(found, FunctionType) and hasattr(found, inside):
            found = getattr(found, inside)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    assert isinstance(found, FunctionType), found
    return found


def faults_in(path: Path) -> Iterator[Fault]:
    """Every fault that a file may get in the body of a function; one way for each place."""
    source = path.read_text(encoding="utf-8")
    bodies = [(name, *_span(body)) for name, body in _bodies(ast.parse(source), "")]
    tree, ways = get_ast(source), defaultdict[Any, list[tuple[str, int]]](list)
    for name in operator_names():
        if not name.endswith(NO_FAULTS):
            operator, count = get_operator(name)(), 0
            for node in ast_nodes(tree):
                for start, _ in operator.mutation_positions(node):
                    ways[start].append((name, count))
                    count += 1
    rng = random.Random(str(path.name))
    for start, own in sorted(ways.items()):
        inside = [name for name, begin, end in bodies if begin <= start < end]
        if inside:
            yield Fault(path, *rng.choice(own), start[0], inside[0])


def _bodies(tree: ast.AST, outer: str) -> Iterator[tuple[str, list[ast.stmt]]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                yield f"{outer}{node.name}", body
        elif isinstance(node, ast.ClassDef):
            yield from _bodies(node, f"{outer}{node.name}.")


def _span(body: list[ast.stmt]) -> tuple[tuple[int, int], tuple[int, int]]:
    last = body[-1]
    return (body[0].lineno, body[0].col_offset), (last.end_lineno or 0, last.end_col_offset or 0)


class Mutation:
    """What pytest does once it has collected the tests."""

    def __init__(self, faults: list[Fault], out: Path) -> None:
        self.faults, self.out, self.ends = faults, out, Counter[str]()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Note who calls what, and try every fault."""
        tests = {item.nodeid: item for item in session.items}
        calls = defaultdict[Name, list[tuple[float, str]]](list)
        for node, spent, called in in_fork(lambda say: record(session.items, say), 1e9):
            for name in called:
                calls[tuple(name)].append((spent, node))
        print(f"{len(tests)} tests call {len(calls)} functions", flush=True)
        with self.out.open("w", encoding="utf-8") as out:
            for fault in self.faults:
                chosen, spent = [], 0.0
                for seconds, node in sorted(calls[fault.name]):
                    if spent + seconds > BUDGET and chosen:
                        break
                    spent += seconds
                    chosen.append(tests[node])
                end = self.tried(fault, chosen)
                self.ends[end] += 1
                line = {"fault": str(fault), "end": end, "tests": len(chosen)}
                out.write(json.dumps(line) + "\n")
                out.flush()
                if end in ("passed", "no test"):
                    print(f"{end}: {fault}", flush=True)
        return True

    @staticmethod
    def tried(fault: Fault, tests: list[Any]) -> str:
        """Run the tests with a fault in the code; say how that ends."""
        if not tests:
            return "no test"

        def run(say: Any) -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            fault.put_in()
            for item in tests:
                if failed(item):
                    say("found")
                    return
            say("passed")

        return next(in_fork(run, PATIENCE), "found: no end")


def failed(item: Any) -> bool:
    """Run a test; its module and session fixtures are made and ended with it."""
    reports = runtestprotocol(item, nextitem=None, log=False)
    return any(report.failed for report in reports)


def record(items: list[Any], say: Any) -> None:
    """Run every test, and tell its time and the functions of this project that it calls."""
    home = str(ROOT / "src" / "hitsndiffs")
    for item in items:
        called: set[Name] = set()

        def note(frame: Any, event: str, _: Any, called: set[Name] = called) -> None:
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(home):
                called.add((code.co_filename, code.co_qualname.partition(".<locals>")[0]))

        began = time.process_time()
        sys.setprofile(note)
        wrong = failed(item)
        sys.setprofile(None)
        if not wrong and called:
            say((item.nodeid, time.process_time() - began, sorted(called)))


def in_fork(work: Any, patience: float) -> Iterator[Any]:
    """Do some work in a fork, and yield what it tells until it ends, or is ended."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(here)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        with os.fdopen(there, "w") as told:
            work(lambda said: print(json.dumps(said), file=told, flush=True))
        os._exit(0)
    os.close(there)
    until, rest = time.monotonic() + patience, b""
    try:
        while select.select([here], [], [], max(until - time.monotonic(), 0.0))[0]:
            chunk = os.read(here, 1 << 16)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            yield from map(json.loads, lines)
    finally:
        os.close(here)
        os.kill(child, 9)
        os.waitpid(child, 0)


def main() -> int:
    """Try a sample of faults, and list those that no test finds."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", help="test files (default: those of the methods)")
    parser.add_argument("--again", type=Path, help="only what passed in this earlier --out")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    given = parser.parse_args()
    paths = [p for r in given.rooms for p in sorted((ROOT / "src/hitsndiffs" / r).rglob("*.py"))]
    every = [fault for path in paths for fault in faults_in(path)]
    faults = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    if given.again is not None:
        earlier = map(json.loads, given.again.read_text(encoding="utf-8").splitlines())
        passed = {one["fault"] for one in earlier if not one["end"].startswith("found")}
        faults = [fault for fault in faults if str(fault) in passed]
    tests = given.tests or [
        str(path)
        for path in sorted((ROOT / "tests").glob("test_*.py"))
        if not any(fnmatch.fnmatch(path.name, other) for other in OTHER_TESTS)
    ]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    mutation = Mutation(faults, given.out)
    quiet = ["-q", "-p", "no:cacheprovider", "--capture=no", *tests]
    pytest.main(quiet, plugins=[mutation])
    ends = mutation.ends
    found = sum(times for end, times in ends.items() if end.startswith("found"))
    print(f"{found} of {sum(ends.values())} faults found ({dict(ends)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
