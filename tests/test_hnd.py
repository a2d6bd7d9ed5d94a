"""HnD: theorems of the paper on the fitted scores, and the cases at the edge."""

from __future__ import annotations

import warnings
from itertools import product

import naive_spectral as naive
import numpy as np
import pytest
from factory import (
    c1p_table,
    consistent_tables,
    examples,
    make_responses,
    random_table,
    seeds,
    some,
    tables,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from hitsndiffs import ConvergenceWarning, rank
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.spectral import SOLVERS


def hnd(table, **params):
    return rank(make_responses(table), method="hnd", **params)


def separated(table):
    """One component, everybody answers, and the second axis stands clear of the third."""
    assume(naive.connected(table))
    values, _ = naive.second_axis(naive.C(table))
    assume(values[1] > 1e-3)
    assume(len(values) < 3 or values[1] - values[2] > 0.02 * values[1])
    return table


def by_the_axis(found):
    """Where the axis misses a perfect order, scores are steps along that order instead."""
    assume(not any("axis alone misses" in note for note in found.notes))


def same_up_to_sign(a, b, tol):
    return min(np.abs(a - b).max(), np.abs(a + b).max()) < tol


# -- what the scores are -------------------------------------------------------------------------


@given(tables(items=(2, 12)), st.sampled_from(SOLVERS))
@examples(100, usual=60)
def test_scores_are_the_second_eigenvector_with_mean_0_and_variance_1(table, solver):
    table = separated(table)
    found = hnd(table, solver=solver)
    by_the_axis(found)
    c = naive.C(table)
    values, x = naive.second_axis(c)
    answers = c.sum(axis=1)
    x = x - answers @ x / answers.sum()
    x = x / np.sqrt(answers @ x**2 / answers.sum())
    assert same_up_to_sign(found.scores, x, 1e-4)
    assert found.fit.eigenvalues[0] == pytest.approx(values[1], abs=1e-6)
    # options: the mean score of those who chose them
    np.testing.assert_allclose(found.fit.option_weights, naive.C_col(c).T @ found.scores, atol=1e-4)


@given(tables(items=(2, 12)))
@examples(40)
def test_standard_errors_are_the_spread_of_item_contributions(table):
    table = separated(table)
    found = hnd(table)
    by_the_axis(found)
    c, w = naive.C(table), found.fit.option_weights / found.fit.eigenvalues[0]
    for j, row in enumerate(c):
        contributions = w[row > 0]
        assert found.scores[j] == pytest.approx(contributions.mean(), abs=1e-6)
        if len(contributions) > 1:
            expected = contributions.std(ddof=1) / np.sqrt(len(contributions))
            assert found.fit.standard_errors[j] == pytest.approx(expected, abs=1e-6)
        else:
            assert np.isnan(found.fit.standard_errors[j])
    # where halves of the items disagree more than that, all errors are wider by one factor
    known = found.fit.standard_errors > 1e-6
    factors = found.standard_errors[known] / found.fit.standard_errors[known]
    assert factors.size == 0 or (factors.min() > 1 - 1e-9 and np.ptp(factors) < 1e-6 * factors[0])


# -- consistent answers (Theorem 2) --------------------------------------------------------------


@given(consistent_tables(), seeds, st.sampled_from(SOLVERS))
@examples(150, usual=80)
def test_consistent_answers_come_out_in_a_certified_order(table, seed, solver):
    shuffled = table[np.random.default_rng(seed).permutation(len(table))]
    found = hnd(shuffled, solver=solver)
    gap = found.fit.spectral_gap
    assume(found.n_components > 1 or gap is None or gap > 1e-3)
    assert found.consistent
    assert naive.is_P_matrix(naive.C(shuffled[found.order]))


@given(tables(users=(2, 6), items=(1, 5)))
@examples(80)
def test_the_certificate_is_what_the_definition_says(table):
    found = hnd(table)
    assert found.consistent == naive.is_P_matrix(naive.C(table[found.order]))
    if found.consistent:
        assert naive.is_pre_P_matrix(naive.C(table))


def test_a_tied_block_of_three_patterns_is_put_in_a_consistent_order():
    """The first four users are joined to the last two by answers that all four share.

    They have one score, but of their three patterns one belongs in the middle.
    """
    table = np.array(
        [
            [2, 0, 0, 1, 1, 0, 1, 0, 2, 0],
            [2, 1, 1, 1, 1, 0, 1, 1, 2, 2],
            [2, 0, 1, 1, 1, 0, 1, 1, 2, 1],
            [2, 0, 0, 1, 1, 0, 1, 0, 2, 0],
            [2, 3, 2, 1, 3, 0, 2, 3, 3, 3],
            [2, 3, 2, 1, 3, 0, 2, 3, 3, 3],
        ]
    )
    for shift in range(6):
        rolled = np.roll(table, shift, axis=0)
        for solver in SOLVERS:
            found = hnd(rolled, solver=solver)
            assert found.consistent, (shift, solver)
            assert naive.is_P_matrix(naive.C(rolled[found.order]))


@pytest.mark.parametrize("shape", [(1000, 50, 3), (700, 300, 2)])
def test_large_consistent_answers_are_certified(shape):
    table = c1p_table(1, *shape)
    order = np.random.default_rng(0).permutation(len(table))
    found = hnd(table[order])
    assert found.consistent
    assert found.n_components == 1
    place = np.empty(len(order))
    place[found.order] = np.arange(len(order))
    truth = order.astype(float)
    assert abs(np.corrcoef(place, truth)[0, 1]) > 0.99


# -- the edge ------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_users(solver):
    found = hnd([[0, 1, 0], [0, 1, 1]], solver=solver)
    assert sorted(found.ranks) == [1, 2]
    np.testing.assert_allclose(np.abs(found.scores), 1.0)
    assert found.fit.eigenvalues[0] == pytest.approx(1 / 3)
    assert found.orientation.how == "undecided"
    assert any("upside down" in note for note in found.notes)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("m", [2, 3, 30, 500])
def test_identical_users_share_rank_one(solver, m):
    found = hnd(np.tile([0, 2, 1], (m, 1)), solver=solver)
    assert (found.ranks == 1).all()
    assert (found.scores == 0).all()
    assert found.consistent
    assert found.converged
    assert found.fit.spectral_gap is None
    assert found.confidence == 0
    assert any("same answers" in note for note in found.notes)
    assert found.answer_key() == {0: 0, 1: 2, 2: 1}


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_item_parts_nobody_beyond_the_option(solver):
    """Each option is a component of its own: nobody can be compared across options."""
    found = hnd([[0], [1], [0], [1], [0]], solver=solver)
    assert found.components.tolist() == [0, 1, 0, 1, 0]
    assert found.ranks.tolist() == [1, 1, 1, 1, 1]
    assert found.consistent


@pytest.mark.parametrize("solver", SOLVERS)
def test_few_users_come_out_in_order(solver):
    """The option that most chose is at the upper end."""
    table = np.array(
        [[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 1, 1, 2, 1], [1, 2, 2, 3, 1]]
    )
    for m, expected in ((3, [1, 2, 3]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 4, 5])):
        found = hnd(table[:m], solver=solver)
        undecided = m == 3 and not found.orientation.decided
        assert found.ranks.tolist() in (expected, expected[::-1] if undecided else expected)
        assert found.consistent


