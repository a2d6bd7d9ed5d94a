"""Lemma 7 and Theorems 1 and 2 on the axis itself: no PQ-tree mends the order here."""

from __future__ import annotations

from collections.abc import Callable

import naive_spectral as naive
import numpy as np
import pytest
from factory import c1p_table, consistent_tables, examples, make_responses, seeds
from hypothesis import assume, given
from hypothesis import strategies as st

from hitsndiffs.engines import open_engine
from hitsndiffs.spectral import SOLVERS, solve
from hitsndiffs.spectral.solvers import FIEDLER_SOLVERS, fiedler

Axis = Callable[[np.ndarray], np.ndarray]

#: Steps back along the true order that are rounding, relative to the whole length of the axis.
ROUNDING = 1e-6


def hnd(solver: str) -> Axis:
    return lambda table: solve(open_engine(make_responses(table)), solver).vector


def abh(solver: str) -> Axis:
    return lambda table: (
        fiedler(open_engine(make_responses(table)), solver, tol=1e-10, max_iterations=10**6).vector
    )


AXES = {f"hnd {solver}": hnd(solver) for solver in SOLVERS}
AXES |= {f"abh {solver}": abh(solver) for solver in FIEDLER_SOLVERS if solver != "power"}


def of_shuffled(table, seed, axis):
    """The axis of the users in a random order, put back in the order of the table."""
    order = np.random.default_rng(seed).permutation(len(table))
    found = np.empty(len(table))
    found[order] = axis(table[order])
    return found


def is_monotonic(vector) -> bool:
    steps = np.diff(vector)
    back = min(np.clip(steps, 0, None).sum(), np.clip(-steps, 0, None).sum())
    return back <= ROUNDING * np.ptp(vector)


def reconstructs(table, vector) -> bool:
    """Whether sorting by a vector, and nothing else, gives the consecutive ones."""
    return naive.is_P_matrix(naive.C(table[np.argsort(vector, kind="stable")]))


def has_one_axis(table) -> bool:
    if not naive.connected(table) or len(np.unique(table, axis=0)) < 4:
        return False
    values, _ = naive.second_axis(naive.C(table))
    return values[1] > 1e-3 and values[1] - values[2] > 1e-3


def tells_patterns_apart(table, vector) -> bool:
    """Whether different answers have different places; with one place, any may come first."""
    _, pattern = np.unique(table, axis=0, return_inverse=True)
    order = np.argsort(vector)
    near = np.diff(vector[order]) <= ROUNDING * np.ptp(vector)
    return not (near & (np.diff(pattern.reshape(-1)[order]) != 0)).any()


@given(consistent_tables(), seeds, st.sampled_from(sorted(AXES)))
@examples(200, usual=100)
def test_lemma_7_the_axis_of_consistent_answers_is_monotonic(table, seed, name):
    assume(has_one_axis(table))
    assert is_monotonic(of_shuffled(table, seed, AXES[name]))


@given(consistent_tables(), seeds, st.sampled_from(sorted(AXES)))
@examples(200, usual=100)
def test_theorem_1_sorting_by_the_axis_gives_consecutive_ones(table, seed, name):
    assume(has_one_axis(table))
    shuffled = table[np.random.default_rng(seed).permutation(len(table))]
    axis = AXES[name](shuffled)
    assume(tells_patterns_apart(shuffled, axis))
    assert reconstructs(shuffled, axis)


@pytest.mark.parametrize("shape", [(2000, 200, 4), (300, 2000, 3)])
def test_theorem_2_hnd_power_reconstructs_the_order(shape):
    table = c1p_table(7, *shape)
    shuffled = table[np.random.default_rng(1).permutation(len(table))]
    found = solve(open_engine(make_responses(shuffled)), "power", tol=1e-9, max_iterations=10**5)
    assert tells_patterns_apart(shuffled, found.vector)
    assert reconstructs(shuffled, found.vector)


def test_noise_in_place_of_the_axis_fails_these_tests():
    """A test that random numbers pass would say nothing about the eigenvector."""
    rng = np.random.default_rng(0)
    passed = {"monotonic": 0, "reconstructs": 0}
    tables = [c1p_table(seed, 12, 10, 3) for seed in range(100)]
    for table in filter(has_one_axis, tables):
        noise = rng.standard_normal(len(table))
        passed["monotonic"] += is_monotonic(noise)
        passed["reconstructs"] += reconstructs(table, noise)
    assert passed == {"monotonic": 0, "reconstructs": 0}
