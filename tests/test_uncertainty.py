"""Standard errors, rank intervals, chances of the top, reliability."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam
from factory import examples, make_responses, random_table, some
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import InputError, Responses, rank
from hitsndiffs.results.resampling import half_sample_errors
from hitsndiffs.results.uncertainty import (
    beliefs_of,
    rank_intervals,
    reliability,
    top_probabilities,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning"),
]


def measured(seed, users, error):
    """True values, their measurements, and the errors of these (one size, or a range)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=users)
    errors = np.full(users, error) if np.isscalar(error) else rng.uniform(*error, users)
    return truth, truth + errors * rng.normal(size=users), errors


def true_ranks(truth):
    return np.argsort(np.argsort(-truth)) + 1


@pytest.mark.parametrize("error", [0.2, 0.5, 1.0, (0.1, 1.0)])
@pytest.mark.parametrize("drawn", [True, False])
def test_intervals_hold_the_true_rank_as_often_as_they_say(error, drawn):
    how = {} if drawn else {"drawn_up_to": 0}
    for level, users in ((0.95, 1500), (0.8, 1500)):
        held = []
        for seed in some(range(2), 1):
            truth, scores, errors = measured(seed, users, error)
            low, high = rank_intervals(scores, errors, level, **how)
            ranks = true_ranks(truth)
            held.append(np.mean((low <= ranks) & (ranks <= high)))
            assert ((low >= 1) & (low <= high) & (high <= users)).all()
        assert level - 0.02 <= np.mean(held) <= level + 0.02


def test_small_groups_are_covered_too():
    held = []
    for seed in range(150):
        truth, scores, errors = measured(seed, 12, 0.4)
        low, high = rank_intervals(scores, errors)
        held.append(np.mean((low <= true_ranks(truth)) & (true_ranks(truth) <= high)))
    assert np.mean(held) > 0.93


@pytest.mark.parametrize("error", [0.3, (0.1, 0.9)])
def test_computed_and_drawn_results_agree(error):
    _, scores, errors = measured(0, 1000, error)
    drawn = rank_intervals(scores, errors), top_probabilities(scores, errors, 80)
    computed = (
        rank_intervals(scores, errors, drawn_up_to=0),
        top_probabilities(scores, errors, 80, drawn_up_to=0),
    )
    for a, b in zip(drawn[0], computed[0], strict=True):
        assert np.abs(a - b).max() < 90
        assert abs((a - b).mean()) < 6
    assert np.abs(drawn[1] - computed[1]).max() < 0.08
    assert computed[1].sum() == pytest.approx(80, rel=0.02)


@given(st.integers(2, 40), st.integers(1, 45), st.integers(0, 1000))
@examples(25)
def test_chances_of_the_top_sum_to_its_size(users, k, seed):
    _, scores, errors = measured(seed, users, 0.5)
    chance = top_probabilities(scores, errors, k)
    assert chance.sum() == pytest.approx(min(k, users))
    assert ((chance >= 0) & (chance <= 1)).all()


def test_chances_of_the_top_are_calibrated():
    chances, hits = [], []
    for seed in range(60):
        truth, scores, errors = measured(seed, 40, 0.5)
        chances.append(top_probabilities(scores, errors, 8))
        hits.append(true_ranks(truth) <= 8)
    chances, hits = np.concatenate(chances), np.concatenate(hits)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        here = (chances >= low) & (chances < high)
        assert hits[here].mean() == pytest.approx(chances[here].mean(), abs=0.08)


def test_reliability_is_the_share_of_variance_that_is_no_error():
    truth, scores, errors = measured(3, 4000, 0.6)
    assert reliability(scores, errors) == pytest.approx(1 - 0.36 / scores.var(ddof=1))
    repeated = truth + errors * np.random.default_rng(9).normal(size=4000)
    assert reliability(scores, errors) == pytest.approx(
        np.corrcoef(scores, repeated)[0, 1], abs=0.04
    )
    assert reliability(scores, np.full(4000, 5.0)) == 0.0
    assert reliability(np.ones(5), np.ones(5)) == 0.0
    assert np.isnan(reliability(np.array([1.0, np.nan]), np.ones(2)))
    with_gap = np.r_[scores, np.nan]
    assert reliability(with_gap, np.r_[errors, 1.0]) == pytest.approx(reliability(scores, errors))


def test_beliefs_are_pulled_to_the_middle_by_the_errors():
    truth, scores, errors = measured(4, 3000, (0.1, 1.5))
    b = beliefs_of(scores, errors)
    assert ((b.mean - truth) ** 2).mean() < ((scores - truth) ** 2).mean()
    assert (b.sd <= errors).all()
    z = (truth - b.mean) / b.sd
    assert z.std() == pytest.approx(1, abs=0.05)
    exact = beliefs_of(scores, np.full(3000, 1e-9))
    np.testing.assert_allclose(exact.mean, scores, atol=1e-6)


