"""Who can be compared with whom."""

from __future__ import annotations

import naive_spectral as naive
import numpy as np
import pytest
from factory import examples, make_responses, random_table, tables
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine


def found(table, linked_by="options", sparse=False):
    r = make_responses(table, sparse=sparse)
    return open_engine(r).components(linked_by)


def groups_of(labels):
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist()) - {-1}}


@given(tables(options=(2, 9)), st.booleans(), st.sampled_from(["options", "items"]))
@examples(150)
def test_components_are_those_of_repeated_merging(table, sparse, linked_by):
    labels = found(table, linked_by, sparse)
    # linked by items: any answer to the same item will do
    seen = table if linked_by == "options" else np.where(table >= 0, 0, -1)
    assert groups_of(labels) == {frozenset(g) for g in naive.components(seen)}
    silent = (table < 0).all(axis=1)
    assert ((labels == -1) == silent).all()
    sizes = np.bincount(labels[labels >= 0])
    assert (np.diff(sizes) <= 0).all(), "the largest component comes first"
    assert sizes.min() > 0


def test_equal_sizes_are_numbered_by_their_first_user():
    assert found([[3], [1], [3], [1], [2], [2]]).tolist() == [0, 1, 0, 1, 2, 2]


def test_lone_users_come_last():
    assert found([[7, 7], [0, 0], [0, 1], [2, 1]]).tolist() == [1, 0, 0, 0]


def test_nobody_answered():
    assert found([[-1, -1], [-1, -1]]).tolist() == [-1, -1]


def test_a_long_chain_is_one_component():
    """Each user shares one option with the next: more rounds than the quick way looks for."""
    m = 200
    numbers = np.arange(m)
    table = np.column_stack([numbers // 2, (numbers + 1) // 2])
    assert (found(table) == 0).all()
    cut = np.delete(table, 99, axis=0)
    assert np.bincount(found(cut)).tolist() == [100, 99]


@pytest.mark.parametrize("linked_by", ["options", "items"])
def test_dense_data_are_one_component(linked_by):
    assert (found(random_table(0, 50, 10, 3), linked_by) == 0).all()
