"""Compiled kernels: plain Numba functions with explicit signatures, cached on disk by Numba.

Importing a module of kernels imports Numba (about 0.2 s) and loads its kernels from the cache
(about 0.4 s), so these modules are imported when they are first needed. For large files
:func:`start_loading` begins that in the background while the file is opened.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["FLOAT", "INT", "array", "is_switched_off", "kernel", "read_only", "start_loading"]

#: The types of plain numbers.
INT, FLOAT = "int64", "float64"


def array(dtype: Any, dimensions: int, *, writable: bool = True) -> Any:
    """The type of a C-ordered array argument that the kernel writes to."""
    from numba import from_dtype, types
    from numpy import dtype as as_dtype

    return types.Array(from_dtype(as_dtype(dtype)), dimensions, "C", readonly=not writable)


def read_only(dtype: Any, dimensions: int) -> Any:
    """The type of a C-ordered array argument that is only read; writable arrays may be passed."""
    return array(dtype, dimensions, writable=False)


def kernel(*arguments: Any, also: tuple[Any, ...] | None = None) -> Callable[[Any], Any]:
    """Compile a function without the interpreter's lock; it returns nothing.

    Parameters
    ----------
    *arguments
        The types of its arguments. None at all: a helper of other kernels, typed by its callers.
    also
        The types of a second variant.
    """
    from numba import njit, types

    def signature(given: tuple[Any, ...]) -> Any:
        return types.void(*(getattr(types, t) if isinstance(t, str) else t for t in given))

    if not arguments:
        return njit(cache=True, nogil=True)  # type: ignore[no-any-return]
    variants = [signature(given) for given in (arguments, also) if given is not None]
    return njit(variants, cache=True, nogil=True)  # type: ignore[no-any-return]


def is_switched_off() -> bool:
    """Whether the caller switched compilation off (``NUMBA_DISABLE_JIT=1``)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def start_loading(*modules: str) -> None:
    """Begin to import modules of kernels in the background; whoever needs them waits for the rest.

    A failure is left to the import that needs the module.
    """

    def work() -> None:
        for module in modules:
            try:
                importlib.import_module(module)
            except Exception:  # said by whoever needs it
                return

    if not is_switched_off():
        threading.Thread(target=work, name="hitsndiffs-kernels", daemon=True).start()
