"""Numbering labels in order of first appearance."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.data.factor import factorise, joined


def naive(values):
    seen: dict[object, int] = {}
    numbers = [-1 if v is None else seen.setdefault(v, len(seen)) for v in values]
    return list(seen), numbers


#: A few signs of one to four bytes: which sign it is does not matter here.
TEXTS = st.text("a \x00é€😀", max_size=4)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä" * 20]), TEXTS)))
def test_texts_in_pieces(values):
    column = pl.Series(values, dtype=pl.String)
    found = joined([factorise(column[k : k + 4], short=0) for k in range(0, len(values), 4)])
    assert (found.labels, found.numbers.tolist()) == naive(values)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))))
def test_integers_with_gaps(values):
    found = factorise(pl.Series(values, dtype=pl.Int64), short=0)
    assert (found.labels, found.numbers.tolist()) == naive(values)
