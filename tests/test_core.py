"""The core model: its evidence, its readings, what is known, and doubt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases_of_ability import exam, with_own_letters
from factory import make_responses, some

from benchmarks.arena.measuring import true_shares
from benchmarks.arena.structures import structure
from hitsndiffs import Responses, accuracy, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.core import LatentKey
from hitsndiffs.methods.core.everybody import continued
from hitsndiffs.methods.core.known import known_key
from hitsndiffs.methods.core.model import Model
from hitsndiffs.methods.core.search import find
from hitsndiffs.methods.core.settings import DEFAULT, OFF
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.core.witnesses import double_centred, on_double_centred


def table_of(codes):
    return Table.of(open_engine(make_responses(codes), "numpy"))


def naive_key(table, found):
    """The key's posterior by loops, without Laplace terms, distractors or slopes."""
    logs = np.zeros(table.n_options)
    for option in range(table.n_options):
        item = table.of_option[option]
        chance = -np.log(table.options_each[item])
        others = table.options_each[item] - 1
        for user, given in zip(table.user, table.option, strict=True):
            if table.of_option[given] != item:
                continue
            logit = found.ability[user] + found.difficulty[option] - np.log(others)
            right = 1 / (1 + np.exp(-logit))
            chance += np.log(right) if given == option else np.log((1 - right) / others)
        chance -= 0.5 * found.difficulty[option] ** 2 / found.population.difficulty
        logs[option] = chance
    return table.softmax(logs)


def test_the_key_is_that_of_a_naive_sum_over_answers():
    codes, _ = exam(0, users=12, items=6)
    table = table_of(with_own_letters(codes))
    plain = replace(
        DEFAULT,
        slope_variance=OFF,
        laplace=False,
        distractors=False,
        habits=False,
        class_share=False,
    )
    model = Model(table, plain)
    found = model.fit(model.begin(table.hard(table.counts)), 300, tolerance=1e-12)
    np.testing.assert_allclose(found.key, naive_key(table, found), atol=1e-5)


@pytest.mark.parametrize("seed", some(range(3), 2))
def test_rounds_raise_the_evidence(seed):
    codes, _ = exam(seed, users=40, items=15)
    table = table_of(codes)
    model = Model(table, DEFAULT)
    first = model.fit(model.begin(table.hard(table.counts)), 3)
    last = model.fit(first, 40)
    assert last.evidence > first.evidence - 0.5
    assert last.converged


@pytest.mark.parametrize("kind", ["letters", "ceiling", "exam"])
def test_the_truth_is_found(kind):
    case = structure(kind, 0)
    assert accuracy(true_shares(case), rank(case.responses).scores) > 0.9


def test_a_key_that_errs_is_outvoted_and_sure_answers_are_not():
    codes, ability = exam(2, users=80, items=20)
    r = make_responses(with_own_letters(codes))
    right = with_own_letters(np.zeros((1, 20), dtype=int))[0].tolist()
    wrong = with_own_letters(np.ones((1, 20), dtype=int))[0].tolist()
    key = dict(enumerate([wrong[0], *right[1:]]))
    told = rank(r, key=key)
    found = told.answer_key()
    assert str(found[r.items[0]]) == str(right[0])
    assert 0 < told.fit.learnt.error_rate < 0.25
    assert accuracy(ability, told.scores) > 0.8
    sure = rank(r, answers={0: wrong[0]})
    assert str(sure.answer_key()[r.items[0]]) == str(wrong[0])


def test_one_item_never_says_more_than_its_bound():
    codes, _ = exam(1, users=30, items=8)
    table = table_of(codes)
    known = known_key(table.items, {0: str(table.items.option_labels[0])}, None)
    certain, opposite = np.zeros(table.n_options), np.ones(table.n_options)
    certain[0], opposite[0] = 1.0, 0.0
    leads = []
    for share in (0.05, 0.9):  # of the users who gave the known answer
        popular = np.full(table.n_options, share)
        right = known.foreseen(table.items, certain, popular)
        leads.append(right - known.foreseen(table.items, opposite, popular))
    assert 0 < leads[1] < leads[0] < np.log((0.6 + 0.4 / 2) / (0.4 / 20))


def test_noise_is_not_sure():
    codes = np.random.default_rng(3).integers(4, size=(60, 25))
    ranking = rank(make_responses(codes))
    assert ranking.confidence < 0.75
    assert ranking.fit.doubts[0].bound == min(doubt.bound for doubt in ranking.fit.doubts)


@pytest.mark.parametrize("seed", range(4))
def test_a_clique_that_makes_the_key_is_not_believed(seed):
    case = structure("cliques", seed)
    ranking = rank(case.responses)
    assert accuracy(true_shares(case), ranking.scores) > 0.3 or ranking.confidence < 0.6


