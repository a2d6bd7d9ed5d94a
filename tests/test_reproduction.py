"""The paper's figures: specs, running, resuming, comparing, and what is left on disk."""

import itertools
import json
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from hitsndiffs.errors import InputError
from reproduction import (
    FIGURES,
    cells,
    explanations,
    list_figures,
    paper_values,
    reproduce,
    runner,
)
from reproduction.agreement import Result, summarise, verdict
from reproduction.cells import Cell, compute
from reproduction.contestants import available
from reproduction.drawings import CURVES, EXAMPLE, example_responses, worked_example
from reproduction.explanations import CHECKED, cause, share
from reproduction.figures import ABSOLUTE, BETWEEN, FROM_ONE, PAIRS, SIGNED, choose
from reproduction.store import Store


@dataclass
class FakeRanking:
    scores: np.ndarray
    consistent: bool = True
    n_iterations: int = 3


class FakeRank:
    """Scores drawn from the data themselves, and a record of the calls."""

    def __init__(self, stop_after=None):
        self.calls = []
        self.stop_after = stop_after

    def __call__(self, responses, method, **params):
        if self.stop_after is not None and len(self.calls) >= self.stop_after:
            raise KeyboardInterrupt
        self.calls.append((method, params, responses.codes.tobytes()))
        return FakeRanking(responses.codes.astype(float).sum(axis=0))


ROOT = Path(__file__).parents[1]
FIGURE = "accuracy/grm/options"
#: Panels that the paper does not have.
OURS = {PAIRS, FROM_ONE, ABSOLUTE, SIGNED, BETWEEN, "ratio"}


def run(out, rank, **kwargs):
    usual = {"runs": 2, "jobs": 1, "points": 2, "methods": ["hnd", "hits"], "pictures": False}
    kwargs = {**usual, **kwargs}
    return reproduce([FIGURE], out=out, rank=rank, **kwargs)


# -- specs ----------------------------------------------------------------------------------------


def test_every_value_of_the_paper_has_a_figure():
    assert set(paper_values()) <= set(FIGURES)
    for name, stored in paper_values().items():
        figure = FIGURES[name]
        points = len(stored.get("x", figure.x))
        for panel in set(figure.panels) - OURS:
            for method, values in stored[panel].items():
                assert method in figure.methods
                assert len(values) == points
    assert sum(name.startswith("accuracy/") for name in FIGURES) == 19
    assert [name for name, _, _ in list_figures()] == list(FIGURES)


def test_figures_are_chosen_by_name_beginning_or_all():
    assert [f.name for f in choose(["accuracy/c1p"])] == ["accuracy/c1p/items"]
    assert len(choose(["accuracy"])) == 19
    assert len(choose(["all"])) == len(choose([])) == len(FIGURES)
    with pytest.raises(InputError, match="Did you mean 'stability'"):
        choose(["stabillity"])


def test_runs_are_in_proportion_to_the_papers():
    assert [FIGURES[n].runs(10) for n in (FIGURE, "stability", "scalability/users", "real")] == [
        10,
        100,
        5,
        1,
    ]
    assert FIGURES["scalability/users"].runs(1) == 1
    assert FIGURES["rounds/users"].runs(1) == 15  # heavy-tailed


def test_points_spread_over_the_axis():
    figure = FIGURES["accuracy/grm/items"]
    assert figure.places(3) == [0, 3, 6]
    assert figure.places(1) == [0]
    assert figure.places(None) == figure.places(99) == list(range(7))


def test_unknown_methods_are_told_and_missing_extras_are_named(monkeypatch):
    with pytest.raises(InputError, match="no method 'nonsense'"):
        available(["hnd", "nonsense"])
    monkeypatch.setattr("reproduction.contestants.find_spec", lambda name: None)
    can, words = available(["hnd", "grm"])
    assert can == ["hnd"]
    assert "mirt" in words[0]


