"""Simulated data: recipes, determinism, missing answers, files."""

import json
from pathlib import Path

import numpy as np
import pytest
from factory import THOROUGH, some

from hitsndiffs.errors import InputError
from hitsndiffs.irt import (
    RECIPES,
    Bock,
    american_experience,
    simulate,
    spaced_bock,
    write_simulation,
)

pl = pytest.importorskip("polars")


def chosen_labels(responses):
    """User × item labels, None for no answer: the plain reading of the codes."""
    table = np.full((responses.n_users, responses.n_items), None, dtype=object)
    indptr, options = responses.rows
    for user in range(responses.n_users):
        for option in options[indptr[user] : indptr[user + 1]]:
            table[user, responses.option_items[option]] = responses.option_labels[option]
    return table


@pytest.mark.parametrize("model", RECIPES)
def test_every_model_simulates(model):
    sim = simulate(model, users=60, seed=2)
    responses = sim.responses
    assert responses.n_users == 60
    assert responses.is_complete
    assert responses.choosers_per_option.min() >= 1
    assert (responses.codes.max(axis=1) == np.diff(responses.item_starts) - 1).all()
    assert set(sim.key) == set(responses.items)
    assert set(sim.key.values()) <= set(sim.model.option_labels)
    assert responses.users[0] == "user-001"
    assert responses.items[0] == "item-01" if responses.n_items < 100 else "item-001"
    # Able users are right more often than others: the key and the abilities belong together.
    right = chosen_labels(responses) == np.array([sim.key[i] for i in responses.items])
    order = np.argsort(sim.abilities)
    assert right[order[30:]].mean() > right[order[:30]].mean() + 0.02


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"answer_probability": 0.5},
        {"answer_probability": 0.5, "missing": "pairs"},
        {"answers_per_user": 2},
    ],
)
def test_chunks_do_not_matter(extra):
    whole = simulate("samejima", users=70, items=12, seed=3, **extra)
    parts = simulate("samejima", users=70, items=12, seed=3, at_once=100, **extra)
    np.testing.assert_array_equal(whole.responses.codes, parts.responses.codes)
    np.testing.assert_array_equal(whole.abilities, parts.abilities)
    assert whole.key == parts.key


