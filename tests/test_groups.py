"""Groups by a column of the answers: wide and long, frames and files, one file and several."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from commands import Here
from factory import examples
from hypothesis import given
from hypothesis import strategies as st

import hitsndiffs as hnd
from hitsndiffs import InputError, Responses, rank, read_responses, reading
from hitsndiffs.data.encode import Factor
from hitsndiffs.data.groups import user_groups
from hitsndiffs.data.labels import Place
from hitsndiffs.reading.sizes import Sizes

ITEMS = [f"q{k}" for k in range(1, 7)]


def runs(n_models: int = 20, n_runs: int = 12, seed: int = 3) -> pl.DataFrame:
    """Models that answer as well as they can, and one that ran many times; family is the column."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.2, 0.95, n_models)
    rows = []
    for k, good in enumerate(skill):
        sheet = np.where(rng.random(len(ITEMS)) < good, "A", rng.choice([*"BCD"], len(ITEMS)))
        rows.append([f"model-{k:02}", "", *sheet])
    for k in range(n_runs):
        sheet = [answer if rng.random() < 0.9 else "D" for answer in "BCBCBC"]
        rows.append([f"run-{k:02}", "model-x", *sheet])
    return pl.DataFrame(rows, schema=["model", "family", *ITEMS], orient="row")


def as_long(wide: pl.DataFrame) -> pl.DataFrame:
    return wide.unpivot(
        index=["model", "family"], on=ITEMS, variable_name="item", value_name="answer"
    )


def text(frame: pl.DataFrame) -> io.StringIO:
    return io.StringIO(frame.write_csv())


def parquet(frame: pl.DataFrame) -> io.BytesIO:
    written = io.BytesIO()
    frame.write_parquet(written)
    return io.BytesIO(written.getvalue())


def jsonl(frame: pl.DataFrame) -> io.StringIO:
    return io.StringIO(frame.write_ndjson())


EXPECTED = {f"run-{k:02}": "model-x" for k in range(12)}


@pytest.mark.parametrize("shape", [lambda f: f, as_long], ids=["wide", "long"])
@pytest.mark.parametrize(
    "read",
    [
        lambda frame: Responses.from_table(frame, group="family"),
        lambda frame: Responses.from_table(frame.to_dict(as_series=False), group="family"),
        lambda frame: read_responses(text(frame), group="family"),
        lambda frame: read_responses(parquet(frame), group="family"),
        lambda frame: read_responses(jsonl(frame), group="family"),
    ],
    ids=["frame", "mapping", "csv", "parquet", "jsonl"],
)
def test_the_column_is_taken_on_every_path(
    shape: Callable[[Any], Any], read: Callable[[Any], Responses]
) -> None:
    r = read(shape(runs()))
    assert sorted(map(str, r.items)) == ITEMS
    assert r.n_users == 32
    assert dict(r.groups) == EXPECTED
    assert sum("'family'" in note for note in r.notes) == 1
    assert (
        "Took 'family' as the users' groups: 1 group; 20 users without a group count alone."
        in r.notes
    )


def test_a_group_is_one_witness() -> None:
    frame = runs()
    told = rank(frame, group="family")
    assert told.scores == pytest.approx(
        rank(frame.drop("family"), group=EXPECTED).scores, abs=1e-12, nan_ok=True
    )
    read = rank(read_responses(text(frame), group="family"))
    assert read.scores == pytest.approx(told.scores, abs=1e-12, nan_ok=True)
    by_itself = rank(frame.drop("family"))
    assert not np.allclose(told.scores, by_itself.scores)
    assert not any("say which group" in note for note in told.notes)


def test_a_large_file_has_the_same_groups(tmp_path: Path) -> None:
    """Small files are read as large ones are, in several pieces."""
    n, sizes = 3_000, Sizes(small=0, chunk=1 << 14)
    rng = np.random.default_rng(0)
    columns = {item: rng.choice([*"ABC"], n) for item in ITEMS}
    teams = [f"{k % 700:03}" if k % 3 else None for k in range(n)]
    frame = pl.DataFrame({"student": [f"s{k}" for k in range(n)], "team": teams, **columns})
    path = tmp_path / "answers.csv"
    frame.write_csv(path)
    assert path.stat().st_size > 3 * sizes.chunk
    r = reading.read_responses(path, group="team", sizes=sizes)
    assert dict(r.groups) == {f"s{k}": team for k, team in enumerate(teams) if team is not None}
    without = reading.read_responses(path, drop=["team"], sizes=sizes)
    assert np.array_equal(r.codes, without.codes)


def test_two_groups_of_a_user_are_refused() -> None:
    row = pl.int_range(pl.len())  # items after items, 32 models each
    told = pl.when(row == 8).then(pl.lit("first")).when(row == 40).then(pl.lit("other"))
    wrong = as_long(runs()).with_columns(family=told)
    with pytest.raises(InputError, match=r"lines 10 and 42: the user 'model-08' is in two groups"):
        read_responses(text(wrong), group="family")
    with pytest.raises(InputError, match=r"rows 9 and 41.*'first' and 'other'\); give each"):
        rank(wrong, group="family")


