"""The command answers at once, and the import loads nothing that is not asked for."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hitsndiffs.irt import simulate, write_simulation

#: The aim is 3, also for the default method, which fits several models and weighs them against each
#: other; a busy machine gets some slack.
MOST = {"--method=hnd": 3.0, "--quiet": 4.0}
ROUNDS = 5

BASE = ["-c", "import numpy, scipy.sparse"]

NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"

#: Loaded by nothing on the way from a small file to its ranking.
HEAVY = {"numba", "polars", "matplotlib", "pandas", "pydantic", "rich", "scipy.special"}


#: An installed package has byte code; without it Python reads the source anew in every process.
INSTALLED = {name: value for name, value in os.environ.items() if name != NO_BYTE_CODE}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=INSTALLED)
    return time.perf_counter() - start


def ratios(arguments: list[str], rounds: int = ROUNDS) -> list[float]:
    """How much longer a command takes than the base, measured turn by turn."""
    seconds(BASE), seconds(arguments)  # the disk's caches
    return [seconds(arguments) / seconds(BASE) for _ in range(rounds)]


@pytest.fixture(scope="module")
def hundred_by_hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("startup")
    return write_simulation(simulate("samejima", users=100, items=100, seed=1), folder)[0]


@pytest.mark.parametrize("option", MOST)
def test_rank_answers_within_a_few_imports(hundred_by_hundred: Path, option: str) -> None:
    found = ratios(["-m", "hitsndiffs", "rank", str(hundred_by_hundred), option])
    assert statistics.median(found) <= MOST[option], found


def test_help_needs_no_arithmetic() -> None:
    found = ratios(["-m", "hitsndiffs", "--help"])
    assert statistics.median(found) <= 2.0, found


@pytest.mark.parametrize("library", ["numba", "polars", "matplotlib", "scipy", "pandas", "rich"])
def test_import_loads_nothing_heavy(library: str) -> None:
    code = f"import hitsndiffs, sys; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ranking_a_small_file_loads_nothing_heavy(hundred_by_hundred: Path) -> None:
    code = (
        "import sys; from hitsndiffs.cli import main; code = main(['rank', sys.argv[1], '-q']);"
        f"heavy = {HEAVY} & set(sys.modules);"
        "sys.exit(str(sorted(heavy)) if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(hundred_by_hundred)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":  # python tests/test_startup.py: the figure itself
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        data = write_simulation(simulate("samejima", users=100, items=100, seed=1), folder)[0]
        for option in MOST:
            measured = ratios(["-m", "hitsndiffs", "rank", str(data), option], 11)
            print(
                f"hnd rank {option}, 100 × 100: {statistics.median(measured):.2f} times the "
                f"imports of NumPy and scipy.sparse (median of 11; from {min(measured):.2f} to "
                f"{max(measured):.2f})"
            )
