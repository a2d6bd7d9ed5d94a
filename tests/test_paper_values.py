"""The paper's own data sets: its published accuracies, and correspondence analysis as an oracle."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from factory import make_responses, random_table
from naive_spectral import C
from scipy.stats import spearmanr

from hitsndiffs import rank
from hitsndiffs.spectral import SOLVERS

#: Spearman of HnD's scores against the true-answer ranking, as the authors publish it.
PAPER = {
    "Chinese": 0.668331,
    "English": 0.548818,
    "IT": 0.726290,
    "Medicine": 0.928941,
    "Pokemon": 0.950090,
    "Science": 0.757887,
}


def load(folder, name):
    """Users × items (the files are items × users), and how many each user got right."""
    place = folder / "mcq" / name
    table = np.loadtxt(place / "answer.csv", delimiter=",", dtype=int).T
    key = np.loadtxt(place / "truth.csv", delimiter=",", dtype=int)
    return table, (table == key).sum(axis=1)


@pytest.mark.data
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", PAPER)
def test_accuracy_is_the_papers(data_folder, name, solver):
    table, correct = load(data_folder, name)
    found = rank(make_responses(table), method="hnd", solver=solver)
    assert found.converged
    assert spearmanr(found.scores, correct).statistic == pytest.approx(PAPER[name], abs=0.002)


def first_axis(table):
    """Row coordinates of correspondence analysis on the one-hot table."""
    prince = pytest.importorskip("prince")
    frame = pd.DataFrame(C(table))
    analysis = prince.CA(n_components=1, n_iter=100, engine="scipy").fit(frame)
    return analysis.row_coordinates(frame).to_numpy()[:, 0], analysis.eigenvalues_[0]


def assert_same_axis(table, found, tol):
    axis, eigenvalue = first_axis(table)
    scale = np.abs(axis).max() / np.abs(found.scores).max()
    sign = np.sign(axis @ found.scores)
    np.testing.assert_allclose(axis, sign * scale * found.scores, atol=tol * np.abs(axis).max())
    assert eigenvalue == pytest.approx(found.fit.eigenvalues[0], abs=1e-8)


@pytest.mark.data
@pytest.mark.parametrize("name", PAPER)
def test_scores_are_correspondence_analysis_on_the_papers_data(data_folder, name):
    table, _ = load(data_folder, name)
    assert_same_axis(table, rank(make_responses(table), method="hnd"), 1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_scores_are_correspondence_analysis(missing):
    """Also with missing answers, which correspondence analysis takes as zeros of the table."""
    table = random_table(11, 60, 15, 4, missing=missing)
    assert_same_axis(table, rank(make_responses(table), method="hnd"), 1e-6)
