"""What ``hnd check`` finds, on data made to show each thing."""

from __future__ import annotations

import numpy as np

from hitsndiffs import Responses
from hitsndiffs.irt import simulate
from hitsndiffs.results.check import Finding, examine

LADDER = [list("AAAA"), list("AAAB"), list("AABB"), list("ABBB"), list("BBBB")]


def found(responses: Responses) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(responses, full=True)}


def test_consistent_answers() -> None:
    report = found(Responses.from_wide(LADDER))
    assert report["perfect order"].value["consistent"] is True
    assert "only one" in report["perfect order"].sentence
    assert "none missing" in report["size"].sentence


def test_several_perfect_orders_are_counted() -> None:
    # two users who each stand alone at one end of a third may be put in 3! orders
    report = found(Responses.from_wide([list("AAX"), list("ABX"), list("ACX")]))
    assert "6 of them" in report["perfect order"].sentence


def test_inconsistent_answers_name_the_items_in_the_way() -> None:
    table = [[*row, odd] for row, odd in zip(LADDER, "XYXYX", strict=True)]
    report = found(Responses.from_wide(table))
    value = report["perfect order"].value
    assert value["consistent"] is False
    assert value["items"] == [4]
    assert 0 < value["distance"] <= 1
    assert value["misfits"] >= 1


def test_slow_checks_are_made_only_when_asked() -> None:
    names = {finding.name for finding in examine(Responses.from_wide(LADDER))}
    assert not {"perfect order", "axes", "equal answers"} & names


def test_verdict_then_concerns_then_the_rest() -> None:
    table = np.random.default_rng(5).integers(0, 3, (12, 6))
    table[3, 2:] = -1
    findings = examine(Responses.from_wide(table), full=True)
    assert findings[0].name == "ability"
    weights = [finding.weight for finding in findings[1:]]
    assert weights == sorted(weights, key=["concern", "news", "fine"].index)
    assert {"concern", "news", "fine"} == set(weights)


def test_groups_and_silent_users() -> None:
    report = found(
        Responses.from_wide(
            [["A", "A", None], ["A", "B", None], [None, None, "C"], [None, None, None]],
            users=["a", "b", "c", "d"],
        )
    )
    assert report["groups"].value == {"sizes": [2, 1]}
    assert report["groups"].concern
    assert report["silent"].value == {"users": ["d"]}


def test_thin_users_and_options() -> None:
    table = np.zeros((6, 8), dtype=int)
    table[:, 0] = range(6)
    table[0, 2:] = -1
    report = found(Responses.from_wide(table))
    assert report["thin users"].value["users"] == [0]
    assert report["thin options"].value["chosen_once"] == 6
    assert report["agreed"].value["items"] == [1, 2, 3, 4, 5, 6, 7]


def test_equal_answers_need_enough_of_them() -> None:
    sheets = np.random.default_rng(2).integers(0, 3, (10, 20))
    assert found(Responses.from_wide(sheets))["equal answers"].value["users"] == 0
    sheets[7] = sheets[3]
    assert found(Responses.from_wide(sheets))["equal answers"].value["groups"] == [[3, 7]]
    few = Responses.from_wide([["A", "B"]] * 3 + [["B", "A"]])
    assert found(few)["equal answers"].value["users"] == 0


def test_competing_axes() -> None:
    # two independent scales of equal strength
    rows = [[*first, *second] for first in LADDER for second in LADDER]
    report = found(Responses.from_wide(rows))
    assert report["axes"].value["competing"] >= 1
    assert report["axes"].concern
    one = found(simulate("c1p", users=60, items=40, seed=1).responses)
    assert one["axes"].value["gap"] > 0


def test_nobody_differs() -> None:
    report = found(Responses.from_wide([list("AB")] * 4))
    assert report["axes"].sentence == "Nothing tells the users apart."
    assert report["axes"].concern


def test_sentences_are_sentences() -> None:
    for finding in examine(simulate("samejima", users=30, items=20, seed=4).responses, full=True):
        assert finding.sentence.endswith(".")
        assert "  " not in finding.sentence
