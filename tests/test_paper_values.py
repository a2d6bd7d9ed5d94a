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

#: Spearman against the true-answer ranking, as the authors publish it, by method.
METHODS = ("hnd", "abh", "hits", "truthfinder", "investment", "pooled-investment")
PAPER = {
    "Chinese": (0.668331, -0.090706, 0.793389, 0.665725, 0.762414, 0.827163),
    "English": (0.548818, -0.113798, 0.455072, 0.437103, 0.454830, 0.497744),
    "IT": (0.726290, 0.221578, 0.866696, 0.856114, 0.874697, 0.854436),
    "Medicine": (0.928941, 0.466552, 0.863726, 0.784172, 0.869012, 0.866897),
    "Pokemon": (0.950090, 0.103176, 0.834701, 0.697838, 0.787634, 0.960954),
    "Science": (0.757887, 0.008601, 0.815803, 0.586083, 0.787316, 0.844057),
}
#: How far the published value may be from a method's, by its solver (ABH's axis is a loose one).
NEAR = {
    "hnd": dict.fromkeys(SOLVERS, 0.002),
    "abh": {"lanczos": 0.001, "power": 0.01, "direct": 0.01},
}
VARIANTS = [(name, solver, near) for name, each in NEAR.items() for solver, near in each.items()]
VARIANTS += [(name, None, 0.001) for name in METHODS if name not in NEAR]


def load(folder, name):
    """Users × items (the files are items × users), and the key."""
    place = folder / "mcq" / name
    table = np.loadtxt(place / "answer.csv", delimiter=",", dtype=int).T
    return table, np.loadtxt(place / "truth.csv", delimiter=",", dtype=int)


@pytest.mark.data
@pytest.mark.parametrize(("method", "solver", "near"), VARIANTS)
@pytest.mark.parametrize("name", PAPER)
def test_accuracy_is_the_papers(data_folder, name, method, solver, near):
    table, key = load(data_folder, name)
    told = {} if solver is None else {"solver": solver}
    found = rank(make_responses(table), method=method, **told)
    assert found.converged
    correct = (table == key).mean(axis=1)
    published = PAPER[name][METHODS.index(method)]
    assert spearmanr(found.scores, correct).statistic == pytest.approx(published, abs=near)
    by_key = rank(make_responses(table), "true-answer", key=dict(enumerate(key.tolist())))
    np.testing.assert_allclose(by_key.scores, correct)


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
