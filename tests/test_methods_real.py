"""The six data sets of the paper: Spearman against the true-answer ranking, method by method."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from factory import make_responses

from hitsndiffs.methods import ABH, METHODS, make
from hitsndiffs.results.metrics import accuracy

pytestmark = pytest.mark.data

#: What the paper's authors published (columns as in METHODS below).
PAPER = {
    "Chinese": (0.668331, -0.090706, 0.793389, 0.665725, 0.762414, 0.827163),
    "English": (0.548818, -0.113798, 0.455072, 0.437103, 0.454830, 0.497744),
    "IT": (0.726290, 0.221578, 0.866696, 0.856114, 0.874697, 0.854436),
    "Medicine": (0.928941, 0.466552, 0.863726, 0.784172, 0.869012, 0.866897),
    "Pokemon": (0.950090, 0.103176, 0.834701, 0.697838, 0.787634, 0.960954),
    "Science": (0.757887, 0.008601, 0.815803, 0.586083, 0.787316, 0.844057),
}
COMPARED = ("hnd", "abh", "hits", "truthfinder", "investment", "pooled-investment")


def load(folder, name):
    with open(folder / "mcq" / name / "answer.csv", newline="") as file:
        answers = np.array([[int(v) for v in row] for row in csv.reader(file)]).T
    with open(folder / "mcq" / name / "truth.csv", newline="") as file:
        truth = np.array([int(row[0]) for row in csv.reader(file)])
    return make_responses(answers), (answers == truth).mean(axis=1)


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_table_comes_out(data_folder, name):
    r, correct = load(data_folder, name)
    found = [accuracy(correct, make(method).fit(r).scores_) for method in COMPARED]
    np.testing.assert_allclose(found, PAPER[name], atol=0.001)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("solver", ["power", "direct"])
def test_the_papers_own_solvers_agree(data_folder, name, solver):
    r, correct = load(data_folder, name)
    found = accuracy(correct, ABH(solver=solver).fit(r).scores_)
    assert found == pytest.approx(PAPER[name][1], abs=0.01)


def test_the_true_answer_method_is_the_reference(data_folder):
    r, correct = load(data_folder, "IT")
    with open(data_folder / "mcq" / "IT" / "truth.csv", newline="") as file:
        key = {i: int(row[0]) for i, row in enumerate(csv.reader(file))}
    np.testing.assert_allclose(METHODS["true-answer"](key=key).fit(r).scores_, correct)
