"""The command answers at once, and the import loads nothing that is not asked for."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hitsndiffs.irt import simulate, write_simulation

#: The aim is 3 for the paper's method; a busy machine gets some slack. The default method fits
#: several models and weighs them against each other, which takes longer.
MOST = {"--method=hnd": 4.0, "--quiet": 6.0}
ROUNDS = 5

BASE = ["-c", "import numpy, scipy.sparse"]


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
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


def test_ranking_a_small_file_compiles_nothing(hundred_by_hundred: Path) -> None:
    code = (
        "import sys; from hitsndiffs.cli import main; code = main(['rank', sys.argv[1], '-q']);"
        "heavy = {'numba', 'matplotlib', 'pandas', 'rich.table'} & set(sys.modules);"
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
