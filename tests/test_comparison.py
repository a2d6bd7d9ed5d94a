from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from factory import make_responses, random_answers

from hitsndiffs.errors import InputError
from hitsndiffs.methods import HITS, METHODS, DawidSkene, Majority
from hitsndiffs.results.comparison import Compared, Comparison, compare
from hitsndiffs.results.metrics import accuracy

KEY = dict.fromkeys(range(20), 0)


@pytest.fixture
def answers():
    return random_answers(30, 20, 4, 0.1, seed=1)


def test_all_methods_that_apply_and_why_the_others_do_not(answers):
    found = compare(make_responses(answers))
    assert list(found.methods) == [name for name in METHODS if name != "avghits"]
    assert "give a key" in found["true-answer"].error
    assert "give an order" in found["grm"].error
    assert found["hnd"].error is None
    assert found["hnd"].converged
    assert found["hnd"].seconds > 0
    assert found["hnd"].accuracy is None
    assert found.true_scores is None


def test_slow_methods_are_left_out_of_large_data_unless_named(answers, monkeypatch):
    monkeypatch.setattr("hitsndiffs.results.comparison.SLOW", {"mace": 100})
    found = compare(make_responses(answers))
    assert "it takes long" in found["mace"].error
    assert found["glad"].error is None
    assert compare(make_responses(answers), ["mace"])["mace"].error is None


def test_correlations_are_those_of_the_scores(answers):
    r = make_responses(answers)
    found = compare(r, ["majority", "hits", "true-answer"])
    expected = accuracy(Majority().fit(r).scores_, HITS().fit(r).scores_)
    assert found.correlations[0, 1] == found.correlations[1, 0] == pytest.approx(expected)
    assert found.correlations.diagonal()[:2].tolist() == [1.0, 1.0]
    assert np.isnan(found.correlations[2]).all()


def test_it_shows_itself_in_a_few_lines(answers):
    lines = repr(compare(make_responses(answers), ["majority", "hits", "true-answer"])).splitlines()
    assert lines[0] == "Comparison of 3 methods: 30 users × 20 items"
    assert lines[1].split()[:2] == ["majority", "agreement"]
    assert lines[3].split() == ["true-answer", "does", "not", "apply"]
    assert len(lines) == 4


def test_with_a_key_methods_are_judged(answers):
    r = make_responses(answers)
    found = compare(r, ["majority", "true-answer", "dawid-skene"], key=KEY)
    right = (answers == 0).sum(axis=1) / (answers >= 0).sum(axis=1)
    np.testing.assert_allclose(found.true_scores, right)
    assert found["majority"].accuracy == pytest.approx(accuracy(right, Majority().fit(r).scores_))
    assert found["true-answer"].accuracy == 1.0
    assert found["true-answer"].key_recovered is None  # it was told
    assert found["dawid-skene"].key_recovered == 1.0
    *fair, told = found.rows()
    assert told["method"] == "true-answer", "no rival of the others"
    accuracies = [row["accuracy"] for row in fair]
    assert accuracies == sorted(accuracies, reverse=True)


def test_the_share_of_the_key_counts_ties_in_part_and_lost_items_not_at_all():
    # item 0: a tie of two; item 1: right; item 2: nobody chose the right option
    r = make_responses(np.array([[0, 0, 1], [0, 0, 1], [1, 0, 2], [1, 1, 1]]))
    found = compare(r, ["majority"], key={0: 0, 1: 0, 2: 7, "elsewhere": 1})
    assert found["majority"].key_recovered == pytest.approx((0.5 + 1 + 0) / 3)


def test_methods_with_their_own_parameters(answers):
    r = make_responses(answers + 10 * np.arange(20) * (answers >= 0))
    found = compare(r, [DawidSkene(model="full"), "majority"])
    assert "share one label set" in found["dawid-skene"].error
    assert found["majority"].error is None
    failures_last = [row["method"] for row in found.rows()]
    assert failures_last == ["majority", "dawid-skene"]


def test_a_missing_package_is_a_reason_like_any_other(monkeypatch, answers):
    monkeypatch.setitem(sys.modules, "mirt", None)
    found = compare(make_responses(answers), ["grm", "majority"], key=KEY)
    assert "pip install" in found["grm"].error
    assert found["majority"].accuracy is not None


def test_iterations_cut_short_are_reported_and_not_shouted(answers):
    found = compare(make_responses(answers), [HITS(max_iterations=1)])
    assert found["hits"].converged is False


def test_only_the_largest_component_is_compared():
    answers = np.full((12, 20), -1)
    answers[:8, :10] = random_answers(8, 10, 3, seed=2)
    answers[8:, 10:] = random_answers(4, 10, 3, seed=3)
    found = compare(make_responses(answers), ["hits", "majority"], key=KEY)
    assert np.flatnonzero(np.isnan(found["hits"].scores)).tolist() == [8, 9, 10, 11]
    both = accuracy(found["hits"].scores[:8], found["majority"].scores[:8])
    assert found.correlations[0, 1] == pytest.approx(both)


def test_everything_goes_into_json(answers):
    found = compare(make_responses(answers), ["hnd", "hits", "true-answer"], key=KEY)
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["methods"]["hits"]["accuracy"] == pytest.approx(found["hits"].accuracy)
    assert again["correlations"]["hnd"]["hits"] == pytest.approx(found.correlations[0, 1])
    assert len(again["methods"]["hnd"]["scores"]) == 30
    json.dumps(found.rows(), allow_nan=False)


def test_a_method_twice_is_refused(answers):
    with pytest.raises(InputError, match="'hits' is given twice"):
        compare(make_responses(answers), ["hits", HITS(tol=1e-3)])
    with pytest.raises(KeyError):
        compare(make_responses(answers), ["hits"])["hnd"]


def test_two_known_answers_judge_no_method():
    r = make_responses(np.random.default_rng(0).integers(0, 3, (30, 12)))
    few = compare(r, ["hnd", "majority"], key={0: 1, 1: 2}).advice()
    assert few.startswith("The key covers 2 of 12 items, too few to judge by it. ")
    whole = compare(r, ["hnd", "majority"], key=dict.fromkeys(range(12), 1)).advice()
    assert "Against this key" in whole


def compared(accuracies: dict[str, float | None], correlation: float) -> Comparison:
    r = make_responses(np.array([[0, 1], [1, 0], [0, 0]]))
    n = len(accuracies)
    matrix = np.full((n, n), correlation)
    np.fill_diagonal(matrix, 1.0)
    known = any(value is not None for value in accuracies.values())
    results = tuple(
        Compared(name, scores=np.zeros(3), seconds=0.0, accuracy=value)
        for name, value in accuracies.items()
    )
    return Comparison(r, results, matrix, np.zeros(3) if known else None, key_items=2)


@pytest.mark.parametrize(
    ("accuracies", "correlation", "words"),
    [
        ({"auto": 0.95, "hnd": 0.9}, 0.9, "Use auto, the default: without the key it ranks"),
        ({"auto": 0.7, "hnd": 0.9}, 0.6, "hnd ranks best (0.90), ahead of auto"),
        ({"hnd": 0.7, "true-answer": 1.0}, 0.6, "Against this key hnd ranks best (0.70)."),
        ({"auto": None, "hnd": None}, 0.95, "the other gives almost the same order"),
        ({"auto": None, "hnd": None}, 0.1, "trust none of them yet"),
        ({"hnd": None}, 1.0, "nothing to compare it with"),
    ],
)
def test_advice(accuracies: dict[str, float | None], correlation: float, words: str) -> None:
    assert words in compared(accuracies, correlation).advice()
