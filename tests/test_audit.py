"""A key that may be wrong: planted errors, doubles, keys of another test, and how it is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import Here

from hitsndiffs import InputError, Responses, audit, simulate

ITEMS = 40


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(capsys)


def exam(seed: int, users: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """A test with four options: letters of users × items, and the key."""
    rng = np.random.default_rng(seed)
    right = 1 / (1 + np.exp(-1.5 * (rng.normal(0.7, 1, (users, 1)) - rng.normal(0, 1, ITEMS))))
    key, lures = rng.integers(0, 4, ITEMS), rng.integers(1, 4, (users, ITEMS))
    chosen = np.where(rng.random((users, ITEMS)) < right, key, (key + lures) % 4)
    return np.array(list("ABCD"))[chosen], np.array(list("ABCD"))[key]


def read(letters: np.ndarray) -> Responses:
    return Responses.from_wide(letters, items=[f"q{i:02}" for i in range(ITEMS)])


def named(key: np.ndarray) -> dict[str, str]:
    return {f"q{i:02}": str(answer) for i, answer in enumerate(key)}


def other(letter: str) -> str:
    return "ABCD"[("ABCD".index(letter) + 1) % 4]


def test_planted_errors_are_found_and_the_probabilities_hold() -> None:
    said, was = [], []
    for seed in range(8):
        letters, key = exam(seed)
        wrong = np.random.default_rng(seed).choice(ITEMS, 3, replace=False)
        given = key.copy()
        given[wrong] = [other(answer) for answer in key[wrong]]
        found = audit(read(letters), named(given))
        assert found.fits
        assert 0.02 < found.error_rate < 0.15
        said.append(found.probability_wrong)
        was.append(np.isin(np.arange(ITEMS), wrong))
    p, w = np.concatenate(said), np.concatenate(was)
    assert w[p > 0.5].mean() > 0.9  # precision
    assert (p > 0.5)[w].mean() > 0.4  # recall
    assert p[w].min() > np.quantile(p[~w], 0.95)
    assert abs(p.mean() - w.mean()) < 0.03  # as many as it says


def test_the_table_names_the_error_and_the_likely_answer() -> None:
    letters, key = exam(1)
    given = named(key) | {"q07": other(key[7])}
    found = audit(read(letters), given)
    first = found.table().row(0, named=True)
    assert list(first) == ["item", "given", "likely", "probability_wrong", "verdict"]
    assert (first["item"], first["given"], first["likely"]) == ("q07", given["q07"], key[7])
    assert first["verdict"] == "wrong"
    assert first["probability_wrong"] > 0.5
    assert str(found).startswith("1 of 40 answers in the key looks wrong: q07 (key ")


def test_an_answer_that_nobody_gave_an_item_without_a_key_and_other_spelling() -> None:
    letters, key = exam(2)
    given = {i: f" {a.lower()} " for i, a in named(key).items() if i != "q05"} | {"q09": "E"}
    table = {row["item"]: row for row in audit(read(letters), given).table().rows(named=True)}
    assert table["q05"]["given"] is None
    assert table["q05"]["probability_wrong"] is None
    assert (table["q05"]["likely"], table["q05"]["verdict"]) == (key[5], "")
    assert (table["q09"]["given"], table["q09"]["likely"]) == ("E", key[9])
    assert table["q09"]["verdict"] == "wrong"
    assert sum(row["verdict"] != "" for row in table.values()) <= 2
    with pytest.raises(InputError, match="no such item"):
        audit(read(letters), {"nowhere": "A"})


def test_the_key_of_another_test_does_not_fit() -> None:
    letters, _ = exam(3)
    _, key = exam(4)
    found = audit(read(letters), named(key))
    assert not found.fits
    assert set(found.verdicts) == {""}
    assert "do not fit each other" in str(found)


def test_keys_dealt_anew_do_not_fit_even_where_they_name_what_nobody_chose() -> None:
    fitting = 0
    for seed in range(10):
        letters, key = exam(seed + 20, users=60)
        fitting += audit(read(letters), named(np.random.default_rng(seed).permutation(key))).fits
        assert audit(read(letters), named(key)).fits
    assert fitting <= 1
    # the model would learn that what nobody chose is right
    assert not audit(read(letters), named(key) | {f"q{i:02}": "E" for i in range(20)}).fits


def test_two_right_answers() -> None:
    letters, key = exam(5, users=400)
    half = np.random.default_rng(0).random(400) < 0.5
    letters[(letters[:, 11] == key[11]) & half, 11] = "Z"
    found = audit(read(letters), named(key))
    assert found.verdicts[11] == "double"
    assert found.verdicts.count("double") == 1
    assert "Two answers look right: 'q11'" in str(found)


def test_of_a_second_answer_that_others_chose_as_well() -> None:
    found = said = 0
    for seed in range(6):
        letters, key = exam(seed, users=400)
        half = np.random.default_rng(seed).random(400) < 0.5
        easy = int((letters == key).mean(axis=0).argmax())
        letters[(letters[:, easy] == key[easy]) & half, easy] = other(key[easy])
        verdicts = audit(read(letters), named(key)).verdicts
        found += verdicts[easy] == "double"
        said += verdicts.count("double")
    assert found >= 4
    assert said - found <= 1


def test_the_order_of_users_and_items_changes_nothing() -> None:
    letters, key = exam(6)
    rng = np.random.default_rng(1)
    users, items = rng.permutation(len(letters)), rng.permutation(ITEMS)
    one = audit(read(letters), named(key))
    names = [f"q{i:02}" for i in items]
    two = audit(Responses.from_wide(letters[users][:, items], items=names), named(key))
    np.testing.assert_allclose(one.probability_wrong[items], two.probability_wrong, atol=1e-9)


def test_large_data_are_judged_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    from hitsndiffs.results import audit as module

    letters, key = exam(7, users=600)
    monkeypatch.setattr(module, "MOST_PAIRS", 32_000)
    found = audit(read(letters), named(key) | {"q07": other(key[7])})
    assert found.flagged == ("q07",)
    assert "Judged by 200 of the 600 users" in found.notes[0]


def test_hnd_audit(here: Here, tmp_path: Path) -> None:
    letters, key = exam(8)
    given = named(key) | {"q03": other(key[3])}
    data, keys = tmp_path / "quiz.csv", tmp_path / "key.csv"
    names = ",".join(["user", *given])
    rows = [",".join([f"u{i}", *row]) for i, row in enumerate(letters)]
    data.write_text("\n".join([names, *rows]) + "\n")
    keys.write_text("item,answer\n" + "".join(f"{i},{a}\n" for i, a in given.items()))
    done = here("audit", data, "--key", keys)
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].split("\t")[0] == "q03"
    done = here("audit", data, "--key", keys, "--out", tmp_path / "audit.csv")
    assert done.code == 0, done.err
    assert not done.out
    assert "1 of 40 answers in the key looks wrong: q03" in done.err
    assert (tmp_path / "audit.csv").read_text().splitlines()[1].endswith("wrong")
    report = json.loads(here("audit", data, "--key", keys, "--json").out)
    assert report["fits"]
    assert report["items"][0]["verdict"] == "wrong"
    assert here("audit", data).code == 2


def test_simulated_keys_without_errors_are_left_alone() -> None:
    flagged = 0
    for seed in range(6):
        sim = simulate("grm", users=100, items=30, options=4, seed=seed)
        flagged += len(audit(sim.responses, sim.key).flagged)
    assert flagged <= 1
