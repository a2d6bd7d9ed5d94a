"""Two users side by side, against simulations whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from commands import QUIZ

import hitsndiffs as hnd


@pytest.mark.parametrize("method", ["latent-key", "majority", "hnd"])
def test_the_probability_that_one_is_above_the_other_is_calibrated(method: str) -> None:
    said, right = [], []
    for seed in range(4):
        sim = hnd.simulate("samejima", users=80, items=60, options=4, seed=seed)
        ranking = hnd.rank(sim.responses, method)
        if hnd.accuracy(sim.abilities, ranking.scores) < 0.3:
            continue  # upside down: that is the confidence's matter
        rng = np.random.default_rng(seed)
        for _ in range(80):
            a, b = rng.choice(80, 2, replace=False)
            said.append(ranking.versus(ranking.users[a], ranking.users[b]).probability)
            right.append(sim.abilities[a] > sim.abilities[b])
    probability, true = np.array(said), np.array(right)
    assert len(probability) >= 160
    assert np.mean((probability - true) ** 2) < 0.19, "0.25 is a coin"
    sure = (probability > 0.9) | (probability < 0.1)
    assert sure.sum() > 20
    assert np.mean(true[sure] == (probability[sure] > 0.5)) > 0.88


def test_two_users_differ_where_they_differ() -> None:
    ranking = hnd.rank(QUIZ)
    best, second, *_, last = ranking
    found = ranking.versus(best, last)
    assert found.probability > 0.95
    assert ranking.versus(last, best).probability == pytest.approx(1 - found.probability)
    assert ranking.versus(best, best).probability == 0.5
    assert 0.5 < ranking.versus(best, second).probability < found.probability
    key = ranking.answer_key()
    for item in found.items:
        assert item.a != item.b
        assert item.a_right is not None
        if item.a_right > 0.5:
            assert key[item.item] == item.a
    gains = [abs(item.a_right - item.b_right) for item in found.items]
    assert gains == sorted(gains, reverse=True)
    assert f"{best} is above {last}" in str(found)
    assert f"{best} is above {last}" in str(ranking.versus(last, best))
    with pytest.raises(hnd.InputError, match="There is no user 'nobody'"):
        ranking.versus(best, "nobody")


# -- items that belong together, and repeated runs ------------------------------------------------

CLUSTERS, SIZE, USERS = 25, 5, 10


def passages(seed: int, runs: int = 1) -> tuple[hnd.Responses, dict[str, str], np.ndarray]:
    """Answers to passages of five questions each; users differ in what they make of a passage.

    Returned with the key, and the share that each user would have right on any such passages.
    """
    rng = np.random.default_rng(seed)
    ability, hard = rng.normal(0, 0.8, USERS), rng.normal(0, 0.7, CLUSTERS * SIZE)
    own = np.repeat(1.2 * rng.normal(size=(USERS, CLUSTERS)), SIZE, axis=1)
    p = 1 / (1 + np.exp(hard - ability[:, None] - own))
    right = rng.random((runs, *p.shape)) < p
    answers = np.where(right, 0, rng.integers(1, 4, right.shape))
    items = [f"text-{c}-q{k}" for c in range(CLUSTERS) for k in range(SIZE)]
    users = [f"m{u}/{run}" for run in range(runs) for u in range(USERS)]
    r = hnd.Responses.from_wide(
        np.array(list("ABCD"))[answers].reshape(runs * USERS, -1), users=users, items=items
    )
    many = rng.normal(size=20_000)
    logits = ability[:, None] - rng.choice(hard, 20_000) + 1.2 * many
    return r, dict.fromkeys(items, "A"), (1 / (1 + np.exp(-logits))).mean(1)


def covered(clusters: str | None) -> float:
    """How often the true difference lies within 1.96 standard errors."""
    within = []
    for seed in range(8):
        r, key, true = passages(seed)
        ranking = hnd.rank(r, "true-answer", key=key)
        for a, b in np.ndindex(USERS, USERS):
            if a < b:
                found = ranking.versus(f"m{a}/0", f"m{b}/0", clusters=clusters)
                off = found.difference - (true[a] - true[b])
                within.append(abs(off) < 1.96 * found.standard_error)
    return float(np.mean(within))


def test_clusters_of_items_widen_the_error_to_what_it_is() -> None:
    assert covered(None) < 0.88, "as if every question were a witness of its own"
    assert covered("names") > 0.92


def test_clusters_are_told_by_names_or_by_a_mapping() -> None:
    r, key, _ = passages(0)
    ranking = hnd.rank(r, "true-answer", key=key)
    by_name = ranking.versus("m0/0", "m1/0", clusters="names")
    told = {item: item.rpartition("-")[0] for item in key}
    assert by_name == ranking.versus("m0/0", "m1/0", clusters=told)
    assert by_name.clusters == CLUSTERS
    assert "in 25 clusters" in str(by_name)
    alone = ranking.versus("m0/0", "m1/0")
    assert alone == ranking.versus("m0/0", "m1/0", clusters={i: i for i in key}).__class__(
        **{**vars(alone), "clusters": None}
    )
    with pytest.raises(hnd.InputError, match="name none of the items"):
        ranking.versus("m0/0", "m1/0", clusters={"other": "x"})
    with pytest.raises(hnd.InputError, match="expected a mapping, or 'names'"):
        ranking.versus("m0/0", "m1/0", clusters="subject")


def test_runs_of_one_model_are_compared_as_one() -> None:
    """Four runs say more than one run, and far less than four times as many items would."""
    one, all_runs, off = [], [], []
    for seed in range(6):
        r, key, true = passages(seed, runs=4)
        groups = {user: user.split("/")[0] for user in r.users}
        ranking = hnd.rank(r, "auto", answers=key, group=groups)
        for u in range(1, USERS):
            found = ranking.versus("m0", f"m{u}", clusters="names")
            assert found.shared == CLUSTERS * SIZE
            one.append(ranking.versus("m0/0", f"m{u}/0", clusters="names").standard_error)
            all_runs.append(found.standard_error)
            off.append((found.difference - true[0] + true[u]) / found.standard_error)
    assert 0.6 * np.mean(one) < np.mean(all_runs) < np.mean(one)
    assert np.mean(np.abs(off) < 1.96) > 0.9
    with pytest.raises(hnd.InputError, match="There is no user 'm77'"):
        ranking.versus("m0", "m77")


def test_pairs_are_what_two_users_side_by_side_say() -> None:
    ranking = hnd.rank(
        hnd.simulate("2pl", users=30, items=40, answer_probability=0.7, seed=3).responses
    )
    found = ranking.pairs(most=5)
    assert found.users.tolist() == list(ranking)[:5]
    rows = found.cells().records()
    assert len(rows) == 10
    for row in rows:
        pair = ranking.versus(row["user"], row["other"])
        assert row["probability"] == pytest.approx(pair.probability)
        assert row["difference"] == pytest.approx(pair.difference)
        assert (row["standard_error"], row["shared"]) == (
            pytest.approx(pair.standard_error), pair.shared,
        )  # fmt: skip
    sums = found.above + found.above.T
    np.testing.assert_allclose(sums[~np.eye(5, dtype=bool)], 1)
