"""What all shares of right answers may be off by together: not in the ranks, but in the errors."""

from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from cases_of_ability import exam
from factory import make_responses
from hypothesis import assume, given
from hypothesis import strategies as st

import hitsndiffs as hnd
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.common_errors import (
    MORE_CHOOSERS,
    common_errors,
    key_by_ability,
    off_together,
    wrong_ones_differ,
)
from hitsndiffs.methods.latent_key.model import KeyProblem

pytestmark = pytest.mark.xdist_group("common errors")  # some rankings serve many tests

answer_sheets = st.integers(2, 6).flatmap(
    lambda items: st.lists(
        st.lists(st.integers(0, 2), min_size=items, max_size=items), min_size=3, max_size=9
    )
)


def naive_key_by_ability(responses, key):
    """User by user and option by option, up to three options an item; and the closest two means."""
    indptr, options = responses.rows
    sheets = [options[a:b].tolist() for a, b in pairwise(indptr)]
    shares = np.array([key[sheet].mean() for sheet in sheets])
    n = np.array([len(sheet) for sheet in sheets])
    spread = np.sqrt((n * (shares - shares.mean()) ** 2).sum() / n.sum())
    found = np.zeros(responses.n_options)
    closest = np.inf
    for first, last in pairwise(responses.item_starts):
        elsewhere = {
            o: [
                (key[sheet].sum() - key[o]) / max(len(sheet) - 1, 1)
                for sheet in sheets
                if o in sheet
            ]
            for o in range(first, last)
        }
        middle = np.mean([x for group in elsewhere.values() for x in group])
        mean = {
            o: (sum(g) + MORE_CHOOSERS * middle) / (len(g) + MORE_CHOOSERS)
            for o, g in elsewhere.items()
        }
        width = {o: 1 / (len(g) + MORE_CHOOSERS) for o, g in elsewhere.items()}
        closest = min([closest, *np.diff(np.sort(list(mean.values())))])
        for o in elsewhere:
            found[o] = 1.0
            for other in elsewhere:
                if other != o:
                    error = spread * np.sqrt(width[o] + width[other])
                    found[o] *= NormalDist().cdf((mean[o] - mean[other]) / error)
        found[first:last] /= found[first:last].sum()
    return found, closest


@given(answer_sheets, st.integers(0, 1000))
def test_the_key_by_ability_is_that_of_the_definition(table, seed):
    responses = make_responses(table)
    data = open_engine(responses)
    key = data.items.share(np.random.default_rng(seed).random(responses.n_options))
    assume(data.choices(key).std() > 1e-6)
    expected, closest = naive_key_by_ability(responses, key)
    assume(closest > 1e-9)  # of equally able choosers neither comes first
    np.testing.assert_allclose(key_by_ability(data, key), expected, atol=1e-9)


def test_without_any_difference_between_users_there_is_no_other_key():
    data = open_engine(make_responses([[0, 1], [1, 0]]))
    key = np.array([0.5, 0.5, 0.5, 0.5])
    assert key_by_ability(data, key).tolist() == key.tolist()


def test_a_known_answer_leaves_nothing_open():
    responses = hnd.simulate("bock", users=40, items=10, seed=3).responses
    data = open_engine(responses)
    key = data.items.share(np.random.default_rng(0).random(responses.n_options))
    everything = {
        str(item): str(responses.option_labels[responses.item_starts[i]])
        for i, item in enumerate(responses.items)
    }
    problem = KeyProblem(data, answers=everything)
    assert common_errors(problem, problem.settle(key)).max() == 0
    assert common_errors(KeyProblem(data), key).min() > 0


def known_key(responses, key):
    """The data, and 1 for the right options."""
    of = responses.items[responses.structure.of_option]
    both = zip(of, responses.option_labels, strict=True)
    return open_engine(responses), np.array([float(key[i] == label) for i, label in both])