def test_many_runs_of_a_weak_source_count_once_and_it_is_said():
    rng = np.random.default_rng(0)
    n, runs = 60, [1, 20, *[1] * 8]
    ability, hard = np.linspace(-1.2, 1.5, 10), rng.normal(size=n)
    ok = rng.random((10, n)) < 1 / (1 + np.exp(-1.5 * (ability[:, None] - hard)))
    own = np.where(ok, 0, rng.integers(1, 4, (10, n)))
    codes = np.repeat(own, runs, axis=0)
    again = np.where(rng.random(codes.shape) < 0.6, 0, rng.integers(1, 4, codes.shape))
    codes = np.where(rng.random(codes.shape) < 0.1, again, codes)
    names = [f"{'abcdefghij'[k]}-{run}" for k, many in enumerate(runs) for run in range(many)]
    answers = Responses.from_wide(codes, users=names)
    ranking, truth = rank(answers), (codes == 0).mean(axis=1)
    assert accuracy(truth, ranking.scores) > 0.5
    assert ranking.fit.alike.count == 20
    assert any("count as" in note for note in ranking.fit.notes)
    # groups that are given win: everybody is one of their own
    alone = rank(answers, group={name: name for name in names})
    assert alone.fit.alike is None
    assert not alone.fit.notes


def test_many_users_are_ranked_as_on_all_of_them():
    codes, _ = exam(4, users=1500, items=12)
    data = open_engine(make_responses(with_own_letters(codes)), "numpy")
    whole = LatentKey().fit(data).fit_
    sampled = type("Small", (LatentKey,), {"settings": replace(DEFAULT, fitted_pairs=20_000)})
    found = sampled().fit(data).fit_
    assert accuracy(whole.scores, found.scores) > 0.98
    assert np.corrcoef(whole.abilities, found.abilities)[0, 1] > 0.9


@pytest.mark.parametrize("slips", [0.0, 0.05])
@pytest.mark.parametrize("options", [2, 4])
def test_of_two_camps_one_user_more_decides_nothing(slips, options):
    rng = np.random.default_rng(0)
    key = rng.integers(options, size=60)
    codes = np.repeat([key, (key + 1) % options], [10, 9], axis=0)
    codes = np.where(rng.random(codes.shape) < slips, rng.integers(options, size=60), codes)
    assert rank(make_responses(codes)).confidence < 0.6


def test_a_true_answer_that_surprises_does_not_turn_an_order_round():
    turned = 0
    for seed in range(3):
        codes, key = exam(seed, users=60, items=20)
        r = make_responses(codes)
        plain = rank(r)
        found = plain.answer_key()
        wrong = [n for n, item in enumerate(r.items) if str(found[item]) != str(key[n])][:1]
        for item in wrong or [0]:
            told = rank(r, answers={r.items[item]: str(key[item])})
            turned += accuracy(plain.scores, told.scores) < 0.8
    assert turned == 0


def test_a_part_holds_its_own_items_and_their_values_go_back():
    codes, _ = exam(2, users=40, items=10)
    table = table_of(codes)
    items = np.arange(10) % 2 == 0
    part = table.part(np.ones(40, dtype=bool), items)
    assert part.n_items == 5
    assert part.labels[1] == table.labels[1]
    np.testing.assert_array_equal(part.counts, table.counts[items[table.of_option]])
    whole = part.in_whole(part.counts, -1.0)
    np.testing.assert_array_equal(whole[items[table.of_option]], part.counts)
    assert (whole[~items[table.of_option]] == -1).all()


def test_readings_of_a_part_are_compared_by_all_answers():
    codes, _ = exam(4, users=3000, items=10)
    table = table_of(codes)
    part = table.part(np.arange(3000) < 150, np.ones(10, dtype=bool))
    found = continued(find(part, DEFAULT), table)
    judged = [each.judged for each in found.readings if each.counting == found.best.counting]
    assert len(judged) > 1
    assert judged == sorted(judged, reverse=True)
    assert found.best.whole[0].table is table


def test_everybody_is_placed_on_the_double_centred_axis_by_its_weights_alone():
    codes = np.random.default_rng(0).integers(2, size=(40, 30))
    codes[np.random.default_rng(1).random(codes.shape) < 0.3] = -1
    data = open_engine(make_responses(codes), "numpy")
    axis = double_centred(Table.of(data), rounds=3_000, tol=1e-9)
    placed = on_double_centred(data, axis.weights)
    assert np.corrcoef(placed, axis.scores)[0, 1] > 1 - 1e-6