# -- running --------------------------------------------------------------------------------------


def test_all_methods_of_a_cell_see_the_same_data(tmp_path):
    rank = FakeRank()
    run(tmp_path, rank)
    data = [call[2] for call in rank.calls]
    assert len(rank.calls) == 2 * 2 * 2  # points × runs × methods
    assert data[0::2] == data[1::2]
    assert len(set(data)) == 4


def test_data_depend_on_seed_figure_point_and_run_only():
    def drawn(cell):
        rank = FakeRank()
        compute(cell, ["hnd"], rank)
        return rank.calls[0][2]

    base = Cell(FIGURE, place=0, run=0, seed=0)
    assert drawn(base) == drawn(Cell(FIGURE, 0, 0, 0))
    others = [Cell(FIGURE, 0, 1, 0), Cell(FIGURE, 0, 0, 1), Cell("accuracy/grm/items", 2, 0, 0)]
    assert len({drawn(cell) for cell in [base, *others]}) == 4


def test_the_papers_settings_are_passed_on(tmp_path):
    rank = FakeRank()
    run(tmp_path, rank, methods=["hnd", "abh", "true-answer"], points=1, runs=1)
    told = {method: params for method, params, _ in rank.calls}
    assert told["hnd"]["solver"] == "power"
    assert told["hnd"]["tol"] == 1e-5
    assert told["abh"]["solver"] == "direct"
    assert set(told["true-answer"]["key"].values()) == {"C"}


def test_finished_cells_are_not_run_again(tmp_path):
    first = run(tmp_path, FakeRank())
    rank = FakeRank()
    again = run(tmp_path, rank)
    assert rank.calls == []
    assert (again.outcome.computed, again.outcome.kept) == (0, 4)
    assert again.results == first.results
    # Another method, another run: only what is new.
    run(tmp_path, rank, methods=["hnd", "hits", "investment"])
    assert [call[0] for call in rank.calls] == ["investment"] * 4
    run(tmp_path, rank, runs=3)
    assert len(rank.calls) == 4 + 2 * 2


def test_an_interrupted_run_goes_on(tmp_path):
    stopped = run(tmp_path, FakeRank(stop_after=5))
    assert stopped.outcome.interrupted
    assert not stopped.ok
    assert stopped.outcome.computed == 2
    assert "Interrupted" in "\n".join(stopped.summary())
    rank = FakeRank()
    done = run(tmp_path, rank)
    assert len(rank.calls) == 4
    assert done.ok
    assert done.results == run(tmp_path / "other", FakeRank()).results


def test_a_line_cut_off_is_run_again(tmp_path):
    whole = run(tmp_path, FakeRank())
    path = tmp_path / "cells" / "accuracy-grm-options.jsonl"
    text = path.read_text()
    path.write_text(text[:-20])
    rank = FakeRank()
    assert run(tmp_path, rank).results == whole.results
    assert len(rank.calls) == 2
    assert all(json.loads(line) for line in path.read_text().splitlines()[-1:])


def test_a_failing_cell_is_told_and_the_rest_goes_on(tmp_path, monkeypatch):
    def sometimes(cell, methods, rank=None):
        if cell.run == 1:
            raise RuntimeError("broken")
        return {"accuracy": dict.fromkeys(methods, 0.5)}

    monkeypatch.setattr(runner, "compute", sometimes)
    kwargs = {"runs": 2, "jobs": 1, "points": 2, "methods": ["hnd"], "pictures": False}
    found = reproduce([FIGURE], out=tmp_path, **kwargs)
    assert len(found.outcome.failures) == 2
    assert "RuntimeError: broken" in found.outcome.failures[0]
    assert found.outcome.computed == 2
    assert not found.ok


