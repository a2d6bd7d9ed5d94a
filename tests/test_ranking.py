"""Ranking: everything it offers to people and machines."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, replace

import naive_spectral as naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from factory import examples, make_responses, random_table, tables
from hypothesis import given

import hitsndiffs
from hitsndiffs import InputError, Ranking, Responses, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods import METHODS, Fit
from hitsndiffs.methods.keys import best_option_probabilities, key_from_scores

#: Six users of a graded test, one of whom gave no answers.
TABLE = np.array(
    [
        [0, 0, 1, 0],
        [2, 1, 0, 1],
        [0, 0, 0, 0],
        [-1, -1, -1, -1],
        [0, 0, 1, 1],
        [2, 1, 2, 1],
        [0, 1, 1, 1],
    ]
)
NAMES = ["ann", "bob", "cy", "dee", "eve", "flo", "gus"]


@pytest.fixture
def ranking() -> Ranking:
    r = make_responses(TABLE, users=NAMES, items=["q1", "q2", "q3", "q4"], kind="polars")
    return rank(r, method="hnd")


def columns_of(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    if isinstance(frame, pd.DataFrame):
        return {name: frame[name].tolist() for name in frame.columns}
    return frame.to_dict(as_series=False)


# -- attributes ----------------------------------------------------------------------------------


def test_attributes_are_aligned_with_the_users(ranking):
    assert ranking.users.tolist() == NAMES
    for name in ("scores", "ranks", "standard_errors", "components"):
        assert getattr(ranking, name).shape == (7,), name
    assert np.isnan(ranking.scores[3])
    assert ranking.components.tolist() == [0, 0, 0, -1, 0, 0, 0]
    assert ranking.n_components == 1
    assert ranking.order[-1] == 3
    assert (ranking.standard_errors[[0, 1, 2, 4, 5, 6]] > 0).all()
    assert ranking.method == "hnd"
    assert ranking.parameters["solver"] == "lanczos"
    assert ranking.by == "score"
    assert ranking.abilities is None
    assert ranking.correct is None
    assert ranking.converged
    assert ranking.n_iterations > 0
    assert 0 <= ranking.confidence <= 1
    assert 0 < ranking.fit.spectral_gap <= 1
    assert ranking.version == hitsndiffs.__version__
    assert isinstance(ranking.consistent, bool)


@given(tables())
@examples(40)
def test_order_and_ranks_fit_together(table):
    found = rank(make_responses(table), method="hnd")
    assert sorted(found.order.tolist()) == list(range(len(table)))
    ranks, parts = found.ranks[found.order], found.components[found.order]
    answered = parts >= 0
    assert not np.isnan(ranks[answered]).any()
    assert np.isnan(ranks[~answered]).all()
    assert not answered[np.argmin(answered) :].any() or answered.all()
    assert (np.diff(parts[answered]) >= 0).all()
    same = parts[answered][1:] == parts[answered][:-1]
    assert (np.diff(ranks[answered])[same] >= 0).all()


def test_a_ranking_cannot_be_changed(ranking):
    with pytest.raises(FrozenInstanceError):
        ranking.scores = np.zeros(7)
    for name in ("scores", "ranks", "components", "order"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ranking, name)[0] = 1

    assert pickle.loads(pickle.dumps(ranking)).to_json() == ranking.to_json()


def test_users_are_found_by_name(ranking):
    assert len(ranking) == 7
    assert list(ranking) == [NAMES[j] for j in ranking.order]
    assert "eve" in ranking
    assert "eva" not in ranking
    assert ranking["eve"]["rank"] == ranking.ranks[4]
    with pytest.raises(KeyError):
        ranking["eva"]


# -- by= -----------------------------------------------------------------------------------------


class Both(METHODS["majority"]):
    """A method with two kinds of scores, the expected share being its own."""

    def _fit(self, data):
        fit = super()._fit(data)
        return replace(fit, abilities=-fit.scores)


def test_by_chooses_the_scores():
    method = Both().fit(make_responses(TABLE))
    r = make_responses(TABLE)
    plain, correct, ability = (Ranking.of(r, method, by) for by in (None, "correct", "ability"))
    # although a user without answers makes the arrays copies of what the method returned
    assert (plain.by, correct.by, ability.by) == ("correct", "correct", "ability")
    np.testing.assert_array_equal(plain.scores, correct.scores)
    np.testing.assert_array_equal(ability.scores, -plain.scores)
    assert ability.ranks[np.nanargmin(plain.scores)] == 1
    # errors belong to the scores that the method made them for
    assert np.isfinite(plain.standard_errors[0])
    assert np.isnan(ability.standard_errors).all()


def test_by_says_what_there_is():
    with pytest.raises(InputError, match="correct, ability; got 'skill'"):
        rank(make_responses(TABLE), method="hnd", by="skill")
    with pytest.raises(
        InputError, match="no 'ability' score; leave 'by' out to rank by its own score"
    ):
        rank(make_responses(TABLE), method="hnd", by="ability")
    with pytest.raises(InputError, match="no 'ability' score; rank by 'correct'"):
        rank(make_responses(TABLE), method="majority", by="ability")


# -- tables --------------------------------------------------------------------------------------

KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "numpy": pl.DataFrame,
    "file": pl.DataFrame,
}


def numbers(values):
    """Numbers with NaN for what is missing, from any kind of frame."""
    return np.array([np.nan if v is None or v is pd.NA or v != v else float(v) for v in values])


@pytest.mark.parametrize("kind", KINDS)
def test_tables_come_in_the_kind_that_came_in(kind):
    r = make_responses(TABLE, users=NAMES, kind=kind)
    found = rank(r, method="hnd")
    for frame in (found.table(), found.option_weights(), found.items()):
        assert isinstance(frame, KINDS[kind])
    columns = columns_of(found.table())
    assert list(columns) == [
        "rank", "user", "tier", "score", "standard_error", "rank_low", "rank_high", "answers",
        "component",
    ]  # fmt: skip
    assert columns["user"] == [NAMES[j] for j in found.order]
    np.testing.assert_array_equal(numbers(columns["rank"]), found.ranks[found.order])
    np.testing.assert_array_equal(numbers(columns["score"]), found.scores[found.order])
    np.testing.assert_array_equal(
        numbers(columns["standard_error"]), found.standard_errors[found.order]
    )
    assert columns["answers"] == [4] * 6 + [0]
    np.testing.assert_array_equal(numbers(columns["component"]), [0] * 6 + [np.nan])


def test_extra_scores_have_columns_of_their_own():
    r = make_responses(TABLE)
    columns = columns_of(Ranking.of(r, Both().fit(r)).table())
    np.testing.assert_array_equal(columns["correct"], columns["score"])
    np.testing.assert_array_equal(-numbers(columns["ability"]), numbers(columns["score"]))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_several_types_fit_into_one_column(kind):
    """One item answered with numbers, another with words."""
    labels = np.array([1, 2, "yes", "no"], dtype=object)
    r = Responses(
        users=np.array(["a", "b", "c"], dtype=object),
        items=np.array(["q", 7], dtype=object),
        option_labels=labels,
        item_starts=np.array([0, 2, 4]),
        codes=np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8),
        kind=kind,
    )
    found = rank(r, method="hnd", strong_user="a")
    columns = columns_of(found.option_weights())
    assert [str(x) for x in columns["option"]] == ["1", "2", "yes", "no"]
    assert [str(x) for x in columns["item"]] == ["q", "q", "7", "7"]
    assert [str(x) for x in columns_of(found.items())["key"]] == ["1", "yes"]
    assert json.loads(found.to_json())["answer_key"]["7"]["option"] == "yes"


def test_option_weights(ranking):
    columns = columns_of(ranking.option_weights())
    assert list(columns) == ["item", "option", "weight", "choosers", "key_probability"]
    c = naive.C(TABLE)
    assert columns["item"] == ["q1"] * 2 + ["q2"] * 2 + ["q3"] * 3 + ["q4"] * 2
    assert columns["option"] == [0, 2, 0, 1, 0, 1, 2, 0, 1]
    assert columns["choosers"] == c.sum(axis=0).tolist()
    scores = np.nan_to_num(ranking.scores)
    np.testing.assert_allclose(columns["weight"], naive.C_col(c).T @ scores, atol=1e-9)


# -- the key -------------------------------------------------------------------------------------


def test_answer_key(ranking):
    assert ranking.answer_key() == {"q1": 0, "q2": 0, "q3": 1, "q4": 0}
    sure = ranking.answer_key(with_confidence=True)
    assert {item: option for item, (option, _) in sure.items()} == ranking.answer_key()
    for item, (option, p) in sure.items():
        assert type(option) is int
        assert 0.3 < p <= 1, item
    columns = columns_of(ranking.items())
    assert columns["item"] == ["q1", "q2", "q3", "q4"]
    assert columns["answers"] == [6, 6, 6, 6]
    assert columns["options"] == [2, 2, 3, 2]
    assert columns["key"] == [0, 0, 1, 0]
    np.testing.assert_allclose(columns["confidence"], [p for _, p in sure.values()])
    np.testing.assert_allclose(columns["share"], [4 / 6, 3 / 6, 3 / 6, 2 / 6])


@given(tables())
@examples(60)
def test_key_probabilities_sum_to_one_within_an_item(table):
    found = rank(make_responses(table), method="hnd")
    p = found.fit.key_probabilities
    assert ((p >= 0) & (p <= 1 + 1e-12)).all()
    np.testing.assert_allclose(np.add.reduceat(p, found.responses.item_starts[:-1]), 1.0)
    for _, sure in found.answer_key(with_confidence=True).values():
        assert 0 <= sure <= 1 + 1e-12


@pytest.mark.parametrize("params", [{}, {"reading": 2}, {"answers": {"q3": 1}}])
def test_the_key_is_no_surer_than_the_readings_allow(params):
    """By hand: the chance of each reading times its key, and the rest shared out evenly."""
    r = make_responses(random_table(20, 30, 8, 3), items=[f"q{j}" for j in range(8)])
    ranking = rank(r, **params)
    readings, number = ranking.fit.readings, params.get("reading", 1) - 1
    assert len(readings) > 1
    starts = r.item_starts
    for item in range(r.n_items):
        own = slice(starts[item], starts[item + 1])
        expected = ranking.fit.key_probabilities[own]
        if r.items[item] not in params.get("answers", {}):
            expected = expected * readings[number].probability
            left = 1 - readings[number].probability
            for other in (each for k, each in enumerate(readings) if k != number):
                expected = expected + other.probability * other.key[own]
                left -= other.probability
            expected = expected + left / len(expected)
        np.testing.assert_allclose(ranking.key_chances[own], expected, rtol=1e-12)
        assert ranking.key_chances[own].sum() == pytest.approx(1)
    sure = ranking.answer_key(with_confidence=True)
    untold = [p for item, (_, p) in sure.items() if item not in params.get("answers", {})]
    assert max(untold) < max(np.nanmax(reading.key) for reading in readings)
    assert ranking.answer_key() == {item: option for item, (option, _) in sure.items()}
    if "answers" in params:
        assert sure["q3"] == (1, 1.0)


def test_the_key_follows_the_sign():
    r = make_responses(random_table(3, 40, 10, 3))
    up = rank(r, method="hnd")
    down = rank(r, method="hnd", strong_user=int(up.order[-1]))
    assert up.answer_key() != down.answer_key()


def test_the_probability_of_being_the_best_is_right_for_any_mixture_of_widths():
    """One option with thousands of choosers beside one with a single chooser."""
    rng = np.random.default_rng(1)
    for k in (2, 3, 5, 30):
        mean, spread = rng.normal(size=k) * 0.3, 10 ** rng.uniform(-3, 0, size=k)
        data = open_engine(make_responses(np.arange(k)[:, None]))
        drawn = mean + spread * rng.standard_normal((200_000, k))
        expected = np.bincount(drawn.argmax(axis=1), minlength=k) / len(drawn)
        found = best_option_probabilities(data, mean, spread)
        np.testing.assert_allclose(found, expected, atol=0.006)


def test_ablest_choosers_make_the_key_and_rare_options_do_not():
    """Option 0 is chosen by the upper half, 1 by the lower; the single best chose option 2."""
    m = 100
    scores = np.linspace(2, -2, m)
    table = np.where(np.arange(m) < 50, 0, 1)
    table[0] = 2
    table = np.column_stack([table, np.arange(m) % 2])
    r = make_responses(table)
    p = key_from_scores(open_engine(r), scores)
    assert p[0] > 0.2
    assert p[1] < 1e-6
    assert p[0] + p[1] + p[2] == pytest.approx(1)
    assert abs(p[3] - p[4]) < 0.5


def test_means_that_are_known_need_not_be_summed_again():
    r = make_responses(random_table(3, 40, 6, 3, missing=0.2))
    sums, scores = open_engine(r), np.random.default_rng(0).standard_normal(r.n_users)
    means = sums.choosers(scores) / r.choosers_per_option
    np.testing.assert_allclose(
        key_from_scores(sums, scores, means), key_from_scores(sums, scores), rtol=1e-9
    )
    assert (key_from_scores(sums, scores, -means) != key_from_scores(sums, scores)).any()


def test_an_item_without_a_key_is_left_out(ranking):
    p = ranking.fit.key_probabilities.copy()
    p[ranking.responses.option_items == 1] = np.nan
    found = replace(ranking, fit=replace(ranking.fit, key_probabilities=p))
    assert found.answer_key() == {"q1": 0, "q3": 1, "q4": 0}
    assert columns_of(found.items())["key"] == [0, None, 1, 0]
    assert np.isnan(numbers(columns_of(found.items())["confidence"])[1])
    assert "q2" not in json.loads(found.to_json())["answer_key"]


def test_a_method_without_a_key_says_so(ranking):
    bare = replace(ranking, fit=Fit(scores=ranking.scores))
    with pytest.raises(InputError, match="does not infer an answer key"):
        bare.answer_key()
    assert bare.to_dict()["answer_key"] is None
    assert "key" not in columns_of(bare.items())
    assert np.isnan(numbers(columns_of(bare.option_weights())["weight"])).all()
    assert np.isnan(bare.standard_errors).all()
    assert bare.fit.spectral_gap is None


# -- machines and people -------------------------------------------------------------------------


def test_json_holds_everything_and_comes_back(ranking):
    plain = json.loads(ranking.to_json())
    assert plain == ranking.to_dict()
    for name in (
        "method", "parameters", "version", "by", "n_users", "n_items", "n_options", "n_responses",
        "users", "n_components", "consistent", "orientation", "confidence", "eigenvalues",
        "spectral_gap", "converged", "n_iterations", "details", "answer_key", "notes",
        "reliability",
    ):  # fmt: skip
        assert name in plain, name
    assert set(plain["orientation"]) == {"how", "margin", "confidence"}
    assert plain["parameters"]["solver"] == "lanczos"
    users = plain["users"]
    assert set(users[0]) == {
        "user", "rank", "tier", "score", "standard_error", "rank_low", "rank_high", "answers",
        "component",
    }  # fmt: skip
    assert [u["user"] for u in users] == [NAMES[j] for j in ranking.order]
    assert users[-1] == {
        "user": "dee", "rank": None, "score": None, "standard_error": None, "rank_low": None,
        "rank_high": None, "answers": 0, "component": None, "tier": None,
    }  # fmt: skip
    assert users[0]["score"] == ranking.scores[ranking.order[0]]
    assert plain["answer_key"]["q1"] == {
        "option": 0,
        "confidence": ranking.answer_key(with_confidence=True)["q1"][1],
    }
    assert any("dee" in note for note in plain["notes"])


def test_json_takes_any_label_and_parameter():
    import datetime

    days = [datetime.date(2024, 5, d) for d in (13, 14, 15)]
    r = Responses(
        users=np.array(days, dtype=object),
        items=np.array([0, 1, 2]),
        option_labels=np.array([*days, *days[:2], days[0]], dtype=object),
        item_starts=np.array([0, 3, 5, 6]),
        codes=np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], dtype=np.uint8),
    )
    plain = json.loads(rank(r, method="hnd", answers={0: "x"}, strong_user=days[2]).to_json())
    assert plain["users"][0]["user"] == "2024-05-15"
    assert plain["answer_key"]["2"]["option"] == "2024-05-13"
    assert plain["parameters"]["answers"] == {"0": "x"}


def test_json_of_an_undetermined_ranking_is_strict():
    """All alike: no gap, no errors; the text must still be JSON, which knows no NaN."""
    text = rank(make_responses(np.zeros((3, 2), dtype=int)), method="hnd").to_json()

    def refuse(constant):
        raise AssertionError(constant)

    plain = json.loads(text, parse_constant=refuse)
    assert plain["spectral_gap"] is None
    assert plain["users"][0]["standard_error"] is None


def test_notes_hold_those_of_the_data_and_many_silent_users_are_counted():
    table = np.concatenate([TABLE[:3], np.full((8, 4), -1)])
    notes = rank(make_responses(table).with_notes(["Row 7 was dropped."]), method="hnd").notes
    assert notes[0] == "Row 7 was dropped."
    (note,) = [n for n in notes if "be ranked" in n]
    assert note == "8 users gave no answers and cannot be ranked: 3, 4, 5, 6, 7 and 3 more."


def test_repr_shows_the_best(ranking):
    lines = repr(ranking).split("\n")
    assert lines[0].startswith("Ranking by hnd: 7 users × 4 items, ")
    assert lines[0].endswith("confidence 50 %")
    assert lines[1] == ranking.verdict
    assert [line.split() for line in lines[2:7]] == [
        [f"{ranking.ranks[j]:.0f}", NAMES[j]] for j in ranking.order[:5]
    ], "an order in doubt is shown without scores"
    assert lines[7].strip() == "…  (2 more)"


def test_html_escapes_names():
    users = ["<script>alert(1)</script>", "a&b", *[f"u{j}" for j in range(38)]]
    page = rank(make_responses(random_table(0, 40, 8, 3), users=users), method="hnd")._repr_html_()
    assert "<script>" not in page
    assert page.count("<tr>") == 16
    assert "… and 25 more users" in page
    small = rank(make_responses(TABLE, users=["<b>", *NAMES[1:]]), method="hnd")._repr_html_()
    assert "&lt;b&gt;" in small
    assert "more user" not in small
    assert "dee" in small
