"""Helpers that several test files share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Here
from factory import THOROUGH, examples
from hypothesis import settings

# The usual run tries the same examples each time; a thorough one tries new ones. Neither takes the
# time of an example as a failure.
settings.register_profile(
    "house", examples(100), deadline=None, derandomize=not THOROUGH, print_blob=True
)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process runs all tests of a file, unless a mark says which tests belong together."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            file = "doctests" if isinstance(item, pytest.DoctestItem) else item.path.stem
            item.add_marker(pytest.mark.xdist_group(file))


def pytest_collection_finish() -> None:
    """What the tests import stays: garbage collection need not search it again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets, named by the variable HITSNDIFFS_DATA."""
    folder = os.environ.get("HITSNDIFFS_DATA")
    if not folder:
        pytest.skip("the variable HITSNDIFFS_DATA does not name a folder of data sets")
    return Path(folder)


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    """Runs a command in this process."""
    return Here(capsys)


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
