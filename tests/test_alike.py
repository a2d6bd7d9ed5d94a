"""Very similar answers: innocent classes are left alone, copies and repeated runs are found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hitsndiffs import Responses, read_responses, simulate
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.methods.counting import UNUSUAL, ways_to_count
from hitsndiffs.results.check import examine

QUIZ = Path(__file__).parent.parent / "examples" / "quiz.csv"
MODELS = ("1pl", "2pl", "3pl", "glad", "grm", "bock", "samejima")


def exam(seed: int, users: int, items: int) -> np.ndarray:
    """Answers to an ordinary test with four options; option 0 is right."""
    rng = np.random.default_rng(seed)
    right = 1 / (1 + np.exp(-1.3 * (rng.normal(0.7, 1, (users, 1)) - rng.normal(0, 1, items))))
    lures = [1 + rng.choice(3, users, p=rng.dirichlet([1, 1, 1])) for _ in range(items)]
    return np.where(rng.random((users, items)) < right, 0, np.stack(lures, axis=1))


def pairs(table: np.ndarray) -> set[tuple[int, int]]:
    found = find_alike(Responses.from_wide(table))
    return set(zip(found.first.tolist(), found.second.tolist(), strict=True))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("ability", ["uniform", "normal"])
def test_nobody_is_named_where_everybody_answered_alone(model: str, ability: str) -> None:
    how = {"ability": "normal"} if ability == "normal" else {}
    for users, items in ((30, 20), (30, 60), (100, 40)):
        for seed in range(2):
            r = simulate(model, users=users, items=items, seed=seed, **how).responses
            assert len(find_alike(r).first) == 0, (users, items, seed)


def test_the_quiz_that_is_shipped_names_nobody() -> None:
    found = {finding.name: finding for finding in examine(read_responses(QUIZ))}
    assert not found["similar answers"].concern
    assert "repeated runs" not in found


def test_sheets_that_are_copied_whole_are_found_in_small_classes() -> None:
    hits = 0
    for seed in range(10):
        table, rng = exam(seed, 30, 60), np.random.default_rng(seed)
        one, other = sorted(rng.choice(30, 2, replace=False).tolist())
        table[other] = table[one]
        hits += (one, other) in pairs(table)
    assert hits >= 9


def test_copies_are_found_and_nobody_else() -> None:
    hits = 0
    for seed in range(10):
        table, rng = exam(seed, 60, 120), np.random.default_rng(seed)
        one, other = sorted(rng.choice(60, 2, replace=False).tolist())
        copied = rng.random(120) < 0.8
        table[other, copied] = table[one, copied]
        found = pairs(table)
        hits += (one, other) in found
        assert len(found) <= 1
    assert hits >= 9


def test_equal_sheets_without_a_mistake_are_no_surprise() -> None:
    table = exam(3, 60, 30)
    table[:6] = 0  # six users who have everything right
    assert pairs(table) == set()


def test_large_data_are_compared_where_they_share_surprising_parts() -> None:
    table = exam(5, 3_000, 60)
    weak = np.argsort((table == 0).sum(axis=1))[:20]
    table[weak[1::2]] = table[weak[::2]]
    found = pairs(table)
    planted = {
        tuple(sorted(pair)) for pair in zip(weak[::2].tolist(), weak[1::2].tolist(), strict=True)
    }
    assert len(found & planted) >= 8
    assert found <= planted


def test_repeated_runs_are_found_by_name_and_answers_and_count_once() -> None:
    rng = np.random.default_rng(0)
    base = exam(0, 6, 80)
    table = np.repeat(base, 4, axis=0)
    table = np.where(rng.random(table.shape) < 0.3, exam(1, 24, 80), table)
    names = [f"model{letter}_seed{run}" for letter in "abcdef" for run in range(4)]
    found = find_alike(Responses.from_wide(table, users=names))
    assert sorted(run.tolist() for run in found.runs) == np.arange(24).reshape(6, 4).tolist()
    user, item = np.indices(table.shape).reshape(2, -1)
    answers = user, table.ravel() + 4 * item, np.repeat(np.arange(80), 4)
    np.testing.assert_allclose(ways_to_count(*answers, names, 24)[UNUSUAL], 0.25)
    assert UNUSUAL not in ways_to_count(*answers, (), 24)  # names say what runs are
    # of very many users a part is looked at; the others count as they are
    counted = ways_to_count(*answers, [*names, "without", "answers"], 26)[UNUSUAL]
    np.testing.assert_allclose(counted, [*[0.25] * 24, 1, 1])
    assert all(len(c) == 26 for c in ways_to_count(*answers, (), 26).values())
    said = {f.name: f for f in examine(Responses.from_wide(table, users=names))}["repeated runs"]
    assert said.sentence.startswith("24 users look like repeated runs of 6 sources")
    # the same names on answers given alone mean nothing
    assert find_alike(Responses.from_wide(exam(2, 24, 80), users=names)).runs == ()


@pytest.mark.parametrize(
    "spelled",
    [
        "model-{}@{}", "{}-3.5-t0.7-s{}", "gpt_{} run 1{}", "{}1 (temperature 0.7, seed {})",
        "llama 3 {} [{}]", "{}.trial-{}", "{}/{}",
    ],
)  # fmt: skip
def test_runs_are_found_however_they_are_numbered(spelled: str) -> None:
    table = np.repeat(exam(0, 6, 80), 4, axis=0)
    table = np.where(np.random.default_rng(0).random(table.shape) < 0.3, exam(1, 24, 80), table)
    names = [spelled.format(letter, run) for letter in "abcdef" for run in range(4)]
    found = find_alike(Responses.from_wide(table, users=names)).runs
    assert sorted(run.tolist() for run in found) == np.arange(24).reshape(6, 4).tolist()


@pytest.mark.parametrize("copied", [0, 2])
def test_a_class_of_numbered_students_is_no_source_that_ran_often(copied: int) -> None:
    for seed in range(5):
        table = exam(seed, 30, 40)
        table[:copied] = table[7]
        one = [f"student-{user:02}" for user in range(1, 31)]
        two = [f"{'ab'[user % 2]}-{user:02}" for user in range(1, 31)]
        three = [*one[:28], "teacher", "guest"]
        for names in (one, two, three):
            assert find_alike(Responses.from_wide(table, users=names)).runs == ()


def test_the_order_of_users_changes_nothing() -> None:
    table = exam(4, 40, 100)
    table[7] = table[21]
    turn = np.random.default_rng(1).permutation(40)
    place = np.argsort(turn)
    assert pairs(table) == {(7, 21)}
    assert pairs(table[turn]) == {tuple(sorted((int(place[7]), int(place[21]))))}
