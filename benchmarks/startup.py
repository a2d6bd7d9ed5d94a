"""(f) Start-up: the import, and ``hnd rank`` on 100 × 100, beside importing NumPy and SciPy."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from data import write_csv, write_parquet
from harness import Report, arguments, measure


def main() -> None:
    options = arguments("Start-up and latency on small data.")
    report = Report("(f) Start-up, and 100 × 100 from the command line")
    with tempfile.TemporaryDirectory() as folder:
        parquet, table = Path(folder, "answers.parquet"), Path(folder, "answers.csv")
        write_parquet(parquet, 100)
        write_csv(table, parquet)

        def run(*arguments: str) -> None:
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

        base = "import numpy, scipy.sparse"
        rank = ("-m", "hitsndiffs", "rank", str(table))
        timings = measure(
            {
                base: lambda: run("-c", base),
                "import hitsndiffs": lambda: run("-c", "import hitsndiffs"),
                "hnd --help": lambda: run("-m", "hitsndiffs", "--help"),
                "hnd rank --method=hnd": lambda: run(*rank, "--method=hnd"),
                "hnd rank": lambda: run(*rank),
            },
            min(options.repeats, 9),
        )
    report.compare("100 users × 100 items", timings, base)
    for name in list(timings)[1:]:
        slower, low, high = timings[base].times_faster_than(timings[name])
        report.fact(f"{name} against {base}", ratio=round(slower, 2), low=low, high=high)
    report.save(options.json)


if __name__ == "__main__":
    main()
