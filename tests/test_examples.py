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


def test_the_readme_shows_what_the_command_prints() -> None:
    shown = README.read_text(encoding="utf-8").split("```")[1].splitlines()
    printed = on_terminal("rank", "examples/quiz.csv", "--top", 8, cwd=EXAMPLES.parent).out
    assert ANSI.sub("", printed).splitlines() == shown[2:]


def test_the_python_in_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    code = README.read_text(encoding="utf-8").split("```python")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["ranking"].answer_key()["q01"] == "B"
    assert round(names["ranking"].answer_key(with_confidence=True)["q01"][1], 2) == 0.65
