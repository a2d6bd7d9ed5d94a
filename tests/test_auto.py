"""The default method: what it chooses, what it says, and when it doubts."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import biased_workers, exam, two_camps, with_own_letters
from factory import c1p_table, make_responses

from hitsndiffs import Responses, accuracy, rank

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")


def test_consistent_answers_are_ranked_exactly():
    table = c1p_table(1, 40, 60, 4)
    shuffled = np.random.default_rng(0).permutation(40)
    ranking = rank(make_responses(table[shuffled]), "auto")
    assert ranking.fit.choice.method == "hnd"
    assert ranking.consistent
    assert abs(accuracy(shuffled, ranking.scores)) > 0.99
    assert ranking.notes[0].startswith("Method hnd: one order explains every answer")


def test_it_does_not_speak_of_one_order_where_there_are_several():
    several = rank(make_responses([[0, 0], [0, 1], [0, 2]]))
    assert several.fit.perfect.n_orders == 6
    assert several.fit.choice.why == "an order (there are others) explains every answer"


def test_a_test_gets_a_latent_key():
    table, ability = exam(0)
    ranking = rank(make_responses(with_own_letters(table)))
    assert ranking.method == "auto"
    assert ranking.fit.choice.method == "latent-key"
    assert ranking.notes[0].startswith("Method latent-key: each item has its own right answer")
    assert f"{100 * ranking.confidence:.0f} %" in ranking.notes[0]
    assert ranking.by == "correct"
    assert ranking.confidence > 0.8
    assert accuracy(ability, ranking.scores) > 0.85
    assert {"correct", "ability", "rank_low", "rank_high"} <= set(ranking.cells().columns)


def test_items_with_labels_of_their_own_are_no_case_for_confusion_matrices():
    table, _ = exam(0, users=40, items=10)
    own = table + 10 * np.arange(10)
    ranking = rank(make_responses(own))
    assert ranking.fit.choice.method == "latent-key"
    assert "each item has its own right answer" in ranking.notes[0]


def test_two_shared_labels_have_leanings():
    table, truth = biased_workers(0)
    ranking = rank(make_responses(table))
    assert ranking.fit.choice.method == "latent-key"
    assert "lean" in ranking.notes[0]
    assert set(dict(ranking.fit.learnt.label_shares)) == {"0", "1"}
    assert accuracy(truth, ranking.scores) > 0.9
    np.testing.assert_array_equal(ranking.scores, ranking.correct)


def three_labels(seed, users=40, items=150):
    """Workers with confusions of their own over three labels, each item answered by some."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=items)
    rows = np.stack([rng.dirichlet(np.full(3, 0.6), size=3) for _ in range(users)])
    skill = rng.uniform(0.1, 1.0, users)[:, None, None]
    rows = skill * np.eye(3) + (1 - skill) * rows
    chance = rows[:, truth].cumsum(axis=2)
    table = (rng.random((users, items, 1)) > chance).sum(axis=2).clip(max=2)
    right = (table == truth).mean(axis=1)
    table[rng.random(table.shape) > 0.3] = -1
    return table, right


def test_confused_workers_are_ranked_and_the_classes_found():
    table, truth = three_labels(0)
    ranking = rank(make_responses(table))
    assert accuracy(truth, ranking.scores) > 0.8


def test_doubt_comes_with_advice_and_the_advice_helps():
    half = two_camps(2, users=40, items=20)[::2]
    table = np.vstack([half, np.array([1, 0, 2, 3])[half]])
    r = Responses.from_wide(np.array(list("ABCD"))[table])
    doubtful = rank(r)
    assert doubtful.confidence < 0.7
    assert doubtful.verdict.doubt == "unknown"
    assert "hnd.rank(responses, " in doubtful.verdict.help
    for camp in (0, 1):
        settled = rank(r, answers=dict.fromkeys(range(4), "AB"[camp]))
        first, second = settled.scores[:20].mean(), settled.scores[20:].mean()
        assert (first > second) == (camp == 0)
        assert settled.confidence > doubtful.confidence


def test_ability_agrees_with_the_key_and_uses_wrong_answers_too():
    table, ability = exam(3)
    r = make_responses(table)
    ranking = rank(r, by="ability")
    key_only = rank(r, "latent-key", by="ability")
    assert accuracy(ability, ranking.scores) > 0.85
    assert np.corrcoef(ranking.scores, key_only.scores)[0, 1] > 0.95
    assert not np.allclose(ranking.scores, key_only.scores)
    np.testing.assert_allclose(ranking.scores.mean(), key_only.scores.mean(), atol=0.2)


def test_users_without_answers_and_strangers():
    table, _ = exam(4, users=30, items=12)
    table[3] = -1
    ranking = rank(make_responses(table))
    assert np.isnan(ranking.scores[3])
    assert any("gave no answers" in note for note in ranking.notes)


def test_two_users_without_a_common_item_did_not_answer_alike():
    apart = rank([["A", None], [None, "B"]])
    assert "No two users gave the same answer" in apart.verdict
