"""Quiet while reading: no words of compiled libraries, and no search for garbage."""

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
    """Send what compiled code writes on standard error to nowhere; what it raises is enough."""
    _begin()
    try:
        yield
    finally:
        _end()


@contextmanager
def without_collection() -> Iterator[None]:
    """Do not look for garbage while many small objects are made, none of which refers to itself."""
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
