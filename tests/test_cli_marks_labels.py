"""``hnd marks`` and ``hnd labels``: what people see, what programs get, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import MODELS, Here, rows

CLASS = """student,q1,q2,q3,q4
ann,A,B,C,D
bob,A,B,C,A
cid,A,C,C,
dee,B,C,A,A
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "quiz.csv").write_text(CLASS)
    (tmp_path / "key.csv").write_text("item,answer\nq1,A\nq2,B\nq3,C\nq4,D\n")
    (tmp_path / "parts.csv").write_text("item,section\nq1,one\nq2,one\nq3,two\nq4,two\n")
    (tmp_path / "groups.csv").write_text("user,group\nann,a\nbob,b\ncid,a\ndee,b\n")
    return tmp_path


def test_marks_of_a_class(here: Here, folder: Path) -> None:
    marks = ("marks", folder / "quiz.csv", "--key", folder / "key.csv")
    assert here(*marks, "--out", folder / "m.csv").out == ""
    done = here(*marks)
    head, *body = rows(done.out)
    assert head == ["user", "marks", "out_of", "percent"]
    assert [row[:2] for row in body] == [["ann", "4"], ["bob", "3"], ["cid", "2"], ["dee", "0"]]
    assert pl.read_csv(folder / "m.csv")["marks"].to_list() == [4, 3, 2, 0]
    assert "mean 56 %" in done.err
    more = here(
        "marks", folder / "quiz.csv", "--key", folder / "key.csv", "--accept", "q2=C",
        "--without", "q4", "--blanks", "skip", "--json",
    )  # fmt: skip
    content = json.loads(more.out)
    assert [row["marks"] for row in content["marks"]] == [3, 3, 3, 1]
    assert content["items"] == ["q1", "q2", "q3"]


def test_sections_and_groups(here: Here, folder: Path) -> None:
    done = here(
        "marks", folder / "quiz.csv", "--key", folder / "key.csv",
        "--sections", folder / "parts.csv", "--compare-groups", folder / "groups.csv", "--json",
    )  # fmt: skip
    content = json.loads(done.out)
    assert [row["section"] for row in content["sections"]] == ["one", "two"]
    assert [row["size"] for row in content["differences"]] == ["A"] * 4
    assert [row["two"] for row in content["marks"]] == [1, 0.5, 0.5, 0]


def test_marks_without_a_key_or_with_odd_words(here: Here, folder: Path) -> None:
    done = here("marks", folder / "quiz.csv")
    assert "give them with --key FILE" in done.err
    quiz, key = folder / "quiz.csv", folder / "key.csv"
    done = here("marks", quiz, "--key", key, "--accept", "q2")
    assert "as in q07=B" in done.err
    done = here("marks", quiz, "--key", key, "--without", "q7")
    assert "There is no item 'q7' to leave out." in done.err


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    labels = [
        (f"w{u}", f"t{i:02d}", "yes" if (i % 2 == 0) != ((u + i) % 7 == 0) else "no", "yes")
        for u in range(6)
        for i in range(20)
        if (u * i) % 5 != 1
    ]
    path = tmp_path / "crowd.csv"
    pl.DataFrame(labels, ["worker", "task", "label", "guess"], orient="row").write_csv(path)
    return path


def test_labellers(here: Here, crowd: Path) -> None:
    plain = ("--user", "worker", "--item", "task", "--option", "label")
    done = here("labels", crowd, *plain)
    head, *body = rows(done.out)
    assert head == ["user", "answers", "most_used", "share", "follows", "remark"]
    assert len(body) == 6
    assert "Agreement is 0." in done.err
    asked = json.loads(here("labels", crowd, *plain, "--next", "3", "--json").out)
    assert len(asked["rows"]) <= 3
    assert asked["right_then"] >= asked["right_now"]
    whole = json.loads(here("labels", crowd, *plain, "--json").out)
    assert whole["alpha"] == pytest.approx(whole["fleiss_kappa"], abs=0.1)
    pairs = json.loads(here("labels", crowd, *plain, "--pairs", "4", "--json").out)
    assert len(pairs["rows"]) == 4
    own = json.loads(here("labels", crowd, *plain, "--worker", "w1", "--json").out)
    assert [row["right"] for row in own["rows"]] == ["no", "yes"]
    popular = json.loads(here("labels", crowd, *plain, "--predicted", "guess", "--json").out)
    # everybody foresees "yes": any "no" is more popular than foreseen
    assert {row["surprisingly_popular"] for row in popular["rows"] if row["surprise"] > 0} == {"no"}
    assert len(popular["rows"]) == 20


