"""(f) Start-up: the import, and ``hnd rank`` on 100 × 100, beside importing NumPy and SciPy."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from data import write_csv, write_parquet
from harness import Report, arguments, measure

#: An installed package has byte code; without it Python reads the source anew in every process.
INSTALLED = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> None:
    options = arguments("Start-up and latency on small data.")
    report = Report("Start-up, and 100 × 100 from the command line")
    with tempfile.TemporaryDirectory() as folder:
        parquet, table = Path(folder, "answers.parquet"), Path(folder, "answers.csv")
        write_parquet(parquet, 100)
        write_csv(table, parquet)

        def run(*arguments: str) -> None:
            command = [sys.executable, *arguments]
            subprocess.run(command, check=True, capture_output=True, env=INSTALLED)

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
