"""Peers in the arena: each finds what was planted, and says why where it does not apply."""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.arena import __main__ as arena
from benchmarks.arena import measuring, peers, real
from benchmarks.arena.cases import Case
from benchmarks.arena.page import page
from benchmarks.arena.peers import PEERS, LeftOut
from hitsndiffs import Responses

pytestmark = [
    pytest.mark.xdist_group("crowd-kit"),  # it takes seconds to import
]

CROWD_KIT = [name for name in PEERS if name.startswith("crowd-kit")]
TRIPLETS = [name for name in PEERS if name not in CROWD_KIT]


def planted(labels=("no", "yes"), users=9, items=40, seed=0, answered=1.0) -> Case:
    """Workers who are right more and more often, and the truth."""
    rng = np.random.default_rng(seed)
    key = rng.integers(len(labels), size=items)
    right = rng.random((users, items)) < np.linspace(0.55, 0.98, users)[:, None]
    codes = np.where(right, key, (key + rng.integers(1, len(labels), (users, items))) % len(labels))
    answers = np.array(list(labels), dtype=object)[codes]
    answers[rng.random(answers.shape) >= answered] = None
    names = [f"item-{i}" for i in range(items)]
    responses = Responses.from_wide(
        answers.tolist(), users=[f"worker-{j}" for j in range(users)], items=names
    )
    return Case(responses, {name: labels[k] for name, k in zip(names, key, strict=True)})


@pytest.mark.parametrize("name", PEERS)
def test_a_planted_order_and_key_are_found(name):
    if name in CROWD_KIT:
        pytest.importorskip("crowdkit")
    # GLAD is slow
    case = planted(users=7, items=8, seed=2) if name == "crowd-kit GLAD" else planted()
    record = measuring.measure(name, case, 0)
    assert record["accuracy"] > 0.85
    if name in CROWD_KIT:
        assert record["key_share"] > 0.95
    else:
        assert "key_share" not in record


@pytest.mark.parametrize("name", [n for n in CROWD_KIT if n[10:] not in ("KOS", "GLAD")])
def test_three_labels_and_gaps_are_no_hindrance(name):
    pytest.importorskip("crowdkit")
    record = measuring.measure(name, planted("abc", answered=0.6), 0)
    assert record["accuracy"] > 0.7
    assert record["key_share"] > 0.85


def test_what_does_not_apply_is_said():
    pytest.importorskip("crowdkit")
    three = planted("abc", users=4, items=12)
    assert measuring.measure("crowd-kit KOS", three, 0) == {"error": "for 2 labels only"}
    own = Responses.from_wide([[f"{i}{c}" for i in range(9)] for c in "aabbc"])
    reason = "for items that share their labels"
    for name in CROWD_KIT:
        assert measuring.measure(name, Case(own, {}), 0) == {"error": reason}
    two = Case(planted(users=2).responses, {})
    assert measuring.measure("full triplets", two, 0) == {"error": "for three users at least"}


def test_a_peer_that_is_too_slow_or_breaks_is_left_out():
    r = planted(users=5, items=10).responses

    def broken(responses):
        raise ZeroDivisionError

    def why(**limits):
        with pytest.raises(LeftOut) as info:
            peers.run(peers.Peer(broken, **{"most_responses": 50} | limits), r)
        return str(info.value)

    assert why(most_responses=49) == "more than 49 responses"
    assert why(most_users=4) == "more than 4 users"
    assert why(most_pairs=9) == "more than 9 pairs of users with an item in common"
    assert why(most_pairs=10) == "stops with ZeroDivisionError"


def sheets(answered=1.0, users=6, seed=3):
    return planted("abcd", users=users, items=40, seed=seed, answered=answered).responses


def naive_agreement(r):
    indptr, options = r.rows
    answers = [
        {int(r.option_items[o]): int(o) for o in options[indptr[j] : indptr[j + 1]]}
        for j in range(r.n_users)
    ]
    shares = np.full((r.n_users, r.n_users), np.nan)
    for a, first in enumerate(answers):
        for b, second in enumerate(answers):
            both = first.keys() & second.keys()
            if both:
                shares[a, b] = sum(first[i] == second[i] for i in both) / len(both)
    return shares


