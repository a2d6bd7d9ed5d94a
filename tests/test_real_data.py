"""Real data sets, where the folder is at hand, are read as they are."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from factory import some

from hitsndiffs.reading import read_key, read_responses

MCQ = {
    "Chinese": (50, 24),
    "English": (63, 30),
    "IT": (36, 25),
    "Medicine": (45, 36),
    "Pokemon": (55, 20),
    "Science": (111, 20),
}
REAL = {
    "credential": (1636, 200),
    "crowd_rte": (164, 800),
    "crowd_web": (176, 2653),
    "eedi_core": (438, 412),
    "fims": (6368, 10),
    "itan_ds1": (39, 50),
    "medical_admission": (2392, 100),
    "openpsy_iq1": (399, 25),
    "sphere_tce": (497, 26),
    "mmlu_pro": (29, 11990),
}


@pytest.fixture
def data():
    folder = os.environ.get("HITSNDIFFS_DATA")
    if folder is None:
        pytest.skip("HITSNDIFFS_DATA does not name the folder of real data")
    return Path(folder)


@pytest.mark.data
@pytest.mark.parametrize("name", MCQ)
def test_the_data_of_the_paper(name, data):
    path = data / "mcq" / name / "answer.csv"
    r = read_responses(path, transpose=True)
    assert (r.n_users, r.n_items) == MCQ[name]
    expected = np.loadtxt(path, delimiter=",", dtype=int)
    found = r.option_labels[r.codes + r.item_starts[:-1, None]].astype(int)
    assert (found == expected).all()
    assert len(read_key(path.with_name("truth.csv"), r)) == r.n_items


@pytest.mark.data
@pytest.mark.parametrize("name", some(REAL, 9))  # the largest takes longest
def test_other_real_data(name, data):
    path = data / "real" / name / "responses.csv"
    r = read_responses(path)
    assert (r.n_users, r.n_items) == REAL[name]
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert r.n_responses == sum(cell != "" for row in rows[1:] for cell in row[1:])
    assert r.users.tolist() == [row[0] for row in rows[1:]]
    read_key(path.with_name("key.csv"), r)
