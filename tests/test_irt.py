"""Response models: the relations between them that the paper states, and numerical safety."""

import warnings

import numpy as np
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from hitsndiffs.errors import InputError
from hitsndiffs.irt import C1P, GRM, Bock, Glad, OnePL, Samejima, ThreePL, TwoPL
from reproduction.diagrams import MODELS as DIAGRAM
from reproduction.diagrams import SPECIAL_CASES

THETA = np.linspace(-3, 3, 61)
A = np.array([0.3, 1.0, 4.0, 12.0])
B = np.array([-1.0, 0.0, 0.4, 2.0])


def test_three_pl_without_guessing_is_two_pl():
    three = ThreePL(discrimination=A, difficulty=B, guessing=np.zeros(4))
    np.testing.assert_array_equal(
        three.probabilities(THETA), TwoPL(discrimination=A, difficulty=B).probabilities(THETA)
    )


def test_three_pl_never_falls_below_guessing():
    three = ThreePL(discrimination=A, difficulty=B, guessing=np.full(4, 0.3))
    assert three.right(THETA).min() >= 0.3
    assert three.right([-1e6])[0] == pytest.approx(0.3)


def test_two_pl_with_equal_discrimination_is_one_pl():
    two = TwoPL(discrimination=np.ones(4), difficulty=B)
    np.testing.assert_array_equal(two.probabilities(THETA), OnePL(B).probabilities(THETA))


def test_two_pl_without_difficulty_is_glad():
    two = TwoPL(discrimination=A, difficulty=np.zeros(4))
    np.testing.assert_array_equal(two.probabilities(THETA), Glad(A).probabilities(THETA))
    np.testing.assert_array_equal(Glad(A).right([0.0]), np.full((1, 4), 0.5))


def test_bock_with_two_options_is_two_pl():
    slopes = np.column_stack([np.array([0.5, -1.0, 2.0, 3.0]), np.zeros(4)])
    intercepts = np.column_stack([np.array([0.1, 0.2, -0.3, 1.0]), np.zeros(4)])
    slopes[:, 1] = slopes[:, 0] + A
    intercepts[:, 1] = intercepts[:, 0] - A * B
    np.testing.assert_allclose(
        Bock(slopes, intercepts).probabilities(THETA),
        TwoPL(discrimination=A, difficulty=B).probabilities(THETA),
        atol=1e-12,
    )


def test_samejima_without_guessing_is_bock():
    rng = np.random.default_rng(0)
    slopes, intercepts = rng.uniform(0, 10, (4, 3)), rng.uniform(-5, 5, (4, 3))
    bock = Bock(slopes, intercepts).probabilities(THETA)
    far = []
    for unsure in (0.0, -20.0, -80.0, -np.inf):
        model = Samejima(slopes, intercepts, np.full(4, -3.0), np.full(4, unsure))
        far.append(np.abs(model.probabilities(THETA) - bock).max())
    assert far[0] > far[1] > far[2] >= far[3]
    assert far[0] > 0.1
    assert far[3] == 0.0


def test_samejima_with_two_options_is_three_pl_with_even_guessing():
    """Exactly so for c = 1/2, when nobody knows the wrong option to be right."""
    a, b = np.array([0.5, 3.0, 9.0]), np.array([-0.4, 0.1, 0.6])
    certain = np.column_stack([np.zeros(3), a])
    intercepts = np.column_stack([np.full(3, -1e4), -a * b])
    model = Samejima(certain, intercepts, np.zeros(3), np.zeros(3))
    want = ThreePL(a, b, np.full(3, 0.5)).probabilities(THETA)
    np.testing.assert_allclose(model.probabilities(THETA), want, atol=1e-12)
    # The paper's Samejima items lose by guessing only at the bottom: there the two are the same.
    usual = Samejima.from_difficulty([[2.0, 5.0]], [[0.0, 0.1]])
    np.testing.assert_allclose(usual.probabilities([-50.0])[0, 0], [0.5, 0.5])
    # And no other guessing will do: it is 1/k in this model.
    other = ThreePL(a, b, np.full(3, 0.2)).probabilities(THETA)
    assert np.abs(model.probabilities(THETA) - other).max() > 0.2


def test_the_papers_samejima_items_have_logits_that_sum_to_zero():
    model = Samejima.from_difficulty([[2.0, 5.0]], [[0.0, 0.1]])
    assert np.append(model.slopes, model.unsure_slope).sum() == pytest.approx(0)
    assert np.append(model.intercepts, model.unsure_intercept).sum() == pytest.approx(0)


def test_grm_with_two_options_is_two_pl():
    a, b = np.array([0.5, 3.0, 9.0]), np.array([-0.4, 0.1, 0.6])
    np.testing.assert_allclose(
        GRM(a, b[:, None]).probabilities(THETA), TwoPL(a, b).probabilities(THETA), atol=1e-12
    )


