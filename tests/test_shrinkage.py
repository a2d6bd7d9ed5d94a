"""λ and μ against explicit leave-one-out arrays, one cell per answer."""

from __future__ import annotations

import numpy as np
import pytest
from factory import c1p_table, examples, make_responses, random_table, tables
from hypothesis import assume, given

from hitsndiffs import METHODS, simulate
from hitsndiffs.engines import open_engine
from hitsndiffs.spectral import leading_axes
from hitsndiffs.spectral.shrinkage import (
    HIGHEST,
    LOWEST,
    find_shrinkage,
    option_shrinkage,
    shrunk,
    user_shrinkage,
)

# -- the oracle: one row per answer ---------------------------------------------------------------


def answers_of(r):
    """User, option and item of every answer."""
    indptr, options = r.rows
    users = np.repeat(np.arange(r.n_users), np.diff(indptr))
    return users, options.astype(int), r.option_items[options]


def means_by(values, groups):
    """The mean of each value's group, at the value."""
    return (np.bincount(groups, values) / np.maximum(np.bincount(groups), 1))[groups]


def anova(values, groups, strata):
    """Variance within groups / variance between groups, one-way, inside strata, by moments."""
    values = values - means_by(values, strata)
    n, n_groups, n_strata = len(values), len(set(groups)), len(set(strata))
    own = means_by(values, groups)
    inside = ((values - own) ** 2).sum() / max(n - n_groups, 1)
    between_squares = (own**2).sum()
    sizes = np.bincount(groups)[groups]
    stratum_sizes = np.bincount(strata)[strata]
    coefficient = n - (sizes / stratum_sizes).sum()
    between = (between_squares - (n_groups - n_strata) * inside) / coefficient
    return HIGHEST if between <= 0 else float(np.clip(inside / between, LOWEST, HIGHEST))


def naive_lambda(r, w, mu):
    users, options, items = answers_of(r)
    score = np.empty(len(users))
    for a in range(len(users)):
        others = options[(users == users[a]) & (np.arange(len(users)) != a)]
        score[a] = w[others].sum() / (len(others) + mu)
    return anova(score, options, items)


def naive_mu(r, s, lam):
    users, options, items = answers_of(r)
    weight = np.zeros(len(users))
    for a in range(len(users)):
        others = users[(options == options[a]) & (np.arange(len(users)) != a)]
        if len(others):
            weight[a] = s[others].sum() / (len(others) + lam)
    return anova(weight - means_by(weight, items), users, np.zeros(len(users), dtype=int))


@given(tables(users=(4, 20), items=(3, 10)))
@examples(25)
def test_both_constants_are_one_way_variance_ratios(table):
    r = make_responses(table[(table >= 0).any(axis=1)])
    assume(r.n_users > 2 and r.n_options > r.n_items)
    users, options, items = answers_of(r)
    assume(len(users) > r.n_options and len(users) > r.n_users)
    # something to tell users and options apart by, beyond rounding
    assume((np.bincount(items)[items] > np.bincount(options)[options]).sum() > 2)
    sums = open_engine(r, "numpy")
    rng = np.random.default_rng(1)
    s, w = rng.normal(size=r.n_users), rng.normal(size=r.n_options)
    assert option_shrinkage(sums, w, 2.0) == pytest.approx(naive_lambda(r, w, 2.0), rel=1e-6)
    assert user_shrinkage(sums, s, 1.5) == pytest.approx(naive_mu(r, s, 1.5), rel=1e-6)


def test_constants_of_a_graded_test_are_those_of_the_oracle_at_the_settled_axis():
    r = make_responses(random_table(3, 40, 15, 4, missing=0.3))
    sums = open_engine(r, "numpy")
    found = find_shrinkage(sums)
    assert found.converged
    s = found.axes.scores[:, 0]
    w = shrunk(sums, s, found.lam)
    assert naive_lambda(r, w, found.mu) == pytest.approx(found.lam, rel=0.05)
    assert naive_mu(r, s, found.lam) == pytest.approx(found.mu, rel=0.05)


# -- what the operator does with them -------------------------------------------------------------


def test_shrunken_weights_are_centred_in_every_item_and_pulled_to_zero():
    r = make_responses(random_table(1, 30, 8, 4, missing=0.4))
    sums = open_engine(r, "numpy")
    s = np.random.default_rng(0).normal(size=r.n_users)
    users, options, items = answers_of(r)
    plain = np.bincount(options, s[users] - means_by(s[users], items)) / np.bincount(options)
    np.testing.assert_allclose(shrunk(sums, s, 0.0), plain, atol=1e-12)
    counts = r.choosers_per_option
    for lam in (1.0, 30.0):
        w = shrunk(sums, s, lam)
        np.testing.assert_allclose(sums.items.total(counts * w), 0, atol=1e-10)
        assert np.abs(w).sum() < np.abs(plain).sum()


@pytest.mark.parametrize("seed", range(3))
def test_without_shrinkage_complete_data_have_the_axis_of_plain_hnd(seed):
    r = make_responses(random_table(seed, 25, 12, 4))
    sums = open_engine(r, "numpy")
    axis = leading_axes(sums, 1, lam=0.0, mu=0.0, centred=True).scores[:, 0]
    plain = METHODS["hnd"]().fit(r).scores_
    assert abs(np.corrcoef(axis, plain)[0, 1]) == pytest.approx(1, abs=1e-9)


def test_centring_matters_when_answers_are_missing():
    r = make_responses(random_table(0, 40, 12, 4, missing=0.5))
    sums = open_engine(r, "numpy")
    axis = leading_axes(sums, 1, centred=True).scores[:, 0]
    plain = leading_axes(sums, 1).scores[:, 0]
    assert abs(np.corrcoef(axis, plain)[0, 1]) < 0.999


def test_consistent_answers_need_little_shrinkage_and_noise_needs_much():
    exact = make_responses(c1p_table(0, 100, 50, 3))
    noisy = simulate("grm", users=100, items=50, options=3, seed=0).responses
    luck = make_responses(random_table(0, 60, 20, 4, graded=False))
    lams = [find_shrinkage(open_engine(r, "numpy")).lam for r in (exact, noisy, luck)]
    assert lams[0] < 0.5 < 1 < lams[1] < lams[2]


def test_users_who_all_agree_have_no_axis():
    r = make_responses(np.zeros((5, 3), dtype=int))
    found = find_shrinkage(open_engine(r, "numpy"))
    assert len(found.axes.values) == 0
    assert not found.converged
