"""What every method promises, and that every engine gives every method the same."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest
from engine_cases import ELSEWHERE, KINDS, cluster
from factory import c1p_table, make_responses, random_answers, some

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS, Method, in_order, make

pytestmark = pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning")

ITEMS = 20
KEY = dict.fromkeys(range(ITEMS), 0)
#: Methods that cannot start without being told something.
NEEDED = {"true-answer": {"key": KEY}, "grm": {"key": KEY}}
#: How far the scores may move when users or items are put in another order (relative to 1).
TOLERANCE = 1e-5
#: Fewer starts show the same.
QUICK = {
    "hnd-robust": {"axes": 1},
}
NEEDS_EXTRA = {"grm": "mirt"}


def params():
    for name in METHODS:
        missing = name in NEEDS_EXTRA and importlib.util.find_spec(NEEDS_EXTRA[name]) is None
        marks = (
            [pytest.mark.skip(reason=f"{NEEDS_EXTRA[name]} is not installed")] if missing else []
        )
        yield pytest.param(name, marks=marks)


def together():
    """Every method; one process has what several tests of a method look at."""
    for method in params():
        (name,) = method.values
        yield pytest.param(name, marks=[*method.marks, pytest.mark.xdist_group(f"is {name}")])


@pytest.fixture(params=list(together()))
def name(request):
    return request.param


@cache
def plain(name, missing):
    """A fit to answers of 15 users, with which fits to the same in other words are compared."""
    return fitted(name, plain_answers(missing))


def plain_answers(missing):
    return random_answers(15, ITEMS, 4, missing, seed=4)


def fitted(name, data, on=None, **more):
    data = make_responses(data) if isinstance(data, np.ndarray) else data
    data = data if on is None else on(data)
    return make(name, **{**NEEDED.get(name, {}), **QUICK.get(name, {}), **more}).fit(data)


def close(a, b):
    scale = np.nanmax(np.abs(a))
    np.testing.assert_allclose(a, b, atol=TOLERANCE * max(scale, 1e-300))


#: Methods without rounds, or with a solver for small data that needs one.
ONE_ROUND = ("majority", "true-answer", "abh")
#: Data on which engines could differ: gaps, groups that share nothing, ties, labels of their own,
#: two labels in all items, one perfect order, users who answered nothing.
CASES = {
    "complete": lambda: random_answers(30, ITEMS, 4, seed=1),
    "gaps": lambda: random_answers(20, 12, 4, 0.4, seed=2),
    "groups": lambda: two_groups(),
    "ties": lambda: np.repeat(random_answers(8, 12, 3, seed=3), 3, axis=0),
    "own labels": lambda: random_answers(25, ITEMS, 4, 0.1, seed=4) + 4 * np.arange(ITEMS),
    "two labels": lambda: random_answers(15, 12, 2, 0.1, seed=5),
    "perfect order": lambda: c1p_table(5, 15, 12, 3),
    "all alike": lambda: np.zeros((5, 3), dtype=int),
    "one item": lambda: np.array([[0], [0], [0], [1], [1]]),
    "two users": lambda: np.array([[0, 0, 1, 0], [0, 1, 0, 2]]),
    "one user": lambda: np.array([[0, 1, 0]]),
}
#: A cluster has no perfect orders, and ranks users only who can be compared.
ON_CLUSTER = ("gaps", "ties")
#: Methods for items that share their labels.
SHARED_LABELS = ("double-centred", "minimax-entropy")
#: Methods that look at many solutions of small data, which takes long: the data to begin with.
#: What one of them leaves for a thorough run another one tries, and they share their code.
SEARCHING = {
    "auto": ("ties", "perfect order", "all alike", "one item", "two users"),
    "latent-key": ("two labels", "groups", "own labels", "two users"),
    "hnd-robust": ("two labels", "gaps", "perfect order", "one user"),
}


def compared(name, case):
    """Settings for the comparison: few rounds, and all starts on one of the data sets."""
    if name == "dawid-skene":
        return {"max_iterations": 10}
    if name in ("investment", "pooled-investment"):
        return {"rounds": 5}
    return {"axes": 3} if name == "hnd-robust" and case == "gaps" else {}


def cases_for(name, engine):
    """The data on which a method is compared on an engine."""
    if name in SHARED_LABELS:
        return some([case for case in CASES if case != "own labels"], len(CASES) - 1)
    if engine == "dask":  # ties mean something to methods that look for an axis
        return some(ON_CLUSTER, 2 if name in ("hnd", *SEARCHING) else 1)
    first = SEARCHING.get(name, tuple(CASES))
    return some((*first, *(case for case in CASES if case not in first)), len(first))


def two_groups():
    answers = np.full((19, ITEMS), -1)
    answers[:10, : ITEMS // 2] = random_answers(10, ITEMS // 2, 3, seed=10)
    answers[10:18, ITEMS // 2 :] = random_answers(8, ITEMS // 2, 3, seed=11)
    return answers


#: What a method tells beside its scores.
ALL = {"weights", "key", "correct", "abilities", "errors"}
TOLD = {
    "auto": ALL,
    "latent-key": ALL,
    "hnd": {"weights", "key", "errors"},
    "abh": {"weights", "key", "errors"},
    "hnd-robust": ALL - {"correct"},
    "grm": ALL - {"correct"},
    "majority": ALL - {"abilities"},
    "dawid-skene": ALL - {"abilities"},
    "true-answer": ALL - {"abilities"},
    "double-centred": ALL,
    "glad": ALL,
    "mace": ALL - {"abilities"},
    "minimax-entropy": ALL - {"abilities"},
    "avghits": {"weights"},
}
#: The others tell these.
USUAL = {"weights", "key"}


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_shapes_and_ranges(name, missing):
    r = make_responses(plain_answers(missing))
    m = plain(name, missing)
    assert m.scores_.shape == (15,)
    assert np.isfinite(m.scores_).all()
    assert m.components_.tolist() == [0] * 15
    told = {
        "weights": m.option_weights_,
        "key": m.key_probabilities_,
        "correct": m.correct_,
        "abilities": m.abilities_,
        "errors": m.standard_errors_,
    }
    told = {what: values for what, values in told.items() if values is not None}
    assert set(told) == TOLD.get(name, USUAL)
    for what, values in told.items():
        assert values.shape == (r.n_options if what in ("weights", "key") else 15,)
        assert np.isfinite(values).all()
    if "correct" in told:
        assert ((m.correct_ >= 0) & (m.correct_ <= 1)).all()
    if "key" in told:
        totals = np.add.reduceat(m.key_probabilities_, r.item_starts[:-1])
        np.testing.assert_allclose(totals, 1.0)
        assert (m.key_probabilities_ >= 0).all()
    if "errors" in told:
        assert (m.standard_errors_ >= 0).all()
    assert isinstance(m.converged_, bool)
    assert (m.n_iterations_ == 1) == (name in ONE_ROUND)


def on_engines():
    """Every method on every engine; one process has all engines in memory for a method."""
    for method in params():
        (name,) = method.values
        for engine in (*KINDS, *ELSEWHERE):
            if engine != "numpy":
                group = "cluster" if engine == "dask" else f"engines for {name}"
                marks = [*method.marks, pytest.mark.xdist_group(group)]
                yield pytest.param(name, engine, marks=marks)


@cache
def on_numpy(name, case):
    return fitted(name, make_responses(CASES[case]()), KINDS["numpy"], **compared(name, case))


@pytest.fixture
def as_it_comes(monkeypatch):
    """Small data are not put in order first: an engine without the answers could not do that."""
    monkeypatch.setattr(in_order, "UP_TO", 0)


@pytest.mark.parametrize(("name", "engine"), list(on_engines()))
@pytest.mark.usefixtures("as_it_comes")
def test_every_engine_gives_the_same(name, engine):
    with cluster().as_current() if engine == "dask" else nullcontext():
        _check_same(name, engine)


def _check_same(name, engine):
    if engine in ELSEWHERE and METHODS[name].needs_memory:
        pytest.skip(f"{name} needs the users' numbers in one machine's memory")
    for case in cases_for(name, engine):
        expected = on_numpy(name, case)
        data = {**KINDS, **ELSEWHERE}[engine](make_responses(CASES[case]()))
        if engine == "dask" and name in SEARCHING:
            data.here_up_to = 10**6  # as few as these are looked at where the caller is
        found = fitted(name, data, **compared(name, case))
        turned = expected.orientation_
        is_open = turned is not None and not turned.decided  # which end is up: a convention
        for what in ("scores_", "option_weights_", "key_probabilities_", "correct_", "abilities_"):
            one, other = getattr(expected, what), getattr(found, what)
            other = data.collect(other) if engine == "dask" and other is not None else other
            if is_open and one is not None:
                if what == "key_probabilities_":
                    continue
                one, other = np.abs(one), np.abs(other)
            if one is None:
                assert other is None, (case, what)
                continue
            size = max(np.nanmax(np.abs(one)), 1e-300)
            near = 1e-6 if engine == "cupy" else 1e-9
            said = f"{case}: {what}"
            np.testing.assert_allclose(other, one, atol=near * size, rtol=near, err_msg=said)
        np.testing.assert_array_equal(data.collect(found.components_), expected.components_)
        if expected.orientation_ is not None:
            assert found.orientation_.how == expected.orientation_.how


def test_methods_for_shared_labels_say_so():
    for name in SHARED_LABELS:
        with pytest.raises(InputError, match="needs items that share one label set"):
            fitted(name, CASES["own labels"]())


def test_it_ranks_able_users_first(name):
    if name in ("avghits", "abh"):
        pytest.skip("avgHITS ranks nobody, and ABH singles out outliers in noisy data")
    rng = np.random.default_rng(3)
    users, items = 60, 40
    ability = np.linspace(0.15, 0.95, users)
    right = rng.random((users, items)) < ability[:, None]
    key = rng.integers(0, 4, items)
    answers = (key + np.where(right, 0, rng.integers(1, 4, (users, items)))) % 4
    told = {"key": dict(enumerate(key.tolist()))} if name in NEEDED else {}
    assert np.corrcoef(fitted(name, answers, **told).scores_, ability)[0, 1] > 0.7


def test_the_seed_does_not_matter_and_the_same_one_gives_the_same_bits(name):
    again, other = (fitted(name, plain_answers(0.3), seed=seed) for seed in (0, 7))
    np.testing.assert_array_equal(plain(name, 0.3).scores_, again.scores_)
    close(plain(name, 0.3).scores_, other.scores_)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_order_and_names_do_not_matter(name, missing):
    rng = np.random.default_rng(0)
    users, items, answers = rng.permutation(15), rng.permutation(ITEMS), plain_answers(missing)
    renamed = np.where(answers < 0, -1, np.array([3, 1, 2, 0])[answers])  # 0 and 3 change places
    told = {"key": dict.fromkeys(range(ITEMS), 3)} if name in NEEDED else {}
    moved = fitted(name, renamed[users][:, items], **told)
    close(plain(name, missing).scores_[users], moved.scores_)


def test_data_are_left_as_they_are(name):
    r = make_responses(random_answers(15, ITEMS, 4, 0.2, seed=7))
    before = pickle.dumps(r)
    method = make(name, **copy.deepcopy(NEEDED.get(name, {})), **QUICK.get(name, {}))
    params_before = method.get_params()
    method.fit(r)
    assert pickle.dumps(r) == before
    assert method.get_params() == params_before


@pytest.mark.parametrize("case", ["all alike", "one item", "two users", "one user"])
def test_the_smallest_data(name, case):
    answers = CASES[case]()
    scores = fitted(name, answers).scores_
    assert scores.shape == (len(answers),)
    assert np.isfinite(scores).all()
    for sheet in np.unique(answers, axis=0):  # equal answers cannot be told apart
        same = scores[(answers == sheet).all(axis=1)]
        assert np.ptp(same) <= 1e-9 * max(np.abs(scores).max(), 1)


def test_users_without_answers_have_no_score_and_equal_ones_share_theirs(name):
    answers = random_answers(15, ITEMS, 4, 0.2, seed=9)
    answers[[4, 11]], answers[9] = -1, answers[2]
    with_silent = fitted(name, answers)
    same = with_silent.scores_[[2, 9]]
    assert np.ptp(same) <= 1e-9 * np.nanmax(np.abs(with_silent.scores_))
    assert np.flatnonzero(np.isnan(with_silent.scores_)).tolist() == [4, 11]
    assert with_silent.components_[[4, 11]].tolist() == [-1, -1]
    talking = np.delete(answers, [4, 11], axis=0)
    close(np.delete(with_silent.scores_, [4, 11]), fitted(name, talking).scores_)


def test_components_are_kept_apart(name):
    answers = two_groups()
    m = fitted(name, answers)
    assert m.components_.tolist() == [0] * 10 + [1] * 8 + [-1]
    assert np.flatnonzero(np.isnan(m.scores_)).tolist() == [18]
    if METHODS[name].linked_by == "options":
        close(m.scores_[:10], fitted(name, answers[:10]).scores_)
        close(m.scores_[10:18], fitted(name, answers[10:18]).scores_)


def test_nothing_to_rank_is_refused(name):
    nobody = make_responses(np.array([[0], [1]])).restrict(np.array([], dtype=int))[0]
    r = make_responses(random_answers(15, ITEMS, 4, seed=1))
    for part, said in (
        (nobody, "Nobody answered anything"),
        (r.restrict(np.arange(3), keep_options=True)[0], "without keep_options"),
    ):
        with pytest.raises(InputError, match=said):
            fitted(name, part)


BAD = {
    "tol": -1.0,
    "max_iterations": 0,
    "rounds": 0,
    "exponent": 0.0,
    "smoothing": -1.0,
    "shrink": -1.0,
    "competence_prior": 0.0,
    "strategy_prior": 0.0,
    "penalty": 0.0,
    "beta": 0.0,
    "trust": 1.0,
    "quadrature": 1,
    "options_per_item": 1,
    "seed": -1,
    "engine": "abacus",
    "solver": "guess",
    "model": "guess",
    "priors": "guess",
    "key": ["A", "B"],
    "order": ["A", "B"],
    "answers": ["A", "B"],
    "strong_user": "nobody of that name",
}


def test_bad_parameters_are_refused_by_name(name):
    answers = make_responses(random_answers(6, 5, 3, seed=1))
    checked = set(METHODS[name]().get_params()) & set(BAD)
    assert {"seed", "engine"} <= checked
    for parameter in checked:
        with pytest.raises(InputError) as caught:
            fitted(name, answers, **{parameter: BAD[parameter]})
        said = str(caught.value)
        assert str(BAD[parameter]) in said or parameter in said
    with pytest.raises(InputError, match="no parameter 'nonsense'"):
        make(name, nonsense=1)


def test_it_is_described_with_its_parameters(name):
    cls = METHODS[name]
    assert cls.name == name
    assert cls.summary
    assert cls.use
    assert cls.linked_by in ("options", "items")
    own = set(cls().get_params()) - set(Method().get_params())
    text = " ".join(str(c.__doc__) for c in cls.__mro__ if issubclass(c, Method))
    assert [p for p in own if p not in text] == []


@pytest.mark.xdist_group("scikit-learn")  # it takes seconds to import
@pytest.mark.parametrize("name", list(params()))
def test_parameters_make_the_round_trip_through_scikit_learn(name):
    sklearn = pytest.importorskip("sklearn.base")
    method = make(name, seed=3, **NEEDED.get(name, {}), **QUICK.get(name, {}))
    twin = sklearn.clone(method)
    assert twin is not method
    assert twin.get_params() == method.get_params()
    assert not hasattr(twin, "scores_")
    answers = random_answers(10, ITEMS, 4, seed=1)
    np.testing.assert_array_equal(
        twin.fit(make_responses(answers)).scores_,
        method.fit(make_responses(answers)).scores_,
    )


def test_a_misspelt_method_gets_a_hint():
    with pytest.raises(InputError, match="Did you mean 'truthfinder'"):
        make("thruthfinder")


def test_methods_stand_in_the_published_order():
    published = ["hnd", "abh", "hits", "truthfinder", "investment", "pooled-investment"]
    published += ["majority", "dawid-skene", "true-answer", "grm", "avghits"]
    assert [name for name in METHODS if name in published] == published
