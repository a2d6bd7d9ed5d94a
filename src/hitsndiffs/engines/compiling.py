"""Compiled kernels: plain Numba functions, cached on disk by Numba.

Importing a module of kernels imports Numba (about 0.3 s), so import it only when it is needed.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

__all__ = ["inlined", "is_switched_off", "is_trusted_folder", "kernel"]

# Numba reads `.numba_config.yaml` of the current folder, which could name a cache folder there, and
# what is cached is run. The variable, also an empty one, wins over the file.
os.environ.setdefault("NUMBA_CACHE_DIR", "")


def kernel(function: Any) -> Any:
    """Compile a function on its first call; it runs without the interpreter's lock."""
    with _own_caches():
        from numba import njit

        return njit(cache=True, nogil=True)(function)


def inlined(function: Any) -> Any:
    """Compile a function into the kernels that call it: for the innermost steps.

    A pass over sparse rows takes 21 ms with it, and 31 ms with a call for each user.
    """
    with _own_caches():
        from numba import njit

        return njit(cache=True, nogil=True, inline="always")(function)


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
