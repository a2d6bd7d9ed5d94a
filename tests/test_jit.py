"""Kernels: compiled once, kept on disk, loaded without Numba."""

from __future__ import annotations

import importlib
import logging
import sys

import numpy as np
import pytest
from sums_cases import run_python

from hitsndiffs.data import jit, machine_code

SOURCE = """
import numpy as np
from hitsndiffs.data.jit import FLOAT, INT, array, kernel, read_only

@kernel()
def _twice(x):
    return 2.0 * x

@kernel(read_only(np.float64, 1), INT, FLOAT, array(np.float64, 2))
def spread_out(x, n, shift, table):
    for i in range(n):
        for j in range(len(x)):
            table[i, j] = _twice(x[j]) + shift * i

@kernel(array(np.uint8, 1), also=(array(np.uint16, 1),))
def one_more(x):
    for i in range(len(x)):
        x[i] += 1

@kernel(array(np.int64, 1))
def divide(x):
    x[0] = x[0] // x[1]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of kernels in a file of its own, imported anew by every call."""
    (tmp_path / "some_kernels.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def fresh():
        sys.modules.pop("some_kernels", None)
        jit._libraries.pop("some_kernels", None)
        return importlib.import_module("some_kernels")

    yield fresh
    sys.modules.pop("some_kernels", None)
    jit._libraries.pop("some_kernels", None)


def files_in(folder):
    return sorted(folder.rglob("some_kernels-*.o"))


def check(kernels):
    table = np.empty((2, 3))
    kernels.spread_out(np.arange(3.0), 2, 10.0, table)
    assert table.tolist() == [[0.0, 2.0, 4.0], [10.0, 12.0, 14.0]]
    for dtype in (np.uint8, np.uint16):
        counts = np.array([1, 2, 255], dtype=dtype)
        kernels.one_more(counts)
        assert counts.tolist() == [2, 3, 0 if dtype == np.uint8 else 256]


def test_kernels_are_compiled_once_and_said(module, tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="hitsndiffs"):
        check(module())
        assert len(files_in(tmp_path)) == 1
        check(module())
    assert [record.getMessage() for record in caplog.records] == [
        "Compiling the fast kernels (once, about 3 s)…"
    ]


def test_a_damaged_file_of_machine_code_is_not_run(module, tmp_path, caplog):
    check(module())
    (file,) = files_in(tmp_path)
    for damaged in (b"", b"{}", file.read_bytes()[:-9], file.read_bytes()[:-1] + b"\1"):
        file.write_bytes(damaged)
        with caplog.at_level(logging.INFO, logger="hitsndiffs"):
            check(module())
        assert caplog.text.count("Compiling") == 1
        caplog.clear()


def test_changed_kernels_are_compiled_anew(module, tmp_path):
    check(module())
    importlib.invalidate_caches()
    (tmp_path / "some_kernels.py").write_text(SOURCE.replace("2.0 *", "3.0000 *"))
    table = np.empty((1, 1))
    module().spread_out(np.ones(1), 1, 0.0, table)
    assert table == 3.0
    assert len(files_in(tmp_path)) == 2


def test_kernels_that_cannot_be_kept_beside_their_source(module, tmp_path, monkeypatch, caplog):
    store = machine_code.store
    monkeypatch.setattr(
        machine_code, "store", lambda place, code: "cache" in place.parts and store(place, code)
    )
    check(module())
    assert [file.parent.name for file in files_in(tmp_path)] == ["hitsndiffs"]
    files_in(tmp_path)[0].unlink()
    monkeypatch.setattr(machine_code, "store", lambda place, code: False)
    with caplog.at_level(logging.INFO, logger="hitsndiffs"):
        check(module())
    assert "cannot be kept on disk" in caplog.text


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    assert not machine_code.store(tmp_path / "file" / "x.o", machine_code.Code(["a"], b"b"))


def test_a_processor_whose_features_are_not_known(monkeypatch):
    from llvmlite import binding

    def unknown():
        raise RuntimeError

    assert "+" in machine_code.cpu_features()
    monkeypatch.setattr(binding, "get_host_cpu_features", unknown)
    assert machine_code.cpu_features() == ""


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(3, dtype=np.float32),
        np.zeros((3, 1)),
        np.zeros(6)[::2],
    ],
)
def test_a_kernel_refuses_arrays_of_another_kind(module, x):
    with pytest.raises(TypeError, match="a kernel takes 1-dimensional C-ordered float64"):
        module().spread_out(x, 2, 1.0, np.zeros((2, 3)))


def test_a_kernel_refuses_to_write_to_a_frozen_array(module):
    table = np.zeros((2, 3))
    table.flags.writeable = False
    with pytest.raises(TypeError, match="writeable; got 2-dimensional float64, read-only"):
        module().spread_out(np.zeros(3), 2, 1.0, table)


def test_a_kernel_that_divides_by_zero_says_so(module):
    with pytest.raises(ArithmeticError, match="divide"):
        module().divide(np.array([1, 0]))


def test_a_kernel_must_not_allocate(module, tmp_path):
    (tmp_path / "some_kernels.py").write_text(
        SOURCE.replace("x[0] // x[1]", "np.arange(x[1]).sum()")
    )
    with pytest.raises(ImportError, match="must not allocate"):
        check(module())


def test_numba_is_needed_to_compile_only():
    code = """
        import sys
        import numpy as np
        from sums_cases import make_responses, random_table, threaded
        data = make_responses(random_table(np.random.default_rng(0), 50, 5, 3, 0.1))
        for layout in ("packed", "sparse"):
            threaded(layout, 1)(data).choosers(np.ones(50))
        print("numba" in sys.modules)
        """
    run_python(code)  # compiles, where that has not happened yet
    assert run_python(code) == "False"
