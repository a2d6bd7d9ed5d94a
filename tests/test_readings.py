"""Readings, questions, groups and what the caller knows."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam, two_camps, with_own_letters
from factory import make_responses, some

import hitsndiffs as hnd
from benchmarks.arena.measuring import true_shares
from benchmarks.arena.structures import structure
from hitsndiffs import InputError, accuracy, rank
from hitsndiffs.data.items import Items
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
            known = {question.item: reading.key[question.item]}
            settled = rank(r, answers=known)
            agrees = np.corrcoef(settled.scores, (first, second)[camp].correct)[0, 1]
            assert agrees > 0.8
            assert settled.confidence > ranking.confidence
    assert all(repr(str(question.item)) in ranking.verdict.help for question in asked)


def test_another_reading_can_be_ranked_by():
    r = make_responses(camps())
    first, second = rank(r), rank(r, reading=2)
    assert np.corrcoef(first.scores, second.scores)[0, 1] < -0.5
    assert second.confidence == pytest.approx(first.readings[1].probability)
    with pytest.raises(InputError, match="reading must be from 1 to"):
        rank(r, reading=9)


def test_a_method_without_readings_takes_none():
    with pytest.raises(InputError, match="no reading; methods that have it: auto, latent-key"):
        rank(make_responses(camps()), "hnd-robust", reading=2)


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


def entropy(keys, weights, item):
    """How little is known of one item's right answer if it is known which key holds."""
    each = [-(p := np.array(key[item])) @ np.log(np.maximum(p, 1e-300)) for key in keys]
    return np.array(weights) @ each


@pytest.mark.parametrize("seed", range(5))
def test_the_first_question_tells_most_and_is_least_known_among_those(seed):
    rng = np.random.default_rng(seed)
    items = Items(np.arange(9), np.tile(list("ABC"), 9), np.arange(0, 28, 3))
    keys = [rng.dirichlet(np.full(3, 0.4), 9) for _ in range(3)]
    weights = np.array([0.5, 0.3, 0.2])
    told = [naive_information(keys, weights, item) for item in range(9)]
    flat = [key.ravel() for key in keys]
    asked = questions(items, flat, weights, np.full(9, 1000), np.ones(9))
    enough = [item for item in range(9) if told[item] >= 0.8 * max(told)]
    assert asked[0].item == max(enough, key=lambda item: entropy(keys, weights, item))
    assert asked[0].gain == pytest.approx(told[asked[0].item], rel=1e-4)
    closed = np.ones(9)
    closed[asked[0].item] = 0
    assert questions(items, flat, weights, np.full(9, 9), closed)[0].item != asked[0].item
    assert questions(items, flat[:1], weights[:1], np.full(9, 9), np.ones(9)) == ()


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
    table, _ = exam(7, users=800, items=8)
    ranking = rank(make_responses(with_own_letters(table)), "latent-key")
    low, high = ranking.rank_intervals()
    assert ((low <= ranking.ranks) & (ranking.ranks <= high)).all()


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_no_reading_is_likelier_than_the_first(seed):
    """The first explains the answers best; what it lacks is left for readings not found."""
    r = hnd.simulate("2pl", users=40, items=20, seed=seed).responses
    chances = [reading.probability for reading in rank(r).readings]
    assert max(chances) == chances[0]
    assert sum(chances) <= 1 + 1e-9


@pytest.mark.parametrize(("seed", "well"), some([(1, 0.8), (6, 0.8), (7, 0.8)], 2))
def test_two_asked_answers_mend_a_shared_mistake_that_the_first_reading_takes_for_truth(seed, well):
    case = structure("misconception", seed)
    truth = true_shares(case)
    alone = rank(case.responses)
    assert accuracy(truth, alone.scores) < 0.3
    asked = {question.item: case.key[question.item] for question in alone.ask(2)}
    told = rank(case.responses, answers=asked)
    assert accuracy(truth, told.scores) > well
    assert all(str(told.answer_key()[item]) == answer for item, answer in asked.items())


def test_known_answers_that_were_foreseen_change_little_and_are_no_surprise():
    table, _ = exam(5, users=60, items=20)
    table = with_own_letters(table)
    key = with_own_letters(np.zeros((1, 20), dtype=int))[0]
    r = make_responses(table)
    alone = rank(r)
    asked = {question.item: int(key[question.item]) for question in alone.ask(2)}
    told = rank(r, answers=asked)
    assert accuracy(alone.scores, told.scores) > 0.98
    assert told.confidence > alone.confidence


@pytest.mark.parametrize("seed", [7])
def test_two_asked_answers_mend_repeated_runs_of_few_models(seed):
    """Many runs of each model say the same; the best solution is wrong, and known answers tell."""
    case = structure("runs", seed)
    truth = true_shares(case)
    alone = rank(case.responses)
    assert accuracy(truth, alone.scores) < 0.3
    asked = {question.item: case.key[question.item] for question in alone.ask(2)}
    told = rank(case.responses, answers=asked)
    assert accuracy(truth, told.scores) > 0.5


def test_right_answers_that_nobody_gave_speak_against_a_sure_reading():
    table, _ = exam(5, users=60, items=20)
    r = make_responses(with_own_letters(table))
    alone = rank(r)
    sure = alone.ask(2)
    foreseen = rank(r, answers={q.item: q.holds[0] for q in sure})
    unseen = rank(r, answers={q.item: "none of these" for q in sure})
    assert unseen.confidence < foreseen.confidence
