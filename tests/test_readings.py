"""Readings, questions, groups and what the caller knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases_of_ability import exam, two_camps, with_own_letters
from factory import make_responses, some

import hitsndiffs as hnd
from benchmarks.arena.measuring import true_shares
from benchmarks.arena.structures import structure
from hitsndiffs import InputError, accuracy, rank
from hitsndiffs.data.items import Items
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.meanings import Meaning, clusters, doubted, meanings
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
    ranking = rank(r, resamples=2)
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
            settled = rank(r, answers=known, resamples=2)
            agrees = np.corrcoef(settled.scores, (first, second)[camp].correct)[0, 1]
            assert agrees > 0.8
            assert settled.confidence > ranking.confidence
    assert all(repr(str(question.item)) in ranking.verdict.help for question in asked)


def test_readings_that_agree_are_not_counted_as_ways_that_disagree():
    ranking = rank(structure("sparse true or false", 4).responses, resamples=0)
    _, like, unlike = ranking.readings
    assert 0.5 < like.agreement < 0.9
    assert unlike.agreement < 0.5
    said = "The answers can be read in 2 ways that disagree about who is good; reading 3 has"
    assert any(note.startswith(said) for note in ranking.notes)


def test_another_reading_can_be_ranked_by():
    r = make_responses(camps())
    first, second = rank(r, resamples=2), rank(r, reading=2, resamples=2)
    assert np.corrcoef(first.scores, second.scores)[0, 1] < -0.5
    assert second.confidence == pytest.approx(first.readings[1].probability)
    with pytest.raises(InputError, match="reading must be from 1 to"):
        rank(r, reading=9)


def test_a_method_without_readings_takes_none():
    with pytest.raises(InputError, match="no reading; methods that have it: auto, latent-key"):
        rank(make_responses(camps()), "hnd-robust", reading=2)


def test_readings_are_saved(tmp_path):
    ranking = rank(make_responses(camps()), resamples=2)
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
    alone, told = rank(r, resamples=2), rank(r, answers=key, resamples=2)
    assert told.confidence > max(alone.confidence, 0.95)
    assert accuracy(ability, told.scores) > 0.7
    few = rank(r, answers={item: key[item] for item in (0, 1)}, resamples=2)
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
    grouped = rank(r, group=group, resamples=2)
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
    ranking = rank(make_responses(with_own_letters(table)), "latent-key", resamples=0)
    low, high = ranking.rank_intervals()
    assert ((low <= ranking.ranks) & (ranking.ranks <= high)).all()


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_no_reading_is_likelier_than_the_first(seed):
    """The first explains the answers best; what it lacks is left for readings not found."""
    r = hnd.simulate("2pl", users=40, items=20, seed=seed).responses
    chances = [reading.probability for reading in rank(r, resamples=2).readings]
    assert max(chances) == chances[0]
    assert sum(chances) <= 1 + 1e-9


@pytest.mark.parametrize(("seed", "well"), some([(40, 0.3), (43, 0.8), (7, 0.8)], 2))
def test_two_asked_answers_mend_a_shared_mistake_that_no_reading_sees_through(seed, well):
    case = structure("misconception", seed)
    truth = true_shares(case)
    alone = rank(case.responses, resamples=0)
    assert all(accuracy(truth, reading.correct) < 0.3 for reading in alone.readings)
    asked = {question.item: case.key[question.item] for question in alone.ask(2)}
    told = rank(case.responses, resamples=0, answers=asked)
    assert accuracy(truth, told.scores) > well
    assert all(str(told.answer_key()[item]) == answer for item, answer in asked.items())
    assert any("contradict what the users' answers alone suggest" in note for note in told.notes)
    assert "along axes of the answers" in told.readings[0].says


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
    assert not any("contradict what" in note for note in told.notes)


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
    likely = doubted(found, key, found.best.fit.posterior.mean)
    np.testing.assert_allclose(data.items.total(likely), 1)
    assert (likely > 0.001).all()
    assert likely[key > 0.999].min() > 0.9
    several = (data.items.sizes > 2)[data.items.of_option]
    wrong = np.flatnonzero((key < 0.01) & (data.choosers_per_option > 5) & several)
    assert len(wrong) > 3
    for option in wrong:  # if its choosers were the able ones
        marks = np.zeros(data.n_options)
        marks[option] = 1.0
        assert doubted(found, key, data.choices(marks))[option] > likely[option]


def test_users_who_say_the_same_do_not_make_a_key_surer():
    """Equal sheets are one witness when it is asked what a solution foresees."""
    table = with_own_letters(exam(8, users=30, items=10)[0])
    once, often = (
        search(open_engine(make_responses(np.repeat(table, n, axis=0)), "numpy")) for n in (1, 4)
    )
    alone, together = (np.sort(meanings(each)[0].likely)[-10:] for each in (once, often))
    assert (together < alone + 0.02).all()


def test_the_ways_to_mean_the_answers_share_one_probability():
    found = search(open_engine(make_responses(camps()), "numpy"))
    all_ = meanings(found)
    assert 0.5 < sum(each.chance for each in all_) < 1
    assert max(each.chance for each in all_) <= 0.5
    along = [each for each in all_ if each.mode is None]
    assert len(along) == 2 * len(found.shrinkage.axes.values)
    for one, other in zip(along[::2], along[1::2], strict=True):
        np.testing.assert_array_equal(one.ability, -other.ability)
        assert 1 / 8 < one.chance / other.chance < 8


def test_ways_that_agree_are_one_cluster():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, -1.0, -1.0, 1.0])
    none = np.ones(2)
    made = [Meaning(p, a, none) for p, a in ((0.2, x), (0.3, x + 0.1 * y), (0.1, -x), (0.4, y))]
    assert clusters(made).tolist() == [1, 1, 2, 3]


@pytest.mark.parametrize("seed", some([1033, 18, 32], 1))
def test_two_asked_answers_mend_repeated_runs_of_few_models(seed):
    """Many runs of each model say the same; the best solution is wrong, and known answers tell."""
    case = structure("runs", seed)
    truth = true_shares(case)
    alone = rank(case.responses, resamples=0)
    assert accuracy(truth, alone.scores) < 0.3
    asked = {question.item: case.key[question.item] for question in alone.ask(2)}
    told = rank(case.responses, resamples=0, answers=asked)
    assert accuracy(truth, told.scores) > 0.5


def test_right_answers_that_nobody_gave_speak_against_a_sure_reading():
    table, _ = exam(5, users=60, items=20)
    r = make_responses(with_own_letters(table))
    alone = rank(r, resamples=0)
    sure = alone.ask(2)
    foreseen = rank(r, resamples=0, answers={q.item: q.holds[0] for q in sure})
    unseen = rank(r, resamples=0, answers={q.item: "none of these" for q in sure})
    assert unseen.confidence < 0.5 < alone.confidence < foreseen.confidence


def test_agreement_that_no_order_explains_stays_a_doubt_with_few_known_answers():
    table, _ = exam(5, users=40, items=12)
    table = with_own_letters(table)
    key = with_own_letters(np.zeros((1, 12), dtype=int))[0].tolist()
    data = open_engine(make_responses(table), "numpy")
    for known, sure in ((2, False), (12, True)):
        found = search(data, answers=dict(enumerate(key[:known])))
        assert found.confidence > 0.9
        found = replace(found)
        found.__dict__["signs"] = replace(found.signs, excess=1.0)
        assert (found.confidence > 0.9) is sure
        assert sure or found.confidence == 0.55