def test_processes_give_the_same_numbers(tmp_path):
    kwargs = {"runs": 2, "points": 2, "methods": ["hnd", "hits"], "pictures": False}
    one = reproduce([FIGURE], out=tmp_path / "1", jobs=1, **kwargs)
    two = reproduce([FIGURE], out=tmp_path / "2", jobs=2, **kwargs)
    for a, b in zip(*(sorted(r.results[FIGURE], key=str) for r in (one, two)), strict=True):
        assert (a.method, a.place) == (b.method, b.place)
        assert a.value == pytest.approx(b.value, abs=1e-6)


def test_a_method_that_gets_slow_is_timed_no_further(tmp_path, monkeypatch):
    """Ten seconds at ten users are a hundred at 32: past the limit of twenty."""
    small = cells.simulate("grm", users=5, items=5)
    monkeypatch.setattr(cells, "simulate", lambda *args, **kwargs: small)
    slow = {"hnd/arnoldi": 10.0}
    monkeypatch.setattr(cells.Clock, "time", lambda clock, name: slow.get(name, 0.001))
    figure = FIGURES["scalability/users"]
    names = ["hnd/power", "hnd/arnoldi"]

    def timed(folder, **limit):
        store = Store(folder)
        runner.run_cells(
            [figure], store, runs=4, seed=0, jobs=1, methods=names, rank=FakeRank(), **limit
        )
        results = summarise(figure, store, seed=0, runs=4)
        return {
            m: [(r.x, r.runs) for r in results if r.panel == "seconds" and r.method == m]
            for m in names
        }

    found = timed(tmp_path / "usual")
    assert [x for x, _ in found["hnd/power"]] == list(figure.x)
    assert found["hnd/arnoldi"] == [(10, 1)]  # and only once
    longer = timed(tmp_path / "long", time_limit=1000.0)
    assert [x for x, _ in longer["hnd/arnoldi"]] == list(figure.x)


# -- measuring and comparing ----------------------------------------------------------------------


def stored(tmp_path, values, figure=FIGURE, method="hnd", place=0):
    store = Store(tmp_path)
    for number, value in enumerate(values):
        store.add(Cell(figure, place, number, 0), {"accuracy": {method: value}})
    return store


def test_distance_is_in_standard_errors_of_the_difference(tmp_path):
    paper = paper_values()[FIGURE]["accuracy"]["hnd"][0]
    values = paper + 0.05 + 0.02 * np.array([-1, 1] * 5)
    (point,) = summarise(FIGURES[FIGURE], stored(tmp_path, values), seed=0, runs=10)
    deviation = np.std(values, ddof=1)
    assert point.error == pytest.approx(deviation / np.sqrt(10))
    # Theirs is as large as ours: both are means of ten runs.
    assert point.distance == pytest.approx(0.05 / (deviation / np.sqrt(10) * np.sqrt(2)))
    assert point.verdict == "higher"
    (fewer,) = summarise(FIGURES[FIGURE], Store(tmp_path), seed=0, runs=4)
    assert fewer.runs == 4


def test_the_papers_own_deviation_is_used_where_it_is_told(tmp_path):
    name = "simulated/half-moon"
    paper = paper_values()[name]
    ours = paper["accuracy"]["hnd"][0] + 0.01
    store = stored(tmp_path, [ours, ours + 1e-9] * 5, figure=name)
    (point,) = summarise(FIGURES[name], store, seed=0, runs=10)
    want = 0.01 / (paper["deviation"]["hnd"][0] / np.sqrt(10))
    assert point.distance == pytest.approx(want, rel=1e-3)


def test_few_runs_borrow_the_deviation_of_the_line(tmp_path):
    paper = paper_values()[FIGURE]["accuracy"]["hnd"]
    store = stored(tmp_path, [paper[0] + 0.01, paper[0] + 0.010001])
    for run_, value in enumerate([0.5, 0.9]):
        store.add(Cell(FIGURE, 1, run_, 0), {"accuracy": {"hnd": value}})
    first, _ = summarise(FIGURES[FIGURE], store, seed=0, runs=2)
    assert first.deviation < 1e-6
    assert first.verdict == "agrees"


