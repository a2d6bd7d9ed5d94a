"""Numbering labels in order of first appearance."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.data.factor import Interner, factorise


def naive(values):
    seen: dict[object, int] = {}
    numbers = [-1 if v is None else seen.setdefault(v, len(seen)) for v in values]
    return list(seen), numbers


#: A few signs of one to four bytes: which sign it is does not matter here.
TEXTS = st.text("a \x00é€😀", max_size=4)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b", "ä" * 20]), TEXTS)))
def test_texts_in_pieces(values):
    interner = Interner(rows=4)
    interner.add(pl.Series(values, dtype=pl.String))
    factor = interner.factor()
    labels, numbers = naive(values)
    assert (factor.labels, factor.numbers.tolist()) == (labels, numbers)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-2, 2))))
def test_integers_with_gaps(values):
    found = factorise(pl.Series(values, dtype=pl.Int64), short=0)
    assert (found.labels, found.numbers.tolist()) == naive(values)
