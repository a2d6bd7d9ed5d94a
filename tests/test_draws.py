"""Draws that belong to the data: the same in any order and under any labels."""

from __future__ import annotations

import numpy as np
from factory import examples, make_responses, random_table, seeds, tables
from hypothesis import given
from scipy import stats

from hitsndiffs.engines import open_engine
from hitsndiffs.methods.draws import user_draws


def draws(table, count=3, seed=0, **made):
    r = make_responses(table, **made)
    return user_draws(open_engine(r, "numpy"), count, seed)


def close(a, b):
    """Equal up to rounding, on a circle."""
    apart = np.abs(a - b)
    return (np.minimum(apart, 1 - apart) < 1e-6).all()


@given(tables(users=(2, 20), items=(1, 10)), seeds)
@examples(30)
def test_draws_follow_the_users_in_any_order_and_under_any_labels(table, seed):
    table = table[(table >= 0).any(axis=1)]
    rng = np.random.default_rng(seed)
    users, items = rng.permutation(len(table)), rng.permutation(table.shape[1])
    renamed = np.where(table >= 0, (7 - table) * 3, -1)
    first = draws(table)
    assert close(draws(table[users]), first[users])
    assert close(draws(table[:, items]), first)
    assert close(draws(renamed), first)
    assert close(draws(table, sparse=True), first)
    assert ((first >= 0) & (first < 1)).all()


def test_users_with_equal_answers_share_their_draws_and_others_do_not():
    table = random_table(1, 50, 20, 4)
    table[7] = table[3]
    found = draws(table)
    assert close(found[7], found[3])
    assert len(np.unique(found[:, 0].round(9))) == 49


def test_draws_are_uniform_and_independent():
    table = random_table(0, 800, 30, 4, graded=False)
    found = draws(table, count=4)
    for column in [*found.T, *draws(table, seed=1).T]:
        assert stats.kstest(column, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(found[:, 0], draws(table, seed=1)[:, 0])[0, 1]) < 0.13
    assert np.abs(np.corrcoef(found.T) - np.eye(4)).max() < 0.13
    # users who differ in one answer only are as far apart as any
    near = np.tile(table[0], (60, 1))
    near[np.arange(60) % 30 == np.arange(60), 0] = 0
    near[np.arange(60), np.arange(60) % 30] = (near[np.arange(60), np.arange(60) % 30] + 1) % 4
    mixed = draws(np.vstack([table, near[:30]]))[800:]
    assert stats.kstest(mixed[:, 0], "uniform").pvalue > 0.001
