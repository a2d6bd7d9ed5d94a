"""Tables for people, in this process (the terminal itself is tried in the other files)."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import QUIZ, Here, write

MODULES = ("ranking_screen", "compare", "text")


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
    done = shown("rank", QUIZ, "-m", "hnd", "--top", 3)
    head = next(line for line in done.out.splitlines() if line.startswith("rank"))
    assert " ".join(head.split()) == "rank user score ± error rank, 95 % sure answers interval"
    assert len(table_rows(done.out, "student-")) == 3
    assert "… and 27 more users" in done.out
    assert "--key-out key.csv" in done.err


def test_a_ranking_by_share_has_per_cent_and_ability(shown: Here) -> None:
    done = shown("rank", QUIZ, "-m", "latent-key", "--all")
    assert len(table_rows(done.out, "student-")) == 30
    assert all(" % ± " in line for line in table_rows(done.out, "student-"))
    assert "ability" in done.out
    by_ability = shown("rank", QUIZ, "-m", "latent-key", "--by", "ability")
    assert all(" % " in line and " ± " in line for line in table_rows(by_ability.out, "student-"))


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
    assert all("…" in line and " % ± " in line for line in table)
    assert max(map(len, table)) <= max(int(columns), 31)


def test_a_narrow_screen_spares_columns_before_names(
    shown: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = shown("rank", QUIZ, "-m", "latent-key", "--top", 3)
    head = next(line for line in done.out.splitlines() if line.startswith("rank"))
    assert head.split() == ["rank", "user", "right", "±", "error"]
    assert "student-16" in done.out
    compared = shown("compare", QUIZ, "-m", "hnd", "-m", "pooled-investment").out
    assert "seconds" not in compared
    assert "pooled-inv" in compared


def test_written_files_are_named(shown: Here, tmp_path: Path) -> None:
    out, key, kept = tmp_path / "r.csv", tmp_path / "k.csv", tmp_path / "kept.json"
    done = shown("rank", QUIZ, "-m", "hnd", "--out", out, "--key-out", key, "--save", kept)
    for path in (out, key, kept):
        assert f"Written: {path}" in done.err
    assert "--key-out key.csv" not in done.err


def test_an_unsure_ranking_asks_for_help(shown: Here, tmp_path: Path) -> None:
    lines = ["student,q1,q2,q3,q4,q5", "a,A,B,A,B,A", "b,B,A,B,A,B", "c,A,A,B,B,A", "d,B,B,A,A,B"]
    done = shown("rank", write(tmp_path / "thin.csv", lines), "-m", "hnd")
    assert "How sure" in done.err
    assert "(nothing in the answers tells)" in done.err
    assert "--strong-user NAME" in done.err


def test_many_groups_are_counted(shown: Here, tmp_path: Path) -> None:
    names = [f"q{k}" for k in range(16)]
    lines = [",".join(["student", *names])]
    for group in range(8):
        for user, answers in enumerate(("AA", "AB")):
            cells = [""] * 16
            cells[2 * group : 2 * group + 2] = answers
            lines.append(",".join([f"s{group}{user}", *cells]))
    done = shown("rank", write(tmp_path / "groups.csv", lines), "-m", "hnd")
    assert "Group 5 of 8 (2 users)" in done.out
    assert "Group 6 of 8" not in done.out
    assert "3 more groups" in done.out


def test_the_certificate_is_said(shown: Here, tmp_path: Path) -> None:
    lines = ["student,q1,q2,q3", "a,A,A,A", "b,A,A,B", "c,A,B,B", "d,B,B,B", "e,B,B,C"]
    done = shown("rank", write(tmp_path / "ladder.csv", lines))
    assert "certified: it fits every single answer" in done.err
    assert "Method hnd, chosen for these data" in done.err


def test_other_commands(shown: Here) -> None:
    assert "one row per user" in shown("check", QUIZ).out
    compared = shown("compare", QUIZ, "-m", "hnd", "-m", "majority", "-m", "hits").out
    assert "How alike they rank" in compared
    assert "2 " in compared
    assert "majority" in shown("methods").out
