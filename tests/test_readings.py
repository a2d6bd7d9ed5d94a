"""Readings, questions, groups and what the caller knows."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam, two_camps, with_own_letters
from factory import make_responses

import hitsndiffs as hnd
from benchmarks.arena.measuring import true_shares
from benchmarks.arena.structures import structure
from hitsndiffs import InputError, accuracy, rank
from hitsndiffs.data.items import Items
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.foresight import foreseen
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.search import search
from hitsndiffs.methods.readings import questions

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


def camps(seed=1):
    """Two halves with a key of their own each, under letters of their own in every item."""
    half = two_camps(seed)[::2]
    return with_own_letters(np.vstack([half, np.array([1, 0, 2, 3])[half]]))


def test_two_camps_are_two_readings_and_a_question_tells_them_apart():
    table = camps()
    r = make_responses(table)
    ranking = rank(r)
    assert ranking.confidence <= 0.6
    first, second = ranking.readings[:2]
    assert first.probability == ranking.confidence
    assert second.agreement < -0.5
    assert second.probability > 0.1
    assert sum(reading.probability for reading in ranking.readings) <= 1 + 1e-9
    item, theirs, mine = second.apart[0]
    assert second.key[item] == theirs != mine == first.key[item]
    asked = ranking.ask(2)
    assert len(asked) == 2
    assert asked[0].gain >= asked[1].gain > 0
    for question in asked[:1]:
        for reading, camp in ((first, 0), (second, 1)):
            settled = rank(r, answers={question.item: reading.key[question.item]})
            agrees = np.corrcoef(settled.scores, (first, second)[camp].correct)[0, 1]
            assert agrees > 0.8
            assert settled.confidence > ranking.confidence
    assert any("would settle most" in note for note in ranking.notes)


@pytest.mark.no_cover
def test_another_reading_can_be_ranked_by():
    r = make_responses(camps())
    first, second = rank(r), rank(r, reading=2)
    assert np.corrcoef(first.scores, second.scores)[0, 1] < -0.5
    assert second.confidence == pytest.approx(first.readings[1].probability)
    with pytest.raises(InputError, match="reading must be from 1 to"):
        rank(r, reading=9)


def test_readings_are_saved(tmp_path):
    ranking = rank(make_responses(camps()))
    ranking.save(tmp_path / "kept.json")
    again = hnd.load(tmp_path / "kept.json")
    assert again.ask() == ranking.ask()
    assert [str(told) for told in again.readings] == [str(told) for told in ranking.readings]


def naive_information(keys, weights, item):
    """Mutual information between the right answer of one item and the reading."""
    joint = np.array([w * np.array(key[item]) for key, w in zip(keys, weights, strict=True)])
    both = joint.sum(axis=0, keepdims=True) * joint.sum(axis=1, keepdims=True)
    seen = joint > 0
    return (joint[seen] * np.log(joint[seen] / both[seen])).sum()


def test_the_first_question_has_the_largest_mutual_information():
    rng = np.random.default_rng(0)
    items = Items(np.arange(6), np.tile(list("ABC"), 6), np.arange(0, 19, 3))
    keys = [rng.dirichlet(np.full(3, 0.4), 6) for _ in range(3)]
    weights = np.array([0.5, 0.3, 0.2])
    told = [naive_information(keys, weights, item) for item in range(6)]
    flat = [key.ravel() for key in keys]
    asked = questions(items, flat, weights, np.full(6, 1000), np.ones(6))
    assert asked[0].item == int(np.argmax(told))
    assert asked[0].gain == pytest.approx(max(told), rel=1e-6)
    closed = np.ones(6)
    closed[asked[0].item] = 0
    assert questions(items, flat, weights, np.full(6, 9), closed)[0].item != asked[0].item
    assert questions(items, flat[:1], weights[:1], np.full(6, 9), np.ones(6)) == ()


def test_a_full_key_settles_it():
    table, ability = exam(5, users=30, items=12)
    table = with_own_letters(table)
    key = dict(enumerate(with_own_letters(np.zeros((1, 12), dtype=int))[0].tolist()))
    r = make_responses(table)
    alone, told = rank(r), rank(r, answers=key)
    assert told.confidence > max(alone.confidence, 0.95)
    assert accuracy(ability, told.scores) > 0.7
    few = rank(r, answers={item: key[item] for item in (0, 1)})
    assert few.confidence >= alone.confidence


def test_a_group_is_one_witness():
    table, _ = exam(6, users=40, items=40)
    table = with_own_letters(table)
    right = with_own_letters(np.zeros((1, 40), dtype=int))[0]
    runs = np.repeat(np.where(table[:1] == right, (right + 1) % 4, table[:1]), 60, axis=0)
    noise = np.random.default_rng(0)
    runs = np.where(noise.random(runs.shape) < 0.35, noise.integers(4, size=runs.shape), runs)
    everything = np.vstack([table, runs])
    truth = (everything == right).mean(axis=1)
    r = make_responses(everything)
    group = dict.fromkeys(r.users[40:].tolist(), "one model")
    grouped = rank(r, group=group)
    assert accuracy(truth, grouped.scores) > 0.9
    assert np.isfinite(grouped.scores).all()
    with pytest.raises(InputError, match="name none of the users"):
        rank(r, group={"nobody": "x"})


@pytest.mark.parametrize(
    ("table", "word"),
    [
        (np.zeros((6, 4), dtype=int), "same answers"),
        (np.arange(40).reshape(8, 5), "No two users gave the same answer"),
    ],
)
def test_answers_that_tell_nothing_are_called_that(table, word):
    ranking = rank(make_responses(table))
    assert ranking.confidence == 0
    assert not ranking.consistent
    assert (ranking.ranks == 1).all()
    assert any(word in note for note in ranking.notes)


def test_a_shown_range_holds_the_shown_rank():
    table, _ = exam(7, users=4000, items=8)
    ranking = rank(make_responses(with_own_letters(table)), "latent-key", resamples=0)
    low, high = ranking.rank_intervals()
    assert ((low <= ranking.ranks) & (ranking.ranks <= high)).all()


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(4))
def test_no_reading_is_likelier_than_the_first(seed):
    """The first explains the answers best; what it lacks is left for readings not found."""
    r = hnd.simulate("2pl", users=40, items=20, seed=seed).responses
    chances = [reading.probability for reading in rank(r).readings]
    assert max(chances) == chances[0]
    assert sum(chances) <= 1 + 1e-9


@pytest.mark.parametrize("seed", [7, 40, 43])
def test_two_asked_answers_mend_a_shared_mistake_that_no_reading_sees_through(seed):
    case = structure("misconception", seed)
    truth = true_shares(case)
    alone = rank(case.responses, resamples=0)
    assert all(accuracy(truth, reading.correct) < 0.3 for reading in alone.readings)
    asked = {question.item: case.key[question.item] for question in alone.ask(2)}
    told = rank(case.responses, resamples=0, answers=asked)
    assert accuracy(truth, told.scores) > 0.8
    assert all(str(told.answer_key()[item]) == answer for item, answer in asked.items())
    assert any("go against what the answers alone say" in note for note in told.notes)
    assert "turned to those who gave" in told.readings[0].says


def test_known_answers_that_were_foreseen_change_little_and_are_no_surprise():
    table, _ = exam(5, users=60, items=20)
    table = with_own_letters(table)
    key = with_own_letters(np.zeros((1, 20), dtype=int))[0]
    r = make_responses(table)
    alone = rank(r, resamples=0)
    asked = {question.item: int(key[question.item]) for question in alone.ask(2)}
    told = rank(r, resamples=0, answers=asked)
    assert accuracy(alone.scores, told.scores) > 0.98
    assert told.confidence > alone.confidence
    assert not any("go against" in note for note in told.notes)


def test_a_fit_keeps_to_a_key_that_is_held():
    table, _ = exam(3, users=40, items=10)
    data = open_engine(make_responses(with_own_letters(table)), "numpy")
    problem = KeyProblem(data, answers={0: int(with_own_letters(table)[0, 0])})
    wrong = data.items.share(np.random.default_rng(0).random(data.n_options))
    held = problem.holding(wrong)
    found = held.fit(normal_scores(data, data.choices(wrong)), max_rounds=20)
    of_known = problem.known >= 0
    np.testing.assert_array_equal(found.key[~of_known], wrong[~of_known])
    np.testing.assert_array_equal(found.key[of_known], problem.known[of_known])
    free = problem.fit(found, max_rounds=20)
    assert abs(free.key - wrong).max() > 0.5
    np.testing.assert_array_equal(held.part(data, data.everybody, np.arange(5)).held, held.held[:5])


def test_what_is_foreseen_allows_for_errors_of_the_key():
    """Where the key errs, the right option is one whose choosers are able."""
    table, _ = exam(8, users=60, items=12)
    data = open_engine(make_responses(with_own_letters(table)), "numpy")
    found = search(data)
    key = found.best.fit.key
    likely = foreseen(found, key, found.best.fit.posterior.mean)
    np.testing.assert_allclose(data.items.total(likely), 1)
    assert (likely > 0.02).all()
    assert likely[key > 0.99].min() > 0.7
    several = (data.items.sizes > 2)[data.items.of_option]
    wrong = np.flatnonzero((key < 0.01) & (data.choosers_per_option > 5) & several)
    assert len(wrong) > 3
    for option in wrong:  # if its choosers were the able ones
        marks = np.zeros(data.n_options)
        marks[option] = 1.0
        able = foreseen(found, key, data.choices(marks))
        assert able[option] > likely[option]
        assert able[option] > 0.06
