"""The example files are what their script makes, and the examples in README run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import hitsndiffs as hnd

EXAMPLES = Path(__file__).parent.parent / "examples"


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
