"""The example files are what their script makes, and the examples in README run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from commands import on_terminal

import hitsndiffs as hnd

EXAMPLES = Path(__file__).parent.parent / "examples"
README = EXAMPLES.parent / "README.md"
SPINNER = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h(\r|\x1b\[[0-9]*[A-K])*", re.DOTALL)
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    runpy.run_path(str(EXAMPLES / "make_examples.py"))["make_all"](folder)
    return folder


@pytest.mark.parametrize("name", ["quiz.csv", "crowd.csv", "models.jsonl"])
def test_the_script_makes_the_files_to_the_last_byte(made: Path, name: str) -> None:
    assert (made / name).read_bytes() == (EXAMPLES / name).read_bytes()


def test_the_files_hold_what_they_say() -> None:
    quiz = hnd.read_responses(EXAMPLES / "quiz.csv")
    assert (quiz.n_users, quiz.n_items, quiz.is_complete) == (30, 20, False)
    assert set(quiz.option_labels) == set("ABCD")
    crowd = hnd.read_responses(EXAMPLES / "crowd.csv")
    assert crowd.users[0] == "worker-01"
    models = hnd.read_responses(EXAMPLES / "models.jsonl")
    assert models.users[2] == "model-c"
    assert models.n_users == 12


def masked(line: str) -> str:
    """A line without its figures, which move a little with the libraries beneath."""
    return re.sub(r"\s+", " ", re.sub(r"[-\d.]+", "#", line)).strip()


def test_the_readme_shows_what_the_command_prints() -> None:
    shown = README.read_text(encoding="utf-8").split("```")[1].splitlines()[2:]
    printed = on_terminal("rank", "examples/quiz.csv", "--top", 8, cwd=EXAMPLES.parent).out
    lines = ANSI.sub("", SPINNER.sub("", printed)).splitlines()
    assert [masked(line) for line in lines] == [masked(line) for line in shown]
    best = next(line for line in lines if "student-" in line).split()[1]
    assert best in next(line for line in shown if "student-" in line)


def test_the_python_in_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    code = README.read_text(encoding="utf-8").split("```python")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    found = re.search(r'{"(q\d+)": \("(\w)", ([\d.]+)\)', code)
    assert found is not None
    option, sure = names["ranking"].answer_key(with_confidence=True)[found[1]]
    assert option == found[2]
    assert sure == pytest.approx(float(found[3]), abs=0.1)
