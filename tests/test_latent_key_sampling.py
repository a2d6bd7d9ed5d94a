"""Many users: solutions are looked for in a sample, and hold for all."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from cases_of_ability import exam as an_exam
from cases_of_ability import two_camps, with_own_letters
from factory import make_responses, some
from strict_engine import StrictEngine

from hitsndiffs.engines import open_engine
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import ThreadsEngine
from hitsndiffs.methods import LatentKey
from hitsndiffs.methods.latent_key.model import KeyProblem, Sizes, weights_of
from hitsndiffs.methods.latent_key.sampling import take_sample
from hitsndiffs.methods.latent_key.search import search

#: Samples of about 400 users, or of 150 items, so that small tables serve.
FEW = Sizes(
    sample_users=400,
    sample_answers=200,
    sample_items=150,
    sample_answers_of_user=50,
    many_users=400,
    many_items=300,
)


def exam(seed, **sizes):
    table, ability = an_exam(seed, **sizes)
    return with_own_letters(table), ability


def problem_of(r, sizes=FEW, **known):
    return KeyProblem(open_engine(r), sizes=sizes, **known)


def fitted(r, sizes):
    return LatentKey(resamples=0).from_search(search(open_engine(r), sizes=sizes))


def best_options(r, fit):
    """The likeliest option of each item."""
    p, starts = fit.key_probabilities, r.item_starts
    return np.array([first + p[first:last].argmax() for first, last in pairwise(starts)])


@pytest.mark.parametrize("sizes", [FEW, Sizes()])
def test_a_result_leaves_the_search_as_it_was(sizes):
    table = np.repeat(exam(3, users=200, items=12)[0], 3, axis=0)  # copies count for less
    found = search(open_engine(make_responses(table)), axes=1, sizes=sizes)
    problems = [found.problem] if found.sample is None else [found.problem, found.sample.whole]
    before = [problem.witness.copy() for problem in problems]
    LatentKey(resamples=0).from_search(found)
    for problem, witness in zip(problems, before, strict=True):
        np.testing.assert_array_equal(problem.witness, witness)


@pytest.mark.parametrize("answered", some([0.7, 1.0, 0.3], 1))
def test_a_sample_leads_to_the_same_solution(answered):
    r = make_responses(exam(3, users=1500, items=20, answered=answered)[0])
    assert len(take_sample(problem_of(r)).users) < 750
    assert take_sample(problem_of(r, Sizes())).is_whole
    quick, slow = (fitted(r, sizes) for sizes in (FEW, Sizes()))
    np.testing.assert_array_equal(best_options(r, quick), best_options(r, slow))
    np.testing.assert_allclose(quick.scores, slow.scores, atol=0.01)
    np.testing.assert_allclose(quick.abilities, slow.abilities, atol=0.05)
    # fewer users are less sure, but more of them may be alike
    assert abs(quick.confidence - slow.confidence) < 0.2


def test_every_solution_of_a_sample_is_carried_to_all():
    """Two camps with a key each, one larger: whoever starts anew ends in the larger one's."""
    camps = two_camps(3, users=1200, items=20)
    smaller = camps[1::2][:400]
    r = make_responses(with_own_letters(np.concatenate([camps[::2], smaller])))
    quick, slow = (search(open_engine(r), sizes=sizes) for sizes in (FEW, Sizes()))
    assert quick.sample is not None
    assert slow.sample is None
    keys = []
    for reading in (1, 2):
        method = LatentKey(resamples=0, reading=reading)
        one, other = method.from_search(quick), method.from_search(slow)
        keys.append(best_options(r, one))
        np.testing.assert_array_equal(keys[-1], best_options(r, other))
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-9)
    assert (keys[0] != keys[1]).all()


@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("seed", some([0, 4], 1))
def test_options_that_nobody_in_the_sample_chose(options, seed):
    """They say nothing, and break nothing."""
    codes = exam(seed, users=1200, items=20)[0] % options
    rare = options - 1  # one user each chooses it in every other item
    codes[:, ::2] = np.where(codes[:, ::2] == rare, 0, codes[:, ::2])
    codes[np.arange(700, 710), np.arange(0, 20, 2)] = rare
    codes[:4] = codes[4:8]  # some copies
    found = search(open_engine(make_responses(codes)), sizes=FEW)
    assert (found.problem.data.choosers_per_option == 0).any()
    assert 0 < found.confidence < 1
    assert all(np.isfinite(mode.evidence) for mode in found.modes)


