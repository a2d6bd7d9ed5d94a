"""Reading every kind of file: time per row at two sizes, several files, and beside bare Polars.

    python benchmarks/kinds.py [--quick] [--before FOLDER]

Each run is a process of its own, and each figure the least processor time of the read of three
runs, without what is loaded once: a small file is read before. With ``--before`` (the ``src`` of an
earlier version), wide CSV and Parquet are read by both in turn.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from harness import Report, fresh

#: Each kind of file: how a frame is written, and the larger of two sizes, ten or a hundred times
#: the smaller.
LONG = 10**6
KINDS: dict[str, tuple[Callable[[pl.DataFrame, Path], object], int]] = {
    "csv": (lambda frame, path: frame.write_csv(path), LONG),
    "tsv": (lambda frame, path: frame.write_csv(path, separator="\t"), LONG),
    "jsonl": (lambda frame, path: frame.write_ndjson(path), LONG),
    "json": (lambda frame, path: frame.write_json(path), LONG),
    "parquet": (lambda frame, path: frame.write_parquet(path), LONG),
    "xlsx": (lambda frame, path: frame.write_excel(path), 10**5),
}
OURS = """
hnd.read_responses(sys.argv[2])
begun = time.process_time()
found = hnd.read_responses(sys.argv[1])
more = dict(used=time.process_time() - begun, answers=found.n_responses)
"""
BARE = """
pl.read_ndjson(sys.argv[2])
begun = time.process_time()
table = pl.read_ndjson(sys.argv[1])
more = dict(used=time.process_time() - begun)
"""
RUNS = 3


def long_frame(rows: int) -> pl.DataFrame:
    """Answers of users to 50 items, a row each."""
    chance = np.random.default_rng(rows)
    number = np.arange(rows)
    letters = np.array(list("ABCD"))
    return pl.DataFrame(
        {
            "user": [f"student-{k:06}" for k in number // 50],
            "item": [f"q{k:02}" for k in number % 50],
            "option": letters[chance.integers(0, 4, rows)],
        }
    )


def wide_frame(users: int, items: int = 50) -> pl.DataFrame:
    """Answers of users to some items, a row per user."""
    chance = np.random.default_rng(users)
    letters = np.array(list("ABCD"))
    columns = {f"q{k:02}": letters[chance.integers(0, 4, users)] for k in range(items)}
    return pl.DataFrame({"user": [f"student-{k:06}" for k in range(users)], **columns})


def used(path: Path, lines: str = OURS, imports: str = "import hitsndiffs as hnd") -> float:
    """Processor time of reading, the least of some runs."""
    return min(fresh(imports, lines, path, small(path))["used"] for _ in range(RUNS))


def small(path: Path) -> Path:
    """A small file of the same kind, or of CSV for a folder."""
    kind = path.suffix.removeprefix(".")
    kind = kind if kind in KINDS else "csv"
    found = path.parent / f"small.{kind}"
    if not found.exists():
        KINDS[kind][0](long_frame(100), found)
    return found


def per_row(report: Report, folder: Path, quick: bool) -> None:
    """Time per row at a small and a large size, one row per answer."""
    report.section("time per row (microseconds), one row per answer")
    for kind, (write, largest) in KINDS.items():
        sizes = (10**4, largest // 10 if quick and largest > 10**5 else largest)
        found = []
        for rows in sizes:
            path = folder / f"long-{rows}.{kind}"
            write(long_frame(rows), path)
            found.append(used(path) / rows * 1e6)
        small, large = found
        facts = {f"{rows:,}": round(own, 2) for rows, own in zip(sizes, found, strict=True)}
        report.fact(kind, **facts, ratio=round(large / small, 2))


def beside_polars(report: Report, folder: Path) -> None:
    """JSONL of 200,000 rows beside Polars' bare read, and many files beside few or one."""
    report.section("ratios")
    path = folder / "log.jsonl"
    long_frame(200_000).write_ndjson(path)
    bare = used(path, BARE, "import polars as pl")
    ours = used(path)
    report.fact("200,000 lines of JSON", seconds=round(ours, 2), times_polars=round(ours / bare, 1))
    whole = wide_frame(80_000)
    (folder / "eight").mkdir()
    for k in range(8):
        whole[10_000 * k : 10_000 * (k + 1)].write_parquet(folder / "eight" / f"part-{k}.parquet")
    whole.write_parquet(folder / "one.parquet")
    one, eight = used(folder / "one.parquet"), used(folder / "eight")
    report.fact("eight Parquet files beside one", one=round(one, 3), ratio=round(eight / one, 2))
    rows = wide_frame(10_000, 20)
    for n in (100, 1000):
        (folder / f"{n}").mkdir()
        for k in range(n):
            rows[10 * k : 10 * (k + 1)].write_csv(folder / f"{n}" / f"class-{k:04}.csv")
    few, many = used(folder / "100"), used(folder / "1000")
    report.fact("1,000 small files beside 100", hundred=round(few, 3), ratio=round(many / few, 2))


def beside_before(report: Report, folder: Path, before: str) -> None:
    """Wide CSV and Parquet, by this version and an earlier one in turn."""
    report.section(f"beside {before}")
    now = os.environ.get("PYTHONPATH", "")
    frame = wide_frame(200_000)
    for kind in ("csv", "parquet"):
        path = folder / f"wide.{kind}"
        KINDS[kind][0](frame, path)
        runs: dict[str, list[float]] = {before: [], now: []}
        for _ in range(RUNS):
            for place, own in runs.items():
                os.environ["PYTHONPATH"] = place
                found = fresh("import hitsndiffs as hnd", OURS, path, small(path))
                own.append(found["used"])
        os.environ["PYTHONPATH"] = now
        old, new = min(runs[before]), min(runs[now])
        report.fact(kind, before=round(old, 3), now=round(new, 3), ratio=round(new / old, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--before", help="the src folder of an earlier version")
    parser.add_argument("--json", help="write the results to this file")
    options = parser.parse_args()
    report = Report("Reading every kind of file (processor time)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        beside_polars(report, folder)
        per_row(report, folder, options.quick)
        if options.before:
            beside_before(report, folder, options.before)
    report.save(options.json)


if __name__ == "__main__":
    main()