def test_wrong_options_are_alike_in_a_test_and_differ_where_several_rise():
    plain, graded = [], []
    for seed in range(6):
        responses = make_responses(exam(seed, users=120, items=40)[0])
        plain.append(wrong_ones_differ(*known_key(responses, dict.fromkeys(range(40), 0))))
        sim = hnd.simulate("samejima", seed=seed)
        graded.append(wrong_ones_differ(*known_key(sim.responses, sim.key)))
    assert np.mean(plain) < 0.7
    assert min(graded) > 0.99


def test_with_one_wrong_option_nothing_says_that_wrong_ones_are_alike():
    data = open_engine(make_responses([[0, 1], [1, 1], [1, 0]]))
    assert wrong_ones_differ(data, np.array([1.0, 0.0, 0.0, 1.0])) == 1.0


@pytest.fixture(scope="module")
def bock():
    """Several options rise with ability: sets of answers, expected shares, rankings."""
    made = []
    for seed in range(4):
        sim = hnd.simulate("bock", users=60, items=40, seed=seed)
        items = [int(label.rpartition("-")[2]) - 1 for label in sim.responses.items]
        chance = sim.model.probabilities(sim.abilities)[:, items]
        right = sim.model.correct[items]
        expected = np.take_along_axis(chance, right[None, :, None], axis=2)[:, :, 0].mean(axis=1)
        made.append((expected, hnd.rank(sim.responses, resamples=0)))
    return made


def test_intervals_of_shares_cover_where_several_options_rise(bock):
    own = np.mean([np.abs(r.scores - true) <= 1.96 * r.own_errors for true, r in bock])
    whole = np.mean([np.abs(r.scores - true) <= 1.96 * r.standard_errors for true, r in bock])
    assert own < 0.8
    assert whole > 0.9
    for _, ranking in bock:
        assert (ranking.standard_errors <= 0.5).all()  # a share's interval says something still


def test_ranks_do_not_depend_on_what_is_common(bock):
    for _, ranking in bock:
        errors = ranking.own_errors
        without = replace(
            ranking, fit=replace(ranking.fit, standard_errors=errors, common_errors=None)
        )
        assert (ranking.standard_errors > errors).all()
        for mine, theirs in zip(ranking.rank_intervals(), without.rank_intervals(), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert ranking.reliability == without.reliability
        np.testing.assert_array_equal(ranking.top_probabilities(5), without.top_probabilities(5))


def test_it_is_said_where_it_is_large(bock):
    said = [any("off together" in note for note in ranking.notes) for _, ranking in bock]
    assert any(said)
    assert "up to 60 %" in off_together(np.array([0.1, 0.1]), np.array([0.3, 0.3]))[0]
    assert off_together(np.array([0.1, 0.1]), np.array([0.1, 0.1])) == []
    assert off_together(np.array([0.1, 0.1]), None) == []


def test_a_saved_ranking_keeps_both_errors(bock, tmp_path):
    _, ranking = bock[0]
    ranking.save(tmp_path / "kept.json")
    again = hnd.load(tmp_path / "kept.json")
    np.testing.assert_array_equal(again.own_errors, ranking.own_errors)
    np.testing.assert_array_equal(again.standard_errors, ranking.standard_errors)


def test_errors_of_abilities_have_nothing_in_common(bock):
    _, ranking = bock[0]
    by_ability = hnd.rank(ranking.responses, by="ability", resamples=0)
    np.testing.assert_array_equal(by_ability.own_errors, by_ability.standard_errors)


@pytest.mark.parametrize("method", ["auto", "hnd", "majority"])
def test_a_range_holds_the_rank_that_is_shown(method):
    few = {"resamples": 0} if method == "auto" else {}
    responses = hnd.simulate("grm", users=2000, items=12, seed=2).responses
    ranking = hnd.rank(responses, method, **few)
    low, high = ranking.rank_intervals()
    assert (low <= ranking.ranks).all()
    assert (ranking.ranks <= high).all()