@pytest.mark.parametrize("items", [40, 41, 9])
def test_half_samples_give_the_error_of_a_mean(items):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, items))
    errors = half_sample_errors(
        items, lambda half: values[:, half].mean(axis=1), values.mean(axis=1), 150
    )
    expected = values.std(axis=1, ddof=1) / np.sqrt(items)
    assert (errors / expected).mean() == pytest.approx(1, abs=0.05)


def test_users_who_are_missing_from_most_halves_have_no_error():
    def score(half):
        return np.array([1.0, 1.0 if 0 in half else np.nan, np.nan])

    errors = half_sample_errors(10, score, np.array([0.5, 1.0, 1.0]), 30)
    np.testing.assert_allclose(errors[:2], [0.5, 0.0])
    assert np.isnan(errors[2])
    one_item = half_sample_errors(1, lambda _: np.zeros(3), np.zeros(3), 5)
    assert np.isnan(one_item).all(), "it has no half"


# -- through rank() -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "halves"), [("majority", 20), ("hnd", 20), ("latent-key", 3)])
def test_resampled_errors_are_of_the_size_of_the_methods_own(name, halves):
    table, _ = exam(0, users=40, items=30)
    r = make_responses(table)
    own = rank(r, name, seed=1)
    ranking = own.bootstrapped(halves)
    np.testing.assert_array_equal(ranking.scores, own.scores)
    assert ranking.resampled_errors is not None
    ratio = np.median(ranking.standard_errors) / np.median(own.standard_errors)
    assert 0.5 < ratio < 2
    low, high = ranking.rank_intervals()
    assert (low <= high).all()
    again = rank(r, name, bootstrap=halves, seed=1)
    np.testing.assert_array_equal(again.standard_errors, ranking.standard_errors)


def test_what_the_caller_knows_survives_the_halves():
    table, _ = exam(1, users=25, items=12, answered=0.25)
    r = make_responses(table)
    answers_once = int(np.argmin((table >= 0).sum(axis=1)))
    ranking = rank(r, "latent-key", bootstrap=3, answers={0: 0}, strong_user=answers_once)
    assert np.isfinite(ranking.standard_errors).sum() > 15


def test_a_chosen_method_is_used_again():
    table, _ = exam(2, users=30, items=12)
    r = make_responses(table)
    both = [rank(r, by=by, bootstrap=3) for by in ("correct", "ability")]
    assert (both[0].standard_errors > 0).all()
    assert not np.allclose(both[0].standard_errors, both[1].standard_errors)


def test_components_have_intervals_of_their_own():
    table = np.full((20, 20), -1)
    table[:12, :10], table[12:, 10:] = random_table(0, 12, 10, 3), random_table(1, 8, 10, 3)
    ranking = rank(make_responses(table), "majority")
    low, high = ranking.rank_intervals()
    assert high[:12].max() <= 12
    assert high[12:].max() <= 8
    assert ranking.top_probabilities(3)[:12].sum() == pytest.approx(3)
    assert ranking.top_probabilities(3)[12:].sum() == pytest.approx(3)
    assert (low >= 1).all()


def test_users_without_an_error_have_no_interval():
    table = random_table(0, 20, 6, 3)
    table[4, 1:] = -1  # one answer: no spread
    ranking = rank(make_responses(table), "majority")
    low, high = ranking.rank_intervals()
    assert np.isnan(low[4])
    assert np.isnan(high[4])
    assert np.isnan(ranking.top_probabilities(2)[4])
    assert np.isfinite(np.delete(low, 4)).all()


def test_levels_that_are_none_are_refused():
    ranking = rank(make_responses(exam(2, users=10, items=5)[0]), "majority")
    for level in (0, 1, 95, -0.5):
        with pytest.raises(InputError, match=r"level must lie between 0 and 1.*got"):
            ranking.rank_intervals(level)


def test_intervals_of_a_test_hold_the_rank_on_other_items():
    """Errors of the expected share correct are those of other items of the kind."""
    held = []
    for seed in range(4):
        table, ability = exam(seed, users=100, items=30)
        ranking = rank(make_responses(table), "latent-key")
        low, high = ranking.rank_intervals()
        ranks = true_ranks(ability)
        held.append(np.mean((low <= ranks) & (ranks <= high)))
    assert 0.9 < np.mean(held) < 0.99


@pytest.mark.parametrize(
    "method", ["hnd", "hnd-robust", "latent-key", "dawid-skene", "double-centred", "glad", "mace"]
)
def test_noise_is_not_reliable_and_its_ranges_overlap(method):
    table = np.random.default_rng(3).integers(0, 4, (60, 40))
    ranking = rank(Responses.from_wide(table), method)
    assert ranking.reliability < 0.4
    best, worst = ranking.rank_intervals()
    assert (best[:, None] > worst[None, :]).mean() < 0.03
