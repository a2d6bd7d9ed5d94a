"""(d) From a file to a ranking, against Polars merely reading it; each run a process of its own.

1,000,000 users × 100 items, letters, CSV and Parquet. Times are those of the calls, after the
imports that the first line of a user's program does; what is imported later counts.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from data import write_csv, write_parquet
from harness import Report, arguments, fresh

BARE = {
    "csv": "table = pl.read_csv(sys.argv[1])",
    "parquet": "table = pl.scan_parquet(sys.argv[1]).collect()",
}
OURS = """
responses = hnd.read_responses(sys.argv[1])
read = time.perf_counter() - imported
ranking = hnd.rank(responses, 'hnd')
more = dict(read=read)
"""
NAMES = {"csv": "CSV", "parquet": "Parquet"}


def main() -> None:
    options = arguments("File to ranking against Polars' bare read.")
    report = Report("File to ranking against Polars' bare read")
    users = 100_000 if options.quick else 1_000_000
    repeats = min(options.repeats, 5)
    with tempfile.TemporaryDirectory() as folder:
        paths = {kind: Path(folder, f"answers.{kind}") for kind in ("parquet", "csv")}
        write_parquet(paths["parquet"], users)
        write_csv(paths["csv"], paths["parquet"])
        for kind, path in paths.items():
            report.section(f"{kind}, {users:,} × 100, {path.stat().st_size / 1e6:.0f} MB")
            bare, ours = [], []
            for turn in range(repeats + 1):
                pair = (
                    fresh("import polars as pl", BARE[kind], path),
                    fresh("import hitsndiffs as hnd", OURS, path),
                )
                if turn:  # the first turn fills the caches
                    bare.append(pair[0])
                    ours.append(pair[1])
            summarise(report, kind, bare, ours, judged=not options.quick)
    report.save(options.json)


def summarise(
    report: Report,
    kind: str,
    bare: list[dict[str, float]],
    ours: list[dict[str, float]],
    judged: bool,
) -> None:
    def median(runs: list[dict[str, float]], name: str) -> float:
        return statistics.median(run[name] for run in runs)

    ratios = [a["seconds"] / b["seconds"] for a, b in zip(ours, bare, strict=True)]
    imports = [a["with_imports"] / b["with_imports"] for a, b in zip(ours, bare, strict=True)]
    peak = max(run["peak_gib"] for run in ours)
    report.fact(
        f"{kind}, file to ranking",
        seconds=round(median(ours, "seconds"), 3),
        read_seconds=round(median(ours, "read"), 3),
        polars_seconds=round(median(bare, "seconds"), 3),
        ratio=round(statistics.median(ratios), 2),
        ratio_with_imports=round(statistics.median(imports), 2),
        peak_gib=round(peak, 2),
        polars_peak_gib=round(max(run["peak_gib"] for run in bare), 2),
        all_ratios=[round(ratio, 2) for ratio in ratios],
    )
    if judged:
        what = f"{NAMES[kind]} to ranking, time beside Polars' bare read"
        spread = (min(ratios), max(ratios))
        report.headline(what, statistics.median(ratios), spread=spread)
        report.headline(f"{NAMES[kind]} to ranking: peak memory", peak, unit="GiB")


if __name__ == "__main__":
    main()
