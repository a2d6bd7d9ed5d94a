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
from hitsndiffs.methods.core.known import known_key
from hitsndiffs.methods.core.model import Model
from hitsndiffs.methods.core.settings import DEFAULT
from hitsndiffs.methods.core.table import Table


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
        DEFAULT, slope=False, laplace=False, distractors=False, habits=False, class_share=False
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
