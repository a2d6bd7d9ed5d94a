"""Items that look wrong, users who guess, and what each group of users chose."""

from __future__ import annotations

import numpy as np
import pytest
from cases_of_ability import exam
from engine_cases import ELSEWHERE
from factory import examples, make_responses, random_table, tables
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import InputError, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods import make
from hitsndiffs.results.check import key_findings
from hitsndiffs.results.diagnostics import best_options, judged_items, option_columns
from hitsndiffs.results.ranking import Ranking

pytestmark = [
    pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning"),
    pytest.mark.xdist_group("diagnostics"),  # one ranking serves many tests
]


@pytest.fixture(scope="module")
def ordinary():
    """The ranking of an ordinary test; option 0 is right everywhere."""
    table, _ = exam(0, users=200, items=30)
    return table, rank(make_responses(table, kind="pandas"), "latent-key")


def columns_of(ranking, key=None):
    r = ranking.responses
    sums = open_engine(r, "numpy")
    return judged_items(sums, ranking.scores, ranking.fit.key_probabilities, key)[0]


def remarks(table, key=None):
    ranking = rank(make_responses(table), "latent-key")
    return columns_of(ranking, key)["remark"]


# -- the likely key -------------------------------------------------------------------------------


def test_mis_keyed_items_are_found(ordinary):
    _, ranking = ordinary
    sure = columns_of(ranking)["confidence"]
    wrong = [int(i) for i in np.flatnonzero(sure > 0.99)[:4]]
    key = {i: 1 if i in wrong else 0 for i in range(30)}
    found = ranking.items(key=key)
    doubted = [i for i in range(30) if "mis-keyed" in found["remark"][i]]
    assert doubted == wrong
    assert found["given_key"].tolist() == [key[i] for i in range(30)]
    assert all("the answers point to 0" in found["remark"][i] for i in wrong)


def test_a_key_that_nobody_chose_is_listed_as_mis_keyed(ordinary):
    _, ranking = ordinary
    right = dict.fromkeys(range(30), 0)
    clean = ranking.items(key=right)["remark"]
    found = ranking.items(key={**right, 4: 9, 7: "Z"})
    assert found["remark"][4].startswith("mis-keyed? nobody chose 9")
    assert found["remark"][7].startswith("mis-keyed? nobody chose Z")
    assert found["given_key"][4] == 9
    assert [r for i, r in enumerate(found["remark"]) if i not in (4, 7)] == [
        r for i, r in enumerate(clean) if i not in (4, 7)
    ]
    said = {f.name: f for f in key_findings(ranking, {**right, 4: 9})}["key"]
    assert "4 (key 9, likely 0)" in said.sentence
    assert said.concern


def test_a_key_of_some_items_is_held_against_those_only(ordinary):
    _, ranking = ordinary
    found = columns_of(ranking, {0: 1})
    assert [i for i, r in enumerate(found["remark"]) if "mis-keyed" in r] in ([0], [])
    assert found["given_key"][0] == 1
    assert (found["given_key"][1:] == None).all()  # noqa: E711


def test_items_with_two_right_answers_are_found():
    hits = false = 0
    for seed in range(4):
        table, _ = exam(seed, users=400, items=25)
        rng = np.random.default_rng(seed)
        for item in (3, 17):  # half of those who are right say it in another way
            right = table[:, item] == 0
            table[right & (rng.random(400) < 0.5), item] = 3
            table[~right & (table[:, item] == 3), item] = 1
        found = [i for i, remark in enumerate(remarks(table)) if "two right answers?" in remark]
        hits += len({3, 17} & set(found))
        false += len(set(found) - {3, 17})
    assert hits >= 4  # of 8; the item itself is part of the score, which hides some
    assert false <= 1


@pytest.mark.parametrize("lead", [0, 3])
def test_two_right_answers_are_found_whichever_leads(lead):
    """Also when the strong choose the second answer a little more often than the likely key."""
    scores = np.linspace(0, 1, 100)
    column = np.full(100, 1)
    column[60:75:2] = 3
    strong = np.arange(75, 100)
    column[strong] = 0 if lead == 0 else 3
    column[strong[:11]] = 3 if lead == 0 else 0
    column[:20] = 2
    r = make_responses(column[:, None])
    probabilities = np.array([0.7, 0.0, 0.0, 0.3])  # the likely key is 0
    found = judged_items(open_engine(r, "numpy"), scores, probabilities)[0]["remark"]
    assert found == ["two right answers? strong users choose 3 too"]


def test_items_on_which_strong_users_disagree_are_found():
    table, _ = exam(2, users=300, items=25)
    table[:, 5] = np.random.default_rng(1).integers(0, 4, 300)
    found = remarks(table)
    assert found[5] == "strong users disagree"
    assert sum(bool(remark) for remark in found) < 8


def test_an_ordinary_test_has_few_remarks(ordinary):
    _, ranking = ordinary
    assert sum(bool(remark) for remark in columns_of(ranking)["remark"]) <= 3


def test_columns_are_what_they_say(ordinary):
    table, ranking = ordinary
    found = columns_of(ranking)
    strong = ranking.scores >= np.quantile(ranking.scores, 0.75)
    for item in range(30):
        key = found["key"][item]
        chose = table[:, item] == key
        assert found["share"][item] == pytest.approx(chose.mean())
        assert found["strong_share"][item] == pytest.approx(chose[strong].mean())
        expected = np.corrcoef(chose, ranking.scores)[0, 1]
        assert found["discrimination"][item] == pytest.approx(expected)
        assert found["answers"][item] == 200


