"""The current folder holds other people's files: no command runs any of them as code."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest
from formats.quiz import xlsx_bytes

import hitsndiffs as hnd
from hitsndiffs.data.processes import safe_path
from hitsndiffs.engines import compiling

ROOT = Path(__file__).parents[1]
QUIZ = ROOT / "examples" / "quiz.csv"
#: Modules that Python, NumPy, Dask or the page import when they start.
PLANTED = (
    "signal",
    "numpy",
    "json",
    "random",
    "yaml",
    "polars",
    "fastexcel",
    "sitecustomize",
    "usercustomize",
    "hitsndiffs",
    "multiprocessing/__init__",
    "multiprocessing/spawn",
    "distributed/__init__",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data with Python files in it, each of which leaves a mark when it is run."""
    place = tmp_path / "downloads"
    for name in PLANTED:
        path = place / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'run')!r}, 'a').write({name!r} + ' ')\n")
    (place / ".numba_config.yaml").write_text("cache_dir: kernels\n")
    shutil.copy(QUIZ, place / "quiz.csv")
    pl.read_csv(QUIZ).write_parquet(place / "quiz.parquet")
    (place / "quiz.xlsx").write_bytes(
        xlsx_bytes({"Quiz": [line.split(",") for line in QUIZ.read_text().splitlines()]})
    )
    ranking = hnd.rank(QUIZ, "majority")
    ranking.save(place / "model.json")
    key = "".join(f"{item},{answer}\n" for item, answer in ranking.answer_key().items())
    (place / "key.csv").write_text(f"item,answer\n{key}")
    log = place / "logs"
    log.mkdir()
    for number in range(40):
        answers = {"user": f"m{number}", "item": "q1", "answer": "AB"[number % 2]}
        (log / f"{number}.jsonl").write_text(json.dumps(answers) + "\n")
    return place


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    """``hnd`` as an installer writes it: a script in another folder."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["hnd"]
    module, name = entry.split(":")
    script = tmp_path / "bin" / "hnd"
    script.parent.mkdir()
    script.write_text(
        f"import sys\nfrom {module} import {name}\n"
        f"if __name__ == '__main__':\n    sys.exit({name}())\n"
    )
    return [sys.executable, str(script)]


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONSAFE", "NUMBA_"))}
    return {**kept, "PYTHONPATH": str(ROOT / "src")}


def assert_nothing_was_run(folder: Path) -> None:
    mark = folder.parent / "run"
    assert not mark.exists(), mark.read_text()
    assert not (folder / "kernels").exists()  # compiled code would be read from there


def test_what_is_planted_is_run_where_nothing_prevents_it(folder: Path) -> None:
    """Else the other tests would show nothing."""
    for code in ("import signal", "import multiprocessing", "import numpy"):
        subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), check=True)
    assert (folder.parent / "run").read_text() == "signal multiprocessing/__init__ numpy "
    (folder.parent / "run").unlink()
    with safe_path():
        kept = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        subprocess.run([sys.executable, "-c", "import signal"], cwd=folder, env=kept, check=True)
    assert_nothing_was_run(folder)


COMMANDS = [
    ["rank", "quiz.csv", "--report", "report.html", "--out", "ranking.csv"],
    ["rank", "quiz.parquet"],
    ["rank", "quiz.xlsx"],
    ["rank", "logs"],
    ["rank", "quiz.csv", "--engine", "threads", "--method", "hnd"],
    ["rank", "quiz.csv", "--engine", "dask", "--method", "hnd"],
    ["check", "quiz.csv"],
    ["compare", "quiz.csv", "--method", "hnd", "--method", "majority"],
    ["simulate", "grm", "--out", "made"],
    ["audit", "quiz.csv", "--key", "key.csv"],
    ["marks", "quiz.csv", "--key", "key.csv"],
    ["labels", "quiz.csv"],
    ["score", "model.json", "quiz.csv"],
    ["methods"],
    ["formats"],
]


def test_every_command_is_among_them() -> None:
    from hitsndiffs.cli.app import COMMANDS as all_commands

    assert {arguments[0] for arguments in COMMANDS} | {"serve"} == set(all_commands)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_command_runs_what_lies_in_the_folder(
    folder: Path, program: list[str], arguments: list[str]
) -> None:
    if "dask" in arguments:
        pytest.importorskip("distributed")
    done = subprocess.run(
        [*program, *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert_nothing_was_run(folder)


@pytest.fixture
def page(folder: Path, program: list[str]) -> Iterator[str]:
    pytest.importorskip("starlette")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = subprocess.Popen(
        [*program, "serve", "--port", str(port), "--no-open"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(300):
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        serving.terminate()
        serving.wait(30)


def test_the_page_runs_nothing_that_lies_in_its_folder(folder: Path, page: str) -> None:
    files = {"file": ("quiz.csv", QUIZ.read_bytes())}
    answer = httpx.post(f"{page}/api/rank", files=files, timeout=120)
    assert answer.status_code == 200, answer.text
    assert_nothing_was_run(folder)


def test_numba_reads_no_settings_from_the_folder(folder: Path) -> None:
    code = f"import {compiling.__name__}, numba; print(repr(numba.config.CACHE_DIR))"
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "''"
