"""Helpers that several test files share."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def untraced() -> Iterator[None]:
    """Without what measures coverage by tracing (before Python 3.12), which is slow."""
    here, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        sys.settrace(here)
        threading.settrace(in_threads)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Trace imports in the first process of pytest-xdist alone: they are the same in all."""
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        return (yield)
    with untraced():
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Leave tests marked ``no_cover`` untraced also in the processes of pytest-xdist.

    There pytest-cov starts to trace twice; for such tests it stops once.
    """
    if not (item.get_closest_marker("no_cover") and item.config.pluginmanager.hasplugin("_cov")):
        return (yield)
    with untraced():
        return (yield)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, named by the variable HITSNDIFFS_DATA."""
    folder = os.environ.get("HITSNDIFFS_DATA")
    if not folder:
        pytest.skip("the variable HITSNDIFFS_DATA does not name a folder of data sets")
    return Path(folder)


@pytest.fixture
def client() -> Iterator[Any]:
    """A client of the tests' cluster, which is the current one."""
    from engine_cases import cluster

    with cluster().as_current():
        yield cluster()


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where Numba cannot be imported: nothing compiled is loaded yet, or can be."""
    compiled = ("kernels", "engines.packed", "engines.sparse")
    for name in [n for n in sys.modules if n.startswith("hitsndiffs.") and n.endswith(compiled)]:
        monkeypatch.delitem(sys.modules, name)
        package, _, module = name.rpartition(".")
        monkeypatch.delattr(sys.modules[package], module, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
