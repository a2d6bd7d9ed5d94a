"""Measure things side by side: interleaved repeats, median and spread, ratios, the machine.

Times on a shared machine wander by more than the differences that matter. Contestants are
therefore run in turn, again and again, and compared within each turn: a ratio is the median of
the ratios of the turns, and its spread is what the middle half of the turns shows. Beside the
ratio of wall times stands that of processor times: on a busy machine it is the fairer one for a
single thread (for several threads it says how much work they add, not how soon they are done).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Report", "Timing", "arguments", "exponent", "fresh", "measure"]


@dataclass
class Timing:
    """One contestant's times in seconds, in the order in which they were taken."""

    name: str
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The middle one of the times."""
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        """What the middle half of the times lies between."""
        return _quartiles(self.seconds)

    def times_faster_than(self, other: Timing) -> tuple[float, float, float]:
        """How often this fits into the other: median, lower and upper quartile of the turns."""
        return _ratio(self.seconds, other.seconds)

    def times_less_work_than(self, other: Timing) -> tuple[float, float, float]:
        """The same in processor time."""
        return _ratio(self.cpu_seconds, other.cpu_seconds)


def measure(contestants: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Run each contestant once unmeasured, then all of them in turn, ``repeats`` times."""
    timings = {name: Timing(name) for name in contestants}
    for run in contestants.values():
        run()
    for turn in range(repeats):
        order = list(contestants.items())
        for name, run in order if turn % 2 == 0 else reversed(order):
            start, cpu_start = time.perf_counter(), time.process_time()
            run()
            timings[name].cpu_seconds.append(time.process_time() - cpu_start)
            timings[name].seconds.append(time.perf_counter() - start)
    return timings


@dataclass
class Report:
    """Rows of results, printed as a table while they come and saved as JSON at the end."""

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = machine()
        print(f"# {self.title}")
        print("\n".join(f"# {key}: {value}" for key, value in self.machine.items()))

    def section(self, text: str) -> None:
        """Print a heading."""
        print(f"\n{text}")

    def compare(
        self, case: str, timings: Mapping[str, Timing], baseline: str, **facts: Any
    ) -> dict[str, Any]:
        """Add one row per contestant, with its ratio to the baseline."""
        print(f"\n{case}" + "".join(f"  {key}={value}" for key, value in facts.items()))
        print(f"  {'':<28}{'median':>10}{'middle half':>20}{'times faster':>25}{'by CPU time':>24}")
        found: dict[str, Any] = {}
        for name, timing in timings.items():
            ratio, low, high = timing.times_faster_than(timings[baseline])
            cpu_ratio, cpu_low, cpu_high = timing.times_less_work_than(timings[baseline])
            first, third = timing.quartiles
            print(
                f"  {name:<28}{timing.median * 1e3:>7.1f} ms"
                f"{f'{first * 1e3:.1f}–{third * 1e3:.1f} ms':>20}"
                f"{f'{ratio:.2f} ({low:.2f}–{high:.2f})':>24}"
                f"{f'{cpu_ratio:.2f} ({cpu_low:.2f}–{cpu_high:.2f})':>24}"
            )
            found[name] = ratio
            self.rows.append(
                {"case": case, **facts, **asdict(timing), "median": timing.median}
                | {"baseline": baseline, "ratio": ratio, "ratio_quartiles": [low, high]}
                | {"cpu_ratio": cpu_ratio, "cpu_ratio_quartiles": [cpu_low, cpu_high]}
            )
        return found

    def fact(self, case: str, **facts: Any) -> None:
        """Add a row of plain figures."""
        print(f"  {case}: " + ", ".join(f"{key} = {value}" for key, value in facts.items()))
        self.rows.append({"case": case, **facts})

    def headline(
        self,
        what: str,
        value: float,
        *,
        spread: tuple[float, float] | None = None,
        unit: str = "×",
    ) -> None:
        """Add a figure for the head of the page."""
        print(f"  {what}: {value:.2f} {unit}")
        self.rows.append({"headline": what, "value": value, "spread": spread, "unit": unit})

    def save(self, path: str | None) -> None:
        """Write machine and rows as JSON."""
        if path is not None:
            content = {"title": self.title, "machine": self.machine, "rows": self.rows}
            Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
            print(f"\nwritten to {path}")


def machine() -> dict[str, str]:
    """Processor, cores, memory, load and versions."""
    model = "unknown processor"
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    versions = {"python": platform.python_version()}
    for package in ("numpy", "scipy", "numba", "polars"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    system = f"{platform.system()}, {platform.machine()}"
    facts = {"processor": f"{model}, {os.cpu_count()} cores", "system": system}
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
        facts["memory"] = f"{gib:.0f} GiB"
    if hasattr(os, "getloadavg"):
        facts["load when started"] = f"{os.getloadavg()[0]:.1f}"
    return facts | {"versions": ", ".join(f"{name} {v}" for name, v in versions.items())}


def arguments(description: str) -> argparse.Namespace:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=11, help="turns (default 11)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the users")
    return parser.parse_args()


#: What runs in a fresh process: the given lines between two clocks, then time and peak memory.
_PROGRAM = """
import json, resource, sys, time
start = time.perf_counter()
{imports}
imported = time.perf_counter()
{lines}
seconds = time.perf_counter() - imported
try:  # ru_maxrss may still hold what the parent had
    status = open("/proc/self/status").read()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
facts = dict(seconds=seconds, with_imports=seconds + imported - start, peak_gib=peak / 2**30)
print(json.dumps(facts | dict(globals().get("more", {{}}))))
"""


def fresh(imports: str, lines: str, *arguments: object) -> dict[str, float]:
    """Run some lines of Python in a process of their own: seconds and peak memory.

    The lines find the arguments in ``sys.argv``; what they put into ``more`` comes back as well.
    """
    program = _PROGRAM.format(imports=imports, lines=lines)
    command = [sys.executable, "-c", program, *map(str, arguments)]
    here = str(Path(__file__).parent)
    paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log seconds on log size, by least squares."""
    x = [math.log(size) for size in sizes]
    return statistics.linear_regression(x, [math.log(t) for t in seconds]).slope


def _ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return statistics.median(ratios), *_quartiles(ratios)


def _quartiles(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third
