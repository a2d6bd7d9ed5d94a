"""HnD with both margins out: its formula, judges who lean, and toss-ups."""

from __future__ import annotations

import numpy as np
import pytest
from factory import make_responses

import hitsndiffs as hnd


def judges(ability, leaning, items=120, seed=0, labels=("no", "yes")):
    """Yes/no answers: logit P(yes) = leaning + ability where yes is right, − ability elsewhere."""
    rng = np.random.default_rng(seed)
    right = rng.choice([-1, 1], items)
    logits = leaning[:, None] + ability[:, None] * right
    yes = rng.random(logits.shape) < 1 / (1 + np.exp(-logits))
    return np.where(yes, labels[1], labels[0]), np.where(right > 0, labels[1], labels[0])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_it_is_its_formula(missing):
    """The residual table, made in full, and its best fit by rank one."""
    rng = np.random.default_rng(3)
    users, items, k, shrink = 25, 15, 3, 5.0
    key, skill = rng.integers(0, k, items), rng.uniform(0.2, 1, users)
    right = rng.random((users, items)) < skill[:, None]
    answers = np.where(right, key, rng.integers(0, k, (users, items)))
    answers[:k] = np.arange(k)[:, None]  # every item has all labels
    answers[rng.random(answers.shape) < missing] = -1
    answers[-k:] = np.arange(k)[:, None]
    chose = answers[:, :, None] == np.arange(k)
    asked = (answers >= 0)[:, :, None]
    base = chose.sum((0, 1)) / asked.sum()
    of_user = (chose.sum(1) + shrink * base) / (asked.sum(1) + shrink)
    of_item = (chose.sum(0) + base) / (asked.sum(0) + 1)
    rest = asked * (chose - of_user[:, None] - of_item[None] + base)
    c = of_item - base
    for _ in range(5_000):
        t = (rest * c).sum((1, 2)) / ((asked * c**2).sum((1, 2)) + 1e-3)
        t /= np.sqrt((t**2).mean())
        c = (rest * t[:, None, None]).sum(0) / ((asked[:, :, 0] * t[:, None] ** 2).sum(0) + 1)[
            :, None
        ]
    votes = chose.sum(0) / asked.sum(0)
    sign = np.sign((c * (votes - votes.mean(0))).sum())
    fitted = hnd.DoubleCentred(tol=1e-12, max_iterations=10_000).fit(make_responses(answers))
    np.testing.assert_allclose(fitted.abilities_, sign * t, atol=1e-8)
    np.testing.assert_allclose(fitted.option_weights_.reshape(items, k), sign * c, atol=1e-8)
    found = (chose & (np.arange(k) == (sign * c).argmax(1)[:, None])).sum((1, 2))
    np.testing.assert_allclose(fitted.scores_, found / asked.sum((1, 2)), atol=1e-12)


def test_leaning_is_told_apart_from_ability():
    rng = np.random.default_rng(1)
    ability, leaning = rng.uniform(0, 2, 60), rng.normal(scale=1.5, size=60)
    table, key = judges(ability, leaning)
    ranking = hnd.rank(table, method="double-centred")
    assert hnd.accuracy(ability, ranking.scores) > 0.8
    assert (
        hnd.accuracy(ability, ranking.scores)
        > hnd.accuracy(ability, hnd.rank(table, "hnd").scores) + 0.3
    )
    assert np.mean([ranking.answer_key()[item] == right for item, right in enumerate(key)]) > 0.95
    assert not any("toss-up" in note for note in ranking.notes)


def test_its_key_knows_how_sure_it_is():
    """With many users: where it is sure it is right, and elsewhere it is less often right."""
    sure, right = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table, key = judges(rng.uniform(0, 1.5, 100), rng.normal(size=100), items=30, seed=seed)
        given = hnd.rank(table, method="double-centred").answer_key(with_confidence=True)
        for item, answer in enumerate(key):
            label, probability = given[item]
            sure.append(probability)
            right.append(label == answer)
    sure, right = np.array(sure), np.array(right)
    assert right[sure > 0.9].mean() > 0.93
    assert 0.5 < right[sure < 0.8].mean() < 0.9


def test_as_many_misled_as_able_is_a_toss_up_and_mostly_said():
    wrong_unsaid, said = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        ability = rng.uniform(-1.5, 1.5, 40)
        table, _ = judges(ability, rng.normal(size=40), items=60, seed=seed + 100)
        ranking = hnd.rank(table, method="double-centred")
        open_end = any("toss-up" in note for note in ranking.notes)
        said += open_end
        wrong_unsaid += not open_end and hnd.accuracy(ability, ranking.scores) < 0
    assert wrong_unsaid <= 5
    assert said >= 25


def test_two_camps_are_a_toss_up():
    """Half of the users answer as the other half does not: nothing says who is right."""
    right = np.random.default_rng(2).choice(["no", "yes"], 40)
    wrong = np.where(right == "yes", "no", "yes")
    ranking = hnd.rank(np.array([right] * 8 + [wrong] * 8), method="double-centred")
    assert any("toss-up" in note for note in ranking.notes)
