"""Every engine, the oracle of its sums, and Python programs of their own."""

from __future__ import annotations

import atexit
import logging
import os
import subprocess
import sys
import textwrap
from functools import cache

import naive
import numpy as np
import pytest
from parts_engine import PartsEngine
from strict_engine import StrictEngine

from hitsndiffs.data.ones import Ones
from hitsndiffs.engines import open_engine, scaled
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import ThreadsEngine
from hitsndiffs.errors import InputError
from hitsndiffs.methods import make


def threaded(layout, threads):
    return lambda responses: ThreadsEngine(responses, threads, layout=layout)


#: A cluster that waits looks at itself seldom, which else takes some of the processor's time.
SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "10s",
}


@cache
def cluster():
    """A client of a cluster of two workers in this process; it lives as long as the tests."""
    distributed = pytest.importorskip("distributed")
    import dask

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(SELDOM):
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        )
        client = distributed.Client(made, set_as_default=False)
    atexit.register(made.close)
    atexit.register(client.close)
    return client


def quick(method):
    """A method, as it comes."""
    return make(method)


def on_cluster(responses, parts=2, **named):
    """The users in some parts on the workers, however few they are."""
    client = cluster()
    from hitsndiffs.engines.dask import DaskEngine, Part

    users = np.array_split(np.arange(responses.n_users), min(parts, responses.n_users))
    pieces = [responses.restrict(some, keep_options=True)[0] for some in users]
    made = client.map(Part, pieces, pure=False)
    sizes = [len(some) for some in users]
    data = DaskEngine(client, made, sizes, responses.structure, here_up_to=0, **named)
    data.users_in_bucket = 1  # as many buckets as parts
    return data


def on_gpu(responses):
    """The GPU's engine; without a GPU or CuPy the test is skipped."""
    try:
        return open_engine(responses, "cupy")
    except InputError as error:
        pytest.skip(str(error))


ENGINES = {
    "numpy": NumpyEngine,
    "packed-1": threaded("packed", 1),
    "packed-2": threaded("packed", 2),
    "sparse-1": threaded("sparse", 1),
    "sparse-2": threaded("sparse", 2),
    "parts": PartsEngine.of,
}
#: One engine of each kind.
KINDS = {name: ENGINES[name] for name in ("numpy", "packed-2", "sparse-2", "parts")}
#: Engines whose user arrays are not NumPy's: methods must give the same there too.
ELSEWHERE = {"strict": StrictEngine, "cupy": on_gpu, "dask": on_cluster}


def bent(sums, shift, scale):
    """A step that is not linear, with a column more than it is given."""
    values = np.tanh(sums + shift[:, None]) * scale[:, None]
    return np.column_stack([values, values.sum(axis=1) ** 2])


def bent_with_sums(sums, shift, scale):
    values = bent(sums, shift, scale)
    return values, values.sum(axis=0)


def beside(_, shift):
    """A step of user arrays only."""
    return np.column_stack([shift, shift**2])


def sheets(rows, n_options):
    """Users × options, 1 where a user chose an option."""
    return Ones(*rows, n_options).toarray()


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
    weights = rng.standard_normal((data.n_options, 3))
    shift, scale = rng.standard_normal(data.n_users), rng.random(data.n_users)
    values = bent(naive.choices(matrix, weights), shift, scale)
    np.testing.assert_allclose(sums.choices(weights, bent, shift, scale), values, **close)
    found, side = sums.through(weights, bent_with_sums, shift, scale)
    np.testing.assert_allclose(found, naive.choosers(matrix, values), **close)
    np.testing.assert_allclose(side, values.sum(axis=0), **close)
    only = sums.through(np.empty((data.n_options, 0)), beside, shift)
    np.testing.assert_allclose(only, naive.choosers(matrix, beside(None, shift)), **close)
    np.testing.assert_allclose(sums.reduced(lambda x: (x**2).sum(), shift), (shift**2).sum())
    users = rng.integers(0, data.n_users, 5)
    np.testing.assert_array_equal(sheets(sums.rows(users), data.n_options), matrix[users])
    np.testing.assert_array_equal(sheets(sums.rows(), data.n_options), matrix)


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
