"""Sub-scores and differential functioning, against simulations with a known truth."""

from __future__ import annotations

import numpy as np
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.parts import differences, logistic_fit, parts


def answers(probability: np.ndarray, rng: np.random.Generator) -> tuple[list[list[str]], dict]:
    table = np.where(rng.random(probability.shape) < probability, "A", "B").tolist()
    return table, dict.fromkeys(range(probability.shape[1]), "A")


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(("shared", "adds"), [(1.0, False), (0.3, True)])
def test_a_section_adds_where_it_measures_something_of_its_own(shared: float, adds: bool) -> None:
    rng = np.random.default_rng(5)
    common, own = rng.normal(size=800), rng.normal(size=(800, 2))
    trait = np.sqrt(shared) * common[:, None] + np.sqrt(1 - shared) * own
    difficulty = rng.normal(size=40) * 0.7
    p = sigmoid(1.5 * np.repeat(trait, 20, axis=1) - difficulty)
    table, key = answers(p, rng)
    found = parts(table, key, {i: "one" if i < 20 else "two" for i in range(40)})
    rows = found.table()
    assert rows["adds"].to_list() == [adds, adds]
    # what a score explains of the section's true score, by simulation with a second sample
    again = (rng.random(p.shape) < p).astype(float)[:, :20].sum(1)
    first = (np.array(table) == "A").astype(float)
    truth = np.corrcoef(first[:, :20].sum(1), again)[0, 1]
    assert rows["from_section"][0] == pytest.approx(truth, abs=0.05)
    true = p[:, :20].sum(1)
    by_whole = np.corrcoef(true, first.sum(1))[0, 1] ** 2
    assert rows["from_whole"][0] == pytest.approx(by_whole, abs=0.06)


def test_the_error_of_a_sub_score_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    p = sigmoid(rng.normal(size=(600, 1)) - rng.normal(size=30) * 0.5)
    table, key = answers(p, rng)
    scores = parts(table, key, {i: i // 15 for i in range(30)}).scores()
    first = scores.filter(scores["section"] == 0) if hasattr(scores, "filter") else scores
    off = (first["share"].to_numpy() - p[:, :15].mean(1)) / first["standard_error"].to_numpy()
    assert np.mean(np.abs(off) < 1.96) > 0.92


def test_an_unfair_item_is_found_and_fair_ones_are_not() -> None:
    rng = np.random.default_rng(2)
    group = np.arange(1000) % 2
    ability = rng.normal(size=1000) - 0.5 * group  # the groups differ in ability, too
    logits = ability[:, None] - rng.normal(size=25) * 0.8
    logits[:, 3] -= 1.2 * group  # harder for the second group
    logits[:, 7] += 1.5 * group * ability  # steeper there
    table, key = answers(sigmoid(logits), rng)
    found = differences(table, key, dict(enumerate(np.where(group, "newer", "elder"))))
    rows = found.cells().columns
    assert rows["size"][3] == "C"
    assert rows["delta"][3] == pytest.approx(-2.35 * 1.2, abs=0.8)
    fair = np.delete(np.arange(25), [3, 7])
    assert (rows["size"][fair] != "A").sum() <= 1
    assert rows["p_uniform"][3] < 1e-6
    assert rows["p_crossing"][7] < 1e-3
    assert (rows["p_crossing"][fair] < 0.01).sum() <= 1
    words = found.sentence()
    assert "harder for newer: '3'" in words


def test_mantel_haenszel_is_its_definition() -> None:
    rng = np.random.default_rng(4)
    group = rng.integers(0, 2, 120)
    table, key = answers(sigmoid(rng.normal(size=(120, 1)) + np.zeros(6)), rng)
    found = differences(table, key, dict(enumerate(group)))
    y = (np.array(table) == "A").astype(int)
    first, _ = found.groups
    for item in range(6):
        over = under = 0.0
        for mark in range(7):
            here = y.sum(1) == mark
            a = ((group == first) & (y[:, item] == 1) & here).sum()
            b = ((group == first) & (y[:, item] == 0) & here).sum()
            c = ((group != first) & (y[:, item] == 1) & here).sum()
            d = ((group != first) & (y[:, item] == 0) & here).sum()
            if a + b and c + d:
                over, under = over + a * d / (a + b + c + d), under + b * c / (a + b + c + d)
        assert found.cells().columns["delta"][item] == pytest.approx(-2.35 * np.log(over / under))


def test_logistic_regression_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(300), rng.normal(size=(300, 2))])
    y = (rng.random(300) < sigmoid(x @ [0.3, 1.0, -2.0])).astype(float)
    model = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10, max_iter=1000).fit(x, y)
    assert logistic_fit(x, y)[0] == pytest.approx(model.coef_[0], abs=1e-3)


def test_one_section_or_one_group_is_refused() -> None:
    sim = hnd.simulate("2pl", users=20, items=6, seed=0)
    with pytest.raises(hnd.InputError, match="at least two sections"):
        parts(sim.responses, sim.key, dict.fromkeys(sim.key, "all"))
    with pytest.raises(hnd.InputError, match="users of at least two groups"):
        differences(sim.responses, sim.key, {})
