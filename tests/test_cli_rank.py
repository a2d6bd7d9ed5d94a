"""``hnd rank``: every option, for people and for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from commands import (
    CROWD,
    MODELS,
    QUIZ,
    Here,
    as_program,
    on_terminal,
    on_terminal_here,
    records,
    rows,
    write,
)

import hitsndiffs as hnd
from hitsndiffs.irt import simulate, write_simulation

ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def two_groups(tmp_path: Path) -> Path:
    """Three who took one test, two who took another, and one who stayed away."""
    first = ["a,A,A,A,,", "b,A,A,B,,", "c,A,B,B,,"]
    second = ["x,,,,A,A", "y,,,,A,B"]
    return write(tmp_path / "groups.csv", ["student,q1,q2,q3,p1,p2", *first, *second, "z,,,,,"])


# -- for programs -------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "users"), [(QUIZ, 30), (CROWD, 40), (MODELS, 12)])
def test_every_user_comes_out_once_best_first(here: Here, file: Path, users: int) -> None:
    done = here("rank", file)
    assert done.code == 0
    head, *body = rows(done.out)
    assert head == list(hnd.rank(file).table().columns), "the same columns as everywhere"
    assert len(body) == len({row[1] for row in body}) == users
    scores = [float(row[head.index("score")]) for row in body]
    assert scores == sorted(scores, reverse=True)
    assert body[0][0] == "1"
    tiers = [int(row[head.index("tier")]) for row in body]
    assert tiers == sorted(tiers)


def test_notes_go_to_standard_error_and_quiet_silences_them(here: Here) -> None:
    done = here("rank", QUIZ)
    assert "30 users, 20 items, 588 answers" in done.err
    assert "Method " not in done.err
    assert "Method " in here("rank", QUIZ, "--explain").err
    note = "'student' as the user column"
    assert note not in done.err, "it goes without saying"
    assert note in here("rank", QUIZ, "--explain").err
    quiet = here("rank", QUIZ, "--quiet")
    assert quiet.err == ""
    assert quiet.out == done.out


def test_top_and_all(here: Here) -> None:
    everybody = rows(here("rank", QUIZ).out)
    assert rows(here("rank", QUIZ, "--top", 3).out) == everybody[:4]
    assert rows(here("rank", QUIZ, "--all").out) == everybody
    assert here("rank", QUIZ, "--top", 0).code == 2


def test_json_is_what_the_library_says(here: Here) -> None:
    done = here("rank", QUIZ, "--json", "--method", "hnd", "--solver", "power", "--seed", 5,
                "--engine", "numpy", "--threads", 1)  # fmt: skip
    asked = {"solver": "power", "seed": 5, "engine": "numpy", "threads": 1}
    found, ranking = json.loads(done.out), hnd.rank(QUIZ, "hnd", **asked)
    help_of_both = found["verdict"].pop("help"), (told := ranking.to_dict())["verdict"].pop("help")
    assert all(help_of_both)
    assert found == told
    assert asked.items() <= found["parameters"].items()


def test_intervals_hold_the_rank_and_can_be_bootstrapped(here: Here) -> None:
    body = records(here("rank", QUIZ, "-m", "majority").out)
    assert all(int(r["rank_low"]) <= int(r["rank"]) <= int(r["rank_high"]) for r in body)
    again = records(here("rank", QUIZ, "-m", "majority", "--bootstrap", 20).out)
    assert [(r["user"], r["score"]) for r in again] == [(r["user"], r["score"]) for r in body]
    assert [r["standard_error"] for r in again] != [r["standard_error"] for r in body]
    assert here("rank", QUIZ, "--bootstrap", 1).code == 2


def test_groups_are_told_apart(here: Here, two_groups: Path) -> None:
    done = here("rank", two_groups, "--method", "hnd")
    head, *body = rows(done.out)
    assert head[-1] == "component"
    groups = {row[1]: row[-1] for row in body}
    assert groups == {"a": "0", "b": "0", "c": "0", "x": "1", "y": "1", "z": ""}
    assert {row[1]: row[0] for row in body}["z"] == ""
    assert "2 groups" in done.err
    assert "cannot be ranked: z" in done.err
    shown = ANSI.sub("", on_terminal_here("rank", two_groups, "--method", "hnd").out)
    assert "Group 0 (3 users)" in shown
    assert "Group 1 (2 users)" in shown


@pytest.mark.parametrize("solver", ["lanczos", "power", "arnoldi", "deflation"])
def test_solvers(here: Here, solver: str) -> None:
    done = here("rank", QUIZ, "--method", "hnd", "--solver", solver)
    best = rows(here("rank", QUIZ, "--method", "hnd").out)[1][1]
    assert rows(done.out)[1][1] == best


def test_a_strong_user_settles_the_direction(here: Here) -> None:
    order = [row[1] for row in rows(here("rank", QUIZ, "-m", "hnd").out)[1:]]
    turned = here("rank", QUIZ, "-m", "hnd", "--explain", "--strong-user", order[-1])
    assert [row[1] for row in rows(turned.out)[1:]] == order[::-1]
    assert "strong user" in turned.err
    unknown = here("rank", QUIZ, "-m", "hnd", "--strong-user", "student-99")
    assert unknown.code == 2
    assert "student-99" in unknown.err


def test_known_answers_settle_the_direction(here: Here, tmp_path: Path) -> None:
    ranking = hnd.rank(hnd.read_responses(QUIZ), "hnd")
    key = ranking.answer_key()
    sure = max(key, key=lambda item: ranking.answer_key(with_confidence=True)[item][1])
    known = write(tmp_path / "known.csv", ["item,answer", f"{sure},{key[sure]}"])
    done = here("rank", QUIZ, "-m", "hnd", "--explain", "--answers", known)
    assert done.code == 0
    assert "known answers" in done.err
    counted = here("rank", QUIZ, "-m", "true-answer", "--answers", known)
    assert counted.code == 0
    right = hnd.read_responses(QUIZ).choosers_per_option.max()
    assert 0 < sum(row["score"] == "1.0" for row in records(counted.out)) <= right


def test_by_needs_a_method_that_has_it(here: Here) -> None:
    assert here("rank", QUIZ, "-m", "majority", "--by", "correct").code == 0
    done = here("rank", QUIZ, "-m", "hnd", "--by", "ability")
    assert done.code == 2
    assert "'hnd' has no 'ability' score" in done.err
    assert here("rank", QUIZ, "--by", "luck").code == 2


def test_file_options(here: Here, tmp_path: Path) -> None:
    odd = write(
        tmp_path / "odd.txt",
        ["who;what;said", "a;q1;x", "b;q1;x", "c;q1;y", "a;q2;x", "b;q2;y", "c;q2;y", "a;q1;y"],
    )
    columns = ("--user", "who", "--item", "what", "--option", "said")
    refused = here("rank", odd, *columns)
    assert refused.code == 2
    assert "set duplicates to first or last" in refused.err
    last = here("rank", odd, *columns, "--layout", "long", "--duplicates", "last", "--json")
    assert json.loads(last.out)["n_responses"] == 6
    turned = write(tmp_path / "turned.csv", ["item,a,b,c", "q1,x,x,y", "q2,x,y,y"])
    done = here("rank", turned, "--transpose")
    assert sorted(row[1] for row in rows(done.out)[1:]) == ["a", "b", "c"]
    bare = write(tmp_path / "bare", ["x,x", "x,y", "y,y"])
    done = here("rank", bare, "--no-header", "--format", "csv", "--layout", "wide", "--json")
    assert json.loads(done.out)["n_users"] == 3


def test_standard_input(tmp_path: Path) -> None:
    done = as_program("rank", "-", "-q", "-m", "majority", stdin=QUIZ.read_text())
    assert done.code == 0
    assert len(done.out.splitlines()) == 31


# -- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "json"])
def test_out_holds_the_ranking(here: Here, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"ranking.{ending}"
    done = here("rank", QUIZ, "-m", "hnd", "--out", out)
    assert done.code == 0
    best = next(iter(hnd.rank(QUIZ, "hnd")))
    assert done.out == "", "what goes to a file is not printed as well"
    if ending == "json":
        assert json.loads(out.read_text())["users"][0]["user"] == best
        return
    table = pl.read_parquet(out) if ending == "parquet" else pl.read_csv(
        out, separator="\t" if ending == "tsv" else ","
    )  # fmt: skip
    assert table.height == 30
    assert table["user"][0] == best
    assert table["rank"].dtype == pl.Int64
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_out_leaves_blanks_where_there_is_nothing(
    here: Here, tmp_path: Path, two_groups: Path
) -> None:
    out = tmp_path / "ranking.csv"
    here("rank", two_groups, "-m", "hnd", "--out", out)
    row = pl.read_csv(out).row(by_predicate=pl.col("user") == "z", named=True)
    assert row["rank"] is None
    assert row["score"] is None


def test_key_out_can_be_read_back_as_known_answers(here: Here, tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    here("rank", QUIZ, "-m", "hnd", "--key-out", key)
    assert hnd.read_key(key) == hnd.rank(hnd.read_responses(QUIZ), "hnd").answer_key()
    assert pl.read_csv(key).columns == ["item", "answer", "confidence"]
    assert here("rank", QUIZ, "-m", "hnd", "--answers", key).code == 0


def test_files_are_written_whole_or_not_at_all(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, key = tmp_path / "ranking.csv", tmp_path / "key.parquet"
    out.write_text("what was there")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", str(key))

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    done = here("rank", QUIZ, "--out", out, "--key-out", key)
    assert done.code == 2
    assert done.out == ""
    assert "the disk is full" in done.err
    assert out.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["ranking.csv"]


def test_out_may_be_a_link_or_a_device(here: Here, tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("")
    link.symlink_to(real)
    assert here("rank", QUIZ, "--out", link).code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("rank,user,")
    assert here("rank", QUIZ, "--out", "/dev/null").code == 0


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("ranking.doc", "must be one of .csv"),
        ("ranking", "got none"),
        ("nowhere/ranking.csv", "there is no folder"),
        ("folder.csv", "this is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_first(
    here: Here, tmp_path: Path, out: str, says: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    done = here("rank", tmp_path / "not-even-there.csv", "--out", tmp_path / out)
    assert done.code == 2
    assert says in done.err


def test_the_input_is_not_overwritten(here: Here, tmp_path: Path) -> None:
    data = tmp_path / "quiz.csv"
    data.write_bytes(QUIZ.read_bytes())
    for option in ("--out", "--key-out"):
        done = here("rank", data, option, data)
        assert done.code == 2
        assert "this is a file that is read" in done.err
    assert data.read_bytes() == QUIZ.read_bytes()


# -- for people ---------------------------------------------------------------------------------


def test_on_a_terminal_it_fits_and_explains_itself() -> None:
    done = on_terminal("rank", QUIZ, "--method", "hnd")
    assert done.code == 0
    lines = ANSI.sub("", done.out).splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    verdict = text.index("Do not rely on this order")
    assert verdict < text.index("rank  user") < text.index("30 users")
    assert text.index("30 users") < text.index("--key-out key.csv")
    assert sum("student-" in line for line in lines) == 10, "the first few, as it is in doubt"


def test_long_names_and_odd_characters_do_not_break_the_table(here: Here, tmp_path: Path) -> None:
    names = ["名" * 60, "x" * 200, "ann [red]b[/red]", "tab\there", "esc\x1b[31m"]
    lines = [f"{name},{'ABCDE'[k]},A,{'AABBB'[k]}" for k, name in enumerate(names)]
    file = write(tmp_path / "odd.csv", ["student,q1,q2,q3", *lines])
    done = on_terminal_here("rank", file, "--method", "majority")
    assert done.code == 0
    plain = ANSI.sub("", done.out)
    assert max(len(line) for line in plain.splitlines() if str(file) not in line) <= 80
    assert "[red]b[/red]" in plain
    assert "\x1b[31m" not in done.out
    piped = here("rank", file, "--method", "majority", "-q")
    assert len({len(row) for row in rows(piped.out)}) == 1


def test_large_rankings_show_the_best_and_say_what_is_left(tmp_path: Path) -> None:
    file = write_simulation(simulate("samejima", users=120, items=30, seed=3), tmp_path)[0]
    shown = ANSI.sub("", on_terminal_here("rank", file, "-m", "hnd").out)
    assert len(re.findall(r"^ +\d+  user-\d+", shown, re.M)) == 20
    assert "100 more users" in shown
    shown = ANSI.sub("", on_terminal_here("rank", file, "-m", "hnd", "--top", 5).out)
    assert len(re.findall(r"^ +\d+  user-\d+", shown, re.M)) == 5
    shown = ANSI.sub("", on_terminal_here("rank", file, "-m", "hnd", "--all").out)
    assert len(re.findall(r"^ +\d+  user-\d+", shown, re.M)) == 120
