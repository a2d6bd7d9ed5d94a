"""Surprisingly popular answers: the published example, and crowds that are mostly wrong."""

from __future__ import annotations

import numpy as np
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.surprising import surprisingly_popular


def test_a_majority_that_is_wrong_is_overruled() -> None:
    # Prelec et al.: most say that Philadelphia is the capital, and those who know expect that.
    votes = [["yes"]] * 65 + [["no"]] * 35
    predictions = [["yes"]] * 75 + [["no"]] * 25
    found = surprisingly_popular(votes, predictions)
    assert found.key == {0: "no"}
    row = found.table().to_dicts()[0]
    assert row["popular"] == "yes"
    assert row["surprise"] == pytest.approx(0.35 - 0.25)
    assert row["z"] == pytest.approx(0.1 / np.sqrt((0.35 * 0.65 + 0.25 * 0.75) / 100), rel=0.02)
    assert found.sentence().startswith("On 1 of 1 items")


def test_items_that_most_get_wrong_are_mended() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(60) < 0.5
    hard = np.arange(60) < 24  # on these most are wrong, and those who know it know it
    knows = rng.random((80, 60)) < np.where(hard, 0.35, 0.75)
    votes = np.where(knows, truth, ~truth)
    misled = np.where(hard, ~truth, truth)
    foreseen = np.where(rng.random((80, 60)) < np.where(knows & hard, 0.75, 0.85), misled, ~misled)

    def words(table: np.ndarray) -> list[list[str]]:
        return np.where(table, "yes", "no").tolist()

    found = surprisingly_popular(words(votes), words(foreseen)).key
    right = np.array([(found[i] == "yes") == truth[i] for i in range(60)])
    majority = (votes.mean(0) > 0.5) == truth
    assert majority[hard].mean() < 0.2
    assert right[hard].mean() > 0.9


def test_predictions_for_other_items_are_refused() -> None:
    one = hnd.Responses.from_long({"user": ["a", "b"], "item": ["q1"] * 2, "option": ["x", "y"]})
    two = hnd.Responses.from_long({"user": ["a", "b"], "item": ["q2"] * 2, "option": ["x", "y"]})
    with pytest.raises(hnd.InputError, match="none of the items"):
        surprisingly_popular(one, two)
