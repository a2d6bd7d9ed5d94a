"""The arena: data are what they say, cells are kept, and a small run writes a page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.arena import __main__ as arena
from benchmarks.arena import measuring, page, real, running
from benchmarks.arena.cases import Case
from benchmarks.arena.settings import SETTINGS
from benchmarks.arena.story_kinds import STORIES, told
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
    told = measuring.KNOWN["auto + 5 known answers"].told
    assert told(case, measuring.true_shares(case), 0) == {"answers": {"i": "A", "j": "A"}}


def test_a_method_that_does_not_apply_leaves_a_word():
    record = measuring.measure("true-answer", Case(small_case().responses, {}), 0)
    assert set(record) == {"error"}


@pytest.mark.parametrize("name", STORIES)
def test_stories_are_valid_and_settled_by_their_number(name):
    case, again, other = told(name, 0), told(name, 0), told(name, 3)
    assert np.array_equal(case.responses.codes, again.responses.codes)
    assert not np.array_equal(case.responses.codes, other.responses.codes)
    shares = case.shares
    assert np.isnan(shares).all() or np.nanstd(shares) > 0
    if case.key and not np.isnan(shares).any():
        by_key = measuring.true_shares(Case(case.responses, case.key))
        assert np.allclose(by_key, shares)


def test_there_are_stories_of_every_sort():
    made = [told(name, 0) for name in STORIES]
    nothing = [np.isnan(case.shares).all() for case in made]
    assert sum(nothing) >= 5
    assert any(not case.key and not void for case, void in zip(made, nothing, strict=True))


ONLY = [
    "--data", "paper/c1p,test/10*,story/plain*", "--methods", "auto*,hnd,majority",
    "--settings-runs", "1", "--paper-runs", "1", "--stories-runs", "1",
]  # fmt: skip


def test_a_run_is_the_same_in_any_number_of_processes_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.delenv(real.VARIABLE, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    files = [tmp_path / f"{jobs}.json" for jobs in (1, 2)]
    for jobs, file in zip("12", files, strict=True):
        arena.main([*ONLY, "--jobs", jobs, "--results", str(file), "--page", str(tmp_path / "p")])
    one, two = map(running.read, files)
    for records in (one, two):
        for record in records.values():
            record.pop("seconds", None)
    assert one == two
    assert len(one) == 3 + 3 + 2
    monkeypatch.setattr(running, "measure", None)  # nothing is left to measure
    arena.main([*ONLY, "--jobs", "1", "--results", str(files[0]), "--page", str(tmp_path / "p")])
    text = (tmp_path / "p").read_text(encoding="utf-8")
    assert "| **plain exam**: A test of four options, as they come. | 1 |" in text


def test_the_page_counts_what_was_sure_and_wrong():
    def record(accuracy, confidence):
        return {"accuracy": accuracy, "confidence": confidence, "seconds": 1.0, "size": [3, 2, 6]}

    cells = {
        ("auto", "real/mcq/IT", 0): record(0.9, 0.5),
        ("auto", "real/mcq/Science", 0): record(-0.2, 0.7),
        ("auto", "story/noise", 0): {"confidence": 0.85},
        ("auto", "story/noise", 1): {"confidence": 0.5},
        ("auto", "structure/exam", 0): record(0.1, 0.9),
        (measuring.ASKED, "structure/exam", 0): record(0.8, 0.9),
    }
    text = page.page(cells)
    assert "below 0.3 on 1: Science, and less than 0.6 with one above 0.7 on 1: IT (of 2" in text
    assert "| 2 | – | 0 | 0.68 | 1 | 1 | – |" in text
    assert "| **exam** | 1 | 0.10 | 0 | 0.90 | 1 | 1 | 1 of 1 |" in text
    assert "| 0.8–1.0 | – | – | – | 0.00 of 1 | – | 0.00 of 1 |" in text


def test_the_page_keeps_the_ablation_of_the_one_before():
    table = f"{page.ablation.BEGIN}\n\nwhat each part buys\n\n{page.ablation.END}"
    assert table in page.page({}, f"before\n\n{table}\n\nafter\n")


@pytest.mark.data
def test_real_sets_and_parts_of_them_are_read(data_folder):
    assert real.present()
    name = real.present()[-1]
    whole, part = real.load(name), real.part(name, 0)
    assert set(part.key) == set(part.responses.items.tolist()) <= set(whole.key)
    assert part.responses.n_users <= real.PART_USERS
    assert np.array_equal(part.responses.codes, real.part(name, 0).responses.codes)
