"""Context managers for reading: silence compiled libraries, pause garbage collection."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collection", "without_panics"]

_lock = threading.Lock()
_depth = 0
_saved = -1


@contextmanager
def without_panics() -> Iterator[None]:
    """Discard what compiled code writes to standard error; the exceptions it raises are enough."""
    _begin()
    try:
        yield
    finally:
        _end()


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause garbage collection while many small objects without reference cycles are made."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _begin() -> None:
    global _depth, _saved
    with _lock:
        _depth += 1
        if _depth > 1:
            return
        try:
            _saved = os.dup(2)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)
        except OSError:  # there is no standard error
            _saved = -1


def _end() -> None:
    global _depth, _saved
    with _lock:
        _depth -= 1
        if _depth == 0 and _saved >= 0:
            os.dup2(_saved, 2)
            os.close(_saved)
            _saved = -1
