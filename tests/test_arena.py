"""The arena: settings are what they say, cells are kept, and a small run writes a page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.arena import __main__ as arena
from benchmarks.arena import measuring, real, running
from benchmarks.arena.cases import Case
from benchmarks.arena.settings import SETTINGS
from benchmarks.arena.summary import Difference, Results, no_worse
from hitsndiffs import Responses


def same(a, b) -> bool:
    return a is b is None or np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_settled_by_their_seed(name):
    one, again, other = SETTINGS[name](1), SETTINGS[name](1), SETTINGS[name](2)
    assert np.array_equal(one.responses.codes, again.responses.codes)
    assert one.key == again.key
    assert same(one.abilities, again.abilities)
    assert not np.array_equal(one.responses.codes, other.responses.codes)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_truth_belongs_to_the_responses(name):
    case = SETTINGS[name](0)
    r = case.responses
    assert set(case.key) == set(r.items.tolist())
    labels = {str(label) for label in r.option_labels}
    assert set(case.key.values()) <= labels
    shares = measuring.true_shares(case)
    if case.abilities is not None:
        assert case.abilities.shape == (r.n_users,)
    if case.expected is not None:
        assert np.array_equal(np.isnan(case.expected), r.answers_per_user == 0)
        off = (shares - case.expected)[r.answers_per_user > 0]
        # an answer has a variance of a quarter at most
        n = r.answers_per_user[r.answers_per_user > 0]
        assert abs(off @ n) < 5 * np.sqrt(0.25 * n.sum())


def test_normal_abilities_are_normal():
    drawn = [SETTINGS["paper/half-moon"](seed).abilities for seed in range(20)]
    assert np.std(np.concatenate(drawn)) == pytest.approx(1.0, abs=0.1)
    assert SETTINGS["paper/half-moon"](0).normal
    assert not SETTINGS["paper/grm"](0).normal


def small_case() -> Case:
    answers = [list("AAA"), list("AAB"), list("ABB"), list("BBC")]
    responses = Responses.from_wide(answers, users=list("wxyz"), items=["i", "j", "k"])
    return Case(responses, {"i": "A", "j": "A", "k": "D"}, np.array([4.0, 3.0, 2.0, 1.0]))


def test_right_answers_are_counted_with_keys_that_nobody_chose():
    assert measuring.true_shares(small_case()).tolist() == [2 / 3, 2 / 3, 1 / 3, 0]


def test_a_cell_is_judged_by_the_truth():
    record = measuring.measure("hnd", small_case(), 0)
    assert record["ability"] == pytest.approx(1.0)
    assert record["consistent"] is True
    assert record["key_share"] == pytest.approx(2 / 3)


def test_known_answers_are_drawn_from_the_options_chosen():
    case = small_case()
    told = measuring.ANCHORED["auto + 5 known answers"].told
    assert told(case, measuring.true_shares(case), 0) == {"answers": {"i": "A", "j": "A"}}


def test_a_method_that_does_not_apply_leaves_a_word():
    record = measuring.measure("true-answer", Case(small_case().responses, {}), 0)
    assert set(record) == {"error"}


def test_cells_are_kept_until_the_source_changes(tmp_path, monkeypatch):
    store = running.Store(tmp_path)
    store.add(("hnd", "paper/grm", 0), {"accuracy": 0.5})
    with store.path.open("a", encoding="utf-8") as file:
        file.write('{"contestant": "hnd", "da')
    assert running.Store(tmp_path).records == {("hnd", "paper/grm", 0): {"accuracy": 0.5}}
    monkeypatch.setattr(running, "_source", lambda contestant: "something else")
    assert running.Store(tmp_path).records == {}


def test_a_fingerprint_follows_imports_and_settings():
    source = running._source("majority")
    assert "class Majority" in source
    assert "class Responses" in source
    assert "class LatentKey" not in source
    assert "class LatentKey" in running._source("auto")
    prints = {running.fingerprint("hnd", name) for name in SETTINGS}
    assert len(prints) == len(SETTINGS)


def test_every_set_is_in_one_half():
    assert sorted(real.DEVELOP + real.ASIDE) == sorted(real.PAPER + real.OTHERS)
    assert len(real.DEVELOP) == len(real.ASIDE) == 8


def test_a_target_missed_within_its_error_is_said_to_be():
    def outcome(mean, error, **options):
        return no_worse("t", {"s": Difference(mean, error, 20)}, **options).outcome

    assert outcome(0.01, 0.001) == "met"
    assert outcome(-0.001, 0.001) == "met within error"
    assert outcome(-0.01, 0.001) == "**not met**"
    assert outcome(-0.002, 0.0001, allowed=0.003) == "met"
    assert outcome(-0.01, float("nan")) == "**not met**"


def test_differences_are_paired():
    results = Results(
        {
            ("a", "d", 0): {"x": 1.0},
            ("a", "d", 1): {"x": 3.0},
            ("b", "d", 1): {"x": 2.0},
            ("b", "d", 2): {"x": 9.0},
        }
    )
    assert results.difference("a", "b", "d", "x").mean == 1.0
    assert results.difference("a", "b", "d", "x").n == 1


def test_a_small_run_writes_a_page_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.delenv(real.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    only = ["--data", "paper/c1p,test/10*", "--methods", "auto,hnd,majority", "--jobs", "1"]
    arena.main(["--settings-runs", "1", "--paper-runs", "1", *only])
    page = (tmp_path / "docs" / "arena.md").read_text(encoding="utf-8")
    assert "certified, and as exact as HnD | 1 of 1 certified" in page
    kept = (tmp_path / ".arena" / "cells.jsonl").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 6
    monkeypatch.setattr(running, "measure", None)  # nothing is left to measure
    arena.main(["--settings-runs", "1", "--paper-runs", "1", *only])


@pytest.mark.data
def test_real_sets_and_parts_of_them_are_read(data_folder):
    assert real.present()
    name = real.present()[0]
    whole, part = real.load(name), real.part(name, 0)
    assert set(part.key) == set(part.responses.items.tolist()) <= set(whole.key)
    assert part.responses.n_users <= real.PART_USERS
    assert np.array_equal(part.responses.codes, real.part(name, 0).responses.codes)
