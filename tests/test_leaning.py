"""Two labels shared by all items: leaning is told from ability, and marks are told from answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from cases_of_ability import exam, with_own_letters
from factory import make_responses, some
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import Responses, accuracy, rank, simulate
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.label_axes import LabelCentred, label_centred_axes
from hitsndiffs.methods.labels import mark_in_words, sharing, two_labels
from hitsndiffs.methods.latent_key.candidates import MANY_BLOCKS, item_blocks
from hitsndiffs.methods.latent_key.confidence import FOLLOWED
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.habits import habits_of
from hitsndiffs.methods.latent_key.leaning_candidates import ABILITIES
from hitsndiffs.methods.latent_key.leanings import LeaningProblem
from hitsndiffs.methods.latent_key.marks import MarksProblem, beyond_evidence
from hitsndiffs.methods.latent_key.method import FEW_PER_ITEM, LatentKey
from hitsndiffs.methods.latent_key.modes import multiple_correlation
from hitsndiffs.methods.latent_key.problem import Sizes
from hitsndiffs.methods.latent_key.sampling import take_sample
from hitsndiffs.methods.latent_key.search import search

pytestmark = [
    pytest.mark.filterwarnings("ignore::hitsndiffs.errors.ConvergenceWarning"),
]


def true_or_false(seed, users=80, items=60, lean=1.0, spread=1.0, answered=1.0, true=0.5):
    """Statements, half of them true; users lean to "true" by ``lean``, more or less."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < true).astype(int)
    leaning = lean + spread * rng.standard_normal(users)
    able, ease = 0.8 + 0.7 * rng.standard_normal(users), 0.5 * rng.standard_normal(items)
    chance = 1 / (1 + np.exp(-(leaning[:, None] + (2 * truth - 1) * (able[:, None] + ease))))
    table = (rng.random((users, items)) < chance).astype(int)
    right = (table == truth).mean(axis=1)
    table[rng.random(table.shape) >= answered] = -1
    table[(table < 0).all(axis=1), 0] = 1
    return table, right


