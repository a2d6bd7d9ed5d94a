"""A child process that runs some inputs of one kind: ``python -m fuzz.child KIND SEED FROM COUNT``.

It writes a line before every input (its number) and after it (``=`` and what came of it), and one
for every finding and at the end (JSON).
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

MEMORY = 12 * 2**30
KINDS = {
    "bytes": ("fuzz.reading", "Bytes"),
    "exports": ("fuzz.reading", "Exports"),
    "tables": ("fuzz.reading", "Tables"),
    "paths": ("fuzz.reading", "Paths"),
    "growth": ("fuzz.growth", "Growth"),
    "page": ("fuzz.visits", "Visits"),
    "changes": ("fuzz.changes", "Changes"),
    "states": ("fuzz.states", "States"),
    "faults": ("fuzz.faults", "Faults"),
    "kills": ("fuzz.faults", "Kills"),
}


def kind_of(name: str) -> Any:
    """What makes and runs the inputs of a kind."""
    import importlib

    module, found = KINDS[name]
    return getattr(importlib.import_module(module), found)()


def made(kind: Any, seed: int, number: int) -> Any:
    """The input of a number."""
    return kind.make(random.Random(f"{seed}/{number}"))


def run(name: str, seed: int, first: int, count: int, say: Any) -> dict[str, Any]:
    """Run some inputs, and return how they went."""
    kind, outcomes = kind_of(name), Counter[str]()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "files"
        folder.mkdir()
        for number in range(first, first + count):
            say(str(number))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcome = kind.run(made(kind, seed, number), folder)
            except Exception as error:
                outcome = "finding"
                where = traceback.extract_tb(error.__traceback__)[-1]
                own = [
                    f
                    for f in traceback.extract_tb(error.__traceback__)
                    if "hitsndiffs" in f.filename
                ]
                where = own[-1] if own else where
                say(
                    json.dumps(
                        {
                            "number": number,
                            "what": f"{type(error).__name__}: {error}"[:500],
                            "where": f"{Path(where.filename).name}:{where.lineno}",
                        }
                    )
                )
            outcomes[outcome] += 1
            say(f"={outcome}")
        if hasattr(kind, "close"):
            kind.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"outcomes": dict(outcomes), "peak_mib": peak}


def processor_time(process: int) -> float:
    """Seconds of a processor that a process has used (as many as you like, where none can tell)."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run what the parent asked for."""
    name, seed, first, count = sys.argv[1], *map(int, sys.argv[2:5])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    lines = os.dup(1)
    os.dup2(2, 1)  # whatever is printed is none of the parent's lines

    def say(line: str) -> None:
        with contextlib.suppress(InterruptedError):
            os.write(lines, line.encode() + b"\n")

    say("ready")
    say(json.dumps({"done": run(name, seed, first, count, say)}))


if __name__ == "__main__":
    main()
