"""The import, and the way from a small file to its ranking, load nothing that is not needed.

How long they take is measured by benchmarks/startup.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitsndiffs.irt import simulate, write_simulation

#: Loaded by nothing on the way from a small file to its ranking.
HEAVY = {"numba", "polars", "matplotlib", "pandas", "rich", "scipy"}


@pytest.fixture(scope="module")
def hundred_by_hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("startup")
    return write_simulation(simulate("samejima", users=100, items=100, seed=1), folder)[0]


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