#: The tests that hold the arrows of Figure 2.
ARROWS = {
    ("samejima", "bock"): "test_samejima_without_guessing_is_bock",
    ("samejima", "3pl"): "test_samejima_with_two_options_is_three_pl_with_even_guessing",
    ("bock", "2pl"): "test_bock_with_two_options_is_two_pl",
    ("bock", "grm"): "test_grm_is_nearly_bock_with_the_papers_parameters",
    ("3pl", "2pl"): "test_three_pl_without_guessing_is_two_pl",
    ("grm", "2pl"): "test_grm_with_two_options_is_two_pl",
    ("grm", "c1p"): "test_grm_becomes_steps",
    ("2pl", "1pl"): "test_two_pl_with_equal_discrimination_is_one_pl",
    ("2pl", "glad"): "test_two_pl_without_difficulty_is_glad",
}


def test_every_arrow_of_figure_2_has_a_test():
    assert {(arrow.general, arrow.special) for arrow in SPECIAL_CASES} == set(ARROWS)
    assert [name for name in ARROWS.values() if name not in globals()] == []


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("1pl", lambda p: OnePL(p[:1])),
        ("glad", lambda p: Glad(p[:1])),
        ("2pl", lambda p: TwoPL(p[:1], p[1:2])),
        ("3pl", lambda p: ThreePL(p[:1], p[1:2], p[2:3])),
        ("grm", lambda p: GRM(p[:1], np.sort(p[1:3])[None])),
        ("bock", lambda p: Bock(p[None, :3], p[None, 3:6])),
        ("samejima", lambda p: Samejima(p[None, :3], p[None, 3:6], p[6:7], p[7:8])),
    ],
)
def test_free_parameters_of_figure_2(name, make):
    """As many as there are independent ways to change the curves (options: 3)."""
    start = np.array([0.9, 0.3, 0.5, -0.2, 0.1, 0.4, -0.6, 0.2])
    theta = np.linspace(-3, 3, 40)
    ways = []
    for place in range(len(start)):
        step = np.zeros(len(start))
        step[place] = 1e-5
        higher, lower = (make(start + sign * step).probabilities(theta) for sign in (1, -1))
        ways.append((higher - lower).ravel() / 2e-5)
    strengths = np.linalg.svd(np.array(ways), compute_uv=False)
    free = int((strengths > 1e-6 * strengths[0]).sum())
    said = {"1": 1, "2": 2, "3": 3, "k": 3, "2(k - 1)": 4, "2k": 6}
    assert free == said[DIAGRAM[name][0]]


def test_grm_becomes_steps():
    thresholds = np.array([[-0.4, 0.1, 0.4]])
    theta = np.setdiff1d(np.round(np.linspace(-1, 1, 41), 3), thresholds)
    steps = C1P(thresholds).probabilities(theta)
    errors = [
        np.abs(GRM([a], thresholds).probabilities(theta) - steps).max() for a in (10, 100, 1e4)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-12


@pytest.mark.parametrize(
    ("a", "b", "slopes", "intercepts"),
    [
        (8.0, (-0.2, 0.2), (0.0, 8.0, 16.0), (0.0, 1.6, 0.0)),
        (50.0, (-0.4, 0.4), (0.0, 50.0, 100.0), (0.0, 20.0, 0.0)),
    ],
)
def test_grm_is_nearly_bock_with_the_papers_parameters(a, b, slopes, intercepts):
    theta = np.linspace(-1, 1, 201)
    grm = GRM([a], [b]).probabilities(theta)
    bock = Bock([slopes], [intercepts]).probabilities(theta)
    assert np.abs(grm - bock).max() < 0.05
    # Not trivially so: halving a slope is far off.
    other = Bock([(0.0, slopes[1] / 2, slopes[2])], [intercepts]).probabilities(theta)
    assert np.abs(grm - other).max() > 0.1


def test_bock_conversion_both_ways():
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0.1, 10, (5, 4)), rng.uniform(-1, 1, (5, 4))
    model = Bock.from_difficulty(a, b)
    np.testing.assert_allclose(model.discrimination, a)
    np.testing.assert_allclose(model.difficulty, b)
    again = Bock(model.slopes, model.intercepts)
    np.testing.assert_array_equal(again.probabilities(THETA), model.probabilities(THETA))
    logits = a * (0.7 - b)
    want = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.probabilities([0.7])[0], want)


def test_a_flat_option_has_no_difficulty():
    assert np.isnan(Bock([[0.0, 1.0]], [[0.5, 1.0]]).difficulty[0, 0])


numbers = st.floats(-1e4, 1e4)
steep = st.floats(0, 1e12)


@st.composite
def models(draw):
    k = draw(st.integers(2, 5))
    kind = draw(st.sampled_from(["3pl", "grm", "bock", "samejima", "c1p"]))
    many = st.lists(numbers, min_size=k, max_size=k)
    slopes = draw(st.lists(steep, min_size=k, max_size=k))
    if kind == "3pl":
        return ThreePL([slopes[0]], [draw(numbers)], [draw(st.floats(0, 1))])
    if kind == "grm":
        return GRM([slopes[0]], [sorted(draw(many)[1:])])
    if kind == "c1p":
        return C1P([sorted(draw(many)[1:])])
    maker = Bock if kind == "bock" else Samejima
    return maker.from_difficulty([slopes], [draw(many)])


