"""Small matrix products on one thread, in whatever program the library runs.

A product of a few megabytes is over before a second thread has woken up; the waiting threads spin
and cost several times the work. The command line limits them through the environment, before
NumPy is loaded. Inside somebody's Python only the library that NumPy already loaded can be told.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["one_thread"]

#: Modules that are linked to OpenBLAS (SciPy's wheels bring their own), and its names in wheels
#: and in systems' packages. Where none is found (another BLAS, Windows) nothing is changed.
LINKED = ("numpy._core._multiarray_umath", "scipy.linalg._fblas")
NAMES = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")

_lock, _inside, _before = threading.Lock(), 0, list[tuple[Callable[[int], None], int]]()


@cache
def _threads_of(module: str) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to read and set the number of threads that a module's products use."""
    try:
        library = ctypes.CDLL(sys.modules[module].__file__)
    except (OSError, TypeError):
        return None
    for name in NAMES:
        try:
            return (
                getattr(library, name.format("get_num_threads")),
                getattr(library, name.format("set_num_threads")),
            )
        except AttributeError:
            continue
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this block matrix products use one thread.

    Blocks may be nested, and may overlap on several threads: the last one out sets the numbers
    back.

    >>> with one_thread():
    ...     pass
    """
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            found = (_threads_of(module) for module in LINKED if module in sys.modules)
            _before[:] = [(put, int(get())) for get, put in filter(None, found)]
            for put, _ in _before:
                put(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for put, threads in _before:
                    put(threads)