def test_verdicts():
    assert [verdict(d) for d in (0, 3.0, -3.01, 3.01, None)] == [
        "agrees",
        "agrees",
        "lower",
        "higher",
        "",
    ]


def test_timings_of_a_disturbed_machine_do_not_count(tmp_path):
    """On the first data set HnD-power took five times as long as on the others."""
    store = Store(tmp_path)
    for number, (base, other) in enumerate([(5.0, 1.2), (1.0, 1.3), (1.1, 1.32), (1.2, 1.2)]):
        seconds = {"hnd/power": base, "hnd/deflation": other}
        ratio = {name: value / base for name, value in seconds.items()}
        cell = Cell("scalability/users", 8, number, 0)
        store.add(cell, {"seconds": seconds, "ratio": ratio})
    points = summarise(FIGURES["scalability/users"], store, seed=0, runs=10)
    at = {(r.panel, r.method): r for r in points}
    assert at["seconds", "hnd/power"].value == 1.1
    assert at["ratio", "hnd/deflation"].value == pytest.approx(1.2)
    assert at["ratio", "hnd/deflation"].runs == 3


def test_timings_take_the_median_and_have_no_verdict(tmp_path):
    store = Store(tmp_path)
    for number, seconds in enumerate([1.0, 2.0, 90.0]):
        cell = Cell("scalability/users", 0, number, 0)
        store.add(cell, {"seconds": {"hnd/deflation": seconds}})
    (point,) = summarise(FIGURES["scalability/users"], store, seed=0, runs=10)
    assert (point.value, point.verdict) == (2.0, "")
    assert point.paper is not None


def test_rounds_are_judged_by_their_median_on_a_logarithmic_scale(tmp_path):
    """Within one round they agree whatever the spread; the paper has 8 rounds at 1,000 users."""

    def judged(folder, rounds, method="hnd/power"):
        store = Store(folder)
        for number, value in enumerate(rounds):
            store.add(Cell("rounds/users", 4, number, 0), {"iterations": {method: value}})
        (point,) = summarise(FIGURES["rounds/users"], store, seed=0, runs=10)
        return point.value, point.paper, point.verdict

    assert judged(tmp_path / "a", [9.0] * 5) == (9.0, 8.0, "agrees")
    assert judged(tmp_path / "b", [10.0] * 5) == (10.0, 8.0, "higher")
    assert judged(tmp_path / "c", [4.0, 6.0, 11.0, 14.0, 20.0]) == (11.0, 8.0, "agrees")
    # Heavy-tailed rounds: the paper has 432. One run alone has no spread, and no verdict.
    spread = [145.0, 226.0, 229.0, 796.0, 2206.0]
    assert judged(tmp_path / "d", spread, "abh/power") == (229.0, 432.0, "agrees")
    assert judged(tmp_path / "e", [1090.0], "abh/power") == (1090.0, 432.0, "")


def test_known_differences_are_explained():
    point = Result("accuracy/samejima/items", "accuracy", "grm", 0, 25, 0.8, 0, 0, 10)
    assert "argsort" in cause(point)
    assert "don't know" in cause(point)
    missing = replace(point, figure="accuracy/grm/answer_probability", x=0.6)
    assert "missing answers" in cause(missing)
    assert "mirt instead of girth" in cause(replace(point, figure="accuracy/grm/items"))
    assert "vary" in cause(replace(point, panel="iterations", method="abh/power"))
    assert "upside down" in cause(replace(point, method="grm-levels"))