@pytest.mark.parametrize("answered", [1.0, 0.5, 0.05])
def test_agreement_is_counted_on_common_items(answered):
    r = sheets(answered)
    assert np.allclose(peers.agreement(r), naive_agreement(r), equal_nan=True)


@pytest.mark.parametrize("answered", [1.0, 0.3, 0.05])
def test_full_triplets_are_those_of_a_visit_to_every_triplet(answered):
    agree = naive_agreement(sheets(answered))
    reputation = np.ones(6)
    for _ in range(300):
        won, of = np.zeros(6), np.zeros(6)
        for a, b, judge in permutations(range(6), 3):
            won[a] += reputation[judge] * peers.judged(agree, a, b, judge)
            of[a] += reputation[judge]
        reputation = won / of
    assert np.allclose(peers.full_triplets(agree), reputation, atol=1e-7)


def naive_greedy(agree, order):
    """The best two of those left, again and again; every triplet by its three pairs of votes."""
    ranking, left = [], list(order)
    while left:
        pool, gone = left.copy(), []
        while len(pool) > 2:
            three = pool[:3]
            votes = dict.fromkeys(three, 0.0)
            for a, b, judge in permutations(three, 3):
                votes[a] += peers.judged(agree, a, b, judge)
            near = {a: np.nansum([agree[a, b] for b in three if b != a]) for a in three}
            worst = sorted(three, key=lambda a: (votes[a], near[a]))[0]
            gone.append(worst)
            pool.remove(worst)
        judge = (ranking or gone[::-1])[0]
        if len(pool) == 2 and peers.judged(agree, *pool, judge) < 0.5:
            pool = pool[::-1]
        ranking, left = ranking + pool, gone
    return ranking


@pytest.mark.parametrize("seed", range(5))
def test_greedy_triplets_are_those_of_a_plain_tournament(seed):
    agree = naive_agreement(sheets(seed=seed))
    order = np.random.default_rng(seed).permutation(6)
    ranking = peers.greedy_triplets(agree, seed)
    assert ranking == naive_greedy(agree, order)
    assert sorted(ranking) == list(range(6))


def test_a_judge_who_shares_no_item_says_nothing():
    agree = np.array([[1, np.nan, 0.2], [np.nan, 1, 0.4], [0.2, 0.4, 1]])
    assert peers.judged(agree, 0, 1, 2) == 0
    assert peers.judged(agree, 1, 0, 2) == 1
    assert peers.judged(agree, 0, 2, 1) == 0.5


def test_peers_run_on_real_sets_only(monkeypatch):
    monkeypatch.setattr(real, "present", lambda: ["mcq/IT"])
    cells = arena.planned(arena.Runs(1, 1, 1, 1, 1))
    assert {(name, "real/mcq/IT", 0) for name in PEERS} <= set(cells)
    assert {data for name, data, _ in cells if name in PEERS} == {"real/mcq/IT"}


def test_a_peer_is_beside_the_default_on_the_sets_it_can_rank():
    default = {"accuracy": 0.5, "confidence": 0.5, "seconds": 1.0, "size": [3, 2, 6]}
    text = page(
        {
            ("auto", "real/mcq/IT", 0): default,
            ("auto", "real/mcq/Science", 0): default | {"accuracy": 0.9},
            ("crowd-kit KOS", "real/mcq/IT", 0): {"error": "for 2 labels only"},
            ("crowd-kit MACE", "real/mcq/IT", 0): {"accuracy": 0.75, "key_share": 0.5},
        }
    )
    assert "| crowd-kit MACE | 1 | 0.750 | 0.500 | 0.500 | – | – | 1.00 |" in text
    assert "| crowd-kit KOS | 0 | – | – | – | – | – | – |" in text