@pytest.mark.parametrize("solver", SOLVERS)
def test_different_answers_that_tie_share_a_rank_with_every_solver(solver):
    """The first two users differ in an item that nobody else answered like either."""
    found = hnd([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 2]], solver=solver)
    assert found.ranks.tolist() == [1, 1, 3]
    assert found.scores[0] == found.scores[1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_users_without_answers_have_no_rank_and_are_named(solver):
    table = np.array([[0, 0, 0], [-1, -1, -1], [0, 0, 1], [0, 1, 1], [1, 1, 2], [-1, -1, -1]])
    r = make_responses(table, users=["ann", "bob", "cy", "di", "ed", "flo"])
    found = rank(r, method="hnd", solver=solver)
    silent = [1, 5]
    assert np.isnan(found.scores[silent]).all()
    assert np.isnan(found.ranks[silent]).all()
    assert np.isnan(found.standard_errors[silent]).all()
    assert found.components[silent].tolist() == [-1, -1]
    assert found.order[-2:].tolist() == silent
    assert any(
        "bob" in note and "flo" in note and "cannot be ranked" in note for note in found.notes
    )
    # and the others are ranked as if the silent were not there
    kept = [0, 2, 3, 4]
    alone = hnd(table[kept], solver=solver)
    np.testing.assert_allclose(found.scores[kept], alone.scores, atol=1e-6)
    np.testing.assert_array_equal(found.ranks[kept], alone.ranks)


def two_groups():
    """Two groups with no option in common, of 6 and 4 users, a lone user and a silent one."""
    big, small = c1p_table(3, 6, 8, 3), c1p_table(8, 4, 8, 3) + 10
    table = np.concatenate([small, big, np.full((1, 8), 30), np.full((1, 8), -1)])
    return table, np.arange(4, 10), np.arange(4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_components_are_ranked_each_by_itself(solver):
    table, big, small = two_groups()
    assert [len(g) for g in naive.components(table)] == [4, 6, 1]
    found = hnd(table, solver=solver)
    assert found.n_components == 3
    assert (found.components[big] == 0).all()
    assert (found.components[small] == 1).all()
    assert found.components[10:].tolist() == [2, -1]
    for group in (big, small):
        alone = hnd(table[group], solver=solver)
        np.testing.assert_allclose(found.scores[group], alone.scores, atol=1e-6)
        np.testing.assert_array_equal(found.ranks[group], alone.ranks)
        assert found.ranks[group].min() == 1
    assert found.ranks[10] == 1
    assert found.scores[10] == 0
    assert np.isnan(found.ranks[11])
    assert found.consistent
    said = [note for note in found.notes if "cannot be compared" in note]
    assert len(said) == 1
    assert "3 groups (sizes 6, 4, 1)" in said[0]
    # component after component, best first
    assert sorted(found.order[:6]) == big.tolist()
    assert sorted(found.order[6:10]) == small.tolist()
    assert found.order[10:].tolist() == [10, 11]


def test_notes_of_every_component_are_kept():
    """The order inside the second component (two users) is undecided; the first's is not."""
    big = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 1, 2], [1, 2, 3]])
    table = np.concatenate([big, [[10, 11, 12], [10, 11, 13]]])
    found = hnd(table)
    assert hnd(big).orientation.decided
    assert any(n.startswith("Component 1:") and "upside down" in n for n in found.notes)
    assert not any(n.startswith("Component 0") and "upside down" in n for n in found.notes)