@given(tables(users=(4, 20), items=(1, 8)))
@examples(20, usual=20)
def test_discrimination_is_a_correlation_among_those_who_answered(table):
    table = table[(table >= 0).any(axis=1)]
    r = make_responses(table)
    scores = np.random.default_rng(0).normal(size=r.n_users)
    probabilities = np.random.default_rng(1).random(r.n_options)
    found = judged_items(open_engine(r, "numpy"), scores, probabilities)[0]
    for place, item in enumerate(r.items):
        here = table[:, item] >= 0
        chose = (table[:, item] == found["key"][place])[here]
        if np.ptp(chose.astype(int)) == 0 or here.sum() < 2:
            assert found["discrimination"][place] == pytest.approx(0)
        else:
            expected = np.corrcoef(chose, scores[here])[0, 1]
            assert found["discrimination"][place] == pytest.approx(expected, abs=1e-6)


def test_an_item_without_a_key_has_no_figures_about_it():
    table = random_table(0, 20, 4, 3)
    key = {0: "nobody chose this", 1: 0, 2: 0, 3: 0}
    ranking = rank(make_responses(table), "true-answer", key=key)
    found = columns_of(ranking)
    assert found["key"][0] is None
    for name in ("confidence", "share", "discrimination", "strong_share"):
        assert np.isnan(found[name][0]), name
        assert np.isfinite(found[name][1:]).all(), name
    assert found["remark"][0] == ""


def test_users_who_tie_at_the_bottom_are_not_strong():
    column = np.r_[np.zeros(90), np.ones(10)].astype(int)
    r = make_responses(column[:, None])
    scores = column.astype(float)
    found = judged_items(open_engine(r, "numpy"), scores, np.array([0.1, 0.9]))[0]
    assert found["strong_share"][0] == 1.0


def test_the_likeliest_option_of_each_item():
    r = make_responses(np.array([[0, 0, 0], [1, 1, 1], [2, 1, 0]]))
    p = np.array([0.2, 0.4, 0.4, 0.9, 0.1, np.nan, np.nan])
    option, sure = best_options(r.structure, p)
    assert option.tolist() == [1, 3, -1]
    assert sure[:2].tolist() == [0.4, 0.9]


# -- options by group -----------------------------------------------------------------------------


@given(tables(users=(2, 25), items=(1, 8)), st.integers(1, 5))
@examples(30)
def test_shares_of_a_group_sum_to_one_within_an_item(table, groups):
    table = table[(table >= 0).any(axis=1)]
    r = make_responses(table)
    scores = np.random.default_rng(0).normal(size=r.n_users)
    found = option_columns(open_engine(r, "numpy"), scores, groups)
    names = [name for name in found if name.startswith("share_group")]
    assert len(names) == groups
    for name in names:
        totals = np.add.reduceat(found[name], r.item_starts[:-1])
        np.testing.assert_allclose(totals[~np.isnan(totals)], 1)
    if r.n_users >= groups and (table >= 0).all():
        assert all(np.isfinite(found[name]).all() for name in names)


def test_the_right_option_rises_from_group_to_group(ordinary):
    table, ranking = ordinary
    found = ranking.options(groups=3)
    assert list(found.columns[:3]) == ["item", "option", "choosers"]
    right = found[found["option"] == 0]
    weak, strong = right["share_group_1"].to_numpy(), right["share_group_3"].to_numpy()
    assert (strong > weak).mean() > 0.9
    cut = np.argsort(ranking.scores, kind="stable")
    expected = (table[cut[: int(np.ceil(200 / 3))], 0] == 0).mean()
    assert weak[0] == pytest.approx(expected)
    for groups in (0, -1):
        with pytest.raises(InputError, match="groups must be a whole number from 1 up"):
            ranking.options(groups=groups)


# -- users who guess ------------------------------------------------------------------------------


def test_guessers_are_found_and_able_users_are_not():
    table, ability = exam(4, users=100, items=40)
    table[:15] = np.random.default_rng(2).integers(0, 4, (15, 40))
    ranking = rank(make_responses(table), "latent-key")
    found = set(ranking.guessers().tolist())
    assert len(found & set(range(15))) >= 12
    able = set((15 + np.flatnonzero(ability[15:] > 0)).tolist())
    assert not found & able
    assert rank(make_responses(table), "hnd").guessers().size == 0


# -- in words -------------------------------------------------------------------------------------


def test_findings_say_what_the_tables_say():
    table, _ = exam(0, users=200, items=30)
    own = 10 * np.arange(30)  # every item has options of its own, the first of them right
    ranking = rank(make_responses(table + own, kind="pandas"), "latent-key")
    key = dict(enumerate(own.tolist()))
    wrong = int(np.argmax(columns_of(ranking)["confidence"]))
    key[wrong] += 1
    found = {finding.name: finding for finding in key_findings(ranking, key)}
    assert set(found) == {"likely key", "key", "items", "guessing", "similar answers"}
    assert "No two users" in found["similar answers"].sentence
    right = round(sum(p for _, p in ranking.answer_key(with_confidence=True).values()))
    assert f"About {right} of the 30 answers" in found["likely key"].sentence
    assert found["key"].concern
    said = f"looks wrong: {wrong} (key {key[wrong]}, likely {own[wrong]})"
    assert said in found["key"].sentence


@pytest.mark.parametrize("engine", ["strict", "cupy"])
def test_findings_are_the_same_where_user_arrays_are_not_those_of_numpy(engine):
    r = make_responses(random_table(1, 40, 12, 3, missing=0.1, graded=False))
    here = rank(r, "majority")
    there = Ranking.of(r, make("majority").fit(ELSEWHERE[engine](r)))
    assert there.guessers().tolist() == here.guessers().tolist() != []
    assert list(key_findings(there, None)) == list(key_findings(here, None))
