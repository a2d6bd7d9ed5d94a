"""Marks under a key, against counting by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.marks import marks


def by_hand(table: np.ndarray, right: list[set[str]]) -> np.ndarray:
    return np.array([[a in ok for a, ok in zip(row, right, strict=True)] for row in table])


@pytest.fixture
def case() -> tuple[hnd.Responses, dict[str, str], np.ndarray]:
    rng = np.random.default_rng(3)
    table = rng.choice(list("ABCD"), (40, 12))
    table[rng.random(table.shape) < 0.05] = ""
    items = [f"q{i:02d}" for i in range(table.shape[1])]
    frame = pl.DataFrame({"user": [f"s{j}" for j in range(len(table))]}).with_columns(
        [
            pl.Series(item, [v or None for v in column])
            for item, column in zip(items, table.T, strict=True)
        ]
    )
    return hnd.Responses.from_wide(frame), dict(zip(items, "ABCDABCDABCD", strict=True)), table


def test_marks_are_counts_of_right_answers(case: tuple) -> None:
    r, key, table = case
    right = by_hand(table, [{a} for a in key.values()])
    found = marks(r, key)
    assert found.marks.tolist() == right.sum(1).tolist()
    assert found.out_of.tolist() == [12.0] * 40
    assert found.mean == pytest.approx(right.mean())
    variances = right.var(0, ddof=1)
    alpha = 12 / 11 * (1 - variances.sum() / right.sum(1).var(ddof=1))
    assert found.alpha == pytest.approx(alpha)
    assert found.sem == pytest.approx(right.sum(1).std(ddof=1) * np.sqrt(1 - max(alpha, 0)))


def test_several_answers_dropped_items_and_blanks(case: tuple) -> None:
    r, key, table = case
    ok = [{a} for a in key.values()]
    ok[0], ok[1], ok[2] = {"A", "C"}, {"B", "D"}, {"C", "A", "B"}
    several = {**key, "q00": "a;C", "q01": ["B", "D"], "q02": "C"}
    found = marks(r, several, accept={"q02": "A/B"}, drop=["q05"], blanks="skip")
    right = np.delete(by_hand(table, ok), 5, axis=1)
    answered = np.delete(table != "", 5, axis=1)
    assert found.marks.tolist() == right.sum(1).tolist()
    assert found.shares == pytest.approx(right.sum(1) / answered.sum(1))
    assert "q05" not in found.items
    plain = marks(r, key, drop=["q05"])
    more = right.sum(1) - np.delete(by_hand(table, [{a} for a in key.values()]), 5, 1).sum(1)
    assert found.gains(plain).tolist() == more.tolist()


def test_a_key_is_spelled_as_people_spell() -> None:
    """In every place that takes right answers: letters of any case and width, with blanks."""
    r = hnd.Responses.from_wide([["A", "none"], ["A", "C"], ["B", "C"]], items=["q1", "q2"])
    for key in ({"q1": "A", "q2": "C"}, {"q1": " a", "q2": "Ｃ"}):
        assert marks(r, key).marks.tolist() == [1.0, 2.0, 1.0]
        assert hnd.rank(r, "true-answer", key=key).scores.tolist() == [0.5, 1.0, 0.5]
        assert hnd.rank(r, "majority", key=key).key_scores.tolist() == [0.5, 1.0, 0.5]
    blank = hnd.rank(r, "majority", key={"q1": "A", "q2": None})
    assert blank.key_scores.tolist() == [1.0, 1.0, 0.0], "a blank in a key is no answer"


def test_several_right_answers_are_no_error_of_the_key(tmp_path: Path) -> None:
    """Marks take all of them; an audit cannot judge the one, and says so; nothing is unchosen."""
    sim = hnd.simulate("grm", users=80, items=20, options=4, seed=1)
    path = tmp_path / "key.csv"
    several = {**sim.key, "item-03": "B;D", "item-04": "A/D"}
    path.write_text("item,answer\n" + "".join(f"{i},{a}\n" for i, a in several.items()))
    right = {item: set(answer.replace("/", ";").split(";")) for item, answer in several.items()}
    r = sim.responses
    chosen = r.option_labels[r.codes.T + r.item_starts[:-1]]
    labels = [dict(zip(r.items, row, strict=True)) for row in chosen]
    for key in (path, several, {**sim.key, "item-03": ["B", "D"], "item-04": ["A", "D"]}):
        ranking = hnd.rank(r, "majority", key=key)
        assert not [note for note in ranking.notes if "nobody chose" in note]
        own = [np.mean([row[i] in right[i] for i in sim.key]) for row in labels]
        assert ranking.key_scores == pytest.approx(own)
        if key is not path and key is not several:
            continue
        assert marks(r, key).marks == pytest.approx(np.array(own) * 20)
        audit = hnd.audit(r, key)
        assert set(audit.flagged) == set()
        assert any("several answers to 'item-03' and 'item-04'" in note for note in audit.notes)


def test_the_gradebook_file(case: tuple, tmp_path: Path) -> None:
    r, key, table = case
    marks(r, key).write(tmp_path / "marks.csv")
    rows = pl.read_csv(tmp_path / "marks.csv")
    assert rows.columns == ["user", "marks", "out_of", "percent"]
    right = by_hand(table, [{a} for a in key.values()]).sum(1)
    assert rows["marks"].to_list() == right.tolist()
    assert rows["percent"].to_list() == [round(100 * int(n) / 12, 1) for n in right]


def test_a_key_that_names_nothing_is_refused(case: tuple) -> None:
    r, key, _ = case
    with pytest.raises(hnd.InputError, match="no item is left"):
        marks(r, {"other": "A"})
    with pytest.raises(hnd.InputError, match="no item 'q99' to leave out"):
        marks(r, key, drop=["q99"])
    assert "Nobody chose the key's answer to 'q03'" in marks(r, {**key, "q03": "Z"}).sentence()
