"""The campaign: children with limits, counts, findings, and the page about them."""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fuzz import ROOT
from fuzz.child import KINDS, kind_of, made, processor_time
from fuzz.page import write_page
from fuzz.reading import exports

#: Most inputs are small files: a folder in memory, where there is one.
IN_MEMORY = "/dev/shm"
#: Seconds for one input, and for a child to begin. Where the machine is busy, an input may take so
#: many times as long, as long as it did not get so much of a processor.
LIMIT, START = 10.0, 180.0
BUSY = 6
#: Inputs of one child, and how much of the time a kind gets.
BATCH = {
    "bytes": 20_000,
    "exports": 5_000,
    "tables": 20_000,
    "paths": 500,
    "growth": 20,
    "page": 100,
    "changes": 400,
    "states": 40,
    "faults": 200,
    "kills": 10,
}
#: Kinds whose inputs are more than one file: they may take so many times as long.
LONGER = {"growth": 30, "page": 6, "kills": 6}
SHARE = {
    "bytes": 14,
    "exports": 4,
    "tables": 11,
    "paths": 2,
    "growth": 3,
    "page": 3,
    "changes": 5,
    "states": 1,
    "faults": 2,
    "kills": 1,
}


#: A signal asks the campaign to end: what ran is kept.
asked_to_end: list[int] = []


def empty(seed: int) -> dict[str, Any]:
    """A campaign before its first input."""
    return {"seed": seed, "kinds": {}, "commits": []}


def blank(first: int = 0) -> dict[str, Any]:
    """A kind before its first input."""
    return {
        "next": first,
        "inputs": 0,
        "seconds": 0.0,
        "peak_mib": 0,
        "hangs": 0,
        "crashes": 0,
        "outcomes": {},
        "findings": [],
    }