#: Mean and spread, the corners first.
LEANINGS = [*product([-1.0, 2.0], [0.0, 3.0]), *product([-1.0, 2.0], [1.0, 2.0])]
LEANINGS += product([1.0], [0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(("lean", "spread"), some(LEANINGS, 4))
def test_leaning_of_any_strength_is_no_ability(lean, spread):
    found = [
        accuracy(right, rank(make_responses(table), resamples=0).scores)
        for table, right in (
            true_or_false(seed, lean=lean, spread=spread) for seed in some([1, 0], 1)
        )
    ]
    assert np.mean(found) > 0.85


def test_it_holds_where_the_majority_is_wrong_and_where_answers_are_few():
    table, right = true_or_false(3, lean=2.0, spread=2.0, true=0.3)
    r = make_responses(table)
    assert accuracy(right, rank(r, "majority").scores) < 0
    assert accuracy(right, rank(r, resamples=2).scores) > 0.9
    table, right = true_or_false(4, users=100, items=120, answered=0.15)
    assert accuracy(right, rank(make_responses(table), resamples=2).scores) > 0.6


@pytest.mark.parametrize(("users", "answered", "averaged"), [(60, 0.12, True), (60, 0.6, False)])
def test_the_key_is_averaged_over_two_models_where_items_have_few_answers(
    users, answered, averaged
):
    table, _ = true_or_false(6, users=users, items=80, answered=answered)
    r = make_responses(table)
    method = LatentKey(resamples=0)
    found = method._search(open_engine(r))
    key = method.fit(r).fit_.key_probabilities
    alone = replace(found, confusions=None)
    by_leaning = method.from_search(alone).key_probabilities
    expected = (by_leaning + found.confusions) / 2 if averaged else by_leaning
    np.testing.assert_allclose(key, expected, atol=1e-9)
    assert averaged == (r.n_responses < FEW_PER_ITEM * r.n_items)


def test_models_that_disagree_are_not_sure():
    table, _ = true_or_false(6)
    found = search(open_engine(make_responses(table)))
    assert found.by_confusions > 0.9
    turned = replace(found, confusions=1 - found.confusions)
    assert turned.by_confusions < -0.9
    assert turned.confidence < 0.6 < found.confidence


def test_few_answers_per_user_are_no_marks_unless_that_is_clear():
    one, other = (
        search(open_engine(make_responses(table)))
        for table in (
            true_or_false(17, users=50, items=30, spread=0.5, answered=0.2)[0],
            (exam(1, users=100, items=40)[0] == 0).astype(int),
        )
    )
    behind = [mode.evidence for mode in one.modes if mode.one_label is not None]
    assert one.best.one_label is None
    assert max(behind) > one.best.evidence  # by the evidence alone they would be marks
    assert one.confidence <= 0.5
    assert other.best.one_label is not None


def test_which_label_is_which_does_not_matter():
    table, _ = true_or_false(5, users=40, items=30)
    one = rank(make_responses(table), resamples=0)
    other = rank(make_responses(1 - table), resamples=0)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-7)
    assert one.confidence == pytest.approx(other.confidence, abs=1e-6)
    shuffled = np.random.default_rng(0).permutation(40)
    again = rank(make_responses(table[shuffled]), resamples=0)
    np.testing.assert_allclose(again.scores, one.scores[shuffled], atol=1e-7)


def test_marks_are_read_as_marks_and_never_surely():
    table, ability = exam(1, users=100, items=40)
    marks = (table == 0).astype(int)
    ranking = rank(make_responses(marks), resamples=2)
    assert abs(accuracy(ability, ranking.scores)) > 0.8
    assert ranking.confidence <= 0.75
    told = rank(make_responses(marks), answers=dict.fromkeys(range(40), 1), resamples=2)
    assert accuracy(ability, told.scores) > 0.8
    assert told.confidence > ranking.confidence


@pytest.mark.parametrize("seed", some([6, 0, 9], 1))
def test_words_for_marks_are_taken_for_marks(seed):
    sim = simulate("american-experience", seed=seed)
    ranking = rank(sim.responses, resamples=2)
    assert accuracy(sim.abilities, ranking.scores) > 0.8
    assert 0.55 <= ranking.confidence <= 0.75
    assert any("read as marks: 'right' is right in every item" in note for note in ranking.notes)
    # and one known answer overrules it: "wrong" is right somewhere
    item = sim.responses.items[0]
    told = rank(sim.responses, answers={item: "wrong"}, resamples=0)
    assert not any("read as marks" in note for note in told.notes)


@pytest.mark.parametrize("model", ["american-experience", "half-moon"])
def test_robust_hnd_keeps_the_leaning_where_it_is_ability(model):
    sim = simulate(model, seed=1)
    robust, plain = (rank(sim.responses, method=m).scores for m in ("hnd-robust", "hnd"))
    assert accuracy(sim.abilities, robust) > accuracy(sim.abilities, plain) - 0.01


def test_words_for_marks_do_not_outweigh_the_answers():
    # statements that people called right or wrong: the truth is another label from item to item
    table, right = true_or_false(3)
    words = np.where(table == 1, "right", "wrong")
    ranking = rank(words)
    assert accuracy(right, ranking.scores) > 0.8
    assert not any("read as marks" in note for note in ranking.notes)


def test_labels_mean_the_same_in_a_part_of_the_items():
    table, _ = true_or_false(1, users=20, items=30)
    table[:, 0] = 1  # the label that comes first here comes second in the other items
    data = open_engine(make_responses(table))
    part, options = data.restrict_items(np.arange(1, 30))
    leaning, marks = LeaningProblem(data), MarksProblem(data)
    marks.label = "1"
    of_part = [each.part(part, part.everybody, options) for each in (leaning, marks)]
    np.testing.assert_array_equal(of_part[0].numbers, leaning.numbers[options])
    np.testing.assert_array_equal(of_part[1].marked, marks.marked[options])


def test_marks_of_many_items_are_fitted_as_well_as_those_of_few():
    """Half of the items tell who is good, and all of them join in for the last rounds."""
    data = open_engine(simulate("1pl", users=25, items=120, seed=1).responses)
    start = normal_scores(data, np.random.default_rng(0).random(25))
    marks = [MarksProblem(data), MarksProblem(data)]
    marks[1].sizes = Sizes(sample_items=50, sample_answers_of_user=20)
    first, last = [], []
    for problem in marks:
        problem.label = "right"
        sample = take_sample(problem)
        first.append(sample.fit(start, 30))
        last.append(sample.for_all(first[-1], 30))
    assert [fit.problem.data.n_items for fit in first] == [120, 60]
    whole, half = (fit.posterior.mean for fit in first)
    assert np.corrcoef(whole, half)[0, 1] > 0.9
    assert last[1].evidence == pytest.approx(last[0].evidence, abs=1)
    np.testing.assert_allclose(last[1].posterior.mean, last[0].posterior.mean, atol=0.1)


def test_a_mark_is_seen_from_its_word():
    for pair, good in ((("Wrong", "Right"), "Right"), (("pass", "fail"), "pass")):
        assert mark_in_words(Responses.from_wide([pair, pair[::-1]]).structure) == good
    for pair in (("true", "false"), ("1", "0"), ("right", "left")):
        assert mark_in_words(Responses.from_wide([pair, pair[::-1]]).structure) is None


def test_doubt_about_keys_counts_for_answers_and_learnt_leanings_against_them():
    table, _ = true_or_false(0)
    data = open_engine(make_responses(table))
    fit = LeaningProblem(data).fit(normal_scores(data, table.mean(axis=1)))
    certain = replace(fit, key=np.round(fit.key))
    doubtful = replace(fit, key=np.full_like(fit.key, 0.5))
    assert beyond_evidence(certain) > 0  # nothing but the leanings' learnt spread
    assert beyond_evidence(doubtful) < beyond_evidence(certain)


def test_an_order_that_follows_one_label_says_so():
    table, _ = exam(2, users=60, items=30)  # the first letter is right in every item
    ranking = rank(make_responses(table))
    assert any("follows how often people chose '0'" in note for note in ranking.notes)
    assert ranking.confidence <= 0.75
    plain = rank(make_responses(with_own_letters(table)))
    assert not any("follows how often" in note for note in plain.notes)


def naive_log_likelihood(table, problem, signal, key, user):
    """Log probability of one user's answers at every pair, item by item."""
    total = np.zeros((len(ABILITIES), len(problem.points)))
    items = problem.items
    for option in range(problem.data.n_options):
        item = items.of_option[option]
        label = int(items.option_labels[option])
        if table[user, item] != label:
            continue
        for candidate in range(*items.starts[item : item + 2]):
            sign = 1.0 if int(items.option_labels[candidate]) == 1 else -1.0
            line = (
                signal.slope * ABILITIES[:, None]
                + sign * problem.points
                + signal.intercepts[candidate]
            )
            p = 1 / (1 + np.exp(-line))
            total += key[candidate] * np.log(p if candidate == option else 1 - p)
    return total


def opinions(seed, users=60, items=30):
    """A survey: everybody agrees more or less with everything, and nothing is right or wrong."""
    rng = np.random.default_rng(seed)
    agrees = rng.standard_normal((users, 1)) * rng.uniform(0.8, 1.2, items)
    agrees = agrees + 1 + 0.4 * rng.standard_normal(items)
    return np.digitize(agrees + 0.4 * rng.standard_normal((users, items)), [-1.5, -0.5, 0.5, 1.5])


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_an_order_that_follows_the_use_of_all_labels_is_never_sure(seed):
    ranking = rank(make_responses(opinions(seed)))
    assert ranking.confidence <= FOLLOWED
    assert any("how often people chose each label" in note for note in ranking.notes)
    table, _ = exam(seed, users=60, items=40)
    usual = rank(make_responses(with_own_letters(table)))
    assert usual.confidence > FOLLOWED
    assert not any("how often people chose" in note for note in usual.notes)


@given(st.integers(4, 30), st.integers(1, 5), st.integers(0, 10_000))
def test_multiple_correlation_is_that_of_least_squares(n, k, seed):
    rng = np.random.default_rng(seed)
    of, by = rng.normal(size=n), rng.normal(size=(n, k))
    by = np.column_stack([by, by.sum(axis=1)])  # the last one says nothing new
    degrees = n - 1 - k
    fitted = np.column_stack([np.ones(n), by])
    left = of - fitted @ np.linalg.lstsq(fitted, of, rcond=None)[0]
    expected = 0.0
    if degrees > 0:
        share = (left @ left) / ((of - of.mean()) @ (of - of.mean()))
        expected = np.sqrt(max(1 - share * (n - 1) / degrees, 0))
    assert multiple_correlation(of, list(by.T)) == pytest.approx(expected, abs=1e-6)


def test_what_an_answer_says_is_that_of_the_formula():
    table, _ = true_or_false(6, users=12, items=8, answered=0.8)
    data = open_engine(make_responses(table), "numpy")
    problem = LeaningProblem(data)
    start = normal_scores(data, np.random.default_rng(0).normal(size=12))
    fit = problem.fit(start, max_rounds=3)
    again = problem.applied(fit)
    sums = data.choices(again.logs)
    for user in range(12):
        expected = naive_log_likelihood(table, problem, fit.signal, fit.key, user)
        np.testing.assert_allclose(sums[user], expected.ravel(), atol=1e-9)
    by_item = np.add.reduceat(fit.key, data.items.starts[:-1])
    np.testing.assert_allclose(by_item, 1.0)
    whole = np.add.reduceat(fit.probabilities(), data.items.starts[:-1])
    both = np.diff(data.items.starts) == 2
    np.testing.assert_allclose(whole[both], 1.0)


def test_blocks_and_threads_do_not_change_a_round():
    table, _ = true_or_false(8, users=15, items=60, answered=0.4)
    whole, parts = (LeaningProblem(open_engine(make_responses(table), "numpy")) for _ in range(2))
    parts.blocks = item_blocks(parts.data, 5)
    parts.data.threads = 3
    assert len(parts.blocks) >= MANY_BLOCKS
    start = normal_scores(whole.data, np.random.default_rng(1).normal(size=15))
    one, other = (problem.fit(start, max_rounds=8) for problem in (whole, parts))
    np.testing.assert_allclose(one.key, other.key, atol=1e-9)
    np.testing.assert_allclose(one.logs, other.logs, atol=1e-9)
    assert one.evidence == pytest.approx(other.evidence)


def test_the_opposite_reading_is_among_the_solutions_or_leads_back():
    table, right = true_or_false(7)
    found = search(open_engine(make_responses(table)))
    assert found.best.one_label is None
    assert {"0", "1"} == {m.one_label for m in found.modes if m.one_label is not None}
    assert accuracy(right, found.best.fit.posterior.mean) > 0.8


def test_label_centring_is_that_of_the_residual_table():
    table, _ = true_or_false(8, users=20, items=10, answered=0.7)
    data = open_engine(make_responses(table), "numpy")
    centred = LabelCentred.of(data)
    seen = table >= 0
    share = np.array([column[column >= 0].mean() for column in table.T])
    excess = np.where(seen, table - share, 0.0)
    lean = excess.sum(axis=1) / (seen.sum(axis=1) + 3.0)
    residual = np.where(seen, table - share - lean[:, None], 0.0)
    v = np.random.default_rng(1).normal(size=10)
    np.testing.assert_allclose(centred.scores(v), residual @ v / (seen.sum(axis=1) + 3.0))
    scaled = residual / np.sqrt(seen.sum(axis=1) + 3.0)[:, None]
    scaled = scaled / np.sqrt(seen.sum(axis=0) + 3.0)
    np.testing.assert_allclose(centred.around(v), scaled.T @ scaled @ v, atol=1e-12)
    values = np.linalg.eigvalsh(scaled.T @ scaled)[::-1]
    np.testing.assert_allclose(label_centred_axes(data, 2).axes.values, values[:2])


def test_shared_labels_are_seen_from_the_labels():
    table, _ = true_or_false(9, users=10, items=6)
    assert two_labels(make_items(table))
    assert not two_labels(make_items(table + 2 * np.arange(6)))
    assert sharing(make_items(table + 2 * np.arange(6))).apart
    three, _ = exam(3, users=20, items=6)
    assert not two_labels(make_items(three))
    assert sharing(make_items(three)).apart == ""


def make_items(table):
    return open_engine(make_responses(table), "numpy").items


def test_who_answers_one_letter_whatever_is_asked_is_no_witness():
    table, _ = exam(4, users=60, items=40)
    table = with_own_letters(table)
    right = with_own_letters(np.zeros((1, 40), dtype=int))[0]
    table[:20] = np.where(np.random.default_rng(0).random((20, 40)) < 0.9, 2, table[:20])
    truth = (table == right).mean(axis=1)
    r = make_responses(table)
    habits = habits_of(open_engine(r))
    assert (habits.shares[:20] > 0.5).all()
    assert (habits.shares[20:] == 0).mean() > 0.9
    ranking = rank(r, resamples=2)
    assert accuracy(truth, ranking.scores) > 0.9
    assert any("whatever is asked" in note for note in ranking.notes)


@pytest.mark.parametrize("seed", some(range(3), 1))
def test_robust_hnd_takes_leanings_out(seed):
    table, truth = true_or_false(seed, users=80, items=60)
    ranking = rank(make_responses(table), "hnd-robust")
    assert accuracy(truth, ranking.scores) > 0.8
    assert any("leaning" in note for note in ranking.notes)
    told = rank(make_responses(table), "hnd-robust", lam=3.0, mu=3.0)
    assert not any("leaning" in note for note in told.notes)
