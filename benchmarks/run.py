"""Run all benchmarks, each in a process of its own, and write docs/performance.md from the figures.

    python benchmarks/run.py [--quick] [--only solve files …] [--page-only]

The figures are kept in benchmarks/results/NAME.json; a case that is not run keeps its last ones.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from page import write_page

HERE = Path(__file__).parent
RESULTS = HERE / "results"
CASES = ("kernels", "limit", "solve", "files", "growth", "startup", "reports", "peers", "billion")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="CASE")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--page-only", action="store_true", help="write the page from the figures")
    options = parser.parse_args()
    failed = []
    for case in [] if options.page_only else options.only:
        command = [sys.executable, str(HERE / f"{case}.py"), "--repeats", str(options.repeats)]
        if options.quick:
            command.append("--quick")
        else:
            RESULTS.mkdir(exist_ok=True)
            command += ["--json", str(RESULTS / f"{case}.json")]
        if subprocess.run(command, check=False).returncode:
            failed.append(case)
    if not options.quick:
        write_page(RESULTS, HERE.parent / "docs" / "performance.md")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
