"""Compiled kernels: plain Numba functions with explicit signatures, cached on disk by Numba.

Importing a module of kernels imports Numba (about 0.2 s) and loads its kernels from the cache
(about 0.4 s), so import these modules only when they are needed.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "FLOAT",
    "INT",
    "array",
    "is_switched_off",
    "is_trusted_folder",
    "kernel",
    "read_only",
]

#: The types of plain numbers.
INT, FLOAT = "int64", "float64"

# Numba reads `.numba_config.yaml` of the current folder, which could name a cache folder there, and
# what is cached is run. The variable, also an empty one, wins over the file.
os.environ.setdefault("NUMBA_CACHE_DIR", "")


def array(dtype: Any, dimensions: int, *, writable: bool = True) -> Any:
    """The type of a C-ordered array argument, by default one that the kernel writes to."""
    from numba import from_dtype, types
    from numpy import dtype as as_dtype

    return types.Array(from_dtype(as_dtype(dtype)), dimensions, "C", readonly=not writable)


def read_only(dtype: Any, dimensions: int) -> Any:
    """The type of a C-ordered array argument that is only read; writable arrays may be passed."""
    return array(dtype, dimensions, writable=False)


def kernel(*arguments: Any, also: tuple[Any, ...] | None = None) -> Callable[[Any], Any]:
    """Compile a function that returns nothing and runs without the interpreter's lock.

    Parameters
    ----------
    *arguments
        The types of its arguments. If none are given, the types come from the callers (helpers of
        other kernels, for example), and the function may return a value.
    also
        The argument types of a second variant.
    """

    def compiled(function: Any) -> Any:
        with _own_caches():
            from numba import njit, types

            if not arguments:
                return njit(cache=True, nogil=True)(function)
            variants = [
                types.void(*(getattr(types, t) if isinstance(t, str) else t for t in given))
                for given in (arguments, also)
                if given is not None
            ]
            return njit(variants, cache=True, nogil=True)(function)

    return compiled


def is_trusted_folder(folder: str) -> bool:
    """Whether compiled code may be read from a folder: nobody else can have put any there.

    The path must be absolute, and the folder must belong to this user (or root) and not be writable
    by everybody. If it does not exist yet, this holds for its nearest existing parent.
    """
    if not os.path.isabs(folder):
        return False
    if not hasattr(os, "geteuid"):
        return True
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    found = os.stat(folder)
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o002


@contextlib.contextmanager
def _own_caches() -> Iterator[None]:
    """Let Numba choose its cache folder, ignoring folders that this user cannot trust."""
    with _CACHES:
        foreign = {
            name: folder
            for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
            if (folder := os.environ.get(name)) and not is_trusted_folder(folder)
        }
        if not foreign:
            yield
            return
        for name, folder in foreign.items():
            if name not in _TOLD:
                _TOLD.add(name)
                warnings.warn(
                    f"{name}={folder} is not used for compiled code: it must be a full path to a "
                    "folder that is yours and not open to everybody.",
                    UserWarning,
                    stacklevel=4,
                )
            del os.environ[name]
        try:
            import numba

            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, ""
            try:
                yield
            finally:
                numba.config.CACHE_DIR = before
        finally:
            os.environ.update(foreign)


_CACHES = threading.RLock()
_TOLD: set[str] = set()


def is_switched_off() -> bool:
    """Whether the caller switched compilation off (``NUMBA_DISABLE_JIT=1``)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
