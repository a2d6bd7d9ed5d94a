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
import contextlib, io, json, sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {BLOCKED!r}:
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from hitsndiffs.cli import main
done = []
for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    done.append((code, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout)
"""

#: What needs no extra, and what needs which; the names in capitals stand for files.
PLAIN = [
    ["rank", "FILE", "--method", method, "--json", "--out", f"{method}.csv"]
    for method in ("auto", "hnd")
]
MORE = {
    "dask": ["rank", "FILE", "--engine", "dask"],
    "gpu": ["rank", "FILE", "--engine", "cupy"],
    "irt": ["rank", "FILE", "--method", "grm", "--answers", "KEY"],
    "plots": ["rank", "FILE", "--report", "out.html"],
    "web": ["serve", "--no-open", "--port", "0"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    rows = ["student,q1,q2,q3", "student-01,A,B,C", "student-02,A,B,D", "student-03,A,C,D",
            "student-04,B,C,D", "student-05,A,B,C"]  # fmt: skip
    (folder / "FILE").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "KEY").write_text("item,answer\nq1,A\nq2,B\nq3,C\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def commands(folder):
    """Code, output and errors of all commands, in one process without the extras."""
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", START],
        input=json.dumps([*PLAIN, *MORE.values()]),
        env={**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", range(len(PLAIN)))
def test_ranking_needs_no_extra(commands, folder, number):
    code, out, err = commands[number]
    assert code == 0, err
    assert json.loads(out)
    assert (folder / PLAIN[number][-1]).read_text(encoding="utf-8").count("\n") == 6


@pytest.mark.parametrize("extra", MORE)
def test_what_needs_more_names_the_extra(commands, folder, extra):
    code, out, err = commands[len(PLAIN) + list(MORE).index(extra)]
    assert code not in (0, 1), out
    assert f"pip install 'hitsndiffs[{extra}]'" in err
    assert "Traceback" not in err
    assert not (folder / "out.html").exists()
