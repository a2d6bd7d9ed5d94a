"""What the commands show on a terminal: bars, advice, one sureness, completion."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import QUIZ, Here, as_program, on_terminal_here

import hitsndiffs as hnd
from hitsndiffs.cli.screen import interval_bar
from hitsndiffs.results.comparison import Compared, Comparison

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(capsys)


def screen(text: str) -> list[str]:
    return [ANSI.sub("", line.rpartition("\r")[2]) for line in text.splitlines()]


@pytest.mark.parametrize("columns", [80, 100])
def test_bars_where_the_screen_is_wide(columns: int) -> None:
    done = on_terminal_here("rank", QUIZ, "--method=majority", "--top", 5, columns=columns)
    lines = screen(done.out)
    bars = [line for line in lines if "●" in line]
    assert len(bars) == 5
    assert max(map(len, lines)) <= columns


def test_no_bars_on_a_narrow_screen() -> None:
    lines = screen(on_terminal_here("rank", QUIZ, "--method=majority", columns=40).out)
    assert not [line for line in lines if "●" in line]
    assert max(map(len, [line for line in lines if "student-" in line])) <= 40


def test_bars_in_plain_letters_where_nothing_else_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert interval_bar(0.5, 0.2, (0.0, 1.0), 11) == "   --o--   "


def test_the_same_sureness_everywhere(here: Here) -> None:
    ranking = hnd.rank(hnd.read_responses(QUIZ))
    assert ranking.confidence is not None
    number = f"{100 * ranking.confidence:.0f} %"
    assert number in ranking.verdict
    assert ranking.verdict in here("rank", QUIZ).err
    assert ranking.verdict in here("check", QUIZ).out
    assert number in ranking._repr_html_()
    found = json.loads(here("check", QUIZ, "--json").out)["findings"]
    assert found["ability"]["confidence"] == pytest.approx(ranking.confidence)
    with_number = [name for name, finding in found.items() if "confidence" in finding]
    assert with_number == ["ability"]


@pytest.mark.xdist_group("report")
def test_the_same_sureness_in_files_and_readings(here: Here, tmp_path: Path) -> None:
    ranking = hnd.rank(hnd.read_responses(QUIZ, items=["q0*"]))
    kept, page = tmp_path / "kept.ranking", tmp_path / "page.html"
    done = here("rank", QUIZ, "--items", "q0*", "--json", "--save", kept, "--report", page)
    found = json.loads(done.out)
    assert found["confidence"] == pytest.approx(ranking.confidence)
    assert found["readings"][0]["probability"] == pytest.approx(ranking.confidence)
    assert hnd.load(kept).confidence == pytest.approx(ranking.confidence)
    assert f"{100 * ranking.confidence:.0f} %" in page.read_text(encoding="utf-8").replace(
        "\xa0", " "
    )
    assert " sure" not in here("compare", QUIZ, "-m", "auto", "-m", "hnd").out


def test_a_comparison_ends_with_advice(here: Here) -> None:
    said = here("compare", QUIZ, "-m", "auto", "-m", "hnd", "-m", "majority").err.splitlines()
    assert said[0].startswith("Use auto, the default: ")


def compared(accuracies: dict[str, float | None], correlation: float) -> Comparison:
    import numpy as np

    r = hnd.Responses.from_wide([list("AB"), list("BA"), list("AA")])
    n = len(accuracies)
    matrix = np.full((n, n), correlation)
    np.fill_diagonal(matrix, 1.0)
    known = any(value is not None for value in accuracies.values())
    results = tuple(
        Compared(name, scores=np.zeros(3), seconds=0.0, accuracy=value)
        for name, value in accuracies.items()
    )
    return Comparison(r, results, matrix, np.zeros(3) if known else None, key_items=2)


@pytest.mark.parametrize(
    ("accuracies", "correlation", "words"),
    [
        ({"auto": 0.95, "hnd": 0.9}, 0.9, "Use auto, the default: without the key it ranks"),
        ({"auto": 0.7, "hnd": 0.9}, 0.6, "hnd ranks best (0.90), ahead of auto"),
        ({"hnd": 0.7, "true-answer": 1.0}, 0.6, "Against this key hnd ranks best (0.70)."),
        ({"auto": None, "hnd": None}, 0.95, "the other gives almost the same order"),
        ({"auto": None, "hnd": None}, 0.1, "trust none of them yet"),
        ({"hnd": None}, 1.0, "nothing to compare it with"),
    ],
)
def test_advice(accuracies: dict[str, float | None], correlation: float, words: str) -> None:
    assert words in compared(accuracies, correlation).advice()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("hnd ra", {"rank"}),
        ("hnd rank quiz.csv --rep", {"--report"}),
        ("hnd rank quiz.csv --method la", {"latent-key"}),
    ],
)
def test_the_shell_can_complete(line: str, found: set[str]) -> None:
    done = as_program(
        env={
            "_HND_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        }
    )
    assert done.code == 0
    assert found <= set(done.out.split())


def test_the_script_for_the_shell_is_shown() -> None:
    done = as_program("--show-completion", "bash")
    if "not supported" in done.err:
        pytest.skip(f"the shell that runs the tests has no completion: {done.err.strip()}")
    assert done.code == 0
    assert "_HND_COMPLETE=complete_bash" in done.out