@examples(200)
@given(models(), st.lists(numbers, min_size=1, max_size=6))
def test_probabilities_are_probabilities(model, theta):
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        chances = model.probabilities(theta)
    assert chances.shape == (len(theta), 1, model.n_options)
    assert (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(axis=2), 1.0, rtol=1e-12)


@examples(50)
@given(models())
def test_a_far_better_user_finds_the_correct_option(model):
    # Where any slope separates the options at all, the top user gets the item right.
    chances = model.probabilities([-1e60, 1e60])[:, 0]
    best = model.correct[0]
    assert chances[1, best] >= chances[0, best] - 1e-12


@pytest.mark.parametrize("kind", [Bock, Samejima])
def test_extreme_slopes_give_consistent_data(kind):
    rng = np.random.default_rng(3)
    slopes = np.sort(rng.uniform(0.5, 1, (20, 3)), axis=1) * 1e4
    theta = np.sort(rng.uniform(size=60))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = kind.from_difficulty(slopes, np.full((20, 3), 0.5)).sample(theta, rng)
    if kind is Bock:
        assert (np.diff(codes.astype(int), axis=0) >= 0).mean() > 0.999
    assert (codes[theta > 0.51] == 2).all()


def test_grm_with_slope_ten_thousand_samples_the_steps():
    rng = np.random.default_rng(4)
    thresholds = np.sort(rng.uniform(size=(30, 2)), axis=1)
    theta = rng.uniform(size=50)
    clear = np.abs(theta[:, None, None] - thresholds).min(axis=2) > 0.004
    grm = GRM(np.full(30, 1e4), thresholds).sample(theta, np.random.default_rng(0))
    c1p = C1P(thresholds).sample(theta, np.random.default_rng(1))
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(grm[clear], c1p[clear])


MODELS = [
    OnePL([0.2]),
    TwoPL([2.0], [0.2]),
    ThreePL([2.0], [0.2], [0.2]),
    Glad([1.5]),
    GRM([5.0], [[-0.1, 0.3, 0.5]]),
    Bock([[0.0, 2.0, 4.0]], [[0.3, 0.1, -1.0]]),
    Samejima.from_difficulty([[1.0, 2.0, 4.0]], [[0.1, 0.2, 0.3]]),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_sample_frequencies_match_the_probabilities(model):
    theta = np.full(20_000, 0.35)
    codes = model.sample(theta, np.random.default_rng(7))[:, 0]
    counts = np.bincount(codes, minlength=model.n_options)
    want = model.probabilities([0.35])[0, 0] * len(theta)
    assert chisquare(counts, want).pvalue > 0.001
    # The test can fail: the frequencies at another ability do not fit.
    other = model.probabilities([0.35 + 0.2])[0, 0] * len(theta)
    assert chisquare(counts, other).pvalue < 0.001


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_sampling_in_parts_is_sampling_at_once(model):
    theta = np.linspace(-1, 1, 50)
    rng = np.random.default_rng(5)
    parts = [model.sample(theta[i : i + 7], rng) for i in range(0, 50, 7)]
    np.testing.assert_array_equal(
        np.concatenate(parts), model.sample(theta, np.random.default_rng(5))
    )


def test_key_and_order():
    model = Bock([[3.0, 1.0, 2.0]], [[0.0, 0.0, 0.0]])
    assert model.correct.tolist() == [0]
    assert model.order.tolist() == [[1, 2, 0]]
    assert GRM([1.0], [[0.0, 1.0]]).correct.tolist() == [2]
    assert OnePL([0.0]).option_labels[OnePL([0.0]).correct[0]] == "right"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GRM([1.0], [[0.5, 0.1]]), "must not decrease"),
        (lambda: GRM([1.0, 2.0], [[0.1, 0.5]]), "2 discriminations for 1 items"),
        (lambda: GRM([-1.0], [[0.1]]), "from 0 to"),
        (lambda: ThreePL([1.0], [0.0], [1.5]), r"guessing must hold numbers from 0 to 1; got 1\.5"),
        (lambda: TwoPL([1.0, 2.0], [0.0]), "one shape"),
        (lambda: OnePL([np.nan]), "got nan at place"),
        (lambda: OnePL([[1.0]]), "one number per item"),
        (lambda: Bock([[1.0]], [[np.inf]]), "got inf"),
        (lambda: Samejima([[1.0, 2.0]], [[0.0, 0.0]], [1.0, 1.0], [0.0, 0.0]), "one per item"),
        (lambda: OnePL([0.0]).right([np.nan]), "abilities must be"),
    ],
)
def test_wrong_parameters_are_told(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_models_are_frozen():
    model = OnePL([0.0])
    with pytest.raises(AttributeError):
        model.difficulty = np.ones(1)
    with pytest.raises(ValueError, match="read-only"):
        model.difficulty[0] = 1.0
