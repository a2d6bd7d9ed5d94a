"""Every method is an estimator: by name at the top, in scikit-learn's pipelines, by its checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import QUIZ
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import hitsndiffs as hnd
from hitsndiffs.methods import METHODS

#: Checks that do not apply, and why.
NOT_FOR_CATEGORIES = {
    "check_estimators_empty_data_messages": "says in other words that there are no columns",
    "check_fit2d_1sample": "says in other words that one user cannot be ranked",
}
#: These need a key or an order of the options; the checks give none.
TOLD = {"true-answer", "grm"}
CLASSES = [cls for name, cls in METHODS.items() if name not in TOLD]
#: The checks fit some forty times; slow methods have them from their base class.
QUICK = [hnd.HND, hnd.ABH, hnd.HITS, hnd.Majority, hnd.PooledInvestment, hnd.DawidSkene]


@pytest.mark.parametrize("cls", QUICK)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(cls: type) -> None:
    found = check_estimator(
        cls(), expected_failed_checks=NOT_FOR_CATEGORIES, on_fail="raise", on_skip=None
    )
    assert sum(result["status"] == "passed" for result in found) > 30


@pytest.mark.parametrize("cls", METHODS.values())
def test_every_method_has_its_class_at_the_top(cls: type) -> None:
    assert getattr(hnd, cls.__name__) is cls
    params = cls().get_params()
    assert clone(cls(**params)).get_params() == params


@pytest.mark.parametrize("cls", CLASSES)
def test_fit_takes_what_rank_takes(cls: type) -> None:
    table = np.random.default_rng(0).integers(0, 3, (30, 12))
    fitted = cls().fit(table)
    check_is_fitted(fitted)
    np.testing.assert_array_equal(fitted.scores_, cls().fit_predict(table))
    np.testing.assert_array_equal(
        fitted.scores_, cls().fit(hnd.Responses.from_wide(table), y=None).scores_
    )
    np.testing.assert_array_equal(fitted.scores_, cls().fit_predict(pd.DataFrame(table)))


def test_a_pipeline_ends_in_a_method() -> None:
    table = np.random.default_rng(0).integers(0, 3, (30, 12))
    lost = FunctionTransformer(lambda X: np.where(X == 2, -1, X))
    found = make_pipeline(lost, hnd.Majority()).fit_predict(table)
    expected = hnd.Majority().fit_predict(np.where(table == 2, -1, table))
    np.testing.assert_array_equal(found, expected)


# -- what rank takes ------------------------------------------------------------------------------


def test_rank_takes_a_path_in_any_form() -> None:
    read = hnd.rank(hnd.read_responses(QUIZ), "hnd")
    assert hnd.rank(str(QUIZ), "hnd") == hnd.rank(Path(QUIZ), "hnd") == read
    assert hnd.rank([QUIZ], "hnd") == read
    assert hnd.rank(QUIZ, "hnd", user="student", items=["q*"]) == read, "as read_responses takes it"


def test_rank_takes_a_mapping_of_users_to_their_answers() -> None:
    answers = {"ann": {"q1": "A", "q2": "B"}, "bob": {"q2": "A"}, "cid": {"q1": "A", "q2": "B"}}
    ranking = hnd.rank(answers, "majority")
    assert set(ranking) == set(answers)
    assert ranking["bob"]["answers"] == 1


def test_a_key_comes_in_any_form(tmp_path: Path) -> None:
    key = {"q09": "D", "q03": "A"}
    columns = {"item": list(key), "answer": list(key.values())}
    file = tmp_path / "key.csv"
    pl.DataFrame(columns).write_csv(file)
    forms = [key, pd.Series(key), pd.DataFrame(columns), pl.DataFrame(columns), file]
    found = [hnd.rank(QUIZ, answers=form).parameters["answers"] for form in forms]
    assert all(one == key for one in found)
    assert all(hnd.marks(QUIZ, form).items == ["q03", "q09"] for form in forms)


def test_rank_takes_codes_in_a_sparse_matrix() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(1, 4, (40, 15))
    table[rng.random(table.shape) < 0.4] = 0
    table[:, 0] = 1 + np.arange(40) % 3
    dense = hnd.rank(np.where(table == 0, -1, table), "majority")
    np.testing.assert_allclose(hnd.rank(csr_array(table), "majority").scores, dense.scores)


@pytest.mark.parametrize("options", [2, 4])
def test_rank_takes_a_one_hot_matrix(options: int) -> None:
    table = np.random.default_rng(2).integers(0, options, (60, 10))
    for item in range(10):
        table[:options, item] = np.arange(options)
    hot = np.eye(options, dtype=int)[table].reshape(60, -1)
    ranking = hnd.rank(csr_array(hot), "majority")
    assert ranking.responses.n_items == 10
    assert any("options of 10 items" in note for note in ranking.notes)
    np.testing.assert_allclose(ranking.scores, hnd.rank(table, "majority").scores)


def test_what_cannot_be_ranked_is_refused_in_one_sentence() -> None:
    for table, words in (
        (np.ones((3, 3)) * 1j, "Complex data not supported"),
        (csr_array((3, 4)), "stores no answers"),
        (csr_array(np.eye(4)), "one answer per user"),
        (None, "Expected answers"),
    ):
        with pytest.raises(hnd.InputError, match=words):
            hnd.rank(table)


def test_keywords_are_checked_by_the_method() -> None:
    table = np.random.default_rng(0).integers(0, 3, (30, 12))
    with pytest.raises(hnd.InputError, match=r"no strong_user; methods that have it"):
        hnd.rank(table, "majority", strong_user=1)
    assert hnd.rank(table, "hnd", strong_user=3, seed=5).parameters["seed"] == 5


# -- a ranking as a collection --------------------------------------------------------------------


def test_a_ranking_is_a_mapping_of_users_best_first() -> None:
    ranking = hnd.rank(QUIZ, "majority")
    users = list(ranking)
    assert users == ranking.users[ranking.order].tolist()
    assert len(ranking) == len(users) == 30
    assert "student-16" in ranking
    assert "nobody" not in ranking
    assert [ranking[user]["rank"] for user in users] == ranking.table()["rank"].to_list()
    with pytest.raises(KeyError):
        ranking["nobody"]


def test_what_a_person_needs_first_is_offered_first() -> None:
    ranking = hnd.rank(QUIZ, "majority")
    offered = dir(ranking)
    assert len(offered) <= 32
    assert all(hasattr(ranking, name) for name in offered)
    assert {"verdict", "tiers", "versus", "table", "scores", "ranks", "users"} <= set(offered)
