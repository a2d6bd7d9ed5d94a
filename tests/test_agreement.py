"""Agreement between users, against published values, a naive oracle and scikit-learn."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.agreement import agreement

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units.
PUBLISHED = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]


def test_alpha_is_the_published_one() -> None:
    table = [[None if label == "." else label for label in row] for row in PUBLISHED]
    found = agreement(table)
    assert found.alpha == pytest.approx(0.743, abs=5e-4)
    assert found.alpha_ordinal == pytest.approx(0.815, abs=5e-4)
    assert found.n_items == 11


def test_fleiss_kappa_is_the_published_one() -> None:
    # Fleiss (1971): fourteen raters, ten subjects, five categories.
    counts = ["000014", "02642", "00356", "03920", "22811", "77000", "32630", "25322", "65210"]
    table = [[0, 0, 0, 0, 14], *([int(c) for c in row] for row in counts[1:]), [0, 2, 2, 3, 7]]
    answers = [[str(k) for k, n in enumerate(row) for _ in range(n)] for row in table]
    assert agreement(np.array(answers).T).fleiss_kappa == pytest.approx(0.210, abs=5e-4)


def naive_alpha(table: np.ndarray, distance) -> float:
    """Krippendorff's definition: pairs within units against all pairs."""
    observed, n, pool = 0.0, 0, []
    for column in table.T:
        values = [v for v in column if v]
        if len(values) >= 2:
            pairs = list(permutations(values, 2))
            observed += sum(distance(a, b) for a, b in pairs) / (len(values) - 1)
            n += len(values)
            pool += values
    expected = sum(distance(a, b) for a, b in permutations(pool, 2)) / (n * (n - 1))
    return 1 - observed / n / expected


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.choice(["a", "b", "c", ""], (9, 14), p=[0.4, 0.3, 0.1, 0.2]).astype(object)
    blanks = np.where(table == "", None, table)
    assert agreement(blanks).alpha == pytest.approx(naive_alpha(table, lambda a, b: a != b))


@pytest.mark.parametrize("seed", range(3))
def test_pairs_have_the_kappa_of_scikit_learn(seed: int) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(seed)
    table = rng.choice(["a", "b", "c", ""], (12, 30), p=[0.4, 0.3, 0.1, 0.2]).astype(object)
    users = [f"u{k:02d}" for k in range(12)]
    frame = pl.DataFrame(
        {"user": users, **{f"q{i}": [v or None for v in table[:, i]] for i in range(30)}}
    )
    pairs = agreement(hnd.Responses.from_wide(frame)).pairs(least=3)
    assert len(pairs) == 66
    assert pairs["kappa"].to_list() == sorted(pairs["kappa"].to_list(), reverse=True)
    for row in pairs.iter_rows(named=True):
        a, b = table[users.index(row["user"])], table[users.index(row["other"])]
        both = (a != "") & (b != "")
        assert row["items"] == both.sum()
        assert row["agreement"] == pytest.approx((a[both] == b[both]).mean())
        assert row["kappa"] == pytest.approx(cohen_kappa_score(a[both], b[both]))


def test_an_order_must_name_every_label() -> None:
    with pytest.raises(hnd.InputError, match="lacks 'high'"):
        agreement([["low", "high"], ["low", "low"]], order=["low"])
    found = agreement([["low", "high"], ["low", "low"]], order=["low", "mid", "high"])
    assert found.alpha_ordinal is not None
    assert agreement([["low", "high"], ["low", "low"]]).alpha_ordinal is None