def test_points_that_differ_by_chance_agree_the_second_time(tmp_path):
    """Two points are off: HITS was unlucky (made up), the other is off for good (made up too)."""
    name = "accuracy/c1p/items"
    paper = paper_values()[name]["accuracy"]
    store = Store(tmp_path)
    spread = 0.001 * np.array([-1, 1] * 5)
    for number, wobble in enumerate(spread):
        values = {"hits": paper["hits"][0] + 0.3 + wobble, "hnd": 0.5 + wobble}
        store.add(Cell(name, 0, number, 0), {"accuracy": values})
        far = Cell(name, 0, number, explanations.OTHER_SEED)
        store.add(far, {"accuracy": {"hnd": 0.5 + wobble}, "perfect": {"hnd": 0.0}})
    results = {name: summarise(FIGURES[name], store, seed=0, runs=10)}
    outcome = runner.Outcome()
    again = explanations.recheck(results, store, seed=0, runs=10, jobs=1, outcome=outcome)
    assert {key[2] for key in again} == {"hits", "hnd"}
    assert outcome.computed == 40 + 30  # HnD had ten of its forty
    by_method = {key[2]: r for key, r in again.items()}
    assert by_method["hits"].runs == 40
    hits, hnd = (next(r for r in results[name] if r.method == m) for m in ("hits", "hnd"))
    assert "Chance" in cause(hits, by_method["hits"])
    assert "Chance" not in cause(hnd, replace(by_method["hnd"], value=0.5, verdict="lower"))
    assert "Not looked at again" in cause(hits, None)


def test_a_setting_that_several_figures_share():
    point = Result("accuracy/samejima/options", "accuracy", "hits", 1, 3, 0.8, 0, 0, 10)
    twins = explanations.twin_values(point)
    assert len(twins) == 6
    assert paper_values()["accuracy/samejima/amax"]["accuracy"]["hits"][2] in twins
    assert explanations.twin_values(replace(point, x=4)) == []


def test_the_page_tells_how_it_was_made(tmp_path):
    run(tmp_path, FakeRank())
    first = (tmp_path / "reproduction.md").read_text()
    given = "--runs 2 --seed 0 --points 2 --methods hnd --methods hits"
    command = f"python -m reproduction {FIGURE} {given}"
    assert f"one uninterrupted run of `{command}`: 4 cells" in first
    run(tmp_path, FakeRank())  # only writes the page again
    assert (tmp_path / "reproduction.md").read_text() == first
    run(tmp_path, FakeRank(), methods=["hnd", "hits", "investment"])
    assert "4 cells, and 4 of earlier runs" in (tmp_path / "reproduction.md").read_text()
    (tmp_path / "run.json").unlink()
    run(tmp_path, FakeRank())
    assert "0 cells, and 4 of earlier runs" in (tmp_path / "reproduction.md").read_text()


# -- the science ----------------------------------------------------------------------------------


def test_small_reproduction_agrees_with_the_paper(tmp_path):
    """What CI runs: a few points of three models, really compared with the paper's values."""
    figures = ["accuracy/c1p/items", "accuracy/samejima/options", "accuracy/bock/difficulty"]
    methods = list(CHECKED)
    found = reproduce(
        figures, out=tmp_path, runs=4, jobs=1, points=3, methods=methods, pictures=False
    )
    assert found.ok
    together = share(found.results)
    assert together.cells == 3 * 3 * len(CHECKED)
    assert together.share >= 0.95
    for r in found.results["accuracy/c1p/items"]:
        if r.panel == "perfect":  # by the scores alone
            assert (r.value == 1.0) == (r.method in ("hnd", "abh")), r
    # A wrong method is found out: HITS in the place of HnD.
    hits = {r.place: r.value for r in found.results["accuracy/c1p/items"] if r.method == "hits"}
    assert all(
        abs(hits[p] - paper_values()["accuracy/c1p/items"]["accuracy"]["hnd"][p]) > 0.3
        for p in hits
    )


