"""With the base dependencies only: ranking works, and what needs more names the extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

#: What the extras bring, and what comes with them.
BLOCKED = (
    "altair", "vl_convert", "jinja2", "markupsafe", "matplotlib", "starlette", "uvicorn",
    "python_multipart",
    "dask", "distributed", "pandas", "pyarrow", "cupy", "mirt", "IPython", "sklearn",
)  # fmt: skip

START = f"""
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {BLOCKED!r}:
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from hitsndiffs.__main__ import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    path = tmp_path_factory.mktemp("base") / "answers.csv"
    rows = ["student,q1,q2,q3", "student-01,A,B,C", "student-02,A,B,D", "student-03,A,C,D",
            "student-04,B,C,D", "student-05,A,B,C"]  # fmt: skip
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def hnd(*arguments):
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", START, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("method", ["auto", "hnd"])
def test_ranking_needs_no_extra(answers, tmp_path, method):
    out = tmp_path / "ranking.csv"
    done = hnd("rank", answers, "--method", method, "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert out.read_text(encoding="utf-8").count("\n") == 6


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("dask", ["rank", "FILE", "--engine", "dask"]),
        ("gpu", ["rank", "FILE", "--engine", "cupy"]),
        ("irt", ["rank", "FILE", "--method", "grm", "--answers", "KEY"]),
        ("plots", ["rank", "FILE", "--report", "OUT.html"]),
        ("web", ["serve", "--no-open", "--port", "0"]),
    ],
)
def test_what_needs_more_names_the_extra(answers, tmp_path, extra, arguments):
    key, out = tmp_path / "key.csv", tmp_path / "out.html"
    key.write_text("item,answer\nq1,A\nq2,B\nq3,C\n", encoding="utf-8")
    places = {"FILE": answers, "KEY": key, "OUT.html": out}
    done = hnd(*(places.get(argument, argument) for argument in arguments))
    assert done.returncode not in (0, 1), done.stdout
    assert f"pip install 'hitsndiffs[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()