def test_seed_decides():
    one, two, other = (simulate("bock", users=30, items=9, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one.responses.codes, two.responses.codes)
    np.testing.assert_array_equal(one.abilities, two.abilities)
    assert not np.array_equal(one.abilities, other.abilities)
    sequence = np.random.SeedSequence(5)
    for _ in range(2):  # the caller's sequence is left as it was
        np.testing.assert_array_equal(
            simulate("bock", 30, 9, None, sequence).abilities, one.abilities
        )


def test_missing_answers_leave_the_rest_alone():
    whole = simulate("grm", users=40, items=20, seed=1)
    some = simulate("grm", users=40, items=20, seed=1, answer_probability=0.6)
    full, part = chosen_labels(whole.responses), chosen_labels(some.responses)
    given = part != None  # noqa: E711
    assert (given.sum(axis=1) == 12).all()
    assert given.sum(axis=0).std() > 0
    np.testing.assert_array_equal(full[given], part[given])


@pytest.mark.parametrize(("probability", "n"), [(0.6, 60), (0.7, 70), (0.9, 90), (0.29, 29)])
def test_answer_probability_counts(probability, n):
    sim = simulate("grm", users=5, seed=0, answer_probability=probability)
    assert (sim.responses.answers_per_user == n).all()


def test_each_pair_is_answered_with_the_probability():
    how = {"users": 200, "items": 80, "seed": 3, "answer_probability": 0.6, "missing": "pairs"}
    whole = simulate("grm", users=200, items=80, seed=3)
    some = simulate("grm", **how)
    full, part = chosen_labels(whole.responses), chosen_labels(some.responses)
    given = part != None  # noqa: E711
    np.testing.assert_array_equal(full[given], part[given])
    spread = np.sqrt(0.6 * 0.4)  # of one pair
    assert abs(given.mean() - 0.6) < 4 * spread / np.sqrt(given.size)
    # the numbers of answers are binomial: their variance, and that of an item's answers
    for counts, of in ((given.sum(axis=1), 80), (given.sum(axis=0), 200)):
        assert 0.5 < counts.var() / (of * spread**2) < 2.0


def test_c1p_is_consecutive_when_sorted():
    sim = simulate("c1p", users=200, items=50, options=4, seed=0)
    codes = sim.responses.codes[:, np.argsort(sim.abilities)].astype(int)
    assert (np.diff(codes, axis=1) >= 0).all()
    assert (sim.abilities < 0.5).sum() == 20


def test_long_tail():
    sim = simulate("samejima", users=2000, items=400, seed=0, answers_per_user=10)
    counts = sim.responses.answers_per_user
    assert 9 <= np.median(counts) <= 11
    assert counts.min() >= 1
    assert counts.mean() > 1.4 * np.median(counts)
    assert not sim.responses.is_dense
    assert sim.responses.choosers_per_option.min() >= 1
    same = simulate("samejima", users=50, items=40, answers_per_user=7, answers_tail=0)
    assert (same.responses.answers_per_user == 7).all()


def test_sparse_and_dense_layouts_hold_the_same_answers():
    sparse = simulate("bock", users=80, items=30, seed=4, answers_per_user=3)
    assert not sparse.responses.is_dense
    dense = simulate("bock", users=80, items=30, seed=4, answers_per_user=3, dense_from=0.0)
    assert dense.responses.is_dense
    np.testing.assert_array_equal(chosen_labels(sparse.responses), chosen_labels(dense.responses))
    assert sparse.key == dense.key


def test_blocks_are_linked():
    sim = simulate("grm", users=30, items=20, seed=0, blocks=5)
    assert (sim.responses.answers_per_user == 8).all()
    assert (sim.responses.answers_per_item == 12).all()


def test_items_without_answers_are_gone_from_the_key_too():
    sim = simulate("grm", users=2, items=50, seed=0, answer_probability=0.1)
    assert sim.responses.n_items <= 10
    assert list(sim.key) == sim.responses.items.tolist() == list(sim.order)


def test_order_puts_the_key_last():
    sim = simulate("bock", users=30, items=10, options=4, seed=0)
    for item, order in sim.order.items():
        assert order[-1] == sim.key[item]
        assert sorted(order) == list("ABCD")


def test_own_model_and_own_abilities():
    model = Bock([[0.0, 5.0]] * 3, [[0.0, 0.0]] * 3)
    sim = simulate(model, users=4, ability=[-9.0, -9.0, 9.0, 9.0])
    assert chosen_labels(sim.responses)[:, 0].tolist() == ["A", "A", "B", "B"]
    assert sim.model is model


def test_paper_recipes():
    moon = simulate("half-moon", items=4000, users=2, seed=0).model
    distance = np.abs(moon.difficulty - 0.5) / 2.5
    log_a = np.log10(moon.discrimination)
    edge, middle = distance > 0.9, distance < 0.1
    assert log_a[edge].mean() == pytest.approx(0.4 * (distance[edge] ** 2).mean(), abs=0.02)
    assert log_a[middle].std() == pytest.approx(0.195, abs=0.02)
    assert log_a[edge].std() < 0.15
    assert 0.48 < moon.guessing.max() <= 0.5

    items = american_experience()
    assert items.discrimination[7] == pytest.approx(1.42 * 1.7)

    grm = simulate("grm", options=4, items=3000, users=2, amax=10).model
    assert 3.9 < grm.discrimination.max() <= 4.0

    spaced = simulate(spaced_bock(discrimination=9.0), ability="spaced", seed=0)
    assert spaced.abilities[[0, -1]].tolist() == [0.01, 1.0]
    assert spaced.model.difficulty[[0, -1], 0].tolist() == pytest.approx([-0.495, 0.495])


@pytest.mark.parametrize("model", ["grm", "bock", "samejima"])
def test_mean_user_accuracy_is_the_papers(model):
    text = (Path(__file__).parents[1] / "reproduction" / "paper_values.json").read_text()
    figure = json.loads(text)[f"accuracy/{model}/difficulty"]
    pairs = list(zip(figure["x"], figure["mean_user_accuracy"], strict=True))
    for bmax, theirs in some([*pairs[::3], *pairs[1::3], *pairs[2::3]], 3):  # the ends, the middle
        ours = []
        runs = 20 if THOROUGH else 10
        for seed in range(runs):
            sim = simulate(model, seed=seed, bmax=bmax)
            chances = sim.model.probabilities(sim.abilities)
            ours.append(100 * chances[:, np.arange(100), sim.model.correct].mean())
        # Theirs is a mean of ten runs. 21 comparisons: four standard errors are rare by chance.
        error = np.std(ours, ddof=1) * np.sqrt(1 / 10 + 1 / runs)
        assert abs(np.mean(ours) - theirs) < 4 * error, (bmax, theirs, np.mean(ours))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"model": "samejma"}, "Did you mean 'samejima'"),
        ({"model": "3pl", "options": 3}, "has 2 options; got options=3"),
        ({"model": "american-experience", "items": 50}, "has 40 items"),
        ({"model": "grm", "users": 0}, "users must be at least 1"),
        ({"model": "grm", "items": 0}, "items must be at least 1"),
        ({"model": "grm", "options": 1}, "options must be"),
        ({"model": "grm", "ability": "even"}, "ability must be one of"),
        ({"model": "grm", "ability": [1.0]}, r"one number per user \(100\)"),
        ({"model": "grm", "answer_probability": 0}, "above 0"),
        ({"model": "grm", "items": 5, "answer_probability": 0.1}, "leaves none of the"),
        ({"model": "grm", "answer_probability": 0.5, "blocks": 4}, "exclude each other"),
        ({"model": "grm", "missing": "some"}, "missing must be one of fixed, pairs"),
        ({"model": "grm", "answers_per_user": 0}, "median of at least 1"),
        ({"model": "grm", "blocks": 2}, "from 3 to"),
        ({"model": "grm", "amax": -1}, "amax must not be negative"),
    ],
)
def test_wrong_calls_are_told(call, message):
    with pytest.raises(InputError, match=message):
        simulate(**call)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_files_hold_the_simulation(tmp_path, format):
    sim = simulate("samejima", users=25, items=8, seed=0, answer_probability=0.8)
    paths = write_simulation(sim, tmp_path / "new", format)
    read = pl.read_csv if format == "csv" else pl.read_parquet
    table = read(paths[0])
    assert table.columns == ["user", *sim.responses.items]
    texts = table.drop("user").cast(pl.String).rows()
    np.testing.assert_array_equal(np.array(texts, dtype=object), chosen_labels(sim.responses))
    np.testing.assert_allclose(read(paths[1])["ability"].to_numpy(), sim.abilities)
    assert dict(read(paths[2]).cast(pl.String).rows()) == sim.key
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(p.name for p in paths)


def test_sparse_files_are_long(tmp_path):
    sim = simulate("bock", users=60, items=50, seed=0, answers_per_user=4)
    table = pl.read_csv(write_simulation(sim, tmp_path)[0])
    assert table.columns == ["user", "item", "option"]
    want = chosen_labels(sim.responses)
    assert len(table) == sim.responses.n_responses
    places = {label: n for n, label in enumerate(sim.responses.items)}
    for user, item, option in table.rows():
        assert want[int(user[5:]) - 1, places[item]] == option


def test_files_come_whole_or_not_at_all(tmp_path, monkeypatch):
    other = simulate("grm", users=6, items=5, seed=1)
    original = pl.DataFrame.write_csv
    calls = []

    def third_fails(self, path):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return original(self, path)

    monkeypatch.setattr(pl.DataFrame, "write_csv", third_fails)
    with pytest.raises(InputError, match="the disk is full"):
        write_simulation(other, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_format_is_told(tmp_path):
    with pytest.raises(InputError, match="format must be one of"):
        write_simulation(simulate("grm", users=3, items=3), tmp_path, "xlsx")
