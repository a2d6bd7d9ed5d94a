"""How kernels are compiled: Numba, without the interpreter's lock, kept on disk.

Only this module and the kernels import Numba, and they are imported only when the threaded engine
is chosen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types
from numba.core import event

__all__ = ["announced", "array", "kernel", "read_only"]

logger = logging.getLogger("hitsndiffs")


def read_only(dtype: Any, ndim: int) -> Any:
    """The type of a C-ordered input array (frozen arrays and others are taken alike)."""
    return types.Array(dtype, ndim, "C", readonly=True)


def array(dtype: Any, ndim: int) -> Any:
    """The type of a C-ordered array that a kernel writes to."""
    return types.Array(dtype, ndim, "C")


def kernel(
    *argument_types: Any, also: tuple[Any, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Compile a function for these argument types, or take it from the cache on disk.

    Parameters
    ----------
    *argument_types
        The types of the arguments; none for a helper that is compiled where it is called.
    also
        A second list of argument types to compile for.

    Notes
    -----
    Where the cache cannot be written (no source file, read-only folders, a full disk), the
    function is compiled in memory, each time the library is imported.
    """
    lists = [argument_types] if also is None else [argument_types, also]
    signatures = [types.void(*each) for each in lists] if argument_types else None

    def compiled(function: Callable[..., None]) -> Callable[..., None]:
        try:
            made: Callable[..., None] = numba.njit(signatures, nogil=True, cache=True)(function)
        except (RuntimeError, OSError) as error:
            logger.info("Compiled kernels cannot be kept on disk: %s", error)
            made = numba.njit(signatures, nogil=True)(function)
        return made

    return compiled


class _SayOnce(event.Listener):  # type: ignore[misc]
    """Tell the user, at the first compilation, that there is one."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.said = False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        if not self.said:
            self.said = True
            logger.info("Compiling the fast kernels (once, about %d s)…", self.seconds)

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def announced(seconds: int) -> Iterator[None]:
    """Say so (logger ``hitsndiffs``, level INFO) when something is compiled in this block.

    Parameters
    ----------
    seconds
        About how long it takes.
    """
    with event.install_listener("numba:compile", _SayOnce(seconds)):
        yield
