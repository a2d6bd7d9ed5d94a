"""The other commands: help, version, methods, check, compare, simulate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from commands import CROWD, QUIZ, Here, as_program, on_terminal_here, rows, write
from typer.testing import CliRunner

import hitsndiffs as hnd
from hitsndiffs.cli.app import app_of
from hitsndiffs.irt import simulate, write_simulation

ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
COMMANDS = ["rank", "check", "methods", "compare", "simulate"]


# -- help and version ---------------------------------------------------------------------------


def test_help_names_every_command_and_gives_an_example(here: Here) -> None:
    done = here("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert command in done.out
    assert "hnd rank quiz.csv" in done.out
    assert here().out == done.out
    assert here("-h").out == done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_our_options_speak_of_no_python_types(here: Here, command: str) -> None:
    ours = [
        line
        for line in here(command, "--help").out.splitlines()
        if "--" in line and "--help" not in line
    ]
    assert ours
    assert not any(re.search(r"<\w+>", line) for line in ours)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_in_80_columns(command: str) -> None:
    done = on_terminal_here(command, "--help", columns=80)
    assert done.code == 0
    assert max(map(len, ANSI.sub("", done.out).splitlines())) <= 80


def test_typers_own_runner_works() -> None:
    assert CliRunner().invoke(app_of(), ["methods"]).exit_code == 0


def test_version(here: Here) -> None:
    done = here("--version")
    assert (done.code, done.out) == (0, f"hnd {hnd.__version__}\n")


# -- methods ------------------------------------------------------------------------------------


def test_methods_lists_all_of_them(here: Here) -> None:
    body = rows(here("methods").out)[1:]
    assert [row[0] for row in body] == list(hnd.METHODS)
    assert all(len(row) == 3 and all(row) for row in body)
    listed = json.loads(here("methods", "--json").out)
    assert [entry["name"] for entry in listed] == list(hnd.METHODS)
    shown = ANSI.sub("", on_terminal_here("methods").out)
    assert max(map(len, shown.splitlines())) <= 80
    assert all(name in shown for name in hnd.METHODS)


# -- check --------------------------------------------------------------------------------------


def test_check_says_the_verdict_first_and_then_what_is_of_concern(here: Here) -> None:
    short = rows(here("check", QUIZ).out)
    assert len(short) < 12
    assert short[0] == ["concern", "what", "found"]
    assert short[1][1] == "ability"
    assert [
        "",
        "size",
        "30 users, 20 items, 588 answers, 2 % missing; 4 options for each item.",
    ] in short
    full = rows(here("check", QUIZ, "--full", "--explain").out)
    assert all(row in full for row in short)
    concern = [bool(row[0]) for row in full[2:]]
    assert concern == sorted(concern, reverse=True)
    found = {row[1]: row[2] for row in full[1:]}
    assert found["format"] == "a table with one row per user (csv)"
    assert found["container"].startswith("delimited text, encoding utf-8, separated by commas")
    assert found["item columns"].startswith("'q01', 'q02'")
    assert found["key"] == "none found"
    assert found["groups"] == "All users can be compared with each other."
    assert "axis" in found["axes"]


def test_check_as_json(here: Here) -> None:
    report = json.loads(here("check", QUIZ, "--full", "--json").out)
    assert report["version"] == hnd.__version__
    findings = report["findings"]
    assert set(findings) >= {
        "ability",
        "size",
        "groups",
        "thin users",
        "thin options",
        "equal answers",
        "perfect order",
        "axes",
    }
    assert report["plan"]["layout"] == "wide"
    assert findings["size"]["empty"] == 12
    assert findings["perfect order"]["consistent"] is False
    assert len(findings["axes"]["strengths"]) == 4
    assert all(finding["sentence"].endswith(".") for finding in findings.values())


def test_check_of_opinions_asks_for_no_key(here: Here, tmp_path: Path) -> None:
    words = ["disagree", "neutral", "agree"]
    lines = [
        f"r{u}," + ",".join(words[(u * i + u // 3) % 3] for i in range(1, 9)) for u in range(30)
    ]
    file = write(tmp_path / "survey.csv", ["who," + ",".join(f"s{i}" for i in range(8)), *lines])
    findings = json.loads(here("check", file, "--json").out)["findings"]
    assert findings["ability"]["doubt"] == "ratings"
    assert not {"likely key", "items", "guessing"} & set(findings)


def test_check_finds_the_layout(here: Here, tmp_path: Path) -> None:
    assert json.loads(here("check", CROWD, "--json").out)["plan"]["layout"] == "long"
    turned = write(tmp_path / "turned.tsv", ["item\ta\tb\tc", "q1\tx\tx\ty", "q2\tx\ty\ty"])
    found = json.loads(here("check", turned, "--transpose", "--json").out)["plan"]
    assert (found["format"], found["layout"]) == ("tsv", "transposed")


def test_check_on_a_terminal() -> None:
    done = on_terminal_here("check", CROWD)
    assert done.code == 0
    assert max(map(len, ANSI.sub("", done.out).splitlines())) <= 80


# -- compare ------------------------------------------------------------------------------------


@pytest.fixture
def simulated(tmp_path: Path) -> tuple[Path, Path]:
    files = write_simulation(simulate("samejima", users=40, items=30, seed=1), tmp_path / "sim")
    return files[0], files[2]


def test_compare_judges_methods_by_the_key(here: Here, simulated: tuple[Path, Path]) -> None:
    data, key = simulated
    done = here("compare", data, "--key", key, "-m", "hnd", "-m", "majority", "-m", "true-answer")
    assert done.code == 0
    head, *body = rows(done.out)
    found = {row[0]: dict(zip(head, row, strict=True)) for row in body}
    assert body[-1][0] == "true-answer", "it is told the key: no rival of the others"
    assert float(found["true-answer"]["accuracy"]) == pytest.approx(1)
    assert 0 < float(found["hnd"]["key_recovered"]) <= 1
    assert float(found["hnd"]["with_majority"]) == float(found["majority"]["with_hnd"])


def test_compare_without_a_key_says_what_is_left_out(
    here: Here, simulated: tuple[Path, Path]
) -> None:
    done = here("compare", simulated[0], "-m", "hnd", "-m", "true-answer")
    assert done.code == 0
    assert "Left out, as they need --key: true-answer." in done.err
    said = here("compare", QUIZ, "-m", "auto", "-m", "hnd", "-m", "majority").err
    assert said.startswith("Use auto, the default: ")


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_compare_out(here: Here, simulated: tuple[Path, Path], tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"comparison.{ending}"
    done = here("compare", simulated[0], "-m", "hnd", "-m", "hits", "--out", out, "--json", "-q")
    assert set(json.loads(done.out)["methods"]) == {"hnd", "hits"}
    assert done.err == ""
    if ending == "json":
        assert json.loads(out.read_text()).keys() == json.loads(done.out).keys()
    else:
        table = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
        assert set(table["method"]) == {"hnd", "hits"}


def test_compare_on_a_terminal(
    simulated: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(simulated[0].parent)  # paths are shown whole, however long
    done = on_terminal_here("compare", simulated[0].name, "--key", simulated[1].name)
    assert done.code == 0
    shown = ANSI.sub("", done.out)
    assert max(map(len, shown.splitlines())) <= 80
    assert "How alike they rank" in shown
    assert "pooled-investment" in shown


# -- simulate -----------------------------------------------------------------------------------


def test_simulate_writes_what_rank_reads(here: Here, tmp_path: Path) -> None:
    out = tmp_path / "made"
    done = here(
        "simulate", "grm", "--users", 25, "--items", 12, "--options", 4, "--seed", 3, "-o", out
    )
    assert done.code == 0
    assert done.out.split() == [
        str(out / name) for name in ("responses.csv", "abilities.csv", "key.csv")
    ]
    body = rows(here("rank", out / "responses.csv", "-m", "hnd").out)[1:]
    assert len(body) == pl.read_csv(out / "abilities.csv").height == 25
    assert here("rank", out / "responses.csv", "--answers", out / "key.csv").code == 0


def test_simulate_takes_every_option(here: Here, tmp_path: Path) -> None:
    common = ("--users", 30, "--items", 20, "--ability", "normal", "--hardest", 1, "--sharpest", 5)
    for number, who in enumerate([("--answered", 0.5), ("--answers-per-user", 5), ("--blocks", 4)]):
        out = tmp_path / str(number)
        done = here("simulate", "bock", *common, *who, "--format", "parquet", "-q", "-o", out)
        assert done.code == 0, done.err
        assert done.err == ""
        assert hnd.read_responses(out / "responses.parquet").n_responses < 600


def test_simulate_refuses_a_file_for_a_folder(here: Here, tmp_path: Path) -> None:
    file = write(tmp_path / "file", ["x"])
    assert here("simulate", "grm", "-o", file).code == 2
    assert here("simulate", "grm", "-o", tmp_path, "--format", "xls").code == 2


# -- the shell, and what all commands say alike -----------------------------------------------


@pytest.mark.xdist_group("report")
def test_the_same_sureness_everywhere(here: Here, tmp_path: Path) -> None:
    ranking = hnd.rank(QUIZ)
    assert ranking.confidence is not None
    number = f"{100 * ranking.confidence:.0f} %"
    kept, page = tmp_path / "kept.ranking", tmp_path / "page.html"
    done = here("rank", QUIZ, "--json", "--save", kept, "--report", page)
    html = page.read_text(encoding="utf-8").replace("\xa0", " ")
    for text in (ranking.verdict, done.err, here("check", QUIZ).out, ranking._repr_html_(), html):
        assert number in text
    assert ranking.verdict in done.err
    found = json.loads(done.out)
    sure = [found["confidence"], found["readings"][0]["probability"], hnd.load(kept).confidence]
    assert sure == pytest.approx([ranking.confidence] * 3)
    checked = json.loads(here("check", QUIZ, "--json").out)["findings"]
    with_number = {n: f["confidence"] for n, f in checked.items() if "confidence" in f}
    assert with_number == {"ability": pytest.approx(ranking.confidence)}
    assert " sure" not in here("compare", QUIZ, "-m", "auto", "-m", "hnd").out


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
