"""Products on one thread inside the library, and as before outside it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

threadpoolctl = pytest.importorskip("threadpoolctl")

PROGRAM = """
import threadpoolctl, numpy as np, scipy.linalg
from hitsndiffs.methods.blas import one_thread
def threads():
    return [x["num_threads"] for x in threadpoolctl.threadpool_info() if x["user_api"] == "blas"]
before = threads()
with one_thread():
    with one_thread():
        pass
    print(max(threads()), end=" ")
print(threads() == before, max(before))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there the library cannot be found by name")
def test_one_thread_inside_and_the_callers_number_after() -> None:
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = [sys.executable, "-c", PROGRAM]
    found = subprocess.run(run, env=env, capture_output=True, text=True, check=True).stdout
    inside, restored, before = found.split()
    if before == "1":
        pytest.skip("one core")
    assert (inside, restored) == ("1", "True")
