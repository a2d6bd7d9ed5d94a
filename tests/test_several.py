"""Several plain files: parts in which nobody answered, one user answered, or all answered alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import reading_helpers

import hitsndiffs as hnd
from hitsndiffs import InputError
from hitsndiffs.reading import read_file

HEAD = "student,q1,q2,q3"


def write(folder: Path, **files: list[str]) -> Path:
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def answers(r: hnd.Responses) -> dict[str, dict[str, str]]:
    """What everybody answered, by name."""
    found: dict[str, dict[str, str]] = {str(user): {} for user in r.users}
    starts, options = r.rows
    for user, label in enumerate(r.users):
        for option in options[starts[user] : starts[user + 1]]:
            item = str(r.items[r.option_items[option]])
            found[str(label)][item] = str(r.option_labels[option])
    return found


CLASS = [HEAD, "ann,A,B,C", "bob,A,C,C", "cem,B,B,D", "dee,A,B,D"]


@pytest.mark.parametrize(
    "silent",
    [
        [HEAD, "eva,,,", "fay,,,"],
        [HEAD, "eva,,,"],
        ["student,item,answer", "eva,q1,", "fay,q2,", "eva,q2,"],
    ],
    ids=["two users", "one user", "long"],
)
@pytest.mark.parametrize("first", [True, False])
def test_users_of_a_file_without_answers_stay(
    tmp_path: Path, silent: list[str], first: bool
) -> None:
    names = ("b", "a") if first else ("a", "b")
    r = hnd.read_responses(write(tmp_path, **{names[0]: CLASS, names[1]: silent}))
    everybody = {line.partition(",")[0] for line in (*CLASS[1:], *silent[1:])}
    assert set(map(str, r.users)) == everybody
    found = answers(r)
    assert found["ann"] == {"q1": "A", "q2": "B", "q3": "C"}
    assert found["eva"] == {}
    assert not any("Left out" in note for note in r.notes)
    ranking = hnd.rank(r, "majority")
    assert np.isnan(ranking.ranks[[str(user) == "eva" for user in r.users]]).all()


def test_a_file_of_one_user_is_joined(tmp_path: Path) -> None:
    r = hnd.read_responses(write(tmp_path, a=CLASS, b=[HEAD, "eva,B,C,D"]))
    assert answers(r)["eva"] == {"q1": "B", "q2": "C", "q3": "D"}
    each = {f"user{k}": [HEAD, line] for k, line in enumerate(CLASS[1:])}
    (tmp_path / "each").mkdir()
    r = hnd.read_responses(write(tmp_path / "each", **each))
    assert answers(r)["dee"] == {"q1": "A", "q2": "B", "q3": "D"}
    assert r.n_users == 4


def test_a_file_without_answers_that_has_nothing_in_common_is_left_out(tmp_path: Path) -> None:
    r = hnd.read_responses(write(tmp_path, a=CLASS, b=["name,p1,p2", "x,,", "y,,"]))
    assert r.n_users == 4
    assert "Left out b.csv: nobody answered anything in it." in r.notes


def test_nobody_answered_in_any_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the files holds answers"):
        hnd.read_responses(write(tmp_path, a=[HEAD, "ann,,,", "bob,,,"], b=[HEAD, "eva,,,"]))


def test_an_item_that_nobody_answered_in_any_file_is_told_once(tmp_path: Path) -> None:
    one = [f"{HEAD},q4", "ann,A,B,C,", "bob,A,C,C,"]
    two = [f"{HEAD},q4", "cem,B,B,D,", "dee,A,B,D,"]
    r = hnd.read_responses(write(tmp_path, a=one, b=two))
    assert [note for note in r.notes if "nobody answered" in note] == [
        "Dropped 1 item that nobody answered: 'q4'."
    ]
    two = [f"{HEAD},q4", "cem,B,B,D,A", "dee,A,B,D,B"]
    r = hnd.read_responses(write(tmp_path, a=one, b=two))
    assert not any("nobody answered" in note for note in r.notes)


QUESTIONS = ("river", "capital", "metal", "planet", "colour", "animal", "year")


def constant_parts(folder: Path) -> Path:
    """In part a, everybody gave the same answer to «the last one», and sat in the same room."""
    same = [",".join("AB"[k * j % 5 % 2] for j in range(1, 8)) for k in range(6)]
    a = [f"s{k},{own},sure,north hall" for k, own in enumerate(same)]
    b = [f"t{k},{own},{('sure', 'perhaps')[k % 2]}" for k, own in enumerate(same)]
    head = f"student,{','.join(QUESTIONS)},the last one?"
    return write(folder, a=[f"{head},room", *a], b=[head, *b])


def test_a_constant_item_of_a_part_is_an_item(tmp_path: Path) -> None:
    r, plan = read_file(constant_parts(tmp_path))
    assert set(map(str, r.items)) == {*QUESTIONS, "the last one?"}
    assert answers(r)["s0"]["the last one?"] == "sure"
    roles = {column.name: column.role for column in plan.columns}
    assert roles["the last one?"] == "item"
    assert roles["room"] == "constant"
    assert [note for note in r.notes if "'room'" in note] == ["Left out 'room' (constant)."]
    assert not any("last one" in note for note in r.notes)
    json.loads(plan.to_json())


# -- pieces of one table -------------------------------------------------------------------------


def pieces(folder, n_files, ending, change=None):
    """Write a quiz of 20 users per file, and the same quiz in one file; return what it holds."""
    rng = np.random.default_rng(3)
    names = [f"s{k:03}" for k in range(20 * n_files)]
    cells = np.array(list("ABC"))[np.minimum(rng.integers(0, 4, (len(names), 6)), 2)]
    frame = pl.DataFrame({"student": names, **{f"q{j}": cells[:, j] for j in range(6)}})
    parts = [frame[20 * k : 20 * (k + 1)] for k in range(n_files)]
    if change is not None:
        parts[-1] = change(parts[-1])
    for k, part in enumerate(parts):
        part.write_csv(folder / f"part{k}.csv") if ending == "csv" else part.write_parquet(
            folder / f"part{k}.parquet"
        )
    return dict(zip(names, cells.tolist(), strict=True))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_pieces_of_one_table_are_read_as_one(tmp_path, ending):
    whole = pieces(tmp_path, 5, ending)
    r = hnd.read_responses(tmp_path)
    assert r.users.tolist() == list(whole)
    assert reading_helpers.answers(r) == {
        (u, f"q{j}"): o for u, own in whole.items() for j, o in enumerate(own)
    }
    assert any(note.startswith("Joined 5 files") for note in r.notes)
    plan = hnd.plan(tmp_path)
    assert plan.title == "5 files of the same test"
    assert len(plan.sources) == 5


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "change",
    [
        lambda part: part.rename({"q5": "q6"}),
        lambda part: part.select(["student", "q5", "q4", "q3", "q2", "q1", "q0"]),
        lambda part: part.drop("q5"),
        lambda part: pl.concat([part, part.head(1).with_columns(student=pl.lit("KEY"))]),
    ],
    ids=["another item", "another order", "one item less", "a key below"],
)
def test_files_that_differ_are_joined_all_the_same(tmp_path, ending, change):
    whole = pieces(tmp_path, 4, ending, change)
    r = hnd.read_responses(tmp_path)
    found = reading_helpers.answers(r)
    assert set(r.users.tolist()) == set(whole)
    for (user, item), option in found.items():
        if item != "q6":
            assert option == whole[user][int(item[1])]
    assert len(found) >= 6 * 60


def test_a_fault_in_one_of_many_pieces_is_named_with_its_file(tmp_path):
    pieces(tmp_path, 4, "csv")
    with (tmp_path / "part2.csv").open("a") as out:
        out.write('zoe,"A"x,B,C,A,B,C\n')
    notes = " ".join(hnd.read_responses(tmp_path).notes)
    assert "Left out part2.csv" in notes
    assert "line 22" in notes


# -- files that are users ------------------------------------------------------------------------


def predictions(folder: Path, head: list[str], topics: tuple[str, ...] = ("",)) -> dict:
    """Write a file for each of four models (and topic), with the right answers beside its own."""
    rng = np.random.default_rng(2)
    said = {}
    for topic in topics:
        gold = rng.choice(list("ABCD"), 15)
        for model in ("ada", "bert", "cat", "dino"):
            own = np.where(rng.random(15) < 0.6, gold, rng.choice(list("ABCD"), 15))
            path = folder / model / f"{topic or 'out'}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            items = [f"{topic} question {k}" if topic else f"question {k}" for k in range(15)]
            rows = zip(items, own, gold, strict=True)
            path.write_text("\n".join(map(",".join, [head, *rows])) + "\n")
            said |= {(model, item): answer for item, answer in zip(items, own, strict=True)}
    return said


@pytest.mark.parametrize(
    "head", [["id", "prediction", "gold"], ["question", "output", "answer"], ["a", "b", "c"]]
)
@pytest.mark.parametrize("topics", [("",), ("art", "law")])
def test_a_file_is_a_user_where_the_answers_say_so(tmp_path, head, topics):
    said = predictions(tmp_path, head, topics)
    r = hnd.read_responses(tmp_path, formats=[])
    assert reading_helpers.answers(r) == said
    assert len(r.key) == 15 * len(topics)
    assert "The users are named after the files." in r.notes


def test_users_whose_names_are_topics_or_models_are_asked_for(tmp_path):
    rng = np.random.default_rng(1)
    for model in "abcd":
        for topic in ("art", "law"):
            rows = [f"{k},{rng.choice(list('ABCD'))}" for k in range(12)]
            (tmp_path / model).mkdir(exist_ok=True)
            (tmp_path / model / f"{topic}.csv").write_text("\n".join(["item,answer", *rows]) + "\n")
    with pytest.raises(InputError, match="not clear which part of the path"):
        hnd.read_responses(tmp_path)


def test_the_file_can_be_the_group_of_its_users(tmp_path):
    pieces(tmp_path, 3, "csv")
    r = hnd.read_responses(tmp_path, group="file")
    assert r.groups["s000"] == "part0"
    assert r.groups["s059"] == "part2"
