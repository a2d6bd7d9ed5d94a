"""Latent key or confusion matrices: which predicts hidden answers better."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import biased_workers, exam
from factory import examples, make_responses, tables
from hypothesis import given

from hitsndiffs import rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods import predictive
from hitsndiffs.methods.labels import sharing
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.modes import consensus
from hitsndiffs.methods.predictive import Contest, confusion_against_key

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


def contest(table):
    r = make_responses(table)
    problem = KeyProblem(open_engine(r, "numpy"))
    start = normal_scores(problem.data, consensus(problem))
    fit = problem.fit(start, max_rounds=15)
    return confusion_against_key(problem.data, fit.posterior.mean)


def cells(r, users=None, options=None):
    """The set of (user, item label, option label) of all answers, or of some."""
    if users is None:
        indptr, options = r.rows
        users = np.repeat(np.arange(r.n_users), np.diff(indptr))
    return {
        (int(u), int(r.items[r.option_items[o]]), int(r.option_labels[o]))
        for u, o in zip(users, options, strict=True)
    }


@given(tables(users=(3, 20), items=(2, 12)))
@examples(25)
def test_hidden_and_seen_answers_make_the_whole(table):
    r = make_responses(table[(table >= 0).any(axis=1)])
    for turn in range(2):
        hidden_from, kept, users, hidden = predictive._hide(open_engine(r, "numpy"), turn)
        seen = hidden_from.responses
        away = cells(r, users, hidden)
        assert cells(seen) | away == cells(r)
        assert not cells(seen) & away
        assert (seen.answers_per_user > 0).all()
        np.testing.assert_array_equal(seen.option_labels, r.option_labels[kept])


def test_about_a_tenth_is_hidden_and_every_turn_hides_other_answers():
    table, _ = exam(0, users=100, items=40)
    r = make_responses(table)
    data = open_engine(r, "numpy")
    turns = [predictive._hide(data, turn) for turn in range(2)]
    for _, _, users, _ in turns:
        assert 0.07 < len(users) / r.n_responses < 0.13
    first, second = (cells(r, users, hidden) for _, _, users, hidden in turns)
    assert len(first & second) < 0.3 * len(first)


def test_tests_go_to_the_key_and_biased_workers_to_confusion_matrices():
    ordinary = contest(exam(0, users=60, items=30)[0])
    assert not ordinary.confusion_wins
    assert ordinary.z < -3
    biased = contest(biased_workers(0, users=40, items=200)[0])
    assert biased.confusion_wins
    assert biased.z > 2
    assert biased.hidden > 500


def test_the_error_treats_users_as_the_units():
    """Mean and cluster-robust error of known differences."""
    users = np.array([0, 0, 1, 1, 2, 2])
    difference = np.array([1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    found = predictive.outcome(users, difference)
    assert found.gain == pytest.approx(2.0)
    assert found.error == pytest.approx(np.sqrt(2**2 + 2**2) / 6)
    assert found.z == pytest.approx(found.gain / found.error)


def test_nothing_hidden_decides_nothing():
    found = contest(np.array([[0, -1], [1, -1], [-1, 0]]))
    assert found.hidden == 0
    assert not found.confusion_wins
    assert found.z == 0
    assert not Contest(1.0, 0.1, 0).confusion_wins


def test_ten_thousand_answers_are_hidden_in_three_turns():
    """One turn is too few to choose by: on crowd labels of this size it was wrong twice in ten."""
    table, _ = biased_workers(3, users=50, items=200)
    assert contest(table).hidden > 0.2 * table.size


def test_many_classes_are_still_shared_when_some_answers_are_hidden():
    """Without a tenth of the answers, most of 40 classes may occur in one item only."""
    rng = np.random.default_rng(25)
    shape = (12, 24)
    key, other = rng.integers(40, size=24), rng.integers(40, size=shape)
    table = np.where(rng.random(shape) < 0.6, key, other)
    r = make_responses(np.where(rng.random(shape) < 0.35, table, -1))
    assert not sharing(r.structure).apart
    assert sharing(predictive._hide(open_engine(r, "numpy"), 1)[0].items).apart
    ranking = rank(r)
    assert "hidden answers" in ranking.fit.choice.why
    assert np.isfinite(ranking.scores).all()