def test_stability_measures(tmp_path):
    found = reproduce(["stability"], out=tmp_path, runs=1, jobs=1, points=3, pictures=False)
    compared = [r for r in found.results["stability"] if r.verdict]
    assert len(compared) == 3 * 3 * 2
    assert sum(r.verdict == "agrees" for r in compared) >= 16
    at = {(r.panel, r.method, r.place): r.value for r in found.results["stability"]}
    # Counting places from 0 moves the displacement by one place of a hundred at most.
    for method in ("hnd", "abh"):
        assert 0 < abs(at["displacement", method, 20] - at[FROM_ONE, method, 20]) <= 0.01
        # As worded, the variance is that of a unit vector: 1/(m - 1), less its squared mean.
        assert at[SIGNED, method, 10] == pytest.approx(1 / 99, rel=0.03)
        assert 0 < at[BETWEEN, method, 20] < at[BETWEEN, method, 0]
    assert at["variance", "hnd", 20] < 0.7 * at["variance", "abh", 20]
    assert at[BETWEEN, "hnd", 20] < at[BETWEEN, "abh", 20]


def test_both_rules_of_missing_answers_are_shown(tmp_path):
    name = "accuracy/samejima/answer_probability"
    how = {
        "runs": 3,
        "jobs": 1,
        "points": 2,
        "methods": ["hnd", "hits", "true-answer", "true-answer-count"],
        "pictures": False,
    }
    found = reproduce([name], out=tmp_path, **how)
    at = {(r.panel, r.method, r.x): r for r in found.results[name]}
    fixed, pairs = at["accuracy", "hits", 0.6], at[PAIRS, "hits", 0.6]
    assert fixed.paper is not None
    assert pairs.paper is None
    assert pairs.value < fixed.value - 0.1  # HITS adds up: who answers more is more able
    assert abs(at[PAIRS, "hnd", 0.6].value - at["accuracy", "hnd", 0.6].value) < 0.05
    # counted right answers fall too; their share does not
    assert at[PAIRS, "true-answer-count", 0.6].value < at[PAIRS, "true-answer", 0.6].value - 0.02
    for method in ("hnd", "hits"):  # everything answered: one and the same data
        assert at[PAIRS, method, 1.0].value == at["accuracy", method, 1.0].value
    text = (tmp_path / "reproduction.md").read_text()
    assert "| HITS |" in text[text.index("## Missing answers") :]


@pytest.mark.data
def test_real_sets_are_the_papers_to_the_last_digit(tmp_path):
    from reproduction.real import data_folder

    if data_folder() is None:
        pytest.skip("HITSNDIFFS_DATA does not name the data folder")
    found = reproduce(["real"], out=tmp_path, jobs=1)
    points = [r for r in found.results["real"] if r.panel == "accuracy" and r.paper is not None]
    assert len(points) == 7 * 6
    assert [r for r in points if r.verdict != "agrees"] == []
    # The paper draws the absolute values of ABH on two sets.
    drawn = {
        r.x: r.value for r in found.results["real"] if (r.panel, r.method) == (ABSOLUTE, "abh")
    }
    signed = {r.x: r.value for r in points if r.method == "abh"}
    assert [x for x in drawn if drawn[x] != signed[x]] == ["Chinese", "English", "mean"]


def test_real_sets_absent_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("HITSNDIFFS_DATA", raising=False)
    found = reproduce(["real"], out=tmp_path, jobs=1)
    assert any("HITSNDIFFS_DATA" in note for note in found.notes)
    assert "HITSNDIFFS_DATA" in (tmp_path / "index.html").read_text()
    with pytest.raises(InputError, match="HITSNDIFFS_DATA"):
        compute(Cell("real", 0, 0, 0), ["hnd"])


def test_real_sets_are_read(tmp_path, monkeypatch):
    from reproduction.real import read_set

    folder = tmp_path / "mcq" / "Chinese"
    folder.mkdir(parents=True)
    (folder / "answer.csv").write_text("3,0,-1\n1,1,2\n")
    (folder / "truth.csv").write_text("3\n4\n")
    monkeypatch.setenv("HITSNDIFFS_DATA", str(tmp_path))
    responses, key = read_set("Chinese")
    assert (responses.n_users, responses.n_items, responses.n_responses) == (3, 2, 5)
    assert responses.option_labels.tolist() == ["0", "3", "1", "2"]
    assert key == {"item-01": "3", "item-02": "4"}
    (folder / "truth.csv").write_text("3\n")
    with pytest.raises(InputError, match=r"2 items in answer\.csv but 1"):
        read_set("Chinese")