def test_what_cannot_be_is_said() -> None:
    frame = runs()
    with pytest.raises(InputError, match=r"there is no column 'famly' .did you mean 'family'"):
        read_responses(text(frame), group="famly")
    with pytest.raises(InputError, match=r"there is no column 'famly' .did you mean 'family'"):
        rank(frame, group="famly")
    r = read_responses(text(frame), group="family")
    with pytest.raises(InputError, match="already been read"):
        rank(r, group="family")
    with pytest.raises(InputError, match="Method 'hnd' has no group"):
        rank(frame, "hnd", group="family")
    assert "Method 'hnd' takes no groups: every user counts separately." in rank(r, "hnd").notes
    turned = io.StringIO("item,ann,bob,cem,team\nq1,A,B,A,x\nq2,B,B,A,y\nq3,A,A,B,x\n")
    with pytest.raises(InputError, match="users stand in columns"):
        read_responses(turned, transpose=True, group="team")


def test_a_blank_group_is_no_group() -> None:
    frame = runs()
    blank = {user: "" for user in frame["model"].to_list() if user not in EXPECTED}
    told = rank(frame.drop("family"), group={**EXPECTED, **blank})
    assert np.allclose(told.scores, rank(frame, group="family").scores)


def test_groups_stay_with_their_users() -> None:
    r = read_responses(text(runs()), group="family")
    part, _ = r.restrict(np.arange(20, 32))
    assert part.groups == r.groups
    items = r.select(items=["q1", "q2"])
    assert items.groups == r.groups
    import pickle

    assert pickle.loads(pickle.dumps(r)).groups == r.groups


def test_several_files(tmp_path: Path) -> None:
    frame = runs()
    frame[:16].write_csv(tmp_path / "a.csv")
    frame[16:].write_csv(tmp_path / "b.csv")
    r = read_responses([tmp_path / "a.csv", tmp_path / "b.csv"], group="family")
    assert dict(r.groups) == EXPECTED
    frame[:16].drop("family").write_csv(tmp_path / "a.csv")
    assert dict(read_responses(tmp_path, group="family").groups) == EXPECTED
    again = frame[30:].with_columns(family=pl.lit("other"))
    again.rename({item: f"p{item}" for item in ITEMS}).write_csv(tmp_path / "c.csv")
    with pytest.raises(InputError, match=r"a\.csv \(and 1 more\) and c\.csv have the user"):
        read_responses(tmp_path, group="family")
    with pytest.raises(InputError, match="none of the 3 files has a column 'team'"):
        read_responses(tmp_path, group="team")


def test_one_file_for_each_user(tmp_path: Path) -> None:
    for row in runs(6, 4).iter_rows(named=True):
        answers = [f"{item},{row[item]},{row['family']}" for item in ITEMS]
        path = tmp_path / f"{row['model']}.csv"
        path.write_text("\n".join(["item,answer,family", *answers]) + "\n")
    r = read_responses(tmp_path, group="family")
    assert dict(r.groups) == {f"run-{k:02}": "model-x" for k in range(4)}
    assert r.n_users == 10


def test_a_plan_repeats_the_column() -> None:
    plan = hnd.plan(text(runs()), group="family")
    assert [c.name for c in plan.columns if c.role == "group"] == ["family"]
    assert [c.position for c in plan.columns] == list(range(8))
    again = read_responses(text(runs()), plan=json.loads(plan.to_json()))
    assert dict(again.groups) == EXPECTED


class TestCommand:
    @pytest.mark.xdist_group("report")
    def test_a_column(self, here: Here, tmp_path: Path) -> None:
        path = tmp_path / "answers.csv"
        runs().write_csv(path)
        done = here("rank", path, "--group", "family", "--report", tmp_path / "report.html")
        assert "Took 'family' as the users' groups: 1 group" in done.err
        assert "left out" not in done.err
        assert "--group family" in (tmp_path / "report.html").read_text(encoding="utf-8")
        groups = tmp_path / "groups.csv"
        pl.DataFrame({"user": [*EXPECTED], "group": [*EXPECTED.values()]}).write_csv(groups)
        runs().drop("family").write_csv(path)
        assert here("rank", path, "--group", groups).out == done.out

    def test_a_column_and_a_file_of_one_name(
        self, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        runs().write_csv("answers.csv")
        pl.DataFrame({"user": [*EXPECTED], "group": [*EXPECTED.values()]}).write_csv("family")
        done = here("rank", "answers.csv", "--group", "family")
        assert done.code == 2
        assert "this is a column of answers.csv and also a file" in done.err
        done = here("rank", "answers.csv", "--group", "./family", "--drop", "family")
        assert done.code == 0

    def test_what_is_neither(self, here: Here, tmp_path: Path) -> None:
        path = tmp_path / "answers.csv"
        runs().write_csv(path)
        done = here("rank", path, "--group", "famly")
        assert done.code == 2
        assert "there is no column 'famly' (did you mean 'family'?)" in done.err
        done = here("rank", path, "--group", tmp_path / "none.csv")
        assert done.code == 2
        assert "none.csv: cannot be read" in done.err


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 2)), min_size=1, max_size=30))
def test_user_groups_against_a_loop(rows: list[tuple[int, int]]) -> None:
    users = Factor([*"abcdef"], np.array([user for user, _ in rows], dtype=np.int32))
    groups = Factor([*"xyz"], np.array([group for _, group in rows], dtype=np.int32))
    expected: dict[str, str] = {}
    clash = False
    for user, group in rows:
        if group >= 0:
            clash |= expected.setdefault("abcdef"[user], "xyz"[group]) != "xyz"[group]
    if clash:
        with pytest.raises(InputError, match="is in two groups"):
            user_groups(users, groups, Place(), "team")
    else:
        assert user_groups(users, groups, Place(), "team") == expected
