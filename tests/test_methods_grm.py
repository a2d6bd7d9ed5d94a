"""The graded-response estimator: levels, abilities, and what it says without its package."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from factory import make_responses, random_answers

from hitsndiffs.engines import open_engine
from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.methods import GRM, TrueAnswer
from hitsndiffs.methods.grm import level_table, option_levels
from hitsndiffs.results.metrics import accuracy


def graded(users=150, items=25, options=3, seed=0):
    rng = np.random.default_rng(seed)
    ability = rng.standard_normal(users)
    slopes = rng.uniform(0.8, 2.5, items)
    thresholds = np.sort(rng.uniform(-1.5, 1.5, (items, options - 1)), axis=1)
    above = 1 / (1 + np.exp(-slopes[:, None] * (ability[:, None, None] - thresholds)))
    return (rng.random((users, items, 1)) < above).sum(axis=2), ability, slopes


def test_levels_follow_the_order_and_the_key():
    r = make_responses(np.array([[5, 1, 2], [6, 2, 3], [7, 3, -1]]), items=list("pqr"))
    data = open_engine(r)
    levels = option_levels(data, {"p": [6, 9, 5, 7]}, {"p": 6, "q": 2})
    assert levels.tolist() == [2, 0, 3, 0, 1, 0, -1, -1]
    table, used = level_table(data, levels)
    assert used.tolist() == [0, 1]
    assert table.tolist() == [[1, 0], [0, 1], [2, 0]]  # without gaps


def test_unanswered_and_unvarying_items():
    r = make_responses(np.array([[0, 1, 0], [0, -1, 1], [0, 2, 1]]))
    data = open_engine(r)
    table, used = level_table(data, option_levels(data, None, {0: 0, 1: 2, 2: 0}))
    assert used.tolist() == [1, 2]
    assert table.tolist() == [[0, 1], [-1, 0], [1, 0]]


def test_it_recovers_abilities_and_slopes():
    pytest.importorskip("mirt")
    answers, ability, slopes = graded()
    order = {i: [0, 1, 2] for i in range(25)}
    fitted = GRM(order=order).fit(make_responses(answers))
    assert fitted.converged_
    assert accuracy(ability, fitted.scores_) > 0.93
    assert accuracy(ability, fitted.scores_) > accuracy(ability, (answers == 2).mean(axis=1))
    assert np.corrcoef(fitted.fit_.learnt.slopes, slopes)[0, 1] > 0.6
    # errors are those of the standardised abilities
    misses = (fitted.scores_ - ability) / fitted.standard_errors_
    assert 0.7 < misses.std() < 1.4
    labels = np.array([o for i in range(25) for o in sorted(set(answers[:, i]))])
    assert fitted.key_probabilities_.tolist() == (labels == 2).astype(float).tolist()


def test_names_of_options_in_any_order_give_the_same_abilities():
    pytest.importorskip("mirt")
    answers, _, _ = graded(60, 12)
    shuffled = np.array([7, 3, 5])[answers]
    one = GRM(order={i: [0, 1, 2] for i in range(12)}).fit(make_responses(answers))
    two = GRM(order={i: [7, 3, 5] for i in range(12)}).fit(make_responses(shuffled))
    np.testing.assert_allclose(one.scores_, two.scores_, atol=1e-8)


def test_with_a_key_it_agrees_with_counting_right_answers():
    pytest.importorskip("mirt")
    answers = random_answers(60, 30, 4, 0.2, seed=1)
    r = make_responses(answers)
    key = dict.fromkeys(range(30), 0)
    estimated, counted = GRM(key=key).fit(r), TrueAnswer(key=key).fit(r)
    assert accuracy(counted.scores_, estimated.scores_) > 0.9
    np.testing.assert_array_equal(estimated.key_probabilities_, counted.key_probabilities_)


def test_what_it_needs_to_know():
    r = make_responses(random_answers(6, 4, 3, seed=1))
    with pytest.raises(InputError, match=r"give an order.*or a key"):
        GRM().fit(r)
    with pytest.raises(InputError, match="leaves out the option"):
        GRM(order={0: [0]}).fit(r)
    with pytest.raises(InputError, match="None of the items"):
        GRM(key={"zz": 0}).fit(r)


def test_without_the_package_there_is_a_clear_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "mirt", None)
    r = make_responses(random_answers(6, 4, 3, seed=1))
    with pytest.raises(MissingExtraError, match=r"pip install 'hitsndiffs\[irt\]'"):
        GRM(key={0: 0}).fit(r)