def test_key_probabilities_of_an_item_shared_by_components_sum_to_one():
    table, _, _ = two_groups()
    found = hnd(table)
    sums = np.add.reduceat(found.fit.key_probabilities, found.responses.item_starts[:-1])
    np.testing.assert_allclose(sums, 1.0)
    # by the answers there: 6, 4 and 1 of 11
    of_lone = found.responses.option_labels == 30
    np.testing.assert_allclose(found.fit.key_probabilities[of_lone], 1 / 11)


def test_nobody_shares_an_option():
    found = hnd([[0, 0], [1, 1], [2, 2]])
    assert found.components.tolist() == [0, 1, 2]
    assert found.ranks.tolist() == [1, 1, 1]
    assert found.consistent
    assert any("No two users" in note for note in found.notes)
    assert set(found.answer_key()) == {0, 1}


def ring(m, items, width):
    """Users on a circle, each like its neighbours: two axes are equally strong."""
    return np.array([[((j + i) // width) % (m // width) for i in range(items)] for j in range(m)])


@pytest.mark.parametrize(
    ("m", "solver"), some([*product([60], SOLVERS), *product([420], SOLVERS)], len(SOLVERS) + 1)
)
def test_a_repeated_eigenvalue_is_said(m, solver):
    """In data that are solved densely, and in larger ones."""
    found = hnd(ring(m, m // 10, m // 10), solver=solver)
    assert any("not determined" in note for note in found.notes)
    assert found.fit.spectral_gap < 1e-6
    assert found.confidence == 0
    assert not found.consistent


def test_a_clear_axis_has_no_such_note():
    letters = np.array(list("ABC"))[random_table(0, 40, 20, 3)]  # (amounts would be ratings)
    found = rank(letters, method="hnd")
    assert not any("not determined" in note for note in found.notes)
    assert found.fit.spectral_gap > 0.1
    assert found.confidence > 0.7


@given(tables(), seeds, st.sampled_from(SOLVERS))
@examples(60)
def test_equal_answers_give_bit_equal_scores_and_share_a_rank(table, seed, solver):
    rng = np.random.default_rng(seed)
    twice = np.concatenate([table, table])[rng.permutation(2 * len(table))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = hnd(twice, solver=solver)
    pattern = np.unique(twice, axis=0, return_inverse=True)[1].ravel()  # (NumPy 2.0: a column)
    answered = (twice >= 0).any(axis=1)
    for number in np.unique(pattern[answered]):
        users = pattern == number
        assert len(set(found.scores[users].tolist())) == 1
        assert len(set(found.ranks[users].tolist())) == 1
        places = np.flatnonzero(users[found.order])
        assert np.ptp(places) == len(places) - 1, "equal answers do not stand together"
    # ranks: 1 + the number of better users of the same component
    for j in np.flatnonzero(answered):
        here = found.components == found.components[j]
        better = found.scores[here] > found.scores[j] + 1e-6
        assert found.ranks[j] >= 1 + better.sum()


@pytest.mark.parametrize(("solver", "rounds"), [("power", 1), ("deflation", 2)])
def test_not_converged_warns_with_numbers_and_keeps_the_iterate(solver, rounds):
    table = random_table(0, 30, 12, 3)
    said = rf"after {rounds} rounds.*last change was [0-9.e+-]+"
    with pytest.warns(ConvergenceWarning, match=said):
        found = hnd(table, solver=solver, max_iterations=1)
    assert not found.converged
    assert found.n_iterations == rounds
    assert np.isfinite(found.scores).all()
    assert len(set(found.ranks.tolist())) > 20
    assert found.fit.residual > 1e-8


@pytest.mark.parametrize("solver", ["lanczos", "arnoldi"])
def test_a_library_solver_that_stops_keeps_an_iterate_too(solver):
    table = random_table(0, 500, 150, 4, graded=False)
    with pytest.warns(ConvergenceWarning, match=r"last change was [0-9.e+-]+"):
        found = hnd(table, solver=solver, max_iterations=1, gap=False)
    assert not found.converged
    assert len(set(found.ranks.tolist())) > 150


def test_not_converged_in_a_smaller_component_warns_too():
    """The largest component (all users alike) settles at once, the other does not."""
    table = np.concatenate([np.zeros((20, 12), dtype=int), random_table(0, 15, 12, 3) + 5])
    with pytest.warns(ConvergenceWarning, match=r"after 1 rounds.*last change was"):
        found = hnd(table, solver="power", max_iterations=1)
    assert not found.converged


def test_more_rounds_settle_it():
    found = hnd(random_table(0, 30, 12, 3), solver="power", tol=1e-10)
    assert found.converged
    assert found.fit.residual <= 1e-10
    assert 1 < found.n_iterations < 20_000


def test_gap_can_be_left_out():
    table = random_table(0, 30, 12, 3)
    assert hnd(table, solver="power", gap=False).fit.spectral_gap is None
    assert hnd(table, solver="power").fit.spectral_gap == pytest.approx(hnd(table).fit.spectral_gap)


@pytest.mark.parametrize("seed", range(4))
def test_two_independent_abilities_are_an_order_that_is_not_determined(seed):
    """Half of the items ask for one ability, half for another, and every mixture occurs once."""
    one = c1p_table(0, 60, 20, 3)
    first, second = np.divmod(np.arange(60 * 60), 60)
    found = hnd(np.column_stack([one[first], one[second]]), seed=seed)
    assert found.fit.spectral_gap == pytest.approx(0, abs=1e-9)
    assert any("equally strong" in note for note in found.notes)
    assert found.confidence == 0


# -- what it costs -------------------------------------------------------------------------------


def test_a_ranking_takes_few_passes_over_the_data(monkeypatch):
    """All users can be compared, the axis is clear, nobody is tied: two sums a round, 10 more."""
    passes = []
    for name in ("choices", "choosers"):
        plain = getattr(NumpyEngine, name)

        def counted(self, vectors, *rest, plain=plain):
            passes.append(1 if np.ndim(vectors) == 1 else np.shape(vectors)[1])
            return plain(self, vectors, *rest)

        monkeypatch.setattr(NumpyEngine, name, counted)
    found = hnd(random_table(0, 4000, 40, 3))
    assert not found.consistent
    assert found.n_iterations <= 14
    assert sum(passes) <= 2 * found.n_iterations + 10