def test_ranking_by_what_is_surprisingly_popular(here: Here, tmp_path: Path) -> None:
    """Half of the questions have a myth that most believe; those who know are few, and know it."""
    rng = np.random.default_rng(3)
    myth, knows = np.arange(10) < 5, np.arange(40) < 12
    right = rng.random((40, 10)) < np.where(myth & ~knows[:, None], 0.15, 0.85)
    foreseen = np.where(rng.random((40, 10)) < np.where(myth, 0.9, 0.6), "yes", "no")
    said = np.where(right != myth, "yes", "no")
    path = tmp_path / "survey.csv"
    lines = [f"p{u:02d},s{i},{said[u, i]},{foreseen[u, i]}" for u in range(40) for i in range(10)]
    path.write_text("user,item,answer,guess\n" + "\n".join(lines) + "\n")
    plain = ("--user", "user", "--item", "item", "--option", "answer")
    done = here("rank", path, *plain, "--predicted", "guess", "--top", "10", "--json")
    found = json.loads(done.out)
    assert sum(int(row["user"][1:]) < 12 for row in found["users"][:10]) >= 9
    assert any("surprisingly popular" in note for note in found["notes"])
    done = here("rank", path, *plain, "--predicted", "guess", "--key", path)
    assert "give --key or --predicted, not both" in done.err
    done = here("rank", path, "--predicted", "guess")
    assert "name it with --option" in done.err


def test_one_question_at_a_time(here: Here, crowd: Path) -> None:
    done = here("labels", crowd, "--next", "2", "--pairs", "2")
    assert "one of --worker, --next, --pairs and --predicted" in done.err


def test_two_users_side_by_side(here: Here, folder: Path) -> None:
    quiz = folder / "quiz.csv"
    done = here("rank", quiz, "--method", "majority", "--versus", "ann", "dee")
    assert "ann is above dee with a probability of" in done.err
    head, *body = rows(done.out)
    assert head == ["item", "ann", "dee", "right_ann", "right_dee"]
    assert sorted(row[:3] for row in body) == [
        ["q1", "A", "B"], ["q2", "B", "C"], ["q3", "C", "A"], ["q4", "D", "A"],
    ]  # fmt: skip
    found = json.loads(here("rank", quiz, "--versus", "dee", "ann", "--json").out)
    assert found["shared"] == 4
    assert found["probability"] < 0.5
    assert here("rank", quiz, "--versus", "ann", "nobody").code == 2


def test_items_that_belong_together(here: Here, crowd: Path) -> None:
    """A column, a file and the names of the items say the same."""
    told = pl.read_csv(crowd).with_columns(
        text=pl.col("task").str.slice(0, 2), team=pl.col("worker").str.replace_all("[1-6]", "x")
    )
    told = told.with_columns(task=pl.col("text") + "-" + pl.col("task"))
    told.write_csv(crowd)
    told.select("task", "text").unique().write_csv(crowd.parent / "texts.csv")
    plain = (crowd, "--user", "worker", "--item", "task", "--option", "label")
    found = [
        json.loads(here("rank", *plain, "--versus", "w0", "w3", "--json", *more).out)
        for more in (
            ("--clusters", "text"), ("--clusters", crowd.parent / "texts.csv"),
            ("--clusters", "names"), (),
        )
    ]  # fmt: skip
    assert found[0] == found[1] == found[2]
    assert found[0]["clusters"] == 2
    assert found[3]["clusters"] is None
    assert found[3]["difference"] == found[0]["difference"]
    of_all = json.loads(here("rank", *plain, "--pairs", "--clusters", "text", "--json").out)["rows"]
    (row,) = (row for row in of_all if {row["user"], row["other"]} == {"w0", "w3"})
    assert row["standard_error"] == pytest.approx(found[0]["standard_error"])
    assert "add --versus A B" in here("rank", *plain, "--clusters", "text").err
    key = crowd.parent / "key.csv"
    told.select("task", answer=pl.lit("yes")).unique().write_csv(key)
    marked = here(
        "marks", *plain, "--key", key, "--sections", "text", "--compare-groups", "team", "--json"
    )
    content = json.loads(marked.out)
    assert [row["section"] for row in content["sections"]] == ["t0", "t1"]
    assert len(content["differences"]) == 20


def test_a_leaderboard(here: Here) -> None:
    """Pairwise probabilities, and how many items would do."""
    pairs = rows(here("rank", MODELS, "--pairs", "--top", "4").out)
    assert pairs[0] == ["user", "other", "probability", "difference", "standard_error", "shared"]
    assert len(pairs) == 7
    assert all(float(row[2]) >= 0.5 for row in pairs[1:])
    short = json.loads(here("rank", MODELS, "--short-form", "--json").out)
    assert [row["items"] for row in short["rows"]] == [5, 10, 15, 20, 30]
    assert [len(row["adds"].split(", ")) for row in short["rows"]] == [5, 5, 5, 5, 10]
    assert "one of --versus, --pairs" in here("rank", MODELS, "--pairs", "--short-form").err
