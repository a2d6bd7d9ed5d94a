"""Tables for people, in this process (the terminal itself is tried in the other files)."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import numpy as np
import pytest
from commands import QUIZ, Here, write

import hitsndiffs as hnd
from hitsndiffs.cli.screen import interval_bar

MODULES = ("screen", "result", "check", "text")


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    for module in MODULES:
        monkeypatch.setattr(f"hitsndiffs.cli.{module}.for_people", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    return Here(capsys)


def table_rows(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if word in line]


def test_a_ranking_by_score(shown: Here) -> None:
    done = shown("rank", QUIZ, "-m", "hnd", "--strong-user", "student-16", "--top", 3)
    head = next(line for line in done.out.splitlines() if line.startswith("rank"))
    assert head.split()[:4] == ["rank", "user", "tier", "score"]
    assert len(table_rows(done.out, "student-")) == 3
    assert "… and 27 more users" in done.out
    assert "--key-out key.csv" in done.err


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("method", ["auto", "majority"])
def test_the_printed_picture_is_true(
    shown: Here, monkeypatch: pytest.MonkeyPatch, columns: int, method: str
) -> None:
    """The dot stands where the score is, the bar where the interval is, under the scale."""
    monkeypatch.setenv("COLUMNS", str(columns))
    ranking = hnd.rank(QUIZ, method)
    lines = shown("rank", QUIZ, "-m", method).out.splitlines()
    head = next(line for line in lines if line.startswith("rank"))
    left, right = head.index("0 %"), head.index("100 %") + len("100 %") - 1
    assert abs(head.index("50 %") + 0.5 - (left + right) / 2) <= 1, "50 stands over the middle"
    body = table_rows("\n".join(lines), "student-")
    assert len(body) == 30
    for line in body:
        user = line.split()[1]
        place = ranking.user_number(user)
        score, reach = ranking.scores[place], 1.96 * ranking.standard_errors[place]
        picture = [k for k, sign in enumerate(line) if sign in "─●"]
        ends = [max(score - reach, 0.0), score, min(score + reach, 1.0)]
        printed = [picture[0], line.index("●"), picture[-1]]
        expected = [left + share * (right - left) for share in ends]
        np.testing.assert_allclose(printed, expected, atol=0.51, err_msg=line)
        assert picture == list(range(picture[0], picture[-1] + 1))
        assert f" {100 * score:.0f} % " in line, "and the number says the same"


def test_a_doubtful_order_has_no_numbers_that_look_precise(shown: Here, tmp_path: Path) -> None:
    answers = np.random.default_rng(3).integers(0, 4, (25, 15))
    lines = [",".join(["student", *(f"q{k:02}" for k in range(15))])]
    lines += [",".join([f"s{u}", *("ABCD"[a] for a in row)]) for u, row in enumerate(answers)]
    done = shown("rank", write(tmp_path / "noise.csv", lines))
    assert done.err.startswith("Do not rely on this order yet: ")
    assert len(table_rows(done.out, "  s")) == 10, "the first few"
    assert "%" not in done.out
    assert "●" not in done.out


def test_the_given_key_stands_beside_the_ranking(shown: Here, tmp_path: Path) -> None:
    key = dict(hnd.rank(QUIZ).answer_key())
    key["q05"] = next(option for option in "ABCD" if option != key["q05"])
    file = write(tmp_path / "key.csv", ["item,answer", *(f"{i},{a}" for i, a in key.items())])
    done = shown("rank", QUIZ, "--key", file)
    assert "by your key" in done.out
    assert done.err.index("q05") < done.err.index("30 users"), "the key comes before the data"
    best = next(iter(hnd.rank(QUIZ)))
    share = hnd.rank(QUIZ, key=file)[best]["key_score"]
    (line,) = table_rows(done.out, best)
    assert f"{100 * share:.0f} %" in line


def test_known_answers_may_be_typed(shown: Here) -> None:
    done = shown("rank", QUIZ, "--answers", "q09=d, q03=A", "--top", 3)
    assert done.code == 0
    ranking = hnd.rank(QUIZ, answers={"q09": "D", "q03": "A"})
    assert ranking.verdict in done.err.replace("\n", " ")
    assert hnd.rank(QUIZ, answers={"q09": "d", "q03": "a"}) == ranking, "spelled as in the data"
    for typed, said in (
        ("q09", "such as q09=D,q03=A"),
        ("q09=_", "in place of '_'"),
        ("q09=Z", "nobody chose 'Z' in 'q09'; the answers given are A, B, C, D"),
        ("q99=A", "q99"),
    ):
        refused = shown("rank", QUIZ, "--answers", typed)
        assert refused.code == 2
        assert said in refused.err


def test_the_help_is_a_command_that_works_once_it_is_filled_in(shown: Here) -> None:
    done = shown("rank", QUIZ, "--drop", "q20")
    (line,) = [line for line in done.err.splitlines() if line.startswith("  hnd rank ")]
    command = shlex.split(line.replace("=_", "=A"))
    again = shown(*command[1:])
    assert again.code == 0, again.err
    assert command[1:5] == ["rank", str(QUIZ), "--drop", "q20"]


def test_a_file_alone_is_ranked(shown: Here) -> None:
    assert shown(QUIZ, "--top", 3).out == shown("rank", QUIZ, "--top", 3).out
    assert "there is no such file" in shown("quiz.cs").err
    assert "No such command" in shown("raank").err


def test_what_an_option_takes_is_said_in_plain_words(shown: Here) -> None:
    done = shown("rank", QUIZ, "--top", "abc")
    assert done.err == "hnd: --top takes a whole number, and got 'abc'. See: hnd rank --help\n"
    assert shown("rank").err == "hnd: FILE is missing. See: hnd rank --help\n"


@pytest.mark.parametrize("columns", ["80", "60", "30"])
def test_long_names_do_not_push_numbers_off_the_screen(
    shown: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = QUIZ.read_text(encoding="utf-8").splitlines()
    long = [
        lines[0],
        *(
            f"a very long name, {'which goes on, ' * 9}".replace(",", ";") + line
            for line in lines[1:]
        ),
    ]
    done = shown("rank", write(tmp_path / "long.csv", long), "-m", "majority")
    table = table_rows(done.out, "a very")
    assert len(table) == 30
    assert all("…" in line and " %" in line for line in table)
    assert max(map(len, table)) <= max(int(columns), 31)


def test_a_narrow_screen_spares_columns_before_names(
    shown: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = shown("rank", QUIZ, "-m", "latent-key", "--top", 3)
    head = next(line for line in done.out.splitlines() if line.startswith("rank"))
    assert head.split() == ["rank", "user", "tier", "right"]
    assert "student-16" in done.out
    assert "●" not in done.out


def test_bars_in_plain_letters_where_nothing_else_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert interval_bar(0.5, 0.2, (0.0, 1.0), 11) == "   --o--   "


def test_written_files_are_named(shown: Here, tmp_path: Path) -> None:
    out, key, kept = tmp_path / "r.csv", tmp_path / "k.csv", tmp_path / "kept.json"
    done = shown("rank", QUIZ, "-m", "hnd", "--out", out, "--key-out", key, "--save", kept)
    for path in (out, key, kept):
        assert f"Written: {path}" in done.err
    assert "--key-out key.csv" not in done.err


def test_an_unsure_ranking_asks_for_help(shown: Here, tmp_path: Path) -> None:
    lines = ["student,q1,q2,q3,q4,q5", "a,A,B,A,B,A", "b,B,A,B,A,B", "c,A,A,B,B,A", "d,B,B,A,A,B"]
    done = shown("rank", write(tmp_path / "thin.csv", lines), "-m", "hnd")
    assert "nothing in the answers shows which end is the better one" in done.err
    assert "--strong-user _" in done.err


def test_many_groups_are_counted(shown: Here, tmp_path: Path) -> None:
    names = [f"q{k}" for k in range(16)]
    lines = [",".join(["student", *names])]
    for group in range(8):
        for user, answers in enumerate(("AA", "AB")):
            cells = [""] * 16
            cells[2 * group : 2 * group + 2] = answers
            lines.append(",".join([f"s{group}{user}", *cells]))
    done = shown("rank", write(tmp_path / "groups.csv", lines), "-m", "hnd")
    assert "Group 4 (2 users)" in done.out
    assert "Group 5" not in done.out
    assert "3 more groups" in done.out


def test_the_certificate_is_said(shown: Here, tmp_path: Path) -> None:
    lines = ["student,q1,q2,q3", "a,A,A,A", "b,A,A,B", "c,A,B,B", "d,B,B,B", "e,B,B,C"]
    done = shown("rank", write(tmp_path / "ladder.csv", lines), "--explain")
    assert "Every single answer fits this order" in done.err
    assert "Method hnd, chosen for these data" in done.err


def test_other_commands(shown: Here) -> None:
    assert "one row per user" in shown("check", QUIZ, "--explain").out
    compared = shown("compare", QUIZ, "-m", "hnd", "-m", "majority", "-m", "hits").out
    assert "How alike they rank" in compared
    assert "2 " in compared
    assert "majority" in shown("methods").out
