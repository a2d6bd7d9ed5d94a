"""Certified orders: which way up, and no surer than answers alone can be."""

from __future__ import annotations

import numpy as np
import pytest
from factory import Table, examples, make_responses
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import accuracy, load, rank
from hitsndiffs.cli.screen import JUDGED
from hitsndiffs.methods.core.doubt import EITHER, FOLLOWED
from hitsndiffs.methods.core.witnesses import rank_correlation
from hitsndiffs.order.orientation import MOST_CONFIDENCE


def hard_steps(users: int, items: int, options: int) -> tuple[Table, np.ndarray]:
    """Answers without noise in a test too hard for most: the more able, the higher the option."""
    rng = np.random.default_rng(2)
    ability = rng.standard_normal(users)
    steps = np.sort(rng.normal(1.2, 0.8, (items, options - 1)), axis=1)
    return (ability[:, None, None] > steps).sum(axis=2), ability


@pytest.mark.parametrize("method", ["auto", "hnd-robust", "hnd"])
def test_many_items_do_not_make_the_better_end_surer_than_answers_can(method):
    table, ability = hard_steps(100, 100, 4)
    own = table + np.random.default_rng(0).integers(4, size=100)  # no letter means the same
    ranking = rank(make_responses(own % 4), method=method)
    assert ranking.consistent
    assert accuracy(ability, ranking.scores) < -0.9  # and rightly so: most users agree below
    assert ranking.confidence == ranking.orientation.confidence == MOST_CONFIDENCE
    told = rank(make_responses(own % 4), method=method, strong_user=int(ability.argmax()))
    assert accuracy(ability, told.scores) > 0.9
    assert told.confidence == 1.0


def test_an_order_by_one_letter_is_never_sure():
    table, _ = hard_steps(100, 60, 4)
    ranking = rank(np.array(list("ABCD"))[table])  # (numbers would be amounts, and ratings)
    assert ranking.confidence == FOLLOWED
    assert any("follows how often people chose 'A'" in note for note in ranking.notes)


@pytest.mark.parametrize("method", ["auto", "hnd-robust"])
def test_perfectly_ordered_marks_may_be_upside_down(method):
    table, _ = hard_steps(60, 60, 2)
    ranking = rank(make_responses(table), method=method)
    assert ranking.consistent
    assert ranking.confidence <= EITHER
    assert any("The order is the share of '0'" in note for note in ranking.notes)


def test_words_turn_perfectly_ordered_marks(tmp_path):
    table, ability = hard_steps(60, 30, 2)
    words = np.where(table == 1, "right", "wrong")
    ranking = rank(words)
    assert ranking.consistent
    assert accuracy(ability, ranking.scores) > 0.9
    assert ranking.confidence <= FOLLOWED
    assert any("read as marks: 'right' is right in every item" in note for note in ranking.notes)
    assert JUDGED[ranking.orientation.how] == "judged by what the labels say"
    ranking.save(tmp_path / "saved.json")
    assert load(tmp_path / "saved.json").orientation.how == "words"
    # a known answer overrules the words
    told = rank(words, answers={0: "wrong"})
    assert accuracy(ability, told.scores) < -0.9
    assert not any("read as marks" in note for note in told.notes)


def test_few_answers_are_not_called_marks():
    few = rank([list("TFTT"), list("TFFT"), list("FFFT")])
    assert few.consistent
    assert few.confidence <= EITHER
    assert not any("marks" in note for note in few.notes)


@examples(60)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 6), st.booleans())
def test_presence_alone_has_a_perfect_order_too(seed: int, m: int, n: int, chain: bool) -> None:
    """Every item has one option, given by users who stand side by side."""
    rng = np.random.default_rng(seed)
    table, order = np.full((m, m - 1 if chain else n), -1), rng.permutation(m)
    for item in range(table.shape[1]):
        first, last = (item, item + 1) if chain else sorted(rng.integers(0, m, 2))
        table[order[first : last + 1], item] = 0
    plain, found = (rank(make_responses(table), method) for method in ("hnd", "auto"))
    assert plain.consistent
    apart = any(
        np.ptp(plain.ranks[plain.components == part]) > 0
        for part in range(plain.components.max() + 1)
    )
    assert found.consistent or not apart


def test_equal_values_share_the_middle_of_their_ranks():
    from scipy.stats import spearmanr

    one = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 7.0])
    other = np.array([1.0, 4.0, 4.0, 0.0, 2.0, 0.0])
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
