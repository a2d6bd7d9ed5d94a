"""The verdict, tiers and pairs of users, against simulations whose truth is known."""

from __future__ import annotations

import copy
import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from commands import QUIZ
from factory import make_responses

import hitsndiffs as hnd
from hitsndiffs.results.columns import COLUMNS
from hitsndiffs.results.uncertainty import tiers_of
from hitsndiffs.results.verdict import SENTENCES, Command, Reason, Verdict

# -- tiers ----------------------------------------------------------------------------------------


def draws(seeds: int, *, spread: float, users: int = 40):
    """True values, and scores with errors of known size."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        true = spread * rng.standard_normal(users)
        errors = rng.uniform(0.5, 1.5, users)
        yield true, true + errors * rng.standard_normal(users), errors


def test_on_noise_there_is_one_tier() -> None:
    several = [tiers_of(scores, errors).max() > 1 for _, scores, errors in draws(400, spread=0.0)]
    assert np.mean(several) < 0.06, "Cochran's test is at five per cent"


def test_tiers_are_told_apart_as_surely_as_is_said() -> None:
    first, two_apart, found = [], [], []
    for true, scores, errors in draws(300, spread=2.0):
        tiers = tiers_of(scores, errors)
        order = np.argsort(-scores)
        assert (np.diff(tiers[order]) >= 0).all()
        assert set(tiers) == set(range(1, tiers.max() + 1))
        found.append(tiers.max())
        heads = [order[tiers[order] == tier][0] for tier in range(1, tiers.max() + 1)]
        first += [true[a] > true[b] for a, b in itertools.pairwise(heads)]
        two_apart += (true[:, None] > true[None, :])[tiers[None, :] >= tiers[:, None] + 2].tolist()
    assert np.mean(found) > 2, "there is something to tell"
    assert np.mean(first) > 0.94
    assert np.mean(two_apart) > 0.95


def test_equal_scores_share_a_tier_and_unknown_errors_tell_nobody_apart() -> None:
    scores = np.repeat([3.0, 2.0, 1.0], 5)
    assert tiers_of(scores, np.full(15, 0.1)).tolist() == [1] * 5 + [2] * 5 + [3] * 5
    assert tiers_of(scores, np.full(15, np.nan)).tolist() == [1] * 15
    assert tiers_of(np.array([2.0]), np.array([0.1])).tolist() == [1]


@pytest.mark.parametrize("method", ["hnd", "hnd-robust", "latent-key"])
def test_rankings_of_random_answers_have_one_tier(method: str) -> None:
    for seed in range(3):
        table = np.random.default_rng(seed).integers(0, 4, (30, 20))
        ranking = hnd.rank(make_responses(table), method)
        assert set(ranking.tiers) == {1}
        assert ranking.verdict.doubt in ("unknown", "direction", "luck")


def test_the_errors_of_an_axis_are_as_large_as_halves_of_the_items_say() -> None:
    noise = [
        hnd.rank(make_responses(np.random.default_rng(seed).integers(0, 4, (50, 30))), "hnd")
        for seed in range(4)
    ]
    assert np.mean([ranking.reliability for ranking in noise]) < 0.45
    real = hnd.simulate("grm", users=50, items=30, seed=1).responses
    assert hnd.rank(real, "hnd").reliability > 0.6


def test_tiers_of_groups_and_of_users_without_answers() -> None:
    steps = np.repeat(np.arange(12)[:, None] < np.arange(11)[None, :], 4, axis=1).astype(int)
    both = np.full((25, 88), -1)
    both[:12, :44], both[12:24, 44:] = steps, steps
    ranking = hnd.rank(make_responses(both), "majority")
    assert ranking.tiers[24] == -1
    assert ranking.verdict.doubt == "apart"
    assert "2 groups" in ranking.verdict
    for group in (0, 1):
        assert ranking.tiers[ranking.components == group].min() == 1


# -- the verdict ----------------------------------------------------------------------------------


def test_the_verdict_is_a_sentence_with_a_code() -> None:
    verdict = hnd.rank(QUIZ).verdict
    assert isinstance(verdict, str)
    assert verdict == SENTENCES["tiers"].format(**verdict.reason.values)
    assert verdict.doubt == ""
    assert verdict.asks
    for again in (copy.copy(verdict), pickle.loads(pickle.dumps(verdict))):
        assert (again, again.doubt, again.help) == (verdict, verdict.doubt, verdict.help)


def test_every_code_has_a_sentence_and_doubt_comes_first() -> None:
    alike = hnd.rank([["A", "B"]] * 3).verdict
    assert alike.doubt == "nothing"
    assert alike.help == ""
    noise = hnd.rank(np.random.default_rng(0).integers(0, 4, (25, 15))).verdict
    assert noise.doubt == "unknown"
    for verdict in (alike, noise):
        assert verdict.startswith(("Do not rely", "These answers rank nobody"))
    three = hnd.rank([list("ABAC"), list("ABBC"), list("ACBD")]).verdict
    assert three.doubt != "", "three users are never certified beside fifty per cent"
    assert Verdict(Reason("luck", {"users": "3 users", "sure": ""})).doubt == "luck"
    assert Verdict(Reason("perfect", {"sure": ""})).doubt == ""


def test_the_help_can_be_pasted() -> None:
    ranking = hnd.rank(QUIZ)
    items = [item for item, _ in ranking.verdict.asks]
    assert ranking.verdict.help == (
        f"hnd.rank(responses, answers={{{items[0]!r}: '_', {items[1]!r}: '_'}})"
    )
    named = replace(ranking, command=Command(("quiz.csv",)))
    assert named.verdict.help == f"hnd rank quiz.csv --answers {items[0]}=_,{items[1]}=_"
    with pytest.raises(hnd.InputError, match="in place of '_'"):
        hnd.rank(QUIZ, answers=dict.fromkeys(items, "_"))
    assert hnd.rank(QUIZ, answers={items[0]: "A"}).verdict.help == "", "it has been told"
    fits = ranking.answer_key()
    assert hnd.rank(QUIZ, key=fits).verdict.help == "", "a key that fits leaves nothing to ask"
    doubtful = fits | {item: "A" if fits[item] == "B" else "B" for item in list(fits)[:12]}
    with_key = hnd.rank(QUIZ, key=doubtful)
    assert with_key.verdict.help == "hnd.rank(responses, answers=key)"
    command = Command(("quiz.csv",), ("--key", "the key.csv"), "the key.csv")
    told = replace(with_key, command=command)
    assert told.verdict.help == f"{command.line()} --answers 'the key.csv'"


# -- one list of columns --------------------------------------------------------------------------


def test_every_place_has_the_same_columns_and_numbers() -> None:
    ranking = hnd.rank(QUIZ, key=hnd.rank(QUIZ).answer_key())
    cells = ranking.cells()
    names = [name for name in COLUMNS if name in cells.columns]
    assert list(cells.columns) == names == list(COLUMNS)
    frame = ranking.table()
    assert frame.columns == names
    assert ranking.to_dict()["users"] == cells.records() == frame.to_dicts()
    head, *lines = cells.tab_separated().splitlines()
    assert head.split("\t") == names
    for line, row in zip(lines, cells.records(), strict=True):
        for text, value in zip(line.split("\t"), row.values(), strict=True):
            if isinstance(value, float):
                assert float(text) == float(f"{value:.6g}")
            else:
                assert text == str(value)


def test_many_users_are_written_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """By Polars or by hand: the same numbers, the same gaps, nothing that ends a cell."""
    table = np.random.default_rng(0).integers(-1, 3, (60, 8))
    table[5] = -1
    users = [f"u{k}" for k in range(58)] + ["tab\there", 'quo"te']
    cells = hnd.rank(make_responses(table, users=users), "majority").cells()
    few = cells.tab_separated(), cells.json()
    monkeypatch.setattr("hitsndiffs.results.cells.POLARS_FROM", 10)
    many = cells.tab_separated(), cells.json()
    import json

    assert json.loads(many[1]) == json.loads(few[1]) == cells.records()
    for one, other in zip(few[0].splitlines(), many[0].splitlines(), strict=True):
        pairs = zip(one.split("\t"), other.split("\t"), strict=True)
        assert all(a == b or float(a) == float(b) for a, b in pairs)