def test_the_sample_holds_the_answers_of_its_users():
    r = make_responses(exam(4, users=2000, items=12, answered=0.8)[0])
    problem = problem_of(r, strong_user=r.users[7], answers={3: 0})
    sample = take_sample(problem)
    assert 200 < len(sample.users) < 800
    assert 7 in sample.users
    part = sample.problem.data.responses
    assert part.n_options == r.n_options
    np.testing.assert_array_equal(part.users, r.users[sample.users])
    weights = np.random.default_rng(0).random(r.n_options)
    np.testing.assert_allclose(
        sample.problem.data.choices(weights), problem.data.choices(weights)[sample.users]
    )
    np.testing.assert_array_equal(sample.problem.known, problem.known)
    assert sample.users[sample.problem.strong] == 7


def test_the_sample_does_not_depend_on_the_order_of_the_users():
    table, _ = exam(5, users=1500, items=10)
    order = np.random.default_rng(1).permutation(len(table))
    one, other = make_responses(table), make_responses(table[order])
    chosen = take_sample(problem_of(one)).users
    again = take_sample(problem_of(other)).users
    assert sorted(order[again]) == chosen.tolist()


def test_few_different_sheets_all_have_their_share_of_the_sample():
    """Users with equal answers would be in or out together: of eight sheets, nobody might be in."""
    rng = np.random.default_rng(3)
    table = (rng.random((3000, 3)) < [0.3, 0.5, 0.8]).astype(int)
    order = rng.permutation(len(table))
    counts = []
    for some_table in (table, table[order]):
        sample = take_sample(problem_of(make_responses(some_table)))
        sheets = some_table[sample.users] @ [4, 2, 1]
        counts.append(np.bincount(sheets, minlength=8))
    np.testing.assert_array_equal(*counts)
    share = len(sample.users) / len(table)
    assert 0.05 < share < 0.2
    np.testing.assert_allclose(counts[0], share * np.bincount(table @ [4, 2, 1]), atol=1)


def test_few_different_sheets_elsewhere_are_all_taken():
    table = np.random.default_rng(3).integers(0, 2, (3000, 3))
    assert take_sample(KeyProblem(StrictEngine(make_responses(table)), sizes=FEW)).is_whole


@pytest.mark.parametrize("answered", some([0.6, 1.0], 1))
def test_some_of_many_items_lead_to_the_same_solution(answered):
    r = make_responses(exam(7, users=25, items=600, answered=answered)[0])
    problem = problem_of(r, strong_user=r.users[3], answers={5: 0})
    sample = take_sample(problem)
    part = sample.problem
    assert part.data.n_items == 150
    assert part.strong == 3
    np.testing.assert_array_equal(part.known >= 0, (part.items.labels == 5)[part.items.of_option])
    assert take_sample(problem_of(r, Sizes())).is_whole
    quick, slow = (fitted(r, sizes) for sizes in (FEW, Sizes()))
    assert np.mean(best_options(r, quick) == best_options(r, slow)) > 0.99
    np.testing.assert_allclose(quick.scores, slow.scores, atol=0.003)
    assert abs(quick.confidence - slow.confidence) < 0.15  # fewer users are less sure


def test_items_with_few_answers_want_more_users():
    table, _ = exam(6, users=2000, items=60, answered=0.05)  # about 100 answers per item
    assert take_sample(problem_of(make_responses(table))).is_whole


@pytest.mark.parametrize("layout", ["packed", "sparse"])
def test_posteriors_in_blocks_are_those_of_all_rows_at_once(layout):
    """The threaded engine works block of users by block of users."""
    r = make_responses(exam(8, users=3000, items=12, answered=0.8)[0])
    start = np.random.default_rng(2).normal(size=r.n_users)
    whole, parts = (
        KeyProblem(data, strong_user=5).fit(start, max_rounds=3)
        for data in (NumpyEngine(r), ThreadsEngine(r, 2, layout=layout))
    )
    np.testing.assert_allclose(parts.key, whole.key, rtol=1e-9, atol=1e-12)
    assert parts.evidence == pytest.approx(whole.evidence, rel=1e-12)
    np.testing.assert_allclose(weights_of(parts), weights_of(whole), rtol=1e-9, atol=1e-12)
    for name in ("mean", "sd", "log_evidence"):
        np.testing.assert_allclose(
            getattr(parts.posterior, name), getattr(whole.posterior, name), rtol=1e-9, atol=1e-11
        )
