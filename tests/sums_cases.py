"""Small data and every engine, for the tests of the sums."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import naive
import numpy as np

from hitsndiffs.engines import scaled
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import ThreadsEngine


def threaded(layout, threads):
    return lambda responses: ThreadsEngine(responses, threads, layout=layout)


ENGINES = {
    "numpy": NumpyEngine,
    "packed-1": threaded("packed", 1),
    "packed-2": threaded("packed", 2),
    "sparse-1": threaded("sparse", 1),
    "sparse-2": threaded("sparse", 2),
}


def check_against_oracle(sums, data, seed=0):
    rng = np.random.default_rng(seed)
    matrix = naive.one_hot(data)
    close = {"rtol": 1e-10, "atol": 1e-10}
    for shape in ((), (1,), (3,)):
        weights = rng.standard_normal((data.n_options, *shape))
        scores = rng.standard_normal((data.n_users, *shape))
        scale = rng.random(data.n_users)
        np.testing.assert_allclose(sums.choices(weights), naive.choices(matrix, weights), **close)
        np.testing.assert_allclose(sums.choosers(scores), naive.choosers(matrix, scores), **close)
        np.testing.assert_allclose(
            sums.through(weights, scaled, scale),
            naive.through_users(matrix, weights, scale),
            **close,
        )
    positions = rng.permutation(data.n_users)
    for ours, expected in zip(
        sums.extremes(positions), naive.extremes(matrix, positions), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


def run_python(code, **environment):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    paths = os.pathsep.join([*sys.path, os.path.dirname(__file__)])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
