"""A billion responses from a Parquet file to a ranking, on this machine.

    python benchmarks/billion.py [--users 10000000] [--json FILE]

10,000,000 users × 100 items × 3 options are written in pieces to a temporary Parquet file (deleted
afterwards), which a fresh process reads and ranks with ``hnd``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from data import write_parquet
from files import OURS
from harness import Report, fresh


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the users")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", help="write the results to this file")
    options = parser.parse_args()
    users = options.users // 100 if options.quick else options.users
    report = Report(f"{users * 100:,} responses, file to ranking")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.parquet")
        start = time.perf_counter()
        write_parquet(path, users)
        report.fact(
            "file",
            seconds=round(time.perf_counter() - start, 1),
            megabytes=round(path.stat().st_size / 1e6),
        )
        found = fresh("import hitsndiffs as hnd", OURS, path)
    report.fact(
        f"{users:,} × 100 × 3, file to ranking",
        seconds=round(found["seconds"], 1),
        read_seconds=round(found["read"], 1),
        rank_seconds=round(found["seconds"] - found["read"], 1),
        peak_gib=round(found["peak_gib"], 2),
    )
    if not options.quick:
        what = "A billion answers, Parquet to ranking: peak memory"
        report.headline(what, found["peak_gib"], unit="GiB")
    report.save(options.json)


if __name__ == "__main__":
    main()
