"""Numbering labels in order of first appearance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.data.encoding import interning
from hitsndiffs.data.encoding.interning import Interner, number_keys, number_series


def naive(values):
    seen: dict[object, int] = {}
    numbers = [-1 if v is None else seen.setdefault(v, len(seen)) for v in values]
    return list(seen), numbers


@given(st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**64 - 1))))
def test_keys_are_numbered_as_they_first_appear(values):
    rows, numbers = number_keys(np.array(values, dtype=np.uint64))
    labels, expected = naive(values)
    assert numbers.tolist() == expected
    assert [values[row] for row in rows] == labels


@pytest.mark.parametrize("n_different", [3, 3000, 10**9])
def test_many_keys(n_different):
    values = np.random.default_rng(0).integers(0, n_different, 20_000).astype(np.uint64)
    rows, numbers = number_keys(values)
    assert (values[rows][numbers] == values).all()
    assert (np.diff(rows) > 0).all()
    assert len(rows) == len(np.unique(values))


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä" * 20]), st.text())))
def test_texts_in_pieces(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "_SLICE", 4)
        interner = Interner()
        interner.add(pl.Series(values, dtype=pl.String))
        factor = interner.factor()
    labels, numbers = naive(values)
    assert (factor.labels, factor.numbers.tolist()) == (labels, numbers)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))))
def test_integers_with_gaps(values):
    distinct, numbers = number_series(pl.Series(values, dtype=pl.Int64))
    assert (distinct.to_list(), numbers.tolist()) == naive(values)


def test_two_texts_with_one_hash_stay_two(monkeypatch):
    texts = pl.Series(["a", "b", "a", "c"])
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.Series([1] * len(self), dtype=pl.UInt64))
    distinct, numbers = number_series(texts)
    assert (distinct.to_list(), numbers.tolist()) == (["a", "b", "c"], [0, 1, 0, 2])


def test_numbers_as_labels_are_written_without_a_decimal_point():
    interner = Interner()
    interner.add(pl.Series([1.0, 2.5, None, float("nan"), 1.0]))
    factor = interner.factor()
    assert (factor.labels, factor.numbers.tolist()) == (["1", "2.5"], [0, 1, -1, -1, 0])
