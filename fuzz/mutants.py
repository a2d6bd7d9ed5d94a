"""Tests that cannot fail: ``python -m fuzz.mutants [--sample N] [--jobs N] [room …]``.

Small faults are put into the code, one at a time (an operator, a comparison, a number), and the
tests that name what the module offers must fail. What they let pass is listed: a test is missing
there, or the code does nothing. It needs cosmic-ray (``pip install cosmic-ray``).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from fuzz import ROOT

ROOMS = ["methods", "order", "spectral"]
#: Faults of these kinds are rarely faults: other names, and decorators of compiled functions.
LEFT_OUT = ("VariableReplacer", "VariableInserter", "RemoveDecorator", "ExceptionReplacer")
#: Test files that are tried first, and those that are tried when the first ones pass; seconds.
FIRST, MORE, PATIENCE = 4, 14, 300
COPIED = ["src", "tests", "benchmarks", "reproduction", "fuzz", "examples", "pyproject.toml"]


def places(path: Path) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """The faults that a file may get, by where they are: the operator's name and its count."""
    source = path.read_text(encoding="utf-8")
    without = list(_not_run(ast.parse(source)))
    tree, found = get_ast(source), dict[tuple[int, int], list[tuple[str, int]]]()
    for name in operator_names():
        if name.endswith(LEFT_OUT):
            continue
        operator, count = get_operator(name)(), 0
        for node in ast_nodes(tree):
            for start, _ in operator.mutation_positions(node):
                if not any(a <= start < b for a, b in without):
                    found.setdefault(start, []).append((name, count))
                count += 1
    return found


def _not_run(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations stand: they are never evaluated."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            inside: ast.expr = node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            inside = node.returns
        else:
            continue
        last = (inside.end_lineno or 0, inside.end_col_offset or 0)
        yield (inside.lineno, inside.col_offset), last


@cache
def tests_of(path: Path) -> list[str]:
    """Test files by how often they name what a module offers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        str(e.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for e in getattr(node.value, "elts", [])
    }
    names |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    names |= {path.stem.replace("_", "-"), f".{path.parent.name}.{path.stem}"}
    found = Counter[str]()
    for test in sorted((ROOT / "tests").glob("test_*.py")):
        text = test.read_text(encoding="utf-8")
        found[f"tests/{test.name}"] = sum(text.count(name) for name in names)
    return [name for name, times in found.most_common(MORE) if times]


def sample(rooms: list[str], n: int, seed: int) -> list[tuple[Path, str, int, int]]:
    """Faults to try: file, operator, its count, line; every place is as likely as any other."""
    every = [
        (path, start, ways)
        for room in rooms
        for path in sorted((ROOT / "src" / "hitsndiffs" / room).rglob("*.py"))
        for start, ways in places(path).items()
    ]
    rng = random.Random(seed)
    chosen = rng.sample(every, min(n, len(every)))
    return [(path, *rng.choice(ways), start[0]) for path, start, ways in chosen]


def tried(folder: Path, fault: tuple[Path, str, int, int]) -> dict[str, Any]:
    """Put a fault into a copy of the project, run the tests, and take it out again."""
    path, name, count, line = fault
    copy = folder / path.relative_to(ROOT)
    right = path.read_text(encoding="utf-8")
    wrong = mutate_code(right, get_operator(name)(), count)
    tests, outcome = tests_of(path), "passed"
    copy.write_text(wrong, encoding="utf-8")
    try:
        for some in (tests[:FIRST], tests[FIRST:]):
            if some and outcome == "passed":
                outcome = _outcome(folder, some)
    finally:
        copy.write_text(right, encoding="utf-8")
    before, after = right.split("\n"), str(wrong).split("\n")
    other = [b.strip() for a, b in zip(before, after, strict=False) if a != b][:1]
    return {
        "file": str(path.relative_to(ROOT)),
        "line": line,
        "was": before[line - 1].strip(),
        "is": other,
        "outcome": outcome if tests else "no test",
        "tests": tests,
    }


def _outcome(folder: Path, tests: list[str]) -> str:
    """Whether tests find the fault."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "2",
    }
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return "found: no end"
    return (
        "found" if done.returncode == 1 else {0: "passed"}.get(done.returncode, "found: no start")
    )


def main() -> int:
    """Try a sample of faults, and list those that no test finds."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "mutants.jsonl")
    given = parser.parse_args()
    faults = sample(given.rooms, given.sample, given.seed)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    folders: SimpleQueue[Path] = SimpleQueue()
    with (
        tempfile.TemporaryDirectory() as temporary,
        ThreadPoolExecutor(given.jobs) as pool,
        given.out.open("w", encoding="utf-8") as out,
    ):
        for number in range(given.jobs):
            folder = Path(temporary) / str(number)
            for name in COPIED:
                source = ROOT / name
                copy = shutil.copytree if source.is_dir() else shutil.copy2
                folder.mkdir(exist_ok=True)
                copy(source, folder / name)
            folders.put(folder)

        def one(fault: tuple[Path, str, int, int]) -> dict[str, Any]:
            folder = folders.get()
            try:
                return tried(folder, fault)
            finally:
                folders.put(folder)

        ends = Counter[str]()
        for found in pool.map(one, faults):
            out.write(json.dumps(found) + "\n")
            out.flush()
            ends[found["outcome"]] += 1
            if not found["outcome"].startswith("found"):
                what = f"{found['was']}  ->  {''.join(found['is'])}"
                print(f"{found['file']}:{found['line']}: {found['outcome']}: {what}", flush=True)
    right = sum(times for name, times in ends.items() if name.startswith("found"))
    print(f"{right} of {len(faults)} faults found ({dict(ends)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
