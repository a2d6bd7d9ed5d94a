"""Helpers that several test files share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from hitsndiffs.data.responses import Responses


def responses_from_array(a, *, users=None, items=None) -> Responses:
    """Responses of a users × items array of whole numbers; negative = no answer."""
    a = np.asarray(a)
    answered_items = [i for i in range(a.shape[1]) if (a[:, i] >= 0).any()]
    names = np.arange(a.shape[1]) if items is None else np.asarray(items)
    codes = np.full((len(answered_items), a.shape[0]), 255, dtype=np.uint8)
    labels, starts = [], [0]
    for row, i in enumerate(answered_items):
        options = sorted({int(v) for v in a[:, i] if v >= 0})
        for j, value in enumerate(a[:, i]):
            if value >= 0:
                codes[row, j] = options.index(int(value))
        labels.extend(options)
        starts.append(starts[-1] + len(options))
    return Responses(
        users=np.arange(a.shape[0]) if users is None else np.asarray(users),
        items=names[answered_items],
        option_labels=np.array(labels),
        item_starts=np.array(starts),
        codes=codes,
    )


def random_answers(users=12, items=8, options=4, missing=0.0, seed=0):
    """Users of rising ability choose option 0 (the right one) more and more often."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(0.2, 0.9, users)[rng.permutation(users)]
    right = rng.random((users, items)) < ability[:, None]
    wrong = rng.integers(1, options, (users, items))
    answers = np.where(right, 0, wrong)
    answers[rng.random((users, items)) < missing] = -1
    answers[np.arange(users), rng.integers(0, items, users)] = 0  # everybody answers something
    return answers


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, named by the variable HITSNDIFFS_DATA."""
    folder = os.environ.get("HITSNDIFFS_DATA")
    if not folder:
        pytest.skip("the variable HITSNDIFFS_DATA does not name a folder of data sets")
    return Path(folder)


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where Numba cannot be imported: nothing compiled is loaded yet, or can be."""
    compiled = ("kernels", "engines.packed", "engines.sparse")
    for name in [n for n in sys.modules if n.startswith("hitsndiffs.") and n.endswith(compiled)]:
        monkeypatch.delitem(sys.modules, name)
        package, _, module = name.rpartition(".")
        monkeypatch.delattr(sys.modules[package], module, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