def started(name: str, seed: int, first: int, count: int, folder: str) -> subprocess.Popen[bytes]:
    """A child that runs some inputs, with its temporary files in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "fuzz.child", name, str(seed), str(first), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={
            **os.environ,
            "TMPDIR": folder,
            "POLARS_MAX_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)]),
        },
    )


def batch(
    name: str, state: dict[str, Any], count: int, until: float, patience: float = LIMIT
) -> None:
    """Run one child, and add what came of it; an input may take this many seconds."""
    entry = state["kinds"].setdefault(name, blank())
    began, first = time.monotonic(), entry["next"]
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None) as f:
        child = started(name, state["seed"], first, count, f)
        try:
            last, what = watched(child, name, state["seed"], entry, until, patience)
        finally:
            child.kill()
            child.wait()
    number = max(last, first - 1)
    if what:
        entry["hangs" if what.startswith("hang") else "crashes"] += 1
        entry["findings"].append({"number": number, "what": what, "where": ""})
        keep(name, state["seed"], number)
    entry["next"] = number + 1
    entry["inputs"] += number + 1 - first
    entry["seconds"] += time.monotonic() - began


def watched(
    child: subprocess.Popen[bytes],
    name: str,
    seed: int,
    entry: dict[str, Any],
    until: float,
    patience: float,
) -> tuple[int, str]:
    """Read a child's lines; return the last input's number, and how it hung or died, if it did."""
    assert child.stdout is not None
    assert child.stderr is not None
    number, limit, rest, noise = -1, START, b"", b""
    since, spent = time.monotonic(), processor_time(child.pid)
    os.set_blocking(child.stderr.fileno(), False)
    with child.stdout as out, child.stderr as err:
        while True:
            ready, _, _ = select.select([out], [], [], limit)
            noise = (noise + (err.read() or b""))[-4000:]
            late = time.monotonic() - since > BUSY * limit
            if not ready and not late and processor_time(child.pid) - spent < limit:
                continue
            chunk = os.read(out.fileno(), 1 << 16) if ready else b""
            if not chunk:
                said = noise.decode(errors="replace").strip().splitlines()[-1:]
                if not ready:
                    return number, f"hang: no answer within {patience:.0f} s {said}"
                return number, f"crash: the process ended with {child.wait()} {said}"
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.isdigit():
                    number, limit = int(line), patience
                    since, spent = time.monotonic(), processor_time(child.pid)
                elif line.startswith(b"="):
                    outcome = line[1:].decode()
                    entry["outcomes"][outcome] = entry["outcomes"].get(outcome, 0) + 1
                elif line.startswith(b'{"done"'):
                    peak = json.loads(line)["done"]["peak_mib"]
                    entry["peak_mib"] = max(entry["peak_mib"], peak)
                    return number, ""
                elif line.startswith(b"{"):
                    finding = json.loads(line)
                    keep(name, seed, finding["number"])
                    entry["findings"].append(finding)
            if time.monotonic() > until or asked_to_end:
                return number, ""


def recheck(state: dict[str, Any]) -> None:
    """Run the input of every finding again, and note what it does now."""
    for name, entry in state["kinds"].items():
        for finding in entry["findings"]:
            once = empty(state["seed"])
            once["kinds"][name] = blank(finding["number"])
            batch(name, once, 1, float("inf"))
            found = once["kinds"][name]
            failed = [f["what"] for f in found["findings"]]
            finding["now"] = failed[0] if failed else next(iter(found["outcomes"]))
            print(f"{name} {finding['number']}: {finding['now']}", flush=True)


def keep(name: str, seed: int, number: int) -> None:
    """Write an input down, to look at it and to run it again."""
    folder = ROOT / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        given = made(kind_of(name), seed, number)
    except Exception as error:
        given = repr(error)
    data = given[-1] if isinstance(given, tuple) and isinstance(given[-1], bytes) else repr(given)
    path = folder / f"{name}-{seed}-{number}"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def save(state: dict[str, Any], path: Path) -> None:
    """Keep the state, whole or not at all."""
    part = path.with_suffix(".new")
    part.write_text(json.dumps(state, indent=1))
    part.replace(path)


def main() -> int:
    """Run the campaign; the exit code is 1 when there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)} (default: all)")
    parser.add_argument("--seconds", type=float, default=300.0, help="time for all kinds together")
    parser.add_argument("--inputs", type=int, help="so many inputs of each kind, then the end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="go on where this file says, and keep it")
    parser.add_argument("--page", type=Path, help="write the report (docs/reliability.md)")
    parser.add_argument(
        "--beside", type=Path, nargs="+", default=[], help="other campaigns, for the report"
    )
    parser.add_argument("--again", type=int, metavar="NUMBER", help="run one input here, to debug")
    parser.add_argument(
        "--recheck", action="store_true", help="run the inputs of all findings again"
    )
    given = parser.parse_args()
    kinds = given.kinds or [name for name in KINDS if name != "exports" or exports()]
    unknown = [name for name in kinds if name not in KINDS]
    if unknown:
        parser.error(f"{unknown[0]!r} is no kind; there are {', '.join(KINDS)}")
    if given.again is not None:
        return again(kinds[0], given.seed, given.again)
    state = empty(given.seed)
    if given.resume is not None and given.resume.exists():
        state = json.loads(given.resume.read_text())
    if given.recheck:
        recheck(state)
        given.seconds = 0.0
        if given.resume is not None:
            save(state, given.resume)
    elif given.seconds > 0 and (commit := _commit()) not in state.setdefault("commits", []):
        state["commits"].append(commit)
    until = time.monotonic() + given.seconds
    spent = dict.fromkeys(kinds, 0.0)
    ran = dict.fromkeys(kinds, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: asked_to_end.append(number))
    while time.monotonic() < until and not asked_to_end:
        left = [k for k in kinds if given.inputs is None or ran[k] < given.inputs]
        if not left:
            break
        name = min(left, key=lambda k: spent[k] / SHARE[k])
        count = BATCH[name] if given.inputs is None else min(BATCH[name], given.inputs - ran[name])
        began = time.monotonic()
        before = state["kinds"].get(name, {}).get("inputs", 0)
        batch(name, state, count, until, LIMIT * LONGER.get(name, 1))
        spent[name] += time.monotonic() - began
        ran[name] += max(state["kinds"][name]["inputs"] - before, 1)
        if given.resume is not None:
            save(state, given.resume)
        entry = state["kinds"][name]
        print(
            f"{name:8} {entry['inputs']:>9,} inputs, {len(entry['findings'])} findings", flush=True
        )
    if given.page is not None:
        others = [json.loads(path.read_text()) for path in given.beside]
        write_page([state, *others], given.page)
    findings = sum(len(entry["findings"]) for entry in state["kinds"].values())
    for name, entry in state["kinds"].items():
        for finding in entry["findings"][:5]:
            print(f"{name} {finding['number']}: {finding['what']} ({finding['where']})")
    return 1 if findings else 0


def _commit() -> str:
    """The state of the code, where Git tells it."""
    told = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, check=False
    )
    return told.stdout.decode().strip() or "unknown"


def again(name: str, seed: int, number: int) -> int:
    """Run one input in this process, with its traceback."""
    kind = kind_of(name)
    given = made(kind, seed, number)
    print(repr(given)[:2000])
    with tempfile.TemporaryDirectory() as folder:
        print(kind.run(given, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
