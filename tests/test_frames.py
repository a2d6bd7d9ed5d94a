"""A table in memory is read as the same table in a file: layout, cleaning, key and notes."""

from __future__ import annotations

import io
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import answers, as_if_large

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading.frames import frame_of
from hitsndiffs.reading.sizes import Sizes

CELLS = ["A", "B", "b", "C", "n/a", "-", "", " A"]


def both(table: dict[str, list[str]]) -> tuple[hnd.Responses | str, hnd.Responses | str]:
    """The responses of a table as a CSV file and as a frame, or the sentences that refuse it."""
    found: list[hnd.Responses | str] = []
    frame = pl.DataFrame(table)
    for source in (io.BytesIO(frame.write_csv().encode()), frame):
        try:
            found.append(hnd.read_responses(source))
        except InputError as error:
            found.append(str(error).partition(": ")[2])
    return found[0], found[1]


@examples(40)
@given(st.integers(4, 14), st.integers(3, 6), st.data())
def test_a_frame_gives_what_its_csv_gives(users, items, data):
    cell = st.sampled_from(CELLS)
    table = {"student": [f"s{k}" for k in range(users)]}
    table |= {f"q{j}": [data.draw(cell) for _ in range(users)] for j in range(items)}
    from_file, from_frame = both(table)
    if isinstance(from_file, str) or isinstance(from_frame, str):
        assert isinstance(from_file, str)
        assert isinstance(from_frame, str)
        return
    assert answers(from_file) == answers(from_frame)
    assert from_file.users.tolist() == from_frame.users.tolist()
    assert from_file.notes == from_frame.notes


#: How a column of each kind is made from numbers; -1 is a cell without a value.
TEXTS = ["A", "B", "b", "C"]
POLARS = {
    "whole": lambda k: pl.Series([None if i < 0 else i for i in k], dtype=pl.Int8),
    "float": lambda k: pl.Series([None if i < 0 else float(i) for i in k]),
    "half": lambda k: pl.Series([float("nan") if i < 0 else i / 2 for i in k]),
    "text": lambda k: pl.Series([None if i < 0 else TEXTS[i] for i in k], dtype=pl.String),
    "choice": lambda k: pl.Series([None if i < 0 else TEXTS[i] for i in k], dtype=pl.Categorical),
    "flag": lambda k: pl.Series([None if i < 0 else i > 1 for i in k], dtype=pl.Boolean),
    "date": lambda k: pl.Series([None if i < 0 else date(2026, 1, 1 + i) for i in k]),
}
PANDAS = {
    "whole": lambda k: pd.Series([None if i < 0 else i for i in k], dtype="Int64"),
    "float": lambda k: pd.Series([float("nan") if i < 0 else i for i in k], dtype="float64"),
    "half": lambda k: pd.Series([float("nan") if i < 0 else i / 2 for i in k], dtype="float32"),
    "text": lambda k: pd.Series([None if i < 0 else TEXTS[i] for i in k], dtype=object),
    "choice": lambda k: pd.Series([None if i < 0 else TEXTS[i] for i in k], dtype="category"),
    "flag": lambda k: pd.Series([None if i < 0 else i > 1 for i in k], dtype="boolean"),
    "date": lambda k: pd.Series([None if i < 0 else date(2026, 1, 1 + i) for i in k]),
}


@examples(60)
@given(
    st.sampled_from([(pl.DataFrame, POLARS), (pd.DataFrame, PANDAS)]),
    st.lists(st.sampled_from(sorted(POLARS)), min_size=3, max_size=6),
    st.sampled_from(["text", "whole"]),
    st.integers(8, 14),
    st.booleans(),
    st.data(),
)
def test_columns_of_every_kind_give_what_their_csv_gives(make, kinds, names, users, is_large, data):
    build, ways = make
    cells = st.lists(st.integers(-1, 3), min_size=users, max_size=users)
    who = range(100, 100 + users)
    table = {"student": [f"s{k}" for k in who] if names == "text" else list(who)}
    table |= {f"q{j}": ways[kind](data.draw(cells)) for j, kind in enumerate(kinds)}
    frame = build(table)
    text = frame.write_csv() if build is pl.DataFrame else frame.to_csv(index=False)
    sizes = as_if_large(None if not is_large else 1 << 20)
    found = []
    for source in (io.BytesIO(text.encode()), frame):
        try:
            r = hnd.read_responses(source, sizes=sizes)
            found.append({(str(u), i): str(o).lower() for (u, i), o in answers(r).items()})
        except InputError as error:
            found.append(str(error).partition(": ")[2])
    assert found[0] == found[1]


def test_a_large_frame_is_read_by_columns():
    n = 60_000
    codes = np.random.default_rng(0).integers(0, 4, (n, 20))
    frame = pl.DataFrame({"user": range(n), **{f"q{j}": codes[:, j] for j in range(20)}})
    r = hnd.read_responses(frame)
    assert not frame_of(frame).table(Sizes()).is_small  # no text per cell: that takes ten times
    assert (codes == r.codes.T).all()
    assert r.users.tolist() == list(range(n))


def test_long_frames_keys_and_averages():
    rows = [(f"w{u}", f"t{i}", "ABC"[(u * i + i) % 3]) for u in range(6) for i in range(8)]
    table = dict(zip(("worker", "task", "label"), map(list, zip(*rows, strict=True)), strict=True))
    from_file, from_frame = both(table)
    assert answers(from_file) == answers(from_frame)
    wide = {"Name": ["KEY", "Ann", "Bob", "Cem", "Dee", "Average"]}
    wide |= {f"q{j}": ["A", "A", "B", "A", "ABA"[j % 3], f"0.{j}5"] for j in range(5)}
    from_file, from_frame = both(wide)
    assert from_file.users.tolist() == from_frame.users.tolist() == ["Ann", "Bob", "Cem", "Dee"]
    assert dict(from_file.key) == dict(from_frame.key) == {f"q{j}": "A" for j in range(5)}


def test_labels_and_kind_stay_those_of_the_frame():
    frame = pd.DataFrame({"id": [11, 12, 13, 14], "q1": [1, 2, 2, 1], "q2": [2, 2, 1, 1]})
    r = hnd.read_responses(frame)
    assert r.users.tolist() == [11, 12, 13, 14]
    assert r.option_labels.tolist() == [1, 2, 1, 2]
    assert isinstance(hnd.rank(frame, method="majority").table(), pd.DataFrame)
    named = frame.drop(columns="id").set_axis(["ann", "bob", "cem", "dee"])
    assert hnd.read_responses(named).users.tolist() == ["ann", "bob", "cem", "dee"]


def test_a_plan_for_a_frame_can_be_changed():
    frame = pl.DataFrame(
        {"who": list("uvwx"), "q1": list("ABAB"), "q2": list("AABB"), "Score": [2, 1, 1, 0]}
    )
    plan = hnd.plan(frame)
    assert [c.name for c in plan.columns if c.role == "points"] == ["Score"]
    assert any("one row per user" in text for text in plan.scores)
    assert plan.change(drop=["q2"]).read().items.tolist() == ["q1"]
    with pytest.raises(InputError, match="there is no column 'whom'"):
        hnd.plan(frame, user="whom")
