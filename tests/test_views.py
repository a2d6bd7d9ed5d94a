"""Texts numbered straight from Polars' memory are those that Polars itself gives."""

from __future__ import annotations

import os
import threading
from collections import Counter
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_helpers import content

from hitsndiffs.data.encoding import series as series_module
from hitsndiffs.data.encoding import views
from hitsndiffs.data.encoding.options import OptionBook, in_order, normalise
from hitsndiffs.data.encoding.series import code_series
from hitsndiffs.data.encoding.views import number_texts
from hitsndiffs.reading import read_responses

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="there are no compiled kernels"
)

SHORT = [
    "A",
    "B",
    "",
    "1",
    "10",
    "9",
    "1.0",
    " A",
    "NA",
    "-1",
    "007",
    "é",
    "日本",
    "twelve bytes",
    "\0",
]
LONG = ["thirteen byte", "thirteen bytf", "x" * 40]


def column(cells: list[str | None], cuts: list[int], skip: int) -> pl.Series:
    """A column in several pieces, of which the first begins inside a larger one."""
    edges = [0, *sorted(cut % (len(cells) + 1) for cut in cuts), len(cells)]
    parts = [pl.Series(cells[a:b], dtype=pl.String) for a, b in pairwise(edges)]
    parts[0] = pl.concat([pl.Series(["x"] * skip, dtype=pl.String), parts[0]], rechunk=True)[skip:]
    return pl.concat(parts, rechunk=False)


def columns(cells: list[str]) -> st.SearchStrategy[pl.Series]:
    return st.builds(
        column,
        st.lists(st.one_of(st.none(), st.sampled_from(cells)), max_size=40),
        st.lists(st.integers(0, 40), max_size=3),
        st.integers(0, 9),
    )


@settings(deadline=None)
@given(columns(SHORT))
def test_places_and_texts_give_the_column_back(series: pl.Series) -> None:
    found = number_texts(series)
    assert found is not None
    texts, places = found
    assert [None if place == 255 else texts[place] for place in places] == series.to_list()
    assert sorted(texts) == sorted(set(series.to_list()) - {None})


@settings(deadline=None)
@given(columns([text for text in SHORT if normalise(text) is not None]))
def test_texts_of_the_first_rows_are_in_the_order_of_their_options(series: pl.Series) -> None:
    found = number_texts(series.rechunk())
    assert found is not None
    options = [normalise(text) for text in found[0]]
    assert [options[k] for k in in_order([o for o in options if o is not None])] == options


def test_texts_that_come_late_have_the_last_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_HEAD", 3)
    found = number_texts(pl.Series(["b", "NA", "a", "0", "b", None]))
    assert found is not None
    assert found[0] == ["a", "b", "NA", "0"]
    assert found[1].tolist() == [1, 2, 0, 3, 1, 255]


def test_codes_are_the_same_as_without_the_kernels() -> None:
    taken: Counter[bool] = Counter()

    def counted(series: pl.Series):
        found = number_texts(series)
        taken[found is not None] += 1
        return found

    @settings(deadline=None, max_examples=200)
    @given(st.one_of(columns(SHORT), columns(SHORT + LONG * 5)))
    def check(series: pl.Series) -> None:
        outcomes = []
        for long in (0, 1 << 60):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(series_module, "_SHORT", 0)
                patch.setattr(series_module, "_LONG", long)
                patch.setattr(series_module, "number_texts", counted)
                book = OptionBook()
                codes = code_series(book, series)
            missing = np.iinfo(codes.dtype).max
            answers = [None if c == missing else book.options[c] for c in codes.tolist()]
            outcomes.append((answers, sorted(map(str, book.options)), book.skipped.note()))
        assert outcomes[0] == outcomes[1]

    check()
    assert taken[True] > 50
    assert taken[False] > 0


@pytest.mark.parametrize(("n_texts", "taken"), [(254, True), (255, False)])
def test_so_many_texts_fit(n_texts: int, taken: bool) -> None:
    series = pl.Series([f"x{k}" for k in range(n_texts)] * 2)
    found = number_texts(series)
    assert (found is not None) == taken
    if found is not None:
        assert [found[0][place] for place in found[1]] == series.to_list()


def test_long_texts_are_left_to_polars() -> None:
    assert number_texts(pl.Series(["thirteen byte", "a"])) is None


def test_other_columns_are_left_to_polars() -> None:
    assert number_texts(pl.Series([1, 2])) is None


def test_threads_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(0)
    series = [pl.Series(rng.choice(["A", "B", f"own-{k}"], 50_000)) for k in range(4)]
    found: list[list[str]] = [[] for _ in series]

    def number(k: int) -> None:
        numbered = number_texts(series[k])
        assert numbered is not None
        found[k] = [numbered[0][place] for place in numbered[1]]

    threads = [threading.Thread(target=number, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [each.to_list() for each in series]


def test_when_compilation_is_switched_off_polars_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    series = pl.Series(["A", "B"])
    assert number_texts(series) is not None
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert number_texts(series) is None


@pytest.mark.usefixtures("without_numba")
def test_without_numba_polars_does_it() -> None:
    assert number_texts(pl.Series(["A", "B"])) is None


def test_parquet_columns_are_written_to_their_place_whatever_they_are(tmp_path) -> None:
    """Columns of bytes, one with more options than a byte holds, one that nobody answered."""
    rng = np.random.default_rng(0)
    users = [f"u{k}" for k in range(600)]
    table = {
        "user": users,
        "late": ["b"] * 599 + ["a"],
        "empty": [None] * 600,
        "numbers": rng.integers(0, 12, 600),
        "many": [f"x{k % 300}" for k in range(600)],
    }
    for left_out in ([], ["many"], ["empty"], ["many", "empty"]):
        frame = pl.DataFrame({name: table[name] for name in table if name not in left_out})
        frame.write_parquet(tmp_path / "a.parquet")
        frame.write_csv(tmp_path / "a.csv")
        from_parquet, from_csv = (
            read_responses(tmp_path / f"a.{end}") for end in ("parquet", "csv")
        )
        assert content(from_parquet) == content(from_csv)
        assert from_parquet.codes.dtype == (np.uint8 if "many" in left_out else np.uint16)
        assert from_parquet.notes == from_csv.notes
