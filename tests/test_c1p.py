"""Certificate and analysis of consistency, against brute force and simulated answers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest
from c1p_cases import choosers, consistent_answers, tree_orders, valid_orders
from factory import examples, make_responses
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.order.consistency import Consistency, analyse, extra_blocks
from hitsndiffs.order.perfect import is_consecutive

small_answers = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.sampled_from([-1, 0, 0, 1, 1, 2]),
)


def answering(responses: Responses) -> list[int]:
    return np.flatnonzero(responses.answers_per_user).tolist()


def analysed(responses: Responses) -> Consistency:
    """With the users as they come: for data where the order does not matter."""
    return analyse(open_engine(responses), answering(responses))


def orders_by_brute_force(answers: npt.NDArray[np.int64]) -> set[tuple[int, ...]]:
    """Orders of the different answer sheets in which every option's choosers are neighbours."""
    sheets = list(dict.fromkeys(tuple(row) for row in answers.tolist() if max(row) >= 0))
    chosen = {(i, option) for sheet in sheets for i, option in enumerate(sheet) if option >= 0}
    sets = [[n for n, sheet in enumerate(sheets) if sheet[i] == o] for i, o in sorted(chosen)]
    return valid_orders(len(sheets), sets)


# -- the certificate of a given order ---------------------------------------------------------


@given(small_answers, st.booleans(), st.randoms(use_true_random=False))
@examples(150)
def test_certificate_and_blocks_against_the_definition(
    answers: npt.NDArray[np.int64], sparse: bool, random: object
) -> None:
    responses = make_responses(answers, sparse=sparse)
    order = answering(responses)
    random.shuffle(order)  # type: ignore[attr-defined]
    blocks = []
    for members in choosers(responses):
        inside = [user in members for user in order]
        blocks.append(sum(now and not before for before, now in zip([False, *inside], inside)))  # noqa: B905
    data = open_engine(responses)
    assert extra_blocks(data.rows(np.array(order, dtype=int)), data.n_options).tolist() == [
        b - 1 for b in blocks
    ]
    assert is_consecutive(data, order) == (max(blocks, default=1) == 1)


def test_certificate_of_simulated_answers() -> None:
    answers, abilities = consistent_answers(300, 40, 4, np.random.default_rng(0))
    responses = make_responses(answers)
    data = open_engine(responses)
    order = np.argsort(abilities)
    assert is_consecutive(data, order)
    assert is_consecutive(data, order[::-1])
    ends_swapped = order.copy()
    ends_swapped[[0, -1]] = ends_swapped[[-1, 0]]
    assert not is_consecutive(data, ends_swapped)


# -- all orders -------------------------------------------------------------------------------


def test_options_that_nobody_chose_do_not_shift_the_names_of_others() -> None:
    responses = make_responses([[0, 0], [1, 0], [1, 1], [0, 1], [2, 2]])
    four, _ = responses.restrict(np.arange(4), keep_options=True)
    without, _ = responses.restrict(np.arange(4))
    assert analysed(four).misfits == analysed(without).misfits != ()


@given(small_answers, st.booleans())
@examples(300)
def test_analysis_against_brute_force(answers: npt.NDArray[np.int64], sparse: bool) -> None:
    responses = make_responses(answers, sparse=sparse)
    expected = orders_by_brute_force(answers)
    report = analysed(responses)
    assert report.consistent == bool(expected)
    assert report.n_orders == len(expected)
    assert len(report.tree) == len({tuple(row) for row in answers.tolist() if max(row) >= 0})
    if expected:
        found = tree_orders(report.tree)
        assert len(found) == len(expected)
        assert set(found) == expected
        assert (report.misfits, report.distance) == ((), 0.0)
    else:
        assert report.distance > 0


@given(small_answers)
@examples(300)
def test_misfits_are_maximal(
    answers: npt.NDArray[np.int64],
) -> None:
    responses = make_responses(answers)
    report = analysed(responses)
    names = list(zip(responses.items[responses.option_items], responses.option_labels, strict=True))
    sets = choosers(responses)
    kept = [
        members for name, members in zip(names, sets, strict=True) if name not in report.misfits
    ]
    assert valid_orders(len(answers), kept)
    for name in report.misfits:
        assert not valid_orders(len(answers), [*kept, sets[names.index(name)]])
    assert sum(report.breaking_items.values()) == len(report.misfits)


@pytest.mark.parametrize("seed", range(5))
def test_simulated_answers_are_consistent_and_their_order_is_certified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, abilities = consistent_answers(int(rng.integers(5, 200)), 30, 3, rng)
    responses = make_responses(answers)
    assert analysed(responses).consistent
    assert is_consecutive(open_engine(responses), np.argsort(abilities))


def test_a_settled_ranking_has_two_orders_of_sheets() -> None:
    steps = np.tri(6, 5, -1, dtype=np.int64)  # user j passes the first j items
    assert analysed(make_responses(np.repeat(steps, 3, axis=0))).n_orders == 2


def test_users_without_answers_are_left_out() -> None:
    answers = np.array([[0, 0], [-1, -1], [0, 1], [1, 1]])
    assert str(analysed(make_responses(answers)).tree) == "[0 1 2]"


@pytest.mark.parametrize(
    "answers", [[[0]], [[0], [0]], [[0], [1]], [[-1], [-1]], [[0, 1], [0, 1]], [[0, 1], [1, 0]]]
)
def test_tiny_data_are_consistent(answers: list[list[int]]) -> None:
    report = analysed(make_responses(answers))
    assert report.consistent
    assert report.n_tested == 0


# -- how far from consistent ------------------------------------------------------------------


def test_an_order_singles_out_the_odd_item_even_when_it_comes_first() -> None:
    rng = np.random.default_rng(3)
    answers, abilities = consistent_answers(100, 40, 3, rng)
    answers[:, 0] = rng.integers(0, 3, size=100)
    responses = make_responses(answers)
    nearly = np.argsort(abilities + rng.normal(scale=0.02, size=100))
    guided = analyse(open_engine(responses), order=nearly)
    assert list(guided.breaking_items) == [0]


def test_distance_grows_with_noise_from_0_to_about_1() -> None:
    rng = np.random.default_rng(5)
    answers, abilities = consistent_answers(200, 50, 3, rng)
    order = np.argsort(abilities)
    distances = []
    for share in (0.0, 0.02, 0.1, 0.3, 1.0):
        noisy = np.where(
            rng.random(answers.shape) < share, rng.integers(0, 3, answers.shape), answers
        )
        distances.append(analyse(open_engine(make_responses(noisy)), order=order).distance)
    assert distances == sorted(distances)
    assert distances[0] == 0
    assert distances[1] < 0.1
    assert distances[-1] == pytest.approx(1, abs=0.05)


def test_expected_blocks_of_a_random_order() -> None:
    rng = np.random.default_rng(8)
    answers, _ = consistent_answers(20, 6, 3, rng)
    responses = make_responses(answers)
    c, m = responses.choosers_per_option, 20
    drawn = [
        extra_blocks(responses.some_rows(rng.permutation(m)), responses.n_options)
        for _ in range(4000)
    ]
    assert np.mean(drawn, axis=0) == pytest.approx((c - 1) * (m - c) / m, abs=0.1)


def test_import_is_light() -> None:
    code = "import hitsndiffs.order, sys; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
