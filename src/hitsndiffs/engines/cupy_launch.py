"""Launching kernels on a GPU, and the integers that sums are made of."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import cupy as cp
import numpy as np

__all__ = [
    "cover",
    "kernel_named",
    "largest_sizes",
    "launch",
    "processors",
    "round_kernel",
    "shared_bytes",
    "units_of",
    "whole_range",
]

Array = Any  # a cupy.ndarray

#: Threads of a block.
THREADS = 1024
#: Users a block handles before it flushes its sums; a power of two.
BATCH = 8192
#: Shared memory of a block (bytes), and the maximum number of copies of the sums. As many copies as
#: fit are kept: with one, neighbouring users with the same answers would wait for each other.
SHARED_MEMORY, MOST_COPIES = 220 * 1024, 4


@lru_cache(maxsize=1)
def _kernels() -> Any:
    return cp.RawModule(code=_source("cupy_kernels.cu"), options=("-std=c++17",))


@lru_cache(maxsize=64)
def kernel_named(name: str) -> Any:
    """A kernel of ``cupy_kernels.cu``."""
    return _kernels().get_function(name)


@lru_cache(maxsize=64)
def round_kernel(name: str, n_quads: int) -> tuple[Any, int]:
    """A kernel compiled for a number of quads, and the shared memory it needs."""
    copies = MOST_COPIES
    while copies > 1 and shared_bytes(name, n_quads, copies) > SHARED_MEMORY:
        copies //= 2
    shared = shared_bytes(name, n_quads, copies)
    defines = {"N_QUADS": n_quads, "COPIES": copies, "THREADS": THREADS}
    options = ("-std=c++17", *(f"-D{key}={value}" for key, value in defines.items()))
    module = cp.RawModule(code=_source("cupy_rounds.cu"), options=options)
    kernel = module.get_function(name)
    kernel.max_dynamic_shared_size_bytes = shared
    return kernel, shared


def shared_bytes(name: str, n_quads: int, copies: int = 1) -> int:
    """Bytes of shared memory for the tables and sums of this many quads."""
    return n_quads * 1024 * (8 * (name == "through") + 8 * copies)


def _source(name: str) -> str:
    return resources.files("hitsndiffs.engines").joinpath(name).read_text(encoding="utf-8")


def launch(
    name: str, grid: tuple[int, ...], arguments: tuple[Any, ...], threads: int = 256
) -> None:
    """Launch a kernel of ``cupy_kernels.cu``; an empty grid does nothing."""
    if all(grid):
        kernel_named(name)(grid, (threads,), arguments)


def cover(length: int, threads: int = 256, most: int = 2**16) -> int:
    """How many blocks of threads cover ``length`` places, in one or several turns."""
    return min(most, -(-length // threads))


def largest_sizes(scores: Array) -> Array:
    """The largest absolute score in each column; NaN if one of them is NaN."""
    count, columns = scores.shape
    sizes = cp.zeros(columns, dtype=cp.uint64)
    steps = tuple(np.int64(step // 8) for step in scores.strides)
    launch("largest", (cover(count, most=1024), columns), (scores, np.int64(count), *steps, sizes))
    return sizes.view(cp.float64)


def units_of(largest: Array, n_users: int) -> Array:
    """The unit of each column's integers, from the column's largest absolute score.

    It is a power of two, so ones and halves become integers with few bits set.
    """
    most = whole_range(n_users)[0]
    exponents = cp.frexp(largest / most)[1]
    return cp.where(largest > 0, cp.ldexp(cp.ones_like(largest), exponents), 1.0)


def whole_range(n_users: int) -> tuple[float, int]:
    """The largest integer that a score may become, and the number of bits in its lower half."""
    bits = 33 - BATCH.bit_length()  # the sum over a batch stays within 32 bits
    total = min(2 * bits, 62 - max(n_users, 1).bit_length())  # the sum of all within 64 bits
    return 2.0 ** (total - 1) - 1, bits


@lru_cache(maxsize=1)
def processors() -> int:
    """How many multiprocessors the GPU has."""
    return int(cp.cuda.Device().attributes["MultiProcessorCount"])
