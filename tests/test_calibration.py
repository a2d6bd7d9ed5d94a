"""How sure is sure: what is learnt on some kinds of data, and judged on others."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.arena import calibration, structure_tables
from benchmarks.arena.structures import STRUCTURES, UNKNOWABLE, structure
from benchmarks.arena.summary import Results
from hitsndiffs.methods.latent_key.confidence import COUNTS, Signs, bound, label_bound, sureness
from hitsndiffs.order.orientation import MOST_CONFIDENCE

CLEAR = Signs(
    steadiness=6.0, lead=8.0, alone=0.0, axis=1.0, rules=1.0, models=1.0, users=5.0,
    reliability=1.0, excess=0.0, one_label=0.0, follows=0.0,
)  # fmt: skip


def made(kinds=6, runs=60, seed=0):
    """Records in which a lead and agreement of the rules make a ranking right."""
    rng = np.random.default_rng(seed)
    records = []
    for kind in list(STRUCTURES)[:kinds]:
        for number in range(runs):
            lead, rules = rng.uniform(2, 8), rng.uniform(0, 1)
            chance = 1 / (1 + np.exp(-(-3 + 0.6 * lead + 1.5 * rules)))
            signs = replace(CLEAR, lead=lead, rules=rules, reliability=rng.uniform(0.9, 1.0))
            rho = 0.9 if rng.random() < chance else -0.5
            rest = {"key_share": 0.5, "sure": 0.8, "most": 1.0, "signs": asdict(signs)}
            records.append({"kind": kind, "seed": number, "rho": rho, **rest})
    return records


# -- the number itself -----------------------------------------------------------------------


@given(
    st.floats(0, 8), st.floats(-1, 1), st.floats(0, 1), st.sampled_from(sorted(COUNTS)),
    st.floats(0, 1),
)  # fmt: skip
def test_what_speaks_for_a_solution_never_lowers_its_probability(lead, rules, rel, name, more):
    signs = replace(CLEAR, lead=lead, rules=rules, reliability=rel)
    better = replace(signs, **{name: min(getattr(signs, name) + more, getattr(CLEAR, name))})
    assert sureness(better) >= sureness(signs) - 1e-12


@given(st.floats(0, 8), st.floats(0, 1), st.floats(0, 2))
def test_it_is_never_surer_than_its_bounds(lead, rel, excess):
    signs = replace(CLEAR, lead=lead, reliability=rel, excess=excess)
    assert sureness(signs) <= min(bound(signs), MOST_CONFIDENCE)


def test_every_bound_has_its_case():
    assert bound(CLEAR) > 0.99
    assert bound(replace(CLEAR, lead=0.0)) == pytest.approx(0.5)
    assert bound(replace(CLEAR, lead=0.0, alone=1.0)) > 0.99
    assert bound(replace(CLEAR, steadiness=0.2)) < 0.6
    assert bound(replace(CLEAR, steadiness=0.2, alone=1.0)) > 0.99
    assert bound(replace(CLEAR, axis=0.5)) < 0.8
    assert bound(replace(CLEAR, models=0.4)) < 0.6
    assert bound(replace(CLEAR, reliability=0.0)) == pytest.approx(0.7)
    assert bound(replace(CLEAR, excess=1.0)) < 0.6
    assert label_bound(CLEAR) == 1.0
    assert label_bound(replace(CLEAR, one_label=1.0)) < 0.6
    assert label_bound(replace(CLEAR, follows=1.0)) < 0.8


# -- what is learnt --------------------------------------------------------------------------


def test_planted_counts_are_found_and_none_is_below_zero():
    records = made(runs=400)
    for record in records:
        record["signs"]["axis"] = 1.0 if record["rho"] < 0 else 0.0  # speaks against: not used
    found = calibration.fitted(records, ("lead", "rules", "axis"), penalty=0.1)
    assert found.counts["axis"] == 0.0
    planted = calibration.fitted(records, ("lead", "rules"), penalty=0.1)
    assert planted.counts["lead"] == pytest.approx(0.6, abs=0.15)
    assert planted.counts["rules"] == pytest.approx(1.5, abs=0.5)


def test_the_fit_is_where_the_likelihood_is_highest():
    records = made(runs=50)
    found = calibration.fitted(records, ("lead", "rules"), penalty=5.0)
    x = np.array([[r["signs"]["lead"], r["signs"]["rules"]] for r in records])
    y = np.array([r["rho"] > 0.3 for r in records])
    kept = np.array([bound(Signs(**r["signs"])) >= calibration.FREE for r in records])
    x, y = x[kept], y[kept]
    kinds = np.array([r["kind"] for r in records])[kept]
    weight = np.array([len(y) / 6 / (kinds == k).sum() for k in kinds])
    prior = calibration.PSEUDO * len(y) / 6

    def loss(constant, counts):
        eta = constant + x @ counts
        middle = constant + x.mean(axis=0) @ counts
        at_prior = calibration.EXPECTED * np.logaddexp(0, -middle)
        at_prior += (1 - calibration.EXPECTED) * np.logaddexp(0, middle)
        fit = (weight * np.logaddexp(0, np.where(y, -eta, eta))).sum() + prior * at_prior
        return fit + 5.0 / 2 * ((counts * x.std(axis=0)) ** 2).sum()

    best = np.array([found.constant, *found.counts.values()])
    here = loss(best[0], best[1:])
    for way in np.vstack([np.eye(3), -np.eye(3)]):
        there = best + 0.02 * way
        assert loss(there[0], there[1:]) > here


def test_what_is_said_of_a_kind_does_not_depend_on_it():
    records = made(runs=30)
    turned = [r | {"rho": -r["rho"]} if r["kind"] == "runs" else r for r in records]
    here = np.array([r["kind"] == "runs" for r in records])
    one, other = calibration.left_out(records), calibration.left_out(turned)
    np.testing.assert_array_equal(one[here], other[here])
    assert not np.array_equal(one[~here], other[~here])


def test_ninety_per_cent_is_said_only_where_kinds_left_out_bear_it_out():
    sure = [r | {"rho": 0.9} for r in made(kinds=17, runs=20)]
    assert calibration.learn(sure).most == 1.0
    rng = np.random.default_rng(0)
    doubtful = [r | {"rho": 0.9 if rng.random() < 0.8 else -0.9} for r in sure]
    assert calibration.learn(doubtful).most < 0.9


def test_judging_counts():
    signs = asdict(CLEAR)
    records = [
        {"kind": kind, "seed": 0, "rho": rho, "most": 1.0, "signs": signs}
        for kind, rho in (("exam", 0.9), ("exam", 0.8), ("runs", -0.4), ("runs", 0.5))
    ]
    found = calibration.judged(records, np.array([0.95, 0.75, 0.95, 0.55]))
    assert found["brier"] == pytest.approx((0.05**2 + 0.25**2 + 0.95**2 + 0.45**2) / 4)
    assert found["calibration error"] == pytest.approx((2 * 0.45 + 0.25 + 0.45) / 4)
    assert found["kinds"]["runs"] == {
        "runs": 2, "right": 0.5, "said": 0.75, "sure": 1, "sure and right": 0.0
    }  # fmt: skip


def test_records_are_kept_and_added_to(tmp_path):
    path = tmp_path / "signs.jsonl"
    first = calibration.collect(path, 1, ["exam"])
    assert [(r["kind"], r["seed"]) for r in first] == [("exam", 0)]
    assert set(first[0]["signs"]) == set(asdict(CLEAR))
    both = calibration.collect(path, 2, ["exam"])
    assert both[0] == first[0]
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(both) == 2
    assert calibration.records_of(tmp_path / "nothing.jsonl") == []


# -- kinds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STRUCTURES)
def test_kinds_are_settled_by_their_seed(kind):
    one, again, other = structure(kind, 1), structure(kind, 1), structure(kind, 2)
    for a, b in zip(one.responses.rows, again.responses.rows, strict=True):
        np.testing.assert_array_equal(a, b)
    assert one.key == again.key
    here, there = (case.responses.choosers_per_option.tolist() for case in (one, other))
    assert here != there


def test_what_cannot_be_known_is_among_the_kinds_and_has_a_reason():
    assert set(UNKNOWABLE) < set(STRUCTURES)
    assert all(len(why.split()) > 8 for why in UNKNOWABLE.values())


def test_marks_are_as_likely_with_right_and_wrong_exchanged():
    # the argument for "marks" in numbers: abilities and difficulties reversed as well
    rng = np.random.default_rng(0)
    theta, hard, slope = rng.normal(size=50), rng.normal(size=50), rng.lognormal(size=50)
    right = 1 / (1 + np.exp(-slope * (theta - hard)))
    wrong_when_turned = 1 - 1 / (1 + np.exp(-slope * (-theta + hard)))
    np.testing.assert_allclose(right, wrong_when_turned)


def test_the_page_counts_wrong_rankings_that_were_mended():
    records = [r | {"rho": 0.9} for r in made(runs=30)]
    for r in records:
        if r["seed"] == 0 and r["kind"] in ("runs", "letters"):
            r["rho"] = -0.5
    cells = {
        ("auto + 2 asked answers", "structure/runs", 0): {"accuracy": 0.9},
        ("auto + 2 asked answers", "structure/letters", 0): {"accuracy": 0.2},
    }
    text = structure_tables.section(Results(cells), records)
    assert "| runs | 1 of 1 | – |" in text
    assert "| letters | 0 of 1 | – |" in text
    verdicts = structure_tables.verdicts(Results(cells), records)
    assert [v.outcome for v in verdicts] == ["**not met**", "met", "**not met**"]
    assert verdicts[2].figure.startswith("1 of 2")