def test_worked_example_has_the_properties_of_the_text():
    """Consistent, with 1, 2, 3, 4 and its reverse the only orders."""
    orders = []
    for order in itertools.permutations(range(4)):
        rows = [EXAMPLE[user] for user in order]
        columns = ["".join(row[item] for row in rows) for item in range(3)]
        if all(len(list(itertools.groupby(c))) == len(set(c)) for c in columns):
            orders.append(order)
    assert sorted(orders) == [(0, 1, 2, 3), (3, 2, 1, 0)]
    from hitsndiffs import rank

    ranking = rank(example_responses(), method="hnd", solver="power")
    assert ranking.consistent
    steps = worked_example()
    assert np.argsort(steps["scores"]).tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
    ours = np.corrcoef(ranking.scores, steps["scores"])[0, 1]
    assert abs(ours) == pytest.approx(1, abs=1e-6)


# -- what is left on disk -------------------------------------------------------------------------


def test_pages_tables_and_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    docs = tmp_path / "docs" / "reproduction.md"
    names = ["accuracy/grm/difficulty", "example", "abh-power/beta"]
    found = reproduce(
        names,
        out=tmp_path / "out",
        runs=2,
        jobs=1,
        points=2,
        methods=["hnd", "abh/power"],
        docs=docs,
    )
    out = tmp_path / "out"
    chosen = choose(names)
    for figure in chosen:
        for folder, endings in (("data", ("csv", "json")), ("plots", ("png", "pdf"))):
            for ending in endings:
                assert (out / folder / f"{figure.slug}.{ending}").stat().st_size > 90
    page = (out / "index.html").read_text()
    assert all(f"plots/{figure.slug}.png" in page for figure in chosen)
    judged = sum(bool(r.verdict) for points in found.results.values() for r in points)
    assert (
        page.count("<td class='agrees'")
        + page.count("<td class='higher'")
        + page.count("<td class='lower'")
        == judged
    )
    assert docs.read_text() == (out / "reproduction.md").read_text()
    assert re.search(r"^\| HnD \| [-0-9. ()]+ \| 2 of 2 \|$", docs.read_text(), re.MULTILINE)
    beta = [r.value for r in found.results["abh-power/beta"]]
    assert beta[0] == 1
    assert beta[-1] > 4  # rounds grow about linearly with β
    # A later run of another figure leaves the first ones on the page.
    reproduce(["accuracy/c1p/items"], out=out, runs=1, jobs=1, points=1, methods=["hnd"])
    assert "accuracy-grm-difficulty.png" in (out / "index.html").read_text()


def test_curves_are_probabilities():
    for make in CURVES.values():
        for curve in make():
            assert curve.chance.min() >= 0
            assert curve.chance.max() <= 1


def test_matplotlib_is_loaded_only_for_pictures():
    code = "import sys, reproduction; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_without_matplotlib_everything_else_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("reproduction.command.have_matplotlib", lambda: False)
    found = run(tmp_path, FakeRank(), pictures=True)
    assert any("Matplotlib" in note for note in found.notes)
    assert (tmp_path / "data" / "accuracy-grm-options.csv").exists()
    assert not (tmp_path / "plots").exists()


@pytest.mark.parametrize(("given", "message"), [({"runs": 0}, "runs"), ({"jobs": 0}, "jobs")])
def test_wrong_numbers_are_told(tmp_path, given, message):
    with pytest.raises(InputError, match=f"{message} must be at least 1"):
        reproduce([FIGURE], out=tmp_path, **given)
