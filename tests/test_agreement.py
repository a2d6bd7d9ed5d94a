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
    assert pairs["p"].to_list() == sorted(pairs["p"].to_list())
    alike = pairs.filter(pl.col("p") == 1)["kappa"].to_list()
    assert alike == sorted(alike, reverse=True)
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


# -- beyond ability -------------------------------------------------------------------------------


def families(seed: int, sizes: tuple[int, ...], copied: float, users: int = 16, items: int = 120):
    """Answers of users of different ability, some of whom copy from the first of their family.

    Returned with the pairs of families, and as how many independent votes the users count: the
    variance of a share of equally able votes, against that of independent ones.
    """
    sim = hnd.simulate("samejima", users=users, items=items, options=4, seed=seed)
    rng, table = np.random.default_rng(seed), np.array(sim.responses.codes).T
    correlation, first = np.eye(users), 0
    for size in sizes:
        own = np.arange(first, first + size)
        correlation[np.ix_(own, own)] = copied**2
        correlation[own[0], own] = correlation[own, own[0]] = copied
        for user in own[1:]:
            take = rng.random(items) < copied
            table[user, take] = table[own[0], take]
        first += size
    np.fill_diagonal(correlation, 1)
    pairs = np.argwhere(np.triu(correlation, 1)).tolist()
    related = {(f"u{a:02d}", f"u{b:02d}") for a, b in pairs}
    answers = [[f"o{code}" for code in row] for row in table.tolist()]
    r = hnd.Responses.from_wide(answers, users=[f"u{k:02d}" for k in range(users)])
    return r, related, users**2 / correlation.sum()


def test_ability_alone_is_no_agreement() -> None:
    """Able users agree far beyond chance, and not at all beyond their abilities."""
    for seed in range(4):
        r, _, _ = families(seed, (), 0.0)
        found = agreement(r)
        pairs = found.pairs()
        assert pairs["kappa"].max() > 0.4
        assert (pairs["p"] < 0.05).sum() <= 1
        assert found.independent_votes > 15
        assert abs(pairs["beyond"].mean()) < 0.1


@pytest.mark.parametrize(("copied", "most"), [(0.9, 1.1), (0.7, 1.4)])
def test_families_are_found_and_counted_as_fewer_votes(copied: float, most: float) -> None:
    """Where less is copied, some pairs are not sure and do not count: the number is a limit."""
    ratios = []
    for seed in range(4):
        r, related, true = families(seed, (4, 3), copied)
        found = agreement(r)
        pairs = found.pairs()
        beyond = {row[:2]: row[5] for row in pairs.iter_rows()}
        first = set(list(beyond)[: len(related)])
        assert len(related & first) >= 0.7 * len(related)
        expected = np.mean([copied] * 5 + [copied**2] * 4)  # with the first, and among the others
        assert np.mean([beyond[pair] for pair in related]) == pytest.approx(expected, abs=0.2)
        ratios.append(found.independent_votes / true)
        assert f"at most about {found.independent_votes:.0f} independent votes" in found.sentence()
    assert 0.95 < np.mean(ratios) < most


def test_a_large_family_does_not_make_its_mistakes_usual() -> None:
    """Two families of ten among thirty: their mistakes are what most users say."""
    for seed in range(3):
        r, related, true = families(seed, (10, 10), 0.9, users=30, items=80)
        found = agreement(r)
        surely = {row[:2] for row in found.pairs().iter_rows() if row[6] < 0.05}
        assert len(surely & related) > 0.8 * len(related)
        assert len(surely - related) < 0.1 * len(surely)
        assert found.independent_votes < 1.5 * true


def test_too_many_users_are_not_compared_beyond_ability() -> None:
    found = agreement(hnd.simulate("2pl", users=1001, items=5, seed=0).responses)
    assert found.independent_votes is None
    assert "votes" not in found.sentence()
    assert np.isnan(found.pairs(most=3)["p"].to_numpy()).all()
